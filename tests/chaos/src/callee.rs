//! The outside world that workflows call: it notes under which keys it was asked for what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Idempotency keys by the path that was asked for.
type Asked = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// A server that ends with this value.
#[derive(Debug)]
pub(crate) struct Callee {
    pub(crate) url: String,
    asked: Asked,
    serving: JoinHandle<()>,
}

impl Callee {
    pub(crate) async fn start() -> Self {
        let asked = Asked::default();
        let router = Router::new().route("/call/{what}", any(note)).with_state(asked.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self { url, asked, serving }
    }

    /// How many calls came for this, and under how many keys.
    pub(crate) fn asked(&self, what: &str) -> (usize, usize) {
        let asked = self.asked.lock().unwrap();
        let keys = asked.get(what).cloned().unwrap_or_default();
        (keys.len(), keys.iter().collect::<BTreeSet<_>>().len())
    }
}

async fn note(State(asked): State<Asked>, Path(what): Path<String>, headers: HeaderMap) {
    let key = headers.get("idempotency-key").map_or("none", |key| key.to_str().unwrap());
    asked.lock().unwrap().entry(what).or_default().push(key.to_owned());
}

impl Drop for Callee {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
