//! `staunch validate`: checks a cluster against its guarantees, in the six parts of Elsa's
//! checklist for clusters. The checks are in the crate `validation`; here is the cluster that they may
//! disturb, and what is printed.

mod arena;
mod printed;

use std::sync::Arc;

use clap::{ArgGroup, Args};

use crate::client::{self, Client};
use crate::command::run_name;
use crate::interrupt::interrupted;
use crate::output::Format;
use crate::{Failure, say};

use arena::LocalCluster;
use validation::{Arena, Report, Site};

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

/// Runs all parts, cleans up, and prints the table.
///
/// # Errors
/// When the cluster cannot be reached, a check fails, or it is interrupted.
pub(crate) async fn run(args: ValidateArgs, format: Format) -> Result<(), Failure> {
    let key = client::key(args.api_key.as_deref())?;
    if args.local.is_none() && (args.brokers.is_some() || args.database.is_some()) {
        return Err(Failure::usage("--brokers and --database are for a cluster of --local"));
    }
    let mut local = match args.local {
        Some(count) => {
            Some(LocalCluster::open(count, args.brokers, args.database.as_deref()).await?)
        }
        None => None,
    };
    let urls = match &local {
        Some(local) => local.cluster.urls(),
        None => args.nodes.unwrap_or_default(),
    };
    let clients = urls.iter().map(|url| Client::to(url.trim(), key.as_deref()));
    let clients = clients.collect::<Result<Vec<_>, _>>()?;
    let site = Site::meet(clients, run_name("validate"), local.is_some()).await?;
    let site = Arc::new(site);
    printed::nodes(&site);
    let mut report = Report::new(printed::progress);
    let arena = local.as_mut().map(|local| -> &mut (dyn Arena + 'static) { local });
    let interrupted = tokio::select! {
        () = validation::check(&site, arena, &mut report) => false,
        () = interrupted() => true,
    };
    if interrupted {
        say::message("interrupted; cleaning up (interrupt again to leave it)");
    }
    // A database that was started here is removed as a whole.
    if !interrupted || local.as_ref().is_none_or(|local| !local.is_throwaway) {
        clean_up(&site, &mut report).await;
    }
    if let Some(local) = local {
        local.close(interrupted).await?;
    }
    printed::report(&report, &site, format)?;
    if interrupted {
        return Err(Failure::failed("interrupted before all was checked"));
    }
    printed::verdict(&report)
}

async fn clean_up(site: &Site, report: &mut Report) {
    let is_broken_off = tokio::select! {
        () = validation::clean_up(site, report) => false,
        () = interrupted() => true,
    };
    if is_broken_off {
        validation::leave(site, report);
    }
}
