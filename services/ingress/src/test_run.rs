//! The test run of one activity: a workflow of this activity alone, in memory. Nothing is stored, and
//! no effect leaves: the answer names what a real run would have sent. It reads secrets as a real run
//! does, and its answer has what is made of them in its sealed form alone.

pub(crate) mod workflow;

use std::sync::Arc;

use catalog::{library, run_apart};
use engine::{
    Bounds, Effect, Input, Library, Program, Rest, Secrets, Site, Sites, Start, State, Turn,
};
use model::{CommandId, Definition, Entry, Map, SubStatus, Variable, What};
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::ToSchema;

use crate::executions::{FAULTED, exception};
use crate::history::{renamed, shown_payload};
use crate::{App, Problem};

/// Executions of activities in one test run.
const STEPS_MAX: usize = 200;
/// Elsa Studio's name for the values that variables have in test runs, by their ids.
const TEST_VALUES: &str = "VariableTestValues";

/// The result of a test run, in Elsa's shape.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestRun {
    /// Inputs, as they were evaluated.
    #[schema(value_type = Object)]
    activity_state: Map,
    /// `Outcomes`, and other details of its end.
    #[schema(value_type = Object, nullable)]
    payload: Option<Value>,
    #[schema(value_type = Object)]
    outputs: Map,
    /// `{type, message, stackTrace, innerException, metadata}` if it failed.
    #[schema(value_type = Object, nullable)]
    exception: Option<Value>,
    /// `Running` (it waits), `Completed`, `Canceled` or `Faulted`.
    status: &'static str,
    /// What a real run would have sent, and a test run does not: in words.
    not_sent: Vec<String>,
}

/// An activity of a definition.
pub(crate) struct Tested<'d> {
    pub(crate) definition: &'d Definition,
    pub(crate) library: Library,
    pub(crate) sites: &'d Sites,
    /// The position of its site.
    pub(crate) at: usize,
    /// Values of variables, by id or name, before those that the definition keeps for tests.
    pub(crate) values: Map,
}

impl Tested<'_> {
    /// Runs the activity.
    pub(crate) async fn run(self, app: &Arc<App>) -> Result<TestRun, Problem> {
        let permit = room(app)?;
        let Some(site) = self.sites.list.get(self.at) else { return Err(Problem::internal()) };
        let alone = alone(self.definition, self.sites, self.at, site);
        let library = library(&*app.cx.store, &app.cx.engine, &alone, self.library).await?;
        let mut values = self.values;
        if values.is_empty() {
            values.extend(test_values(self.definition));
        }
        let secrets = secrets(app).await?;
        let shared = Arc::clone(app);
        let ran = run_apart("compile", move || {
            // Held to the end of the run, also where the caller has gone.
            let _permit = permit;
            ran(&shared, &alone, &library, values, secrets)
        });
        // A panic is logged already.
        ran.await.map_err(|_panicked| Problem::internal())?
    }
}

/// The permit of one test run.
fn room(app: &App) -> Result<OwnedSemaphorePermit, Problem> {
    let busy = |_full| {
        Problem::overloaded("as many test runs as may be are at work: try again in a moment")
    };
    Arc::clone(&app.test_runs).try_acquire_owned().map_err(busy)
}

/// A definition of this activity alone, with all variables that it sees.
fn alone(definition: &Definition, sites: &Sites, at: usize, site: &Site) -> Definition {
    let written = |site: &Site| definition.root.pointer(&site.pointer);
    let root = written(site).or_else(|| sites.activity(site)).cloned().unwrap_or_default();
    let mut variables: Vec<Variable> = Vec::new();
    let around = sites.around(at).filter_map(|site| written(site)?.get("variables"));
    let inner = around.filter_map(|held| Vec::<Variable>::deserialize(held).ok()).flatten();
    for variable in inner.chain(definition.variables.iter().cloned()) {
        let is_seen =
            variables.iter().any(|inner| inner.id == variable.id || inner.name == variable.name);
        if !is_seen {
            variables.push(variable);
        }
    }
    let mut alone = Definition { root, variables, ..definition.clone() };
    if let Some(root) = alone.root.as_object_mut() {
        root.insert("id".to_owned(), json!(site.id));
        root.remove("nodeId");
    }
    alone
}

/// The values that the definition keeps for test runs.
fn test_values(definition: &Definition) -> Map {
    let kept = definition.custom_properties.get(TEST_VALUES).and_then(Value::as_object);
    kept.cloned().unwrap_or_default()
}

