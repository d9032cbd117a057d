//! Stories of requests to the real ingress. What a client was answered must be true.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::expect::Expect;
use crate::world::World;

const INSTANCES: &str = "/elsa/api/workflow-instances";
/// Repetitions of a request with a key, each at any node.
const REPEATS: usize = 3;

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn instance_of(answer: &Value) -> String {
    answer["workflowInstanceId"].as_str().unwrap_or_default().to_owned()
}

/// Starts an instance whose row is written by its first burst (decision 007). The answer must be
/// true: 200 means committed; 202 means kept, at least in the stream.
pub(crate) async fn start_without_row(world: &World, client: &Client) -> Vec<Expect> {
    let mut expected = Vec::new();
    for _ in 0..3 {
        let body = json!({"definitionId": "hello"});
        let answer = client.post(&world.cluster.gateways, INSTANCES, None, &body).await;
        match answer {
            Some((200, told)) => expected.push(Expect::lines(&instance_of(&told), &["a", "b"])),
            Some((202, told)) if !world.loses_streams() => {
                expected.push(Expect::lines(&instance_of(&told), &["a", "b"]));
            }
            _ => {}
        }
        tokio::time::sleep(client.dice.millis(2_000)).await;
    }
    expected
}

/// Starts an instance with a key, again and again at any node: it must be one instance. The same
/// key with another body must be refused at any node.
pub(crate) async fn start_with_key(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    let gateways = &world.cluster.gateways;
    let body = json!({"definitionId": "hello", "name": "first"});
    let mut ids = Vec::new();
    while ids.len() < REPEATS {
        match client.post(gateways, INSTANCES, Some(id), &body).await {
            Some((status, told)) if is_success(status) => ids.push(instance_of(&told)),
            _ => pause(client).await,
        }
    }
    let complain = |complaint: String| world.cluster.nemesis.witness.complain(complaint);
    if ids.iter().any(|other| *other != ids[0]) {
        complain(format!("{id}: one key started several instances: {ids:?}"));
    }
    let changed = json!({"definitionId": "hello", "name": "second"});
    loop {
        match client.post(gateways, INSTANCES, Some(id), &changed).await {
            Some((422, _)) => break,
            Some((status, told)) if is_success(status) => {
                complain(format!("{id}: its key was taken for another request: {told}"));
                break;
            }
            _ => pause(client).await,
        }
    }
    vec![Expect::lines(&ids[0], &["a", "b"])]
}

async fn pause(client: &Client) {
    tokio::time::sleep(Duration::from_millis(150) + client.dice.millis(300)).await;
}
