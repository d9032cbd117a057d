//! The log lines and metrics of a burst.

use std::time::Duration;

use crate::burst::Known;
use crate::metrics::METRICS;
use crate::stop::Stop;
use crate::tenure::Tenure;
use crate::work::Work;

/// One line per change in the life of an instance.
pub(crate) fn committed(tenure: &Tenure, is_change: bool, work: &Work, took: Duration) {
    METRICS.burst(took);
    let Some(Known { row: Some(row), record, .. }) = &tenure.known else { return };
    let (turn, ms) = (record.state.turns, took.as_millis() as u64);
    let trace = work.trace();
    let (definition, status, version) = (&row.definition_id, row.status, row.version);
    if !is_change {
        tracing::debug!(
            instance = %tenure.id, %definition, state = %status, version, command = %work.id, trace, turn, ms,
            "instance moved"
        );
        return;
    }
    METRICS.status(status);
    if let Some(finished_at) = row.finished_at.filter(|_| status.is_final()) {
        METRICS.ended(status, row.created_at, finished_at);
    }
    tracing::info!(
        instance = %tenure.id, %definition, state = %status, version, command = %work.id, trace, turn, ms,
        "instance changed"
    );
}

/// One line for a bug; other reasons are logged when the command is sent back or moved to the dead
/// letters.
pub(crate) fn stopped(tenure: &Tenure, work: &Work, stop: &Stop) {
    if let Stop::Bug(reason) = stop {
        let trace = work.trace();
        tracing::error!(instance = %tenure.id, command = %work.id, trace, reason, "bug");
    }
}
