//! Random numbers from a seed: the same seed gives the same numbers.

use std::sync::Mutex;
use std::time::Duration;

/// splitmix64. Clones draw from the same series.
pub(crate) struct Dice(Mutex<u64>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// A new series, which depends only on this one and the label.
    pub(crate) fn fork(&self, label: u64) -> Self {
        let dice = Self::new(*self.0.lock().unwrap() ^ label.wrapping_mul(0xa076_1d64_78bd_642f));
        dice.next();
        dice
    }

    pub(crate) fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// True in this number of ten thousand cases.
    pub(crate) fn hits(&self, in_ten_thousand: u64) -> bool {
        self.below(10_000) < in_ten_thousand
    }

    pub(crate) fn pick<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    /// A duration below this number of milliseconds.
    pub(crate) fn millis(&self, end: u64) -> Duration {
        Duration::from_millis(self.below(end))
    }
}
