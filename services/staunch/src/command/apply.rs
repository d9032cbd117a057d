//! `staunch apply`: imports definitions from files and publishes them.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::client::{self, Client, ClientArgs};
use crate::output::{self, Format};
use crate::{Failure, input, say};

/// What makes two documents the same definition; the rest is the server's.
const CONTENT: [&str; 9] = [
    "name",
    "description",
    "variables",
    "inputs",
    "outputs",
    "outcomes",
    "customProperties",
    "options",
    "root",
];

#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    /// Files, or folders whose *.json files are meant
    #[arg(short, long = "file", required = true, num_args = 1.., value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Imports drafts and publishes nothing
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// What became of one file.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) definition_id: String,
    pub(crate) version: String,
    pub(crate) what: &'static str,
    pub(crate) everywhere: bool,
    pub(crate) missing: Vec<String>,
}

struct Document {
    path: PathBuf,
    body: Value,
}

/// Imports every file first and publishes then, so that definitions may refer to each other in
/// any order. Goes on after a file that is refused, so that all problems are told at once.
///
/// # Errors
/// When a file cannot be read, or the server refuses one.
pub(crate) async fn run(args: ApplyArgs, format: Format) -> Result<(), Failure> {
    let client = Client::new(&args.client)?;
    let documents = read(&args.files)?;
    let mut refusals = Vec::new();
    let mut imported = Vec::new();
    for document in documents {
        match import(&client, &document.body).await {
            Ok(applied) => imported.push((document.path, applied)),
            Err(failure) => refusals.push(told(&document.path, failure)),
        }
    }
    let mut applied = Vec::new();
    for (path, draft) in imported {
        if args.draft || draft.what == "unchanged" {
            applied.push(draft);
            continue;
        }
        match publish(&client, &draft.definition_id).await {
            Ok(published) => applied.push(published),
            Err(failure) => refusals.push(told(&path, failure)),
        }
    }
    print(&applied, format)?;
    refusals.into_iter().next().map_or(Ok(()), Err)
}

/// Imports one document and publishes it.
///
/// # Errors
/// When the server refuses it.
pub(crate) async fn apply(client: &Client, document: &Value) -> Result<Applied, Failure> {
    let draft = import(client, document).await?;
    if draft.what == "unchanged" {
        return Ok(draft);
    }
    publish(client, &draft.definition_id).await
}

/// Says a refusal at once, and gives it on for the exit code.
fn told(path: &Path, failure: Failure) -> Failure {
    let named = Failure { message: format!("{}: {}", path.display(), failure.message), ..failure };
    say::talk(&named.to_string());
    Failure::new(named.kind, "not everything is applied")
}

fn read(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() { files.extend(listed(path)?) } else { files.push(path.clone()) }
    }
    if files.is_empty() {
        return Err(Failure::usage("there is no *.json file to apply"));
    }
    files.into_iter().map(document).collect()
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn document(path: PathBuf) -> Result<Document, Failure> {
    let text = input::file(&path)?;
    match serde_json::from_str(&text) {
        Ok(body) => Ok(Document { path, body }),
        Err(error) => Err(Failure::usage(format!("{} is no JSON: {error}", path.display()))),
    }
}

async fn import(client: &Client, document: &Value) -> Result<Applied, Failure> {
    if let Some(applied) = unchanged(client, document).await? {
        return Ok(applied);
    }
    let answer = client.post("/workflow-definitions/import", document).await?;
    let problems = client::problems(&answer.body);
    if !problems.is_empty() {
        return Err(Failure::failed("the definition has problems").with(problems));
    }
    let definition = definition_in(&answer.body);
    Ok(Applied {
        definition_id: output::text(definition, "definitionId"),
        version: output::text(definition, "version"),
        what: "draft",
        everywhere: true,
        missing: Vec::new(),
    })
}

/// What is published already and says the same, needs no new version.
async fn unchanged(client: &Client, document: &Value) -> Result<Option<Applied>, Failure> {
    let definition_id = output::text(document, "definitionId");
    if definition_id.is_empty() {
        return Ok(None);
    }
    let path = format!("/workflow-definitions/{definition_id}?versionOptions=Published");
    let published = match client.get(&path).await {
        Ok(published) => published,
        Err(failure) if failure.kind == crate::failure::Kind::NotFound => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if CONTENT.iter().any(|name| !same(&published, document, name)) {
        return Ok(None);
    }
    Ok(Some(Applied {
        definition_id,
        version: output::text(&published, "version"),
        what: "unchanged",
        everywhere: true,
        missing: Vec::new(),
    }))
}

/// Absent, null and empty are one.
fn same(left: &Value, right: &Value, name: &str) -> bool {
    let present = |value: &Value| {
        value.get(name).map(without_nulls).filter(|value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => true,
        })
    };
    present(left) == present(right)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let present = members.iter().filter(|(_, member)| !member.is_null());
            present.map(|(name, member)| (name.clone(), without_nulls(member))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

async fn publish(client: &Client, definition_id: &str) -> Result<Applied, Failure> {
    let path = format!("/workflow-definitions/{definition_id}/publish");
    let answer = client.post(&path, &json!({})).await?;
    let problems = client::problems(&answer.body);
    if !problems.is_empty() {
        return Err(Failure::failed("the definition has problems").with(problems));
    }
    let missing = answer.body.get("missing").and_then(Value::as_array).cloned().unwrap_or_default();
    let definition = definition_in(&answer.body);
    Ok(Applied {
        definition_id: definition_id.to_owned(),
        version: output::text(definition, "version"),
        what: "published",
        everywhere: answer.body.get("everywhere").and_then(Value::as_bool).unwrap_or(true),
        missing: missing.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn definition_in(body: &Value) -> &Value {
    body.get("workflowDefinition").unwrap_or(body)
}

fn print(applied: &[Applied], format: Format) -> Result<(), Failure> {
    for slow in applied.iter().filter(|applied| !applied.everywhere) {
        say::talk(&format!("{}: not yet known to {}", slow.definition_id, slow.missing.join(", ")));
    }
    if format == Format::Json {
        let items: Vec<Value> = applied.iter().map(as_json).collect();
        return output::json(&Value::Array(items));
    }
    let rows: Vec<Vec<String>> = applied
        .iter()
        .map(|one| vec![one.definition_id.clone(), one.version.clone(), one.what.to_owned()])
        .collect();
    if rows.is_empty() { Ok(()) } else { output::table(&["DEFINITION", "VERSION", "STATE"], &rows) }
}

fn as_json(applied: &Applied) -> Value {
    let Applied { definition_id, version, what, everywhere, missing } = applied;
    json!({
        "definitionId": definition_id, "version": version.parse::<u32>().ok(), "state": what,
        "everywhere": everywhere, "missing": missing
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_empty_are_the_same_content() {
        let left = json!({"inputs": [], "root": {"type": "A"}});
        let right = json!({"inputs": null, "root": {"type": "A", "name": null}, "id": "other"});
        assert!(CONTENT.iter().all(|name| same(&left, &right, name)));
        assert!(!same(&left, &json!({"root": {"type": "B"}}), "root"));
    }

    #[test]
    fn the_example_is_json_with_the_id_that_the_demo_starts() {
        let text = include_str!("../../examples/order-approval.json");
        let example: Value = serde_json::from_str(text).unwrap();
        assert_eq!(example["definitionId"], "order-approval");
    }
}
