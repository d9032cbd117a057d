//! Bookmarks in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{BookmarkId, InstanceId, Timestamp};

use super::instances::size;
use super::{MemoryStore, Operation};
use crate::{Awaited, BookmarkFilter, Bookmarks, Error, StoredBookmark};

#[async_trait]
impl Bookmarks for MemoryStore {
    async fn find(
        &self,
        filter: &BookmarkFilter,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        self.run(Operation::FindBookmarks, |tables| {
            if *filter == BookmarkFilter::default() {
                return Ok(Vec::new());
            }
            let mut found: Vec<_> =
                tables.bookmarks.values().filter(|bookmark| fits(bookmark, filter)).collect();
            found.sort_by_key(|row| age(row));
            Ok(found.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn listed(
        &self,
        name: &str,
        before: Timestamp,
        after: Option<&StoredBookmark>,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        self.run(Operation::FindBookmarks, |tables| {
            let mut found: Vec<_> = tables
                .bookmarks
                .values()
                .filter(|row| row.bookmark.name == name && row.bookmark.created_at < before)
                .filter(|row| after.is_none_or(|after| age(row) > age(after)))
                .collect();
            found.sort_by_key(|row| age(row));
            Ok(found.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn awaited(
        &self,
        name: &str,
        after: Option<&Awaited>,
        limit: u64,
    ) -> Result<Vec<Awaited>, Error> {
        self.run(Operation::FindBookmarks, |tables| {
            let mut found: BTreeMap<_, Awaited> = BTreeMap::new();
            for row in tables.bookmarks.values().filter(|row| row.bookmark.name == name) {
                let (hash, definition_id) = (row.bookmark.hash.clone(), row.definition_id.clone());
                let since = row.bookmark.created_at;
                let awaited =
                    found.entry((hash.clone(), definition_id.clone())).or_insert_with(|| Awaited {
                        hash,
                        definition_id,
                        payload: row.bookmark.payload.clone(),
                        since,
                        waiting: 0,
                    });
                awaited.since = awaited.since.min(since);
                awaited.waiting += 1;
            }
            let found = found.into_values();
            let is_next = |one: &Awaited| {
                after.is_none_or(|after| {
                    (&one.hash, &one.definition_id) > (&after.hash, &after.definition_id)
                })
            };
            Ok(found.filter(is_next).take(size(limit)).collect())
        })
        .await
    }

    async fn route_templates(&self, limit: u64) -> Result<Vec<String>, Error> {
        self.run(Operation::RouteTemplates, |tables| {
            let templates: BTreeSet<String> =
                tables.bookmarks.values().filter_map(StoredBookmark::route_template).collect();
            Ok(templates.into_iter().take(size(limit)).collect())
        })
        .await
    }
}

/// The order of bookmarks, oldest first.
fn age(row: &StoredBookmark) -> (Timestamp, &BookmarkId, &InstanceId) {
    (row.bookmark.created_at, &row.bookmark.id, &row.instance_id)
}

fn fits(row: &StoredBookmark, filter: &BookmarkFilter) -> bool {
    fn this<T: PartialEq>(wanted: Option<&T>, is: Option<&T>) -> bool {
        wanted.is_none() || wanted == is
    }
    this(filter.id.as_ref(), Some(&row.bookmark.id))
        && this(filter.instance_id.as_ref(), Some(&row.instance_id))
        && this(filter.hash.as_ref(), Some(&row.bookmark.hash))
        && (filter.hashes.is_empty() || filter.hashes.contains(&row.bookmark.hash))
        && this(filter.correlation_id.as_ref(), row.correlation_id.as_ref())
        && this(filter.name.as_ref(), Some(&row.bookmark.name))
}
