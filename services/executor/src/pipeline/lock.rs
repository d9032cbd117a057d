//! lock: one writer per instance. It saves work, not truth: `commit` checks the version.

use bus::{Busy, Lease};
use chassis::Point;
use model::InstanceId;

use super::settle::Stop;
use crate::executor::Cx;
use crate::metrics::METRICS;

/// What lets an actor work on an instance: its lease, or nothing yet. The first burst of an
/// instance that nobody else can know of goes without: what it saves is not worth two writes, and
/// if another runs the same start after all, one of the two commits.
#[derive(Debug, Default)]
pub(crate) struct Hold(Option<Lease>);

impl Hold {
    /// The lease is there.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the lease, unless it is there.
    pub(crate) async fn take(&mut self, cx: &Cx, id: &InstanceId) -> Result<(), Stop> {
        if self.0.is_none() {
            self.0 = Some(lock(cx, id).await?);
        }
        Ok(())
    }

    /// Another had the lease, and gave it up only now.
    pub(crate) fn was_contended(&self) -> bool {
        self.0.as_ref().is_some_and(Lease::contended)
    }

    /// Nobody has taken over, as far as is known here.
    pub(crate) fn is_good(&self) -> bool {
        self.0.as_ref().is_none_or(Lease::is_held)
    }

    /// Completes when another has taken over.
    pub(crate) async fn lost(&self) {
        match &self.0 {
            Some(lease) => lease.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Gives the lease back.
    pub(crate) async fn release(self) {
        if let Some(lease) = self.0 {
            lease.release().await;
        }
    }
}

/// Takes the instance's lease, waiting for another holder at most as long as the terms say.
async fn lock(cx: &Cx, id: &InstanceId) -> Result<Lease, Stop> {
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
