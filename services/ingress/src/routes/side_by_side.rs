//! Work on many items at the same time.

use futures::stream::FuturesUnordered;
use futures::{StreamExt as _, stream};

/// The number of items that are worked on at the same time.
const AT_ONCE: usize = 32;

/// Runs these futures concurrently, a few at a time; the results are in their order.
pub(super) async fn side_by_side<F: Future>(work: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    stream::iter(work).buffered(AT_ONCE).collect().await
}

/// Runs these futures concurrently, at most `at_once` at a time. After a failure that concerns all of them,
/// or after more than `at_once` others, none is begun any more, and those that have begun are waited for.
/// Gives the results in the order in which they came, and the failure: one that concerns all if there is
/// one, or else the first.
pub(super) async fn while_it_works<T, E, F: Future<Output = Result<T, E>>>(
    work: impl IntoIterator<Item = F>,
    at_once: usize,
    concerns_all: impl Fn(&E) -> bool,
) -> (Vec<T>, Option<E>) {
    let at_once = at_once.max(1);
    let mut work = work.into_iter();
    let mut running = FuturesUnordered::new();
    let (mut done, mut failure, mut failures_left) = (Vec::new(), None, at_once + 1);
    loop {
        while failures_left > 0
            && running.len() < at_once
            && let Some(next) = work.next()
        {
            running.push(next);
        }
        match running.next().await {
            None => return (done, failure),
            Some(Ok(result)) => done.push(result),
            Some(Err(error)) if concerns_all(&error) => {
                (failure, failures_left) = (Some(error), 0);
            }
            Some(Err(error)) => {
                failure = failure.or(Some(error));
                failures_left = failures_left.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// What happened to the numbers that were worked on.
    #[derive(Debug, Default, PartialEq)]
    struct Worked {
        done: Vec<usize>,
        failure: Option<usize>,
        begun: usize,
        most_at_once: usize,
    }

    /// Works on numbers from 0 on, of which these fail; those from 100 on concern all.
    async fn worked(
        numbers: impl IntoIterator<Item = usize>,
        at_once: usize,
        failing: &[usize],
    ) -> Worked {
        let (begun, running, most) = (Cell::new(0), Cell::new(0_usize), Cell::new(0));
        let work = numbers.into_iter().map(|number| {
            let (begun, running, most) = (&begun, &running, &most);
            async move {
                begun.set(begun.get() + 1);
                running.set(running.get() + 1);
                most.set(most.get().max(running.get()));
                tokio::task::yield_now().await;
                running.set(running.get() - 1);
                if failing.contains(&number) { Err(number) } else { Ok(number) }
            }
        });
        let (mut done, failure) = while_it_works(work, at_once, |number| *number >= 100).await;
        done.sort_unstable();
        Worked { done, failure, begun: begun.get(), most_at_once: most.get() }
    }

    #[tokio::test]
    async fn no_more_are_under_way_than_may_be() {
        for (at_once, most_at_once) in [(0, 1), (1, 1), (3, 3), (50, 20)] {
            let all = Worked { done: (0..20).collect(), failure: None, begun: 20, most_at_once };
            assert_eq!(worked(0..20, at_once, &[]).await, all, "{at_once}");
        }
        assert_eq!(worked(0..0, 3, &[]).await, Worked::default());
    }

    #[tokio::test]
    async fn after_a_failure_that_concerns_all_nothing_begins() {
        let end = worked(98..110, 1, &[98, 101, 102]).await;
        assert_eq!((end.done, end.failure, end.begun), (vec![99, 100], Some(101), 4));
        let end = worked(100..120, 3, &[100]).await;
        assert!((3..6).contains(&end.begun), "what has begun is finished: {end:?}");
        assert_eq!((end.failure, end.done.len()), (Some(100), end.begun - 1));
    }

    #[tokio::test]
    async fn a_few_failures_do_not_keep_the_others_back() {
        let end = worked(0..20, 2, &[0, 5]).await;
        assert_eq!((end.begun, end.failure, end.done.len()), (20, Some(0), 18));
        let end = worked(0..20, 1, &[0, 5]).await;
        assert_eq!((end.done, end.failure, end.begun), (vec![1, 2, 3, 4], Some(0), 6));
    }
}
