//! lock: one writer per instance. It saves work, not truth: `commit` checks the version.

use bus::{Busy, Lease};
use chassis::Point;
use model::InstanceId;

use super::settle::Stop;
use crate::executor::Cx;
use crate::metrics::METRICS;

/// Takes the instance's lease, waiting for another holder at most as long as the terms say.
pub(crate) async fn lock(cx: &Cx, id: &InstanceId) -> Result<Lease, Stop> {
    cx.at(Point::BeforeLock).await;
    let taken = cx.leases.acquire(id.as_str()).await;
    match taken {
        Ok(lease) => {
            let waited = lease.waited();
            METRICS.lease_waited(waited, lease.contended());
            let waited_ms = waited.as_millis() as u64;
            if lease.contended() {
                tracing::info!(key = %id, waited_ms, "lease acquired");
            } else {
                tracing::debug!(key = %id, waited_ms, "lease acquired");
            }
            cx.at(Point::Locked).await;
            Ok(lease)
        }
        Err(Busy::Held { by }) => {
            METRICS.lease_failed("held");
            tracing::info!(key = %id, holder = %by, "lease busy");
            Err(Stop::soon(format!("the lease on instance {id} is held by {by}")))
        }
        Err(Busy::Unavailable(error)) => {
            METRICS.lease_failed("unavailable");
            Err(Stop::from(error))
        }
    }
}
