//! `staunch test`: runs the tests of definitions with the engine itself, without a server.
//!
//! A file `order.test.yaml` has tests of the definition `order.yaml` beside it. Calls, tasks and
//! child workflows are answered as the test says, events come when they are waited for, and time is
//! skipped. `docs/testing.md` describes the files.

mod check;
mod coverage;
mod form;
mod mock;
mod play;
mod reader;
mod secret;
mod suite;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use engine::{Env, Installation, Problem, Program};
use model::{CommandId, Definition};
use serde_json::{Value, json};

use crate::document::{self, Document, engine};
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};
use coverage::Coverage;
use play::Player;
use suite::{Suite, Test};

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Files, patterns, or folders with *.test.yaml, *.test.yml and *.test.json files
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
        return output::json(&form::schema());
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

fn run_file(
    file: &std::path::Path,
    installation: &Installation,
    coverages: &mut BTreeMap<PathBuf, Coverage>,
    format: Format,
) -> Result<Vec<Outcome>, Failure> {
    let suite = Suite::read(file)?;
    let document = Document::read_all(&suite.definition)?;
    let definition = document.definition()?;
    let mut all = vec![definition.clone()];
    for used in &suite.uses {
        all.push(Document::read(used)?.definition()?);
    }
    let library = document::library(&all);
    let program = match engine().validate(&definition, &library) {
        Ok(program) if document.mistakes.is_empty() => program,
        Ok(_) => return Err(document.refusal(Vec::new())),
        Err(problems) => return Err(invalid(&document, &problems)),
    };
    let coverage = coverages
        .entry(document.path.clone())
        .or_insert_with(|| Coverage::of(&document, &definition, &program));
    let mut outcomes = Vec::new();
    for test in &suite.tests {
        let outcome = run_test(file, test, installation, (&definition, &program), coverage);
        if format == Format::Table {
            print(&outcome)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn run_test(
    file: &std::path::Path,
    test: &Test,
    installation: &Installation,
    (definition, program): (&Definition, &Program),
    coverage: &mut Coverage,
) -> Outcome {
    let installation = Installation { secrets: test.mocks.secrets(), ..installation.clone() };
    let env = Env {
        now: test.given.now,
        seed: [7; 32],
        command_id: CommandId::new("test"),
        installation: Arc::new(installation),
        contents: engine::Contents::default(),
    };
    let mut player = Player::new(engine(), program, definition, &test.mocks, env);
    let played = player.play(&test.given);
    coverage.add(&player.journal);
    let differences = match played {
        Ok(()) => check::differences(&test.expect, &player),
        Err(message) => vec![message],
    };
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
        members.insert("coverage".to_owned(), coverage::as_json(coverages));
    }
    report
}

#[cfg(test)]
mod tests;
