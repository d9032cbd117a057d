//! Figures of the cluster.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use bus::{Bus as _, From, Incoming, Place, Wire as _};
use engine::outside::NatsConfig;
use futures::StreamExt as _;
use protocol::{ContentType, Message, Runtime, encode_body, header, subject};
use serde_json::{Value, json};

use super::world::{BOUND, World, send_to, waits_for};
use crate::Config;

#[tokio::test]
async fn the_cluster_shows_what_nats_and_the_database_hold() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    world.begin("waits").await;
    let nats = world.get("/elsa/api/cluster/streams").await.expect(200);
    let streams = nats["streams"].as_array().unwrap();
    let of = |name: &str| streams.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(of("STAUNCH_DEAD")["messages"], 0);
    assert_eq!(
        (&of("staunch_nodes")["messages"], &of("staunch_nodes")["isBucket"]),
        (&json!(1), &json!(true))
    );
    assert!(of("staunch_nodes")["bytes"].as_u64().unwrap() > 0);
    assert_eq!(nats["consumers"][0]["stream"], "STAUNCH_COMMANDS");
    assert_eq!(nats["consumers"].as_array().map(Vec::len), Some(1), "{nats:#}");
    let database = world.get("/elsa/api/cluster/database").await.expect(200);
    assert_eq!((&database["backend"], &database["node"]), (&json!("memory"), &json!("node")));
    assert!(database["latencyMs"].as_f64().unwrap() >= 0.0);
    // The twin has no statements; `store-sql` tests what a database has.
    let statements = world.get("/elsa/api/cluster/statements?orderBy=Mean").await.expect(200);
    assert_eq!(statements, json!({"node": "node", "items": [], "totalCount": 0}));
    let refused = world.get("/elsa/api/cluster/statements?orderBy=Text").await.problem(400);
    assert!(refused.contains("use Total, Mean, Max or Count"), "{refused}");
}

#[tokio::test]
async fn the_consumers_of_tasks_are_among_the_consumers() {
    let world = World::new().await;
    for (kind, count) in [("Ship", 2), ("Pack", 1)] {
        let task = json!({"type": "Elsa.RunTask", "id": "t", "taskName": kind});
        world.publish(kind, task).await;
        for _ in 0..count {
            let id = world.begin(kind).await;
            world.until(&id, "Suspended").await;
        }
    }
    let consumers = async || {
        let nats = world.get("/elsa/api/cluster/streams").await.expect(200);
        let all = nats["consumers"].as_array().unwrap().iter();
        let figures = |one: &Value| {
            assert_eq!(one["trouble"], Value::Null, "{one:#}");
            let [name, stream] = ["name", "stream"].map(|it| one[it].as_str().unwrap().to_owned());
            (name, stream, one["pending"].as_u64().unwrap())
        };
        all.map(figures).collect::<Vec<_>>()
    };
    let tasks = |name: &str, pending| (name.to_owned(), "STAUNCH_TASKS".to_owned(), pending);
    testkit::eventually("the tasks wait at their consumers", BOUND, async || {
        consumers().await[1..] == [tasks("task-Pack-1", 1), tasks("task-Ship-1", 2)]
    })
    .await;
}

#[tokio::test]
async fn each_node_counts_what_is_not_done_in_the_whole_cluster() {
    let world = World::new().await;
    let delay = json!({"type": "Elsa.Delay", "id": "later", "timeSpan": "01:00:00"});
    world.publish("waits", delay).await;
    // It is before this node by name: the metrics of the cluster are counted there.
    let _first = world.join("a", "ingress").await;
    let path = "/elsa/api/cluster/counts";
    let before = world.get(path).await.expect(200);
    assert_eq!((&before["timers"], &before["suspended"]), (&json!(0), &json!(0)), "{before:#}");
    for _ in 0..2 {
        let id = world.begin("waits").await;
        world.until(&id, "Suspended").await;
    }
    // Another node counts for itself; this one gives its answer again for a few seconds.
    let other = world.another().await;
    let asked = || Request::get(path).body(Body::empty()).unwrap();
    let counts = send_to(&other, asked()).await.expect(200);
    let figures = ["suspended", "timers", "timersOverdue", "schedules"].map(|name| &counts[name]);
    assert_eq!(figures, [2, 2, 0, 0], "{counts:#}");
    assert_eq!(counts["isCutShort"], false);
    testkit::eventually("this node counts again", BOUND, async || {
        world.get(path).await.expect(200)["timers"] == 2
    })
    .await;
}

