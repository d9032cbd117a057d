//! Running a definition: waiting for the result, or only for the acceptance.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use model::{ActivityId, InstanceId, Map, SubStatus};
use protocol::{ReplyWhen, Restart};
use serde::Deserialize;
use serde_json::json;
use store::VersionOption;
use utoipa::ToSchema;

use super::definitions::{definition_id, version_option};
use crate::body::{Body, Params, Prefer, parse};
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::{Patience, Reply};
use crate::pipeline::validate::Beginning;
use crate::pipeline::{self, Started};
use crate::present::{InstanceStatus, shape};
use crate::problem::ProblemBody;
use crate::record::{self, Seen};
use crate::{App, Problem, bounds, executors, large, respond};

/// The largest number of instances that one `bulk-dispatch` starts.
const BULK_MAX: u32 = 1_000;

/// The settings of a run.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunRequest {
    /// Id of the new instance; generated if none is given.
    instance_id: Option<String>,
    /// Groups instances that belong together.
    correlation_id: Option<String>,
    /// The instance's name.
    name: Option<String>,
    /// The trigger of the definition with which it starts.
    trigger_activity_id: Option<String>,
    /// `Published` (default), `Latest` or the number of a version.
    version_options: Option<String>,
    /// Workflow input by name.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    /// Properties of the instance. `Flowchart:ExecutionMode` chooses `TokenBased` or
    /// `CounterBased` flowcharts.
    #[schema(value_type = Option<Object>)]
    properties: Option<Map>,
    /// Values of workflow variables, by id or name.
    #[schema(value_type = Option<Object>)]
    variables: Option<Map>,
    /// The activity to begin at, of a Flowchart that is the root.
    activity_handle: Option<ActivityHandle>,
    /// For `bulk-dispatch`: the number of instances.
    count: Option<u32>,
}

/// An activity of a workflow, named in one of several ways.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ActivityHandle {
    /// Its id.
    pub(super) activity_id: Option<String>,
    /// The ids from the workflow down to it, such as `Workflow1:Flowchart1:If1`.
    pub(super) activity_node_id: Option<String>,
    /// One of its executions.
    pub(super) activity_instance_id: Option<String>,
    /// Not supported.
    pub(super) activity_hash: Option<String>,
}

impl ActivityHandle {
    /// Refuses names that are too long, and the one that is not supported.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        if given(&self.activity_hash) && !given(&self.activity_id) && !given(&self.activity_node_id)
        {
            return Err(Problem::bad_request(
                "an activity cannot be found by activityHash: name its activityId or \
                 activityNodeId",
            ));
        }
        bounds::optional("activityId", self.activity_id.as_deref())?;
        bounds::optional("activityNodeId", self.activity_node_id.as_deref())?;
        bounds::optional("activityInstanceId", self.activity_instance_id.as_deref())
    }

    /// The id of the activity; none if nothing is named.
    fn id(&self) -> Result<Option<ActivityId>, Problem> {
        self.check()?;
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let last = |path: String| path.rsplit(':').next().map(str::to_owned);
        let id = given(&self.activity_id).or_else(|| given(&self.activity_node_id).and_then(last));
        if id.is_none() && given(&self.activity_instance_id).is_some() {
            return Err(Problem::bad_request(
                "a new instance has no executions yet: name the activityId of the activity to \
                 begin at",
            ));
        }
        Ok(id.map(Into::into))
    }
}

/// What a start takes over: values of variables, and the activity to begin at.
fn taken_over(
    variables: Option<Map>,
    handle: Option<&ActivityHandle>,
) -> Result<Option<Box<Restart>>, Problem> {
    let activity_id = handle.map_or(Ok(None), ActivityHandle::id)?;
    let variables = variables.unwrap_or_default();
    let is_plain = activity_id.is_none() && variables.is_empty();
    Ok((!is_plain).then(|| Box::new(Restart { activity_id, variables })))
}

