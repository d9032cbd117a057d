//! `staunch bench`: how fast a cluster is, on one of its own or on one that runs; and how fast its
//! parts could be at best.

mod arena;
mod raw;
mod report;
mod suite;
mod what;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use load::{Bounds, Order, Transport};

use crate::output::Format;
use crate::{Failure, say};

use arena::Arena;
use what::What;

/// No run is longer, and none does more.
const SECONDS_MAX: u64 = 3_600;
const COUNT_MAX: u64 = 100_000_000;
const LANES_MAX: usize = 20_000;
/// The end of an instance is waited for a little longer than this.
const TIMER_DELAY_MAX: u64 = 30;

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// What is done
    #[arg(value_enum)]
    what: What,
    /// How it is asked for
    #[arg(long, value_enum, default_value = "nats")]
    over: Over,
    /// How many are in flight at the same time
    #[arg(short, long, value_name = "N")]
    concurrency: Option<usize>,
    /// How many are done; as many as there is time for where none is given
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
    /// How long, at most, after a short warm-up; for `raw` and `suite`: each part
    #[arg(long, default_value_t = 15, value_name = "SECONDS")]
    seconds: u64,
    /// So many begin each second, however long each takes; as fast as it goes without it
    #[arg(long, value_name = "PER-SECOND")]
    rate: Option<f64>,
    /// contend: on how many instances
    #[arg(long, default_value_t = 8, value_name = "N")]
    instances: usize,
    /// timer: how long each instance waits, 0.5 to 1.5 s without it. Longer than --seconds, all are
    /// started before the first is due
    #[arg(long, value_name = "SECONDS")]
    timer_delay: Option<u64>,
    #[command(flatten)]
    place: Place,
}

/// The cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The HTTP addresses of a running cluster's nodes, separated by commas, instead of one that is
    /// started here; needs --nats-url
    #[arg(long, value_delimiter = ',', value_name = "URL", requires = "nats_url")]
    server: Vec<String>,
    /// Where the running cluster's NATS is
    #[arg(long, value_name = "URL", requires = "server")]
    nats_url: Option<String>,
    /// The API key, where the nodes ask for one
    #[arg(long, env = "STAUNCH_API_KEY", hide_env_values = true, value_name = "KEY")]
    api_key: Option<String>,
    /// `sqlite`, `postgres` (started here), or the URL of an empty database
    #[arg(long, default_value = "sqlite", value_name = "DATABASE")]
    database: String,
    /// How many nodes run workflows and fire timers; the first has all other roles too
    #[arg(long, default_value_t = 1, value_name = "N")]
    executors: usize,
    /// How many bursts each of them runs at once; it has four times as many commands in hand
    #[arg(long, value_name = "N")]
    executor_concurrency: Option<usize>,
    /// 1 nats-server, or 3 as one cluster
    #[arg(long, default_value_t = 1, value_name = "1|3")]
    brokers: usize,
    /// How often JetStream fsyncs: `default` (every two minutes), or `always` (each message)
    #[arg(long, value_enum, default_value = "default", value_name = "WHEN")]
    nats_sync: NatsSync,
    /// A library that whatever writes the database loads first, such as one that slows fsync
    #[arg(long, value_name = "FILE", value_parser = whole_path)]
    preload: Option<PathBuf>,
    /// So many finished instances, and as many that wait, are put into the database before
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed_instances: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NatsSync {
    Default,
    Always,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Over {
    /// Commands to JetStream, outcomes to an inbox
    Nats,
    /// Requests that wait for their outcome
    Http,
}

impl From<Over> for Transport {
    fn from(over: Over) -> Self {
        match over {
            Over::Nats => Self::Nats,
            Over::Http => Self::Http,
        }
    }
}

/// Measures, and prints what came of it.
///
/// # Errors
/// When it makes no sense, the cluster does not start, or too much fails.
pub(crate) async fn run(args: BenchArgs, format: Format) -> Result<(), Failure> {
    check(&args)?;
    tokio::select! {
        measured = measure(&args, format) => measured,
        () = interrupted() => Err(Failure::failed("interrupted")),
    }
}

async fn measure(args: &BenchArgs, format: Format) -> Result<(), Failure> {
    let length = Duration::from_secs(args.seconds);
    match (args.what, args.what.scenario()) {
        (_, Some(scenario)) => report::print(&cluster(args, scenario).await?, format),
        (What::Suite, None) => suite::run(&args.place, length, format).await,
        (_, None) => raw::run(&args.place, length, format).await,
    }
}

fn check(args: &BenchArgs) -> Result<(), Failure> {
    let within = |name: &str, value: u64, max: u64| {
        if (1..=max).contains(&value) {
            return Ok(());
        }
        Err(Failure::usage(format!("--{name} {value}: use 1 to {max}")))
    };
    let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    within("seconds", args.seconds, SECONDS_MAX)?;
    within("count", args.count.unwrap_or(1), COUNT_MAX)?;
    within("concurrency", number(args.concurrency.unwrap_or(1)), number(LANES_MAX))?;
    within("instances", number(args.instances), number(LANES_MAX))?;
    within("timer-delay", args.timer_delay.unwrap_or(1), TIMER_DELAY_MAX)?;
    match args.rate {
        Some(rate) if !(rate > 0.0 && rate <= 1_000_000.0) => {
            Err(Failure::usage(format!("--rate {rate}: use more than 0 and at most 1000000")))
        }
        _ => Ok(()),
    }
}

/// One scenario on a cluster.
async fn cluster(args: &BenchArgs, scenario: load::Scenario) -> Result<report::Measured, Failure> {
    let mut arena = Arena::open(&args.place).await?;
    arena.seed(args.place.seed_instances).await?;
    let order = order(args, scenario, &arena);
    say::talk(&format!("{}: {}", order.scenario.name(), order.scenario.what()));
    let done = load::run(arena.target(), &order, &say::talk).await?;
    let about = arena.about().to_vec();
    arena.close().await?;
    Ok(report::Measured { report: done, about })
}

fn order(args: &BenchArgs, scenario: load::Scenario, arena: &Arena) -> Order {
    Order {
        scenario,
        transport: args.over.into(),
        lanes: args.concurrency.unwrap_or_else(|| match args.timer_delay {
            Some(_) if scenario == load::Scenario::Timer => LANES_MAX,
            _ => scenario.lanes(),
        }),
        bounds: Bounds {
            count: args.count.unwrap_or(COUNT_MAX),
            length: Duration::from_secs(args.seconds),
        },
        rate: args.rate,
        few: args.instances,
        delay: args.timer_delay.map(Duration::from_secs),
        name: arena.name(scenario.name()),
        processes: arena.processes(),
    }
}

/// Completes when the terminal asks us to end: what was started here ends with us.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
/// The path of a file that is there, as the processes that are started with it find it: they work in
/// folders of their own.
fn whole_path(text: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(text).map_err(|error| error.to_string())
}
