//! The metrics of the timer service.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram};

/// The instruments of this service.
#[derive(Clone)]
pub(crate) struct Metrics {
    scheduled: Counter<u64>,
    fired: Counter<u64>,
    misfired: Counter<u64>,
    lateness: Histogram<f64>,
    window: Gauge<u64>,
    mended: Counter<u64>,
    failed_steps: Counter<u64>,
    unreadable: Counter<u64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = opentelemetry::global::meter("staunch-timer");
        let counter = |name: &'static str, what: &'static str| {
            meter.u64_counter(name).with_description(what).build()
        };
        Self {
            scheduled: counter("staunch_timers_scheduled", "Timers that came within the window"),
            fired: counter("staunch_timers_fired", "Timers and schedule occurrences fired"),
            misfired: counter("staunch_timers_misfired", "Schedule occurrences passed over"),
            lateness: meter
                .f64_histogram("staunch_timer_lateness")
                .with_description("From the due time to the firing, by the database's clock")
                .with_unit("s")
                .with_boundaries(chassis::SECONDS.to_vec())
                .build(),
            window: meter
                .u64_gauge("staunch_timers_near")
                .with_description("Timers of this node that are due soon")
                .build(),
            mended: counter("staunch_sweep_mended", "Things that the sweep found left behind"),
            failed_steps: counter("staunch_sweep_failed_steps", "Steps of the sweep that failed"),
            unreadable: counter("staunch_rows_unreadable", "Rows that could not be read"),
        }
    }

    pub(crate) fn scheduled(&self) {
        self.scheduled.add(1, &[]);
    }

    pub(crate) fn fired(&self, kind: &'static str, lateness: Duration) {
        self.fired.add(1, &[KeyValue::new("kind", kind)]);
        self.lateness.record(lateness.as_secs_f64(), &[KeyValue::new("kind", kind)]);
    }

    pub(crate) fn misfired(&self, count: u32) {
        self.misfired.add(u64::from(count), &[]);
    }

    pub(crate) fn near(&self, count: usize) {
        self.window.record(u64::try_from(count).unwrap_or(u64::MAX), &[]);
    }

    pub(crate) fn step_failed(&self, step: &'static str) {
        self.failed_steps.add(1, &[KeyValue::new("step", step)]);
    }

    pub(crate) fn unreadable(&self, table: &'static str) {
        self.unreadable.add(1, &[KeyValue::new("table", table)]);
    }

    pub(crate) fn mended(&self, what: &'static str, count: u64) {
        self.mended.add(count, &[KeyValue::new("what", what)]);
    }
}
