//! Bookmarks, as they are looked up.

use async_trait::async_trait;
use model::{Bookmark, BookmarkId, DefinitionId, InstanceId, limits};

use crate::Error;

/// A bookmark with what it is found by.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredBookmark {
    /// Who waits.
    pub instance_id: InstanceId,
    /// What the waiting instance runs.
    pub definition_id: DefinitionId,
    /// The instance's correlation id when the bookmark was made.
    pub correlation_id: Option<String>,
    /// Which timer replica looks after it, by [`shard_of`] its instance.
    pub shard: i32,
    /// The bookmark.
    pub bookmark: Bookmark,
}

impl StoredBookmark {
    /// Its route template, if it waits for HTTP requests at one with parameters (`{…}`).
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

/// Which bookmarks. An empty filter finds none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BookmarkFilter {
    /// This one.
    pub id: Option<BookmarkId>,
    /// Of this instance.
    pub instance_id: Option<InstanceId>,
    /// With this hash.
    pub hash: Option<String>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// With this stimulus name.
    pub name: Option<String>,
}

/// Open bookmarks.
#[async_trait]
pub trait Bookmarks: Send + Sync {
    /// Those that fit all given members, oldest first, at most `limit`.
    ///
    /// # Errors
    /// See [`Error`].
    async fn find(&self, filter: &BookmarkFilter, limit: u64)
    -> Result<Vec<StoredBookmark>, Error>;

    /// The distinct `Path` templates with parameters (`{…}`) of open `Elsa.HttpEndpoint`
    /// bookmarks, at most `limit`.
    ///
    /// # Errors
    /// See [`Error`].
    async fn route_templates(&self, limit: u64) -> Result<Vec<String>, Error>;
}
