//! Tasks of workers that poll over HTTP, at several nodes.

use std::time::Duration;

use axum::Router;
use bus::{Queue as _, Stream};
use protocol::{Message, subject};
use serde_json::{Value, json};

use super::world::{Answer, BOUND, World, json_request, send_to};
use crate::lease;

const API: &str = "/elsa/api";

fn ships() -> Value {
    json!({"type": "Elsa.RunTask", "id": "t", "taskName": "Ship",
        "customProperties": {"retry": {"attempts": 3, "delay": "10ms"}}})
}

async fn post(node: &Router, path: &str, body: Value) -> Answer {
    send_to(node, json_request("POST", &format!("{API}{path}"), &[], &body)).await
}

/// The next task, at this node.
async fn poll(node: &Router) -> Value {
    let answer = post(node, "/tasks/poll", json!({"types": ["Ship"], "wait": 15})).await;
    let mut body = answer.expect(200);
    assert_eq!(body["count"], 1, "{body}");
    body["items"][0].take()
}

fn task_of(item: &Value) -> (String, String) {
    let text = |name: &str| item[name].as_str().unwrap().to_owned();
    (text("taskId"), text("lease"))
}

async fn until_no_task_is_left(world: &World) {
    testkit::eventually("no task is left", BOUND, async || {
        world.bus.span(Stream::Tasks).await.unwrap().messages == 0
    })
    .await;
}

#[tokio::test]
async fn a_task_is_taken_kept_and_completed_at_three_nodes() {
    let world = World::new().await;
    let (b, c) = (world.another().await, world.another().await);
    world.publish("ships", ships()).await;
    let id = world.begin("ships").await;
    let item = poll(world.router()).await;
    assert_eq!((&item["attempt"], &item["deliveries"]), (&json!(1), &json!(1)), "{item}");
    assert_eq!((&item["workflowInstanceId"], &item["taskType"]), (&json!(id), &json!("Ship")));
    let (task, first) = task_of(&item);

    let path = format!("/tasks/{task}/heartbeat");
    let kept = post(&b, &path, json!({"lease": first})).await.expect(200);
    let lease = kept["lease"].as_str().unwrap();
    assert!(kept["leaseExpiresAt"].as_str() >= item["leaseExpiresAt"].as_str(), "{kept}");

    let path = format!("/tasks/{task}/complete");
    let body = json!({"result": {"parcel": 7}, "lease": lease});
    let done = post(&c, &path, body.clone()).await.expect(200);
    assert_eq!(done["workflowInstanceId"], json!(id), "{done}");
    world.until(&id, "Finished").await;
    until_no_task_is_left(&world).await;

    // The same worker repeats itself, and is told the same; another result comes too late.
    post(world.router(), &path, body).await.expect(200);
    let path = format!("/tasks/{task}/fail");
    let late = post(&b, &path, json!({"lease": lease})).await.problem(409);
    assert!(late.contains("is over"), "{late}");
    let path = format!("/tasks/{task}/heartbeat");
    post(&b, &path, json!({"lease": lease})).await.problem(409);
    assert_eq!(world.store.sizes().pending, 0, "nothing is kept of what came too late");
}

#[tokio::test]
async fn a_poll_goes_on_behind_tasks_that_nobody_waits_for() {
    let world = World::new().await;
    world.publish("ships", ships()).await;
    for _ in 0..2 {
        let id = world.begin("ships").await;
        let bookmarks = format!("{API}/workflow-instances/{id}/bookmarks");
        let bookmarks = world.get(&bookmarks).await.expect(200);
        let task = bookmarks["items"][0]["payload"]["TaskId"].as_str().unwrap();
        let path = format!("/tasks/{task}/complete");
        post(world.router(), &path, json!({})).await.expect(200);
        world.until(&id, "Finished").await;
    }
    let waiting = world.begin("ships").await;
    assert_eq!(poll(world.router()).await["workflowInstanceId"], json!(waiting));
}

