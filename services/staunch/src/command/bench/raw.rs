//! `staunch bench raw`: measures NATS and the database without Staunch.

use std::time::Duration;

use raw::{Bound, Target};
use serde_json::json;

use crate::output::{self, Format};
use crate::{Failure, say};

use super::arena::Arena;
use super::args::ClusterArgs;

/// Measures and prints the bounds.
///
/// # Errors
/// When the broker or the database does not start, or fails.
pub(super) async fn run(
    args: &ClusterArgs,
    length: Duration,
    format: Format,
) -> Result<(), Failure> {
    let bounds = measure(args, length).await?;
    match format {
        Format::Json => {
            let failed = |error| Failure::failed(format!("the bounds cannot be written: {error}"));
            output::json(&json!({"bounds": serde_json::to_value(bounds).map_err(failed)?}))
        }
        Format::Table => table(&bounds),
    }
}

/// Measures every bound for this long, on a broker and a database that it starts.
///
/// # Errors
/// When the broker or the database does not start, or fails.
pub(super) async fn measure(args: &ClusterArgs, length: Duration) -> Result<Vec<Bound>, Failure> {
    if !args.server.is_empty() {
        return Err(Failure::usage("raw measures parts of its own: leave out --server"));
    }
    let is_own_writer = args.database.starts_with("sqlite");
    if is_own_writer && args.preload.is_some() {
        return Err(Failure::usage(
            "with SQLite this process writes the database: set LD_PRELOAD for it",
        ));
    }
    let arena = Arena::bare(args).await?;
    let Some((nats_url, database_url)) = arena.parts() else {
        return Err(Failure::usage("raw measures parts of its own"));
    };
    let target = Target { nats_url, database_url };
    let bounds = raw::run(&target, length, &|bound| say::message(&row(bound).join("  "))).await?;
    arena.close().await?;
    Ok(bounds)
}

/// Prints the bounds as a table.
///
/// # Errors
/// When standard output is closed.
pub(super) fn table(bounds: &[Bound]) -> Result<(), Failure> {
    let rows: Vec<_> = bounds.iter().map(row).collect();
    output::table(&["BOUND", "IN FLIGHT", "PER SECOND", "P50 MS", "P99 MS", "WHAT"], &rows)
}

/// A bound as a row of a table.
pub(super) fn row(bound: &Bound) -> Vec<String> {
    vec![
        bound.name.to_owned(),
        bound.in_flight.to_string(),
        format!("{:.0}", bound.throughput),
        format!("{:.2}", bound.p50),
        format!("{:.2}", bound.p99),
        bound.what.clone(),
    ]
}
