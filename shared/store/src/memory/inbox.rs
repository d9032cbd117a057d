//! Accepted commands in memory.

use async_trait::async_trait;
use model::{CommandId, Timestamp};
use protocol::Message;

use super::instances::size;
use super::{Bug, MemoryStore, Operation};
use crate::{Error, Inbox, NewInstance, PendingCommand, check};

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
            for start in starts {
                tables.accept_quietly(start);
            }
            for command in commands {
                tables.accept_command(command);
            }
            tables.pending.remove(id);
            Ok(())
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
            if self.faults.has(Bug::WaitingForgotten) {
                return Ok(Vec::new());
            }
            let there = tables.bookmarks.values().filter(|row| row.bookmark.created_at <= before);
            let found = tables.answered(there).into_iter();
            let found = found.filter(|command| command.accepted_at <= before);
            Ok(found.take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn expire(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error> {
        self.run(Operation::Expire, |tables| {
            let mut over: Vec<_> = tables
                .pending
                .values()
                .filter(|command| command.waiting)
                .filter(|command| command.expires_at.is_some_and(|time| time <= now))
                .cloned()
                .collect();
            over.sort_by(|a, b| (a.expires_at, &a.id).cmp(&(b.expires_at, &b.id)));
            over.truncate(size(limit));
            for command in &over {
                tables.pending.remove(&command.id);
            }
            Ok(over)
        })
        .await
    }
}
