//! The activity types that workers register.

use bus::{Bucket, Bus as _, Wire as _};
use futures::StreamExt as _;
use protocol::Message;
use serde_json::{Value, json};

use super::world::{World, json_request};
use crate::Config;

const API: &str = "/elsa/api";

async fn send(world: &World, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = world.send(json_request(method, &format!("{API}{path}"), &[], body)).await;
    (answer.status.as_u16(), answer.body)
}

fn charge(version: u32) -> Value {
    json!({"type": "Acme.ChargeCard", "version": version, "displayName": "Charge card",
        "category": "Payments", "outcomes": ["Paid", "Declined"],
        "input": {"required": ["amount"], "properties": {"amount": {"type": "number"},
            "currency": {"enum": ["EUR", "USD"], "type": "string"}}}})
}

fn definition(activity: Value) -> Value {
    json!({"model": {"definitionId": "pay", "root": activity}, "publish": true})
}

/// Without a connection a question waits to be sent: that nobody answers says nothing of the workers.
#[tokio::test]
async fn workers_that_cannot_be_asked_are_not_an_empty_list() {
    let world = World::without_executor(Config::default()).await;
    world.broken.lose_streams(true);
    let said = world.get(&format!("{API}/tasks/workers")).await.problem(503);
    assert!(said.contains("message bus"), "{said}");
    world.broken.lose_streams(false);
    assert_eq!(world.get(&format!("{API}/tasks/workers")).await.expect(200)["count"], 0);
}

#[tokio::test]
async fn services_that_work_are_named_with_what_they_do() {
    let world = World::without_executor(Config::default()).await;
    let none = json!({});
    let (status, nobody) = send(&world, "GET", "/tasks/workers", &none).await;
    assert_eq!((status, &nobody), (200, &json!({"count": 0, "items": []})));

    let mut asked = world.bus.subscribe("$SRV.INFO").await.unwrap();
    let answering = async {
        let question = asked.next().await.unwrap();
        let takes = json!([{"type": "Ship", "version": 1, "concurrency": 8}]).to_string();
        for answer in [
            json!({"name": "staunch-worker", "id": "B", "version": "0.1.0",
                "metadata": {"staunch-tasks": takes, "host": "m1"}}),
            json!({"name": "words", "id": "A", "version": "1.0.0",
                "endpoints": [{"name": "upper", "subject": "staunch.act.upper"}]}),
            json!({"name": "another", "id": "C", "version": "1.0.0"}),
        ] {
            let subject = question.reply.clone().unwrap();
            let payload = answer.to_string().into_bytes();
            world.bus.send(Message { subject, payload, ..Message::default() }).await.unwrap();
        }
    };
    let ((status, told), ()) =
        tokio::join!(send(&world, "GET", "/tasks/workers", &none), answering);
    assert_eq!(status, 200, "{told}");
    let takes = json!([{"taskType": "Ship", "version": 1, "concurrency": 8}]);
    let answers = json!([{"activityType": "upper", "version": 1}]);
    assert_eq!(
        told["items"],
        json!([{"name": "staunch-worker", "id": "B", "version": "0.1.0", "host": "m1",
            "tasks": takes, "requests": []},
            {"name": "words", "id": "A", "version": "1.0.0", "host": null, "tasks": [],
            "requests": answers}])
    );
}

#[tokio::test]
async fn an_input_that_is_an_object_has_the_editor_of_dictionaries() {
    let world = World::without_executor(Config::default()).await;
    let document = json!({"type": "Acme.Ship", "version": 1, "input": {"properties": {
        "weights": {"type": "object", "additionalProperties": {"type": "number"}}}}});
    assert_eq!(send(&world, "POST", "/activity-types", &document).await.0, 200);
    let (_, shown) = send(&world, "GET", "/descriptors/activities/Acme.Ship", &json!({})).await;
    let weights = &shown["inputs"][0];
    assert_eq!((&weights["name"], &weights["uiHint"]), (&json!("weights"), &json!("dictionary")));
    let settings = json!({"dictionary": {"valueType": "Double"}});
    assert_eq!(weights["uiSpecifications"], settings);
}

