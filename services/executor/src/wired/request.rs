//! Requests under `staunch.api.…`, as any NATS client sends them.

use std::time::Duration;

use bus::Wire as _;
use protocol::{Message, header};
use serde_json::{Value, json};

use crate::wired::world::{World, line, sequence, wait_for};

async fn request(world: &World, subject: &str, body: &str) -> (Message, Value) {
    let mut message = Message { subject: subject.to_owned(), ..Message::default() };
    message.payload = body.as_bytes().to_vec();
    let answer = world.bus.request(message, Duration::from_secs(30)).await.unwrap();
    let body = serde_json::from_slice(&answer.payload).unwrap();
    (answer, body)
}

async fn until_served(world: &World) {
    world
        .until("the endpoints are there", async || {
            let probe = Message { subject: "staunch.api.get.none".into(), ..Message::default() };
            world.bus.request(probe, Duration::from_secs(1)).await.is_ok()
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_nats_client_can_do_everything() {
    let world = World::new();
    let steps = vec![wait_for("x"), wait_for("order.paid"), line("done"), wait_for("never")];
    world.publish("steps", sequence(steps), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    until_served(&world).await;
    let (_, started) = request(&world, "staunch.api.start.steps", r#"{"instanceId":"i"}"#).await;
    assert_eq!(started["workflowInstanceId"], "i");
    assert_eq!(started["subStatus"], "Suspended");
    let (_, resumed) = request(&world, "staunch.api.resume.i", "").await;
    assert_eq!(resumed["refusal"], Value::Null, "{resumed}");
    let (_, raised) = request(&world, "staunch.api.event.order.paid", "{}").await;
    assert_eq!(raised["affected"], 1);
    world.until("it went on", async || world.lines("i").await == ["done"]).await;
    let (_, view) = request(&world, "staunch.api.get.i", "").await;
    assert_eq!(view["subStatus"], "Suspended");
    assert_eq!(view["definitionId"], "steps");
    assert!(view["workflowState"].is_object(), "{view}");
    let (_, cancelled) = request(&world, "staunch.api.cancel.i", "").await;
    assert_eq!(cancelled["subStatus"], "Cancelled");
    let (_, again) = request(&world, "staunch.api.cancel.i", "").await;
    assert_eq!(again["refusal"], "alreadyDone");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_sent_again_is_answered() {
    let world = World::new();
    world.publish("wait", wait_for("x"), json!({})).await;
    let _node = world.node("a").await;
    until_served(&world).await;
    let mut message = Message { subject: "staunch.api.start.wait".into(), ..Message::default() };
    message.headers.insert(header::MESSAGE_ID.to_owned(), "order-7".to_owned());
    let ask = async || {
        let answer = world.bus.request(message.clone(), Duration::from_secs(30)).await.unwrap();
        serde_json::from_slice::<Value>(&answer.payload).unwrap()
    };
    let started = ask().await;
    assert_eq!(started["subStatus"], "Suspended", "{started}");
    let again = ask().await;
    assert_eq!(again["status"], 409, "{again}");
    let id = started["workflowInstanceId"].as_str().unwrap();
    assert!(
        again["detail"].as_str().unwrap().contains(&format!("staunch.api.get.{id}")),
        "{again}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_makes_no_sense_is_answered_with_a_problem() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let _node = world.node("a").await;
    until_served(&world).await;
    let large = format!(r#"{{"input":{{"a":"{}"}}}}"#, "x".repeat(600 * 1024));
    for (subject, body, status, part) in [
        ("staunch.api.start.hello", "not json", 400, "line 1"),
        ("staunch.api.start.hello", large.as_str(), 400, "more than the 524288"),
        ("staunch.api.start.nobody", "{}", 404, "definition nobody"),
        (
            "staunch.api.start.hello",
            r#"{"properties": {"Flowchart:ExecutionMode": "Quick"}}"#,
            400,
            "use TokenBased",
        ),
        ("staunch.api.get.nobody", "", 404, "instance nobody"),
        ("staunch.api.resume.a*b", "", 400, "instance id"),
    ] {
        let (answer, problem) = request(&world, subject, body).await;
        assert_eq!(problem["status"], status, "{subject}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{problem}");
        assert_eq!(answer.header("Nats-Service-Error-Code"), Some(status.to_string().as_str()));
        assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/json"));
    }
    assert!(world.dead().is_empty(), "a requester is told at once; nothing is kept");
}
