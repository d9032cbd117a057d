//! Checks a running cluster against its guarantees, in the six parts of Elsa's checklist for clusters.
//! It uses only the public API, and removes all that it made. Of nodes that it has started itself
//! ([`Arena`]) it also kills and restarts some.
//!
//! Futures that borrow and run side by side are boxed: otherwise the compiler cannot tell that the whole
//! may move between threads.
//!
//! To add a check: call [`Report::check`] in the file of its part, with the figures that a reader needs
//! to judge it.

mod arena;
mod availability;
mod cache;
mod cleanup;
mod failover;
mod figure;
mod load;
mod lock;
mod report;
mod runtime;
mod site;
mod timers;
mod workflow;

use std::sync::Arc;
use std::time::Duration;

use api_client::Failure;

pub use arena::{Arena, Ending};
pub use report::{Check, CheckResult, Report, Told};
pub use site::Site;

/// The longest time for the cleanup.
const CLEANUP_MAX: Duration = Duration::from_secs(120);

/// Makes all checks. May be dropped at any time: [`clean_up`] removes what there is until then.
pub async fn check(
    site: &Arc<Site>,
    mut arena: Option<&mut (dyn Arena + 'static)>,
    report: &mut Report,
) {
    report.begin("1 distributed runtime");
    let ended = runtime::run(site, report).await;
    report.end(ended);
    report.begin("2 scheduled tasks");
    let ended = timers::run(site, report).await;
    report.end(ended);
    report.begin("3 cache invalidation");
    let ended = cache::run(site, report).await;
    report.end(ended);
    report.begin("4 failover");
    let ended = failover::run(site, arena.as_deref_mut(), report).await;
    report.end(ended);
    report.begin("5 high availability");
    let ended = availability::run(site, arena, report).await;
    report.end(ended);
    report.begin("6 distributed lock");
    let ended = lock::run(site, report).await;
    report.end(ended);
}

/// Removes the instances and definitions that were made, within two minutes. What is left is a failed
/// check, with its names.
pub async fn clean_up(site: &Site, report: &mut Report) {
    report.begin("cleanup");
    let ended = tokio::time::timeout(CLEANUP_MAX, cleanup::run(site, report)).await;
    let ended = ended.unwrap_or_else(|_| Err(Failure::failed("it took too long")));
    report.end(ended.map_err(|failure| left_behind(site, failure)));
}

/// Notes that the cleanup was broken off.
pub fn leave(site: &Site, report: &mut Report) {
    report.end(Err(left_behind(site, Failure::failed("interrupted"))));
}

fn left_behind(site: &Site, failure: Failure) -> Failure {
    let left = format!("definitions {}-* may be left behind", site.run());
    Failure { message: format!("{}; {left}", failure.message), ..failure }
}
