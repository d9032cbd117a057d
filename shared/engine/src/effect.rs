//! The complete list of effects that a workflow can cause. An activity asks for effects; the
//! executor commits them as intent, and carries them out afterwards.

use std::collections::BTreeMap;

use model::{BookmarkId, DefinitionId, InstanceId, Map, PayloadHash, Token};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Task, TaskCancel};

/// Something that a turn causes outside its instance.
///
/// Bookmarks are no effects: they are state, and the executor commits the difference. Calls are no
/// effects either: they are `State::calls`, which stay until their result is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Raises an event.
    Publish(Publish),
    /// Hands an attempt of a task to a worker; its bookmark waits for the report.
    Task(Task),
    /// Starts a child instance.
    Dispatch(Dispatch),
    /// Answers the HTTP client that waits for this burst.
    Respond(Response),
    /// Makes a single-use URL valid.
    Grant(Token),
    /// Writes into the log of the process.
    Log(LogLine),
    /// Announces that nobody waits for a task any more. Best effort.
    CancelTask(TaskCancel),
}

/// A line for the log of the process. A crash between the commit and the log loses it there, not in
/// the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// Its level.
    pub level: LogLevel,
    /// Its category.
    pub category: String,
    /// The text.
    pub message: String,
    /// Further data.
    pub attributes: Map,
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// The finest.
    Trace,
    /// For developers.
    Debug,
    /// For operators.
    Information,
    /// Something is unusual.
    Warning,
    /// Something failed.
    Error,
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
    /// Header names and values; of several values of one header, each is a line.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body: text is sent as it is, null as nothing, anything else as JSON.
    pub content: Value,
    /// The body is bytes, and `content` their base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_base64: bool,
    /// The body is the bytes of this payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadHash>,
}
