//! The parts that all cases share: the store under test, and the functions that run them.

use std::sync::Arc;
use std::time::Duration;

use crate::Store;

/// The store under test.
pub(super) type Subject = Arc<dyn Store>;

/// Runs cases one after the other, each with a fresh store.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        pub(super) async fn exercise(make: &impl AsyncFn() -> super::case::Subject) {
            $(
                let store = make().await;
                $case(std::sync::Arc::clone(&store)).await;
                store.close().await;
            )+
        }
    };
}
pub(super) use cases;

/// Runs this many tasks at the same time; returns their results in order.
pub(super) async fn at_once<T, F>(tasks: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = (0..tasks).map(|number| tokio::spawn(task(number))).collect();
    let mut results = Vec::new();
    for task in running {
        results.push(task.await.unwrap());
    }
    results
}

/// Waits until the condition holds; a promise of "soon" has a few seconds.
pub(super) async fn soon(condition: impl AsyncFn() -> bool) {
    for _ in 0..1_000 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it does not come to hold");
}
