//! Faults of a simulated database, injected around each operation.

use async_trait::async_trait;

use crate::Error;

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
    Unapplied,
    Wakeable,
    Expire,
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
                | Self::Expire
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

    /// Whether the database has this bug.
    fn has(&self, _bug: Bug) -> bool {
        false
    }
}

/// Nothing goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}
