//! `staunch schedule …`: lists the schedules of published definitions, pauses and resumes them, and
//! starts one between its times.

use chassis::{Chance as _, SystemChance};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::Failure;
use crate::client::{ClientArgs, segment};
use crate::output::{self, Format};

#[derive(Args, Debug)]
pub(crate) struct ScheduleArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists schedules, the next to fire first; one that is paused keeps its place
    Ls {
        /// Only those of this definition
        #[arg(long, value_name = "ID")]
        definition: Option<String>,
        /// Only those that are paused
        #[arg(long)]
        paused: bool,
        /// The largest number of schedules
        #[arg(long, default_value_t = 100, value_name = "NUMBER",
            value_parser = clap::value_parser!(u64).range(1..=1000))]
        limit: u64,
    },
    /// Pauses a schedule, until it is resumed; versions that are published later stay paused
    Pause(Which),
    /// Ends a pause; nothing starts for the times of the pause
    Resume {
        #[command(flatten)]
        which: Which,
        /// Treats the times of the pause as missed ones: the schedule's policy says what starts
        #[arg(long)]
        catch_up: bool,
    },
    /// Starts an instance now, once; the regular times stay
    Trigger(Which),
}

#[derive(Args, Debug)]
struct Which {
    /// Its id, as `staunch schedule ls` shows it
    id: String,
}

/// Runs one of the `schedule` commands.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn run(args: ScheduleArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    match args.verb {
        Verb::Ls { definition, paused, limit } => {
            let listed = client.get(&list_path(definition.as_deref(), paused, limit)).await?;
            show(&listed, format)
        }
        Verb::Pause(which) => {
            let now = client.post(&path(&which.id, "pause"), &json!({})).await?.body;
            let by = output::text(&now, "pausedBy");
            output::done(format, &format!("{} is paused by {by}", which.id), &now)
        }
        Verb::Resume { which, catch_up } => {
            let body = json!({"catchUp": catch_up});
            let now = client.post(&path(&which.id, "resume"), &body).await?.body;
            let next = match output::text(&now, "nextAt") {
                none if none.is_empty() => "fires no more".to_owned(),
                next => format!("fires next at {next}"),
            };
            output::done(format, &format!("{} {next}", which.id), &now)
        }
        Verb::Trigger(which) => {
            let key = SystemChance.new_id();
            let path = path(&which.id, "trigger");
            let started = client.post_once(&path, &json!({}), &key).await?.body;
            let id = output::text(&started, "workflowInstanceId");
            output::done(format, &format!("instance {id} is started"), &started)
        }
    }
}

fn path(id: &str, what: &str) -> String {
    format!("/schedules/{}/{what}", segment(id))
}

fn list_path(definition: Option<&str>, paused: bool, limit: u64) -> String {
    let definition = definition.map(|id| format!("&definitionId={}", segment(id)));
    let paused = if paused { "&isPaused=true" } else { "" };
    format!("/schedules?pageSize={limit}{}{paused}", definition.unwrap_or_default())
}

fn show(listed: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(listed);
    }
    let items = listed.get("items").and_then(Value::as_array);
    let rows = items.into_iter().flatten().map(|one| {
        let text = |name: &str| output::text(one, name);
        let next = match one.get("isPaused") {
            Some(Value::Bool(true)) => "paused".to_owned(),
            _ => text("nextAt"),
        };
        let expression = match text("timeZone") {
            zone if zone.is_empty() => text("expression"),
            zone => format!("{} {zone}", text("expression")),
        };
        let (definition, last, missed) = (text("definitionId"), text("lastAt"), text("missed"));
        vec![text("id"), definition, expression, next, last, missed]
    });
    let headings = ["ID", "DEFINITION", "WHEN", "NEXT", "LAST", "MISSED"];
    output::table(&headings, &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_filter_and_the_id() {
        assert_eq!(list_path(None, false, 7), "/schedules?pageSize=7");
        let path_of = list_path(Some("a b"), true, 7);
        assert_eq!(path_of, "/schedules?pageSize=7&definitionId=a%20b&isPaused=true");
        assert_eq!(path("a/b", "pause"), "/schedules/a%2Fb/pause");
    }
}
