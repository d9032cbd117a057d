//! One run of a definition version: what the database keeps beside the engine's state.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BookmarkId, DefinitionId, InstanceId, Timestamp, VersionId};

/// Elsa's main status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Not over.
    Running,
    /// Over, well or not.
    Finished,
}

/// Where an instance is in its life.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum SubStatus {
    /// Accepted, not yet run.
    #[default]
    Pending,
    /// Has work in hand: a call under way, or a turn to continue.
    Executing,
    /// Waits at its bookmarks.
    Suspended,
    /// Ended by itself.
    Finished,
    /// Ended by a cancel command.
    Cancelled,
    /// Ended by an incident.
    Faulted,
}

impl SubStatus {
    /// Elsa's main status for it.
    #[must_use]
    pub fn main(self) -> Status {
        match self {
            Self::Pending | Self::Executing | Self::Suspended => Status::Running,
            Self::Finished | Self::Cancelled | Self::Faulted => Status::Finished,
        }
    }

    /// Over, well or not.
    #[must_use]
    pub fn is_final(self) -> bool {
        self.main() == Status::Finished
    }

    /// The name as Elsa writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Executing => "Executing",
            Self::Suspended => "Suspended",
            Self::Finished => "Finished",
            Self::Cancelled => "Cancelled",
            Self::Faulted => "Faulted",
        }
    }
}

impl fmt::Display for SubStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SubStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [
            Self::Pending,
            Self::Executing,
            Self::Suspended,
            Self::Finished,
            Self::Cancelled,
            Self::Faulted,
        ]
        .into_iter()
        .find(|status| status.as_str().eq_ignore_ascii_case(text))
        .ok_or_else(|| {
            format!(
                "{text:?} is not a sub-status: use Pending, Executing, Suspended, Finished, \
                     Cancelled or Faulted"
            )
        })
    }
}

/// Who started an instance and waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The waiting instance.
    pub instance_id: InstanceId,
    /// Its bookmark, resumed when the child ends; none when it does not wait.
    pub bookmark_id: Option<BookmarkId>,
}

/// The row of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// Its id.
    pub id: InstanceId,
    /// What it runs.
    pub definition_id: DefinitionId,
    /// The exact version it runs, for ever.
    pub version_id: VersionId,
    /// That version's number.
    pub definition_version: u32,
    /// The fence: 0 when accepted, plus one with every commit. A commit names the one it loaded.
    pub version: i64,
    /// Where it is in its life.
    pub status: SubStatus,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// Set by the start or by `SetName`.
    pub name: Option<String>,
    /// Who waits for it.
    pub parent: Option<Parent>,
    /// How many incidents it had.
    pub incidents: u32,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// `engine::State` in MessagePack; empty while pending.
    pub state: Vec<u8>,
}
