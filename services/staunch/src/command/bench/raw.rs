//! `staunch bench raw`: the bounds.

use std::time::Duration;

use raw::{Bound, Target};
use serde_json::json;

use crate::output::{self, Format};
use crate::{Failure, say};

use super::Place;
use super::arena::Arena;

/// Measures and prints them.
///
/// # Errors
/// When something does not start, or refuses something.
pub(super) async fn run(place: &Place, length: Duration, format: Format) -> Result<(), Failure> {
    let bounds = measure(place, length).await?;
    match format {
        Format::Json => {
            let failed = |error| Failure::failed(format!("the bounds cannot be written: {error}"));
            output::json(&json!({"bounds": serde_json::to_value(bounds).map_err(failed)?}))
        }
        Format::Table => table(&bounds),
    }
}

/// Measures them on a broker and a database of their own, each this long.
///
/// # Errors
/// When something does not start, or refuses something.
pub(super) async fn measure(place: &Place, length: Duration) -> Result<Vec<Bound>, Failure> {
    if !place.server.is_empty() {
        return Err(Failure::usage("raw measures parts of its own: leave out --server"));
    }
    let is_own_writer = place.database.starts_with("sqlite");
    if is_own_writer && place.preload.is_some() {
        return Err(Failure::usage(
            "on SQLite it is this process that writes: load the library by LD_PRELOAD",
        ));
    }
    let arena = Arena::bare(place).await?;
    let Some((nats_url, database_url)) = arena.parts() else {
        return Err(Failure::usage("raw measures parts of its own"));
    };
    let target = Target { nats_url, database_url };
    let bounds = raw::run(&target, length, &|bound| say::talk(&row(bound).join("  "))).await?;
    arena.close().await?;
    Ok(bounds)
}

/// Prints them.
///
/// # Errors
/// When standard output is closed.
pub(super) fn table(bounds: &[Bound]) -> Result<(), Failure> {
    let rows: Vec<_> = bounds.iter().map(row).collect();
    output::table(&["BOUND", "IN FLIGHT", "PER SECOND", "P50 MS", "P99 MS", "WHAT"], &rows)
}

fn row(bound: &Bound) -> Vec<String> {
    vec![
        bound.name.to_owned(),
        bound.in_flight.to_string(),
        format!("{:.0}", bound.throughput),
        format!("{:.2}", bound.p50),
        format!("{:.2}", bound.p99),
        bound.what.clone(),
    ]
}
