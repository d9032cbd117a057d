//! What goes wrong. Everything that a node does to the world passes here: the seed decides what
//! happens to it, and it is written down in the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bus::{Bucket, Fault};
use executor::{Point, Points};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::chance::Dice;
use crate::planted::Planted;

/// How much goes wrong in one world. Rates are in ten thousand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Faults happen for this long.
    pub(crate) lasts: Duration,
    pub(crate) bus_rate: u64,
    pub(crate) store_rate: u64,
    pub(crate) slow_rate: u64,
    pub(crate) slow_max_ms: u64,
    pub(crate) crash_rate: u64,
    pub(crate) lease_expires_every: Option<Duration>,
    /// Commits that take long, while others get in.
    pub(crate) slow_commits: u64,
    pub(crate) redelivers_every: Option<Duration>,
    pub(crate) bus_outage: Option<(Duration, Duration)>,
    pub(crate) store_outage: Option<(Duration, Duration)>,
    /// One node does not reach the bus.
    pub(crate) partition: Option<(Duration, Duration)>,
    pub(crate) wipe_at: Option<Duration>,
}

impl Plan {
    /// A world in which nothing goes wrong.
    pub(crate) fn calm() -> Self {
        Self { lasts: Duration::from_secs(5), ..Self::default() }
    }

    /// Each kind of fault is there in some worlds and not in others, so that none hides another.
    pub(crate) fn draw(dice: &Dice) -> Self {
        let some = |of: u64, rate: u64| if dice.below(of) == 0 { 0 } else { 1 + dice.below(rate) };
        let lasts = Duration::from_secs(15 + dice.below(20));
        let within = || {
            let from = dice.millis(12_000);
            (from, from + Duration::from_secs(1) + dice.millis(9_000))
        };
        let sometimes = |of: u64| dice.below(of) == 0;
        Self {
            lasts,
            bus_rate: some(3, 600),
            store_rate: some(3, 400),
            slow_rate: some(3, 400),
            slow_max_ms: *dice.pick(&[300, 1_500, 6_000]),
            crash_rate: some(3, 60),
            lease_expires_every: sometimes(2).then(|| Duration::from_millis(50 + dice.below(800))),
            slow_commits: some(2, 3_000),
            redelivers_every: sometimes(3).then(|| Duration::from_millis(500 + dice.below(4_000))),
            bus_outage: sometimes(4).then(within),
            store_outage: sometimes(4).then(within),
            partition: sometimes(3).then(within),
            wipe_at: sometimes(4).then(|| Duration::from_secs(1) + dice.millis(12_000)),
        }
    }
}

/// Takes down at most this many nodes: what fails all the time is another matter.
const CRASHES_MAX: u64 = 12;

/// Everything that was done, as one number and, where it is wanted, in words.
#[derive(Default)]
struct Trace {
    hash: u64,
    steps: u64,
    lines: Option<Vec<String>>,
}

/// Decides what goes wrong.
pub(crate) struct Nemesis {
    dice: Dice,
    plan: Plan,
    began: Instant,
    planted: Option<Planted>,
    state: Mutex<State>,
    crashes: mpsc::UnboundedSender<String>,
}

#[derive(Default)]
struct State {
    trace: Trace,
    calm: bool,
    /// Keys that are leased, as far as the writes tell.
    leased: BTreeSet<String>,
    victim: Option<String>,
    crashed: BTreeMap<String, u64>,
}

impl Nemesis {
    pub(crate) fn new(
        dice: Dice,
        plan: Plan,
        planted: Option<Planted>,
        keeps_lines: bool,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<String>) {
        let (crashes, crashed) = mpsc::unbounded_channel();
        let lines = keeps_lines.then(Vec::new);
        let trace = Trace { lines, ..Trace::default() };
        let state = Mutex::new(State { trace, ..State::default() });
        (Arc::new(Self { dice, plan, began: Instant::now(), planted, state, crashes }), crashed)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// No more faults from now on.
    pub(crate) fn calm_down(&self) {
        self.state.lock().unwrap().calm = true;
        self.note("nemesis", "calm");
    }

    pub(crate) fn note(&self, node: &str, what: &str) {
        let at = self.began.elapsed().as_millis();
        let line = format!("{at:>7} {node}: {what}");
        let trace = &mut self.state.lock().unwrap().trace;
        trace.steps += 1;
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        trace.hash = line.bytes().fold(trace.hash, hash);
        if let Some(lines) = &mut trace.lines {
            lines.push(line);
        }
    }

    /// The trace as a number, and how many steps it has.
    pub(crate) fn trace(&self) -> (u64, u64) {
        let trace = &self.state.lock().unwrap().trace;
        (trace.hash, trace.steps)
    }

    /// The trace in words, if it was to be kept.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state.lock().unwrap().trace.lines.take().unwrap_or_default()
    }

    pub(crate) fn crashes(&self) -> u64 {
        self.state.lock().unwrap().crashed.values().sum()
    }

    /// A key that is leased.
    pub(crate) fn some_lease(&self) -> Option<String> {
        let keys: Vec<_> = self.state.lock().unwrap().leased.iter().cloned().collect();
        if keys.is_empty() { None } else { Some(self.dice.pick(&keys).clone()) }
    }

    fn is_calm(&self) -> bool {
        self.state.lock().unwrap().calm || self.began.elapsed() > self.plan.lasts
    }

    fn is_within(&self, window: Option<(Duration, Duration)>) -> bool {
        let now = self.began.elapsed();
        window.is_some_and(|(from, to)| from <= now && now < to)
    }

