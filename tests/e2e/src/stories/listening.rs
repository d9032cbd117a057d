//! Workflows that listen to a stream, and speak.

use std::time::Duration;

use async_nats::jetstream;
use cluster::NodePlan;
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::workflow::sequence;
use crate::world::World;

const SOON: Duration = Duration::from_secs(90);
const MESSAGES: u64 = 300;
const CHOSEN: u64 = 20;

fn plan(name: &str, roles: &str) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    let allowed = ["--nats-subjects", "*=orders.>|confirmed.>", "--nats-buckets", "*=book|book-files"];
    plan.arguments.extend(allowed.map(str::to_owned));
    plan
}

async fn make(streams: &jetstream::Context, name: &str, subject: &str) {
    let config = jetstream::stream::Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        ..jetstream::stream::Config::default()
    };
    streams.create_stream(config).await.unwrap();
}

/// G1, G2: executors are killed while they take the messages of a stream: each message starts one
/// instance, and what the instance stores in a stream and in a bucket is there once.
pub(crate) async fn each_message_of_a_stream_starts_one_instance_g1_g2(world: World) {
    let gateway = world.start(plan("gateway", "ingress,timer,cache-notifier")).await;
    let mut executors = vec![world.start(plan("a", "executor")).await];
    executors.push(world.start(plan("b", "executor")).await);
    let api = Api::new(&gateway.url());
    let client = world.client().await;
    let stream = jetstream::new(client.clone());
    make(&stream, "ORDERS", "orders.>").await;
    make(&stream, "CONFIRMED", "confirmed.>").await;
    let bucket = jetstream::kv::Config { bucket: "book".to_owned(), ..jetstream::kv::Config::default() };
    let bucket = stream.create_key_value(bucket).await.unwrap();
    let activities = [
        json!({"type": "Staunch.MessageReceived", "id": "order", "canStartWorkflow": true,
            "subject": "orders.*", "stream": "ORDERS", "from": "all",
            "result": {"memoryReference": {"id": "o"}}}),
        json!({"type": "Staunch.PublishMessage", "id": "confirm", "stored": true,
            "subject": {"js": "'confirmed.' + variables.Order.id"},
            "content": {"js": "variables.Order"}}),
        json!({"type": "Staunch.KeyValuePut", "id": "note", "bucket": "book", "revision": 0,
            "key": {"js": "'order.' + variables.Order.id"}, "value": {"js": "variables.Order"}}),
    ];
    let mut definition = sequence("takes", &activities);
    definition["variables"] = json!([{"id": "o", "name": "Order", "typeName": "Object"}]);
    api.publish(&definition).await;
    for id in 0..MESSAGES {
        let order = json!({ "id": id }).to_string();
        stream.publish("orders.eu", order.into()).await.unwrap().await.unwrap();
        if id == MESSAGES / 3 {
            executors[0].kill().unwrap();
            executors.push(world.start(plan("c", "executor")).await);
        } else if id == 2 * MESSAGES / 3 {
            executors[1].kill().unwrap();
            executors.push(world.start(plan("d", "executor")).await);
        }
    }
    eventually("every message has its instance", SOON, async || {
        api.count("takes", Some("Finished")).await >= MESSAGES
    })
    .await;
    let all = api.count("takes", None).await;
    println!("{MESSAGES} messages, two executors killed: {all} instances");
    assert_eq!(all, MESSAGES);
    let confirmed = stream.get_stream("CONFIRMED").await.unwrap();
    assert_eq!(confirmed.cached_info().state.messages, MESSAGES, "each is stored once");
    for id in [0, MESSAGES / 2, MESSAGES - 1] {
        let entry = bucket.entry(format!("order.{id}")).await.unwrap().unwrap();
        let value: Value = serde_json::from_slice(&entry.value).unwrap();
        assert_eq!(value, json!({ "id": id }));
    }
}

