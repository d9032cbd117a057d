//! Removal of what is no longer needed: ended instances, rows without their instance, old
//! entries of the audit log. Each call does a bounded part.

use async_trait::async_trait;
use model::{DefinitionId, InstanceId, SubStatus, Timestamp};

use crate::Error;

/// A selection of ended instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedFilter {
    /// Of this definition.
    pub definition_id: DefinitionId,
    /// In this final state.
    pub status: SubStatus,
    /// Last changed before this time.
    pub before: Timestamp,
}

/// An instance that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its id.
    pub id: InstanceId,
    /// The time of its last change.
    pub updated_at: Timestamp,
    /// The number of rows of its journal: the work of its removal.
    pub journal_rows: u64,
    /// Its parent or one of its children has not ended: it stays.
    pub is_held: bool,
}

/// A table with rows that belong to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owned {
    /// Open bookmarks.
    Bookmarks,
    /// Journals.
    Journal,
    /// URL tokens.
    Tokens,
}

impl Owned {
    /// Every such table. Commands for an instance are no part of it: they may come before their
    /// instance, and they expire.
    pub const ALL: [Self; 3] = [Self::Bookmarks, Self::Journal, Self::Tokens];

    /// The name of the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bookmarks => "bookmarks",
            Self::Journal => "journal",
            Self::Tokens => "tokens",
        }
    }
}

/// A part of the walk through a table that looks for rows without their instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The instances that are missing, although the table has rows of them.
    pub orphans: Vec<InstanceId>,
    /// The instance where the next part begins; `None` at the end of the table.
    pub last: Option<InstanceId>,
}

/// Removal of what is no longer needed.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// The first definition after this one, in the order of their ids, of which there are ended
    /// instances. The definition itself may have been deleted.
    ///
    /// # Errors
    /// See [`Error`].
    async fn ended_definition(
        &self,
        after: Option<&DefinitionId>,
    ) -> Result<Option<DefinitionId>, Error>;

    /// At most `limit` ended instances, in the order of their last change and ids, after this one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn ended(
        &self,
        filter: &EndedFilter,
        after: Option<&Ended>,
        limit: u64,
    ) -> Result<Vec<Ended>, Error>;

    /// Removes those of these instances that have ended, were last changed before that time and are
    /// not held, each with its bookmarks, journal, tokens and kept commands, in one transaction.
    /// Returns the ids of the removed ones.
    ///
    /// # Errors
    /// See [`Error`].
    async fn remove_ended(
        &self,
        ids: &[InstanceId],
        before: Timestamp,
    ) -> Result<Vec<InstanceId>, Error>;

    /// Looks at the rows of at most `limit` instances after this one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn orphans(
        &self,
        table: Owned,
        after: Option<&InstanceId>,
        limit: u64,
    ) -> Result<Walked, Error>;

    /// Removes the rows of these instances, if the instances are still missing; returns the number of
    /// rows.
    ///
    /// # Errors
    /// See [`Error`].
    async fn remove_orphans(&self, table: Owned, ids: &[InstanceId]) -> Result<u64, Error>;

    /// Removes at most `limit` entries of the audit log that are older than this, the oldest first,
    /// and returns their number.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_audit(&self, before: Timestamp, limit: u64) -> Result<u64, Error>;
}
