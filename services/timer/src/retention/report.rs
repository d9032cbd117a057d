//! What a run did, or would do.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{After, DefinitionId, InstanceId, SubStatus, Timestamp};
use store::Ended;

use super::named;
use crate::Error;

/// Ids that a dry run names of each group.
const IDS_MAX: usize = 1_000;

/// The instances of one definition in one final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their definition.
    pub definition_id: DefinitionId,
    /// Their state.
    pub status: SubStatus,
    /// How long they are kept.
    pub kept: Duration,
    /// What becomes of them then.
    pub after: After,
    /// Those that were removed; of a dry run those that would be.
    pub removed: u64,
    /// Those that were written to the archive.
    pub archived: u64,
    /// Those of the removed and of the archived that are in the audit log already.
    pub(super) noted: (u64, u64),
    /// Those that stay because their parent or a child has not ended.
    pub held: u64,
    /// Those that stay because they cannot be archived; the log has the reason of each.
    pub failed: u64,
    /// The oldest last change.
    pub oldest: Option<Timestamp>,
    /// The first of those that a dry run would remove.
    pub ids: Vec<InstanceId>,
}

impl Group {
    pub(super) fn new(
        definition_id: &DefinitionId,
        status: SubStatus,
        kept: Duration,
        after: After,
    ) -> Self {
        Self {
            definition_id: definition_id.clone(),
            status,
            kept,
            after,
            removed: 0,
            archived: 0,
            noted: (0, 0),
            held: 0,
            failed: 0,
            oldest: None,
            ids: Vec::new(),
        }
    }

    pub(super) fn see(&mut self, found: &[Ended]) {
        self.oldest = self.oldest.or_else(|| found.first().map(|ended| ended.updated_at));
        self.held += found.iter().filter(|ended| ended.is_held).count() as u64;
    }

    pub(super) fn would_go(&mut self, free: Vec<Ended>) {
        self.removed += free.len() as u64;
        let room = IDS_MAX.saturating_sub(self.ids.len());
        self.ids.extend(free.into_iter().take(room).map(|ended| ended.id));
    }
}

/// What a run did, or would do.
#[derive(Debug, Default)]
pub struct Report {
    /// By definition and state, without the groups that have no instance to remove.
    pub groups: Vec<Group>,
    /// Definitions whose instances stay because their retention cannot be followed, with the reason.
    pub unclear: Vec<(DefinitionId, String)>,
    /// What else was removed, by its kind.
    pub others: BTreeMap<&'static str, u64>,
    /// It was stopped before its end; the next run goes on.
    pub is_cut_short: bool,
    /// The first failure.
    pub failed: Option<Error>,
}

impl Report {
    pub(super) fn add(&mut self, group: Group) {
        if group.removed + group.held + group.failed > 0 {
            self.groups.push(group);
        }
    }

    pub(super) fn count(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.others.entry(what).or_default() += count;
        }
    }

    pub(super) fn ended(&mut self, step: &'static str, ended: Result<(), Error>) {
        if let Err(error) = ended {
            tracing::warn!(step, %error, "a step of retention failed; the next run goes on");
            self.failed.get_or_insert(error);
        }
    }

    /// The number of removed items by kind.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = self.others.clone();
        for group in &self.groups {
            *counts.entry(named(group.status)).or_default() += group.removed;
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    pub(super) fn log(&self) {
        for (definition, reason) in &self.unclear {
            tracing::warn!(%definition, reason, "the instances of this definition are all kept");
        }
        for group in self.groups.iter().filter(|group| group.removed + group.failed > 0) {
            tracing::info!(
                definition = %group.definition_id,
                state = %group.status,
                removed = group.removed,
                archived = group.archived,
                held = group.held,
                failed = group.failed,
                "ended instances are removed after their time"
            );
        }
        for (what, count) in &self.others {
            tracing::info!(what, count, "removed");
        }
    }
}
