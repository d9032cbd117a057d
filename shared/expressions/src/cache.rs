//! A bounded cache of parsed source texts. A text that the cache has dropped is parsed again, with
//! the same result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of texts in the cache of one language.
const ENTRIES_MAX: usize = 4_096;
/// Bytes of source text in the cache of one language.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Keeps one `T` for each source text.
pub(crate) struct Cache<T>(Mutex<Kept<T>>);

struct Kept<T> {
    entries: HashMap<Arc<str>, Arc<T>>,
    bytes: usize,
}

impl<T> Cache<T> {
    /// An empty cache.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Kept { entries: HashMap::new(), bytes: 0 }))
    }

    /// The `T` of `source`, made now when the cache does not have it. A failure is not kept.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn get<E>(
        &self,
        source: &str,
        make: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(found) = self.lock().entries.get(source) {
            return Ok(Arc::clone(found));
        }
        // Made outside the lock: two threads may both make it, with the same result.
        let made = Arc::new(make(source)?);
        let mut kept = self.lock();
        if kept.entries.len() >= ENTRIES_MAX || kept.bytes + source.len() > BYTES_MAX {
            kept.entries.clear();
            kept.bytes = 0;
        }
        if kept.entries.insert(Arc::from(source), Arc::clone(&made)).is_none() {
            kept.bytes += source.len();
        }
        Ok(made)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str) -> Result<usize, &'static str> {
        Ok(text.len())
    }

    #[test]
    fn a_text_is_parsed_once_and_the_cache_stays_bounded() {
        let cache = Cache::new();
        assert_eq!(cache.get("a", length), Ok(Arc::new(1)));
        assert_eq!(cache.get("a", |_| Err("parsed twice")), Ok(Arc::new(1)));
        for number in 0..2 * ENTRIES_MAX {
            cache.get(&number.to_string(), length).unwrap();
        }
        assert!(cache.lock().entries.len() <= ENTRIES_MAX);
        cache.get(&"x".repeat(BYTES_MAX), length).unwrap();
        assert_eq!(cache.lock().entries.len(), 1);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = Cache::new();
        assert_eq!(cache.get("a", |_| Err::<usize, _>("too late")), Err("too late"));
        assert_eq!(cache.get("a", length), Ok(Arc::new(1)));
    }
}
