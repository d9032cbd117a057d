//! Workflows that listen to a stream, and speak.

use std::time::Duration;

use async_nats::jetstream;
use cluster::NodePlan;
use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::workflow::sequence;
use crate::world::World;

const SOON: Duration = Duration::from_secs(90);
const MESSAGES: u64 = 300;

fn plan(name: &str, roles: &str) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    let allowed = ["--nats-subjects", "*=orders.>|confirmed.>", "--nats-buckets", "*=book"];
    plan.arguments.extend(allowed.map(str::to_owned));
    plan
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
    for (name, subject) in [("ORDERS", "orders.>"), ("CONFIRMED", "confirmed.>")] {
        let config = jetstream::stream::Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            ..jetstream::stream::Config::default()
        };
        stream.create_stream(config).await.unwrap();
    }
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
