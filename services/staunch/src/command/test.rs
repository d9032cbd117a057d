//! `staunch test`: runs the tests of definitions with the engine itself, without a server.
//!
//! A file `order.test.yaml` has tests of the definition `order.yaml` beside it. Calls, tasks and
//! child workflows are answered as the test says, events come when they are waited for, and time is
//! skipped. A definition may have tests with it, as Studio saves them: then its file is named.
//! `docs/testing.md` describes the files.

mod coverage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use engine::{Installation, Problem};
use rehearsal::{Coverage, Limits, Stage, Suite, Test, Verdict};
use serde_json::{Value, json};
use shortform::Tree;

use crate::document::{self, Document, TEST_ENDS, engine};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, input, say};

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Files, patterns, or folders with *.test.yaml, *.test.yml and *.test.json files; the file of a
    /// definition runs the tests that were saved with it
    #[arg(default_value = ".", num_args = 0.., value_name = "FILE|DIR|GLOB")]
    files: Vec<PathBuf>,
    /// Shows the activities and connections that no test has run
    #[arg(long)]
    coverage: bool,
    /// Prints the JSON Schema of test files, for editors, and runs nothing
    #[arg(long, conflicts_with_all = ["coverage", "files"])]
    schema: bool,
    #[command(flatten)]
    settings: chassis::Args,
}

/// The result of one test.
struct Outcome {
    file: String,
    name: String,
    /// The difference of each expectation that was not met.
    differences: Vec<String>,
}

/// Runs every test. Goes on after a file that cannot be read, so that one run reports all problems.
///
/// # Errors
/// When a file cannot be read, a definition is not valid, or a test fails.
pub(crate) fn run(args: &TestArgs, format: Format) -> Result<(), Failure> {
    if args.schema {
        return output::json(&rehearsal::schema());
    }
    let installation = installation(&args.settings)?;
    let files = document::files(&args.files, document::is_test)?;
    if files.is_empty() {
        return Err(Failure::usage("there is no *.test.yaml, *.test.yml or *.test.json file"));
    }
    let (mut outcomes, mut refusals) = (Vec::new(), Vec::new());
    let mut coverages: BTreeMap<PathBuf, Coverage> = BTreeMap::new();
    for file in &files {
        match run_file(file, &installation, &mut coverages, format) {
            Ok(found) => outcomes.extend(found),
            Err(failure) => {
                say::message(&failure.to_string());
                refusals.push(failure.kind);
            }
        }
    }
    let coverages: Vec<Coverage> = coverages.into_values().collect();
    let failed = outcomes.iter().filter(|outcome| !outcome.differences.is_empty()).count();
    if format == Format::Json {
        output::json(&report(&outcomes, args.coverage.then_some(coverages.as_slice())))?;
    } else if args.coverage {
        coverage::print(&coverages)?;
    }
    if failed > 0 {
        refusals.push(Kind::Failed);
    }
    let total = outcomes.len();
    if refusals.is_empty() {
        say::message(&format!("{total} tests passed"));
        return Ok(());
    }
    let text = format!("{failed} of {total} tests failed");
    let unread = refusals.len() - usize::from(failed > 0);
    let text = match unread {
        0 => text,
        1 => format!("{text}; 1 file cannot be used"),
        count => format!("{text}; {count} files cannot be used"),
    };
    Err(Failure::new(Kind::of_all(&refusals), text))
}

/// What the settings say to workflows, as they do on a server: how flowcharts run, what an incident
/// does, retries by name, and the address.
fn installation(args: &chassis::Args) -> Result<Installation, Failure> {
    let settings =
        chassis::Settings::load(args).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Installation::clone(&executor::Config::from(&settings).installation))
}

/// The failure of a definition that cannot be published.
fn invalid(document: &Document, problems: &[Problem]) -> Failure {
    let lines = document.lines(problems);
    if document.mistakes.is_empty() {
        let path = document.path.display();
        Failure::failed(format!("{path} is not valid")).with(lines)
    } else {
        document.refusal(lines)
    }
}