#[tokio::test]
async fn an_attempt_that_is_over_is_fenced() {
    let world = World::new().await;
    world.start_timer().await;
    let b = world.another().await;
    world.publish("ships", ships()).await;
    let id = world.begin("ships").await;
    let (task, first) = task_of(&poll(world.router()).await);
    let path = format!("/tasks/{task}/fail");
    let failed = json!({"lease": first, "error": {"title": "no stock"}});
    for node in [&b, world.router()] {
        post(node, &path, failed.clone()).await.expect(200);
    }
    let second = poll(&b).await;
    assert_eq!((&second["attempt"], &second["deliveries"]), (&json!(2), &json!(1)), "{second}");
    assert_ne!(second["idempotencyKey"], json!(null));

    let path = format!("/tasks/{task}/complete");
    let late = post(&b, &path, json!({"lease": first, "result": 1})).await.problem(409);
    assert!(late.contains("not the current one"), "{late}");
    let path_of_life = format!("/tasks/{task}/heartbeat");
    let late = post(&b, &path_of_life, json!({"lease": first})).await.problem(409);
    assert!(late.contains("not the current one"), "{late}");
    let (_, lease) = task_of(&second);
    let other = json!({"lease": lease, "attempt": 1});
    assert!(post(&b, &path, other).await.problem(400).contains("lease is on attempt 2"));
    post(&b, &path, json!({"lease": lease, "result": 2})).await.expect(200);
    world.until(&id, "Finished").await;
    until_no_task_is_left(&world).await;
}

#[tokio::test]
async fn a_task_whose_instance_is_gone_is_given_to_nobody() {
    let world = World::new().await;
    world.publish("ships", ships()).await;
    let id = world.begin("ships").await;
    world.delete(&format!("{API}/workflow-instances/{id}")).await.expect(204);
    let asked = json!({"types": ["Ship"], "wait": 15});
    let answer = post(world.router(), "/tasks/poll", asked).await.expect(200);
    assert_eq!(answer["count"], 0, "{answer}");
    until_no_task_is_left(&world).await;
}

