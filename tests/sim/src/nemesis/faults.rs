//! The hooks of the twins: each operation asks here for its result.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bus::{Bucket, Fault, Operation};
use chassis::{Point, Points};
use store::memory::Written;

use super::{Nemesis, is_client};

/// Longer than a delivered command waits for its answer.
const LATE_MAX_MS: u64 = 8_000;

impl bus::Faults for Nemesis {
    fn on(&self, node: &str, operation: &Operation<'_>) -> Fault {
        self.note(node, format_args!("{operation:?}"));
        match operation {
            Operation::PutIf { bucket: Bucket::Leases, key } => {
                self.state.lock().unwrap().leased.insert((*key).to_owned());
            }
            Operation::PurgeIf { bucket: Bucket::Leases, key } => {
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
        // A crash during an operation: its caller is gone, whether it was done or not.
        if self.crash(node, self.plan.crash_rate / 4) {
            return *self.dice.pick(&[Fault::Unavailable, Fault::AnswerLost]);
        }
        let is_ack = matches!(operation, Operation::Ack { .. });
        if is_ack && self.dice.hits(self.plan.late_acks) {
            return Fault::Late(self.dice.millis(LATE_MAX_MS));
        }
        if !self.dice.hits(self.plan.bus_rate) {
            return Fault::None;
        }
        self.fault(operation)
    }

    fn delay(&self, node: &str, _operation: &Operation<'_>) -> Duration {
        if node.is_empty() { Duration::ZERO } else { self.pause() }
    }

    fn lag(&self, node: &str, _bucket: Bucket) -> Duration {
        let is_late = !self.is_calm() && !is_client(node) && self.dice.hits(self.plan.lag_rate);
        if is_late { self.dice.millis(self.plan.lag_max_ms) } else { Duration::ZERO }
    }
}

impl Nemesis {
    fn fault(&self, operation: &Operation<'_>) -> Fault {
        let late = Fault::Late(self.dice.millis(LATE_MAX_MS));
        let kinds: &[Fault] = match operation {
            Operation::Publish { .. } => {
                &[Fault::Unavailable, Fault::Lost, Fault::AnswerLost, Fault::Twice, late]
            }
            Operation::PutIf { .. } | Operation::PurgeIf { .. } => {
                &[Fault::Unavailable, Fault::Lost, Fault::AnswerLost, Fault::Refused, late]
            }
            Operation::Send { .. } => &[Fault::Lost, Fault::Twice],
            Operation::Pull => &[Fault::Lost, Fault::Unavailable, Fault::Reordered, late],
            Operation::Ack { .. } | Operation::Retry { .. } | Operation::Progress { .. } => {
                &[Fault::Lost, Fault::Unavailable, late]
            }
            Operation::Get { .. } => &[Fault::Unavailable, Fault::Stale],
            Operation::Read { .. } | Operation::Entries { .. } | Operation::Watch { .. } => {
                &[Fault::Unavailable]
            }
            Operation::Request { .. } | Operation::Subscribe { .. } => &[Fault::None],
        };
        *self.dice.pick(kinds)
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
        nemesis.note(&self.node, format_args!("{operation:?}"));
        if nemesis.is_calm() {
            return Ok(());
        }
        let is_away = nemesis.is_within(nemesis.plan.store_outage);
        let is_hit = nemesis.dice.hits(nemesis.plan.store_rate);
        if is_away || is_hit || nemesis.crash(&self.node, nemesis.plan.crash_rate / 4) {
            return Err(store::Error::Unavailable("injected fault".to_owned()));
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
            return Err(store::Error::Unavailable(
                "injected fault: the answer was lost".to_owned(),
            ));
        }
        Ok(())
    }

    fn late(&self, _operation: store::memory::Operation) -> Option<Duration> {
        let nemesis = &self.nemesis;
        let is_late = !nemesis.is_calm() && nemesis.dice.hits(nemesis.plan.late_commits);
        is_late.then(|| nemesis.dice.millis(3_000))
    }

    fn witness(&self, written: &Written<'_>) {
        self.nemesis.witness.see(written);
    }
}

#[async_trait]
impl Points for Nemesis {
    async fn at(&self, node: &str, point: Point) {
        self.note(node, point.name());
        if self.crash_at(node, point) {
            std::future::pending::<()>().await;
        }
        if !self.is_calm() && self.dice.hits(self.plan.slow_rate) {
            tokio::time::sleep(self.dice.millis(self.plan.slow_max_ms)).await;
        }
    }
}