/// A predicate, keys of messages and an order, on a real stream, with an executor that is killed; and
/// what changes in a bucket and is stored in an object store starts a workflow.
pub(crate) async fn what_is_chosen_starts_once_and_in_order(world: World) {
    let gateway = world.start(plan("gateway", "ingress,timer,cache-notifier")).await;
    let mut first = world.start(plan("a", "executor")).await;
    let _second = world.start(plan("b", "executor")).await;
    let api = Api::new(&gateway.url());
    let stream = jetstream::new(world.client().await);
    make(&stream, "ORDERS", "orders.>").await;
    let bucket =
        jetstream::kv::Config { bucket: "book".to_owned(), ..jetstream::kv::Config::default() };
    let bucket = stream.create_key_value(bucket).await.unwrap();
    let objects = jetstream::object_store::Config {
        bucket: "book-files".to_owned(),
        ..jetstream::object_store::Config::default()
    };
    let objects = stream.create_object_store(objects).await.unwrap();
    let listens = |id: &str, more: Value| {
        let mut trigger = json!({"id": "m", "canStartWorkflow": true, "from": "all"});
        for (name, value) in more.as_object().unwrap() {
            trigger[name] = value.clone();
        }
        let mut definition = sequence(id, &[trigger]);
        definition["outputs"] = json!([{"name": "Got"}]);
        definition
    };
    let got = json!({"memoryReference": {"id": "Got"}});
    let orders = json!({"type": "Staunch.MessageReceived", "subject": "orders.*",
        "stream": "ORDERS", "inOrder": true, "predicate": {"js": "args.content.id % 2 == 0"},
        "deduplicationKey": {"js": "args.content.id"}, "result": got});
    let keys = json!({"type": "Staunch.KeyChanged", "bucket": "book", "key": "a.*",
        "operations": ["put"], "result": got});
    let stored =
        json!({"type": "Staunch.ObjectStored", "bucket": "book-files", "objectName": got});
    api.publish(&listens("chosen", orders)).await;
    api.publish(&listens("keys", keys)).await;
    api.publish(&listens("objects", stored)).await;
    let publish = async |content: String| {
        stream.publish("orders.eu", content.into()).await.unwrap().await.unwrap();
    };
    publish("null".to_owned()).await;
    for id in 0..CHOSEN {
        for _ in 0..2 {
            publish(json!({ "id": id }).to_string()).await;
        }
        if id == CHOSEN / 2 {
            first.kill().unwrap();
        }
    }
    bucket.put("a.b", r#"{"x": 1}"#.into()).await.unwrap();
    bucket.put("b", "other".into()).await.unwrap();
    bucket.delete("a.b").await.unwrap();
    bucket.put("a.c", r#"{"x": 2}"#.into()).await.unwrap();
    objects.put("report.txt", &mut "four".as_bytes()).await.unwrap();
    objects.put("gone.txt", &mut "four".as_bytes()).await.unwrap();
    objects.delete("gone.txt").await.unwrap();
    eventually("every chosen message has its instance", SOON, async || {
        api.count("chosen", Some("Finished")).await >= CHOSEN / 2
    })
    .await;
    eventually("the bucket and the store have theirs", SOON, async || {
        // The bucket keeps the last change of each key: the first value of `a.b` may be gone.
        api.count("keys", Some("Finished")).await >= 1
            && api.count("objects", Some("Finished")).await >= 1
    })
    .await;
    eventually("nothing is left to take", SOON, async || {
        let mut stream = stream.get_stream("ORDERS").await.unwrap();
        stream.info().await.unwrap();
        let mut consumers = stream.consumers();
        let consumer = consumers.next().await.unwrap().unwrap();
        consumer.num_pending == 0 && consumer.num_ack_pending == 0
    })
    .await;
    assert_eq!(api.count("chosen", None).await, CHOSEN / 2);
    assert!((1..=2).contains(&api.count("keys", None).await));
    assert!((1..=2).contains(&api.count("objects", None).await));
    let dead = stream.get_stream("STAUNCH_DEAD").await.unwrap();
    let letter = dead.get_last_raw_message_by_subject("staunch.dead.message.orders.eu").await;
    assert_eq!(letter.unwrap().payload.as_ref(), b"null");
}

/// Three messages that nobody has taken, because no executor lives: the API and the command line say so,
/// and which definitions want them.
pub(crate) async fn messages_that_nobody_has_taken_are_a_lag(world: World) {
    let gateway = world.start(plan("gateway", "ingress,timer,cache-notifier")).await;
    let mut executor = world.start(plan("a", "executor")).await;
    let api = Api::new(&gateway.url());
    let stream = jetstream::new(world.client().await);
    make(&stream, "ORDERS", "orders.>").await;
    let listens = |id: &str, can_start: bool| {
        let message = json!({"type": "Staunch.MessageReceived", "id": "m",
            "canStartWorkflow": can_start, "subject": "orders.*", "stream": "ORDERS"});
        sequence(id, &[message])
    };
    api.publish(&listens("takes", true)).await;
    api.publish(&listens("waits", false)).await;
    api.start("waits", json!({})).await;
    let listener = async || {
        let found = api.get("/cluster/listeners").await.ok();
        assert_eq!(found["totalCount"], 1, "{found:#}");
        found["items"][0].clone()
    };
    eventually("the consumer is made, and an instance waits", SOON, async || {
        let listener = listener().await;
        listener["state"] == "listening" && listener["waiting"] == 1
    })
    .await;
    executor.stop().await.unwrap();
    for id in 0..3 {
        let order = json!({ "id": id }).to_string();
        stream.publish("orders.eu", order.into()).await.unwrap().await.unwrap();
    }
    eventually("three messages wait", SOON, async || {
        let listener = listener().await;
        listener["state"] == "noExecutor" && listener["lag"] == 3
    })
    .await;
    let expected = json!([
        {"definitionId": "takes", "starts": true, "waiting": 0, "isAllowed": true},
        {"definitionId": "waits", "starts": false, "waiting": 1, "isAllowed": true},
    ]);
    assert_eq!(listener().await["definitions"], expected);
    let server = gateway.url();
    let listed = world.cluster.command(&["listener", "ls", "--server", &server]).await.unwrap();
    for part in ["ORDERS", "orders.*", "noExecutor", "takes, waits", "3"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let _second = world.start(plan("b", "executor")).await;
    eventually("they are taken", SOON, async || {
        let listener = listener().await;
        listener["state"] == "listening" && listener["lag"] == 0 && listener["inHand"] == 0
    })
    .await;
    // A message is settled once its start is accepted; the instance is there a moment later.
    eventually("an instance is there", SOON, async || api.count("takes", None).await >= 1).await;
}

/// Five messages are there before anybody waits. Instances that wait for the stream from its beginning get the
/// first, the second and the third, though a workflow starts with each of the five and an executor is killed.
pub(crate) async fn those_that_wait_read_a_stream_from_its_beginning(world: World) {
    let gateway = world.start(plan("gateway", "ingress,timer,cache-notifier")).await;
    let mut first = world.start(plan("a", "executor")).await;
    let _second = world.start(plan("b", "executor")).await;
    let api = Api::new(&gateway.url());
    let stream = jetstream::new(world.client().await);
    make(&stream, "ORDERS", "orders.>").await;
    for id in 1..=5 {
        let order = json!({ "id": id }).to_string();
        stream.publish("orders.eu", order.into()).await.unwrap().await.unwrap();
    }
    let listens = |id: &str, can_start: bool| {
        let message = json!({"type": "Staunch.MessageReceived", "id": "m",
            "canStartWorkflow": can_start, "subject": "orders.*", "stream": "ORDERS",
            "from": "all", "result": {"memoryReference": {"id": "Got"}}});
        let mut definition = sequence(id, &[message]);
        definition["outputs"] = json!([{"name": "Got"}]);
        definition
    };
    api.publish(&listens("takes", true)).await;
    eventually("each starts one", SOON, async || {
        api.count("takes", Some("Finished")).await == 5
    })
    .await;
    api.publish(&listens("waits", false)).await;
    for number in 1..=3 {
        let id = api.start("waits", json!({})).await;
        let instance = api.reaches(&id, "Finished", SOON).await;
        assert_eq!(instance["workflowState"]["output"]["Got"], json!({ "id": number }));
        if number == 1 {
            first.kill().unwrap();
        }
    }
    assert_eq!(api.count("takes", None).await, 5);
}
