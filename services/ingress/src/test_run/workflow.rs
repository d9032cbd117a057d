//! Test runs of whole workflows, in memory. Nothing is stored and nothing leaves: what a run asks for is
//! answered as its caller says, or named in the answer. It reads no secrets but those that it is given.

use std::sync::Arc;
use std::time::Duration;

use catalog::{library, run_apart};
use engine::{Bounds, Installation, Library, Pin, Program};
use model::{CommandId, Definition, Map, What};
use rehearsal::{Limits, Player, Record, Run, Stage, Stop, Suite, Verdict, records};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use utoipa::ToSchema;

use super::{room, told, unasked};
use crate::{App, Problem, workers};

/// Time in which everything runs that one request asks for.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Executions of activities in one run.
const EXECUTIONS_MAX: u64 = 5_000;
/// Timers that fire in one run.
const TIMERS_MAX: usize = 1_000;
/// Time that one run skips.
const SKIPPED_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// Approximate bytes that one run writes.
const WRITTEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of one value in the answer; longer ones are cut.
const VALUE_BYTES_MAX: usize = 64 * 1024;
/// Approximate bytes of all inputs and outputs of activities in the answer.
const VALUES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Waiting activities that one answer names.
const WAITS_MAX: usize = 1_000;
/// The result of a test run of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowTestRun {
    /// `Finished`, `Suspended` (it waits), `Faulted`, `Cancelled`; `Executing` if it was stopped before
    /// that.
    status: String,
    /// Why it was stopped before it was over or waited.
    stopped: Option<TestStop>,
    /// The activities that wait at the end.
    waits: Vec<TestWait>,
    /// The outputs of the workflow.
    #[schema(value_type = Object)]
    outputs: Map,
    incidents: Vec<TestIncident>,
    /// One for each execution of an activity, in the order in which they began.
    activities: Vec<TestedExecution>,
    /// The lines that it wrote.
    lines: Vec<String>,
    /// What a real run would have sent, and a test run does not: in words.
    not_sent: Vec<String>,
    /// The time from its start to its end, most of which was skipped: `01:00:00`.
    took: String,
}

/// Why a test run was stopped.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestStop {
    /// `Unanswered` (no answer fits a call), `Unawaited` (nothing waits for a step), `Limit` or `Asked`
    /// (the activity in `until` is over).
    reason: String,
    message: String,
    /// The activity that it is about.
    activity_id: Option<String>,
}

/// An activity that waits at the end of a test run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestWait {
    activity_id: String,
    /// What it waits for, such as `Event`.
    stimulus: String,
    /// When its timer fires.
    due_at: Option<String>,
}

/// An incident of a test run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestIncident {
    activity_id: String,
    activity_node_id: String,
    message: String,
}

/// One execution of an activity in a test run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestedExecution {
    id: String,
    activity_id: String,
    /// Ids from the workflow down to the activity.
    activity_node_id: String,
    activity_type: String,
    activity_name: Option<String>,
    started_at: String,
    completed_at: Option<String>,
    /// `Running`, `Suspended` (it waits), `Completed`, `Canceled` or `Faulted`.
    status: String,
    /// Inputs, as they were evaluated.
    #[schema(value_type = Object)]
    inputs: Map,
    #[schema(value_type = Object)]
    outputs: Map,
    outcomes: Vec<String>,
    /// The reason why it failed.
    fault: Option<String>,
    /// It did nothing, and has the result that was given.
    is_pinned: bool,
    /// Values are left out, because the answer would be too long.
    is_cut: bool,
}

/// The results of tests.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestCasesRun {
    /// Every test passed.
    passed: bool,
    cases: Vec<TestCaseRun>,
}

/// The result of one test.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestCaseRun {
    name: String,
    /// The line of the text in which it begins.
    line: usize,
    passed: bool,
    /// What differs from what is expected.
    differences: Vec<String>,
}

/// A test that was made of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestCaseMade {
    /// The test, as it is in a test file.
    #[schema(value_type = Object)]
    case: Map,
}

