//! Pages of lists.

use model::limits;

/// Which part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Items left out at the beginning.
    pub skip: u64,
    /// Items at most, 1 to `limits::PAGE_ITEMS_MAX`.
    pub take: u64,
}

impl Page {
    /// A page within the limits.
    #[must_use]
    pub fn new(skip: u64, take: u64) -> Self {
        Self { skip, take: take.clamp(1, limits::PAGE_ITEMS_MAX) }
    }

    /// This part of a list that is here as a whole.
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

    /// The first items, as many as one page may have.
    #[must_use]
    pub fn first() -> Self {
        Self::new(0, limits::PAGE_ITEMS_MAX)
    }
}

/// One page, and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// The page's items.
    pub items: Vec<T>,
    /// Items in the whole list.
    pub total: u64,
}