#[tokio::test]
async fn leases_are_listed_with_their_nodes() {
    let world = World::without_executor(Config::default()).await;
    let path = "/elsa/api/cluster/leases";
    assert_eq!(world.get(path).await.expect(200)["totalCount"], 0);
    let terms = bus::Terms { ttl: Duration::from_secs(30), ..bus::Terms::default() };
    let kv = bus::Bus::kv(&world.bus, bus::Bucket::Leases);
    let here = bus::Leases::start(std::sync::Arc::clone(&kv), "node", terms, testkit::nonces());
    let gone = bus::Leases::start(kv, "gone", terms, testkit::nonces());
    let first = here.acquire("i-1").await.unwrap();
    let second = gone.acquire("i-2").await.unwrap();
    let held = world.get(path).await.expect(200);
    assert_eq!(
        (&held["totalCount"], &held["stale"], &held["contended"]),
        (&json!(2), &json!(1), &json!(0))
    );
    let of = world.get(&format!("{path}?node=gone")).await.expect(200);
    assert_eq!(of["totalCount"], 1);
    assert_eq!(of["items"][0]["workflowInstanceId"], "i-2");
    assert_eq!(of["items"][0]["isNodeLive"], false);
    drop((first, second));
    here.close().await;
    gone.close().await;
}

#[tokio::test]
async fn a_lease_names_those_who_wait_for_it_as_its_holder_knows_them() {
    let world = World::without_executor(Config::default()).await;
    let _holder = world.join("worker", "executor").await;
    let mut asked = world.bus.subscribe(&subject::runtime("worker")).await.unwrap();
    let answers = async {
        while let Some(Incoming { reply: Some(reply), .. }) = asked.next().await {
            let wanted = [("i-1".to_owned(), vec!["b".to_owned(), "c".to_owned()])].into();
            let runtime = Runtime { node: "worker".to_owned(), wanted, ..Runtime::default() };
            let payload = encode_body(ContentType::Json, &runtime).unwrap();
            let headers = [(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())];
            let answer = Message { subject: reply, payload, headers: headers.into() };
            world.bus.send(answer).await.unwrap();
        }
    };
    let kv = world.bus.kv(bus::Bucket::Leases);
    let leases = bus::Leases::start(kv, "worker", bus::Terms::default(), testkit::nonces());
    let held = (leases.acquire("i-1").await.unwrap(), leases.acquire("i-2").await.unwrap());
    let seen = tokio::select! {
        seen = world.get("/elsa/api/cluster/leases") => seen.expect(200),
        () = answers => unreachable!("the questions end with the bus"),
    };
    let wanted = seen["items"].as_array().unwrap().iter();
    let mut wanted: Vec<_> =
        wanted.map(|it| (it["workflowInstanceId"].clone(), it["wantedBy"].clone())).collect();
    wanted.sort_by_key(|(instance, _)| instance.to_string());
    assert_eq!(wanted, [(json!("i-1"), json!(["b", "c"])), (json!("i-2"), json!([]))]);
    assert_eq!(seen["contended"], 1);
    drop(held);
    leases.close().await;
}

const LISTENERS: &str = "/elsa/api/cluster/listeners";

/// A workflow that starts with a message, or waits for one.
fn reads(can_start: bool, from: Value) -> Value {
    let mut message = json!({"type": "Staunch.MessageReceived", "id": "m",
        "canStartWorkflow": can_start, "subject": "orders.*"});
    for (name, value) in from.as_object().unwrap() {
        message[name] = value.clone();
    }
    json!({"type": "Elsa.Sequence", "id": "seq", "activities": [message]})
}

fn listens() -> Config {
    let subjects = [("*".to_owned(), vec!["orders.>".to_owned()])].into();
    let buckets = [("*".to_owned(), vec!["config".to_owned()])].into();
    Config {
        nats: NatsConfig { subjects, buckets },
        answer_time_max: Duration::from_secs(10),
        ..Config::default()
    }
}

