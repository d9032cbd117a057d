//! `staunch workflow validate`: checks files without a server.

use std::path::PathBuf;

use clap::Args;
use engine::Problem;
use model::{ActivityType, Definition};
use serde_json::{Value, json};

use crate::client::ClientArgs;
use crate::document::{self, Document};
use crate::output::Format;
use crate::{Failure, input, output, say};

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Files, patterns, or folders
    #[arg(required = true, num_args = 1.., value_name = "FILE|DIR|GLOB")]
    files: Vec<PathBuf>,
    /// JSON files with activity types of workers: a document, a list of them, or what `staunch worker
    /// types -o json` printed
    #[arg(long, value_name = "FILE|DIR|GLOB")]
    types: Vec<PathBuf>,
    /// Asks the server for the activity types that workers have registered
    #[arg(long)]
    types_of_server: bool,
}

impl ValidateArgs {
    /// The activity types of workers that the files may use.
    ///
    /// # Errors
    /// When a file cannot be read or has no such type, or the server does not answer.
    pub(super) async fn known_types(
        &self,
        client: &ClientArgs,
    ) -> Result<Vec<ActivityType>, Failure> {
        let mut known = Vec::new();
        for path in document::files(&self.types, |name| name.ends_with(".json"))? {
            let shown = path.display().to_string();
            let found: Value = serde_json::from_str(&input::file(&path)?)
                .map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
            known.extend(activity_types(found, &shown)?);
        }
        if self.types_of_server {
            let found = client.client()?.get("/activity-types").await?;
            known.extend(activity_types(found, "the server")?);
        }
        Ok(known)
    }
}

/// Members that the server adds to a document.
const ADDED: [&str; 6] =
    ["key", "taskSubject", "resultSubject", "stream", "consumer", "requestSubject"];

/// The types in a document, a list, or an answer of the server.
fn activity_types(found: Value, place: &str) -> Result<Vec<ActivityType>, Failure> {
    let documents = match found {
        Value::Array(documents) => documents,
        Value::Object(mut answer) if answer.get("items").is_some_and(Value::is_array) => {
            match answer.remove("items") {
                Some(Value::Array(documents)) => documents,
                _ => Vec::new(),
            }
        }
        document => vec![document],
    };
    let read = |mut document: Value| {
        if let Some(members) = document.as_object_mut() {
            ADDED.iter().for_each(|name| drop(members.remove(*name)));
        }
        engine::activity_type(document)
            .map_err(|flaws| Failure::usage(format!("{place}: {}", flaws.join("; "))))
    };
    documents.into_iter().map(read).collect()
}

/// Checks every file, and prints every problem and warning with its file, line and column. A workflow that is
/// used as an activity has to be among the files.
///
/// # Errors
/// When a file cannot be read, or has problems.
pub(super) fn run(
    args: &ValidateArgs,
    known: Vec<ActivityType>,
    format: Format,
) -> Result<(), Failure> {
    let paths = document::files(&args.files, document::is_definition)?;
    if paths.is_empty() {
        return Err(Failure::usage("there is no *.yaml, *.yml or *.json file to check"));
    }
    let mut lines = Vec::new();
    let (mut read, mut definitions) = (Vec::new(), Vec::<Definition>::new());
    let mut unread = 0;
    for path in &paths {
        let found = Document::read_all(path)
            .and_then(|document| document.definition().map(|own| (document, own)));
        match found {
            Ok((document, own)) => {
                unread += usize::from(!document.mistakes.is_empty());
                lines.extend(document.mistakes.iter().cloned());
                read.push(document);
                definitions.push(own);
            }
            Err(failure) => {
                unread += 1;
                match failure.details.is_empty() {
                    true => lines.push(failure.message),
                    false => lines.extend(failure.details),
                }
            }
        }
    }
    let mut library = document::library(&definitions);
    library.register(known);
    let mut warnings = Vec::new();
    for (document, definition) in read.iter().zip(&definitions) {
        let found = document::examine(definition, &library).problems.into_iter();
        let (errors, rest): (Vec<_>, Vec<_>) = found.partition(Problem::is_error);
        lines.extend(document.lines(&errors));
        warnings.extend(document.lines(&rest));
    }
    lines.extend(document::clashes(&read).into_iter().map(|(_, line)| line));
    if format == Format::Json {
        output::json(&json!({"files": paths.len(), "problems": lines, "warnings": warnings}))?;
    } else {
        warnings.iter().for_each(|line| say::message(line));
        lines.iter().try_for_each(|line| say::data(&say::one_line(line)))?;
    }
    match (lines.len(), unread) {
        (0, _) if format == Format::Json => Ok(()),
        (0, _) => {
            say::message(&match paths.len() {
                1 => "1 file is valid".to_owned(),
                count => format!("{count} files are valid"),
            });
            Ok(())
        }
        (count, 0) => Err(Failure::failed(found(count))),
        (count, _) => Err(Failure::usage(found(count))),
    }
}