impl RunRequest {
    fn beginning(self, id: &str, responds: bool) -> Result<Beginning, Problem> {
        if let Some(count) = self.count.filter(|count| *count > BULK_MAX) {
            return Err(Problem::bad_request(format!("count is {count}: use at most {BULK_MAX}")));
        }
        let version = self.version_options.as_deref().map(str::parse::<VersionOption>);
        let version = version
            .transpose()
            .map_err(|error| Problem::bad_request(format!("member versionOptions: {error}")))?;
        Ok(Beginning {
            definition_id: definition_id(id)?,
            version,
            version_id: None,
            instance_id: self.instance_id.as_deref().map(record::id).transpose()?,
            input: self.input.unwrap_or_default(),
            properties: self.properties.unwrap_or_default(),
            correlation_id: self.correlation_id,
            name: self.name,
            is_counted: false,
            trigger_activity_id: self
                .trigger_activity_id
                .filter(|id| !id.is_empty())
                .map(Into::into),
            restart: taken_over(self.variables, self.activity_handle.as_ref())?,
            responds,
        })
    }
}

/// Runs the published version, or the one that is asked for, and waits for it to finish or to wait.
///
/// A draft that is run becomes a version that never changes: its next save makes the next version.
/// Answers `{workflowState}`; if the workflow wrote an HTTP response, that is the answer. A run
/// that takes longer than 30 s (or `Prefer: wait=<seconds>`) is answered with 202 and the URL of
/// its instance.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/execute", tag = "runs",
    params(("definitionId" = String, Path)), request_body = RunRequest,
    responses((status = 200, content((shape::run::RanOrSaid = "application/json"), (String = "*/*")),
            description = "The state of the instance, or what the workflow wrote with `WriteHttpResponse`"), (status = 202, body = InstanceStatus),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 500, body = ProblemBody, description = "The workflow faulted; with `workflowState`")))]
pub(super) async fn execute(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<RunRequest>,
) -> Result<Response, Problem> {
    let beginning = request.beginning(&id, true)?;
    let ran = run_to_rest(&app, &asking, beginning, prefer).await;
    ran.map(respond::began).map_err(respond::not_begun)
}

/// Runs the published version and waits for it to finish or to wait.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}/execute", tag = "runs",
    params(("definitionId" = String, Path), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("triggerActivityId" = Option<String>, Query),
        ("versionOptions" = Option<String>, Query),
        ("input" = Option<String>, Query, description = "Workflow input by name, a JSON object"),
        ("variables" = Option<String>, Query, description = "Values of variables, a JSON object")),
    responses((status = 200, content((shape::run::RanOrSaid = "application/json"), (String = "*/*")),
            description = "The state of the instance, or what the workflow wrote with `WriteHttpResponse`"), (status = 202, body = InstanceStatus),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 500, body = ProblemBody)))]
pub(super) async fn execute_get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
    method: axum::http::Method,
    prefer: Prefer,
    asking: Asking,
) -> Result<Response, Problem> {
    refuse_head(&method, "GET, POST")?;
    let beginning = Beginning {
        definition_id: definition_id(&id)?,
        version: Some(version_option(&params, VersionOption::Published)?),
        correlation_id: params.one("correlationId").map(str::to_owned),
        name: params.one("name").map(str::to_owned),
        trigger_activity_id: params.one("triggerActivityId").map(Into::into),
        input: object(&params, "input")?.unwrap_or_default(),
        restart: taken_over(object(&params, "variables")?, None)?,
        responds: true,
        ..Beginning::default()
    };
    let ran = run_to_rest(&app, &asking, beginning, prefer).await;
    ran.map(respond::began).map_err(respond::not_begun)
}

/// The JSON object in a query parameter.
fn object(params: &Params, name: &str) -> Result<Option<Map>, Problem> {
    let Some(text) = params.one(name) else { return Ok(None) };
    parse(text.as_bytes())
        .map(Some)
        .map_err(|problem| problem.of(&format!("query parameter {name}")))
}

