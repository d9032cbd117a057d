//! A database of one node, with a bug.

mod identity;
mod labels;
mod payloads;
mod unchanged;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use model::{CommandId, Entry, Instance, InstanceId, Schedule, SearchKey, Timestamp};
use protocol::Message;
use store::memory::MemoryStore;
use store::{
    Accepted, Burst, CommandFilter, Commit, DueTimer, Error, Expected, Firing, Inbox,
    InstanceFilter, Instances, Listed, LoadedWithin, NewInstance, Outbox, OutboxRow, Page,
    PendingCommand, Timers,
};

/// How far the clock with the bug is ahead.
const AHEAD: Duration = Duration::from_secs(2);

/// The bug of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Bug {
    /// A commit does not check the version.
    VersionUnchecked,
    /// A commit forgets the messages to publish.
    OutboxForgotten,
    /// A commit forgets the commands to other instances.
    CommandsForgotten,
    /// Commands that came too early are not looked up.
    WaitingForgotten,
    /// A commit leaves its burned bookmarks open.
    BookmarksKept,
    /// A commit forgets its new bookmarks.
    BookmarksForgotten,
    /// A commit forgets the children to start.
    StartsForgotten,
    /// A commit forgets its journal.
    JournalForgotten,
    /// A commit writes everything except the instance itself.
    InstanceForgotten,
    /// A command is accepted but not kept.
    CommandUnkept,
    /// A start is accepted but not kept.
    StartUnkept,
    /// The database forgets that an event was handed out.
    RoutedForgotten,
    /// A command that expires is removed, but does not become a dead letter.
    BuriedForgotten,
    /// An occurrence is fired, but its start is not kept.
    OccurrenceForgotten,
    /// The clock is ahead of the time.
    ClockAhead,
    /// Due timers are not found.
    TimersUnseen,
    /// Due schedules are not found.
    SchedulesUnseen,
    /// Starts that no executor has run are not found.
    UnstartedUnseen,
    /// Commands that no executor has applied are not found.
    UnappliedUnseen,
    /// Outbox rows that no node has published are not found.
    OutboxUnseen,
    /// Instances with unfinished work and no executor are not found.
    UnfinishedUnseen,
    /// A commit forgets that the instance uses a payload.
    PayloadUseForgotten,
    /// A payload is complete though a part of it is not kept.
    PayloadPartUnkept,
    /// Payloads that nobody uses are never removed.
    PayloadsUncleared,
}

/// A database of one node, with a bug.
pub(crate) struct BrokenStore {
    /// The database as the node sees it, with its faults.
    twin: MemoryStore,
    /// The same database without faults, to read its contents.
    seen: MemoryStore,
    bug: Bug,
}

impl BrokenStore {
    pub(crate) fn new(twin: MemoryStore, seen: MemoryStore, bug: Bug) -> Self {
        Self { twin, seen, bug }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    /// The burst after the effect of the bug.
    async fn spoiled(&self, mut burst: Burst) -> Result<Burst, Error> {
        match self.bug {
            Bug::OutboxForgotten => burst.outbox.clear(),
            Bug::CommandsForgotten => burst.commands.clear(),
            Bug::StartsForgotten => burst.starts.clear(),
            Bug::BookmarksKept => burst.burned.clear(),
            Bug::BookmarksForgotten => burst.created.clear(),
            Bug::JournalForgotten => burst.journal.clear(),
            Bug::PayloadUseForgotten => burst.payloads.unused.append(&mut burst.payloads.used),
            Bug::VersionUnchecked => {
                let there = self.seen.load(&burst.instance.id).await?;
                burst.expected = there
                    .map_or(Expected::Absent, |there| Expected::Version(there.instance.version));
            }
            Bug::InstanceForgotten => {
                let there = self.seen.load(&burst.instance.id).await?;
                let version = burst.instance.version;
                let before = there.map_or_else(|| unwritten(&burst), |there| there.instance);
                burst.instance = Instance { version, ..before };
            }
            _ => {}
        }
        Ok(burst)
    }
}

/// The instance of a first burst, as if it had not run.
fn unwritten(burst: &Burst) -> Instance {
    let Instance { id, definition_id, version_id, definition_version, created_at, .. } =
        burst.instance.clone();
    Instance::new(id, definition_id, version_id, definition_version, created_at)
}

#[async_trait]
impl Instances for BrokenStore {
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error> {
        if self.has(Bug::StartUnkept) && self.seen.load(&start.instance.id).await?.is_none() {
            return Ok(Accepted::New);
        }
        self.twin.accept(start).await
    }

    async fn load_within(
        &self,
        id: &InstanceId,
        state_bytes_max: usize,
    ) -> Result<Option<LoadedWithin>, Error> {
        self.twin.load_within(id, state_bytes_max).await
    }

