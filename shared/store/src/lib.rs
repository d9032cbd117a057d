//! The database port: one trait for each noun, a memory twin, and one conformance suite for every
//! implementation.
//!
//! SQL is the truth. An accepted command is kept here before anything acts on it. All changes of a
//! burst are one transaction with its version check. Callers take only the traits that they use.

mod bookmarks;
mod census;
pub mod check;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod definitions;
mod error;
mod figures;
mod identity;
mod inbox;
mod instances;
mod keys;
mod labels;
mod leftovers;
pub mod memory;
mod outbox;
mod owner;
mod page;
mod payloads;
mod plans;
mod requests;
mod room;
mod schedules;
mod secrets;
mod sessions;
mod timers;
mod tokens;
mod unreadable;
mod upkeep;
mod values;

use async_trait::async_trait;

pub use bookmarks::{Awaited, BookmarkFilter, Bookmarks, LISTED, StoredBookmark, shard_of};
pub use census::{Census, Counts, Unfinished};
pub use definitions::{
    Base, DefinitionColumn, DefinitionFilter, DefinitionOrder, Definitions, Deleted, Publication,
    Published, PublishedVersion, Retracted, Saved, VersionOption,
};
pub use error::{Error, no_driver};
pub use figures::{Figures, PoolFigures, StatementFigures};
pub use identity::{
    Application, Identity, PeopleChange, PeopleChanged, Role, RoleChange, User, UserChange,
    check_application, check_role, check_user, once,
};
pub use inbox::{CommandFilter, Inbox, PendingCommand};
pub use instances::{
    Accepted, Burst, Commit, Expected, InstanceFilter, InstanceOrder, InstancePlace, Instances,
    Loaded, LoadedWithin, NewInstance, PlaceKey, TimeColumn, TimeFilter, TimeOperator,
};
pub use keys::{AUDITED, ApiKey, Audit, AuditFilter, AuditOutcome, Keys, key_hash};
pub use labels::{Label, LabelKept, Labels, check_label, check_version_labels};
pub use leftovers::{Leftover, Leftovers};
pub use outbox::{Outbox, OutboxPlace, OutboxRow};
pub use owner::key_owner;
pub use page::{Listed, Page};
pub use payloads::{Cleared, Nameless, Payload, PayloadChanges, Payloads};
pub use plans::{AlterationJob, AlterationPlan, JobStatus, PlanStatus, Plans, Progress};
pub use requests::{Claim, KeyedRequest, Requests};
pub use room::{NoRoom, Room, Rooms};
pub use schedules::{ScheduleFilter, SchedulePause, ScheduleStatus, Schedules};
pub use secrets::{Rewrapped, Secret, Secrets, check_secret};
pub use sessions::{
    Attempts, CountedLogin, LoginLimit, OpenSession, Renewal, Renewed, Session, Sessions,
    SigningKey,
};
pub use timers::{DueTimer, Firing, Timers};
pub use tokens::Tokens;
pub use unreadable::{Salvage, Table, Unreadable};
pub use upkeep::{Ended, EndedFilter, Owned, Upkeep, Walked};
pub use values::{
    KeyRange, SearchableFilter, SearchableNames, ValueChanges, ValueFilter, ValueOperator,
};

/// The whole port.
#[async_trait]
pub trait Store:
    Instances
    + Definitions
    + Labels
    + Bookmarks
    + Inbox
    + Timers
    + Schedules
    + Outbox
    + Tokens
    + Keys
    + Identity
    + Sessions
    + Secrets
    + Requests
    + Plans
    + Payloads
    + Leftovers
    + Counts
    + Salvage
    + Upkeep
    + 'static
{
    /// Asks the database for an answer. While its last write has failed, also writes a row and
    /// removes it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it does not answer or cannot write.
    async fn ping(&self) -> Result<(), Error>;

    /// How this process uses the database now.
    fn figures(&self) -> Figures;

    /// What each statement took in this process, in no order: a limited number of statements, and
    /// one entry for all others.
    fn statements(&self) -> Vec<StatementFigures>;

    /// Finishes the queued work, then closes. Both together take a bounded time; work that is not
    /// finished by then is given up, and its callers get an error.
    async fn close(&self);
}
