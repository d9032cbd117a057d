//! Runs the same work on Staunch and on its peers, in turn on one machine: Restate, DBOS, the raw
//! limits of the parts, and the locks of other installations. It starts and stops all of them on
//! loopback, and prints the parts that it had to leave out.
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod chance;
mod closed;
mod lock;
mod locks;
mod parts;
mod peer;
mod process;
mod samples;
mod staunch;
mod table;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::parts::Parts;
use crate::peer::dbos::Dbos;
use crate::peer::restate::Restate;
use crate::staunch::Staunch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Raw,
    Locks,
    Restate,
    Dbos,
    Staunch,
}

/// Compares Staunch with its peers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Parts to compare; everything if none is named
    parts: Vec<Part>,
    /// Seconds of one measurement
    #[arg(long, default_value_t = 15)]
    seconds: u64,
    /// Number of rounds in which the sides run in turn
    #[arg(long, default_value_t = 2)]
    rounds: u32,
    /// The staunch binary to compare
    #[arg(long, default_value = "target/release/staunch")]
    staunch: PathBuf,
    /// Folder in which peers are installed and run
    #[arg(long, default_value = "target/peers")]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let wanted = |part| arguments.parts.is_empty() || arguments.parts.contains(&part);
    let length = Duration::from_secs(arguments.seconds);
    let parts = Parts::start(&arguments.folder).await?;
    if wanted(Part::Raw) {
        limits(&parts, length / 3).await?;
    }
    if wanted(Part::Locks) {
        locks::compare(&parts, arguments.rounds, length / 2).await?;
    }
    if [Part::Restate, Part::Dbos, Part::Staunch].into_iter().any(wanted) {
        engines(&arguments, &parts, &wanted, length).await?;
    }
    Ok(())
}

/// The best rate of each part alone: an engine on top of the parts cannot be faster.
async fn limits(parts: &Parts, length: Duration) -> anyhow::Result<()> {
    table::title("raw limits");
    let (nats_url, database_url) = (parts.nats_url(), parts.postgres_url("raw"));
    let row = |bound: &raw::Bound| {
        let raw::Bound { what, in_flight, throughput, p50, p99, .. } = bound;
        table::note(&format!(
            "{what:<72} {in_flight:>4} in flight {throughput:>8.0}/s  p50 {p50:.2} p99 {p99:.2} ms"
        ));
    };
    raw::run(&raw::Target { nats_url, database_url }, length, &row).await?;
    Ok(())
}

/// Runs the engines in turn, so that a change of the machine's speed affects all of them.
async fn engines(
    arguments: &Arguments,
    parts: &Parts,
    wanted: &impl Fn(Part) -> bool,
    length: Duration,
) -> anyhow::Result<()> {
    table::title("engines");
    let (mut restate, mut dbos, mut staunch) = (None, None, None);
    if wanted(Part::Restate) {
        restate = found("Restate", Restate::install(&arguments.folder).await);
    }
    if wanted(Part::Dbos) {
        dbos = found("DBOS", Dbos::install(&arguments.folder).await);
    }
    if wanted(Part::Staunch) {
        staunch = found("Staunch", Staunch::find(&arguments.staunch).await);
    }
    for _ in 0..arguments.rounds {
        if let Some(staunch) = &mut staunch {
            staunch.turn(length).await?;
        }
        if let Some(restate) = &mut restate {
            restate.turn(parts, length).await?;
        }
        if let Some(dbos) = &mut dbos {
            dbos.turn(parts, length).await?;
        }
    }
    let sheets = [restate.map(|it| it.sheet), dbos.map(|it| it.sheet)];
    for sheet in sheets.iter().flatten() {
        sheet.print();
    }
    if let Some(staunch) = &staunch {
        staunch.print();
        for sheet in sheets.iter().flatten() {
            sheet.ratios(|work, lanes| staunch.figure(work, lanes));
        }
    }
    Ok(())
}

/// Leaves out a side that cannot start, and prints why.
fn found<P>(name: &str, found: anyhow::Result<P>) -> Option<P> {
    match found {
        Ok(peer) => Some(peer),
        Err(error) => {
            println!("\n!! SKIPPED: {name} cannot be had: {error:#}\n");
            None
        }
    }
}