/// A workflow that is to be tried out.
pub(crate) struct Tested {
    pub(crate) definition: Definition,
}

impl Tested {
    /// Plays a run of it, until one of the activities that `until` names is over.
    pub(crate) async fn play(
        self,
        app: &Arc<App>,
        run: Run,
        until: Option<String>,
    ) -> Result<WorkflowTestRun, Problem> {
        let work = move |app: &App, stage: Stage<'_>| played(app, stage, run, until.as_deref());
        self.apart(app, work).await?
    }

    /// Runs tests of it.
    pub(crate) async fn check(self, app: &Arc<App>, suite: Suite) -> Result<TestCasesRun, Problem> {
        self.apart(app, move |app, stage| checked(app, stage, &suite)).await
    }

    /// Plays a run of it as a test is played, and makes of its members a test that passes.
    pub(crate) async fn make(
        self,
        app: &Arc<App>,
        run: Run,
        members: Map,
    ) -> Result<TestCaseMade, Problem> {
        self.apart(app, move |app, stage| made(app, stage, &run, members)).await?
    }

    /// Compiles it and does this work with it, on a thread of its own.
    async fn apart<T: Send + 'static>(
        self,
        app: &Arc<App>,
        work: impl FnOnce(&App, Stage<'_>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = room(app)?;
        let definition = self.definition;
        let known = workers::known(app, &definition, Library::default()).await?;
        let library = library(&*app.cx.store, &app.cx.engine, &definition, known).await?;
        let shared = Arc::clone(app);
        let done = run_apart("test run", move || {
            // Held to the end of the work, also where the caller has gone.
            let _permit = permit;
            let engine = &shared.cx.engine;
            let program = engine.compile(&definition, &library).map_err(|problems| {
                Problem::invalid_definition(problems.iter().map(|one| json!(one)).collect())
            })?;
            let stage = Stage { engine, program: &program, definition: &definition };
            Ok(work(&shared, stage))
        });
        // A panic is logged already.
        done.await.map_err(|_panicked| Problem::internal())?
    }
}

/// What the configuration says to workflows. Values of activities are shown whatever it says of
/// journals: those of a test run are kept nowhere.
fn installation(app: &App) -> Installation {
    let env = app.env(CommandId::new("test"));
    Installation { leaves_out_values: false, ..Installation::clone(&env.installation) }
}

/// The bounds of a run. Each turn runs one activity, so that they are looked at after each.
fn limits(is_late: &dyn Fn() -> bool) -> Limits<'_> {
    Limits {
        turns: usize::MAX,
        timers: TIMERS_MAX,
        executions: EXECUTIONS_MAX,
        bytes: WRITTEN_BYTES_MAX,
        bounds: Bounds {
            steps: 1,
            steps_without_wait: EXECUTIONS_MAX,
            value_bytes: VALUE_BYTES_MAX,
            ..Bounds::default()
        },
        is_late,
    }
}

fn played(
    app: &App,
    stage: Stage<'_>,
    mut run: Run,
    until: Option<&str>,
) -> Result<WorkflowTestRun, Problem> {
    let began = Instant::now();
    let is_late = move || began.elapsed() >= TIME_MAX;
    let Stage { program, .. } = stage;
    let until = until.map(|name| meant(program, name)).transpose()?;
    let pinned = program.pinned(&run.pins).map_err(|problems| {
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Problem::bad_request(format!("member pins: {}", texts.join("; ")))
    })?;
    let stage = Stage { program: &pinned, ..stage };
    let given = &mut run.given;
    given.time = Some(given.time.unwrap_or(SKIPPED_MAX).min(SKIPPED_MAX));
    let env = run.env(installation(app), app.cx.chance.seed(), "test");
    let mut player = Player::new(stage, &run.mocks, env)
        .within(limits(&is_late))
        .until(until.unwrap_or_default());
    let stopped = match player.play(&run.given) {
        Ok(()) => None,
        Err(stop) if stop.reason == rehearsal::Reason::Refused => {
            return Err(Problem::bad_request(stop.message));
        }
        Err(stop) => Some(stop),
    };
    Ok(WorkflowTestRun::of(&pinned, &player, &run.pins, stopped))
}