    fn is_cut_off(&self, node: &str) -> bool {
        if !self.is_within(self.plan.partition) {
            return false;
        }
        let mut state = self.state.lock().unwrap();
        state.victim.get_or_insert_with(|| node.to_owned()) == node
    }

    fn pause(&self) -> Duration {
        if self.is_calm() {
            return Duration::from_millis(1);
        }
        if self.dice.hits(self.plan.slow_rate) {
            return self.dice.millis(self.plan.slow_max_ms);
        }
        self.dice.millis(4)
    }

    /// Takes a node down; true when it is.
    fn crash(&self, node: &str, odds: u64) -> bool {
        if self.is_calm() || is_client(node) || !self.dice.hits(odds) {
            return false;
        }
        if self.crashes() >= CRASHES_MAX {
            return false;
        }
        self.note(node, "crashes");
        *self.state.lock().unwrap().crashed.entry(node.to_owned()).or_default() += 1;
        self.crashes.send(node.to_owned()).is_ok()
    }
}

fn is_client(node: &str) -> bool {
    node.starts_with("client") || node.is_empty()
}

impl bus::Faults for Nemesis {
    fn on(&self, node: &str, operation: &bus::Operation<'_>) -> Fault {
        self.note(node, &format!("{operation:?}"));
        match operation {
            bus::Operation::PutIf { bucket: Bucket::Leases, key } => {
                self.state.lock().unwrap().leased.insert((*key).to_owned());
            }
            bus::Operation::PurgeIf { bucket: Bucket::Leases, key } => {
                self.state.lock().unwrap().leased.remove(*key);
            }
            _ => {}
        }
        if self.is_calm() || node.is_empty() {
            return Fault::None;
        }
        if self.is_within(self.plan.bus_outage) || self.is_cut_off(node) {
            return Fault::Unavailable;
        }
        // A crash at an operation: done or not, nobody is left to hear the answer.
        if self.crash(node, self.plan.crash_rate / 4) {
            return *self.dice.pick(&[Fault::Unavailable, Fault::AnswerLost]);
        }
        if !self.dice.hits(self.plan.bus_rate) {
            return Fault::None;
        }
        let kinds: &[Fault] = match operation {
            bus::Operation::Publish { .. } => {
                &[Fault::Unavailable, Fault::Lost, Fault::AnswerLost, Fault::Twice]
            }
            bus::Operation::PutIf { .. } | bus::Operation::PurgeIf { .. } => {
                &[Fault::Unavailable, Fault::Lost, Fault::AnswerLost, Fault::Refused]
            }
            bus::Operation::Send { .. } => &[Fault::Lost, Fault::Twice],
            bus::Operation::Ack { .. }
            | bus::Operation::Retry { .. }
            | bus::Operation::Progress { .. }
            | bus::Operation::Pull => &[Fault::Lost, Fault::Unavailable],
            bus::Operation::Read { .. }
            | bus::Operation::Get { .. }
            | bus::Operation::Watch { .. } => &[Fault::Unavailable],
            bus::Operation::Request { .. } | bus::Operation::Subscribe { .. } => &[Fault::None],
        };
        *self.dice.pick(kinds)
    }

    fn delay(&self, node: &str, _operation: &bus::Operation<'_>) -> Duration {
        if node.is_empty() { Duration::ZERO } else { self.pause() }
    }
}

/// The database as one node sees it.
pub(crate) struct NodeStore {
    pub(crate) node: String,
    pub(crate) nemesis: Arc<Nemesis>,
}

#[async_trait]
impl store::memory::Faults for NodeStore {
    async fn before(&self, operation: store::memory::Operation) -> Result<(), store::Error> {
        let nemesis = &self.nemesis;
        tokio::time::sleep(nemesis.pause()).await;
        let is_commit = operation == store::memory::Operation::Commit;
        if is_commit && !nemesis.is_calm() && nemesis.dice.hits(nemesis.plan.slow_commits) {
            tokio::time::sleep(nemesis.dice.millis(1_500)).await;
        }
        nemesis.note(&self.node, &format!("{operation:?}"));
        if nemesis.is_calm() {
            return Ok(());
        }
        let is_away = nemesis.is_within(nemesis.plan.store_outage);
        let is_hit = nemesis.dice.hits(nemesis.plan.store_rate);
        if is_away || is_hit || nemesis.crash(&self.node, nemesis.plan.crash_rate / 4) {
            return Err(store::Error::Unavailable("on purpose".to_owned()));
        }
        Ok(())
    }

    async fn after(&self, operation: store::memory::Operation) -> Result<(), store::Error> {
        let nemesis = &self.nemesis;
        if nemesis.is_calm() || !operation.writes() {
            return Ok(());
        }
        let is_hit = nemesis.dice.hits(nemesis.plan.store_rate);
        if is_hit || nemesis.crash(&self.node, nemesis.plan.crash_rate / 2) {
            nemesis.note(&self.node, "is not told");
            return Err(store::Error::Unavailable("the answer was lost, on purpose".to_owned()));
        }
        Ok(())
    }

    fn has(&self, bug: store::memory::Bug) -> bool {
        self.nemesis.planted == Some(Planted::Store(bug))
    }
}

#[async_trait]
impl Points for Nemesis {
    async fn at(&self, node: &str, point: Point) {
        self.note(node, point.name());
        if self.crash(node, self.plan.crash_rate) {
            std::future::pending::<()>().await;
        }
        if !self.is_calm() && self.dice.hits(self.plan.slow_rate) {
            tokio::time::sleep(self.dice.millis(self.plan.slow_max_ms)).await;
        }
    }
}