/// Its executors listen to nothing, so that what is there stays there.
#[tokio::test]
async fn listeners_show_what_wants_a_source_and_how_far_behind_it_is() {
    let world = World::with(listens()).await;
    let none = json!({"items": [], "totalCount": 0, "isCutShort": false});
    assert_eq!(world.get(LISTENERS).await.expect(200), none);
    world.bus.make_stream("ORDERS", "orders.>");
    let stream = json!({"stream": "ORDERS", "from": "all", "inOrder": true});
    world.publish("starts", reads(true, stream.clone())).await;
    world.publish("waits", reads(false, stream)).await;
    let waiting = world.begin("waits").await;
    world.until(&waiting, "Suspended").await;
    let message = Message { subject: "orders.eu".to_owned(), ..Message::default() };
    for _ in 0..3 {
        world.bus.outside().store(message.clone(), BOUND).await.unwrap();
    }
    let listener = async || {
        let found = world.get(LISTENERS).await.expect(200);
        assert_eq!(found["totalCount"], 1, "{found:#}");
        found["items"][0].clone()
    };
    let before = listener().await;
    assert_eq!((&before["state"], &before["lag"]), (&json!("notYet"), &Value::Null));
    assert!(before["reason"].as_str().unwrap().contains("every 10 s"), "{before:#}");
    let place = Place {
        name: before["consumer"].as_str().unwrap().to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: true,
    };
    drop(world.bus.outside().follow(&place).await.unwrap());
    let now = listener().await;
    for (member, value) in [
        ("kind", json!("stream")),
        ("name", json!("ORDERS")),
        ("filter", json!("orders.*")),
        ("begins", json!("all")),
        ("isInOrder", json!(true)),
        ("state", json!("listening")),
        ("lag", json!(3)),
        ("inHand", json!(0)),
        ("waiting", json!(1)),
        ("definitionCount", json!(2)),
        (
            "definitions",
            json!([
                {"definitionId": "starts", "starts": true, "waiting": 0, "isAllowed": true},
                {"definitionId": "waits", "starts": false, "waiting": 1, "isAllowed": true},
            ]),
        ),
    ] {
        assert_eq!(now[member], value, "{member} of {now:#}");
    }
    let beyond = world.get(&format!("{LISTENERS}?page=1&pageSize=1")).await.expect(200);
    assert_eq!((&beyond["totalCount"], &beyond["items"]), (&json!(1), &json!([])));
}

/// A name that is written out, and that executors with the same configuration refuse.
#[tokio::test]
async fn a_publication_warns_of_names_that_the_settings_do_not_allow() {
    let world = World::with(listens()).await;
    let put = |id: &str, bucket: Value| json!({"type": "Staunch.KeyValuePut", "id": id, "bucket": bucket, "key": "k", "value": 1});
    let send = |id: &str, subject: Value| json!({"type": "Staunch.PublishMessage", "id": id, "subject": subject});
    let waits = json!({"type": "Staunch.MessageReceived", "id": "w", "subject": "payments.*"});
    let starts = json!({"type": "Staunch.MessageReceived", "id": "t", "subject": "bills.*",
        "canStartWorkflow": true});
    let stored = json!({"type": "Staunch.ObjectPut", "id": "o", "bucket": "other",
        "objectName": "a", "content": "b"});
    let all = json!([
        starts,
        send("good", json!("orders.new")),
        send("bad", json!("private.x")),
        send("computed", json!({"js": "'private.x'"})),
        put("fine", json!("config")),
        put("kept-out", json!("other")),
        stored,
        waits
    ]);
    let body =
        world.publish("asks", json!({"type": "Sequence", "id": "s", "activities": all})).await;
    let warned = |body: &Value| {
        let warnings = body["validationWarnings"].as_array().unwrap().iter();
        let place = |it: &Value| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            (text("activityId"), text("property"), text("message"))
        };
        let mut warned: Vec<_> = warnings.map(place).collect();
        warned.sort();
        warned
    };
    let found = warned(&body);
    let places: Vec<_> = found.iter().map(|(id, input, _)| (id.as_str(), input.as_str())).collect();
    assert_eq!(
        places,
        [("bad", "subject"), ("kept-out", "bucket"), ("o", "bucket"), ("t", ""), ("w", "subject")],
        "{body:#}"
    );
    for (at, says, setting) in [
        (0, "this activity fails for now", "nats-subjects, as in asks=private.x"),
        (1, "this activity fails for now", "nats-buckets, as in asks=other"),
        (3, "nothing starts here yet", "nats-subjects, as in asks=bills.*"),
        (4, "nothing is heard here yet", "nats-subjects, as in asks=payments.*"),
    ] {
        let message = &found[at].2;
        assert!(message.starts_with(says) && message.ends_with(setting), "{message}");
    }
    // What may never be used is an error, and no warning beside it.
    let root = send("own", json!("staunch.cmd.start.x"));
    let definition = json!({"definitionId": "own", "root": root});
    let body = world.post("/elsa/api/workflow-definitions", &definition).await.expect(400);
    assert!(warned(&body).is_empty(), "{body:#}");
}

