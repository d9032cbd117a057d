//! A bounded memory of what was made of a source text. Never observable: what it forgets is made
//! again, and comes out the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts remembered per language.
const ENTRIES_MAX: usize = 4_096;
/// Bytes of source text remembered per language.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Remembers one `T` per source text.
pub(crate) struct Cache<T>(Mutex<Kept<T>>);

struct Kept<T> {
    entries: HashMap<Arc<str>, Arc<T>>,
    bytes: usize,
}

impl<T> Cache<T> {
    /// Remembers nothing yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Kept { entries: HashMap::new(), bytes: 0 }))
    }

    /// What was made of `source`; made now when it is not remembered.
    pub(crate) fn get(&self, source: &str, make: impl FnOnce(&str) -> T) -> Arc<T> {
        if let Some(found) = self.lock().entries.get(source) {
            return Arc::clone(found);
        }
        // Made outside the lock: two threads may both make it, and either result will do.
        let made = Arc::new(make(source));
        let mut kept = self.lock();
        if kept.entries.len() >= ENTRIES_MAX || kept.bytes + source.len() > BYTES_MAX {
            kept.entries.clear();
            kept.bytes = 0;
        }
        if kept.entries.insert(Arc::from(source), Arc::clone(&made)).is_none() {
            kept.bytes += source.len();
        }
        made
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_and_the_memory_stays_bounded() {
        let cache = Cache::new();
        assert_eq!(*cache.get("a", str::len), 1);
        assert_eq!(*cache.get("a", |_| 99), 1);
        for number in 0..2 * ENTRIES_MAX {
            cache.get(&number.to_string(), str::len);
        }
        assert!(cache.lock().entries.len() <= ENTRIES_MAX);
        cache.get(&"x".repeat(BYTES_MAX), str::len);
        assert_eq!(cache.lock().entries.len(), 1);
    }
}
