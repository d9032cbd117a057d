//! `staunch apply`: imports definitions from files and publishes them.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::client::{self, Client, ClientArgs};
use crate::difference::difference;
use crate::document::{self, Document};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

/// The members that make two documents the same definition. The server sets the others.
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
    /// Files, patterns, or folders, whose *.yaml, *.yml and *.json files are applied
    #[arg(short, long = "file", required = true, num_args = 1.., value_name = "FILE|DIR|GLOB")]
    files: Vec<PathBuf>,
    /// Imports drafts and publishes nothing
    #[arg(long)]
    draft: bool,
    /// Changes nothing, and shows the difference to what the server has
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// The result of one file.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) definition_id: String,
    pub(crate) version: String,
    pub(crate) what: &'static str,
    pub(crate) everywhere: bool,
    pub(crate) missing: Vec<String>,
}

/// Applies the files in order, and those that were refused again after the others: a workflow that
/// is used as an activity has to be published before those that use it. Goes on after a file that
/// cannot be read or that the server refuses, so that one run reports all problems.
///
/// # Errors
/// When a file cannot be read, or the server refuses one. The kind is that of the failures if they
/// all have the same.
pub(crate) async fn run(args: ApplyArgs, format: Format) -> Result<(), Failure> {
    let client = Client::new(&args.client)?;
    let mut refusals = Vec::new();
    let mut rest = Vec::new();
    for found in read(&args.files)? {
        match found {
            Ok(document) => rest.push(document),
            Err(failure) => refusals.push(reported(failure)),
        }
    }
    if args.dry_run {
        let version = if args.draft { "Latest" } else { "Published" };
        let mut compared = Vec::new();
        for document in rest {
            match compare(&client, &document, version).await {
                Ok(one) => compared.push(one),
                Err(failure) => refusals.push(reported(named(&document, failure))),
            }
        }
        print_compared(compared, format)?;
        return verdict(&refusals);
    }
    let mut applied = Vec::new();
    while !rest.is_empty() {
        let done = applied.len();
        let mut refused = Vec::new();
        for document in rest {
            match import(&client, &document.body, !args.draft).await {
                Ok(one) => applied.push(one),
                Err(failure) => refused.push((document, failure)),
            }
        }
        if applied.len() == done {
            let refused = refused.into_iter();
            refusals.extend(refused.map(|(it, failure)| reported(named(&it, failure))));
            break;
        }
        rest = refused.into_iter().map(|(document, _)| document).collect();
    }
    print(&applied, format)?;
    verdict(&refusals)
}

fn verdict(refusals: &[Kind]) -> Result<(), Failure> {
    if refusals.is_empty() {
        return Ok(());
    }
    let text = match refusals.len() {
        1 => "1 file is not applied".to_owned(),
        count => format!("{count} files are not applied"),
    };
    Err(Failure::new(Kind::of_all(refusals), text))
}

/// Imports one document and publishes it.
///
/// # Errors
/// When the server refuses it.
pub(crate) async fn apply(client: &Client, document: &Value) -> Result<Applied, Failure> {
    import(client, document, true).await
}

/// Reports a failure at once, and keeps its kind for the exit code.
fn reported(failure: Failure) -> Kind {
    say::message(&failure.to_string());
    failure.kind
}

/// The failure of one file: problems of the definition are reported at their places in it.
fn named(document: &Document, failure: Failure) -> Failure {
    let path = document.path.display();
    let message = format!("{path}: {}", failure.message);
    let findings = failure.body.as_deref().map(client::findings).unwrap_or_default();
    let details = if findings.is_empty() {
        failure.details
    } else {
        findings.iter().map(|finding| document.line(finding)).collect()
    };
    Failure { message, details, ..failure }
}

/// Every document that the arguments name, in order, or the reason why it cannot be read.
///
/// # Errors
/// When no file is named.
fn read(paths: &[PathBuf]) -> Result<Vec<Result<Document, Failure>>, Failure> {
    let files = document::files(paths, document::is_definition)?;
    if files.is_empty() {
        return Err(Failure::usage("there is no *.yaml, *.yml or *.json file to apply"));
    }
    Ok(files.iter().map(|path| Document::read(path)).collect())
}

/// The difference between a document and the version on the server.
async fn compare(client: &Client, document: &Document, version: &str) -> Result<Value, Failure> {
    let id = output::text(&document.body, "definitionId");
    let old = found(client, &id, version).await?.map(unpinned);
    let new = unpinned(document.body.clone());
    let state = match &old {
        None => "new",
        Some(old) if is_same(old, &new) => "unchanged",
        Some(_) => "changed",
    };
    let text = match state {
        "unchanged" => String::new(),
        _ => difference(&old.as_ref().map(readable).unwrap_or_default(), &readable(&new)),
    };
    let file = document.path.display().to_string();
    Ok(json!({"file": file, "definitionId": id, "state": state, "difference": text}))
}

