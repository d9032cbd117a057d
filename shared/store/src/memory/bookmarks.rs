//! Bookmarks in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::instances::size;
use super::{MemoryStore, Operation};
use crate::{BookmarkFilter, Bookmarks, Error, StoredBookmark};

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
            found.sort_by_key(|row| (row.bookmark.created_at, &row.bookmark.id, &row.instance_id));
            Ok(found.into_iter().take(size(limit)).cloned().collect())
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
