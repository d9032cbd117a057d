//! `staunch worker …`: the tasks that wait for workers, the activity types that they have registered,
//! and their permissions.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::nats_permissions::{self, NatsPermissionsArgs};
use crate::client::{self, ClientArgs};
use crate::output::{self, Format, text};
use crate::{Failure, input, say};

#[derive(Args, Debug)]
pub(crate) struct WorkerArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Shows the tasks of each type: waiting, in progress, delivered again, the oldest; and who works
    Ls {
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Shows the activity types that workers have registered, with their subjects
    Types {
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
    Rm {
        /// The type
        type_name: String,
        /// Its version
        version: u32,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Prints the account of NATS of a pool of workers, with what it needs alone
    Creds {
        /// The type of its tasks; `Ship@2` is version 2
        #[arg(required = true, value_name = "TYPE")]
        types: Vec<String>,
    },
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
        Verb::Types { client } => types(&client.client()?.get("/activity-types").await?, format),
        Verb::Register { file, client } => {
            let document = serde_json::from_str(&input::file(&file)?)
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
            let made = client.client()?.post("/activity-types", &document).await?.body;
            let place = place(&made);
            let sentence =
                format!("{} version {}: {place}", text(&made, "type"), text(&made, "version"));
            output::done(format, &sentence, &made)
        }
        Verb::Rm { type_name, version, client } => {
            let path = format!("/activity-types/{}/{version}", client::segment(&type_name));
            client.client()?.delete(&path).await?;
            let document =
                serde_json::json!({"type": type_name, "version": version, "removed": true});
            output::done(format, &format!("{type_name} version {version} is removed"), &document)
        }
        Verb::Creds { types } => {
            nats_permissions::run_for_workers(&NatsPermissionsArgs { worker: types }, format)
        }
    }
}

fn list(mut pools: Value, workers: &Value, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        pools["workers"] = workers["items"].clone();
        return output::json(&pools);
    }
    let headings =
        ["TYPE", "VERSION", "WAITING", "IN PROGRESS", "DELIVERED AGAIN", "ASKING", "OLDEST"];
    let members =
        ["taskType", "version", "waiting", "inProgress", "redelivered", "asking", "oldest"];
    output::table(&headings, &rows(&pools, |pool| members.map(|name| text(pool, name)).to_vec()))?;
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
        row.push(text(kind, "description"));
        row
    };
    output::table(&["TYPE", "VERSION", "MODE", "SUBJECT", "DESCRIPTION"], &rows(types, row))
}

/// The subject of its tasks or requests.
fn place(kind: &Value) -> String {
    let task = text(kind, "taskSubject");
    if task.is_empty() { text(kind, "requestSubject") } else { task }
}

fn rows(list: &Value, row: impl Fn(&Value) -> Vec<String>) -> Vec<Vec<String>> {
    list["items"].as_array().into_iter().flatten().map(row).collect()
}
