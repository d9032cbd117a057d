//! Pauses between tries.

use std::time::Duration;

use crate::Chance;

/// The pauses between tries of the same thing: each is twice as long as the one before, up to a
/// maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    next: Duration,
}

impl Backoff {
    /// Begins with a pause of `base`; no pause is longer than `cap`.
    #[must_use]
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, next: base }
    }

    /// The next pause, whole: for tries that no other process makes at the same time.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> Duration {
        let pause = self.next.min(self.cap);
        self.next = self.next.saturating_mul(2).min(self.cap);
        pause
    }

    /// The next pause, shortened by up to a half: for tries that many processes make at the same
    /// time.
    pub fn jittered(&mut self, chance: &dyn Chance) -> Duration {
        spread(self.next(), chance.number())
    }

    /// The pause after this many tries, shortened by up to a half. `number` varies it; the same
    /// number gives the same pause. For tries that are counted elsewhere.
    #[must_use]
    pub fn after(&self, tries: u32, number: u64) -> Duration {
        let doublings = tries.saturating_sub(1).min(31);
        spread(self.base.saturating_mul(1 << doublings).min(self.cap), number)
    }

    /// Begins again with the first pause.
    pub fn reset(&mut self) {
        self.next = self.base;
    }
}

/// Between a half and the whole of a pause.
fn spread(pause: Duration, number: u64) -> Duration {
    const PARTS: u64 = 1_000;
    let part = u32::try_from(number % PARTS).unwrap_or(0);
    let half = pause / 2;
    half + half * part / u32::try_from(PARTS).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    struct Fixed(u64);
    impl Chance for Fixed {
        fn new_id(&self) -> String {
            self.0.to_string()
        }

        fn seed(&self) -> [u8; 32] {
            [0; 32]
        }

        fn number(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_again() {
        let mut backoff = Backoff::new(50 * MS, 300 * MS);
        let pauses: Vec<_> = (0..5).map(|_| backoff.next()).collect();
        assert_eq!(pauses, [50 * MS, 100 * MS, 200 * MS, 300 * MS, 300 * MS]);
        backoff.reset();
        assert_eq!(backoff.next(), 50 * MS);
        assert_eq!(Backoff::new(MS * 9, MS).next(), MS);
    }

    #[test]
    fn chance_shortens_a_pause_by_half_at_most() {
        for (number, expected) in
            [(0, 50 * MS), (500, 75 * MS), (u64::MAX, 50 * MS + 50 * MS * 615 / 1_000)]
        {
            let mut backoff = Backoff::new(100 * MS, 300 * MS);
            assert_eq!(backoff.jittered(&Fixed(number)), expected);
        }
    }

    #[test]
    fn tries_that_are_counted_elsewhere_have_the_same_pauses() {
        let backoff = Backoff::new(100 * MS, 1_000 * MS);
        for (tries, expected) in [(0, 50), (1, 50), (2, 100), (4, 400), (5, 500), (u32::MAX, 500)] {
            assert_eq!(backoff.after(tries, 0), expected * MS);
        }
    }
}
