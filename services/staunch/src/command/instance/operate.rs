//! `staunch instance retry | skip | pause | unpause | set | schedule | migrate | restart | export | import
//! | rm | plan …`: operations on instances from outside their workflows.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::known;
use crate::client::Client;
use crate::output::{self, Format};
use crate::{Failure, input, say};

#[derive(Subcommand, Debug)]
pub(super) enum Operation {
    /// Runs faulted activities again
    Retry {
        /// Its id
        id: String,
        /// Only this activity; all faulted ones without it
        #[arg(long, value_name = "ID")]
        activity: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Ends a faulted activity as if it had completed; what comes after it runs
    Skip {
        /// Its id
        id: String,
        /// The activity
        activity: String,
        /// Its outcome, which decides what comes next; repeat it for more
        #[arg(long, value_name = "NAME", default_value = "Done")]
        outcome: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Lets nothing run any more until it is told to go on
    Pause {
        /// Its id
        id: String,
        /// The reason, for the instance's journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Goes on after a pause
    Unpause {
        /// Its id
        id: String,
    },
    /// Gives a variable a value
    Set {
        /// Its id
        id: String,
        /// The variable's name or id, and its value as JSON; a value that is no JSON is a text
        #[arg(value_name = "NAME=JSON", required = true)]
        values: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Runs an activity now: again where it runs or waits, else in its container
    Schedule {
        /// Its id
        id: String,
        /// The activity
        activity: String,
        #[command(flatten)]
        how: How,
    },
    /// Ends an activity that runs or waits; what contains it goes on
    CancelActivity {
        /// Its id
        id: String,
        /// The activity
        activity: String,
        #[command(flatten)]
        how: How,
    },
    /// Goes on with another version of the definition
    Migrate {
        /// Its id
        id: String,
        /// The number of the version
        #[arg(long, value_name = "N")]
        to: u32,
        /// An activity that has another id there, and that id; repeat it for more
        #[arg(long, value_name = "OLD=NEW")]
        map: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Starts a new instance with the input and the variables of this one
    Restart {
        /// Its id
        id: String,
        /// The activity to begin at, of the flowchart that is the root
        #[arg(long, value_name = "ID")]
        from: Option<String>,
        /// Variables with other values: a JSON object, or @FILE with one
        #[arg(long, value_name = "JSON|@FILE")]
        variables: Option<String>,
        /// Another version of the definition
        #[arg(long, value_name = "N")]
        to: Option<u32>,
    },
    /// Prints an instance as a file that `import` reads
    Export {
        /// Its id
        id: String,
    },
    /// Takes in an exported instance
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Removes the instances that a filter selects, and cancels those that are not over
    Rm {
        /// The instances: a JSON object, such as {"definitionIds": ["order"]}, or @FILE with one
        #[arg(long, value_name = "JSON|@FILE")]
        filter: String,
        /// Only says how many there are, and removes nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Alters many instances in the background
    Plan {
        #[command(subcommand)]
        verb: Plan,
    },
}

#[derive(Args, Debug)]
pub(super) struct How {
    /// Only says whether it fits, and changes nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Subcommand, Debug)]
pub(super) enum Plan {
    /// Submits a plan, and prints its id
    Submit {
        /// The alterations: a JSON list, or @FILE with one
        #[arg(value_name = "JSON|@FILE")]
        alterations: String,
        /// The instances: a JSON object, such as {"definitionIds": ["order"]}, or @FILE with one
        #[arg(long, value_name = "JSON|@FILE")]
        filter: String,
        /// Only says which instances it selects and what does not fit, and changes nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Shows a plan, its progress and its first jobs
    Get {
        /// Its id
        id: String,
        /// Only the jobs in this state, such as Failed
        #[arg(
            long,
            ignore_case = true,
            value_parser = ["Pending", "Running", "Completed", "Failed"]
        )]
        status: Option<String>,
    },
    /// Stops a plan: it begins no more jobs, and what it has done stays done
    Stop {
        /// Its id
        id: String,
    },
}

/// Runs one operation.
///
/// # Errors
/// The server's refusal.
pub(super) async fn run(
    client: &Client,
    operation: Operation,
    format: Format,
) -> Result<(), Failure> {
    let act = Acting { client, format };
    match operation {
        Operation::Retry { id, activity, how } => {
            let retry = json!({"type": "Retry", "activityIds": activity});
            act.alter(&id, vec![retry], &how, "runs its faulted activities again").await
        }
        Operation::Skip { id, activity, outcome, how } => {
            let skip = json!({"type": "Skip", "activityId": activity, "outcomes": outcome});
            act.alter(&id, vec![skip], &how, &format!("has skipped {activity}")).await
        }
        Operation::Pause { id, reason } => {
            let pause = json!({"type": "Pause", "reason": reason});
            act.alter(&id, vec![pause], &How { dry_run: false }, "is paused").await
        }
        Operation::Unpause { id } => {
            let unpause = json!({"type": "Unpause"});
            act.alter(&id, vec![unpause], &How { dry_run: false }, "goes on").await
        }
        Operation::Set { id, values, how } => {
            let set = values.iter().map(|text| set(text)).collect::<Result<Vec<_>, _>>()?;
            act.alter(&id, set, &how, "has the new values").await
        }
        Operation::Schedule { id, activity, how } => {
            let schedule = json!({"type": "ScheduleActivity", "activityId": activity});
            act.alter(&id, vec![schedule], &how, &format!("runs {activity}")).await
        }
        Operation::CancelActivity { id, activity, how } => {
            let cancel = json!({"type": "CancelActivity", "activityId": activity});
            act.alter(&id, vec![cancel], &how, &format!("has left {activity}")).await
        }
        Operation::Migrate { id, to, map, how } => {
            let activities = mapped(&map)?;
            let migrate = json!({"type": "Migrate", "targetVersion": to, "activities": activities});
            let done = act.alter(&id, vec![migrate], &how, &format!("runs version {to}")).await;
            done.map_err(with_map)
        }
        Operation::Restart { id, from, variables, to } => {
            let mut body = json!({"activityId": from, "version": to});
            if let Some(variables) = variables {
                body["variables"] = Value::Object(input::parse(&variables)?);
            }
            let path = format!("/workflow-instances/{}/restart", known(&id)?);
            output::json(&client.post(&path, &body).await?.body)
        }
        Operation::Export { id } => {
            output::json(&client.get(&format!("/workflow-instances/{}/export", known(&id)?)).await?)
        }
        Operation::Import { file } => {
            let document = Value::Object(input::parse(&format!("@{file}"))?);
            let path = "/bulk-actions/import/workflow-instances";
            output::json(&client.post(path, &document).await?.body)
        }
        Operation::Rm { filter, dry_run } => {
            let filter = Value::Object(input::parse(&filter)?);
            remove(client, &filter, dry_run, format).await
        }
        Operation::Plan { verb } => plan(client, verb, format).await,
    }
}

/// Removes the instances that were there at the first call: the server takes the oldest ones first, some
/// at a time.
async fn remove(
    client: &Client,
    filter: &Value,
    dry_run: bool,
    format: Format,
) -> Result<(), Failure> {
    if dry_run {
        let answer = client.post("/alterations/dry-run", filter).await?.body;
        return output::json(&answer);
    }
    let number = |answer: &Value, name: &str| answer[name].as_u64().unwrap_or_default();
    let (mut total, mut deleted) = (None, 0);
    loop {
        let path = "/bulk-actions/delete/workflow-instances/by-filter";
        let answer = client.post(path, filter).await.map_err(|mut failure| {
            if deleted > 0 {
                failure.details.push(format!("{}; more are left", gone(deleted)));
            }
            failure
        })?;
        let answer = answer.body;
        let (now, remaining) = (number(&answer, "deleted"), number(&answer, "remaining"));
        deleted += now;
        let total = *total.get_or_insert(deleted + remaining);
        if now == 0 || remaining == 0 || deleted >= total {
            let document = json!({"deleted": deleted, "remaining": remaining});
            return output::done(format, &gone(deleted), &document);
        }
        let why = answer["stoppedBy"].as_str().map(|why| format!("; {why}")).unwrap_or_default();
        say::message(&format!("{deleted} of {total} are removed{why}"));
    }
}

/// How many instances are removed.
fn gone(count: u64) -> String {
    output::counted(count, "instance is removed", "instances are removed")
}

struct Acting<'c> {
    client: &'c Client,
    format: Format,
}

impl Acting<'_> {
    async fn alter(
        &self,
        id: &str,
        alterations: Vec<Value>,
        how: &How,
        what: &str,
    ) -> Result<(), Failure> {
        let id = known(id)?;
        let body = json!({"alterations": alterations, "dryRun": how.dry_run});
        let answer = self.client.post(&format!("/workflow-instances/{id}/alter"), &body).await?;
        if how.dry_run {
            output::json(&answer.body)?;
            return fits(answer.body["fits"] != Value::Bool(false));
        }
        output::done(self.format, &format!("{id} {what}"), &answer.body)
    }
}

/// A refusal that speaks of the map says how it is written here.
fn with_map(mut failure: Failure) -> Failure {
    let parts = ["map it to", "map them to", "the map of activities"];
    if parts.iter().any(|part| failure.message.contains(part)) {
        let hint = "--map OLD=NEW names the place of an activity; repeat it for more";
        failure.details.push(hint.to_owned());
    }
    failure
}

/// A dry run of alterations that do not fit fails, so that a script stops there.
fn fits(fits: bool) -> Result<(), Failure> {
    if fits { Ok(()) } else { Err(Failure::failed("the alterations do not fit")) }
}

/// Each `old=new`
fn mapped(map: &[String]) -> Result<BTreeMap<&str, &str>, Failure> {
    let mut activities = BTreeMap::new();
    for text in map {
        let halves = text.split_once('=').filter(|(was, is)| !was.is_empty() && !is.is_empty());
        let Some((was, is)) = halves else {
            let message = format!("{text:?} is not OLD=NEW, such as wait-approval=wait-manager");
            return Err(Failure::usage(message));
        };
        if activities.insert(was, is).is_some() {
            return Err(Failure::usage(format!("--map names {was} twice: name one place for it")));
        }
    }
    Ok(activities)
}

/// `name=value`
fn set(text: &str) -> Result<Value, Failure> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::usage(format!("{text:?} is not NAME=JSON, such as count=3")));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok(json!({"type": "ModifyVariable", "variableId": name, "value": value}))
}

fn must_be_plan(id: &str) -> Result<(), Failure> {
    if id.is_empty() || id.contains('/') {
        return Err(Failure::usage(format!("{id:?} is not the id of a plan")));
    }
    Ok(())
}

async fn plan(client: &Client, verb: Plan, format: Format) -> Result<(), Failure> {
    match verb {
        Plan::Submit { alterations, filter, dry_run } => {
            let filter: Map<String, Value> = input::parse(&filter)?;
            let alterations = input::list(&alterations)?;
            if dry_run {
                let mut body = Value::Object(filter);
                body["alterations"] = Value::Array(alterations);
                let answer = client.post("/alterations/dry-run", &body).await?.body;
                output::json(&answer)?;
                return fits(answer["misfitCount"] == json!(0));
            }
            let body = json!({"alterations": alterations, "filter": filter});
            let answer = client.post("/alterations/submit", &body).await?.body;
            match format {
                Format::Json => output::json(&answer),
                Format::Table => say::data(&output::text(&answer, "planId")),
            }
        }
        Plan::Stop { id } => {
            must_be_plan(&id)?;
            output::json(&client.post(&format!("/alterations/{id}/stop"), &json!({})).await?.body)
        }
        Plan::Get { id, status } => {
            must_be_plan(&id)?;
            let status = status.map(|status| format!("?status={status}")).unwrap_or_default();
            output::json(&client.get(&format!("/alterations/{id}{status}")).await?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_speaks_of_the_map_says_how_it_is_written() {
        for (message, expected) in [
            (
                "activity go: the instance is at this activity, which is not there: map it to …",
                true,
            ),
            ("activity a: both would be c there: map them to different activities", true),
            ("the map of activities: version 1 has no activity nope", true),
            ("the instance runs version 2 already", false),
        ] {
            let said = with_map(Failure::failed(message)).to_string();
            assert!(said.starts_with(message), "{said}");
            assert_eq!(said.contains("--map OLD=NEW"), expected, "{said}");
            assert!(!said.contains("`activities`"), "{said}");
        }
    }

    #[test]
    fn one_removed_instance_is_not_said_to_be_several() {
        assert_eq!(gone(1), "1 instance is removed");
        assert_eq!(gone(2), "2 instances are removed");
    }

    #[test]
    fn a_map_names_each_activity_once() {
        let map = |texts: &[&str]| {
            let texts: Vec<_> = texts.iter().map(|&text| text.to_owned()).collect();
            mapped(&texts).map(|found| json!(found)).map_err(|failure| failure.to_string())
        };
        assert_eq!(map(&[]), Ok(json!({})));
        assert_eq!(map(&["a=b", "c=d=e"]), Ok(json!({"a": "b", "c": "d=e"})));
        for wrong in ["a", "=b", "a="] {
            assert!(map(&[wrong]).unwrap_err().contains("is not OLD=NEW"), "{wrong}");
        }
        assert!(map(&["a=b", "a=c"]).unwrap_err().contains("names a twice"));
    }
}
