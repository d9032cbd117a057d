//! The twin: gives the answers that a test has set, and lists the calls.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::{Call, Operation};
use model::{DefinitionId, Map};
use serde_json::Value;
use tokio::sync::watch;

use crate::calls::{CallEnd, Calls, ErrorKind};

/// Calls that reach no server. Clones share answers and calls.
#[derive(Clone, Debug, Default)]
pub struct MemoryCalls {
    state: Arc<Mutex<State>>,
    held: Arc<watch::Sender<bool>>,
}

#[derive(Debug, Default)]
struct State {
    answers: BTreeMap<String, VecDeque<CallEnd>>,
    asked: Vec<Call>,
    traces: Vec<Option<String>>,
    answered: Vec<String>,
}

impl MemoryCalls {
    /// A twin without answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer of the next call of this place: the URL of an HTTP request, the kind of any
    /// other operation. The last answer is repeated.
    pub fn answer(&self, place: &str, answer: CallEnd) {
        self.state().answers.entry(place.to_owned()).or_default().push_back(answer);
    }

    /// Sets status and body of the answer of the next call of this URL.
    pub fn respond(&self, url: &str, status_code: u16, content: Value) {
        self.answer(url, CallEnd::Response { status_code, headers: Map::new(), content });
    }

    /// Calls are not answered until [`MemoryCalls::go`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Calls are answered again.
    pub fn go(&self) {
        self.held.send_replace(false);
    }

    /// The calls, in order. A repeated call appears each time.
    #[must_use]
    pub fn asked(&self) -> Vec<Call> {
        self.state().asked.clone()
    }

    /// The trace context of each of the calls, in order.
    #[must_use]
    pub fn traces(&self) -> Vec<Option<String>> {
        self.state().traces.clone()
    }

    /// The keys of the calls that were answered, in order.
    #[must_use]
    pub fn answered(&self) -> Vec<String> {
        self.state().answered.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Calls for MemoryCalls {
    async fn perform(&self, call: &Call, _: &DefinitionId, traceparent: Option<&str>) -> CallEnd {
        {
            let mut state = self.state();
            state.asked.push(call.clone());
            state.traces.push(traceparent.map(str::to_owned));
        }
        let mut held = self.held.subscribe();
        // The sender lives as long as this twin, so waiting cannot fail.
        drop(held.wait_for(|held| !held).await);
        let mut state = self.state();
        state.answered.push(call.key.clone());
        let place = place(&call.operation);
        let nobody = || CallEnd::error(ErrorKind::Connect, format!("nobody answers at {place}"));
        match state.answers.get_mut(place) {
            Some(answers) if answers.len() > 1 => answers.pop_front().unwrap_or_else(nobody),
            Some(answers) => answers.front().cloned().unwrap_or_else(nobody),
            None => nobody(),
        }
    }
}

fn place(operation: &Operation) -> &str {
    match operation {
        Operation::Http(request) => &request.url,
        other => other.kind(),
    }
}
