//! Test runs of single activities and of whole workflows.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Library, Sites};
use model::{Definition, Map, Timestamp, VersionId, instance_of};
use rehearsal::Run;
use serde::Deserialize;
use serde_json::{Value, json};
use store::VersionOption;
use utoipa::ToSchema;

use super::definitions::definition_id;
use super::reading::Reading;
use super::run::ActivityHandle;
use super::saving::unwrapped;
use crate::auth::caller::Caller;
use crate::body::Body;
use crate::executions::Executions;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::test_run::workflow::{self, WorkflowTestRun};
use crate::test_run::{TestRun, Tested};
use crate::{App, Problem, bounds, record, workers};

/// The id of a definition that is sent without one.
const UNNAMED: &str = "unnamed";

/// The activity to test, and its workflow.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestRequest {
    workflow_definition_handle: Option<DefinitionHandle>,
    activity_handle: Option<ActivityHandle>,
}

/// A version of a definition.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DefinitionHandle {
    /// The definition; instead of `definitionVersionId`.
    definition_id: Option<String>,
    /// Of `definitionId`: `Latest` (default), `Published`, a number …
    version_options: Option<String>,
    /// Exactly this version.
    definition_version_id: Option<String>,
}

/// Runs one activity, and everything in it, to try it out: a draft too.
///
/// It runs in memory, as a workflow of its own: nothing is stored, and nothing leaves the server.
/// Outgoing calls, events, tasks, starts and answers are named in `notSent`; an activity that waits
/// for one is `Running`. Variables have the values that the definition has for tests
/// (`customProperties.VariableTestValues`), otherwise their defaults; with `activityInstanceId` those
/// of that execution's instance, which needs the permission to read instances too. Secrets are read as
/// in a real run; what is made of them is sealed (`{sealed:…}`) in the answer.
#[utoipa::path(post, path = "/tests/activities", tag = "runs", request_body = TestRequest,
    responses((status = 200, body = TestRun), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn activity(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<TestRequest>,
) -> Result<Json<TestRun>, Problem> {
    let definition = named(&app, request.workflow_definition_handle.unwrap_or_default()).await?;
    let (store, engine) = (&*app.cx.store, &app.cx.engine);
    let known = workers::known(&app, &definition, Library::default()).await?;
    let library = catalog::library(store, engine, &definition, known).await?;
    let sites = engine.sites(&definition, &library);
    let handle = request.activity_handle.unwrap_or_default();
    handle.check()?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let execution = given(handle.activity_instance_id);
    let (values, node_id) = match &execution {
        Some(execution) => of_execution(&app, &caller, &definition, execution).await?,
        None => (Map::new(), None),
    };
    let (id, named) = (given(handle.activity_id), given(handle.activity_node_id));
    let node_id = named.or(node_id.filter(|_| id.is_none()));
    let at = find(&sites, id.as_deref(), node_id.as_deref());
    let at = at.ok_or_else(|| {
        Problem::not_found(
            "there is no such activity in the workflow: name its activityId or activityNodeId",
        )
    })?;
    let tested = Tested { definition: &definition, library, sites: &sites, at, values };
    let ran = tested.run(&app).await?;
    let activity = sites.list.get(at).map(|site| site.node_id.clone());
    let details = json!({"version": definition.version, "activityNodeId": activity});
    app.audit(&caller, "activity.test", definition.definition_id.as_str(), details).await;
    Ok(Json(ran))
}

/// Runs a workflow to try it out, as it is sent: it need not be saved.
///
/// It runs in memory: nothing is stored, and nothing leaves the server. The members beside `model` and
/// `until` are those of a test in a test file: calls, tasks and child workflows are answered as `calls`,
/// `tasks` and `workflows` say, `steps` happen once something waits for them, and time is skipped. An
/// activity in `pins` does nothing and has the result that is given. A call that no answer fits stops the
/// run, and `stopped` says which. Secrets have the values in `secrets` alone. A run ends after 5000
/// activities, or after five seconds.
#[utoipa::path(post, path = "/tests/workflows", tag = "runs", request_body = shape::test::WorkflowTest,
    responses((status = 200, body = WorkflowTestRun), (status = 400, body = ProblemBody)))]
