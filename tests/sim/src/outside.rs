//! The HTTP service that workflows call. It records idempotency keys, and so detects a call that
//! was made under two keys.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use connectors::{CallEnd, Calls};
use engine::{Call, Operation};
use model::{DefinitionId, Map};
use serde_json::json;

use crate::chance::Dice;
use crate::definitions::BUSY;
use crate::planted::Planted;

/// The number of answers of the busy path that are refusals, for each key.
const REFUSALS: u64 = 2;

/// Answers every call, after a while; on its busy path with refusals first.
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
    async fn perform(&self, call: &Call, _: &DefinitionId, _: Option<&str>) -> CallEnd {
        let Operation::Http(request) = &call.operation else {
            return CallEnd::refused("the simulation answers HTTP alone");
        };
        tokio::time::sleep(self.dice.millis(900)).await;
        let is_again = call.tries.as_ref().is_some_and(|tries| tries.attempt > 1);
        let is_new = match self.planted {
            Some(Planted::NewKeys) => true,
            Some(Planted::NewKeysOnRetry) => is_again,
            _ => false,
        };
        let key = if is_new { self.dice.next().to_string() } else { call.key.clone() };
        let count = {
            let mut seen = self.seen.lock().unwrap();
            let count = seen.entry(request.url.clone()).or_default().entry(key).or_default();
            *count += 1;
            *count
        };
        tokio::time::sleep(self.dice.millis(900)).await;
        let is_refused = request.url.ends_with(BUSY) && count <= REFUSALS;
        let status_code = if is_refused { 503 } else { 200 };
        CallEnd::Response { status_code, headers: Map::new(), content: json!({"ok": true}) }
    }
}
