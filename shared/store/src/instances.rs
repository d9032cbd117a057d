//! Instances: accepted, loaded, committed, listed.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{
    BookmarkId, CommandId, DefinitionId, Entry, Instance, InstanceId, SearchKey, SubStatus,
    Timestamp, Token, VersionId,
};
use protocol::Message;

use crate::{
    Error, Listed, OutboxRow, Page, PayloadChanges, PendingCommand, StoredBookmark, ValueChanges,
    ValueFilter,
};

/// An instance that is accepted and not yet run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInstance {
    /// Its row, as [`Instance::new`] makes it.
    pub instance: Instance,
    /// The start command. The sweep publishes it again until an executor has run it.
    pub command: Message,
    /// The key of its activation strategy: at most one unfinished instance holds it.
    pub activation_key: Option<String>,
}

/// The result of a start.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepted {
    /// The start is kept.
    New,
    /// This instance with the same id was there already.
    Exists(Box<Instance>),
    /// This unfinished instance holds the activation key.
    NotAllowed(InstanceId),
    /// The definition version was deleted: nothing was written.
    Gone,
}

/// An instance as a burst loads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The row with its state.
    pub instance: Instance,
    /// The start command, while it is pending.
    pub command: Option<Message>,
}

/// The answer of [`Instances::load_within`].
#[derive(Clone, Debug, PartialEq)]
pub enum LoadedWithin {
    /// The state fits: this is the instance.
    Whole(Box<Loaded>),
    /// The state does not fit, and was not read.
    TooLarge {
        /// The size of the state in bytes.
        state_bytes: usize,
    },
}

/// All changes of one burst: they are committed in one transaction, or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// The row after the burst; its `version` is `expected + 1` (1 for an insert).
    pub instance: Instance,
    /// The condition that the instance must fulfil for the commit.
    pub expected: Expected,
    /// Held while the instance is unfinished, for activation strategies; set by the first burst
    /// and passed unchanged by later ones. The store clears it when the status is final.
    pub activation_key: Option<String>,
    /// Bookmarks to remove.
    pub burned: Vec<BookmarkId>,
    /// Bookmarks to add.
    pub created: Vec<StoredBookmark>,
    /// The entries of one journal row.
    pub journal: Vec<Entry>,
    /// The searchable values that change.
    pub values: ValueChanges,
    /// Children to start; this commit accepts them.
    pub starts: Vec<NewInstance>,
    /// Commands to other instances; this commit accepts them.
    pub commands: Vec<PendingCommand>,
    /// Messages to publish.
    pub outbox: Vec<OutboxRow>,
    /// URL tokens that can be used from now on.
    pub tokens: Vec<Token>,
    /// Accepted commands that this burst has applied; their rows are removed.
    pub settles: Vec<CommandId>,
    /// The payloads to which it refers.
    pub payloads: PayloadChanges,
}

impl Burst {
    /// A burst that changes only the instance's row.
    #[must_use]
    pub const fn new(instance: Instance, expected: Expected) -> Self {
        Self {
            instance,
            expected,
            activation_key: None,
            burned: Vec::new(),
            created: Vec::new(),
            journal: Vec::new(),
            values: ValueChanges::none(),
            starts: Vec::new(),
            commands: Vec::new(),
            outbox: Vec::new(),
            tokens: Vec::new(),
            settles: Vec::new(),
            payloads: PayloadChanges::none(),
        }
    }
}

/// The condition on an instance for the commit of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No instance has the id.
    Absent,
    /// No instance has the id, or the instance is accepted and has not run. It then keeps the time
    /// of its acceptance.
    Unstarted,
    /// The instance is at this version.
    Version(i64),
}

/// The result of a commit.
#[derive(Clone, Debug, PartialEq)]
pub enum Commit {
    /// Committed. `waiting` are the commands that came too early and wait for the new bookmarks,
    /// looked up after the commit, oldest first.
    Done {
        /// The caller applies them now.
        waiting: Vec<Message>,
    },
    /// The condition does not hold, and nothing was written. Load and run again.
    Conflict,
    /// This unfinished instance holds the activation key, and nothing was written.
    NotAllowed(InstanceId),
    /// The definition version of a first burst was deleted: nothing was written.
    Gone(VersionId),
}

