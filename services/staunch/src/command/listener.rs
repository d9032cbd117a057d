//! `staunch listener …`: the sources of messages to which workflows listen, and how far behind each is.

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::client::ClientArgs;
use crate::output::{self, Format};
use crate::{Failure, say};

const HEADINGS: [&str; 10] = [
    "KIND",
    "SOURCE",
    "FILTER",
    "STATE",
    "LAG",
    "IN HAND",
    "AGAIN",
    "WAITING",
    "DEFINITIONS",
    "REASON",
];

#[derive(Args, Debug)]
pub(crate) struct ListenerArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists the sources, with what listens to each and how many messages nobody has got yet
    Ls {
        /// At most this many
        #[arg(long, default_value_t = 100, value_name = "N",
            value_parser = clap::value_parser!(u64).range(1..=1000))]
        limit: u64,
    },
}

/// Runs one of the `listener` commands.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn run(args: ListenerArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let Verb::Ls { limit } = args.verb;
    let found = client.get(&format!("/cluster/listeners?pageSize={limit}")).await?;
    if format == Format::Json {
        return output::json(&found);
    }
    let items = found.get("items").and_then(Value::as_array);
    let rows: Vec<_> = items.into_iter().flatten().map(row).collect();
    output::table(&HEADINGS, &rows)?;
    let total = found.get("totalCount").and_then(Value::as_u64).unwrap_or_default();
    match total.saturating_sub(rows.len() as u64) {
        0 => {}
        more => say::message(&format!("{more} more: use --limit")),
    }
    Ok(())
}

fn row(listener: &Value) -> Vec<String> {
    // Messages as they come have no stream, and a source without a consumer no figures.
    let or_none = |name: &str| match output::text(listener, name) {
        text if text.is_empty() => "-".to_owned(),
        text => text,
    };
    vec![
        output::text(listener, "kind"),
        or_none("name"),
        output::text(listener, "filter"),
        output::text(listener, "state"),
        or_none("lag"),
        or_none("inHand"),
        or_none("redelivered"),
        output::text(listener, "waiting"),
        definitions(listener),
        output::text(listener, "reason"),
    ]
}

/// The definitions that want a source: as many as the server shows, and how many there are besides.
pub(super) fn definitions(listener: &Value) -> String {
    let shown = listener.get("definitions").and_then(Value::as_array);
    let shown: Vec<_> =
        shown.into_iter().flatten().map(|one| output::text(one, "definitionId")).collect();
    let all = listener.get("definitionCount").and_then(Value::as_u64).unwrap_or_default();
    match all.saturating_sub(shown.len() as u64) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The definitions that want a source and may not use it, of those that the server shows; none if there
/// are none.
pub(super) fn not_allowed(listener: &Value) -> Option<String> {
    let shown = listener.get("definitions").and_then(Value::as_array).into_iter().flatten();
    let refused = shown.filter(|one| one.get("isAllowed") == Some(&Value::Bool(false)));
    let refused: Vec<_> = refused.map(|one| output::text(one, "definitionId")).collect();
    (!refused.is_empty()).then(|| refused.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_has_no_figures_where_there_is_no_consumer() {
        let mut listener = json!({"kind": "subject", "name": null, "filter": "orders.*",
            "state": "listening", "lag": null, "inHand": null, "redelivered": null, "waiting": 2,
            "definitions": [{"definitionId": "a"}, {"definitionId": "b"}], "definitionCount": 2,
            "reason": null});
        let expected = ["subject", "-", "orders.*", "listening", "-", "-", "-", "2", "a, b", ""];
        assert_eq!(row(&listener), expected);
        assert_eq!(HEADINGS.len(), expected.len());
        listener["lag"] = json!(0);
        listener["definitionCount"] = json!(25);
        let row = row(&listener);
        assert_eq!((row[4].as_str(), row[8].as_str()), ("0", "a, b and 23 more"));
    }
}