/// The secrets as an execution that begins now reads them; none on a node without master keys.
async fn secrets(app: &App) -> Result<Secrets, Problem> {
    let Some(keeper) = &app.keeper else { return Ok(Secrets::default()) };
    let opened = keeper.fresh(app.now()).await?;
    Ok(Secrets::of(opened))
}

fn ran(
    app: &App,
    alone: &Definition,
    library: &Library,
    variables: Map,
    secrets: Secrets,
) -> Result<TestRun, Problem> {
    let engine = &app.cx.engine;
    let program = engine.compile(alone, library).map_err(|problems| {
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Problem::bad_request(format!("the activity cannot run: {}", texts.join("; ")))
    })?;
    let id = app.fresh_id();
    let start = Start {
        instance_id: id.as_str().into(),
        trigger: None,
        restart: Some(engine::Restart { activity: None, variables }),
        input: Map::new(),
        properties: Map::new(),
        correlation_id: None,
        name: None,
        parent: None,
        responds: true,
    };
    let bounds =
        Bounds { steps: STEPS_MAX, steps_without_wait: STEPS_MAX as u64, ..Bounds::default() };
    let mut env = app.env(CommandId::new(id));
    Arc::make_mut(&mut env.installation).secrets = secrets;
    let start = Input::Start(Box::new(start));
    let turn = engine.turn_within(&program, State::default(), start, &env, bounds);
    Ok(TestRun::of(app, &program, turn))
}

impl TestRun {
    fn of(app: &App, program: &Program, turn: Turn) -> Self {
        let Turn { state, effects, journal, rest, .. } = turn;
        let mut not_sent: Vec<String> = effects.iter().filter_map(told).collect();
        not_sent.extend(state.calls.values().map(|call| unasked(call.operation.summary())));
        if rest == Rest::OutOfBudget {
            not_sent.push(format!("the rest: a test run ends after {STEPS_MAX} activities"));
        }
        let mut found = Self { status: "Running", not_sent, ..Self::default() };
        let first = journal.iter().find_map(|entry| entry.activity_instance_id.clone());
        for entry in journal.iter().filter(|entry| entry.activity_instance_id == first) {
            if first.is_some() {
                found.follow(app, program, entry);
            }
        }
        let failed = state.incidents.last().filter(|_| state.status == SubStatus::Faulted);
        if let (None, Some(failed)) = (&found.exception, failed) {
            found.status = FAULTED;
            found.exception = Some(engine::exception(&failed.code, &failed.message));
        }
        found
    }

    fn follow(&mut self, app: &App, program: &Program, entry: &Entry) {
        let id = entry.activity_id.as_ref();
        let charted = id.and_then(|id| program.charted(id.as_str(), None));
        if entry.what == What::Started {
            let constants = charted.map(|found| found.constants(app.config.leaves_out_values));
            self.activity_state.extend(renamed(constants.unwrap_or_default(), charted));
        }
        if let Some(recorded) = &entry.recorded {
            self.activity_state.extend(renamed(recorded.inputs.clone(), charted));
            self.outputs.extend(renamed(recorded.outputs.clone(), charted));
        }
        match entry.what {
            What::Completed => {
                self.payload = shown_payload(entry);
                self.status = "Completed";
            }
            What::Canceled => self.status = "Canceled",
            What::Faulted => {
                self.status = FAULTED;
                self.exception = Some(exception(entry));
            }
            _ => {}
        }
    }
}

/// The summary of a call without the query of its URL, where keys may be.
fn unasked(summary: String) -> String {
    match summary.split_once('?') {
        Some((before, _)) => format!("{before}?…"),
        None => summary,
    }
}

/// An effect in words; none for one that nobody outside sees.
fn told(effect: &Effect) -> Option<String> {
    match effect {
        Effect::Publish(event) => Some(format!("the event {}", event.event_name)),
        Effect::Task(task) => Some(format!("the task {}", task.task_name)),
        Effect::Dispatch(child) => Some(format!("the start of {}", child.definition_id)),
        Effect::Respond(response) => {
            Some(format!("the answer {} to an HTTP client", response.status_code))
        }
        Effect::Log(line) => Some(format!("a line in the log: {}", line.category)),
        Effect::Grant(_) | Effect::CancelTask(_) => None,
    }
}
