//! Bookmarks: where instances wait. Tokens: single-use permissions to resume.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ActivityId, BookmarkId, InstanceId, Timestamp};

/// A place where an instance waits, found by the hash of its stimulus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bookmark {
    /// Its id.
    pub id: BookmarkId,
    /// The stimulus name, such as `Elsa.Event`; for built-in activities their type.
    pub name: String,
    /// The hash of name and payload, as [`crate::Stimulus::hash`] makes it.
    pub hash: String,
    /// The activity that waits.
    pub activity_id: ActivityId,
    /// The activity's path from the root.
    pub activity_node_id: String,
    /// The activity's execution that waits.
    pub activity_instance_id: String,
    /// The payload of the stimulus, readable.
    pub payload: Value,
    /// The time when it began to wait.
    pub created_at: Timestamp,
    /// The time when the timer service resumes it; `None` when something else resumes it.
    pub due_at: Option<Timestamp>,
}

/// A single-use permission to resume, given out as part of a URL. The database keeps only its
/// SHA-256.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Lowercase hex SHA-256 of the 256-bit random token.
    pub hash: String,
    /// The instance that it may resume.
    pub instance_id: InstanceId,
    /// The effect of its use.
    pub target: TokenTarget,
    /// The time when it was made.
    pub created_at: Timestamp,
    /// The time from which it is refused.
    pub expires_at: Timestamp,
}

/// The effect of the use of a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TokenTarget {
    /// Resumes this bookmark.
    Bookmark(BookmarkId),
    /// Triggers this event for the instance.
    Event(String),
    /// Resumes what the activity with this node id waits for when the token is used.
    Activity(String),
}
