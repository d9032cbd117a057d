//! The port: one call in, one end out. A failed call is an answer for the workflow too, so no
//! function here returns an error.

use async_trait::async_trait;
use engine::Call;
use model::{DefinitionId, Map};
use serde_json::{Value, json};

/// Makes outgoing calls.
#[async_trait]
pub trait Calls: Send + Sync {
    /// Makes the call of a workflow of this definition and returns its answer, within `limits::CALL_TIME_MAX`. Dropping the future
    /// cancels the call. `traceparent` is sent along.
    async fn perform(&self, call: &Call, of: &DefinitionId, traceparent: Option<&str>) -> CallEnd;
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEnd {
    /// An HTTP server answered.
    Response {
        /// 100 to 599.
        status_code: u16,
        /// Header names, in lower case, and values: a text, or a list of a header that is there twice.
        headers: Map,
        /// A JSON body parsed, any other body as text, none as null.
        content: Value,
    },
    /// Any other work is done; its result, as its operation documents it.
    Done(Map),
    /// There is no result.
    Error {
        /// The kind of the failure.
        kind: ErrorKind,
        /// The code that the other side gave for it, such as an SQLSTATE.
        code: Option<String>,
        /// The reason.
        message: String,
    },
}

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The whole answer did not come in time.
    Timeout,
    /// The server could not be reached, or the connection broke.
    Connect,
    /// The call is not allowed, or its answer is too large.
    Refused,
    /// The other side answered with an error.
    Failed,
    /// This process may open no more files or connections. Nothing was done, and the other side has no
    /// part in it: another node, or this one later, can make the call.
    Exhausted,
}

impl ErrorKind {
    /// The kind as workflows, logs and metrics name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connect => "connect",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Exhausted => "exhausted",
        }
    }
}

/// Appends the cause of an error to its text, unless the text says it already, as many libraries do.
pub(crate) fn with_cause(text: &mut String, cause: &dyn std::error::Error) {
    let cause = cause.to_string();
    if !text.contains(&cause) {
        text.push_str(": ");
        text.push_str(&cause);
    }
}

impl CallEnd {
    /// A call without a result.
    #[must_use]
    pub fn error(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Error { kind, code: None, message: message.into() }
    }

    /// A call that is not allowed.
    #[must_use]
    pub fn refused(message: impl Into<String>) -> Self {
        Self::error(ErrorKind::Refused, message)
    }

    /// The input that resumes the workflow.
    #[must_use]
    pub fn into_input(self) -> Map {
        let value = match self {
            Self::Response { status_code, headers, content } => {
                json!({ "statusCode": status_code, "headers": headers, "content": content })
            }
            Self::Done(result) => return result,
            Self::Error { kind, code: None, message } => {
                json!({ "error": kind.as_str(), "message": message })
            }
            Self::Error { kind, code: Some(code), message } => {
                json!({ "error": kind.as_str(), "code": code, "message": message })
            }
        };
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}
