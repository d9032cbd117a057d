//! The HTTP server that workflows call. It records the idempotency keys of the calls by path.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Idempotency keys by path.
type Asked = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// The server; it ends when this value is dropped.
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

    /// The number of calls for this path, and the number of different keys.
    pub(crate) fn asked(&self, what: &str) -> (usize, usize) {
        let asked = self.asked.lock().unwrap();
        let keys = asked.get(what).cloned().unwrap_or_default();
        (keys.len(), keys.iter().collect::<BTreeSet<_>>().len())
    }
}

/// A call for a path that begins with this is answered late.
pub(crate) const SLOW: &str = "slow-";
/// Long enough for a lease to be renewed meanwhile.
const LATE: Duration = Duration::from_secs(2);

async fn note(State(asked): State<Asked>, Path(what): Path<String>, headers: HeaderMap) {
    let key = headers.get("idempotency-key").map_or("none", |key| key.to_str().unwrap());
    let is_slow = what.starts_with(SLOW);
    asked.lock().unwrap().entry(what).or_default().push(key.to_owned());
    if is_slow {
        tokio::time::sleep(LATE).await;
    }
}

impl Drop for Callee {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
