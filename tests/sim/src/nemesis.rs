//! The faults. Every operation of a node on the database and the bus goes through this module: the
//! seed determines its result, and the trace records it.

mod faults;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chassis::Point;
pub(crate) use faults::NodeStore;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::chance::Dice;
use crate::plan::{Plan, Window};
use crate::witness::Witness;

/// The largest number of crashes of one world.
const CRASHES_MAX: u64 = 12;
/// The largest number of crashes at the one point of this world.
const CRASHES_AT_MAX: u64 = 4;

/// All operations, as one number and, if wanted, in words.
#[derive(Default)]
struct Trace {
    hash: u64,
    steps: u64,
    lines: Option<Vec<String>>,
}

impl std::fmt::Write for Trace {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.hash = text.bytes().fold(self.hash, hash);
        if let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) {
            line.push_str(text);
        }
        Ok(())
    }
}

/// The number of times that a point was reached, and that a node crashed there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) times: u64,
    pub(crate) crashes: u64,
}

/// Decides which faults happen.
pub(crate) struct Nemesis {
    dice: Dice,
    plan: Plan,
    began: Instant,
    pub(crate) witness: Witness,
    state: Mutex<State>,
    crashes: mpsc::UnboundedSender<String>,
}

#[derive(Default)]
struct State {
    trace: Trace,
    calm: bool,
    /// Leased keys, according to the writes.
    leased: BTreeSet<String>,
    /// The node that is cut off from the bus.
    cut_off: Option<String>,
    crashes: u64,
    made_anew: u64,
    passed: BTreeMap<Point, Passed>,
}

impl Nemesis {
    pub(crate) fn new(
        dice: Dice,
        plan: Plan,
        keeps_lines: bool,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<String>) {
        let (crashes, crashed) = mpsc::unbounded_channel();
        let trace = Trace { lines: keeps_lines.then(Vec::new), ..Trace::default() };
        let state = Mutex::new(State { trace, ..State::default() });
        let (began, witness) = (Instant::now(), Witness::default());
        (Arc::new(Self { dice, plan, began, witness, state, crashes }), crashed)
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// No more faults from now on.
    pub(crate) fn calm_down(&self) {
        self.state.lock().unwrap().calm = true;
        self.note("nemesis", "calm");
    }

    /// Records an operation.
    pub(crate) fn note(&self, node: &str, what: impl std::fmt::Display) {
        let at = self.began.elapsed().as_millis();
        let trace = &mut self.state.lock().unwrap().trace;
        trace.steps += 1;
        if let Some(lines) = &mut trace.lines {
            lines.push(String::new());
        }
        write!(trace, "{at:>7} {node}: {what}").unwrap();
    }

    /// The trace as a number, and its number of steps.
    pub(crate) fn trace(&self) -> (u64, u64) {
        let trace = &self.state.lock().unwrap().trace;
        (trace.hash, trace.steps)
    }

    /// The trace in words, if it was kept.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state.lock().unwrap().trace.lines.take().unwrap_or_default()
    }

    pub(crate) fn crashes(&self) -> u64 {
        self.state.lock().unwrap().crashes
    }

    /// Records that a stream was removed, to be made anew.
    pub(crate) fn note_anew(&self, stream: &str) {
        self.note("bus", format_args!("makes {stream} anew"));
        self.state.lock().unwrap().made_anew += 1;
    }

    /// The number of streams that were made anew.
    pub(crate) fn made_anew(&self) -> u64 {
        self.state.lock().unwrap().made_anew
    }

    /// The points that were reached.
    pub(crate) fn passed(&self) -> BTreeMap<Point, Passed> {
        self.state.lock().unwrap().passed.clone()
    }

    /// A key that is leased.
    pub(crate) fn some_lease(&self) -> Option<String> {
        let keys: Vec<_> = self.state.lock().unwrap().leased.iter().cloned().collect();
        if keys.is_empty() { None } else { Some(self.dice.pick(&keys).clone()) }
    }

    /// Cuts a node off from the bus, or none; returns the node that was cut off before.
    pub(crate) fn cut_off(&self, node: Option<String>) -> Option<String> {
        std::mem::replace(&mut self.state.lock().unwrap().cut_off, node)
    }

    /// The error of a node's clock, in milliseconds.
    pub(crate) fn some_skew(&self) -> i64 {
        let max = self.plan.skew_max_ms;
        if max == 0 || self.is_calm() {
            return 0;
        }
        i64::try_from(self.dice.below(2 * max)).unwrap_or_default() - max.cast_signed()
    }

    /// No faults happen now.
    pub(crate) fn is_calm(&self) -> bool {
        self.state.lock().unwrap().calm || self.began.elapsed() > self.plan.lasts
    }

    fn is_within(&self, window: Option<Window>) -> bool {
        let now = self.began.elapsed();
        window.is_some_and(|(from, to)| from <= now && now < to)
    }

    fn is_cut_off(&self, node: &str) -> bool {
        self.state.lock().unwrap().cut_off.as_deref() == Some(node)
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

    /// Crashes a node; true when it is down.
    fn crash(&self, node: &str, odds: u64) -> bool {
        if self.is_calm() || is_client(node) || !self.dice.hits(odds) {
            return false;
        }
        if self.crashes() >= CRASHES_MAX {
            return false;
        }
        self.note(node, "crashes");
        self.state.lock().unwrap().crashes += 1;
        self.crashes.send(node.to_owned()).is_ok()
    }

    /// Crashes a node at a point with some probability; true if it is down.
    fn crash_at(&self, node: &str, point: Point) -> bool {
        let passed = {
            let mut state = self.state.lock().unwrap();
            let passed = state.passed.entry(point).or_default();
            passed.times += 1;
            *passed
        };
        let is_the_one = self.plan.crash_at == Some(point) && passed.crashes < CRASHES_AT_MAX;
        let odds = if is_the_one { 6_000 } else { self.plan.crash_rate };
        if !self.crash(node, odds) {
            return false;
        }
        self.state.lock().unwrap().passed.entry(point).or_default().crashes += 1;
        true
    }
}

fn is_client(node: &str) -> bool {
    node.starts_with("client") || node.is_empty()
}
