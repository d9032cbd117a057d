//! `staunch workflow …`: lists, shows, compares, exports, validates, publishes and retracts
//! definitions, and prints the schema of the short form.

mod export;
mod validate;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::limits::PAGE_ITEMS_MAX;
use rehearsal::difference;
use serde_json::Value;

use super::apply::{is_same, late, published_again, readable, unpinned};
use super::label;
use crate::client::{self, Client, ClientArgs, segment};
use crate::document::Document;
use crate::output::{self, Format};
use crate::{Failure, say};

/// The path of the schema of the short form.
const SCHEMA: &str = "/workflow-definitions/short-form/schema";

#[derive(Args, Debug)]
pub(crate) struct WorkflowArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists definitions, newest first
    Ls(ListArgs),
    /// Shows one definition
    #[command(disable_version_flag = true)]
    Get {
        /// Its id
        id: String,
        /// Latest, Published or a number
        #[arg(long, default_value = "Latest", value_name = "VERSION")]
        version: String,
    },
    /// Shows the difference between two versions, or between a version and a file
    Diff {
        /// The definition's id; with a file, the file's if not given
        id: Option<String>,
        /// The file
        #[arg(short, long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// The first version: Latest, Published or a number
        #[arg(long, default_value = "Published", value_name = "VERSION")]
        from: String,
        /// The second version
        #[arg(long, default_value = "Latest", value_name = "VERSION", conflicts_with = "file")]
        to: String,
    },
    /// Writes definitions to standard output or into files
    #[command(disable_version_flag = true)]
    Export(export::ExportArgs),
    /// Checks files without a server
    Validate(validate::ValidateArgs),
    /// Prints the JSON Schema of the short form with the activity types of the server, for editors
    Schema,
    /// Publishes the newest version
    Publish {
        /// The definition's id
        id: String,
    },
    /// Retracts the published version: nothing starts it any more
    Retract {
        /// The definition's id
        id: String,
    },
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Part of an id, a name or a description
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only definitions with one of these labels, by name or id
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
    /// At most this many
    #[arg(
        long,
        default_value_t = 50,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=PAGE_ITEMS_MAX)
    )]
    limit: u64,
}

/// Runs one of the `workflow` commands.
///
/// # Errors
/// The server's refusal; for `validate`, a file with problems.
pub(crate) async fn run(args: WorkflowArgs, format: Format) -> Result<(), Failure> {
    if let Verb::Validate(files) = args.verb {
        let known = files.known_types(&args.client).await?;
        return validate::run(&files, known, format);
    }
    let client = args.client.client()?;
    match args.verb {
        Verb::Ls(filter) => list(&client, &filter, format).await,
        Verb::Get { id, version } => get(&client, &id, &version, format).await,
        Verb::Diff { id, file: Some(file), from, .. } => {
            let document = Document::read(&file)?;
            let id = id.unwrap_or_else(|| output::text(&document.body, "definitionId"));
            let old = version_of(&client, &id, &from).await?;
            shown(&unpinned(old), &unpinned(document.body), format)
        }
        Verb::Diff { id: Some(id), from, to, .. } => {
            let old = version_of(&client, &id, &from).await?;
            let new = version_of(&client, &id, &to).await?;
            shown(&old, &new, format)
        }
        Verb::Diff { .. } => Err(Failure::usage("name a definition, or a file with --file")),
        Verb::Export(args) => export::run(&client, args).await,
        Verb::Validate(_) => Ok(()),
        Verb::Schema => output::json(&client.get(SCHEMA).await?),
        Verb::Publish { id } => change(&client, &id, "publish", format).await,
        Verb::Retract { id } => change(&client, &id, "retract", format).await,
    }
}

/// A version of a definition, in full.
async fn version_of(client: &Client, id: &str, version: &str) -> Result<Value, Failure> {
    let (id, version) = (segment(id), segment(version));
    client.get(&format!("/workflow-definitions/{id}/export?versionOptions={version}")).await
}

async fn list(client: &Client, filter: &ListArgs, format: Format) -> Result<(), Failure> {
    let mut path = format!(
        "/workflow-definitions?versionOptions=Latest&orderBy=Created&page=0&pageSize={}",
        filter.limit
    );
    if let Some(text) = &filter.search {
        path.push_str(&format!("&searchTerm={}", segment(text)));
    }
    for id in label::ids_of(client, &filter.label).await? {
        path.push_str(&format!("&label={}", segment(&id)));
    }
    let page = client.get(&path).await?;
    let items = page.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
    if format == Format::Json {
        return output::json(&Value::Array(items));
    }
    let row = |item: &Value| {
        let is = |name: &str| item.get(name) == Some(&Value::Bool(true));
        let state = if is("isPublished") { "published" } else { "draft" };
        vec![
            output::text(item, "definitionId"),
            output::text(item, "version"),
            state.to_owned(),
            output::text(item, "name"),
        ]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    output::table(&["DEFINITION", "VERSION", "STATE", "NAME"], &rows)
}

async fn get(client: &Client, id: &str, version: &str, format: Format) -> Result<(), Failure> {
    let definition = version_of(client, id, version).await?;
    if format == Format::Json {
        return output::json(&definition);
    }
    let text = |name: &str| output::text(&definition, name);
    output::pairs(&[
        ("definition", text("definitionId")),
        ("name", text("name")),
        ("description", text("description")),
        ("version", text("version")),
        ("version id", text("id")),
        ("published", text("isPublished")),
        ("latest", text("isLatest")),
        ("created", text("createdAt")),
    ])?;
    say::data("")?;
    say::data(readable(&definition).trim_end())
}

fn shown(old: &Value, new: &Value, format: Format) -> Result<(), Failure> {
    let is_same = is_same(old, new);
    let text = difference(&readable(old), &readable(new));
    match format {
        Format::Json => output::json(&serde_json::json!({"same": is_same, "difference": text})),
        Format::Table if is_same => {
            say::message("there is no difference");
            Ok(())
        }
        Format::Table => say::data(text.trim_end()),
    }
}

async fn change(client: &Client, id: &str, verb: &str, format: Format) -> Result<(), Failure> {
    let path = format!("/workflow-definitions/{}/{verb}", segment(id));
    let answer = client.post(&path, &serde_json::json!({})).await?;
    let body = &answer.body;
    let problems = client::problems(body);
    if !problems.is_empty() {
        return Err(Failure::failed("the definition has problems").with(problems));
    }
    let definition = body.get("workflowDefinition").unwrap_or(body);
    let version = output::text(definition, "version");
    let late = late(body).map_or_else(String::new, |late| format!("; {late}"));
    let users = body.get("consumingWorkflowCount").and_then(Value::as_u64).unwrap_or_default();
    let again = if users == 0 { String::new() } else { format!("; {}", published_again(users)) };
    let done = if verb == "publish" { "published" } else { "retracted" };
    output::done(format, &format!("version {version} of {id} is {done}{late}{again}"), body)
}
