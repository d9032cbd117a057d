//! `staunch apply`: imports definitions from files and publishes them.

mod upload;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use model::Definition;
use rehearsal::difference;
use serde_json::{Map, Value, json};

use crate::client::{self, Client, ClientArgs};
use crate::document::{self, Document};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

pub(crate) use upload::{Applied, apply, late, published_again};

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
    /// Changes nothing: shows the difference to what the server has, and what a publication would refuse
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// Applies the files. Workflows that use each other as activities are published together, all or
/// none. Goes on after a file that cannot be read or that the server refuses, so that one run reports
/// all problems: for a file with mistakes also those that the server finds in the rest of it.
///
/// # Errors
/// When a file cannot be read, or the server refuses one. The kind is that of the failures if they
/// all have the same.
pub(crate) async fn run(args: ApplyArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let mut refusals = Vec::new();
    let mut documents = Vec::new();
    for found in read(&args.files)? {
        match found {
            Ok(document) => documents.push(document),
            Err(failure) => refusals.push(reported(&failure)),
        }
    }
    let mut documents = alone(documents, &mut refusals);
    for (number, line) in document::clashes(&documents) {
        documents[number].mistakes.push(line);
    }
    if args.dry_run {
        let version = if args.draft { "Latest" } else { "Published" };
        let mut compared = Vec::new();
        for document in documents.iter().filter(|it| it.mistakes.is_empty()) {
            match compare(&client, document, version).await {
                Ok(one) => compared.push(one),
                Err(failure) => {
                    refusals.push(reported(&named(std::slice::from_ref(document), failure)));
                }
            }
        }
        print_compared(compared, format)?;
    }
    let groups = if args.draft {
        documents.into_iter().map(|document| vec![document]).collect()
    } else {
        groups(documents)
    };
    let mut applied = Vec::new();
    for group in &groups {
        let uploaded = match group.as_slice() {
            all if all.iter().any(|it| !it.mistakes.is_empty()) => {
                Err(mistaken(&client, all, args.draft).await)
            }
            _ if args.dry_run && args.draft => Ok(Vec::new()),
            all if args.dry_run => upload::together(&client, all, true).await,
            [one] => upload::import(&client, &one.body, !args.draft).await.map(|it| vec![it]),
            several => upload::together(&client, several, false).await,
        };
        match uploaded {
            Ok(done) => applied.extend(done),
            Err(failure) => {
                let kind = reported(&named(group, failure));
                refusals.extend(group.iter().map(|_| kind));
            }
        }
    }
    upload::leave_out_warnings_of_each_other(&mut applied);
    let documents: Vec<_> = groups.into_iter().flatten().collect();
    applied.iter().for_each(|one| warn(&documents, one));
    if !args.dry_run {
        upload::print(&applied, format)?;
    }
    verdict(&refusals)
}

/// The failure of files that are applied together and of which some have mistakes: with what the
/// server would refuse in the rest of them, unless they are drafts.
async fn mistaken(client: &Client, documents: &[Document], are_drafts: bool) -> Failure {
    let mut lines: Vec<_> = documents.iter().flat_map(|it| it.mistakes.clone()).collect();
    if !are_drafts && let Err(refused) = upload::together(client, documents, true).await {
        let found = findings(documents, &refused).into_iter();
        let new: Vec<_> = found.filter(|line| !lines.contains(line)).collect();
        lines.extend(new);
    }
    Failure::usage("cannot be applied").with(lines)
}

/// The documents whose id no other one has. Of those that share one, none is applied: which of them
/// is meant, only their author knows.
fn alone(documents: Vec<Document>, refusals: &mut Vec<Kind>) -> Vec<Document> {
    let mut paths: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for document in &documents {
        paths.entry(document.id()).or_default().push(document.path.display().to_string());
    }
    paths.retain(|id, paths| !id.is_empty() && paths.len() > 1);
    for (id, paths) in &paths {
        let files = paths.join(", ");
        let message = format!("{files}: these files have the same definitionId {id:?}: change one");
        let kind = reported(&Failure::usage(message));
        refusals.extend(paths.iter().map(|_| kind));
    }
    documents.into_iter().filter(|it| !paths.contains_key(&it.id())).collect()
}

