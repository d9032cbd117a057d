//! `staunch incident …`: the incidents of instances, grouped by their cause.

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::client::{ClientArgs, segment};
use crate::output::{self, Format};
use crate::{Failure, say};

#[derive(Args, Debug)]
pub(crate) struct IncidentArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists incidents by cause, those with the most first
    Ls {
        /// Only those of this definition
        #[arg(long, value_name = "ID")]
        definition: Option<String>,
        /// Only those of instances that changed since then, such as 2026-03-28T23:30:00Z
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
}

/// Runs one of the `incident` commands.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn run(args: IncidentArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let Verb::Ls { definition, since } = args.verb;
    let parts = [("definitionId", definition), ("since", since)].into_iter();
    let parts = parts.filter_map(|(name, value)| Some((name, value?)));
    let query: String = parts.map(|(name, value)| format!("&{name}={}", segment(&value))).collect();
    let found = client.get(&format!("/incidents/groups?pageSize=1000{query}")).await?;
    if format == Format::Json {
        return output::json(&found);
    }
    let rows = found.get("items").and_then(Value::as_array).into_iter().flatten().map(|group| {
        let names = ["count", "definitionId", "activityId", "cause", "lastAt", "newestInstanceId"];
        names.map(|name| output::text(group, name)).to_vec()
    });
    let headings = ["COUNT", "DEFINITION", "ACTIVITY", "CAUSE", "LAST", "NEWEST INSTANCE"];
    output::table(&headings, &rows.collect::<Vec<_>>())?;
    if found.get("isCutShort") == Some(&Value::Bool(true)) {
        let (read, all) =
            (output::text(&found, "instancesRead"), output::text(&found, "instancesWithIncidents"));
        say::message(&format!(
            "only {read} of {all} instances with incidents were read, the newest: ask for less, as \
             with --definition or --since"
        ));
    }
    Ok(())
}
