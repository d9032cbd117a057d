//! Chains: instances each of which starts the next without waiting for it. A chain may go on for
//! ever, but at a limited rate: a runaway chain would take up the whole cluster.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::DefinitionId;
use tokio::time::Instant;

/// The longest delay of a start that is sent back.
const LATER_MAX: Duration = Duration::from_secs(30);
/// The number of definitions whose rate is remembered, before unused ones are forgotten.
const REMEMBERED_MAX: usize = 1_000;

/// Limits the rate of starts from long chains, for each definition separately.
#[derive(Default)]
pub(crate) struct Chains(Mutex<BTreeMap<DefinitionId, Rate>>);

struct Rate {
    /// The next start may be applied from then on.
    free_at: Instant,
    /// The time for which the last start that was sent back is scheduled.
    booked_until: Instant,
}

impl Chains {
    /// None if the start may be applied now; otherwise the time until it should be delivered again.
    pub(crate) fn hold(&self, definition: &DefinitionId, per_second: u32) -> Option<Duration> {
        let every = Duration::from_secs(1) / per_second.max(1);
        let now = Instant::now();
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rates.len() >= REMEMBERED_MAX && !rates.contains_key(definition) {
            rates.retain(|_, rate| rate.free_at > now);
        }
        let fresh = Rate { free_at: now, booked_until: now };
        let rate = rates.entry(definition.clone()).or_insert(fresh);
        if rate.free_at <= now {
            rate.free_at = now + every;
            return None;
        }
        let booked = rate.booked_until.max(rate.free_at);
        let at = if booked > now + LATER_MAX { rate.free_at } else { booked };
        rate.booked_until = at + every;
        Some(at - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_definition_has_its_rate() {
        let chains = Chains::default();
        let (loops, other) = (DefinitionId::new("loops"), DefinitionId::new("other"));
        assert_eq!(chains.hold(&loops, 10), None);
        assert_eq!(chains.hold(&loops, 10), Some(Duration::from_millis(100)));
        assert_eq!(chains.hold(&loops, 10), Some(Duration::from_millis(200)));
        assert_eq!(chains.hold(&other, 10), None);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(chains.hold(&loops, 10), None);
    }

    #[tokio::test(start_paused = true)]
    async fn no_start_is_sent_back_for_long() {
        let chains = Chains::default();
        let loops = DefinitionId::new("loops");
        for _ in 0..10_000 {
            assert!(chains.hold(&loops, 10) <= Some(LATER_MAX));
        }
    }
}
