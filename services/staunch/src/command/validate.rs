//! `staunch validate`: checks a cluster against its guarantees, in the six parts of Elsa's
//! checklist for clusters. On a running cluster it uses only the public API, and removes all that
//! it created. On a cluster that it starts it also kills and restarts nodes.
//!
//! To add a check: call [`report::Report::check`] in the file of its part, with the figures that a
//! reader needs to judge it.

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

use clap::{ArgGroup, Args};

use crate::interrupt::interrupted;
use crate::output::Format;
use crate::{Failure, say};

use arena::Arena;
use report::Report;
use site::Site;

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("cluster").required(true)))]
pub(crate) struct ValidateArgs {
    /// The HTTP addresses of a running cluster's nodes, separated by commas
    #[arg(long, group = "cluster", value_delimiter = ',', value_name = "URL")]
    pub(crate) nodes: Option<Vec<String>>,
    /// Starts this many nodes on this machine, each as a process
    #[arg(
        long,
        group = "cluster",
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "3",
    )]
    pub(crate) local: Option<usize>,
    /// With --local: 1 nats-server, or a cluster of 3
    #[arg(long, value_name = "1|3")]
    pub(crate) brokers: Option<usize>,
    /// With --local: `sqlite`, `postgres` (validate starts one), or the URL of an empty database
    #[arg(long, value_name = "DATABASE")]
    pub(crate) database: Option<String>,
    /// API key, if the nodes require one
    #[arg(long, env = "STAUNCH_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
}

/// The longest time for the cleanup.
const CLEANUP_MAX: Duration = Duration::from_secs(120);

/// Runs all parts, cleans up, and prints the table.
///
/// # Errors
/// When the cluster cannot be reached, a check fails, or it is interrupted.
pub(crate) async fn run(args: ValidateArgs, format: Format) -> Result<(), Failure> {
    if args.local.is_none() && (args.brokers.is_some() || args.database.is_some()) {
        return Err(Failure::usage("--brokers and --database are for a cluster of --local"));
    }
    let mut arena = match args.local {
        Some(count) => Some(Arena::open(count, args.brokers, args.database.as_deref()).await?),
        None => None,
    };
    let urls = match &arena {
        Some(arena) => arena.cluster.urls(),
        None => args.nodes.unwrap_or_default(),
    };
    let site = Arc::new(Site::meet(&urls, args.api_key.as_deref(), arena.is_some()).await?);
    site.introduce();
    let mut report = Report::new();
    let interrupted = tokio::select! {
        () = parts(&site, arena.as_mut(), &mut report) => false,
        () = interrupted() => true,
    };
    if interrupted {
        say::message("interrupted; cleaning up (interrupt again to leave it)");
    }
    // A database that was started here is removed as a whole.
    if !interrupted || arena.as_ref().is_none_or(|arena| !arena.is_throwaway) {
        tidy(&site, &mut report).await;
    }
    if let Some(arena) = arena {
        arena.close(interrupted).await?;
    }
    report.print(&site, format)?;
    if interrupted {
        return Err(Failure::failed("interrupted before all was checked"));
    }
    report.verdict()
}

async fn parts(site: &Arc<Site>, mut arena: Option<&mut Arena>, report: &mut Report) {
    let broker = arena.as_ref().map(|arena| arena.cluster.nats_url());
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
    let ended = lock::run(site, broker.as_deref(), report).await;
    report.end(ended);
}

async fn tidy(site: &Site, report: &mut Report) {
    report.begin("cleanup");
    let ended = tokio::select! {
        ended = tokio::time::timeout(CLEANUP_MAX, cleanup::run(site, report)) => {
            ended.unwrap_or_else(|_| Err(Failure::failed("it took too long")))
        }
        () = interrupted() => Err(Failure::failed("interrupted")),
    };
    let ended = ended.map_err(|failure| {
        let left = format!("definitions {}-* may be left behind", site.run);
        Failure { message: format!("{}; {left}", failure.message), ..failure }
    });
    report.end(ended);
}
