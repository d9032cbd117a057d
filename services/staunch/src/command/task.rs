//! `staunch task …`: the tasks that workflows have handed out and wait for.

use clap::{Args, Subcommand};
use protocol::subject;
use serde_json::Value;

use crate::client::{ClientArgs, segment};
use crate::output::{self, Format};
use crate::{Failure, input, say};

const HEADINGS: [&str; 8] =
    ["TASK", "TYPE", "VERSION", "ATTEMPT", "SINCE", "DEADLINE", "INSTANCE", "DEFINITION"];

#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists the tasks that workflows wait for, the oldest first, with the instance that waits
    Ls {
        /// Only those of this type; `Ship@2` is version 2, and `Ship` version 1
        #[arg(long = "type", value_name = "TYPE", value_parser = input::task_kind)]
        kind: Option<String>,
        /// At most this many
        #[arg(long, default_value_t = 100, value_name = "N",
            value_parser = clap::value_parser!(u64).range(1..=1000))]
        limit: u64,
    },
}

/// Runs one of the `task` commands.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn run(args: TaskArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let Verb::Ls { kind, limit } = args.verb;
    let found = client.get(&path(kind.as_deref(), limit)?).await?;
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
    if found.get("isCutShort") == Some(&Value::Bool(true)) {
        say::message("There are more tasks than the server looks at: there may be more of these.");
    }
    Ok(())
}

fn path(kind: Option<&str>, limit: u64) -> Result<String, Failure> {
    let Some(kind) = kind else { return Ok(format!("/tasks?pageSize={limit}")) };
    let (name, version) = subject::task_kind(kind).map_err(Failure::usage)?;
    Ok(format!("/tasks?pageSize={limit}&type={}&version={version}", segment(name)))
}

fn row(task: &Value) -> Vec<String> {
    let text = |name: &str| output::text(task, name);
    let attempt = match task.get("isPaused") {
        Some(Value::Bool(true)) => format!("{} (paused)", text("attempt")),
        _ => text("attempt"),
    };
    vec![
        text("taskId"),
        text("taskType"),
        text("version"),
        attempt,
        text("since"),
        text("deadline"),
        text("workflowInstanceId"),
        text("definitionId"),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_query_names_the_type_and_its_version() {
        assert_eq!(path(None, 7).unwrap(), "/tasks?pageSize=7");
        assert_eq!(path(Some("Ship"), 7).unwrap(), "/tasks?pageSize=7&type=Ship&version=1");
        let second = path(Some("a b@2"), 7).unwrap();
        assert_eq!(second, "/tasks?pageSize=7&type=a%20b&version=2");
    }

    #[derive(clap::Parser)]
    struct Line {
        #[command(subcommand)]
        _verb: Verb,
    }

    #[test]
    fn one_type_is_listed_at_a_time() {
        let parses = |words: &[&str]| <Line as clap::Parser>::try_parse_from(words).is_ok();
        assert!(parses(&["task", "ls", "--type", "Ship@2"]));
        assert!(!parses(&["task", "ls", "--type", "Ship", "--type", "Pack"]));
    }

    #[test]
    fn a_pause_before_an_attempt_is_shown() {
        let task = json!({"taskId": "t", "taskType": "Ship", "version": 1, "attempt": 2,
            "isPaused": true, "since": "then", "deadline": null, "workflowInstanceId": "i",
            "definitionId": "d"});
        let expected = ["t", "Ship", "1", "2 (paused)", "then", "", "i", "d"];
        assert_eq!(row(&task), expected);
        assert_eq!(row(&task).len(), HEADINGS.len());
    }
}
