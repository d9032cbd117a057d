//! The metrics of the executor: what it counts, as labels.

use std::time::Duration;

use connectors::CallEnd;
use model::{SubStatus, Timestamp};
use protocol::Refusal;

/// The metrics of this process.
pub(crate) static METRICS: Metrics = Metrics;

pub(crate) struct Metrics;

impl Metrics {
    pub(crate) fn status(&self, status: SubStatus) {
        meter::INSTANCES.inc(&[status.as_str()]);
    }

    /// An instance has ended.
    pub(crate) fn ended(&self, status: SubStatus, created: Timestamp, ended: Timestamp) {
        meter::WORKFLOW_DURATION.record(&[status.as_str()], ended.since(created));
    }

    pub(crate) fn burst(&self, took: Duration) {
        meter::BURST_DURATION.record(&[], took);
    }

    pub(crate) fn committed(&self, took: Duration) {
        meter::COMMIT_DURATION.record(&[], took);
    }

    pub(crate) fn conflict(&self) {
        meter::COMMIT_CONFLICTS.inc(&[]);
    }

    pub(crate) fn lease_waited(&self, waited: Duration, contended: bool) {
        let contended = if contended { "true" } else { "false" };
        meter::LEASE_WAIT.record(&[contended], waited);
    }

    pub(crate) fn lease_held(&self, held: Duration) {
        meter::LEASE_HOLD.record(&[], held);
    }

    pub(crate) fn lease_failed(&self, why: &'static str) {
        meter::LEASE_FAILURES.inc(&[why]);
    }

    pub(crate) fn lease_lost(&self) {
        meter::LEASE_LOSSES.inc(&[]);
    }

    pub(crate) fn called(&self, kind: &'static str, took: Duration, end: &CallEnd) {
        let result = match end {
            CallEnd::Response { .. } => "response",
            CallEnd::Done(_) => "done",
            CallEnd::Error { kind, .. } => kind.as_str(),
        };
        meter::CALL_DURATION.record(&[kind, result], took);
    }

    pub(crate) fn redelivered(&self) {
        meter::REDELIVERIES.inc(&[]);
    }

    pub(crate) fn retried(&self) {
        meter::RETRIES.inc(&[]);
    }

    pub(crate) fn parked(&self, refusal: Refusal) {
        meter::DEAD_LETTERS.inc(&[kind(refusal)]);
    }

    pub(crate) fn refused(&self, refusal: Refusal) {
        meter::REFUSALS.inc(&[kind(refusal)]);
    }

    pub(crate) fn unpublished(&self) {
        meter::UNPUBLISHED.inc(&[]);
    }

    pub(crate) fn chained(&self, is_held: bool) {
        meter::CHAINED_STARTS.inc(&[if is_held { "held back" } else { "applied" }]);
    }

    pub(crate) fn outcome_cut(&self) {
        meter::OUTCOMES_CUT.inc(&[]);
    }

    pub(crate) fn in_hand(&self, change: i32) {
        meter::COMMANDS_IN_HAND.add(&[], change);
    }

    pub(crate) fn backlog(&self, commands: u64) {
        meter::QUEUE_BACKLOG.set(&[], commands);
    }

    pub(crate) fn stalled(&self) {
        meter::PULL_STALLS.inc(&[]);
    }
}

/// Shows the threads with expressions that were given up, at each scrape.
pub(crate) fn watch_expressions() {
    meter::at_scrape(|| {
        let given_up = u64::try_from(expressions::given_up()).unwrap_or(u64::MAX);
        meter::EXPRESSION_THREADS_GIVEN_UP.set(&[], given_up);
        true
    });
}

/// A refusal as a label of metrics and a kind of log lines.
pub(crate) fn kind(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Garbled => "garbled",
        Refusal::NotFound => "not found",
        Refusal::AlreadyDone => "already done",
        Refusal::Waiting => "waiting",
        Refusal::StillRunning => "still running",
        Refusal::Ambiguous => "ambiguous",
        Refusal::Unfit => "unfit",
        Refusal::NotAllowed => "not allowed",
        Refusal::Dead => "dead",
    }
}
