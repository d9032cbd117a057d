//! The HTTP service that workflows call. It records idempotency keys, and so detects a call that
//! was made under two keys.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use connectors::{CallEnd, Calls};
use engine::{Call, Operation};
use model::Map;
use serde_json::json;

use crate::chance::Dice;
use crate::planted::Planted;

/// Answers every call, after a while.
pub(crate) struct Outside {
    dice: Dice,
    planted: Option<Planted>,
    /// The number of times that each key was seen, by URL.
    seen: Mutex<BTreeMap<String, BTreeMap<String, u64>>>,
}

impl Outside {
    pub(crate) fn new(dice: Dice, planted: Option<Planted>) -> Arc<Self> {
        Arc::new(Self { dice, planted, seen: Mutex::default() })
    }

    /// The keys under which a URL was called.
    pub(crate) fn keys(&self, url: &str) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.get(url).map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    }
}

#[async_trait]
impl Calls for Outside {
    async fn perform(&self, call: &Call, _traceparent: Option<&str>) -> CallEnd {
        let Operation::Http(request) = &call.operation else {
            return CallEnd::refused("the simulation answers HTTP alone");
        };
        tokio::time::sleep(self.dice.millis(900)).await;
        let is_new = self.planted == Some(Planted::NewKeys);
        let key = if is_new { self.dice.next().to_string() } else { call.key.clone() };
        {
            let mut seen = self.seen.lock().unwrap();
            *seen.entry(request.url.clone()).or_default().entry(key).or_default() += 1;
        }
        tokio::time::sleep(self.dice.millis(900)).await;
        CallEnd::Response { status_code: 200, headers: Map::new(), content: json!({"ok": true}) }
    }
}