fn found(problems: usize) -> String {
    match problems {
        1 => "there is 1 problem".to_owned(),
        count => format!("there are {count} problems"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn files_that_belong_together_are_checked_together() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "child.yaml",
            "options: {usableAsActivity: true}\nroot: {type: WriteLine, text: hi}\n",
        );
        write("parent.yaml", "root: [{type: Child, workflowDefinitionId: child}]\n");
        let check = |name: &str| {
            let files = vec![folder.path().join(name)];
            let args = ValidateArgs { files, types: Vec::new(), types_of_server: false };
            run(&args, Vec::new(), Format::Table)
        };
        check("").unwrap();
        assert_eq!(check("parent.yaml").unwrap_err().kind, Kind::Failed);
        write("one.yaml", "root: {type: HttpEndpoint, path: orders, canStartWorkflow: true}\n");
        check("").unwrap();
        write(
            "two.yaml",
            "root:\n  type: HttpEndpoint\n  path: /Orders\n  canStartWorkflow: true\n",
        );
        assert_eq!(check("").unwrap_err().kind, Kind::Failed);
        check("two.yaml").unwrap();
        write("broken.yaml", "root: [");
        assert_eq!(check("").unwrap_err().kind, Kind::Usage);
        assert_eq!(check("none*").unwrap_err().kind, Kind::Usage);
    }
    /// A server that is not asked.
    fn nowhere() -> ClientArgs {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            client: ClientArgs,
        }
        <Line as clap::Parser>::parse_from(["x", "--server", "http://127.0.0.1:1"]).client
    }

    #[tokio::test]
    async fn types_of_workers_are_known_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        write("pay.yaml", "root: [{type: Acme.Pay, amount: 7}]\n");
        write("wrong.yaml", "root: [{type: Acme.Pay, amount: much}]\n");
        let kind = r#"{"type": "Acme.Pay", "version": 1, "key": "Acme=2EPay.1",
            "input": {"properties": {"amount": {"type": "number"}}}}"#;
        write("pay.json", kind);
        write("list.json", &format!("[{kind}]"));
        write("answer.json", &format!(r#"{{"count": 1, "items": [{kind}], "faulty": []}}"#));
        let check = async |name: &str, types: &[&str]| {
            let types = types.iter().map(|name| path(name)).collect();
            let args = ValidateArgs { files: vec![path(name)], types, types_of_server: false };
            let known = args.known_types(&nowhere()).await?;
            run(&args, known, Format::Table)
        };
        assert_eq!(check("pay.yaml", &[]).await.unwrap_err().kind, Kind::Failed);
        for types in ["pay.json", "list.json", "answer.json", ""] {
            let given = if types.is_empty() { vec!["list.json", "pay.json"] } else { vec![types] };
            check("pay.yaml", &given).await.unwrap();
            assert_eq!(check("wrong.yaml", &given).await.unwrap_err().kind, Kind::Failed);
        }
        write("pay.json", r#"{"type": "Acme.Pay", "version": 0, "colour": 1}"#);
        let refused = check("pay.yaml", &["pay.json"]).await.unwrap_err();
        assert!(refused.message.contains("pay.json") && refused.message.contains("colour"));
    }
}
