//! Key-value buckets with compare-and-swap, per-key expiry and a watch.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use model::Timestamp;
use protocol::subject;

use crate::Error;

/// The buckets of the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bucket {
    /// `staunch_leases`: who holds which instance.
    Leases,
    /// `staunch_timers`: fired occurrences.
    Timers,
    /// `staunch_definitions`: published pointers.
    Definitions,
    /// `staunch_nodes`: live nodes.
    Nodes,
    /// `staunch_runtime`: pauses.
    Runtime,
    /// `staunch_activities`: the activity types that workers perform.
    Activities,
}

impl Bucket {
    /// Each of them.
    pub const ALL: [Self; 6] = [
        Self::Leases,
        Self::Timers,
        Self::Definitions,
        Self::Nodes,
        Self::Runtime,
        Self::Activities,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Leases => subject::LEASES_BUCKET,
            Self::Timers => subject::TIMERS_BUCKET,
            Self::Definitions => subject::DEFINITIONS_BUCKET,
            Self::Nodes => subject::NODES_BUCKET,
            Self::Runtime => subject::RUNTIME_BUCKET,
            Self::Activities => subject::ACTIVITIES_BUCKET,
        }
    }

    /// How long the tombstone of a purge stays; `None`: until the key is written again. A server that
    /// crashes may bring a purged value back once its tombstone has vanished. Where every value has
    /// an expiry, what comes back has it too: it may be gone late, and nothing is wrong. A pause, the
    /// registration of a type and a published pointer hold until they are removed, so their
    /// tombstones stay: one for each key, and people choose these keys.
    #[must_use]
    pub fn tombstone_ttl(self) -> Option<Duration> {
        match self {
            Self::Leases | Self::Timers | Self::Nodes => Some(TOMBSTONE_TTL),
            Self::Definitions | Self::Runtime | Self::Activities => None,
        }
    }
}

/// How long the tombstone of a value that would have expired stays before it vanishes: long enough
/// for every watch to see it, short enough not to pile up.
pub const TOMBSTONE_TTL: Duration = Duration::from_secs(15);

/// The sequence of the last write to a key; it grows over the whole bucket. 0: the key was never
/// written.
pub type Revision = u64;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value; `None` after a purge or an expiry.
    pub value: Option<Bytes>,
    /// The revision of the write or of the tombstone.
    pub revision: Revision,
}

/// The result of a compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Written; the key is now at this revision. Also when an earlier try with the same nonce had
    /// won.
    Won(Revision),
    /// Not written: the key is at another revision. Contains that revision if the server reported
    /// it.
    Lost(Option<Revision>),
}

/// A change, as the watch shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A key was written, purged or has expired.
    Set {
        /// The key.
        key: String,
        /// The value; `None` after a purge or an expiry.
        value: Option<Bytes>,
        /// Its revision.
        revision: Revision,
    },
    /// Everything known before this point may be stale: a snapshot of all live keys follows, ended
    /// by `Synced`. Keys that do not appear in it are gone. Sent first, and after each reconnect.
    Reset,
    /// The snapshot is complete.
    Synced,
}

/// A stream of changes that outlives reconnects.
pub type Watch = BoxStream<'static, Change>;

/// One bucket.
#[async_trait]
pub trait Kv: Send + Sync {
    /// Writes the key if it is at `expected` (0: never written; after a purge or an expiry: the
    /// tombstone's revision). With `ttl` the value expires that long after the write, accurate to
    /// about a second; without one it stays. `nonce` identifies the try: repeating a write whose
    /// answer was lost gives `Won` if it had won.
    ///
    /// # Errors
    /// [`Error::Unknown`] when the answer was lost: repeat with the same nonce.
    async fn put_if(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        ttl: Option<Duration>,
        nonce: &str,
    ) -> Result<Put, Error>;

    /// Removes the key if it is at `expected`, leaving a tombstone for [`Bucket::tombstone_ttl`].
    ///
    /// # Errors
    /// [`Error::Unknown`] when the answer was lost: repeat with the same nonce.
    async fn purge_if(&self, key: &str, expected: Revision, nonce: &str) -> Result<Put, Error>;

    /// The newest entry this server knows: a hint, never a decision.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn get(&self, key: &str) -> Result<Option<Entry>, Error>;

    /// When the key was removed, by the clock of the server; none if it has a value, was never written,
    /// or its tombstone has vanished. A hint, as [`Kv::get`].
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn removed_at(&self, key: &str) -> Result<Option<Timestamp>, Error>;

    /// The revision of the last write to any key, tombstones too; 0 before the first. It only grows
    /// while the server keeps the bucket.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn revision(&self) -> Result<Revision, Error>;

    /// Every key that has a value, from the leader of the bucket. The watch may not have shown all of
    /// them yet. For buckets with few keys.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn entries(&self) -> Result<Vec<(String, Entry)>, Error>;

    /// All changes from now on, after a snapshot. A key that changes again before the watch has come
    /// to it shows only its newest change: the bucket keeps one revision of each key.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn watch(&self) -> Result<Watch, Error>;
}