/// The paths of the activities that a name means.
fn meant(program: &Program, name: &str) -> Result<Vec<String>, Problem> {
    let paths: Vec<String> = program.paths(name).map(str::to_owned).collect();
    if paths.is_empty() {
        return Err(Problem::bad_request(format!(
            "member until: there is no activity {name:?}: name one by its id, its path or its name"
        )));
    }
    Ok(paths)
}

fn checked(app: &App, stage: Stage<'_>, suite: &Suite) -> TestCasesRun {
    let began = Instant::now();
    let is_late = move || began.elapsed() >= TIME_MAX;
    let installation = installation(app);
    let cases: Vec<_> = suite
        .tests
        .iter()
        .map(|test| {
            let Verdict { differences, .. } = test.run(stage, &installation, limits(&is_late));
            TestCaseRun {
                name: test.name.clone(),
                line: test.mark.line,
                passed: differences.is_empty(),
                differences,
            }
        })
        .collect();
    TestCasesRun { passed: cases.iter().all(|case| case.passed), cases }
}

fn made(app: &App, stage: Stage<'_>, run: &Run, members: Map) -> Result<TestCaseMade, Problem> {
    let began = Instant::now();
    let is_late = move || began.elapsed() >= TIME_MAX;
    let observed = run.observed(stage, &installation(app), limits(&is_late)).map_err(|stops| {
        let stops = stops.join("; ");
        Problem::bad_request(format!("no test can be made of a run that does not end: {stops}"))
    })?;
    let mut case = members;
    case.insert("expect".to_owned(), observed.into());
    Ok(TestCaseMade { case })
}

impl WorkflowTestRun {
    fn of(program: &Program, player: &Player<'_>, pins: &[Pin], stopped: Option<Stop>) -> Self {
        let state = &player.state;
        let mut not_sent: Vec<String> = player.effects.iter().filter_map(told).collect();
        not_sent.extend(player.calls.iter().map(|made| unasked(made.call.clone())));
        let lines = player.journal.iter().filter(|entry| entry.what == What::Line);
        let waits = state.bookmarks.values().map(|bookmark| TestWait {
            activity_id: bookmark.activity_id.to_string(),
            stimulus: bookmark.name.clone(),
            due_at: bookmark.due_at.map(|due| due.to_string()),
        });
        let incidents = state.incidents.iter().map(|incident| TestIncident {
            activity_id: incident.activity_id.to_string(),
            activity_node_id: incident.activity_node_id.clone(),
            message: incident.message.clone(),
        });
        let told = records(&player.journal, program, pins, VALUES_BYTES_MAX);
        Self {
            status: state.status.to_string(),
            stopped: stopped.map(TestStop::from),
            waits: waits.take(WAITS_MAX).collect(),
            outputs: state.output.clone(),
            incidents: incidents.collect(),
            activities: told.into_iter().map(TestedExecution::from).collect(),
            lines: lines.filter_map(|entry| entry.message.clone()).collect(),
            not_sent,
            took: model::span::text(player.took()),
        }
    }
}

impl From<Stop> for TestStop {
    fn from(stop: Stop) -> Self {
        let Stop { reason, message, activity_id } = stop;
        let activity_id = activity_id.map(|id| id.to_string());
        Self { reason: reason.as_str().to_owned(), message, activity_id }
    }
}

impl From<Record> for TestedExecution {
    fn from(record: Record) -> Self {
        Self {
            id: record.id,
            activity_id: record.activity_id,
            activity_node_id: record.node_id,
            activity_type: record.activity_type,
            activity_name: record.activity_name,
            started_at: record.started_at.to_string(),
            completed_at: record.completed_at.map(|at| at.to_string()),
            status: record.status.to_owned(),
            inputs: record.inputs,
            outputs: record.outputs,
            outcomes: record.outcomes,
            fault: record.fault,
            is_pinned: record.is_pinned,
            is_cut: record.is_cut,
        }
    }
}
