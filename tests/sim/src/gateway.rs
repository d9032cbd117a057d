//! The real ingress in a world. Clients send requests to a live node; the test checks that the
//! answers are true.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use ingress::Gateway;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::oracle::Expect;
use crate::world::World;

const INSTANCES: &str = "/elsa/api/workflow-instances";
/// Repetitions of a request with a key, each at any node.
const REPEATS: usize = 3;

/// The ingress nodes that answer requests.
#[derive(Default)]
pub(crate) struct Gateways(Mutex<BTreeMap<String, Door>>);

/// One of them; a request ends without an answer when its node is killed.
#[derive(Clone)]
struct Door {
    gateway: Arc<Gateway>,
    kill: CancellationToken,
}

/// Keeps a node among those that answer. When it is dropped, all work of the node stops.
pub(crate) struct Opened<'a> {
    gateways: &'a Gateways,
    node: String,
    gateway: Arc<Gateway>,
}

impl Gateways {
    pub(crate) fn open(
        &self,
        node: &str,
        gateway: Arc<Gateway>,
        kill: CancellationToken,
    ) -> Opened<'_> {
        let door = Door { gateway: Arc::clone(&gateway), kill };
        self.0.lock().unwrap().insert(node.to_owned(), door);
        Opened { gateways: self, node: node.to_owned(), gateway }
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.gateways.0.lock().unwrap().remove(&self.node);
        self.gateway.abandon();
    }
}

impl Client {
    /// Posts to any node; the status and body of its answer, if there was one.
    async fn post(
        &self,
        gateways: &Gateways,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Option<(u16, Value)> {
        let doors: Vec<Door> = gateways.0.lock().unwrap().values().cloned().collect();
        if doors.is_empty() {
            return None;
        }
        let door = self.dice.pick(&doors).clone();
        let mut request = Request::post(path)
            .header("host", "127.0.0.1:5001")
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = door.kill.run_until_cancelled(door.gateway.answer(request)).await?;
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Some((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }
}

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