#[tokio::test]
async fn a_lease_that_was_changed_or_is_over_is_refused() {
    let world = World::new().await;
    world.publish("ships", ships()).await;
    world.begin("ships").await;
    let (task, good) = task_of(&poll(world.router()).await);
    let (head, rest) = good.split_once('.').unwrap();
    let (claims, signature) = rest.split_once('.').unwrap();
    let other: String = claims.chars().rev().collect();
    let session = {
        let key = world.app.identity.keys.signer(&world.app.cx, &world.app.config.identity);
        let claims = lease::open(&world.app, &task, &good).await.unwrap();
        crate::identity::token::sign_as("JWT", &claims, &key.await.unwrap()).unwrap()
    };
    for (what, wrong) in [
        ("nothing", String::new()),
        ("other claims", format!("{head}.{other}.{signature}")),
        ("no signature", format!("{head}.{claims}.")),
        ("a token of another kind", session),
        ("something long", "x".repeat(10_000)),
    ] {
        for verb in ["heartbeat", "complete", "fail"] {
            let path = format!("/tasks/{task}/{verb}");
            let refused = post(world.router(), &path, json!({"lease": wrong})).await;
            let why = refused.problem(403);
            assert!(why.contains("the lease is refused"), "{what}: {why}");
        }
    }
    let refused = post(world.router(), "/tasks/other/heartbeat", json!({"lease": good})).await;
    assert!(refused.problem(400).contains("the path names task other"));

    let lease = lease::open(&world.app, &task, &good).await.unwrap();
    let begun = model::Timestamp::from_millis(world.app.now().as_millis() - 30_000);
    let old = lease::sign(&world.app, &lease.renewed(begun)).await.unwrap();
    for verb in ["heartbeat", "complete", "fail"] {
        let path = format!("/tasks/{task}/{verb}");
        let why = post(world.router(), &path, json!({"lease": old})).await.problem(409);
        assert!(why.contains("another worker may have the task"), "{why}");
    }
    let path = format!("/tasks/{task}/complete");
    post(world.router(), &path, json!({"lease": good})).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_silent_loses_its_task_to_another() {
    let world = World::new().await;
    world.publish("ships", ships()).await;
    let id = world.begin("ships").await;
    let (task, silent) = task_of(&poll(world.router()).await);
    let beat = async |lease: &str| {
        let path = format!("/tasks/{task}/heartbeat");
        post(world.router(), &path, json!({"lease": lease})).await
    };
    // Heartbeats keep it for longer than one lease lasts.
    let mut lease = silent.clone();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        let body = beat(&lease).await.expect(200);
        lease = body["lease"].as_str().unwrap().to_owned();
    }
    beat(&silent).await.problem(409);
    tokio::time::sleep(Duration::from_secs(31)).await;
    let item = poll(world.router()).await;
    assert_eq!((&item["attempt"], &item["deliveries"]), (&json!(1), &json!(2)), "{item}");
    let path = format!("/tasks/{task}/complete");
    post(world.router(), &path, json!({"lease": lease})).await.problem(409);
    let (_, lease) = task_of(&item);
    post(world.router(), &path, json!({"lease": lease})).await.expect(200);
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn a_task_that_is_not_wanted_any_more_stops_its_worker() {
    let world = World::new().await;
    world.publish("ships", ships()).await;
    let id = world.begin("ships").await;
    let (task, lease) = task_of(&poll(world.router()).await);
    world.post(&format!("{API}/cancel/workflow-instances/{id}"), &json!({})).await.expect(200);
    let path = format!("/tasks/{task}/heartbeat");
    let over = post(world.router(), &path, json!({"lease": lease})).await.problem(409);
    assert!(over.contains("not wanted any more"), "{over}");
    until_no_task_is_left(&world).await;
}

#[tokio::test]
async fn a_poll_has_bounds_and_survives_what_it_cannot_read() {
    let world = World::new().await;
    for (body, part) in [
        (json!({}), "missing field `types`"),
        (json!({"types": []}), "types has 0 items"),
        (json!({"types": vec!["a"; 17]}), "types has 17 items"),
        (json!({"types": [""]}), "no name"),
        (json!({"types": ["x".repeat(2_000)]}), "bytes"),
        (json!({"types": ["Pay", "Pack@x"]}), "types[1] is \"Pack@x\""),
        (json!({"types": ["Pack@0"]}), "\"0\" is none. Pack@2 is version 2 of Pack"),
        (json!({"types": ["Pack@"]}), "Pack@@1"),
        (json!({"types": ["a"], "max": 0}), "max is 0"),
        (json!({"types": ["a"], "max": 101}), "max is 101"),
        (json!({"types": ["a"], "wait": 26}), "wait is 26"),
    ] {
        let refused = post(world.router(), "/tasks/poll", body).await.problem(400);
        assert!(refused.contains(part), "{refused}");
    }
    let none = json!({"types": ["Ship", "Ship", "Pay@2", "me@home@1"], "max": 100, "wait": 0});
    let none = post(world.router(), "/tasks/poll", none).await.expect(200);
    assert_eq!(none, json!({"count": 0, "items": []}));

    world.bus.provide("Ship", 1).await.unwrap();
    let garbled =
        Message { subject: subject::task("Ship", 1), payload: b"{".to_vec(), ..Message::default() };
    world.bus.publish(garbled).await.unwrap();
    world.publish("ships", ships()).await;
    world.begin("ships").await;
    let both = json!({"types": ["Ship"], "max": 2, "wait": 0});
    testkit::eventually("the other task is taken", BOUND, async || {
        post(world.router(), "/tasks/poll", both.clone()).await.expect(200)["count"] == 1
    })
    .await;
    assert_eq!(world.bus.span(Stream::Tasks).await.unwrap().messages, 2, "it is not lost");
}
