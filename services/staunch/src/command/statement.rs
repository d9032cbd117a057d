//! `staunch statement …`: what the statements of the database take at a node.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use crate::Failure;
use crate::client::ClientArgs;
use crate::output::{self, Format};

#[derive(Args, Debug)]
pub(crate) struct StatementArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists the statements since the start of the node that answers, without their parameters
    Ls {
        /// Those with the most of this first
        #[arg(long, value_enum, default_value_t)]
        by: By,
        /// At most this many
        #[arg(long, default_value_t = 20, value_name = "N",
            value_parser = clap::value_parser!(u64).range(1..=1000))]
        limit: u64,
    },
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum By {
    /// The time of all its runs
    #[default]
    Total,
    /// The time of a run
    Mean,
    /// The time of the longest run
    Max,
    /// The number of runs
    Count,
}

/// Runs one of the `statement` commands.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn run(args: StatementArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let Verb::Ls { by, limit } = args.verb;
    let found = client.get(&format!("/cluster/statements?orderBy={by:?}&pageSize={limit}")).await?;
    if format == Format::Json {
        return output::json(&found);
    }
    let items = found.get("items").and_then(Value::as_array);
    let rows = items.into_iter().flatten().map(|one| {
        let ms = |name: &str| {
            let time = one.get(name).and_then(Value::as_f64).unwrap_or_default();
            format!("{time:.1}")
        };
        let text = |name: &str| output::text(one, name);
        vec![text("count"), ms("totalMs"), ms("meanMs"), ms("maxMs"), text("rows"), text("text")]
    });
    let headings = ["COUNT", "TOTAL MS", "MEAN MS", "MAX MS", "ROWS", "STATEMENT"];
    output::table(&headings, &rows.collect::<Vec<_>>())
}
