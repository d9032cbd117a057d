//! The metrics of the timer service: what it counts, as labels.

use std::time::Duration;

/// The metrics of this service.
#[derive(Clone)]
pub(crate) struct Metrics;

impl Metrics {
    pub(crate) fn scheduled(&self) {
        meter::TIMERS_SCHEDULED.inc(&[]);
    }

    pub(crate) fn fired(&self, kind: &'static str, lateness: Duration) {
        meter::TIMERS_FIRED.inc(&[kind]);
        meter::TIMER_LATENESS.record(&[kind], lateness);
    }

    pub(crate) fn misfired(&self, count: u32) {
        meter::TIMERS_MISFIRED.add(&[], u64::from(count));
    }

    pub(crate) fn near(&self, count: usize) {
        meter::TIMERS_NEAR.set(&[], u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(crate) fn step_failed(&self, step: &'static str) {
        meter::SWEEP_FAILED_STEPS.inc(&[step]);
    }

    pub(crate) fn unreadable(&self, table: &'static str) {
        meter::ROWS_UNREADABLE.inc(&[table]);
    }

    pub(crate) fn retired(&self, what: &'static str, count: u64) {
        meter::RETENTION_REMOVED.add(&[what], count);
    }

    pub(crate) fn mended(&self, what: &'static str, count: u64) {
        meter::SWEEP_MENDED.add(&[what], count);
    }
}
