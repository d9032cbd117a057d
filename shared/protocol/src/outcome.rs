//! The outcome of a command, as its sender gets it.

use std::collections::BTreeMap;

use model::{BookmarkId, InstanceId, Map, PayloadHash, SubStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of a command, sent to its `Staunch-Reply-To`. JSON on the wire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    /// The instance; none if the command is not about one.
    pub workflow_instance_id: Option<InstanceId>,
    /// The status of the instance.
    pub sub_status: Option<SubStatus>,
    /// The reason why the command changed nothing; none if it was applied.
    pub refusal: Option<Refusal>,
    /// The reason in words, for a command that changed nothing.
    pub message: Option<String>,
    /// The workflow's output so far.
    pub output: Map,
    /// The messages of the incidents so far.
    pub incidents: Vec<String>,
    /// The open bookmarks.
    pub bookmarks: Vec<BookmarkId>,
    /// The response of `WriteHttpResponse`.
    pub response: Option<HttpAnswer>,
    /// For events and tasks: the number of instances that were resumed or started.
    pub affected: Option<u64>,
    /// The whole outcome is too large for a message, so this one lacks the output, the incidents
    /// and the bookmarks, and perhaps the response: read the instance.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The reason why a command changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Refusal {
    /// It could not be read.
    Garbled,
    /// It names a definition, instance or bookmark that does not exist.
    NotFound,
    /// The bookmark was resumed by another command, or the instance is over.
    AlreadyDone,
    /// The command is kept, and applied when the instance waits for it.
    Waiting,
    /// The instance is still running, and no bookmark waits: the command is not kept.
    StillRunning,
    /// Several bookmarks are open: name one.
    Ambiguous,
    /// The change does not fit the instance as it is; the message has the reasons.
    Unfit,
    /// The activation strategy does not allow another instance now.
    NotAllowed,
    /// It was delivered too often; it is among the dead letters.
    Dead,
}

/// The answer for an HTTP client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HttpAnswer {
    /// 100 to 599.
    pub status_code: u16,
    /// Header names and values; of several values of one header, each is a line.
    pub headers: BTreeMap<String, String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body: text as it is, null as nothing, anything else as JSON.
    pub content: Value,
    /// The body is bytes, and `content` their base64.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_base64: bool,
    /// The body is the bytes of this payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadHash>,
}

impl Outcome {
    /// The outcome of a command that changed nothing.
    #[must_use]
    pub fn refused(refusal: Refusal, message: impl Into<String>) -> Self {
        Self { refusal: Some(refusal), message: Some(message.into()), ..Self::default() }
    }

    /// An outcome that is too large for a message, cut. The response stays if it may.
    #[must_use]
    pub fn cut(&self, keeps_response: bool) -> Self {
        Self {
            output: Map::new(),
            incidents: Vec::new(),
            bookmarks: Vec::new(),
            response: self.response.clone().filter(|_| keeps_response),
            is_cut: true,
            ..self.clone()
        }
    }
}
