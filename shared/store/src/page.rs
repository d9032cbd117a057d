//! Pages of lists.

use model::limits;

/// A part of a list. Its numbers are within the limits, so that no arithmetic on them overflows and
/// every database can bind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    skip: u64,
    take: u64,
}

impl Page {
    /// A page within the limits: `take` is at most [`limits::PAGE_ITEMS_MAX`]; a page of none has the
    /// total alone. A `skip` above
    /// [`limits::LIST_ITEMS_MAX`] is after the end of every list, so such a page is empty.
    #[must_use]
    pub fn new(skip: u64, take: u64) -> Self {
        let take = take.min(limits::PAGE_ITEMS_MAX);
        Self { skip: skip.min(limits::LIST_ITEMS_MAX), take }
    }

    /// Page number `number`, counted from 0, of pages of `size` items.
    #[must_use]
    pub fn numbered(number: u64, size: u64) -> Self {
        let size = size.clamp(1, limits::PAGE_ITEMS_MAX);
        Self::new(number.saturating_mul(size), size)
    }

    /// The first items, as many as one page may have.
    #[must_use]
    pub fn first() -> Self {
        Self::new(0, limits::PAGE_ITEMS_MAX)
    }

    /// The number of items that are left out at the beginning.
    #[must_use]
    pub fn skip(self) -> u64 {
        self.skip
    }

    /// The number of items that the page has at most.
    #[must_use]
    pub fn take(self) -> u64 {
        self.take
    }

    /// This part of a list that is in memory as a whole.
    pub fn of<T>(self, items: impl Iterator<Item = T>) -> Listed<T> {
        let (skip, take) = (self.skip, self.take);
        let mut total = 0;
        let part = |item| {
            total += 1;
            (total > skip && total - skip <= take).then_some(item)
        };
        let items = items.filter_map(part).collect();
        Listed { items, total }
    }
}

/// One page, and the length of the whole list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// The page's items.
    pub items: Vec<T>,
    /// Items in the whole list.
    pub total: u64,
}