pub(super) async fn workflow(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(body): Body<Map>,
) -> Result<Json<WorkflowTestRun>, Problem> {
    let mut members = body;
    let tested = sent(&app, &mut members)?;
    let until = text(&mut members, "until")?;
    let run = run(&members, app.now())?;
    let id = tested.definition.definition_id.clone();
    let details = json!({"pins": run.pins.len()});
    let ran = tested.play(&app, run, until).await?;
    app.audit(&caller, "workflow.test", id.as_str(), details).await;
    Ok(Json(ran))
}

/// The workflow in a body. It counts as a draft: what it uses is what a publication would use.
pub(super) fn sent(app: &App, members: &mut Map) -> Result<workflow::Tested, Problem> {
    let model = members.shift_remove("model").unwrap_or_default();
    let document = unwrapped(json!({"model": model}))?.document;
    let mut definition = Reading::of(document, "member model")?.draft(&app.cx.engine)?;
    (definition.is_published, definition.published_at) = (false, None);
    let id = definition.definition_id.as_str();
    definition.definition_id = definition_id(if id.is_empty() { UNNAMED } else { id })?;
    Ok(workflow::Tested { definition })
}

/// Takes a text out of a body; none if it is null, absent or empty.
pub(super) fn text(members: &mut Map, name: &str) -> Result<Option<String>, Problem> {
    match members.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => Err(Problem::bad_request(format!("member {name} is no text"))),
    }
}

/// The run in the other members of a body, which begins now unless it says when.
pub(super) fn run(members: &Map, now: Timestamp) -> Result<Run, Problem> {
    Run::read(members, now).map_err(|flaws| {
        let flaws: Vec<_> = flaws.iter().map(|flaw| format!("member {flaw}")).collect();
        Problem::bad_request(flaws.join("; "))
    })
}

/// The version that a handle names.
async fn named(app: &App, handle: DefinitionHandle) -> Result<Definition, Problem> {
    let DefinitionHandle { definition_id: id, version_options, definition_version_id } = handle;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let found = match (given(definition_version_id), given(id)) {
        (Some(version_id), _) => {
            bounds::name("definitionVersionId", &version_id)?;
            app.cx.store.version(&VersionId::new(version_id)).await?
        }
        (None, Some(id)) => {
            let option = match given(version_options) {
                None => VersionOption::Latest,
                Some(option) => option.parse().map_err(|error| {
                    Problem::bad_request(format!("member versionOptions: {error}"))
                })?,
            };
            app.cx.store.definition(&definition_id(&id)?, option).await?
        }
        (None, None) => {
            return Err(Problem::bad_request(
                "workflowDefinitionHandle names no workflow: send definitionVersionId or \
                 definitionId",
            ));
        }
    };
    found.ok_or_else(|| Problem::not_found("there is no such version of a workflow definition"))
}

/// The values of the variables of the instance that an execution belongs to, and the activity that it
/// is an execution of.
async fn of_execution(
    app: &App,
    caller: &Caller,
    definition: &Definition,
    execution: &str,
) -> Result<(Map, Option<String>), Problem> {
    caller.must("read:workflow-instances")?;
    let unknown = || {
        Problem::not_found(format!(
            "there is no execution {execution} of an activity of workflow definition {}",
            definition.definition_id
        ))
    };
    let (instance_id, _) = instance_of(execution).ok_or_else(unknown)?;
    let seen = record::find(app, &instance_id).await?.ok_or_else(unknown)?;
    if seen.instance.definition_id != definition.definition_id {
        return Err(unknown());
    }
    let executions = Executions::of(app, &seen).await?;
    let node_id = executions.get(execution).map(|record| record.summary.activity_node_id.clone());
    let view = seen.view(app).await;
    let values = view.get("variables").and_then(Value::as_object).cloned();
    Ok((values.unwrap_or_default(), node_id))
}

/// The position of the site of an activity.
fn find(sites: &Sites, id: Option<&str>, node_id: Option<&str>) -> Option<usize> {
    match (node_id, id) {
        (Some(node_id), _) => sites.find(node_id),
        (None, Some(id)) => sites.list.iter().position(|site| site.id == id),
        (None, None) => None,
    }
}