#[tokio::test]
async fn a_registered_type_is_an_activity_like_any_other() {
    let world = World::without_executor(Config::default()).await;
    let none = json!({});
    let use_it = definition(json!({"type": "Acme.ChargeCard", "id": "charge", "amount": 7}));
    let (status, refused) = send(&world, "POST", "/workflow-definitions", &use_it).await;
    assert_eq!(status, 400, "{refused}");
    for own in ["If", "writeline", "Elsa.WriteLine"] {
        let document = json!({"type": own, "version": 1});
        let (status, refused) = send(&world, "POST", "/activity-types", &document).await;
        let detail = refused["detail"].as_str().unwrap();
        assert!(status == 400 && detail.contains("Staunch"), "{refused}");
    }

    for version in [1, 2] {
        let (status, made) = send(&world, "POST", "/activity-types", &charge(version)).await;
        assert_eq!(status, 200, "{made}");
        assert_eq!(made["taskSubject"], format!("staunch.task.Acme=2EChargeCard.{version}"));
        let results = format!("staunch.cmd.task.Acme=2EChargeCard.{version}.{{taskId}}");
        assert_eq!(made["resultSubject"], results);
        assert!(world.bus.pools().contains_key(made["consumer"].as_str().unwrap()));
    }
    let (_, pools) = send(&world, "GET", "/tasks/pools", &none).await;
    assert_eq!((&pools["count"], &pools["items"][1]["version"]), (&json!(2), &json!(2)), "{pools}");
    let (status, saved) = send(&world, "POST", "/workflow-definitions", &use_it).await;
    assert!(status < 300, "{saved}");
    let (_, listed) = send(&world, "GET", "/workflow-definitions/pay", &none).await;
    assert_eq!(listed["activityTypes"][0]["version"], 2, "the newest: {listed}");
    assert_eq!(listed["root"]["version"], 2);

    let path = "/descriptors/activities/Acme.ChargeCard";
    let (_, newest) = send(&world, "GET", path, &none).await;
    assert_eq!((&newest["version"], &newest["category"]), (&json!(2), &json!("Payments")));
    let currency = newest["inputs"].as_array().unwrap().iter();
    let currency = currency.clone().find(|input| input["name"] == "currency").unwrap();
    assert_eq!(currency["uiHint"], "dropdown");
    let (_, first) = send(&world, "GET", &format!("{path}?version=1"), &none).await;
    assert_eq!(first["isBrowsable"], false, "a designer offers the newest");

    let wrong = definition(json!({"type": "Acme.ChargeCard", "id": "charge", "amount": "much"}));
    let (status, refused) = send(&world, "POST", "/workflow-definitions", &wrong).await;
    assert_eq!((status, refused.to_string().contains("amount")), (400, true), "{refused}");

    for version in [1, 2] {
        let path = format!("/activity-types/Acme.ChargeCard/{version}");
        assert_eq!(send(&world, "DELETE", &path, &none).await.0, 204);
        assert_eq!(send(&world, "DELETE", &path, &none).await.0, 404);
    }
    let path = "/audit?outcome=done&what=activity-type.delete";
    let (_, audit) = send(&world, "GET", path, &none).await;
    let entries = audit["items"].as_array().unwrap().iter();
    let versions: Vec<_> = entries.map(|entry| &entry["details"]["version"]).collect();
    assert_eq!(versions, [&json!(2), &json!(1)], "as numbers, as of every other version: {audit}");
    // The same content again is no change; other content needs the type.
    let (status, same) = send(&world, "POST", "/workflow-definitions", &use_it).await;
    assert_eq!((status, &same["alreadyPublished"]), (200, &json!(true)), "{same}");
    let other = definition(json!({"type": "Acme.ChargeCard", "id": "charge", "amount": 8}));
    let (status, refused) = send(&world, "POST", "/workflow-definitions", &other).await;
    assert_eq!((status, refused.to_string().contains("Acme.ChargeCard")), (400, true), "{refused}");
    // What is published goes on, also in its next version.
    let (status, again) = send(&world, "POST", "/workflow-definitions/pay/publish", &none).await;
    assert_eq!((status, &again["alreadyPublished"]), (200, &json!(true)), "{again}");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_or_named() {
    let world = World::without_executor(Config::default()).await;
    let check = async |document: Value, part: &str| {
        let (status, refused) = send(&world, "POST", "/activity-types", &document).await;
        assert_eq!((status, refused.to_string().contains(part)), (400, true), "{refused}");
    };
    check(json!({"type": "Elsa.If", "version": 1}), "Staunch's own").await;
    check(json!({"type": "a", "version": 1, "colour": 1}), "colour").await;
    check(json!({"type": "a", "version": 0}), "number from 1").await;
    check(json!({"type": "a", "version": 1, "input": {"type": "colour"}}), "input").await;
    check(json!([]), "a JSON object").await;
    assert_eq!(send(&world, "DELETE", "/activity-types/a/0", &json!({})).await.0, 404);

    let kv = world.bus.kv(Bucket::Activities);
    kv.put_if("upper.1", (&br#"{"mode": "request"}"#[..]).into(), 0, None, "1").await.unwrap();
    kv.put_if("lower.1", (&b"{"[..]).into(), 0, None, "2").await.unwrap();
    let (_, listed) = send(&world, "GET", "/activity-types", &json!({})).await;
    assert_eq!(listed["items"][0]["requestSubject"], "staunch.act.upper");
    assert_eq!((&listed["count"], &listed["faulty"][0]["key"]), (&json!(1), &json!("lower.1")));
}

/// The document of a version that works is not replaced by one that nobody can read.
#[tokio::test]
async fn a_document_that_is_too_large_is_refused_and_the_one_before_it_stays() {
    let world = World::without_executor(Config::default()).await;
    let max = model::limits::ACTIVITY_TYPE_DOCUMENT_BYTES_MAX;
    let of = |description: usize| {
        let mut document = charge(1);
        document["description"] = json!("x".repeat(description));
        document
    };
    assert_eq!(send(&world, "POST", "/activity-types", &of(10)).await.0, 200);
    let kv = world.bus.kv(Bucket::Activities);
    let stored = kv.get("Acme=2EChargeCard.1").await.unwrap().unwrap().value.unwrap();
    let rest = stored.len() - 10;
    let (status, refused) = send(&world, "POST", "/activity-types", &of(max - rest + 1)).await;
    assert_eq!((status, refused.to_string().contains("65537 bytes")), (400, true), "{refused}");
    let (_, listed) = send(&world, "GET", "/activity-types", &json!({})).await;
    assert_eq!((&listed["count"], &listed["faulty"]), (&json!(1), &json!([])), "{listed}");
    assert_eq!(listed["items"][0]["description"], "xxxxxxxxxx", "{listed}");
    assert_eq!(send(&world, "POST", "/activity-types", &of(max - rest)).await.0, 200);
    let (_, listed) = send(&world, "GET", "/activity-types", &json!({})).await;
    assert_eq!((&listed["count"], &listed["faulty"]), (&json!(1), &json!([])), "{listed}");
}

/// A key that is not escaped is no second document of a type.
#[tokio::test]
async fn a_type_has_one_key() {
    let world = World::without_executor(Config::default()).await;
    let (status, made) = send(&world, "POST", "/activity-types", &charge(1)).await;
    assert_eq!(status, 200, "{made}");
    let kv = world.bus.kv(Bucket::Activities);
    kv.put_if("Acme.ChargeCard.1", (&b"{}"[..]).into(), 0, None, "1").await.unwrap();
    let (_, listed) = send(&world, "GET", "/activity-types", &json!({})).await;
    assert_eq!((&listed["count"], listed["items"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!(listed["items"][0]["displayName"], "Charge card", "{listed}");
    let faulty = &listed["faulty"][0];
    assert_eq!(faulty["key"], "Acme.ChargeCard.1");
    let reason = faulty["problems"][0].as_str().unwrap();
    assert!(reason.contains("Acme=2EChargeCard.1") && reason.contains("nats kv del"), "{reason}");
    let wrong = definition(json!({"type": "Acme.ChargeCard", "id": "charge", "amount": "much"}));
    assert_eq!(send(&world, "POST", "/workflow-definitions", &wrong).await.0, 400);
}

#[tokio::test]
async fn open_tasks_name_the_instances_that_wait_for_them() {
    let world = World::new().await;
    let none = json!({});
    let list = async |query: &str| {
        let (status, body) = send(&world, "GET", &format!("/tasks{query}"), &none).await;
        assert_eq!(status, 200, "{body}");
        body
    };
    let nothing = json!({"items": [], "totalCount": 0, "tasksRead": 0, "isCutShort": false});
    assert_eq!(list("").await, nothing);
    let mut waiting = Vec::new();
    for (definition, kind, version) in [("a", "Ship", 1), ("b", "Ship", 2), ("c", "Pack", 1)] {
        let task = json!({"type": "Elsa.RunTask", "id": "t", "taskName": kind,
            "taskVersion": version, "timeout": "01:00:00"});
        world.publish(definition, task).await;
        let id = world.begin(definition).await;
        world.until(&id, "Suspended").await;
        waiting.push(id);
    }
    let ids = |body: &Value| -> Vec<String> {
        let items = body["items"].as_array().unwrap().iter();
        let id = |item: &Value| item["workflowInstanceId"].as_str().unwrap().to_owned();
        items.map(id).collect()
    };
    let ships = list("?type=Ship").await;
    assert_eq!((&ships["totalCount"], &ships["tasksRead"]), (&json!(2), &json!(3)));
    let mut of_both = ids(&ships);
    of_both.sort_unstable();
    let mut expected = waiting[..2].to_vec();
    expected.sort_unstable();
    assert_eq!(of_both, expected);
    let second = list("?type=Ship&version=2").await;
    assert_eq!(ids(&second), waiting[1..2]);
    let task = &second["items"][0];
    for (member, value) in [
        ("taskType", json!("Ship")),
        ("version", json!(2)),
        ("attempt", json!(1)),
        ("isPaused", json!(false)),
        ("definitionId", json!("b")),
        ("activityId", json!("t")),
    ] {
        assert_eq!(task[member], value, "{member} of {task:#}");
    }
    assert!(task["deadline"].is_string() && task["since"].is_string(), "{task:#}");
    assert_eq!(list("").await["totalCount"], 3);
    let beyond = list("?page=1&pageSize=3").await;
    assert_eq!((&beyond["items"], &beyond["totalCount"]), (&json!([]), &json!(3)));
    assert_eq!(list("?type=Fly").await["totalCount"], 0);
    // What is over is not listed.
    let complete = format!("/tasks/{}/complete", task["taskId"].as_str().unwrap());
    assert_eq!(send(&world, "POST", &complete, &none).await.0, 200);
    assert_eq!(list("?type=Ship&version=2").await["items"], json!([]));
    for (query, part) in [
        ("?typ=Ship", "typ"),
        ("?version=2", "name the type"),
        ("?type=Ship&version=0", "from 1"),
        ("?type=Ship&type=Fly", "query parameter type is there with several values"),
        ("?type=Ship&version=2&Version=1", "query parameter version is there with several values"),
    ] {
        let (status, refused) = send(&world, "GET", &format!("/tasks{query}"), &none).await;
        assert_eq!((status, refused.to_string().contains(part)), (400, true), "{refused}");
    }
}
