//! Named checks of the services that a process needs, for `/health/ready`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

/// How long one check may take.
const CHECK_TIME_MAX: Duration = Duration::from_secs(2);

const HEALTHY: &str = "Healthy";
const DEGRADED: &str = "Degraded";
const UNHEALTHY: &str = "Unhealthy";

/// The result of a check: `Ok`, or the reason of its failure.
pub type CheckResult = Result<(), String>;

type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = CheckResult> + Send>> + Send + Sync>;

/// The checks of one process; clones share them.
#[derive(Clone, Default)]
pub struct Health(Arc<Mutex<Vec<Named>>>);

#[derive(Clone)]
struct Named {
    name: &'static str,
    check: Check,
    /// The process can do its work although the check fails.
    is_advice: bool,
}

/// The results of all checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// `Healthy`, `Unhealthy`, or `Degraded` if only advice failed
    pub status: &'static str,
    /// Each check by name, in the order in which they were added.
    pub checks: Vec<CheckReport>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Its name, such as `nats`.
    pub name: &'static str,
    /// `Healthy`, `Unhealthy`, or `Degraded`: the process works, and something is missing
    pub status: &'static str,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl HealthReport {
    /// True if no check failed that the work of the process depends on.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.status != UNHEALTHY
    }
}

impl Health {
    /// Contains the check that no background task of this process is down: a task that panicked is
    /// down until it runs again.
    #[must_use]
    pub fn new() -> Self {
        let health = Self::default();
        health.add("tasks", || async {
            let down = tasks::down();
            if down.is_empty() { Ok(()) } else { Err(format!("down: {}", down.join(", "))) }
        });
        health
    }

    /// Adds a check. It may take two seconds each time.
    pub fn add<F, Fut>(&self, name: &'static str, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = CheckResult> + Send + 'static,
    {
        self.push(name, false, check);
    }

    /// Adds a check whose failure leaves the process ready: the report has its reason.
    pub fn advise<F, Fut>(&self, name: &'static str, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = CheckResult> + Send + 'static,
    {
        self.push(name, true, check);
    }

    fn push<F, Fut>(&self, name: &'static str, is_advice: bool, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = CheckResult> + Send + 'static,
    {
        let check: Check = Arc::new(move || Box::pin(check()));
        let named = Named { name, check, is_advice };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(named);
    }

    /// Runs all checks at the same time.
    pub async fn check(&self) -> HealthReport {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut running = Vec::new();
        for Named { name, check, is_advice } in checks {
            let outcome = tasks::spawn("health check", timeout(CHECK_TIME_MAX, check()));
            running.push((name, is_advice, outcome));
        }
        let mut reports = Vec::new();
        for (name, is_advice, outcome) in running {
            let reason = match outcome.await {
                Ok(Ok(Ok(outcome))) => outcome.err(),
                Ok(Ok(Err(_))) => Some(format!("no answer within {} s", CHECK_TIME_MAX.as_secs())),
                Ok(Err(panicked)) => Some(format!("the check failed: {panicked}")),
                Err(error) => Some(format!("the check failed: {error}")),
            };
            let status = match (&reason, is_advice) {
                (None, _) => HEALTHY,
                (Some(_), true) => DEGRADED,
                (Some(_), false) => UNHEALTHY,
            };
            reports.push(CheckReport { name, status, reason });
        }
        let has = |status| reports.iter().any(|report| report.status == status);
        let status = [UNHEALTHY, DEGRADED].into_iter().find(|status| has(*status));
        HealthReport { status: status.unwrap_or(HEALTHY), checks: reports }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_bad_check_makes_the_whole_unhealthy() {
        // The tasks of the whole process are not asked: another test has one that is down.
        let health = Health::default();
        assert!(health.check().await.is_healthy());
        health.add("database", || async { Ok(()) });
        health.add("nats", || async { Err("disconnected".to_owned()) });
        health.add("slow", std::future::pending);
        let report = health.check().await;
        assert_eq!(report.status, "Unhealthy");
        let reasons: Vec<_> = report.checks.iter().map(|check| check.reason.as_deref()).collect();
        assert_eq!(reasons, [None, Some("disconnected"), Some("no answer within 2 s")]);
    }

    #[tokio::test]
    async fn advice_that_fails_leaves_the_process_ready_and_has_its_reason() {
        let health = Health::default();
        health.advise("sweep", || async { Err("nobody sweeps".to_owned()) });
        let report = health.check().await;
        assert!(report.is_healthy());
        assert_eq!(report.status, "Degraded");
        let last = report.checks.last().unwrap();
        assert_eq!((last.status, last.reason.as_deref()), ("Degraded", Some("nobody sweeps")));
        health.add("nats", || async { Err("gone".to_owned()) });
        assert_eq!(health.check().await.status, "Unhealthy");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_down_makes_the_process_unhealthy() {
        let never = tokio_util::sync::CancellationToken::new();
        let task = tasks::supervise("health: bad", never, || async { panic!("bug") });
        tokio::time::sleep(Duration::from_millis(1)).await;
        let report = Health::new().check().await;
        let reason = report.checks.first().unwrap().reason.clone().unwrap();
        assert!(!report.is_healthy() && reason.contains("health: bad"), "{reason}");
        task.abort();
    }
}
