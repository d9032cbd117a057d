//! `staunch workflow validate`: checks files without a server.

use std::path::PathBuf;

use clap::Args;
use engine::Problem;
use model::Definition;
use serde_json::json;

use crate::document::{self, Document};
use crate::output::Format;
use crate::{Failure, output, say};

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Files, patterns, or folders
    #[arg(required = true, num_args = 1.., value_name = "FILE|DIR|GLOB")]
    files: Vec<PathBuf>,
}

/// Checks every file, and prints every problem and warning with its file, line and column. A workflow that is
/// used as an activity has to be among the files.
///
/// # Errors
/// When a file cannot be read, or has problems.
pub(crate) fn run(args: &ValidateArgs, format: Format) -> Result<(), Failure> {
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
    let library = document::library(&definitions);
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
            run(&ValidateArgs { files: vec![folder.path().join(name)] }, Format::Table)
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
}