#[tokio::test]
async fn a_source_that_is_not_taken_says_why() {
    let world = World::without_the_role(listens()).await;
    let source = json!({"stream": "ORDERS"});
    let body = world.publish("no-stream", reads(true, source)).await;
    let warning = body["validationWarnings"][0]["message"].as_str().unwrap();
    assert!(warning.ends_with("yet: the stream ORDERS does not exist"), "{body:#}");
    world.publish("as-they-come", reads(true, json!({}))).await;
    world.publish("not-allowed", reads(true, json!({"subject": "payments.*"}))).await;
    let key = json!({"type": "Staunch.KeyChanged", "id": "k", "canStartWorkflow": true,
        "bucket": "config", "key": "prices.*"});
    world.publish("keys", json!({"type": "Elsa.Sequence", "id": "s", "activities": [key]})).await;
    world.bus.make_stream("KV_config", "$KV.config.>");
    let found = world.get(LISTENERS).await.expect(200);
    let of = |definition: &str| {
        let items = found["items"].as_array().unwrap();
        items.iter().find(|one| one["definitions"][0]["definitionId"] == definition).unwrap()
    };
    for (definition, kind, name, filter, state, says) in [
        ("no-stream", "stream", json!("ORDERS"), "orders.*", "noStream", "ORDERS does not exist"),
        ("as-they-come", "subject", Value::Null, "orders.*", "noExecutor", "role executor"),
        ("not-allowed", "subject", Value::Null, "payments.*", "notAllowed", "nats-subjects"),
        ("keys", "bucket", json!("config"), "prices.*", "noExecutor", "role executor"),
    ] {
        let one = of(definition);
        assert_eq!((&one["kind"], &one["name"]), (&json!(kind), &name), "{one:#}");
        assert_eq!((&one["filter"], &one["state"]), (&json!(filter), &json!(state)), "{one:#}");
        assert!(one["reason"].as_str().unwrap().contains(says), "{one:#}");
        assert_eq!(one["lag"], Value::Null, "{one:#}");
    }
    assert_eq!(of("not-allowed")["definitions"][0]["isAllowed"], false);
    // Executors with other settings have made its consumer, and take its messages.
    let bills = json!({"subject": "bills.*", "stream": "BILLS"});
    world.publish("elsewhere", reads(true, bills)).await;
    world.bus.make_stream("BILLS", "bills.>");
    let elsewhere = async || {
        let found = world.get(LISTENERS).await.expect(200);
        let mut items = found["items"].as_array().unwrap().iter();
        let is_it = |one: &&Value| one["definitions"][0]["definitionId"] == "elsewhere";
        items.find(is_it).unwrap().clone()
    };
    let before = elsewhere().await;
    assert!(!before["reason"].as_str().unwrap().contains("executors have made"), "{before:#}");
    let place = Place {
        name: before["consumer"].as_str().unwrap().to_owned(),
        stream: "BILLS".to_owned(),
        subject: "bills.*".to_owned(),
        from: Some(From::All),
        one_by_one: false,
    };
    let mut taken = world.bus.outside().follow(&place).await.unwrap();
    let bill = Message { subject: "bills.eu".to_owned(), ..Message::default() };
    world.bus.outside().store(bill, BOUND).await.unwrap();
    taken.next().await.unwrap().unwrap().settle.await;
    let now = elsewhere().await;
    let reason = now["reason"].as_str().unwrap();
    assert_eq!(now["state"], "notAllowed");
    assert!(
        reason.contains("executors have made its consumer: if they take messages now, give this")
    );
    assert!(reason.contains("(the last at 2"), "{reason}");
    let _executor = world.join("executor", "executor").await;
    testkit::eventually("an executor lives", BOUND, async || {
        let found = world.get(LISTENERS).await.expect(200);
        let first = &found["items"][0];
        first["isKept"] == false && first["state"] == "listening" && first["lag"].is_null()
    })
    .await;
}
