//! The rates of faults in one world, drawn from its seed.

use std::time::Duration;

use chassis::Point;

use crate::chance::Dice;

/// The faults of one world. Rates are per ten thousand operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The time during which faults happen.
    pub(crate) lasts: Duration,
    pub(crate) bus_rate: u64,
    pub(crate) store_rate: u64,
    pub(crate) slow_rate: u64,
    pub(crate) slow_max_ms: u64,
    pub(crate) crash_rate: u64,
    /// The points where nodes crash.
    pub(crate) crash_at: Option<Point>,
    pub(crate) lease_expires_every: Option<Duration>,
    /// Commits that take long, so that other commits overtake them.
    pub(crate) slow_commits: u64,
    /// Commits that succeed after their caller got "result unknown".
    pub(crate) late_commits: u64,
    /// Changes that a watch reports late.
    pub(crate) lag_rate: u64,
    pub(crate) lag_max_ms: u64,
    pub(crate) redelivers_every: Option<Duration>,
    pub(crate) bus_outage: Option<Window>,
    pub(crate) store_outage: Option<Window>,
    /// One node is cut off from the bus in both directions.
    pub(crate) partition: Option<Window>,
    pub(crate) wipe_at: Option<Duration>,
    /// The largest error of nodes' clocks, which jump from time to time.
    pub(crate) skew_max_ms: u64,
    /// Nodes stop in order, and others join.
    pub(crate) moves_every: Option<Duration>,
    /// The stream of tasks is removed, and made anew at once.
    pub(crate) tasks_anew_every: Option<Duration>,
    /// The stream that workflows listen to is removed, and made anew a little later.
    pub(crate) outer_anew_every: Option<Duration>,
    /// Acknowledgements that arrive late: the message may be delivered again, or its stream be made
    /// anew before.
    pub(crate) late_acks: u64,
}

/// The beginning and the end of a fault.
pub(crate) type Window = (Duration, Duration);

impl Plan {
    /// A world without faults.
    pub(crate) fn calm() -> Self {
        Self { lasts: Duration::from_secs(5), ..Self::default() }
    }

    /// Some worlds have a kind of fault and others do not, so that no kind of fault hides another.
    pub(crate) fn draw(seed: u64, dice: &Dice) -> Self {
        let some = |of: u64, rate: u64| if dice.below(of) == 0 { 0 } else { 1 + dice.below(rate) };
        let lasts = Duration::from_secs(15 + dice.below(20));
        let within = || {
            let from = dice.millis(12_000);
            (from, from + Duration::from_secs(1) + dice.millis(9_000))
        };
        let sometimes = |of: u64| dice.below(of) == 0;
        let rare = |of: u64, rate: u64| if sometimes(of) { 1 + dice.below(rate) } else { 0 };
        let place = usize::try_from(seed).unwrap_or_default() % Point::ALL.len();
        Self {
            lasts,
            bus_rate: some(3, 600),
            store_rate: some(3, 400),
            slow_rate: some(3, 400),
            slow_max_ms: *dice.pick(&[300, 1_500, 6_000]),
            crash_rate: some(3, 60),
            crash_at: (!sometimes(4)).then(|| Point::ALL[place]),
            lease_expires_every: sometimes(2).then(|| Duration::from_millis(50 + dice.below(800))),
            slow_commits: some(2, 3_000),
            late_commits: rare(3, 400),
            lag_rate: rare(2, 3_000),
            lag_max_ms: *dice.pick(&[50, 500, 4_000]),
            redelivers_every: sometimes(3).then(|| Duration::from_millis(500 + dice.below(4_000))),
            bus_outage: sometimes(4).then(within),
            store_outage: sometimes(4).then(within),
            partition: sometimes(2).then(within),
            wipe_at: sometimes(4).then(|| Duration::from_secs(1) + dice.millis(12_000)),
            skew_max_ms: rare(3, 20_000),
            moves_every: sometimes(3).then(|| Duration::from_millis(1_000 + dice.below(6_000))),
            tasks_anew_every: sometimes(3)
                .then(|| Duration::from_millis(3_000 + dice.below(6_000))),
            outer_anew_every: sometimes(3)
                .then(|| Duration::from_millis(2_000 + dice.below(6_000))),
            late_acks: some(3, 2_000),
        }
    }
}
