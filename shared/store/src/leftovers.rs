//! Rows that are of no use any more.

use async_trait::async_trait;
use model::Timestamp;

use crate::Error;

/// A kind of rows that are of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Tokens that have expired.
    Tokens,
    /// Due bookmarks whose instance is gone: they would be fired for ever.
    Timers,
    /// Retired schedules of definitions of which there is no version and no instance. Until then
    /// their counters must stay: a counter that begins anew would start an instance twice.
    Schedules,
}

/// Rows that are of no use any more.
#[async_trait]
pub trait Leftovers: Send + Sync {
    /// Removes at most `limit` of them, and returns their number: tokens that expired and bookmarks
    /// that were due before that time, earliest first, and schedules that are retired now.
    ///
    /// # Errors
    /// See [`Error`].
    async fn clear(&self, what: Leftover, before: Timestamp, limit: u64) -> Result<u64, Error>;
}
