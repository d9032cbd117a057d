//! `staunch worker …`: the tasks that wait for workers, what workers say of those that they have, the
//! activity types that they have registered, their permissions, and a worker that posts tasks to a URL.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::ActivityType;
use protocol::subject;
use serde_json::Value;

use super::nats_permissions::{self, NatsPermissionsArgs};
use crate::client::{self, ClientArgs};
use crate::output::{self, Format, text};
use crate::{Failure, input, say};

mod described;
mod forward;
mod progress;
mod webhook;

pub(crate) use forward::{ForwardArgs, forward};
pub(crate) use progress::{ProgressArgs, progress};

/// Characters of a description in a table; JSON has all of it.
const DESCRIPTION_CHARS_MAX: usize = 80;

/// What is shown of the tasks of a type: the heading, and the member of the answer.
const FIGURES: [(&str, &str); 8] = [
    ("TYPE", "taskType"),
    ("VERSION", "version"),
    ("WAITING", "waiting"),
    ("IN PROGRESS", "inProgress"),
    ("DELIVERED AGAIN", "redelivered"),
    ("ASKING", "asking"),
    ("OLDEST", "oldest"),
    ("WAITS SINCE", "oldestWaiting"),
];

#[derive(Args, Debug)]
pub(crate) struct WorkerArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Shows the tasks of each type in the stream: waiting, in progress, delivered again, the oldest, and
    /// since when one waits that no worker has taken; and who works
    Ls {
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Shows the activity types that workers have registered, with their subjects; of one, a page of
    /// Markdown with its inputs, outputs and outcomes
    Types {
        /// The type whose page is printed; `Ship@2` is version 2, `Ship` every version
        #[arg(value_name = "TYPE")]
        of: Option<String>,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Registers an activity type, or changes it
    Register {
        /// A JSON file with the document of the type
        file: PathBuf,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Removes a version of an activity type; published definitions go on using it
    #[command(disable_version_flag = true)]
    Rm {
        /// The type; `Ship@2` is version 2
        #[arg(value_name = "TYPE")]
        type_name: String,
        /// Its version, where it is not behind the type
        version: Option<u32>,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Prints the account of NATS of a pool of workers, with what it needs alone
    Creds {
        /// The type of its tasks; `Ship@2` is version 2
        #[arg(required = true, value_name = "TYPE", value_parser = input::task_kind)]
        types: Vec<String>,
        /// Lets them put objects, for large results. The object store is one for all, so they can also
        /// replace and remove the objects of others
        #[arg(long)]
        with_objects: bool,
    },
    /// Posts tasks to a URL, as Elsa's webhooks do, until it is stopped; the application that answers
    /// there completes them later
    Forward(Box<ForwardArgs>),
    /// Shows how far workers are with their tasks, as they say it from now on: a message a line
    Progress(Box<ProgressArgs>),
}

/// Runs one of the `worker` commands.
///
/// # Errors
/// The refusal of the server; unavailable if it does not answer.
pub(crate) async fn run(args: WorkerArgs, format: Format) -> Result<(), Failure> {
    match args.verb {
        Verb::Ls { client } => {
            let client = client.client()?;
            let (pools, workers) =
                tokio::try_join!(client.get("/tasks/pools"), client.get("/tasks/workers"))?;
            list(pools, &workers, format)
        }
        Verb::Types { of, client } => {
            let all = client.client()?.get("/activity-types").await?;
            match of {
                None => types(&all, format),
                Some(of) => pages(&described::wanted(&all, &of)?, format),
            }
        }
        Verb::Register { file, client } => {
            let text = input::file(&file)?;
            let wrong = |flaw: String| Failure::usage(format!("{}: {flaw}", file.display()));
            ActivityType::check_members(text.as_bytes()).map_err(wrong)?;
            let document = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            let made = client.client()?.post("/activity-types", &document).await?.body;
            output::done(format, &registered(&made), &made)
        }
        Verb::Rm { type_name, version, client } => {
            let (type_name, version) = of_version(&type_name, version)?;
            let path = format!("/activity-types/{}/{version}", client::segment(type_name));
            client.client()?.delete(&path).await?;
            let document =
                serde_json::json!({"type": type_name, "version": version, "removed": true});
            output::done(format, &format!("{type_name} version {version} is removed"), &document)
        }
        Verb::Creds { types, with_objects } => {
            let responders = responders(&types)?;
            let args = NatsPermissionsArgs {
                worker: types,
                with_objects,
                ..NatsPermissionsArgs::default()
            };
            nats_permissions::run_for_workers(&args, format)?;
            say::message(&responders);
            Ok(())
        }
        // They connect to the broker, beside the other commands of that kind.
        Verb::Forward(_) | Verb::Progress(_) => Ok(()),
    }
}

/// A type and its version, as two words or as one.
fn of_version(type_name: &str, version: Option<u32>) -> Result<(&str, u32), Failure> {
    match version {
        _ if type_name.is_empty() => {
            Err(Failure::usage("the type is empty: `staunch worker types` lists all"))
        }
        Some(version) => Ok((type_name, version)),
        None if type_name.contains('@') => subject::task_kind(type_name).map_err(Failure::usage),
        None => Err(Failure::usage(format!(
            "which version of {type_name}? Write {type_name}@1 for version 1; `staunch worker types` \
             lists them"
        ))),
    }
}

fn list(mut pools: Value, workers: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        pools["workers"] = workers["items"].clone();
        return output::json(&pools);
    }
    let (headings, members): (Vec<_>, Vec<_>) = FIGURES.into_iter().unzip();
    let row = |pool: &Value| members.iter().map(|name| text(pool, name)).collect::<Vec<_>>();
    output::table(&headings, &rows(&pools, row))?;
    let who = rows(workers, |worker| {
        let [name, id, host] = ["name", "id", "host"].map(|member| text(worker, member));
        vec![name, id, host, kinds(worker)]
    });
    if who.is_empty() {
        say::message("No worker has said who it is: docs/workers.md, \"Who works\".");
        return Ok(());
    }
    say::data("")?;
    output::table(&["WORKER", "ID", "HOST", "WORKS AT"], &who)
}

/// The types at which a worker works: tasks with how many at a time, and activities that it answers.
fn kinds(worker: &Value) -> String {
    let each = |list: &str| worker[list].as_array().cloned().unwrap_or_default();
    let tasks = each("tasks").into_iter().map(|task| {
        let kind = format!("{}@{}", text(&task, "taskType"), text(&task, "version"));
        match task["concurrency"].as_u64() {
            Some(count) => format!("{kind} ({count} at a time)"),
            None => kind,
        }
    });
    let requests = each("requests").into_iter().map(|request| {
        format!("{}@{} (answers)", text(&request, "activityType"), text(&request, "version"))
    });
    tasks.chain(requests).collect::<Vec<_>>().join(", ")
}

fn types(types: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(types);
    }
    let faulty = types["faulty"].as_array().into_iter().flatten();
    for one in faulty {
        let problems = one["problems"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let problems: Vec<_> = problems.collect();
        say::message(&format!(
            "warning: the document {} cannot be used: {}",
            text(one, "key"),
            problems.join("; ")
        ));
    }
    let row = |kind: &Value| {
        let mut row = ["type", "version", "mode"].map(|name| text(kind, name)).to_vec();
        row.push(place(kind));
        row.push(output::cut(&text(kind, "description"), DESCRIPTION_CHARS_MAX));
        row
    };
    output::table(&["TYPE", "VERSION", "MODE", "SUBJECT", "DESCRIPTION"], &rows(types, row))
}

/// The pages of some versions of a type; for programs their documents.
fn pages(kinds: &[&Value], format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(&serde_json::json!({"count": kinds.len(), "items": kinds})),
        Format::Table => {
            let pages: Vec<_> = kinds.iter().map(|kind| described::page(kind)).collect();
            say::data(&pages.join("\n\n"))
        }
    }
}

/// What was registered, and where its workers find their work and send their results.
fn registered(made: &Value) -> String {
    let places = [
        ("tasks on", "taskSubject"),
        ("requests on", "requestSubject"),
        ("results on", "resultSubject"),
        ("consumer", "consumer"),
        ("of the stream", "stream"),
    ];
    let places = places.map(|(what, member)| (what, text(made, member)));
    let given = places.iter().filter(|(_, place)| !place.is_empty());
    let given: Vec<_> = given.map(|(what, place)| format!("{what} {place}")).collect();
    format!("{} version {}: {}", text(made, "type"), text(made, "version"), given.join(", "))
}

/// Whom the printed permissions are not for. The mode of a type is not known here: no server is asked.
fn responders(types: &[String]) -> Result<String, Failure> {
    let subjects = types.iter().map(|kind| {
        let (type_name, version) = subject::task_kind(kind).map_err(Failure::usage)?;
        Ok(subject::act(type_name, version))
    });
    let subjects = subjects.collect::<Result<Vec<_>, Failure>>()?;
    Ok(format!(
        "These permissions are for workers of tasks. An activity of mode request is answered by a \
         user in the account of Staunch that may subscribe to {}: docs/activity-types.md, \
         \"Permissions\".",
        subjects.join(", ")
    ))
}

/// The subject of its tasks or requests.
fn place(kind: &Value) -> String {
    let task = text(kind, "taskSubject");
    if task.is_empty() { text(kind, "requestSubject") } else { task }
}

fn rows(list: &Value, row: impl Fn(&Value) -> Vec<String>) -> Vec<Vec<String>> {
    list["items"].as_array().into_iter().flatten().map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_registered_type_is_shown_with_all_that_its_workers_need() {
        let task = json!({"type": "Ship", "version": 2, "mode": "task", "stream": "STAUNCH_TASKS",
            "taskSubject": "tasks.2", "resultSubject": "results.2.{taskId}", "consumer": "c-2"});
        assert_eq!(
            registered(&task),
            "Ship version 2: tasks on tasks.2, results on results.2.{taskId}, consumer c-2, of the \
             stream STAUNCH_TASKS"
        );
        let request = json!({"type": "upper", "version": 1, "requestSubject": "requests.upper"});
        assert_eq!(registered(&request), "upper version 1: requests on requests.upper");
    }

    #[test]
    fn a_version_stands_behind_its_type_or_beside_it() {
        for (type_name, version, expected) in
            [("X1", Some(3), ("X1", 3)), ("X1@3", None, ("X1", 3)), ("a@b", Some(1), ("a@b", 1))]
        {
            assert_eq!(of_version(type_name, version).unwrap(), expected);
        }
        for (type_name, part) in [("X1", "Write X1@1 for version 1"), ("X1@x", "\"x\" is none")] {
            let failure = of_version(type_name, None).unwrap_err();
            assert!(failure.message.contains(part), "{failure}");
        }
    }

    #[test]
    fn permissions_for_tasks_say_what_a_responder_needs() {
        let said = responders(&["upper".to_owned(), "Ship@2".to_owned()]).unwrap();
        assert!(said.contains("subscribe to staunch.act.upper, staunch.act.Ship.2: "), "{said}");
    }
}
