//! Requests under `staunch.api.…`, as any NATS client sends them.

use std::time::Duration;

use bus::Wire as _;
use model::{PayloadHash, limits};
use protocol::{Message, header};
use serde_json::{Value, json};
use store::Payloads as _;

use crate::wired::world::{World, line, sequence, wait_for};

async fn answer(world: &World, subject: &str, body: &str) -> Message {
    let mut message = Message { subject: subject.to_owned(), ..Message::default() };
    message.payload = body.as_bytes().to_vec();
    world.bus.request(message, Duration::from_secs(30)).await.unwrap()
}

async fn request(world: &World, subject: &str, body: &str) -> (Message, Value) {
    let answer = answer(world, subject, body).await;
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
        ("staunch.api.get.a=20b", "", 400, "instance id \"a b\""),
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

/// Keeps these bytes as the payload of this name, whether or not they are its bytes.
pub(crate) async fn keep(world: &World, hash: &PayloadHash, bytes: &[u8], place: Option<&str>) {
    let (store, id, now) = (&world.store, hash.as_str(), world.now());
    store.begin_payload(id, place, now).await.unwrap();
    for (number, part) in (0..).zip(bytes.chunks(limits::PAYLOAD_CHUNK_BYTES)) {
        store.write_payload(id, number, part.to_vec()).await.unwrap();
    }
    store.complete_payload(id, hash, bytes.len() as u64, now).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_payload_is_read_part_by_part() {
    let world = World::new();
    let _node = world.node("a").await;
    until_served(&world).await;
    for (size, parts) in [(0, 1), (7, 1), (limits::PAYLOAD_CHUNK_BYTES * 2 + 7, 3)] {
        let bytes: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let hash = PayloadHash::of(&bytes);
        keep(&world, &hash, &bytes, None).await;
        let subject = format!("staunch.api.payload.{hash}");
        let mut whole = Vec::new();
        for number in 0..parts {
            let body =
                if number == 0 { String::new() } else { json!({"part": number}).to_string() };
            let part = answer(&world, &subject, &body).await;
            let header = |name: &str| part.header(name).unwrap_or_default().to_owned();
            assert_eq!(header("Content-Type"), "application/octet-stream");
            assert_eq!(header("Staunch-Payload-Bytes"), size.to_string());
            assert_eq!(header("Staunch-Payload-Parts"), parts.to_string());
            assert_eq!(part.header("Nats-Service-Error-Code"), None);
            whole.extend(part.payload);
        }
        assert_eq!(PayloadHash::of(&whole), hash);
        let body = json!({ "part": parts }).to_string();
        let (_, problem) = request(&world, &subject, &body).await;
        assert_eq!(problem["status"], 400, "{problem}");
        let said = problem["detail"].as_str().unwrap();
        assert!(
            said.contains(&format!("has no part {parts}: ask for 0 to {}", parts - 1)),
            "{said}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_cannot_be_read_is_answered_with_a_problem() {
    let world = World::new();
    let _node = world.node("a").await;
    until_served(&world).await;
    let [good, damaged, elsewhere, absent] =
        [&b"good"[..], b"damaged", b"elsewhere", b"absent"].map(PayloadHash::of);
    keep(&world, &good, b"good", None).await;
    keep(&world, &damaged, b"another", None).await;
    keep(&world, &elsewhere, b"elsewhere", Some("s3://a/b")).await;
    for (name, body, status, part) in [
        ("sha256-1", "", 400, "is not the name of a payload"),
        (good.as_str(), "not json", 400, "line 1"),
        (good.as_str(), r#"{"part": -1}"#, 400, "-1"),
        (good.as_str(), r#"{"parts": 1}"#, 400, "parts"),
        (good.as_str(), r#"{"part": 4294967295}"#, 400, "ask for 0 to 0"),
        (absent.as_str(), "", 404, "there is no payload"),
        (damaged.as_str(), "", 500, "is damaged"),
        (elsewhere.as_str(), "", 503, "payload-store"),
    ] {
        let subject = format!("staunch.api.payload.{name}");
        let (answer, problem) = request(&world, &subject, body).await;
        assert_eq!(problem["status"], status, "{subject}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{problem}");
        assert_eq!(answer.header("Nats-Service-Error-Code"), Some(status.to_string().as_str()));
    }
}
