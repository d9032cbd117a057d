//! The sources of ids and seeds. Only the edge draws from them; it passes the values to the inner
//! crates.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{Chance, Timestamp};
use uuid::Uuid;

/// The system's random source; ids are UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that others take ids from")]
    fn new_id(&self) -> String {
        Uuid::now_v7().simple().to_string()
    }

    fn seed(&self) -> [u8; 32] {
        rand::random()
    }

    fn number(&self) -> u64 {
        rand::random()
    }
}

/// The time at which [`SystemChance`] drew an id, by the clock of its machine; `None` for other ids.
#[must_use]
pub fn drawn_at(id: &str) -> Option<Timestamp> {
    let (seconds, nanos) = Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    let millis = i64::try_from(seconds).ok()?.checked_mul(1_000)?;
    Some(Timestamp::from_millis(millis + i64::from(nanos / 1_000_000)))
}

/// A random source for tests and simulations: the same seed draws the same ids in the same order.
/// Its values can be guessed.
#[derive(Debug)]
pub struct SeededChance {
    state: AtomicU64,
    ids: AtomicU64,
}

impl SeededChance {
    /// Begins a series.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed), ids: AtomicU64::new(0) }
    }

    /// The next 64 bits: splitmix64.
    pub fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Chance for SeededChance {
    fn new_id(&self) -> String {
        let count = self.ids.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(count, self.next()).simple().to_string()
    }

    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        for part in seed.chunks_exact_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes());
        }
        seed
    }

    fn number(&self) -> u64 {
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(chance: &dyn Chance) -> (Vec<String>, [u8; 32]) {
        ((0..100).map(|_| chance.new_id()).collect(), chance.seed())
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_seed_something_else() {
        assert_eq!(series(&SeededChance::new(7)), series(&SeededChance::new(7)));
        assert_ne!(series(&SeededChance::new(7)), series(&SeededChance::new(8)));
    }

    #[test]
    fn an_id_shows_when_it_was_drawn() {
        let at = drawn_at("01932c07a0007b3f8c0123456789abcd").unwrap();
        assert_eq!(at.as_millis(), 0x0193_2c07_a000);
        assert_eq!(drawn_at(&SeededChance::new(1).new_id()), None);
        assert_eq!(drawn_at("one-1"), None);
    }

    #[test]
    fn ids_are_unique_and_rise() {
        for (mut ids, _) in [series(&SystemChance), series(&SeededChance::new(1))] {
            let drawn = ids.clone();
            ids.sort();
            ids.dedup();
            assert_eq!(ids, drawn);
            assert!(ids.iter().all(|id| id.len() == 32));
        }
        assert_ne!(SystemChance.seed(), SystemChance.seed());
    }
}
