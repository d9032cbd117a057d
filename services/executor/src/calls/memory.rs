//! The twin: answers that a test has written, and a list of what was asked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::Call;
use model::Map;
use serde_json::Value;
use tokio::sync::watch;

use super::{Answer, Calls, ErrorKind};

/// Calls that reach nobody. Clones share what was scripted and asked.
#[derive(Clone, Debug, Default)]
pub struct MemoryCalls {
    state: Arc<Mutex<State>>,
    held: Arc<watch::Sender<bool>>,
}

#[derive(Debug, Default)]
struct State {
    answers: BTreeMap<String, VecDeque<Answer>>,
    asked: Vec<Call>,
    answered: Vec<String>,
}

impl MemoryCalls {
    /// Nobody answers until [`MemoryCalls::answer`] says what.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next call of this URL is answered so; the last answer is given again and again.
    pub fn answer(&self, url: &str, answer: Answer) {
        self.state().answers.entry(url.to_owned()).or_default().push_back(answer);
    }

    /// The next call of this URL is answered with this status and body.
    pub fn respond(&self, url: &str, status_code: u16, content: Value) {
        self.answer(url, Answer::Response { status_code, headers: Map::new(), content });
    }

    /// Calls are not answered until [`MemoryCalls::go`].
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Calls are answered again.
    pub fn go(&self) {
        self.held.send_replace(false);
    }

    /// What was asked, in order; a repeated call appears each time.
    #[must_use]
    pub fn asked(&self) -> Vec<Call> {
        self.state().asked.clone()
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
    async fn perform(&self, call: &Call, _traceparent: Option<&str>) -> Answer {
        self.state().asked.push(call.clone());
        let mut held = self.held.subscribe();
        // The sender lives as long as this twin: waiting cannot fail.
        drop(held.wait_for(|held| !held).await);
        let mut state = self.state();
        state.answered.push(call.key.clone());
        let nobody = || Answer::Error {
            kind: ErrorKind::Connect,
            message: format!("nobody answers at {}", call.url),
        };
        match state.answers.get_mut(&call.url) {
            Some(answers) if answers.len() > 1 => answers.pop_front().unwrap_or_else(nobody),
            Some(answers) => answers.front().cloned().unwrap_or_else(nobody),
            None => nobody(),
        }
    }
}
