//! Named checks of the services that a process needs, for `/health/ready`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

/// How long one check may take.
const CHECK_TIME_MAX: Duration = Duration::from_secs(2);

/// The result of a check: `Ok`, or the reason of its failure.
pub type CheckResult = Result<(), String>;

type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = CheckResult> + Send>> + Send + Sync>;

/// The checks of one process; clones share them.
#[derive(Clone, Default)]
pub struct Health(Arc<Mutex<Vec<(&'static str, Check)>>>);

/// The results of all checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// `Healthy` or `Unhealthy`
    pub status: &'static str,
    /// Each check by name, in the order in which they were added.
    pub checks: Vec<CheckReport>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Its name, such as `nats`.
    pub name: &'static str,
    /// `Healthy` or `Unhealthy`
    pub status: &'static str,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl HealthReport {
    /// True if no check failed.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|check| check.reason.is_none())
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
        let check: Check = Arc::new(move || Box::pin(check()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((name, check));
    }

    /// Runs all checks at the same time.
    pub async fn check(&self) -> HealthReport {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut running = Vec::new();
        for (name, check) in checks {
            let outcome = tasks::spawn("health check", timeout(CHECK_TIME_MAX, check()));
            running.push((name, outcome));
        }
        let mut reports = Vec::new();
        for (name, outcome) in running {
            let reason = match outcome.await {
                Ok(Ok(Ok(outcome))) => outcome.err(),
                Ok(Ok(Err(_))) => Some(format!("no answer within {} s", CHECK_TIME_MAX.as_secs())),
                Ok(Err(panicked)) => Some(format!("the check failed: {panicked}")),
                Err(error) => Some(format!("the check failed: {error}")),
            };
            reports.push(CheckReport { name, status: word(reason.is_none()), reason });
        }
        let healthy = reports.iter().all(|report| report.reason.is_none());
        HealthReport { status: word(healthy), checks: reports }
    }
}

fn word(healthy: bool) -> &'static str {
    if healthy { "Healthy" } else { "Unhealthy" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_bad_check_makes_the_whole_unhealthy() {
        let health = Health::new();
        assert!(health.check().await.is_healthy());
        health.add("database", || async { Ok(()) });
        health.add("nats", || async { Err("disconnected".to_owned()) });
        health.add("slow", std::future::pending);
        let report = health.check().await;
        assert_eq!(report.status, "Unhealthy");
        let reasons: Vec<_> = report.checks.iter().map(|check| check.reason.as_deref()).collect();
        assert_eq!(reasons, [None, None, Some("disconnected"), Some("no answer within 2 s")]);
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
