use std::collections::BTreeMap;

use bus::{MemoryBus, Wire as _};
use futures::StreamExt as _;
use model::Timestamp;

use super::*;

fn lists(of: &str, patterns: &[&str]) -> BTreeMap<String, Vec<String>> {
    BTreeMap::from([(of.to_owned(), patterns.iter().map(|one| (*one).to_owned()).collect())])
}

fn nats(bus: &MemoryBus) -> Nats {
    let config = NatsConfig { subjects: lists("*", &["act.>"]), buckets: lists("d", &["config"]) };
    Nats::new(Some(Arc::new(bus.clone())), config, Depot::default())
}

async fn end(nats: &Nats, call: NatsCall) -> Value {
    let of = "d".into();
    let end = nats.call(&call, "key-1", &of, Some(Duration::from_secs(5)), Some("00-1")).await;
    Value::Object(end.into_input())
}

fn request(subject: &str, content: Value) -> NatsCall {
    let message = Outgoing { subject: subject.to_owned(), content, ..Outgoing::default() };
    NatsCall::Request { message }
}

/// Answers each request with these headers and bytes, and gives what was asked.
async fn answer(bus: &MemoryBus, headers: &[(&str, &str)], payload: &[u8]) -> Message {
    let mut requests = bus.subscribe("act.*").await.unwrap();
    let incoming = requests.next().await.unwrap();
    let mut answer = Message { subject: incoming.reply.unwrap(), ..Message::default() };
    answer.payload = payload.to_vec();
    for (name, value) in headers {
        answer.headers.insert((*name).to_owned(), (*value).to_owned());
    }
    bus.send(answer).await.unwrap();
    incoming.message
}

async fn asked(content: Value, headers: &[(&str, &str)], payload: &[u8]) -> (Value, Message) {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let nats = nats(&bus);
    let (message, end) =
        tokio::join!(answer(&bus, headers, payload), end(&nats, request("act.x", content)));
    (end, message)
}

