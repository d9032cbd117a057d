//! Reads that several requests ask for at the same moment, done once.
//!
//! A request gets the result of a read that began after it had asked, so it sees every change that was
//! committed before: this is no cache. While one read of a key is under way, those who ask for the same
//! key wait and share the next one. A request that comes alone reads at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Turns, OnceCell};

/// The reads of one kind, by key. A key has an entry as long as somebody asks for it.
pub(crate) struct Together<T>(Mutex<HashMap<String, Reads<T>>>);

/// The reads of one key.
struct Reads<T> {
    /// Held by the read that is under way.
    turn: Arc<Turns<()>>,
    /// The read that has not begun.
    next: Option<Arc<OnceCell<T>>>,
}

/// One request's part in the reads of a key. The last one removes the entry, also where requests are
/// given up.
struct Asking<'a, T> {
    all: &'a Together<T>,
    key: &'a str,
    turn: Arc<Turns<()>>,
    shared: Arc<OnceCell<T>>,
}

impl<T> Default for Together<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Default for Reads<T> {
    fn default() -> Self {
        Self { turn: Arc::default(), next: None }
    }
}

impl<T: Clone> Together<T> {
    /// The result of a read of this key that begins from now on: of `read`, or of another request's.
    pub(crate) async fn get(&self, key: &str, read: impl Future<Output = T>) -> T {
        let asking = self.join(key);
        let begun = async {
            let _turn = asking.turn.lock().await;
            asking.begin();
            read.await
        };
        asking.shared.get_or_init(|| begun).await.clone()
    }

    fn join<'a>(&'a self, key: &'a str) -> Asking<'a, T> {
        let mut keys = self.keys();
        let reads = keys.entry(key.to_owned()).or_default();
        let shared = Arc::clone(reads.next.get_or_insert_default());
        Asking { all: self, key, turn: Arc::clone(&reads.turn), shared }
    }
}

impl<T> Together<T> {
    fn keys(&self) -> MutexGuard<'_, HashMap<String, Reads<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Asking<'_, T> {
    /// Who asks from now on waits for the read after this one.
    fn begin(&self) {
        if let Some(reads) = self.all.keys().get_mut(self.key) {
            reads.next.take_if(|next| Arc::ptr_eq(next, &self.shared));
        }
    }
}

impl<T> Drop for Asking<'_, T> {
    fn drop(&mut self) {
        let mut keys = self.all.keys();
        // One is the entry's own, one this request's.
        if keys.get(self.key).is_some_and(|reads| Arc::strong_count(&reads.turn) <= 2) {
            keys.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::FutureExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    /// A source whose reads take until they are let go, and count.
    struct Source {
        reads: AtomicU32,
        value: AtomicU32,
        gate: Semaphore,
    }

    impl Source {
        fn new() -> Self {
            let (reads, value) = (AtomicU32::new(0), AtomicU32::new(1));
            Self { reads, value, gate: Semaphore::new(0) }
        }

        async fn read(&self) -> u32 {
            self.reads.fetch_add(1, Ordering::SeqCst);
            let seen = self.value.load(Ordering::SeqCst);
            self.gate.acquire().await.unwrap().forget();
            seen
        }
    }

    #[tokio::test]
    async fn requests_of_the_same_moment_share_a_read_that_began_after_they_asked() {
        let (together, source) = (Together::default(), Source::new());
        let mut first = Box::pin(together.get("key", source.read()));
        assert!(first.as_mut().now_or_never().is_none());
        source.value.store(2, Ordering::SeqCst);
        let mut later: Vec<_> =
            (0..100).map(|_| Box::pin(together.get("key", source.read()))).collect();
        for request in &mut later {
            assert!(request.as_mut().now_or_never().is_none());
        }
        let mut other = Box::pin(together.get("other key", source.read()));
        assert!(other.as_mut().now_or_never().is_none());
        assert_eq!(source.reads.load(Ordering::SeqCst), 2, "another key waits for nobody");
        source.gate.add_permits(10);
        assert_eq!(first.await, 1);
        for request in later {
            assert_eq!(request.await, 2, "what was changed before they asked is seen");
        }
        other.await;
        assert_eq!(source.reads.load(Ordering::SeqCst), 3);
        assert!(together.keys().is_empty(), "nothing is kept");
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_takes_nobody_with_it() {
        let (together, source) = (Together::default(), Source::new());
        let mut given_up = Box::pin(together.get("key", source.read()));
        assert!(given_up.as_mut().now_or_never().is_none());
        let mut second = Box::pin(together.get("key", source.read()));
        let mut third = Box::pin(together.get("key", source.read()));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(third.as_mut().now_or_never().is_none());
        drop(given_up);
        assert!(second.as_mut().now_or_never().is_none(), "it reads now");
        drop(second);
        source.gate.add_permits(1);
        assert_eq!(third.await, 1);
        assert!(together.keys().is_empty(), "nothing is kept");
    }
}
