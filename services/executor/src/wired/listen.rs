//! Messages that workflows listen to.

mod missing;
mod past;

use std::time::Duration;

use bus::{Bus as _, Stream};
use chassis::Clock as _;
use engine::outside::NatsConfig;
use model::{Instance, Stimulus, SubStatus};
use serde_json::{Value, json};
use store::Inbox as _;
use store::memory::Operation;

use crate::Config;
use crate::wired::fault::{Outage, counted};
use crate::wired::world::{Peculiar, World, line, sequence};

fn listens(can_start: bool) -> Value {
    json!({"type": "Staunch.MessageReceived", "id": "m", "canStartWorkflow": can_start,
        "subject": "orders.*", "result": {"memoryReference": {"id": "Got"}},
        "tokens": {"memoryReference": {"id": "Tokens"}}})
}

fn config() -> Config {
    let mut config = World::config();
    let subjects = [
        ("*".to_owned(), vec!["orders.>".to_owned()]),
        ("kept-out".to_owned(), vec!["public.>".to_owned()]),
    ];
    let buckets = [("*".to_owned(), vec!["config".to_owned(), "files".to_owned()])];
    config.connectors.nats = NatsConfig { subjects: subjects.into(), buckets: buckets.into() };
    config
}

async fn tell(world: &World, subject: &str, content: &Value) {
    let message = protocol::Message {
        subject: subject.to_owned(),
        payload: content.to_string().into_bytes(),
        ..protocol::Message::default()
    };
    bus::Wire::send(&world.bus, message).await.unwrap();
}

async fn of(world: &World, definition: &str) -> Vec<Instance> {
    let every = store::InstanceFilter::default();
    let page = store::Page::new(0, model::limits::PAGE_ITEMS_MAX);
    let all = store::Instances::list(&world.store, &every, page).await.unwrap();
    all.items.into_iter().filter(|one| one.definition_id.as_str() == definition).collect()
}

