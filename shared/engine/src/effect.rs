//! The complete list of effects that a workflow can cause. An activity asks for effects; the
//! executor commits them as intent, and carries them out afterwards.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{ActivityId, BookmarkId, DefinitionId, InstanceId, Map, Retry, Timestamp, Token};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that a turn causes outside its instance.
///
/// Bookmarks are no effects: they are state, and the executor commits the difference. Outgoing HTTP
/// calls are no effects either: they are `State::calls`, which stay until their result is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Raises an event.
    Publish(Publish),
    /// Hands a task to a worker; its bookmark waits for the completion.
    Task(Task),
    /// Starts a child instance.
    Dispatch(Dispatch),
    /// Answers the HTTP client that waits for this burst.
    Respond(Response),
    /// Makes a single-use URL valid.
    Grant(Token),
}

/// An event to raise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Publish {
    /// The event's name, case-sensitive.
    pub event_name: String,
    /// Only instances with this correlation id; all when none.
    pub correlation_id: Option<String>,
    /// Only this instance (`isLocalEvent`); all when none.
    pub instance_id: Option<InstanceId>,
    /// The payload.
    pub payload: Value,
}

/// A task for a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id, which the completion names.
    pub task_id: String,
    /// Its type: the last token of its subject.
    pub task_name: String,
    /// The payload.
    pub payload: Value,
}

/// A child instance to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The child's id, derived, so that a retry starts nothing new.
    pub instance_id: InstanceId,
    /// The definition, of which the published version runs.
    pub definition_id: DefinitionId,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// Its input.
    pub input: Map,
    /// The bookmark that waits for its end; none when the parent does not wait.
    pub bookmark_id: Option<BookmarkId>,
}

/// The answer to an HTTP client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// 100 to 599.
    pub status_code: u16,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body: text is sent as it is, null as nothing, anything else as JSON.
    pub content: Value,
}

/// An outgoing HTTP call to make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Absolute http or https URL.
    pub url: String,
    /// Method, upper case.
    pub method: String,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type` of the body.
    pub content_type: Option<String>,
    /// The body: text as it is, null as none, anything else as JSON.
    pub content: Value,
    /// Longest wait for the whole answer.
    pub timeout: Option<Duration>,
}

/// An outgoing HTTP call that an activity waits for.
///
/// The result comes back as the input of a resume of `bookmark_id`:
/// `{"statusCode": 200, "headers": {…}, "content": …}` (JSON bodies parsed), or
/// `{"error": "timeout" | "connect" | "refused", "message": "…"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Sent as `Idempotency-Key`, the same on every try.
    pub key: String,
    /// The bookmark that waits for the result.
    pub bookmark_id: BookmarkId,
    /// The activity that asks for the call, for the log.
    pub activity_id: ActivityId,
    /// Absolute http or https URL.
    pub url: String,
    /// Method, upper case.
    pub method: String,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type` of the body.
    pub content_type: Option<String>,
    /// The body: text as it is, null as none, anything else as JSON.
    pub content: Value,
    /// Longest wait for the whole answer.
    pub timeout: Option<Duration>,
    /// Its retries; none when it is made once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<Box<Tries>>,
}

/// The attempts of a call that is made again after failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tries {
    /// When to make it again.
    pub retry: Retry,
    /// The number of this attempt: 1, 2, 3 …
    pub attempt: u32,
    /// It is not made before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
}