/// The documents that belong together: those that use each other as activities, directly or not.
fn groups(documents: Vec<Document>) -> Vec<Vec<Document>> {
    let definitions: Vec<_> = documents.iter().map(|it| it.definition().ok()).collect();
    // Each document has the number of the first one of its group.
    let mut numbers: Vec<_> = (0..documents.len()).collect();
    for (user, definition) in definitions.iter().enumerate() {
        let references = definition.iter().flat_map(|it| document::engine().references(it));
        for reference in references {
            let is_used =
                |it: &Option<Definition>| it.as_ref().is_some_and(|it| reference.means(it));
            let Some(used) = definitions.iter().position(is_used) else { continue };
            let (one, other) = (numbers[user], numbers[used]);
            let joined = one.min(other);
            for number in numbers.iter_mut().filter(|it| [one, other].contains(it)) {
                *number = joined;
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<Document>> = BTreeMap::new();
    for (number, document) in numbers.into_iter().zip(documents) {
        groups.entry(number).or_default().push(document);
    }
    groups.into_values().collect()
}

/// Tells what the author of a published definition should know, also about those that use it and were
/// published again.
fn warn(documents: &[Document], applied: &Applied) {
    for warning in &applied.warnings {
        let of = match output::text(warning, "definitionId") {
            own if own.is_empty() => applied.definition_id.clone(),
            user => user,
        };
        say::message(&match documents.iter().find(|it| it.id() == of) {
            Some(document) => document.line(warning),
            None => format!("warning: workflow {of}: {}", client::problem(warning)),
        });
    }
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

/// Reports a failure at once, and keeps its kind for the exit code.
fn reported(failure: &Failure) -> Kind {
    say::message(&failure.to_string());
    failure.kind
}

/// The failure of files that are applied together: problems of the definitions are reported at
/// their places in the files.
fn named(documents: &[Document], failure: Failure) -> Failure {
    let paths: Vec<_> = documents.iter().map(|it| it.path.display().to_string()).collect();
    let message = format!("{}: {}", paths.join(", "), failure.message);
    let found = findings(documents, &failure);
    let details = if found.is_empty() { failure.details } else { found };
    Failure { message, details, ..failure }
}

/// The lines of the problems that the server found in the definitions.
fn findings(documents: &[Document], failure: &Failure) -> Vec<String> {
    let line = |finding: &Value| {
        let id = output::text(finding, "definitionId");
        let document = documents.iter().find(|it| it.id() == id).or(documents.first());
        document.map(|document| document.line(finding))
    };
    let found = failure.body.as_deref().map(client::findings).unwrap_or_default();
    found.iter().filter_map(line).collect()
}

/// Every document that the arguments name, in order, with its mistakes, or the reason why it cannot
/// be read.
///
/// # Errors
/// When no file is named.
fn read(paths: &[PathBuf]) -> Result<Vec<Result<Document, Failure>>, Failure> {
    let files = document::files(paths, document::is_definition)?;
    if files.is_empty() {
        return Err(Failure::usage("there is no *.yaml, *.yml or *.json file to apply"));
    }
    Ok(files.iter().map(|path| Document::read_all(path)).collect())
}

/// The difference between a document and the version on the server.
async fn compare(client: &Client, document: &Document, version: &str) -> Result<Value, Failure> {
    let id = document.id();
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
pub(crate) fn unpinned(mut definition: Value) -> Value {
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

/// The definition with the node ids that the server has, in exports too, whatever a file says.
fn placed(mut definition: Value) -> Value {
    if let Some(root) = definition.get_mut("root") {
        let mut whole = Definition { root: root.take(), ..Definition::default() };
        document::engine().place(&mut whole);
        *root = whole.root;
    }
    definition
}

/// What an author wrote of a definition, in the short form.
pub(crate) fn readable(definition: &Value) -> String {
    let definition = &placed(definition.clone());
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

/// A version of a definition, if there is one.
async fn found(client: &Client, id: &str, version: &str) -> Result<Option<Value>, Failure> {
    let id = client::segment(id);
    match client.get(&format!("/workflow-definitions/{id}/export?versionOptions={version}")).await {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.kind == Kind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether two documents are the same definition.
pub(crate) fn is_same(left: &Value, right: &Value) -> bool {
    let [left, right] = [left, right].map(|document| placed(document.clone()));
    CONTENT.iter().all(|name| same(&left, &right, name))
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
    fn node_ids_that_a_file_has_are_those_of_the_server() {
        let flow = |owner: &str, text: &str| {
            json!({"root": {"type": "Elsa.Sequence", "activities": [{"type": "Elsa.WriteLine",
                "id": "w", "nodeId": format!("{owner}:w"), "text": text}]}})
        };
        let (file, exported) = (flow("Workflow1:", "a"), flow("Workflow1:Sequence1", "a"));
        assert!(is_same(&file, &exported));
        assert_eq!(readable(&file), readable(&exported));
        assert!(!is_same(&file, &flow("Workflow1:Sequence1", "b")));
        let data = |id: &str| {
            let payload = json!({"type": "t", "nodeId": id});
            json!({"root": {"type": "Elsa.PublishEvent", "payload": payload}})
        };
        assert!(!is_same(&data("a"), &data("b")), "data is not changed");
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
    fn files_belong_together_where_one_uses_another() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, root: &str| {
            std::fs::write(folder.path().join(name), format!("root: [{root}]\n")).unwrap();
        };
        let runs = |id: &str| format!("{{type: Used, workflowDefinitionId: {id}}}");
        write("a.yaml", &runs("d"));
        write("b.yaml", "{type: WriteLine, text: alone}");
        write("c.yaml", &format!("{}, {}", runs("d"), runs("elsewhere")));
        write("d.yaml", "{type: WriteLine, text: hi}");
        write("e.yaml", &runs("elsewhere"));
        let read = read(&[folder.path().to_owned()]).unwrap();
        let groups = groups(read.into_iter().map(Result::unwrap).collect());
        let ids: Vec<Vec<_>> =
            groups.iter().map(|group| group.iter().map(Document::id).collect()).collect();
        assert_eq!(ids, [vec!["a", "c", "d"], vec!["b"], vec!["e"]]);
    }

    #[test]
    fn the_example_is_json_with_the_id_that_the_demo_starts() {
        let text = include_str!("../../examples/order-approval.json");
        let example: Value = serde_json::from_str(text).unwrap();
        assert_eq!(example["definitionId"], "order-approval");
    }
}