/// A selection of instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceFilter {
    /// Any of these ids; all when empty.
    pub ids: Vec<InstanceId>,
    /// Any of these definitions; all when empty.
    pub definition_ids: Vec<DefinitionId>,
    /// None of these definitions.
    pub excluded_definition_ids: Vec<DefinitionId>,
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
    /// The children of this instance.
    pub parent_id: Option<InstanceId>,
    /// With or without incidents.
    pub has_incidents: Option<bool>,
    /// Part of id, name, correlation id or definition id, in any case.
    pub search: Option<String>,
    /// All of these comparisons with times.
    pub times: Vec<TimeFilter>,
    /// All of these comparisons with searchable values.
    pub values: Vec<ValueFilter>,
    /// In this order; newest first when none.
    pub order: Option<InstanceOrder>,
    /// Only those after this place of the order. The number of all instances does not depend on it.
    pub after: Option<InstancePlace>,
}

/// A place in an ordered list of instances: the one that an instance has, or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstancePlace {
    /// What the order compares.
    pub key: PlaceKey,
    /// The id of the instance, which breaks ties.
    pub id: InstanceId,
}

/// What an order of instances compares. An absent value is the smallest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceKey {
    /// A time.
    Time(Option<Timestamp>),
    /// A name.
    Name(Option<String>),
}

impl InstanceOrder {
    /// Newest first.
    pub const NEWEST: Self = Self { by: Some(TimeColumn::CreatedAt), ascending: false };

    /// The place of an instance in this order.
    #[must_use]
    pub fn place(self, instance: &Instance) -> InstancePlace {
        let key = match self.by {
            Some(TimeColumn::CreatedAt) => PlaceKey::Time(Some(instance.created_at)),
            Some(TimeColumn::UpdatedAt) => PlaceKey::Time(Some(instance.updated_at)),
            Some(TimeColumn::FinishedAt) => PlaceKey::Time(instance.finished_at),
            None => PlaceKey::Name(instance.name.clone()),
        };
        InstancePlace { key, id: instance.id.clone() }
    }
}

/// One comparison with a time column.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeFilter {
    /// The time that is compared.
    pub column: TimeColumn,
    /// The comparison.
    pub operator: TimeOperator,
    /// The time to compare with.
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
    /// Keeps a start, in one transaction with others.
    ///
    /// # Errors
    /// See [`Error`]; the start is not accepted then.
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error>;

    /// The instance with its state, if that has at most so many bytes, and else only the size of the
    /// state; `None` when no instance has the id. A state that is too large takes no memory here.
    ///
    /// # Errors
    /// See [`Error`].
    async fn load_within(
        &self,
        id: &InstanceId,
        state_bytes_max: usize,
    ) -> Result<Option<LoadedWithin>, Error>;

    /// The instance with its state, however large that is; `None` when no instance has the id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn load(&self, id: &InstanceId) -> Result<Option<Loaded>, Error> {
        match self.load_within(id, usize::MAX).await? {
            Some(LoadedWithin::Whole(loaded)) => Ok(Some(*loaded)),
            Some(LoadedWithin::TooLarge { state_bytes }) => {
                Err(Error::Corrupt(format!("the state of instance {id} has {state_bytes} bytes")))
            }
            None => Ok(None),
        }
    }

    /// Commits a burst, in one transaction with others, each with its own version check.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: the commit may have happened; load before you repeat it.
    async fn commit(&self, burst: Burst) -> Result<Commit, Error>;

    /// One page of instances; their `state` is left empty.
    ///
    /// # Errors
    /// See [`Error`].
    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error>;

    /// The number of instances, counted up to `at_most`. Counting reads each of them.
    ///
    /// # Errors
    /// See [`Error`].
    async fn count(&self, filter: &InstanceFilter, at_most: u64) -> Result<u64, Error>;

    /// One page of the journal, in order.
    ///
    /// # Errors
    /// See [`Error`].
    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error>;

    /// The searchable values of an instance, as its bursts have written them.
    ///
    /// # Errors
    /// See [`Error`].
    async fn values(&self, id: &InstanceId) -> Result<BTreeMap<String, SearchKey>, Error>;

    /// Removes an instance with its bookmarks, journal, values, tokens and kept commands; false when no
    /// instance has the id.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete(&self, id: &InstanceId) -> Result<bool, Error>;

    /// Start commands of instances that were accepted before that time and are still pending,
    /// oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error>;

    /// Instances that are `Executing` and last changed before that time: they have calls to carry
    /// out, or turns to continue.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unfinished(&self, before: Timestamp, limit: u64) -> Result<Vec<InstanceId>, Error>;
}