/// The definition without the versions that a publication writes into the activities which run
/// other workflows.
fn unpinned(mut definition: Value) -> Value {
    const PINS: [&str; 4] = [
        "version",
        "workflowDefinitionVersionId",
        "latestAvailablePublishedVersion",
        "latestAvailablePublishedVersionId",
    ];
    let mut rest: Vec<&mut Value> = definition.get_mut("root").into_iter().collect();
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => {
                if members.contains_key("workflowDefinitionId") {
                    members.retain(|name, _| !PINS.contains(&name.as_str()));
                }
                rest.extend(members.values_mut());
            }
            _ => {}
        }
    }
    definition
}

fn print_compared(compared: Vec<Value>, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&Value::Array(compared));
    }
    for one in &compared {
        let text = |name: &str| output::text(one, name);
        say::data(&format!("{}: {} is {}", text("file"), text("definitionId"), text("state")))?;
        if !text("difference").is_empty() {
            say::data(text("difference").trim_end())?;
        }
    }
    Ok(())
}

/// What an author wrote of a definition, in the short form.
pub(crate) fn readable(definition: &Value) -> String {
    let mut content = Map::new();
    content.insert("definitionId".to_owned(), output::text(definition, "definitionId").into());
    for name in CONTENT {
        let value = definition.get(name).map(without_nulls).unwrap_or_default();
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !is_empty {
            content.insert(name.to_owned(), value);
        }
    }
    shortform::write(&document::vocabulary().shorten(&Value::Object(content)))
}

async fn import(client: &Client, document: &Value, publish: bool) -> Result<Applied, Failure> {
    if let Some(applied) = unchanged(client, document).await? {
        return Ok(applied);
    }
    let path = format!("/workflow-definitions/import?publish={publish}");
    let answer = client.post(&path, document).await?;
    let body = &answer.body;
    let problems = client::problems(body);
    if !problems.is_empty() {
        return Err(Failure::failed("the definition has problems").with(problems));
    }
    let definition = body.get("workflowDefinition").unwrap_or(body);
    let missing = body.get("missing").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_unchanged = body.get("alreadyPublished").and_then(Value::as_bool) == Some(true);
    Ok(Applied {
        definition_id: output::text(definition, "definitionId"),
        version: output::text(definition, "version"),
        what: match (publish, is_unchanged) {
            (false, _) => "draft",
            (true, true) => "unchanged",
            (true, false) => "published",
        },
        everywhere: body.get("everywhere").and_then(Value::as_bool).unwrap_or(true),
        missing: missing.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The published version, if it has the same content: then no new version is needed.
async fn unchanged(client: &Client, document: &Value) -> Result<Option<Applied>, Failure> {
    let definition_id = output::text(document, "definitionId");
    if definition_id.is_empty() {
        return Ok(None);
    }
    let Some(published) = found(client, &definition_id, "Published").await? else {
        return Ok(None);
    };
    if !is_same(&published, document) {
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

/// A version of a definition, if there is one.
async fn found(client: &Client, id: &str, version: &str) -> Result<Option<Value>, Failure> {
    let id = client::segment(id);
    match client.get(&format!("/workflow-definitions/{id}?versionOptions={version}")).await {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.kind == Kind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether two documents are the same definition.
pub(crate) fn is_same(left: &Value, right: &Value) -> bool {
    CONTENT.iter().all(|name| same(left, right, name))
}

/// Whether two documents have the same member; absent, null and empty are the same.
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

fn print(applied: &[Applied], format: Format) -> Result<(), Failure> {
    for slow in applied.iter().filter(|applied| !applied.everywhere) {
        say::message(&format!(
            "{}: not yet known to {}",
            slow.definition_id,
            slow.missing.join(", ")
        ));
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
        assert!(is_same(&left, &right));
        assert!(!same(&left, &json!({"root": {"type": "B"}}), "root"));
    }

    #[test]
    fn a_file_that_cannot_be_read_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        write("a.json", b"{");
        write("b.json", b"\xff\xfe");
        write("c.json", b"{\"root\": {}}");
        write("d.txt", b"not meant");
        let gone = folder.path().join("gone.json");
        let found = read(&[gone, folder.path().to_owned()]).unwrap();
        let good: Vec<_> = found.iter().map(Result::is_ok).collect();
        assert_eq!(good, [false, false, false, true], "{found:?}");
        let kinds = found.into_iter().filter_map(Result::err).map(|failure| failure.kind);
        assert!(kinds.into_iter().all(|kind| kind == Kind::Usage));
    }

    #[test]
    fn the_example_is_json_with_the_id_that_the_demo_starts() {
        let text = include_str!("../../examples/order-approval.json");
        let example: Value = serde_json::from_str(text).unwrap();
        assert_eq!(example["definitionId"], "order-approval");
    }
}
