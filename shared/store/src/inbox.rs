//! Accepted commands (the table `pending_resumes`): kept from the moment they are accepted until
//! the commit that applies them.

use async_trait::async_trait;
use model::{BookmarkId, CommandId, InstanceId, Timestamp};
use protocol::Message;

use crate::{Error, NewInstance, OutboxRow, StoredBookmark};

/// A command that is accepted and not yet applied.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCommand {
    /// Its id; a second one of the same id is not kept.
    pub id: CommandId,
    /// The instance it is for; none for an event that is not looked up yet.
    pub instance_id: Option<InstanceId>,
    /// The bookmark it waits for.
    pub bookmark_id: Option<BookmarkId>,
    /// The stimulus hash it waits for.
    pub hash: Option<String>,
    /// Only bookmarks with this correlation id.
    pub correlation_id: Option<String>,
    /// The command, as published.
    pub command: Message,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// Until when a waiting one is kept; for ever when none.
    pub expires_at: Option<Timestamp>,
    /// It came too early: it waits for a bookmark, and is not published again by the sweep.
    pub waiting: bool,
}

impl PendingCommand {
    /// Whether the bookmark is what it waits for: every member that is given fits. One for an
    /// instance that names neither bookmark nor hash is answered by any bookmark of it.
    #[must_use]
    pub fn is_answered_by(&self, stored: &StoredBookmark) -> bool {
        fn fits<T: PartialEq>(wanted: Option<&T>, is: Option<&T>) -> bool {
            wanted.is_none() || wanted == is
        }
        let aims = self.instance_id.is_some() || self.bookmark_id.is_some() || self.hash.is_some();
        aims && fits(self.instance_id.as_ref(), Some(&stored.instance_id))
            && fits(self.bookmark_id.as_ref(), Some(&stored.bookmark.id))
            && fits(self.hash.as_ref(), Some(&stored.bookmark.hash))
            && fits(self.correlation_id.as_ref(), stored.correlation_id.as_ref())
    }
}

/// Accepted commands.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Keeps a command, grouped with others in one transaction; false when its id was there.
    ///
    /// # Errors
    /// See [`Error`]; the command is not accepted then.
    async fn accept_command(&self, command: PendingCommand) -> Result<bool, Error>;

    /// Marks a command as waiting for a bookmark, keeping it if it is not kept yet. The caller
    /// looks for the bookmark once more afterwards: both sides write first and look second.
    ///
    /// # Errors
    /// See [`Error`].
    async fn wait(&self, command: PendingCommand) -> Result<(), Error>;

    /// Ends a command without a burst: its row goes, and what follows from it (the commands and
    /// starts of an event's receivers) is accepted, in one transaction. Starts and commands that
    /// are there already stay as they are. The row need not exist.
    ///
    /// # Errors
    /// See [`Error`].
    async fn settle(
        &self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<(), Error>;

    /// Commands accepted before that time that are not waiting: nobody has applied them. Oldest
    /// first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unapplied(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error>;

    /// Waiting commands whose bookmark is there by now, at least since `before`: their waker
    /// has died.
    ///
    /// # Errors
    /// See [`Error`].
    async fn wakeable(&self, before: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error>;

    /// Ends an event as [`Inbox::settle`] does, once: a mark stays, and whoever comes with the same
    /// event again finds that it was handed out. Then nothing is accepted, and it is false.
    ///
    /// # Errors
    /// See [`Error`].
    async fn route(
        &self,
        id: &CommandId,
        now: Timestamp,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<bool, Error>;

    /// Whether an event was handed out, as far as that is remembered.
    ///
    /// # Errors
    /// See [`Error`].
    async fn is_routed(&self, id: &CommandId) -> Result<bool, Error>;

    /// Forgets marks of events that were handed out before that time, `limit` at most; how many.
    /// Rows of events that came again, and wait though they were handed out, go as well.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_routed(&self, before: Timestamp, limit: u64) -> Result<u64, Error>;

    /// Waiting commands whose time is over, in that order.
    ///
    /// # Errors
    /// See [`Error`].
    async fn overdue(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error>;

    /// Puts a message into the outbox in the place of a waiting command whose time is over; false
    /// when it is not there, or waits no longer.
    ///
    /// # Errors
    /// See [`Error`].
    async fn bury(&self, id: &CommandId, now: Timestamp, dead: OutboxRow) -> Result<bool, Error>;
}
