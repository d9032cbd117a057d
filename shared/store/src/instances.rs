//! Instances: accepted, loaded, committed, listed.

use async_trait::async_trait;
use model::{
    BookmarkId, CommandId, DefinitionId, Entry, Instance, InstanceId, SubStatus, Timestamp, Token,
    VersionId,
};
use protocol::Message;

use crate::{Error, Listed, OutboxRow, Page, PendingCommand, StoredBookmark};

/// An instance that is accepted and not yet run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInstance {
    /// Its row: `Pending`, version 0, no state.
    pub instance: Instance,
    /// The start command, published again for as long as nobody has run it.
    pub command: Message,
    /// At most one unfinished instance may have this key (activation strategies).
    pub activation_key: Option<String>,
}

/// What became of a start.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepted {
    /// It is kept now.
    New,
    /// An instance of this id was there already: this one.
    Exists(Box<Instance>),
    /// An unfinished instance has the activation key: this one.
    NotAllowed(InstanceId),
}

/// An instance as a burst begins with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The row with its state.
    pub instance: Instance,
    /// The start command, while it is pending.
    pub command: Option<Message>,
}

/// Everything one burst changes: one transaction, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// The row after the burst; its `version` is `expected + 1` (1 for an insert).
    pub instance: Instance,
    /// What the instance has to be for the commit to happen.
    pub expected: Expected,
    /// Held while the instance is unfinished, for activation strategies; set by the first burst
    /// and passed unchanged by later ones. The store clears it when the status is final.
    pub activation_key: Option<String>,
    /// Bookmarks that are gone.
    pub burned: Vec<BookmarkId>,
    /// Bookmarks that are new.
    pub created: Vec<StoredBookmark>,
    /// What happened: one journal row.
    pub journal: Vec<Entry>,
    /// Children to start: accepted with this commit.
    pub starts: Vec<NewInstance>,
    /// Commands to other instances: accepted with this commit.
    pub commands: Vec<PendingCommand>,
    /// Messages to publish.
    pub outbox: Vec<OutboxRow>,
    /// URL tokens that become good.
    pub tokens: Vec<Token>,
    /// Accepted commands that this burst has applied: their rows go.
    pub settles: Vec<CommandId>,
}

impl Burst {
    /// One that changes the instance's row and nothing beside it.
    #[must_use]
    pub const fn new(instance: Instance, expected: Expected) -> Self {
        Self {
            instance,
            expected,
            activation_key: None,
            burned: Vec::new(),
            created: Vec::new(),
            journal: Vec::new(),
            starts: Vec::new(),
            commands: Vec::new(),
            outbox: Vec::new(),
            tokens: Vec::new(),
            settles: Vec::new(),
        }
    }
}

/// What an instance has to be for a burst to be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No instance has the id.
    Absent,
    /// No instance has the id, or it is accepted and has not been run: then it keeps the time when
    /// it was accepted.
    Unstarted,
    /// It is at the version that was loaded.
    Version(i64),
}

/// How a commit ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Commit {
    /// Committed. `waiting` are the commands that came too early and that the new bookmarks
    /// answer, looked up after the commit, oldest first.
    Done {
        /// To be applied now.
        waiting: Vec<Message>,
    },
    /// Someone else was here: nothing was written. Load and run again.
    Conflict,
    /// An unfinished instance has the activation key: nothing was written.
    NotAllowed(InstanceId),
}

/// Which instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceFilter {
    /// Any of these ids; all when empty.
    pub ids: Vec<InstanceId>,
    /// Any of these definitions; all when empty.
    pub definition_ids: Vec<DefinitionId>,
    /// This version.
    pub version_id: Option<VersionId>,
    /// This version number.
    pub definition_version: Option<u32>,
    /// Any of these; all when empty.
    pub sub_statuses: Vec<SubStatus>,
    /// This correlation id.
    pub correlation_id: Option<String>,
    /// This name.
    pub name: Option<String>,
    /// With or without incidents.
    pub has_incidents: Option<bool>,
    /// Part of id, name, correlation id or definition id, in any case.
    pub search: Option<String>,
    /// By time.
    pub times: Vec<TimeFilter>,
    /// In this order; newest first when none.
    pub order: Option<InstanceOrder>,
}

/// One comparison with a time column.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeFilter {
    /// Which.
    pub column: TimeColumn,
    /// How.
    pub operator: TimeOperator,
    /// With what.
    pub at: Timestamp,
}

/// The times of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "the names are those of the members")]
pub enum TimeColumn {
    /// Accepted.
    CreatedAt,
    /// Last changed.
    UpdatedAt,
    /// Ended.
    FinishedAt,
}

/// Comparisons of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says what it means")]
pub enum TimeOperator {
    Is,
    IsNot,
    LessThan,
    GreaterThan,
    LessThanOrEqual,
    GreaterThanOrEqual,
}

/// An order of instances; ties are broken by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceOrder {
    /// By this column; by name when none.
    pub by: Option<TimeColumn>,
    /// Smallest first.
    pub ascending: bool,
}

/// Instances and their journals.
#[async_trait]
pub trait Instances: Send + Sync {
    /// Keeps a start, grouped with others in one transaction.
    ///
    /// # Errors
    /// See [`Error`]; the start is not accepted then.
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error>;

    /// The instance with its state; `None` when there is none.
    ///
    /// # Errors
    /// See [`Error`].
    async fn load(&self, id: &InstanceId) -> Result<Option<Loaded>, Error>;

    /// Commits a burst, grouped with others in one transaction, each with its own version check.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: it may or may not have happened; load before repeating.
    async fn commit(&self, burst: Burst) -> Result<Commit, Error>;

    /// One page of instances; their `state` is left empty.
    ///
    /// # Errors
    /// See [`Error`].
    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error>;

    /// One page of the journal, in order.
    ///
    /// # Errors
    /// See [`Error`].
    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error>;

    /// Removes an instance with its bookmarks, journal, tokens and kept commands; false when it is
    /// not there.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete(&self, id: &InstanceId) -> Result<bool, Error>;

    /// Start commands of instances that are pending since before that time, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error>;

    /// Instances that are `Executing` since before that time: calls to carry out, turns to go on
    /// with.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unfinished(&self, before: Timestamp, limit: u64) -> Result<Vec<InstanceId>, Error>;
}
