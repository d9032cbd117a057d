//! Outgoing HTTP calls: the port, the real client and its twin.
//!
//! A call is made after its intent is committed, and again after a crash, always with the same
//! `Idempotency-Key`. A failed call is an answer for the workflow too, so no function here returns
//! an error.

mod client;
mod guard;
mod memory;

use async_trait::async_trait;
use engine::Call;
use model::Map;
use serde_json::{Value, json};

pub use client::HttpCalls;
pub use guard::Guard;
pub use memory::MemoryCalls;

/// Makes outgoing calls.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Makes the call and returns its answer, within `limits::CALL_TIME_MAX`. Dropping the future
    /// cancels the call. `traceparent` is sent along.
    async fn perform(&self, call: &Call, traceparent: Option<&str>) -> CallEnd;
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// The server answered.
    Response {
        /// 100 to 599.
        status_code: u16,
        /// Header names, in lower case, and values.
        headers: Map,
        /// A JSON body parsed, any other body as text, none as null.
        content: Value,
    },
    /// The server did not answer.
    Error {
        /// The kind of the failure.
        kind: ErrorKind,
        /// The reason.
        message: String,
    },
}

/// The reason why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The whole answer did not come in time.
    Timeout,
    /// The server could not be reached, or the connection broke.
    Connect,
    /// The call is not allowed, or its answer is too large.
    Refused,
}

impl CallEnd {
    /// A call that is not allowed.
    #[must_use]
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Error { kind: ErrorKind::Refused, message: message.into() }
    }

    /// The input that resumes the workflow.
    #[must_use]
    pub fn into_input(self) -> Map {
        let value = match self {
            Self::Response { status_code, headers, content } => {
                json!({ "statusCode": status_code, "headers": headers, "content": content })
            }
            Self::Error { kind, message } => {
                let kind = match kind {
                    ErrorKind::Timeout => "timeout",
                    ErrorKind::Connect => "connect",
                    ErrorKind::Refused => "refused",
                };
                json!({ "error": kind, "message": message })
            }
        };
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}