    async fn commit(&self, burst: Burst) -> Result<Commit, Error> {
        loop {
            let committed = self.twin.commit(self.spoiled(burst.clone()).await?).await?;
            return Ok(match committed {
                // Another burst was written after the version was read.
                Commit::Conflict if self.has(Bug::VersionUnchecked) => continue,
                Commit::Done { .. } if self.has(Bug::WaitingForgotten) => {
                    Commit::Done { waiting: Vec::new() }
                }
                committed => committed,
            });
        }
    }

    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error> {
        self.twin.list(filter, page).await
    }

    async fn count(&self, filter: &InstanceFilter, at_most: u64) -> Result<u64, Error> {
        self.twin.count(filter, at_most).await
    }

    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error> {
        self.twin.journal(id, page).await
    }

    async fn values(&self, id: &InstanceId) -> Result<BTreeMap<String, SearchKey>, Error> {
        self.twin.values(id).await
    }

    async fn delete(&self, id: &InstanceId) -> Result<bool, Error> {
        self.twin.delete(id).await
    }

    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        let found = self.twin.unstarted(before, limit).await?;
        Ok(if self.has(Bug::UnstartedUnseen) { Vec::new() } else { found })
    }

    async fn unfinished(&self, before: Timestamp, limit: u64) -> Result<Vec<InstanceId>, Error> {
        let found = self.twin.unfinished(before, limit).await?;
        Ok(if self.has(Bug::UnfinishedUnseen) { Vec::new() } else { found })
    }
}

#[async_trait]
impl Inbox for BrokenStore {
    async fn accept_command(&self, command: PendingCommand) -> Result<bool, Error> {
        if self.has(Bug::CommandUnkept) {
            return Ok(true);
        }
        self.twin.accept_command(command).await
    }

    async fn wait(&self, command: PendingCommand) -> Result<(), Error> {
        self.twin.wait(command).await
    }

    async fn settle(
        &self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<(), Error> {
        self.twin.settle(id, starts, commands).await
    }

    async fn accepted(
        &self,
        filter: &CommandFilter,
        limit: u64,
    ) -> Result<Vec<PendingCommand>, Error> {
        self.twin.accepted(filter, limit).await
    }

    async fn unapplied(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        let found = self.twin.unapplied(before, limit).await?;
        Ok(if self.has(Bug::UnappliedUnseen) { Vec::new() } else { found })
    }

    async fn wakeable(&self, before: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        let found = self.twin.wakeable(before, limit).await?;
        Ok(if self.has(Bug::WaitingForgotten) { Vec::new() } else { found })
    }

    async fn route(
        &self,
        id: &CommandId,
        now: Timestamp,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<bool, Error> {
        if self.has(Bug::RoutedForgotten) {
            self.twin.settle(id, starts, commands).await?;
            return Ok(true);
        }
        self.twin.route(id, now, starts, commands).await
    }

    async fn is_routed(&self, id: &CommandId) -> Result<bool, Error> {
        self.twin.is_routed(id).await
    }

    async fn forget_routed(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.twin.forget_routed(before, limit).await
    }

    async fn overdue(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        self.twin.overdue(now, limit).await
    }

    async fn bury(&self, id: &CommandId, now: Timestamp, dead: OutboxRow) -> Result<bool, Error> {
        let row = dead.id.clone();
        let is_buried = self.twin.bury(id, now, dead).await?;
        if is_buried && self.has(Bug::BuriedForgotten) {
            self.seen.published(vec![row]).await?;
        }
        Ok(is_buried)
    }
}

#[async_trait]
impl Timers for BrokenStore {
    async fn clock(&self) -> Result<Timestamp, Error> {
        let now = self.twin.clock().await?;
        Ok(if self.has(Bug::ClockAhead) { now.after(AHEAD) } else { now })
    }

    async fn due_timers(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<DueTimer>, Error> {
        let found = self.twin.due_timers(shards, before, limit).await?;
        Ok(if self.has(Bug::TimersUnseen) { Vec::new() } else { found })
    }

    async fn due_schedules(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Schedule>, Error> {
        let found = self.twin.due_schedules(shards, before, limit).await?;
        Ok(if self.has(Bug::SchedulesUnseen) { Vec::new() } else { found })
    }

    async fn fire(&self, mut firing: Firing) -> Result<bool, Error> {
        if self.has(Bug::OccurrenceForgotten) {
            firing.starts.clear();
        }
        self.twin.fire(firing).await
    }
}

#[async_trait]
impl Outbox for BrokenStore {
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error> {
        let found = self.twin.unpublished(before, limit).await?;
        Ok(if self.has(Bug::OutboxUnseen) { Vec::new() } else { found })
    }

    async fn unpublished_places(
        &self,
        before: Timestamp,
        after: Option<&store::OutboxPlace>,
        limit: u64,
    ) -> Result<Vec<store::OutboxPlace>, Error> {
        let found = self.twin.unpublished_places(before, after, limit).await?;
        Ok(if self.has(Bug::OutboxUnseen) { Vec::new() } else { found })
    }

    async fn outbox_rows(&self, ids: &[String]) -> Result<Vec<OutboxRow>, Error> {
        self.twin.outbox_rows(ids).await
    }

    async fn published(&self, ids: Vec<String>) -> Result<(), Error> {
        self.twin.published(ids).await
    }
}