#[tokio::test(start_paused = true)]
async fn a_request_carries_the_content_and_its_key_and_the_answer_is_a_value() {
    for (content, payload, kind) in [
        (json!("hi"), "hi", None),
        (json!({"a": 1}), r#"{"a":1}"#, Some("application/json")),
        (json!({"fileName": "a", "contentType": "x/y", "content": "aGk="}), "hi", Some("x/y")),
        (Value::Null, "", None),
    ] {
        let (_, message) = asked(content, &[], b"1").await;
        assert_eq!(message.payload, payload.as_bytes());
        assert_eq!(message.header("Content-Type"), kind);
        assert_eq!((message.id(), message.header("traceparent")), (Some("key-1"), Some("00-1")));
    }
    for (headers, payload, expected) in [
        (&[][..], &b"{\"a\": 1}"[..], json!({"a": 1})),
        (&[("Content-Type", "text/plain")], b"12", json!("12")),
        (&[], b"12345678901234567890123", json!("12345678901234567890123")),
        (&[], b"HI", json!("HI")),
        (&[], b"", Value::Null),
    ] {
        assert_eq!(asked(Value::Null, headers, payload).await.0["content"], expected);
    }
    let headers = [("X", "1\n2"), ("content-type", "text/plain\napplication/json"), ("Y", "3")];
    let (end, _) = asked(Value::Null, &headers, b"12").await;
    assert_eq!(end["content"], "12");
    assert_eq!((&end["headers"]["X"], &end["headers"]["Y"]), (&json!(["1", "2"]), &json!("3")));
    let (end, _) = asked(Value::Null, &[], &[0xff, 0]).await;
    assert_eq!((&end["content"]["size"], &end["content"]["content"]), (&json!(2), &json!("/wA=")));
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_service_has_its_code_by_which_it_is_tried_again() {
    let headers = [("Nats-Service-Error", "busy"), ("Nats-Service-Error-Code", "503")];
    let (end, _) = asked(Value::Null, &headers, b"").await;
    assert_eq!((&end["statusCode"], &end["message"]), (&json!(503), &json!("busy")));
    let retry = model::Retry::default();
    assert!(retry.reason(end.as_object().unwrap()).is_some());
    let headers = [("Nats-Service-Error", "boom"), ("Nats-Service-Error-Code", "abc")];
    let (end, _) = asked(Value::Null, &headers, b"").await;
    let message = end["message"].as_str().unwrap();
    assert!(message.starts_with("boom (Nats-Service-Error-Code is \"abc\""), "{message}");
    assert_eq!(end["statusCode"], 500);
    let headers = [("Nats-Service-Error-Code", "404")];
    let (end, _) = asked(Value::Null, &headers, b"").await;
    assert!(retry.reason(end.as_object().unwrap()).is_none(), "{end}");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_allowed_is_refused_with_the_setting_that_allows_it() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let nats = nats(&bus);
    let get = |bucket: &str, key: &str| NatsCall::Get { bucket: bucket.into(), key: key.into() };
    let mut reserved = Outgoing { subject: "act.x".into(), ..Outgoing::default() };
    reserved.headers.insert("nats-rollup".into(), "all".into());
    for (call, part) in [
        (request("orders.new", Value::Null), "nats-subjects, as in d=orders.new"),
        (request("act", Value::Null), "nats-subjects"),
        (request("staunch.cmd.start.x", Value::Null), "belongs to Staunch"),
        (request("$JS.API.INFO", Value::Null), "belongs to Staunch or to NATS"),
        (NatsCall::Request { message: reserved }, "header nats-rollup"),
        (get("secrets", "a"), "nats-buckets, as in d=secrets"),
        (get("staunch_leases", "a"), "belongs to Staunch"),
        (get("KV_STAUNCH_x", "a"), "the bucket KV_STAUNCH_x belongs to Staunch"),
        (get("config", "a b"), "not a key"),
    ] {
        let end = end(&nats, call).await;
        assert_eq!(end["error"], "refused", "{end}");
        assert!(end["message"].as_str().unwrap().contains(part), "{end}");
    }
    let nobody = end(&nats, request("act.none", Value::Null)).await;
    assert_eq!((&nobody["error"], &nobody["code"]), (&json!("connect"), &json!("no-responders")));
    let other = nats.call(&get("config", "a"), "k", &"other".into(), None, None).await;
    assert_eq!(other.into_input()["error"], "refused", "another definition has no list");
}

#[tokio::test(start_paused = true)]
async fn keys_and_objects_are_written_and_read() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let config = NatsConfig { buckets: lists("*", &[">"]), ..NatsConfig::default() };
    let nats = Nats::new(Some(Arc::new(bus)), config, Depot::default());
    let (bucket, key) = ("config".to_owned(), "a".to_owned());
    let get = || NatsCall::Get { bucket: bucket.clone(), key: key.clone() };
    let set = |value: Option<Value>, expected: Option<u64>| NatsCall::Set {
        bucket: bucket.clone(),
        key: key.clone(),
        value,
        expected,
    };
    let run = async |call: NatsCall, nonce: &str| {
        Value::Object(nats.call(&call, nonce, &"d".into(), None, None).await.into_input())
    };
    assert_eq!(run(get(), "1").await, json!({}));
    assert_eq!(run(set(Some(json!({"x": 1})), Some(0)), "2").await, json!({"revision": 1}));
    assert_eq!(run(get(), "3").await, json!({"value": {"x": 1}, "revision": 1}));
    assert_eq!(run(set(Some(json!(2)), Some(0)), "4").await, json!({"conflict": true}));
    assert_eq!(run(set(None, Some(1)), "5").await, json!({"revision": 2}));
    assert_eq!(run(get(), "6").await, json!({}));
    let name = || "a.txt".to_owned();
    let read = || NatsCall::GetObject { bucket: bucket.clone(), name: name() };
    assert_eq!(run(read(), "7").await, json!({}));
    let put = NatsCall::SetObject { bucket: bucket.clone(), name: name(), content: json!("hi") };
    assert_eq!(run(put, "8").await, json!({"size": 2}));
    let file = run(read(), "9").await["object"].clone();
    assert_eq!((&file["fileName"], &file["content"]), (&json!("a.txt"), &json!("aGk=")));
    assert_eq!(file["contentType"], "application/octet-stream");
    let image = json!({"fileName": "b", "contentType": "image/png", "content": "aGk="});
    let (bucket, name) = (bucket.clone(), "dir/a.png".to_owned());
    let put = NatsCall::SetObject { bucket: bucket.clone(), name: name.clone(), content: image };
    assert_eq!(run(put, "10").await, json!({"size": 2}));
    let file = run(NatsCall::GetObject { bucket, name }, "11").await["object"].clone();
    assert_eq!((&file["fileName"], &file["contentType"]), (&json!("a.png"), &json!("image/png")));
}

#[tokio::test(start_paused = true)]
async fn the_responders_of_a_type_are_asked_on_its_subject_whatever_the_lists_say() {
    for (version, subject) in [(1, "staunch.act.Acme=2EUpper"), (2, "staunch.act.Acme=2EUpper.2")] {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        let nats = nats(&bus);
        let input = json!({"text": "hi"});
        let call = NatsCall::Act { task_type: "Acme.Upper".to_owned(), version, input };
        let responder = async {
            let mut requests = bus.subscribe(subject).await.unwrap();
            let incoming = requests.next().await.unwrap();
            let mut answer = Message { subject: incoming.reply.unwrap(), ..Message::default() };
            answer.payload = b"\"HI\"".to_vec();
            answer.headers.insert("Staunch-Outcome".to_owned(), "Loud".to_owned());
            bus.send(answer).await.unwrap();
            incoming.message
        };
        let (message, end) = tokio::join!(responder, end(&nats, call));
        assert_eq!(message.payload, br#"{"text":"hi"}"#);
        assert_eq!(message.header("Content-Type"), Some("application/json"));
        assert_eq!((&end["content"], &end["outcome"]), (&json!("HI"), &json!("Loud")));
    }
}
