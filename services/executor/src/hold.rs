//! The lease with which a tenure holds its instance, or nothing yet.

use bus::{Busy, Lease};
use chassis::Point;
use model::InstanceId;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::stop::Stop;

/// The lease on an instance, or nothing yet. The first burst of an instance whose id nobody else
/// can know runs without a lease: the two writes would cost more than they save, and if another
/// node runs the same start after all, only one of the two commits.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<(Lease, Instant, InstanceId)>);

impl Hold {
    /// The lease is taken.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the lease, unless it is taken already. Waits for another holder at most as long as the
    /// terms allow.
    pub(crate) async fn take(&mut self, cx: &Cx, id: &InstanceId) -> Result<(), Stop> {
        if self.0.is_none() {
            self.0 = Some((acquire(cx, id).await?, Instant::now(), id.clone()));
        }
        Ok(())
    }

    /// Another node held the lease when it was asked for, and released it later.
    pub(crate) fn was_contended(&self) -> bool {
        self.0.as_ref().is_some_and(|(lease, ..)| lease.contended())
    }

    /// No other node has taken the lease, as far as this node knows.
    pub(crate) fn is_good(&self) -> bool {
        self.0.as_ref().is_none_or(|(lease, ..)| lease.is_held())
    }

    /// Completes when another node has taken the lease.
    pub(crate) async fn lost(&self) {
        match &self.0 {
            Some((lease, ..)) => lease.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Releases the lease, if there is one, after work of this trace.
    pub(crate) async fn release(self, cx: &Cx, traceparent: Option<&str>) {
        let Some((lease, since, id)) = self.0 else { return };
        cx.at(Point::BeforeRelease).await;
        lease.release().await;
        let held = since.elapsed();
        METRICS.lease_held(held);
        let (held_ms, trace) = (held.as_millis() as u64, traceparent.and_then(chassis::trace_id));
        tracing::debug!(instance = %id, held_ms, trace, "lease released");
        cx.at(Point::Released).await;
    }
}

async fn acquire(cx: &Cx, id: &InstanceId) -> Result<Lease, Stop> {
    cx.at(Point::BeforeLock).await;
    let span = tracing::debug_span!(target: "spans", "lease", otel.kind = "client");
    match cx.leases.acquire(id.as_str()).instrument(span).await {
        Ok(lease) => {
            let waited = lease.waited();
            METRICS.lease_waited(waited, lease.contended());
            let waited_ms = waited.as_millis() as u64;
            if lease.contended() {
                tracing::info!(instance = %id, waited_ms, "lease acquired");
            } else {
                tracing::debug!(instance = %id, waited_ms, "lease acquired");
            }
            cx.at(Point::Locked).await;
            Ok(lease)
        }
        Err(Busy::Held { by }) => {
            METRICS.lease_failed("held");
            tracing::info!(instance = %id, holder = %by, "lease busy");
            Err(Stop::soon(format!("the lease on instance {id} is held by {by}")))
        }
        Err(Busy::Unavailable(error)) => {
            METRICS.lease_failed("unavailable");
            Err(Stop::from(error))
        }
    }
}
