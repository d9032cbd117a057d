//! Instances: one run of a definition version each. The database keeps this beside the engine's
//! state.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BookmarkId, DefinitionId, InstanceId, Timestamp, VersionId};

/// Elsa's main status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It has not ended.
    Running,
    /// It has ended: finished, cancelled or faulted.
    Finished,
}

/// The phase of an instance.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubStatus {
    /// Accepted; nothing has run yet.
    #[default]
    Pending,
    /// It has work to do: a call in progress, or a turn to continue.
    Executing,
    /// It waits at its bookmarks.
    Suspended,
    /// Ended by itself.
    Finished,
    /// Ended by a cancel command.
    Cancelled,
    /// Ended by an incident.
    Faulted,
}

impl SubStatus {
    /// Each of them, in the order of a life.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Executing,
        Self::Suspended,
        Self::Finished,
        Self::Cancelled,
        Self::Faulted,
    ];

    /// Elsa's main status for it.
    #[must_use]
    pub fn main(self) -> Status {
        match self {
            Self::Pending | Self::Executing | Self::Suspended => Status::Running,
            Self::Finished | Self::Cancelled | Self::Faulted => Status::Finished,
        }
    }

    /// Whether it has ended: finished, cancelled or faulted.
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
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str().eq_ignore_ascii_case(text)).ok_or_else(|| {
            format!(
                "{text:?} is not a sub-status: use Pending, Executing, Suspended, Finished, \
                     Cancelled or Faulted"
            )
        })
    }
}

/// The instance that started this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The parent's id.
    pub instance_id: InstanceId,
    /// The parent's bookmark, resumed when the child ends; `None` when the parent does not wait.
    pub bookmark_id: Option<BookmarkId>,
    /// The id of the execution of the activity that started it, where it waits. Rows do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_instance_id: Option<String>,
}

/// The row of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// Its id.
    pub id: InstanceId,
    /// The definition that it runs.
    pub definition_id: DefinitionId,
    /// The version that it runs. Once the instance has run, only a migration changes it.
    pub version_id: VersionId,
    /// The number of that version.
    pub definition_version: u32,
    /// The fence: 0 when accepted, one more with every commit. A commit names the version that it
    /// loaded.
    pub version: i64,
    /// Its phase.
    pub status: SubStatus,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// Set by the start or by `SetName`.
    pub name: Option<String>,
    /// The instance that started it, if there is one.
    pub parent: Option<Parent>,
    /// The number of its incidents.
    pub incidents: u32,
    /// The time when it was accepted.
    pub created_at: Timestamp,
    /// The time of its last change.
    pub updated_at: Timestamp,
    /// The time when it ended.
    pub finished_at: Option<Timestamp>,
    /// `engine::State` in MessagePack; empty while pending.
    pub state: Vec<u8>,
}

impl Instance {
    /// An instance that is accepted now and has not run: pending, at version 0, without state.
    #[must_use]
    pub fn new(
        id: InstanceId,
        definition_id: DefinitionId,
        version_id: VersionId,
        definition_version: u32,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            definition_id,
            version_id,
            definition_version,
            version: 0,
            status: SubStatus::Pending,
            correlation_id: None,
            name: None,
            parent: None,
            incidents: 0,
            created_at: now,
            updated_at: now,
            finished_at: None,
            state: Vec::new(),
        }
    }
}
