//! Large files that a NATS client puts into an object store, and that rest in another one.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream;
use async_nats::jetstream::object_store::ObjectMetadata;
use cluster::NodePlan;
use model::PayloadHash;
use serde_json::json;
use testkit::eventually;

use crate::api::Api;
use crate::workflow::{sequence, set_output};
use crate::world::World;

const SOON: Duration = Duration::from_secs(90);
const STARTS: usize = 40;
/// More than one part, and no number of whole parts.
const BYTES: usize = 600_001;

fn plan(name: &str, roles: &str) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    plan.arguments.extend(["--payload-store", "nats"].map(str::to_owned));
    plan
}

fn bytes(seed: usize) -> Vec<u8> {
    (0..BYTES).map(|at| ((at + seed) % 251) as u8).collect()
}

/// G1, G2: commands name objects in a header, and executors are killed while they keep them: each
/// command has its instance once, with the bytes of its object.
pub(crate) async fn objects_of_headers_are_inputs_while_executors_die_g1_g2(world: World) {
    let gateway = world.start(plan("gateway", "ingress,timer,cache-notifier")).await;
    let mut executors = vec![world.start(plan("a", "executor")).await];
    executors.push(world.start(plan("b", "executor")).await);
    let api = Api::new(&gateway.url());
    let stream = jetstream::new(world.client().await);
    let objects = stream.get_object_store("staunch_payloads").await.unwrap();
    let read = [
        set_output("file", "Doc", "getInput('Doc')"),
        set_output("length", "Length", "getInput('Doc').content.length"),
    ];
    let mut definition = sequence("reads", &read);
    definition["inputs"] = json!([{"name": "Doc", "type": "Object"}]);
    definition["outputs"] = json!([{"name": "Doc"}, {"name": "Length"}]);
    api.publish(&definition).await;
    let start = async |id: &str, object: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        headers.append("Staunch-Payload", format!("Doc={object}").as_str());
        let body = json!({ "instanceId": id }).to_string();
        let sent = stream.publish_with_headers("staunch.cmd.start.reads", headers, body.into());
        sent.await.unwrap().await.unwrap();
    };
    for number in 0..STARTS {
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", "application/x-test");
        let name = format!("in/{number}.bin");
        let about =
            ObjectMetadata { name: name.clone(), headers: Some(headers), ..Default::default() };
        objects.put(about, &mut bytes(number).as_slice()).await.unwrap();
        start(&format!("i{number}"), &name).await;
        if number == STARTS / 2 {
            executors[0].kill().unwrap();
            executors.push(world.start(plan("c", "executor")).await);
        }
    }
    eventually("every command has its instance", SOON, async || {
        api.count("reads", Some("Finished")).await >= STARTS as u64
    })
    .await;
    assert_eq!(api.count("reads", None).await, STARTS as u64);
    for number in [0, STARTS / 2, STARTS - 1] {
        let instance = api.instance(&format!("i{number}")).await;
        let output = &instance["workflowState"]["output"];
        let file = &output["Doc"];
        assert_eq!(file["fileName"], format!("{number}.bin"), "{instance}");
        assert_eq!((&file["contentType"], &file["size"]), (&"application/x-test".into(), &BYTES.into()));
        assert_eq!(output["Length"], BYTES.div_ceil(3) * 4);
        assert_eq!(file["payload"], PayloadHash::of(&bytes(number)).as_str());
    }
    let stored = stream.get_stream("OBJ_staunch_payload_parts").await.unwrap();
    let stored = stored.cached_info().state.bytes;
    assert!(stored >= (STARTS * BYTES) as u64, "{stored} bytes rest in NATS");
    start("nothing", "in/nothing.bin").await;
    let dead = stream.get_stream("STAUNCH_DEAD").await.unwrap();
    eventually("what is missing is a dead letter", SOON, async || {
        let letter = dead.get_last_raw_message_by_subject("staunch.dead.cmd.start.reads").await;
        letter.is_ok_and(|letter| {
            let reason = letter.headers.get("Staunch-Reason").map(ToString::to_string);
            reason.is_some_and(|reason| reason.contains("there is no object in/nothing.bin"))
        })
    })
    .await;
}
