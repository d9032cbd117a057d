//! The arguments that choose the measured cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::entry::Credential;

/// The largest number of operations of one run.
pub(super) const COUNT_MAX: u64 = 100_000_000;

/// The cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// The HTTP addresses of a running cluster's nodes, separated by commas; without it, bench
    /// starts a cluster. Needs --nats-url
    #[arg(long, value_delimiter = ',', value_name = "URL", requires = "nats_url")]
    pub(super) server: Vec<String>,
    /// NATS URL of the running cluster
    #[arg(long, value_name = "URL", requires = "server")]
    pub(super) nats_url: Option<String>,
    /// API key, if the nodes require one
    #[arg(long, env = "STAUNCH_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub(super) api_key: Option<String>,
    /// The credential of each request over HTTP, at the nodes that bench starts
    #[arg(
        long,
        value_enum,
        default_value = "none",
        value_name = "KIND",
        conflicts_with = "server"
    )]
    pub(super) credential: Credential,
    /// Requests over HTTP use TLS, with a certificate of this run
    #[arg(long, conflicts_with = "server")]
    pub(super) tls: bool,
    /// `sqlite`, `postgres` (bench starts one), or the URL of an empty database
    #[arg(long, default_value = "sqlite", value_name = "DATABASE")]
    pub(super) database: String,
    /// Number of nodes that run workflows and fire timers; the first has all other roles too
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(super) executors: usize,
    /// Number of bursts that each executor runs at once; it works on four times as many commands
    #[arg(long, value_name = "N")]
    pub(super) executor_concurrency: Option<usize>,
    /// 1 nats-server, or a cluster of 3
    #[arg(long, default_value_t = 1, value_name = "1|3")]
    pub(super) brokers: usize,
    /// How often JetStream fsyncs: `default` (every two minutes), or `always` (each message)
    #[arg(long, value_enum, default_value = "default", value_name = "WHEN")]
    pub(super) nats_sync: NatsSync,
    /// A library that every process that writes the database loads first, such as one that slows
    /// fsync
    #[arg(long, value_name = "FILE", value_parser = whole_path)]
    pub(super) preload: Option<PathBuf>,
    /// Puts this many finished and this many waiting instances into the database first
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) seed_instances: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum NatsSync {
    Default,
    Always,
}

/// The absolute path of an existing file: the processes that load it run in other folders.
fn whole_path(text: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(text).map_err(|error| error.to_string())
}
