//! The metrics of the executor.

use std::sync::LazyLock;
use std::time::Duration;

use connectors::CallEnd;
use model::SubStatus;
use opentelemetry::metrics::{Counter, Gauge, Histogram, UpDownCounter};
use opentelemetry::{KeyValue, global};
use protocol::Refusal;

/// The instruments of this process.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);

pub(crate) struct Metrics {
    statuses: Counter<u64>,
    bursts: Histogram<f64>,
    commits: Histogram<f64>,
    conflicts: Counter<u64>,
    lease_waits: Histogram<f64>,
    lease_holds: Histogram<f64>,
    lease_failures: Counter<u64>,
    lease_losses: Counter<u64>,
    calls: Histogram<f64>,
    redeliveries: Counter<u64>,
    retries: Counter<u64>,
    dead: Counter<u64>,
    refusals: Counter<u64>,
    unpublished: Counter<u64>,
    outcomes_cut: Counter<u64>,
    chained: Counter<u64>,
    in_hand: UpDownCounter<i64>,
    backlog: Gauge<u64>,
    stalls: Counter<u64>,
}

impl Metrics {
    fn new() -> Self {
        let meter = global::meter("staunch-executor");
        let time = |name: &'static str, text: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(text);
            histogram.with_boundaries(chassis::SECONDS.to_vec()).build()
        };
        let count = |name: &'static str, text: &'static str| {
            meter.u64_counter(name).with_description(text).build()
        };
        meter
            .u64_observable_gauge("staunch_expression_threads_given_up")
            .with_description("Threads with an expression that did not end in its time")
            .with_callback(|gauge| {
                gauge.observe(u64::try_from(expressions::given_up()).unwrap_or(u64::MAX), &[]);
            })
            .build();
        Self {
            statuses: count("staunch_instances", "Instances that reached a sub-status"),
            bursts: time("staunch_burst_duration", "From load to commit"),
            commits: time("staunch_commit_duration", "One commit, waiting for its group included"),
            conflicts: count(
                "staunch_commit_conflicts",
                "Bursts whose instance another writer had changed",
            ),
            lease_waits: time(
                "staunch_lease_wait",
                "From the request for a lease to its acquisition",
            ),
            lease_holds: time(
                "staunch_lease_hold",
                "From the acquisition of a lease to its release",
            ),
            lease_failures: count("staunch_lease_failures", "Leases that could not be taken"),
            lease_losses: count("staunch_lease_losses", "Leases lost while they were held"),
            calls: time("staunch_call_duration", "Outgoing calls"),
            redeliveries: count("staunch_redeliveries", "Commands delivered again"),
            retries: count("staunch_retries", "Commands sent back for later"),
            dead: count("staunch_dead_letters", "Commands moved to the dead letters"),
            refusals: count(
                "staunch_refusals",
                "Commands refused, with the reason for their sender",
            ),
            unpublished: count("staunch_unpublished", "Messages left to the sweep"),
            chained: count(
                "staunch_chained_starts",
                "Starts out of long chains of instances that start each other without waiting",
            ),
            outcomes_cut: count(
                "staunch_outcomes_cut",
                "Outcomes that were too large for a message and went without their output",
            ),
            in_hand: meter
                .i64_up_down_counter("staunch_commands_in_hand")
                .with_description("Commands held by this executor")
                .build(),
            backlog: meter
                .u64_gauge("staunch_queue_backlog")
                .with_description("Commands stored and not acknowledged")
                .build(),
            stalls: count(
                "staunch_pull_stalls",
                "Times when commands waited and none was delivered",
            ),
        }
    }

    pub(crate) fn status(&self, status: SubStatus) {
        self.statuses.add(1, &[KeyValue::new("status", status.as_str())]);
    }

    pub(crate) fn burst(&self, took: Duration) {
        self.bursts.record(took.as_secs_f64(), &[]);
    }

    pub(crate) fn committed(&self, took: Duration) {
        self.commits.record(took.as_secs_f64(), &[]);
    }

    pub(crate) fn conflict(&self) {
        self.conflicts.add(1, &[]);
    }

    pub(crate) fn lease_waited(&self, waited: Duration, contended: bool) {
        self.lease_waits.record(waited.as_secs_f64(), &[KeyValue::new("contended", contended)]);
    }

    pub(crate) fn lease_held(&self, held: Duration) {
        self.lease_holds.record(held.as_secs_f64(), &[]);
    }

    pub(crate) fn lease_failed(&self, why: &'static str) {
        self.lease_failures.add(1, &[KeyValue::new("why", why)]);
    }

    pub(crate) fn lease_lost(&self) {
        self.lease_losses.add(1, &[]);
    }

    pub(crate) fn called(&self, kind: &'static str, took: Duration, end: &CallEnd) {
        let result = match end {
            CallEnd::Response { .. } => "response",
            CallEnd::Done(_) => "done",
            CallEnd::Error { kind, .. } => kind.as_str(),
        };
        let labels = [KeyValue::new("kind", kind), KeyValue::new("result", result)];
        self.calls.record(took.as_secs_f64(), &labels);
    }

    pub(crate) fn redelivered(&self) {
        self.redeliveries.add(1, &[]);
    }

    pub(crate) fn retried(&self) {
        self.retries.add(1, &[]);
    }

    pub(crate) fn parked(&self, refusal: Refusal) {
        self.dead.add(1, &[KeyValue::new("why", kind(refusal))]);
    }

    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refusals.add(1, &[KeyValue::new("why", kind(refusal))]);
    }

    pub(crate) fn unpublished(&self) {
        self.unpublished.add(1, &[]);
    }

    pub(crate) fn chained(&self, is_held: bool) {
        let what = if is_held { "held back" } else { "applied" };
        self.chained.add(1, &[KeyValue::new("what", what)]);
    }

    pub(crate) fn outcome_cut(&self) {
        self.outcomes_cut.add(1, &[]);
    }

    pub(crate) fn in_hand(&self, change: i64) {
        self.in_hand.add(change, &[]);
    }

    pub(crate) fn backlog(&self, commands: u64) {
        self.backlog.record(commands, &[]);
    }

    pub(crate) fn stalled(&self) {
        self.stalls.add(1, &[]);
    }
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
