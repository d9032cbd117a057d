//! The real ingress in a world: the nodes that answer the requests of clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::http::Request;
use ingress::Gateway;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::client::Client;

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
    pub(crate) async fn post(
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
