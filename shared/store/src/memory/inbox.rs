//! Accepted commands in memory.

use async_trait::async_trait;
use model::{CommandId, Timestamp};
use protocol::Message;

use super::instances::size;
use super::tables::Tables;
use super::{MemoryStore, Operation};
use crate::{
    CommandFilter, Error, Inbox, NewInstance, OutboxRow, PendingCommand, StoredBookmark, check,
};

#[async_trait]
impl Inbox for MemoryStore {
    async fn accept_command(&self, command: PendingCommand) -> Result<bool, Error> {
        self.run(Operation::AcceptCommand, |tables| {
            check::command(&command)?;
            Ok(tables.accept_command(command))
        })
        .await
    }

    async fn wait(&self, command: PendingCommand) -> Result<(), Error> {
        self.run(Operation::Wait, |tables| {
            check::command(&command)?;
            let mut command = PendingCommand { waiting: true, ..command };
            if let Some(known) = tables.pending.remove(&command.id) {
                command.accepted_at = known.accepted_at;
                command.command = known.command;
            }
            tables.pending.insert(command.id.clone(), command);
            Ok(())
        })
        .await
    }

    async fn settle(
        &self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<(), Error> {
        self.run(Operation::Settle, |tables| {
            starts.iter().try_for_each(check::start)?;
            commands.iter().try_for_each(check::command)?;
            tables.settle(id, starts, commands);
            Ok(())
        })
        .await
    }

    async fn accepted(
        &self,
        filter: &CommandFilter,
        limit: u64,
    ) -> Result<Vec<PendingCommand>, Error> {
        let CommandFilter { instance_id, waiting } = filter;
        self.run(Operation::Accepted, |tables| {
            let fits = |command: &&PendingCommand| {
                (instance_id.is_none() || command.instance_id == *instance_id)
                    && waiting.is_none_or(|waiting| command.waiting == waiting)
            };
            let mut found: Vec<_> = tables.pending.values().filter(fits).collect();
            found.sort_by_key(|command| (command.accepted_at, &command.id));
            Ok(found.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn unapplied(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        self.run(Operation::Unapplied, |tables| {
            let mut found: Vec<_> = tables
                .pending
                .values()
                .filter(|command| !command.waiting && command.accepted_at < before)
                .collect();
            found.sort_by_key(|command| (command.accepted_at, &command.id));
            Ok(found.into_iter().take(size(limit)).map(|row| row.command.clone()).collect())
        })
        .await
    }

    async fn wakeable(&self, before: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        self.run(Operation::Wakeable, |tables| {
            let is_old = |row: &&StoredBookmark| row.bookmark.created_at <= before;
            let bookmarks = tables.bookmarks.values().filter(is_old);
            let found = tables.waiting(|command| {
                command.accepted_at <= before
                    && (tables.is_over(command, before)
                        || bookmarks.clone().any(|bookmark| command.is_answered_by(bookmark)))
            });
            Ok(found.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn route(
        &self,
        id: &CommandId,
        now: Timestamp,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<bool, Error> {
        self.run(Operation::Route, |tables| {
            starts.iter().try_for_each(check::start)?;
            commands.iter().try_for_each(check::command)?;
            if tables.routed.contains_key(id) {
                return Ok(false);
            }
            tables.routed.insert(id.clone(), now);
            tables.settle(id, starts, commands);
            Ok(true)
        })
        .await
    }

    async fn is_routed(&self, id: &CommandId) -> Result<bool, Error> {
        self.run(Operation::IsRouted, |tables| Ok(tables.routed.contains_key(id))).await
    }

    async fn forget_routed(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.run(Operation::ForgetRouted, |tables| {
            let Tables { pending, routed, .. } = tables;
            pending.retain(|id, command| !command.waiting || !routed.contains_key(id));
            let mut old: Vec<_> = tables
                .routed
                .iter()
                .filter(|(_, at)| **at < before)
                .map(|(id, at)| (*at, id.clone()))
                .collect();
            old.sort();
            old.truncate(size(limit));
            for (_, id) in &old {
                tables.routed.remove(id);
            }
            Ok(old.len() as u64)
        })
        .await
    }

    async fn overdue(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        self.run(Operation::Overdue, |tables| {
            let mut over: Vec<_> =
                tables.pending.values().filter(|command| is_overdue(command, now)).collect();
            over.sort_by(|a, b| (a.expires_at, &a.id).cmp(&(b.expires_at, &b.id)));
            Ok(over.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn bury(&self, id: &CommandId, now: Timestamp, dead: OutboxRow) -> Result<bool, Error> {
        self.run(Operation::Bury, |tables| {
            if !tables.pending.get(id).is_some_and(|command| is_overdue(command, now)) {
                return Ok(false);
            }
            tables.pending.remove(id);
            tables.outbox.entry(dead.id.clone()).or_insert(dead);
            Ok(true)
        })
        .await
    }
}

fn is_overdue(command: &PendingCommand, now: Timestamp) -> bool {
    command.waiting && command.expires_at.is_some_and(|time| time <= now)
}
