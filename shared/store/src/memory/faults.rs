//! Faults of a simulated database, injected around each operation.

use std::time::Duration;

use async_trait::async_trait;
use model::{Instance, Timestamp};

use crate::{Burst, Error, StoredBookmark};

/// One operation of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the method of its name")]
pub enum Operation {
    Accept,
    Load,
    Commit,
    List,
    Journal,
    DeleteInstance,
    Unstarted,
    Unfinished,
    SaveDefinition,
    Publish,
    Retract,
    DeleteDefinition,
    DeleteVersion,
    Version,
    Definition,
    Definitions,
    Triggers,
    TriggersNamed,
    Schedules,
    FindBookmarks,
    RouteTemplates,
    AcceptCommand,
    Wait,
    Settle,
    Route,
    IsRouted,
    ForgetRouted,
    Unapplied,
    Wakeable,
    Overdue,
    Bury,
    Clock,
    DueTimers,
    DueSchedules,
    Fire,
    Unpublished,
    Published,
    Grant,
    Token,
    Redeem,
    SaveKey,
    Key,
    Keys,
    DeleteKey,
    Audit,
    Audits,
    Ping,
}

impl Operation {
    /// Whether it may change something.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Commit
                | Self::DeleteInstance
                | Self::SaveDefinition
                | Self::Publish
                | Self::Retract
                | Self::DeleteDefinition
                | Self::DeleteVersion
                | Self::AcceptCommand
                | Self::Wait
                | Self::Settle
                | Self::Route
                | Self::ForgetRouted
                | Self::Bury
                | Self::Fire
                | Self::Published
                | Self::Grant
                | Self::Redeem
                | Self::SaveKey
                | Self::DeleteKey
                | Self::Audit
        )
    }
}

/// A bug on purpose: a simulation that does not find it proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bug {
    /// A commit does not look at the version.
    VersionUnchecked,
    /// A commit forgets what is to be published.
    OutboxForgotten,
    /// A commit forgets the commands to other instances.
    CommandsForgotten,
    /// Nobody looks for commands that came too early.
    WaitingForgotten,
    /// A commit leaves its burned bookmarks open.
    BookmarksKept,
    /// A commit forgets its new bookmarks.
    BookmarksForgotten,
    /// A commit forgets the children to start.
    StartsForgotten,
    /// A commit forgets what happened.
    JournalForgotten,
    /// A commit writes everything but the instance itself.
    InstanceForgotten,
    /// A command is accepted, and not kept.
    CommandUnkept,
    /// A start is accepted, and not kept.
    StartUnkept,
    /// That an event was handed out is not remembered.
    RoutedForgotten,
    /// A command that expires is removed, and not kept among the dead.
    BuriedForgotten,
    /// An occurrence is fired, and its start not kept.
    OccurrenceForgotten,
    /// The clock is ahead of the time.
    ClockAhead,
    /// Nobody looks for timers that are due.
    TimersUnseen,
    /// Nobody looks for schedules that are due.
    SchedulesUnseen,
    /// Nobody looks for starts that nobody has run.
    UnstartedUnseen,
    /// Nobody looks for commands that nobody has applied.
    UnappliedUnseen,
    /// Nobody looks for outbox rows that nobody has published.
    OutboxUnseen,
    /// Nobody looks for instances whose work nobody does.
    UnfinishedUnseen,
}

/// One burst as it is written, shown before it is.
#[derive(Debug)]
pub struct Written<'a> {
    /// What is written.
    pub burst: &'a Burst,
    /// The instance as it stands.
    pub before: Option<&'a Instance>,
    /// The bookmarks that it burns, as far as they are there.
    pub burned: Vec<&'a StoredBookmark>,
    /// The database's clock.
    pub now: Timestamp,
}

/// What goes wrong, and when. Waiting in a hook delays the operation.
#[async_trait]
pub trait Faults: Send + Sync {
    /// Called before the operation does anything.
    ///
    /// # Errors
    /// The operation fails with it, and has changed nothing.
    async fn before(&self, _operation: Operation) -> Result<(), Error> {
        Ok(())
    }

    /// Called after the operation is done.
    ///
    /// # Errors
    /// The operation fails with it, and has changed what it changes: its answer is lost.
    async fn after(&self, _operation: Operation) -> Result<(), Error> {
        Ok(())
    }

    /// How much later the operation is done, if its caller is to be told at once that its outcome
    /// is unknown. Asked of commits only.
    fn late(&self, _operation: Operation) -> Option<Duration> {
        None
    }

    /// Is shown each burst as it is written: what must always hold can be checked here.
    fn witness(&self, _written: &Written<'_>) {}

    /// Whether the database has this bug.
    fn has(&self, _bug: Bug) -> bool {
        false
    }
}

/// Nothing goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}
