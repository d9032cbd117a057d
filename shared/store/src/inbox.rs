//! Accepted commands (the table `pending_resumes`): kept from their acceptance to the commit that
//! applies them.

use async_trait::async_trait;
use model::{BookmarkId, CommandId, InstanceId, Timestamp};
use protocol::Message;

use crate::{Error, NewInstance, OutboxRow, StoredBookmark};

/// A command that is accepted and not yet applied.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCommand {
    /// Its id. A second command with the same id is not kept.
    pub id: CommandId,
    /// Its instance; `None` for an event whose receivers are not known yet.
    pub instance_id: Option<InstanceId>,
    /// The bookmark that it waits for.
    pub bookmark_id: Option<BookmarkId>,
    /// The stimulus hash that it waits for.
    pub hash: Option<String>,
    /// The correlation id of the bookmarks that it waits for.
    pub correlation_id: Option<String>,
    /// The command, as published.
    pub command: Message,
    /// The time of its acceptance.
    pub accepted_at: Timestamp,
    /// The time until which it is kept while it waits; `None` for ever.
    pub expires_at: Option<Timestamp>,
    /// It came too early and waits for a bookmark. The sweep does not publish it again.
    pub waiting: bool,
}

impl PendingCommand {
    /// Whether it waits for this bookmark: every member that is set fits. A command that names an
    /// instance, and neither bookmark nor hash, fits every bookmark of that instance.
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

/// A selection of accepted commands. An empty filter finds all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFilter {
    /// For this instance.
    pub instance_id: Option<InstanceId>,
    /// Those that wait for a bookmark, or those that do not.
    pub waiting: Option<bool>,
}

/// Accepted commands.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Keeps a command, in one transaction with others; false when its id is there already.
    ///
    /// # Errors
    /// See [`Error`]; the command is not accepted then.
    async fn accept_command(&self, command: PendingCommand) -> Result<bool, Error>;

    /// Marks a command as waiting for a bookmark, and keeps it if it is not kept yet. The caller
    /// then looks for the bookmark once more: both sides write first and look second.
    ///
    /// # Errors
    /// See [`Error`].
    async fn wait(&self, command: PendingCommand) -> Result<(), Error>;

    /// Ends a command without a burst, in one transaction: removes its row, and accepts the commands
    /// and starts of its receivers. Starts and commands that exist stay as they are. The row need
    /// not exist.
    ///
    /// # Errors
    /// See [`Error`].
    async fn settle(
        &self,
        id: &CommandId,
        starts: Vec<NewInstance>,
        commands: Vec<PendingCommand>,
    ) -> Result<(), Error>;

    /// At most `limit` accepted commands that match, oldest first: for people who want to know why
    /// nothing happens.
    ///
    /// # Errors
    /// See [`Error`].
    async fn accepted(
        &self,
        filter: &CommandFilter,
        limit: u64,
    ) -> Result<Vec<PendingCommand>, Error>;

    /// Commands that were accepted before that time and do not wait, so that no node has applied
    /// them. Oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unapplied(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error>;

    /// Waiting commands whose bookmark has existed since `before` or longer: the node that should
    /// apply them has died. Also those whose instance has been over since `before` or longer: no
    /// bookmark will come for them.
    ///
    /// # Errors
    /// See [`Error`].
    async fn wakeable(&self, before: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error>;

    /// Ends an event as [`Inbox::settle`] does, but only once. It leaves a mark: if the same event
    /// comes again, nothing is accepted and the result is false.
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

    /// Whether an event was handed out, for as long as its mark is kept.
    ///
    /// # Errors
    /// See [`Error`].
    async fn is_routed(&self, id: &CommandId) -> Result<bool, Error>;

    /// Removes at most `limit` marks of events that were handed out before that time, and returns
    /// their number. Also removes the rows of events that came again and wait although they were
    /// handed out.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_routed(&self, before: Timestamp, limit: u64) -> Result<u64, Error>;

    /// Waiting commands that have expired, earliest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn overdue(&self, now: Timestamp, limit: u64) -> Result<Vec<PendingCommand>, Error>;

    /// Replaces an expired waiting command by a message in the outbox; false if the command is gone
    /// or no longer waits.
    ///
    /// # Errors
    /// See [`Error`].
    async fn bury(&self, id: &CommandId, now: Timestamp, dead: OutboxRow) -> Result<bool, Error>;
}
