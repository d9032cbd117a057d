//! The tests of a test file, with a workflow that is sent: they are run, read, written and made.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use catalog::run_apart;
use model::Map;
use rehearsal::Suite;
use serde::Serialize;
use serde_json::{Value, json};
use shortform::{Flaw, Mark, Notation, Tree};
use utoipa::ToSchema;

use super::test_runs::{run, sent, text};
use crate::auth::caller::Caller;
use crate::body::Body;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::test_run::workflow::{TestCaseMade, TestCasesRun};
use crate::{App, Problem};

/// Tests of one file.
const CASES_MAX: usize = 100;
/// Bytes of the text of a file.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Flaws in one answer.
const FLAWS_MAX: usize = 100;

/// The content of a test file, as text and as an object.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestCasesChecked {
    /// The content as an object; null for a text that is no object in YAML or JSON.
    #[schema(value_type = Object, nullable)]
    cases: Option<Value>,
    /// The content as text: the one that was sent, or YAML that was written for the object.
    text: String,
    /// What is wrong with it, at most 100; none if `staunch test` takes it.
    flaws: Vec<TestFlaw>,
}

/// A mistake in a test file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestFlaw {
    /// From 1 on, in `text`.
    line: usize,
    /// From 1 on, in characters.
    column: usize,
    /// The mistake and its correction.
    message: String,
}

/// Runs the tests of a test file with a workflow, as it is sent: it need not be saved.
///
/// `cases` is the text of the file, in YAML or JSON. Its members `definition` and `uses` count for nothing:
/// `model` is the definition, and those that it uses as activities are read as a publication would. All
/// tests together have five seconds, and are at most 100.
#[utoipa::path(post, path = "/tests/cases", tag = "runs", request_body = shape::test::TestCases,
    responses((status = 200, body = TestCasesRun), (status = 400, body = ProblemBody)))]
pub(super) async fn cases(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(body): Body<Map>,
) -> Result<Json<TestCasesRun>, Problem> {
    let mut members = body;
    let tested = sent(&app, &mut members)?;
    let cases = text(&mut members, "cases")?.ok_or_else(missing)?;
    must_fit(&cases)?;
    let suite = read(&cases).and_then(|tree| suite(&tree)).map_err(|flaws| {
        let flaws: Vec<_> = flaws.iter().map(ToString::to_string).collect();
        Problem::bad_request(format!("member cases: {}", flaws.join("; ")))
    })?;
    let id = tested.definition.definition_id.clone();
    let details = json!({"cases": suite.tests.len()});
    let ran = tested.check(&app, suite).await?;
    app.audit(&caller, "workflow.test", id.as_str(), details).await;
    Ok(Json(ran))
}

/// Reads a test file, and says what is wrong with it; nothing runs and nothing is stored.
///
/// `cases` is the text of the file, in YAML or JSON, or its content as an object, as definitions have it in
/// `customProperties["Staunch.Tests"]`: for an object the answer has its text in YAML. A file has at most 100
/// tests and 1 MiB.
#[utoipa::path(post, path = "/tests/cases/check", tag = "runs", request_body = shape::test::TestCasesCheck,
    responses((status = 200, body = TestCasesChecked), (status = 400, body = ProblemBody)))]
pub(super) async fn check(Body(body): Body<Map>) -> Result<Json<TestCasesChecked>, Problem> {
    let mut members = body;
    let text = match members.shift_remove("cases") {
        Some(Value::String(text)) if !text.is_empty() => text,
        Some(cases @ Value::Object(_)) => shortform::write(&cases),
        None | Some(Value::Null | Value::String(_)) => return Err(missing()),
        Some(_) => {
            return Err(Problem::bad_request("member cases is neither a text nor an object"));
        }
    };
    if let Some(name) = members.keys().next() {
        return Err(Problem::bad_request(format!("member {name} means nothing here: send cases")));
    }
    must_fit(&text)?;
    // A panic is logged already.
    let checked = run_apart("convert", move || TestCasesChecked::of(text)).await;
    checked.map(Json).map_err(|_panicked| Problem::internal())
}

/// Makes a test of a test run of a workflow: it expects what the run does.
///
/// The body is that of a test run, without `until`. The run is played as a test is played: it begins at
/// 2026-01-01T00:00:00Z unless it says when, and secrets have made-up values, which are those of the test. Of
/// what it does, the test expects its status, outputs, lines, waiting activities and newest incident. A run
/// that is stopped, such as by a call that no answer fits, makes no test.
#[utoipa::path(post, path = "/tests/cases/make", tag = "runs", request_body = shape::test::WorkflowTest,
    responses((status = 200, body = TestCaseMade), (status = 400, body = ProblemBody)))]
pub(super) async fn make(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(body): Body<Map>,
) -> Result<Json<TestCaseMade>, Problem> {
    let mut members = body;
    let tested = sent(&app, &mut members)?;
    if text(&mut members, "until")?.is_some() {
        return Err(Problem::bad_request("member until: a test runs to its end: leave it out"));
    }
    // What says nothing is left out of the test, and has to be right all the same.
    run(&members, rehearsal::BEGIN)?;
    let case = rehearsal::as_case(members);
    let run = run(&case, rehearsal::BEGIN)?;
    let id = tested.definition.definition_id.clone();
    let details = json!({"pins": run.pins.len()});
    let made = tested.make(&app, run, case).await?;
    app.audit(&caller, "workflow.test", id.as_str(), details).await;
    Ok(Json(made))
}

impl TestCasesChecked {
    fn of(text: String) -> Self {
        let (cases, flaws) = match read(&text) {
            Ok(tree) => {
                let flaws = suite(&tree).err().unwrap_or_default();
                (Some(tree.value()).filter(Value::is_object), flaws)
            }
            Err(flaws) => (None, flaws),
        };
        let flaws = flaws.into_iter().take(FLAWS_MAX).map(TestFlaw::from).collect();
        Self { cases, text, flaws }
    }
}

impl From<Flaw> for TestFlaw {
    fn from(flaw: Flaw) -> Self {
        let Flaw { mark, message } = flaw;
        Self { line: mark.line.max(1), column: mark.column.max(1), message }
    }
}

fn missing() -> Problem {
    Problem::bad_request("member cases is missing: send the text of a test file")
}

fn must_fit(text: &str) -> Result<(), Problem> {
    let bytes = text.len();
    if bytes <= TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(Problem::bad_request(format!(
        "member cases has {bytes} bytes as text: use at most {TEXT_BYTES_MAX}, in several files"
    )))
}

/// The tree of the text of a test file.
fn read(text: &str) -> Result<Tree, Vec<Flaw>> {
    let is_left_out = |c: char| c.is_whitespace() || c == '\u{feff}';
    let notation = match text.trim_start_matches(is_left_out).starts_with('{') {
        true => Notation::Json,
        false => Notation::Yaml,
    };
    shortform::read(text, notation).map_err(|flaw| vec![flaw])
}

/// The tests of a test file, which are not too many.
fn suite(tree: &Tree) -> Result<Suite, Vec<Flaw>> {
    let suite = Suite::read(tree)?;
    let count = suite.tests.len();
    if count <= CASES_MAX {
        return Ok(suite);
    }
    let message = format!("there are {count} tests: send at most {CASES_MAX} at once");
    Err(vec![Flaw { mark: Mark::new(1, 1), message }])
}