#[tokio::test(start_paused = true)]
async fn a_message_starts_a_workflow_once_and_resumes_those_that_wait() {
    let world = World::new();
    let outputs = json!({"outputs": [{"name": "Got"}, {"name": "Tokens"}]});
    world.publish("trigger", sequence(vec![listens(true)]), outputs.clone()).await;
    world.publish("wait", sequence(vec![listens(false), line("went on")]), outputs).await;
    let mut nodes = Vec::new();
    for name in ["a", "b", "c"] {
        let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
        nodes.push(world.peculiar(name, peculiar).await);
    }
    world.start("wait", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    // What comes before an executor listens is heard by nobody: core messages come at most once.
    world
        .until("a message is heard", async || {
            tell(&world, "orders.probe", &json!({"id": 0})).await;
            !of(&world, "trigger").await.is_empty()
        })
        .await;
    world.until_status("i", SubStatus::Finished).await;
    for id in 1..=20 {
        tell(&world, "orders.eu", &json!({"id": id})).await;
    }
    let heard = async || {
        let mut heard = Vec::new();
        for instance in of(&world, "trigger").await {
            let output = world.record(instance.id.as_str()).await.state.output;
            if output.get("Tokens") == Some(&json!(["eu"])) {
                heard.push(output["Got"]["id"].as_u64().unwrap());
            }
        }
        heard.sort_unstable();
        heard
    };
    world.until("each starts one", async || heard().await.len() >= 20).await;
    world.until_quiet().await;
    // Of three executors one hears each message.
    assert_eq!(heard().await, (1..=20).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_subject_that_is_not_allowed_is_not_listened_to() {
    let world = World::new();
    let mut other = listens(true);
    other["subject"] = json!("payments.*");
    world.publish("other", sequence(vec![other]), json!({})).await;
    // It names a source that another definition may listen to.
    world.publish("kept-out", sequence(vec![listens(true)]), json!({})).await;
    world.publish("trigger", sequence(vec![listens(true)]), json!({})).await;
    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _node = world.peculiar("a", peculiar).await;
    world
        .until("a message is heard", async || {
            tell(&world, "payments.eu", &json!({})).await;
            tell(&world, "orders.eu", &json!({})).await;
            !of(&world, "trigger").await.is_empty()
        })
        .await;
    world.until_quiet().await;
    assert!(of(&world, "other").await.is_empty());
    assert!(of(&world, "kept-out").await.is_empty());
}

/// A trigger, or a wait, for the messages of the stream `ORDERS`.
fn reads(can_start: bool, more: Value) -> Value {
    let mut reads = listens(can_start);
    reads["stream"] = json!("ORDERS");
    reads["from"] = json!("all");
    for (name, value) in more.as_object().unwrap() {
        reads[name] = value.clone();
    }
    reads
}

fn outputs() -> Value {
    json!({"outputs": [{"name": "Got"}, {"name": "Tokens"}]})
}

async fn store(world: &World, subject: &str, content: &str) {
    let (subject, payload) = (subject.to_owned(), content.as_bytes().to_vec());
    let message = protocol::Message { subject, payload, ..protocol::Message::default() };
    world.bus.outside().store(message, Duration::from_secs(5)).await.unwrap();
}

async fn listening(names: &[&str]) -> (World, Vec<super::world::Node>) {
    let world = World::new();
    world.bus.make_stream("ORDERS", "orders.>");
    let mut nodes = Vec::new();
    for name in names {
        let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
        nodes.push(world.peculiar(name, peculiar).await);
    }
    (world, nodes)
}

/// What the instances of a definition have got, by the number in it.
async fn got(world: &World, definition: &str) -> Vec<u64> {
    let mut got = Vec::new();
    for instance in of(world, definition).await {
        let output = world.record(instance.id.as_str()).await.state.output;
        got.extend(output.get("Got").and_then(|got| got["id"].as_u64()));
    }
    got.sort_unstable();
    got
}

/// A message that comes after a publication or a wait is not lost, however late an executor listens, and
/// one from before is not taken.
#[tokio::test(start_paused = true)]
async fn what_comes_before_an_executor_listens_is_taken_from_the_stream() {
    let world = World::new();
    world.bus.make_stream("ORDERS", "orders.>");
    let new = json!({"from": null});
    let long = Duration::from_secs(60);
    store(&world, "orders.eu", r#"{"id": 1}"#).await;
    tokio::time::sleep(long).await;
    world.publish("trigger", sequence(vec![reads(true, new.clone())]), outputs()).await;
    store(&world, "orders.eu", r#"{"id": 2}"#).await;
    tokio::time::sleep(long).await;
    // It may listen to nothing.
    let deaf = world.node("deaf").await;
    let other = json!({"from": "new", "subject": "orders.us"});
    world.publish("wait", sequence(vec![reads(false, other)]), outputs()).await;
    store(&world, "orders.us", r#"{"id": 3}"#).await;
    tokio::time::sleep(long).await;
    world.start("wait", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    store(&world, "orders.us", r#"{"id": 4}"#).await;
    tokio::time::sleep(long).await;
    assert_eq!(got(&world, "trigger").await, [] as [u64; 0]);
    deaf.kill().await;

    let peculiar = Peculiar { config: Some(config()), ..Peculiar::default() };
    let _late = world.peculiar("late", peculiar).await;
    world.until_status("i", SubStatus::Finished).await;
    // `orders.us` is of `orders.*`, too.
    world.until("the messages", async || got(&world, "trigger").await.len() >= 3).await;
    world.until_quiet().await;
    assert_eq!(got(&world, "trigger").await, [2, 3, 4]);
    assert_eq!(got(&world, "wait").await, [4]);
}

#[tokio::test(start_paused = true)]
async fn a_predicate_chooses_and_what_cannot_be_judged_is_a_dead_letter() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    let predicate = json!({"predicate": {"js": "args.content.parts.length > 1"}});
    world.publish("big", sequence(vec![reads(true, predicate)]), outputs()).await;
    let series = "staunch_dead_letters_total{why=\"unfit\"}";
    let before = counted(series);
    for id in 0..20 {
        let parts = vec![0; id % 4];
        store(&world, "orders.eu", &json!({"id": id, "parts": parts}).to_string()).await;
        if id == 10 {
            store(&world, "orders.eu", "no order").await;
        }
    }
    let expected: Vec<u64> = (0..20).filter(|id| id % 4 > 1).collect();
    world.until("the big ones", async || got(&world, "big").await.len() >= expected.len()).await;
    world.until_quiet().await;
    assert_eq!(got(&world, "big").await, expected);
    let dead = world.bus.stored(Stream::Dead);
    assert_eq!(dead.len(), 1, "{dead:?}");
    let letter = &dead[0].1;
    assert_eq!(
        (letter.subject.as_str(), letter.payload.as_slice()),
        ("staunch.dead.message.orders.eu", b"no order".as_slice())
    );
    let reason = letter.header(protocol::header::REASON).unwrap();
    assert!(reason.starts_with("predicate: "), "{reason}");
    assert!(counted(series) > before);
}

/// With thousands of sources, the start of an executor is not as many reads of versions.
#[tokio::test(start_paused = true)]
async fn the_beginning_of_a_source_is_asked_for_only_where_its_place_is_made() {
    let (world, mut nodes) = listening(&["first"]).await;
    let new = json!({"from": null});
    world.publish("trigger", sequence(vec![reads(true, new)]), outputs()).await;
    let triggers = store::Definitions::triggers_named(&world.store, Stimulus::MESSAGE).await;
    let name = protocol::subject::listener_consumer(&triggers.unwrap()[0].hash);
    let figures = async || world.bus.outside().place_figures("ORDERS", &name).await.unwrap();
    world.until("the place", async || figures().await.is_some()).await;
    nodes.remove(0).kill().await;
    store(&world, "orders.eu", r#"{"id": 1}"#).await;
    assert_eq!(figures().await.unwrap().pending, 1);

    let outage = Outage::new(Operation::Version);
    outage.begin();
    let peculiar = Peculiar {
        config: Some(config()),
        store: Some(world.store.with_faults(outage.clone())),
        ..Peculiar::default()
    };
    let _second = world.peculiar("second", peculiar).await;
    // The message becomes a command, though no version can be read.
    world.until("the message", async || figures().await.unwrap().pending == 0).await;
    outage.end();
    world.until("the workflow", async || got(&world, "trigger").await == [1]).await;
}

#[tokio::test(start_paused = true)]
async fn a_correlation_id_says_which_instance_goes_on() {
    let (world, _nodes) = listening(&["a"]).await;
    let correlated = json!({"from": "new", "correlationId": {"js": "args.content.customer"}});
    world.publish("trigger", sequence(vec![reads(true, correlated.clone())]), outputs()).await;
    world.publish("wait", sequence(vec![reads(false, correlated)]), outputs()).await;
    for name in ["ann", "bob"] {
        let mut start = super::world::start("wait", name, json!({}));
        if let protocol::Body::Start(start) = &mut start.body {
            start.correlation_id = Some(name.to_owned());
        }
        world.ask(start, protocol::ReplyWhen::Committed).await;
        world.until_status(name, SubStatus::Suspended).await;
    }
    store(&world, "orders.eu", r#"{"id": 1, "customer": "bob"}"#).await;
    store(&world, "orders.eu", r#"{"id": 2}"#).await;
    world.until_status("bob", SubStatus::Finished).await;
    world.until("the trigger", async || !of(&world, "trigger").await.is_empty()).await;
    world.until_quiet().await;
    assert_eq!(world.status("ann").await, Some(SubStatus::Suspended));
    let started = of(&world, "trigger").await;
    assert_eq!(started.len(), 1);
    assert_eq!(started[0].correlation_id.as_deref(), Some("bob"));
    let dead = world.bus.stored(Stream::Dead);
    let reason = dead[0].1.header(protocol::header::REASON);
    assert_eq!((dead.len(), reason), (1, Some("correlationId: the message has none")));

    // It names who listens, and what cannot be read says so.
    let header = |name: &str| dead[0].1.header(name);
    assert_eq!(header(protocol::header::ORIGIN_STREAM), Some("ORDERS"));
    assert_eq!(header(protocol::header::ORIGIN_SEQUENCE), Some("2"));
    assert_eq!(header(protocol::header::LISTENERS), Some("trigger/m, wait/m"));
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    for body in [deep.as_bytes(), b"\xff\xfe", b"no order", b""] {
        let message = protocol::Message {
            subject: "orders.eu".to_owned(),
            payload: body.to_vec(),
            ..protocol::Message::default()
        };
        world.bus.outside().store(message, Duration::from_secs(5)).await.unwrap();
    }
    world.until("the letters", async || world.bus.stored(Stream::Dead).len() >= 5).await;
    let dead = world.bus.stored(Stream::Dead);
    for why in ["64 deep", "no text in UTF-8", "expected", "it is empty"] {
        let says = "the body cannot be read as JSON: ";
        let is_said = dead.iter().any(|(_, letter)| {
            let reason = letter.header(protocol::header::REASON).unwrap_or_default();
            reason.split_once(says).is_some_and(|(_, end)| end.contains(why))
        });
        assert!(is_said, "{why}: {dead:?}");
    }
}

/// A backup has the same messages; a stream that is made anew has others of the same numbers.
#[tokio::test(start_paused = true)]
async fn a_restored_stream_starts_and_resumes_nothing_again_and_one_made_anew_does() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    let second = reads(false, json!({"id": "n"}));
    let waits = vec![reads(false, json!({})), line("one"), second, line("two")];
    world.publish("trigger", sequence(vec![reads(true, json!({}))]), outputs()).await;
    world.publish("wait", sequence(waits), outputs()).await;
    let triggers = store::Definitions::triggers_named(&world.store, Stimulus::MESSAGE).await;
    let name = protocol::subject::listener_consumer(&triggers.unwrap()[0].hash);
    world.start("wait", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    store(&world, "orders.eu", r#"{"id": 1}"#).await;
    world.until("the instance goes on", async || world.lines("i").await == ["one"]).await;
    world.until("the trigger", async || got(&world, "trigger").await == [1]).await;

    world.bus.restore_stream("ORDERS");
    world
        .until("the message is taken again", async || {
            let place = world.bus.outside().place_figures("ORDERS", &name).await.unwrap();
            place.is_some_and(|place| (place.delivered, place.in_hand) == (1, 0))
        })
        .await;
    world.until_quiet().await;
    assert_eq!(got(&world, "trigger").await, [1]);
    assert_eq!(world.lines("i").await, ["one"]);

    world.bus.make_stream("ORDERS", "orders.>");
    store(&world, "orders.eu", r#"{"id": 2}"#).await;
    world.until_status("i", SubStatus::Finished).await;
    world.until("the trigger", async || got(&world, "trigger").await == [1, 2]).await;
    assert_eq!(world.lines("i").await, ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn messages_of_one_key_start_once() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    let keyed = json!({"deduplicationKey": {"js": "args.content.id"}});
    world.publish("once", sequence(vec![reads(true, keyed)]), outputs()).await;
    for id in [1, 2, 1, 3, 2, 1] {
        store(&world, "orders.eu", &json!({"id": id}).to_string()).await;
    }
    world.until("each key", async || got(&world, "once").await.len() >= 3).await;
    // After the time for which events are remembered, the instance itself is still there.
    let later = world.clock.now().after(Duration::from_secs(1));
    assert!(world.store.forget_routed(later, 100).await.unwrap() > 0);
    store(&world, "orders.eu", r#"{"id": 3}"#).await;
    store(&world, "orders.eu", r#"{"id": 4}"#).await;
    world.until("the last key", async || got(&world, "once").await.len() >= 4).await;
    world.until_quiet().await;
    assert_eq!(got(&world, "once").await, [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn in_order_the_next_message_comes_when_the_one_before_has_ended_or_waits() {
    let (world, mut nodes) = listening(&["a", "b"]).await;
    let ordered = reads(true, json!({"inOrder": true}));
    let call = json!({"type": "Elsa.SendHttpRequest", "id": "c", "url": "http://slow.test/"});
    world.publish("ordered", sequence(vec![ordered, call]), outputs()).await;
    for id in 0..12 {
        store(&world, "orders.eu", &json!({"id": id}).to_string()).await;
    }
    // No call is answered but for a moment now and then.
    world.calls.respond("http://slow.test/", 200, json!({}));
    let mut at_once = 0;
    for round in 0.. {
        assert!(round < 1_000, "the messages are not taken");
        world.calls.hold();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let all = of(&world, "ordered").await;
        let running = all.iter().filter(|one| !one.status.is_final()).count();
        at_once = at_once.max(running);
        let ended = all.len() - running;
        if ended >= 4 && nodes.len() > 1 {
            nodes.remove(0).kill().await;
        }
        if ended >= 12 {
            break;
        }
        world.calls.go();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(at_once, 1, "one at a time");
    let mut all = of(&world, "ordered").await;
    assert_eq!(all.len(), 12);
    all.sort_by_key(|one| one.created_at);
    let mut order = Vec::new();
    for one in &all {
        order.push(world.record(one.id.as_str()).await.state.output["Got"]["id"].as_u64().unwrap());
    }
    assert_eq!(order, (0..12).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn changes_of_keys_and_stored_objects_start_workflows() {
    let (world, _nodes) = listening(&["a"]).await;
    world.bus.make_stream("KV_config", "$KV.config.>");
    world.bus.make_stream("OBJ_files", "$O.files.>");
    let key = json!({"type": "Staunch.KeyChanged", "id": "k", "canStartWorkflow": true,
        "bucket": "config", "key": "a.*", "operations": ["put"], "from": "all",
        "result": {"memoryReference": {"id": "Got"}},
        "changedKey": {"memoryReference": {"id": "Tokens"}}});
    let object = json!({"type": "Staunch.ObjectStored", "id": "o", "canStartWorkflow": true,
        "bucket": "files", "from": "all", "objectName": {"memoryReference": {"id": "Got"}},
        "headers": {"memoryReference": {"id": "Tokens"}}});
    let mut secret = key.clone();
    secret["bucket"] = json!("private");
    world.publish("keys", sequence(vec![key]), outputs()).await;
    world.publish("objects", sequence(vec![object]), outputs()).await;
    world.publish("secret", sequence(vec![secret]), outputs()).await;
    store(&world, "$KV.config.a.b", r#"{"id": 1}"#).await;
    store(&world, "$KV.config.other", r#"{"id": 2}"#).await;
    for (name, value) in [("KV-Operation", "DEL"), ("Nats-Marker-Reason", "MaxAge")] {
        let gone = protocol::Message {
            subject: "$KV.config.a.c".to_owned(),
            headers: [(name.to_owned(), value.to_owned())].into(),
            ..protocol::Message::default()
        };
        world.bus.outside().store(gone, Duration::from_secs(5)).await.unwrap();
    }
    let object_stored = r#"{"name": "a.pdf", "size": 9, "digest": "x",
        "headers": {"X-A": ["1"], "X-B": ["1", "2"]}}"#;
    store(&world, "$O.files.M.YS5wZGY=", object_stored).await;
    store(&world, "$O.files.M.YS5wZGY=", r#"{"name": "a.pdf", "deleted": true}"#).await;
    store(&world, "$O.files.C.1", "a chunk").await;
    let output = async |definition: &str| {
        let all = of(&world, definition).await;
        assert!(all.len() <= 1, "{all:?}");
        match all.first() {
            Some(one) => Some(json!(world.record(one.id.as_str()).await.state.output)),
            None => None,
        }
    };
    world
        .until("a key and an object", async || {
            output("keys").await.is_some() && output("objects").await.is_some()
        })
        .await;
    world.until_quiet().await;
    assert_eq!(output("keys").await, Some(json!({"Got": {"id": 1}, "Tokens": "a.b"})));
    let headers = json!({"X-A": "1", "X-B": ["1", "2"]});
    assert_eq!(output("objects").await, Some(json!({"Got": "a.pdf", "Tokens": headers})));
    assert_eq!(output("secret").await, None);
    assert_eq!(world.bus.stored(Stream::Dead), []);
}
