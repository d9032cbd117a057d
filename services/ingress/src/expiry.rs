//! The time of removals of expired requests with an `Idempotency-Key`: from time to time one
//! request starts a removal.

use std::sync::atomic::{AtomicI64, Ordering};

use model::Timestamp;

/// Time between two removals, in milliseconds.
const PAUSE_MS: i64 = 60_000;

/// The time of the last removal.
#[derive(Debug, Default)]
pub(crate) struct Expiry(AtomicI64);

impl Expiry {
    /// Whether the next removal is due; true for only one of several simultaneous calls.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let (last, now) = (self.0.load(Ordering::Relaxed), now.as_millis());
        now.saturating_sub(last) >= PAUSE_MS
            && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_is_due_once_in_a_while() {
        let (expiry, at) = (Expiry::default(), Timestamp::from_millis);
        assert!(expiry.is_due(at(PAUSE_MS)) && !expiry.is_due(at(PAUSE_MS)));
        assert!(!expiry.is_due(at(2 * PAUSE_MS - 1)) && expiry.is_due(at(2 * PAUSE_MS)));
    }
}
