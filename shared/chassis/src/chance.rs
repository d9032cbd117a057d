//! The sources of ids and seeds. Only the edge draws from them; it passes the values to the inner
//! crates.

use std::sync::atomic::{AtomicU64, Ordering};

use model::Chance;
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
