//! A named place where an instance waits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ActivityId, BookmarkId, InstanceId, Timestamp};

/// Where an instance waits, found by the hash of what it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bookmark {
    /// Its id.
    pub id: BookmarkId,
    /// Stimulus name, such as `Elsa.Event`; the activity's type for the built-in ones.
    pub name: String,
    /// Hash of (name, payload), as [`crate::Stimulus::hash`] makes it.
    pub hash: String,
    /// The activity that waits.
    pub activity_id: ActivityId,
    /// Its path from the root.
    pub activity_node_id: String,
    /// The execution of it that waits.
    pub activity_instance_id: String,
    /// What it waits for, readable.
    pub payload: Value,
    /// When it began to wait.
    pub created_at: Timestamp,
    /// When the timer service resumes it; none when something else does.
    pub due_at: Option<Timestamp>,
}

/// A single-use capability to resume, given out as part of a URL. Only its SHA-256 is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Lowercase hex SHA-256 of the 256-bit random token.
    pub hash: String,
    /// The instance it is good for.
    pub instance_id: InstanceId,
    /// What using it does.
    pub target: TokenTarget,
    /// When it was made.
    pub created_at: Timestamp,
    /// From then on it is refused.
    pub expires_at: Timestamp,
}

/// What using a token does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TokenTarget {
    /// Resumes this bookmark.
    Bookmark(BookmarkId),
    /// Triggers this event for the instance.
    Event(String),
}