/// Refuses a HEAD on a route that starts something: a HEAD must change nothing.
pub(super) fn refuse_head(method: &axum::http::Method, allowed: &str) -> Result<(), Problem> {
    if method != axum::http::Method::HEAD {
        return Ok(());
    }
    let allowed: Vec<_> = allowed.split(", ").map(str::to_owned).collect();
    Err(Problem::method_not_allowed("HEAD", &allowed))
}

async fn run_to_rest(
    app: &Arc<App>,
    asking: &Asking,
    beginning: Beginning,
    prefer: Prefer,
) -> Result<Response, Problem> {
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Settled, prefer.within(app.config.answer_time_max)),
    };
    let Started { instance, reply } = pipeline::start(app, asking, beginning, patience).await?;
    let id = &instance.id;
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem);
            }
            if let Some(said) = &outcome.response {
                return respond::said(app, id, said).await;
            }
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(respond::accepted(id, InstanceStatus::of_row(&instance)));
            };
            Ok(state_of(app, seen).await)
        }
        Reply::Done => {
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(respond::accepted(id, InstanceStatus::of_row(&instance)));
            };
            if let Some(said) = seen.answer_for(&asking.id) {
                return respond::said(app, id, said).await;
            }
            if seen.status() == SubStatus::Executing {
                return Ok(respond::accepted(id, InstanceStatus::of_seen(&seen)));
            }
            Ok(state_of(app, seen).await)
        }
        Reply::Accepted | Reply::Late => {
            Ok(respond::accepted(id, InstanceStatus::of_row(&instance)))
        }
    }
}

async fn state_of(app: &App, seen: Seen) -> Response {
    let id = seen.instance.id.clone();
    let mut view = seen.view(app).await;
    view["output"] = large::whole(app, seen.state().output.clone()).await.into();
    if seen.status() == SubStatus::Faulted {
        let incidents = &seen.state().incidents;
        let messages: Vec<_> = incidents.iter().map(|i| i.message.clone()).collect();
        return respond::of_instance(
            &id,
            respond::faulted(&id, &messages).with("workflowState", view),
        );
    }
    respond::of_instance(&id, seen.answer(app, &json!({"workflowState": view})))
}

/// Starts the published version and answers as soon as the start is accepted.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/dispatch", tag = "runs",
    params(("definitionId" = String, Path)), request_body = RunRequest,
    responses((status = 200, body = shape::run::Dispatched),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn dispatch(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(request): Body<RunRequest>,
) -> Result<Response, Problem> {
    let beginning = request.beginning(&id, false)?;
    let started = pipeline::start(&app, &asking, beginning, Patience::None).await;
    let id = &started.map_err(respond::not_begun)?.instance.id;
    let mut response = respond::of_instance(id, Json(json!({"workflowInstanceId": id})));
    executors::explain(&app, &mut response);
    Ok(response)
}

/// Starts the published version several times.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/bulk-dispatch", tag = "runs",
    params(("definitionId" = String, Path)), request_body = RunRequest,
    responses((status = 200, body = shape::run::DispatchedTogether),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn bulk_dispatch(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(mut request): Body<RunRequest>,
) -> Result<Response, Problem> {
    let count = request.count.unwrap_or(1);
    // An id can be given to one instance only.
    if let Some(id) = request.instance_id.take() {
        record::id(&id)?;
    }
    let mut beginning = request.beginning(&id, false)?;
    if let Some(count) = NonZeroU32::new(count) {
        // Together, so that none is started where not all are.
        let program = pipeline::validate::start(&app, &beginning).await?;
        app.rates.of_definition_together(program.definition_id(), count)?;
        beginning.is_counted = true;
    }
    let starts = (0..count).map(|number| {
        let (app, beginning) = (Arc::clone(&app), beginning.clone());
        let asking = asking.about(&number.to_string());
        async move { pipeline::start(&app, &asking, beginning, Patience::None).await }
    });
    let started = crate::routes::side_by_side::side_by_side(starts).await;
    let ids: Result<Vec<InstanceId>, Problem> =
        started.into_iter().map(|started| started.map(|started| started.instance.id)).collect();
    Ok(Json(json!({"workflowInstanceIds": ids?})).into_response())
}
