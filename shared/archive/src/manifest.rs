//! The manifest of a file: what it holds, and how to tell that it is whole.

use model::{DefinitionId, Instance, InstanceId, SubStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of the form of manifests.
pub(crate) const FORMAT: u32 = 1;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of this form.
    pub staunch_archive: u32,
    /// The file's name in the archive.
    pub file: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Lowercase hex SHA-256 of the file.
    pub sha256: String,
    /// The definition of all its instances.
    pub definition_id: DefinitionId,
    /// The time when it was written.
    pub written_at: Timestamp,
    /// Its instances, one for each line, in order.
    pub instances: Vec<Entry>,
}

/// An instance in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub id: InstanceId,
    /// The version of its row.
    pub version: i64,
    /// Its final state.
    pub status: SubStatus,
    /// The time when it ended.
    pub finished_at: Option<Timestamp>,
}

impl Entry {
    pub(crate) fn of(instance: &Instance) -> Self {
        Self {
            id: instance.id.clone(),
            version: instance.version,
            status: instance.status,
            finished_at: instance.finished_at,
        }
    }
}
