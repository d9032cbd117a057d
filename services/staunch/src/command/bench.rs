//! `staunch bench`: measures how fast a cluster is, a new one or a running one; and how fast NATS
//! and the database are without Staunch, which is the bound.

mod arena;
mod args;
mod entry;
mod measurement;
mod raw;
mod report;
mod suite;

use std::time::Duration;

use ::raw::Bound;
use clap::{Args, ValueEnum};
use load::{Bounds, Order, Transport};
use model::limits;

use crate::interrupt::interrupted;
use crate::output::Format;
use crate::{Failure, say};

use arena::Arena;
use args::{COUNT_MAX, ClusterArgs};
use entry::Credential;
use measurement::Measurement;

/// The longest time of what is measured beside a scenario without Staunch.
const BESIDE_MAX: Duration = Duration::from_secs(5);
/// The longest run.
const SECONDS_MAX: u64 = 3_600;
/// The largest number of operations in flight.
const LANES_MAX: usize = 20_000;
/// The load generator waits a little longer than this for the end of an instance.
const TIMER_DELAY_MAX: u64 = 30;

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// The scenario
    #[arg(value_enum)]
    what: Measurement,
    /// How commands reach the cluster
    #[arg(long, value_enum, default_value = "nats")]
    over: Over,
    /// Number of operations in flight at the same time
    #[arg(short, long, value_name = "N")]
    concurrency: Option<usize>,
    /// Stops after this many operations; without it, after --seconds
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
    /// Stops after this time, measured from the end of a short warm-up; `raw` and `suite`: for each
    /// part
    #[arg(long, default_value_t = 15, value_name = "SECONDS")]
    seconds: u64,
    /// Starts this many operations per second, however long each takes; without it, as many as
    /// possible
    #[arg(long, value_name = "PER-SECOND")]
    rate: Option<f64>,
    /// contend: the number of instances that are resumed
    #[arg(long, default_value_t = 8, value_name = "N")]
    instances: usize,
    /// timer: how long each instance waits; without it, 0.5 to 1.5 s. Longer than --seconds: all
    /// are started before the first is due
    #[arg(long, value_name = "SECONDS")]
    timer_delay: Option<u64>,
    /// payload: the size of each body
    #[arg(long, default_value_t = 1 << 20, value_name = "BYTES")]
    bytes: usize,
    #[command(flatten)]
    cluster: ClusterArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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

/// Measures, and prints the figures.
///
/// # Errors
/// When the arguments are invalid, the cluster does not start, or an instance fails.
pub(crate) async fn run(args: BenchArgs, format: Format) -> Result<(), Failure> {
    check(&args)?;
    tokio::select! {
        measured = measure(&args, format) => measured,
        () = interrupted() => Err(Failure::failed("interrupted")),
    }
}

async fn measure(args: &BenchArgs, format: Format) -> Result<(), Failure> {
    let length = Duration::from_secs(args.seconds);
    match args.what {
        Measurement::One(what) => report::print(&scenario(args, what).await?, format),
        Measurement::Suite => suite::run(&args.cluster, length, format).await,
        Measurement::Raw => raw::run(&args.cluster, length, format).await,
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
    within("bytes", number(args.bytes), limits::PAYLOAD_BYTES_MAX)?;
    within("timer-delay", args.timer_delay.unwrap_or(1), TIMER_DELAY_MAX)?;
    let is_of_http = args.cluster.tls || args.cluster.credential != Credential::None;
    if is_of_http && args.over != Over::Http {
        return Err(Failure::usage("--credential and --tls are of requests: add --over http"));
    }
    match args.rate {
        Some(rate) if !(rate > 0.0 && rate <= 1_000_000.0) => {
            Err(Failure::usage(format!("--rate {rate}: use more than 0 and at most 1000000")))
        }
        _ => Ok(()),
    }
}

/// Measures one scenario on a cluster.
async fn scenario(args: &BenchArgs, scenario: load::Scenario) -> Result<report::Measured, Failure> {
    let mut arena = Arena::open(&args.cluster).await?;
    arena.seed(args.cluster.seed_instances).await?;
    let order = order(args, scenario, &arena);
    say::message(&format!("{}: {}", order.scenario.name(), order.scenario.what()));
    let done = load::run(arena.target(), &order, &say::message).await?;
    let beside = beside(args, &order, &arena).await?;
    let about = arena.about().to_vec();
    arena.close().await?;
    Ok(report::Measured { report: done, about, beside })
}

/// Measures what a scenario is compared with, in the same run: for tasks what the broker does without
/// Staunch, for messages of streams the scenario `start`.
async fn beside(args: &BenchArgs, order: &Order, arena: &Arena) -> Result<Vec<Bound>, Failure> {
    match (order.scenario, arena.parts()) {
        (load::Scenario::Task, Some((nats_url, _))) => {
            let length = (order.bounds.length / 3).min(BESIDE_MAX);
            say::message("beside it: JetStream pull, publish and ack, without Staunch");
            Ok(vec![::raw::pull_publish_ack(&nats_url, order.lanes, length).await?])
        }
        (load::Scenario::Task, None) => {
            say::message(
                "JetStream alone is not measured beside it at a running cluster: leave out --server",
            );
            Ok(Vec::new())
        }
        (load::Scenario::Listen, _) => {
            let order = self::order(args, load::Scenario::Start, arena);
            say::message(&format!("beside it: {}", order.scenario.what()));
            let start = load::run(arena.target(), &order, &say::message).await?;
            report::verdict(&start)?;
            Ok(vec![report::bound(&start)])
        }
        _ => Ok(Vec::new()),
    }
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
        bytes: args.bytes,
        name: arena.name(scenario.name()),
        processes: arena.processes(),
    }
}
