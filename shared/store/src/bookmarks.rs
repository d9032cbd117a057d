//! Open bookmarks, and queries for them.

use async_trait::async_trait;
use model::{Bookmark, BookmarkId, DefinitionId, InstanceId, Timestamp, limits};
use serde_json::Value;

use crate::Error;

/// A bookmark with the values by which it is found.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredBookmark {
    /// The instance that waits.
    pub instance_id: InstanceId,
    /// The definition that the instance runs.
    pub definition_id: DefinitionId,
    /// The instance's correlation id at the time when the bookmark was made.
    pub correlation_id: Option<String>,
    /// The shard of its instance, as [`shard_of`] computes it.
    pub shard: i32,
    /// The bookmark.
    pub bookmark: Bookmark,
}

impl StoredBookmark {
    /// Its route template, when it waits for HTTP requests and the template has parameters (`{…}`).
    #[must_use]
    pub fn route_template(&self) -> Option<String> {
        let path = self.bookmark.payload.get("Path")?.as_str()?;
        let is_template = self.bookmark.name == "Elsa.HttpEndpoint" && path.contains('{');
        is_template.then(|| path.to_owned())
    }
}

/// The shard of an instance's or schedule's timers: FNV-1a of its id, modulo the shard count.
#[must_use]
pub fn shard_of(id: &str) -> i32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let shards = u64::from(limits::TIMER_SHARDS.unsigned_abs());
    i32::try_from(hash % shards).unwrap_or_default()
}

/// A selection of bookmarks. An empty filter finds none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BookmarkFilter {
    /// With this id.
    pub id: Option<BookmarkId>,
    /// Of this instance.
    pub instance_id: Option<InstanceId>,
    /// With this hash.
    pub hash: Option<String>,
    /// With any of these hashes; all when empty.
    pub hashes: Vec<String>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// With this stimulus name.
    pub name: Option<String>,
}

/// The names of the bookmarks that can be listed: an index has them. The migration that makes the
/// index has the same names.
pub const LISTED: [&str; 2] = ["Elsa.RunTask", "Staunch.MessageReceived"];

/// What bookmarks of a definition wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaited {
    /// The hash of the stimulus.
    pub hash: String,
    /// The definition.
    pub definition_id: DefinitionId,
    /// The payload of one of the bookmarks.
    pub payload: Value,
    /// When the oldest of the bookmarks was made.
    pub since: Timestamp,
    /// The number of the bookmarks.
    pub waiting: u64,
}

/// Open bookmarks.
#[async_trait]
pub trait Bookmarks: Send + Sync {
    /// At most `limit` bookmarks that match all given members, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn find(&self, filter: &BookmarkFilter, limit: u64)
    -> Result<Vec<StoredBookmark>, Error>;

    /// At most `limit` bookmarks with one of the [`LISTED`] names that were made before this time,
    /// oldest first, after this one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn listed(
        &self,
        name: &str,
        before: Timestamp,
        after: Option<&StoredBookmark>,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error>;

    /// What the bookmarks with one of the [`LISTED`] names wait for: each hash once for every
    /// definition, at most `limit` of them, in the order of hashes and definitions, after this one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn awaited(
        &self,
        name: &str,
        after: Option<&Awaited>,
        limit: u64,
    ) -> Result<Vec<Awaited>, Error>;

    /// At most `limit` distinct route templates with parameters (`{…}`) of open
    /// `Elsa.HttpEndpoint` bookmarks.
    ///
    /// # Errors
    /// See [`Error`].
    async fn route_templates(&self, limit: u64) -> Result<Vec<String>, Error>;
}
