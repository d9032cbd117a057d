//! MQTT and WebSocket: nats-server's own listeners reach the subjects that workflows listen to.

use std::process::Command;
use std::time::Duration;

use async_nats::jetstream;
use cluster::NodePlan;
use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::workflow::sequence;
use crate::world::World;

const SOON: Duration = Duration::from_secs(60);
const MQTT: (&str, &str) = ("mqtt", "5.16.0");
const NATS: (&str, &str) = ("@nats-io/nats-core", "3.4.0");

/// Ends with the temperature that started it.
fn reads(id: &str, stream: Option<&str>) -> Value {
    let mut heard = json!({"type": "Staunch.MessageReceived", "id": "heard", "canStartWorkflow": true,
        "subject": "sensors.*.temperature", "result": {"memoryReference": {"id": "r"}}});
    if let Some(stream) = stream {
        heard["stream"] = json!(stream);
        heard["from"] = json!("all");
    }
    let said = json!({"type": "Elsa.SetOutput", "id": "said", "outputName": "Celsius",
        "outputValue": {"js": "variables.Reading.celsius"}});
    let mut definition = sequence(id, &[heard, said]);
    definition["variables"] = json!([{"id": "r", "name": "Reading", "typeName": "Object"}]);
    definition["outputs"] = json!([{"name": "Celsius", "type": "Object"}]);
    definition
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sensor_by_mqtt_and_a_page_by_websocket_start_workflows() {
    let (Some(mqtt), Some(nats)) = (testkit::npm(MQTT.0, MQTT.1), testkit::npm(NATS.0, NATS.1))
    else {
        return;
    };
    let port = || nats_server::free_port().unwrap();
    let (mqtt_port, page_port) = (port(), port());
    let config = format!(
        "server_name: edge\nmqtt {{ host: 127.0.0.1, port: {mqtt_port} }}\n\
         websocket {{ host: 127.0.0.1, port: {page_port}, no_tls: true }}\n"
    );
    let world = World::on_broker(&config).await;
    let mut plan = NodePlan::new("all", "all");
    plan.arguments.extend(["--nats-subjects", "*=sensors.>"].map(str::to_owned));
    let node = world.start(plan).await;
    let (api, client) = (Api::new(&node.url()), world.client().await);
    let stream = jetstream::stream::Config {
        name: "SENSORS".to_owned(),
        subjects: vec!["sensors.>".to_owned()],
        ..jetstream::stream::Config::default()
    };
    let context = jetstream::new(client.clone());
    let stream = context.create_stream(stream).await.unwrap();
    api.publish(&reads("live", None)).await;
    api.publish(&reads("kept", Some("SENSORS"))).await;
    // Both sources are listened to.
    eventually("both listen", SOON, async || {
        client.publish("sensors.probe.temperature", r#"{"celsius": 0}"#.into()).await.unwrap();
        api.count("live", None).await > 0 && api.count("kept", None).await > 0
    })
    .await;

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/listeners.mjs");
    let ran = Command::new("node")
        .arg(script)
        .args([mqtt, nats])
        .arg(format!("mqtt://127.0.0.1:{mqtt_port}"))
        .arg(format!("ws://127.0.0.1:{page_port}"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for definition in ["live", "kept"] {
        for celsius in [31, 12] {
            eventually(&format!("{definition} has {celsius}"), SOON, async || {
                found(&api, definition, celsius).await == 1
            })
            .await;
        }
    }
    let stored = stream.get_info().await.unwrap().state.messages;
    eventually("each stored message has one instance", SOON, async || {
        api.count("kept", Some("Finished")).await == stored
    })
    .await;
}

/// The number of instances that ended with this temperature.
async fn found(api: &Api, definition: &str, celsius: i32) -> usize {
    let body = json!({"definitionId": definition, "page": 0, "pageSize": 100});
    let list = api.post("/workflow-instances", &body).await.ok();
    let mut count = 0;
    for item in list["items"].as_array().unwrap() {
        let instance = api.instance(item["id"].as_str().unwrap()).await;
        let output = instance["workflowState"]["output"]["Celsius"].clone();
        count += usize::from(output == json!(celsius));
    }
    count
}
