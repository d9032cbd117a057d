//! What the sender of a command is told.

use std::collections::BTreeMap;

use model::{BookmarkId, InstanceId, Map, SubStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of a command, sent to its `Staunch-Reply-To`. JSON on the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    /// The instance; none where there is none.
    pub workflow_instance_id: Option<InstanceId>,
    /// Where it is now.
    pub sub_status: Option<SubStatus>,
    /// Why the command changed nothing; none when it was applied.
    pub refusal: Option<Refusal>,
    /// The reason in words, for the refused.
    pub message: Option<String>,
    /// Workflow output so far.
    pub output: Map,
    /// Messages of the incidents so far.
    pub incidents: Vec<String>,
    /// Where it waits.
    pub bookmarks: Vec<BookmarkId>,
    /// What `WriteHttpResponse` said.
    pub response: Option<HttpAnswer>,
    /// Events: how many instances were resumed and started.
    pub affected: Option<u64>,
}

/// Why a command changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refusal {
    /// It could not be read.
    Garbled,
    /// It names a definition, instance or bookmark that does not exist.
    NotFound,
    /// The bookmark was resumed by another command, or the instance is over.
    AlreadyDone,
    /// It is kept, and applied when the instance comes to wait.
    Waiting,
    /// Still running, and nothing waits: not kept.
    StillRunning,
    /// Several bookmarks are open: name one.
    Ambiguous,
    /// The activation strategy does not allow another instance now.
    NotAllowed,
    /// It was tried too often; it is among the dead.
    Dead,
}

/// The answer for an HTTP client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HttpAnswer {
    /// 100 to 599.
    pub status_code: u16,
    /// Header names and values.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body: text as it is, null as nothing, anything else as JSON.
    pub content: Value,
}

impl Outcome {
    /// The outcome of a command that changed nothing.
    #[must_use]
    pub fn refused(refusal: Refusal, message: impl Into<String>) -> Self {
        Self { refusal: Some(refusal), message: Some(message.into()), ..Self::default() }
    }
}