/// The tests of a file, and the file of their definition: of a definition, those that it has with it.
fn read(path: &Path) -> Result<(Suite, PathBuf), Failure> {
    let tree = document::parsed(path, &input::file(path)?)?;
    let read = |tree| Suite::read(tree).map_err(|flaws| document::wrong(path, &flaws));
    if is_of_definition(&tree) {
        let tests = rehearsal::of_definition(&tree).ok_or_else(|| {
            let (path, member) = (path.display(), rehearsal::TESTS_MEMBER);
            Failure::usage(format!(
                "{path} is a definition without tests in customProperties.{member}: name a file of \
                 tests, or save tests with the definition in Studio and export it"
            ))
        })?;
        return Ok((read(tests)?, path.to_owned()));
    }
    let suite = read(&tree)?;
    let definition = match &suite.definition {
        Some(name) => beside(path, name),
        None => of_same_name(path).ok_or_else(|| {
            let path = path.display();
            Failure::usage(format!("there is no definition beside {path}: name one in definition"))
        })?,
    };
    Ok((suite, definition))
}

/// Whether this is a definition, and no file of tests.
fn is_of_definition(tree: &Tree) -> bool {
    let is_definition = tree.get("root").or_else(|| tree.get("flow")).is_some();
    is_definition && tree.get("tests").is_none()
}

/// The file of this name in the folder of another one.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

/// The definition with the same name: `order.yaml` beside `order.test.yaml`.
fn of_same_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = TEST_ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    let candidates =
        ["yaml", "yml", "json"].map(|end| path.with_file_name(format!("{stem}.{end}")));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

fn run_file(
    file: &Path,
    installation: &Installation,
    coverages: &mut BTreeMap<PathBuf, Coverage>,
    format: Format,
) -> Result<Vec<Outcome>, Failure> {
    let (suite, path) = read(file)?;
    let document = Document::read_all(&path)?;
    let definition = document.definition()?;
    let mut all = vec![definition.clone()];
    for used in &suite.uses {
        all.push(Document::read(&beside(file, used))?.definition()?);
    }
    let library = document::library(&all);
    let program = match engine().validate(&definition, &library) {
        Ok(program) if document.mistakes.is_empty() => program,
        Ok(_) => return Err(document.refusal(Vec::new())),
        Err(problems) => return Err(invalid(&document, &problems)),
    };
    let coverage = coverages
        .entry(document.path.clone())
        .or_insert_with(|| coverage::of(&document, &definition, &program));
    let stage = Stage { engine: engine(), program: &program, definition: &definition };
    let mut outcomes = Vec::new();
    for test in &suite.tests {
        let outcome = run_test(file, test, installation, stage, coverage);
        if format == Format::Table {
            print(&outcome)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn run_test(
    file: &Path,
    test: &Test,
    installation: &Installation,
    stage: Stage<'_>,
    coverage: &mut Coverage,
) -> Outcome {
    let Verdict { differences, journal } = test.run(stage, installation, Limits::default());
    coverage.add(&journal);
    let file = format!("{}:{}", file.display(), test.mark);
    Outcome { file, name: test.name.clone(), differences }
}

fn print(outcome: &Outcome) -> Result<(), Failure> {
    let Outcome { file, name, differences } = outcome;
    if differences.is_empty() {
        return say::data(&format!("ok      {}", say::one_line(name)));
    }
    say::data(&format!("FAILED  {} ({file})", say::one_line(name)))?;
    for difference in differences {
        for line in difference.trim_end().lines() {
            say::data(&format!("        {line}"))?;
        }
    }
    Ok(())
}

fn report(outcomes: &[Outcome], coverages: Option<&[Coverage]>) -> Value {
    let tests = outcomes.iter().map(|outcome| {
        json!({"file": outcome.file, "name": outcome.name,
            "passed": outcome.differences.is_empty(), "differences": outcome.differences})
    });
    let mut report = json!({"tests": tests.collect::<Vec<_>>()});
    if let (Some(coverages), Some(members)) = (coverages, report.as_object_mut()) {
        members.insert("coverage".to_owned(), rehearsal::as_json(coverages));
    }
    report
}

#[cfg(test)]
mod tests;
