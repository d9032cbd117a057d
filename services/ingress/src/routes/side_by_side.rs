//! Work on many items at the same time.

use futures::{StreamExt as _, stream};

/// The number of items that are worked on at the same time.
const AT_ONCE: usize = 32;

/// Runs these futures concurrently, a few at a time; the results are in their order.
pub(super) async fn side_by_side<F: Future>(work: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    stream::iter(work).buffered(AT_ONCE).collect().await
}
