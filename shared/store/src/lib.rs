//! The database port: what is kept, as traits by noun, with a memory twin and one conformance
//! suite for every implementation.
//!
//! SQL is the truth. Whatever is accepted is here before it is acted upon; whatever a burst
//! changes is one transaction with its version check. Callers take only the nouns they use.

mod bookmarks;
pub mod check;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod definitions;
mod error;
mod inbox;
mod instances;
mod keys;
pub mod memory;
mod outbox;
mod page;
mod timers;
mod tokens;

use async_trait::async_trait;

pub use bookmarks::{BookmarkFilter, Bookmarks, StoredBookmark, shard_of};
pub use definitions::{
    DefinitionFilter, Definitions, Publication, Published, PublishedVersion, VersionOption,
};
pub use error::Error;
pub use inbox::{Inbox, PendingCommand};
pub use instances::{
    Accepted, Burst, Commit, Expected, InstanceFilter, InstanceOrder, Instances, Loaded,
    NewInstance, TimeColumn, TimeFilter, TimeOperator,
};
pub use keys::{ApiKey, Audit, Keys};
pub use outbox::{Outbox, OutboxRow};
pub use page::{Listed, Page};
pub use timers::{DueTimer, Firing, Timers};
pub use tokens::Tokens;

/// The whole port.
#[async_trait]
pub trait Store:
    Instances + Definitions + Bookmarks + Inbox + Timers + Outbox + Tokens + Keys + 'static
{
    /// Answers when the database does.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it does not.
    async fn ping(&self) -> Result<(), Error>;

    /// Finishes what is queued, then closes.
    async fn close(&self);
}
