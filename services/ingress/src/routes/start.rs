//! `POST /workflow-instances`: starts an instance, or lists instances, depending on its body and query.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use model::Map;
use protocol::ReplyWhen;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::definitions::definition_id;
use super::instance_filter::{self, ListRequest};
use super::instances::listed;
use crate::auth::caller::Caller;
use crate::body::{Body, Params, Prefer, lenient};
use crate::note::Note;
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::{Patience, Reply};
use crate::pipeline::validate::Beginning;
use crate::pipeline::{self, Started};
use crate::present::{InstancePage, InstanceStatus};
use crate::problem::ProblemBody;
use crate::record;
use crate::{App, Problem, respond};

/// The definition to start, and its input.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StartRequest {
    /// The published definition.
    definition_id: String,
    /// Workflow input by name.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    /// Properties of the instance. `Flowchart:ExecutionMode` chooses `TokenBased` or
    /// `CounterBased` flowcharts.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    properties: Option<Map>,
    /// Groups instances that belong together.
    #[serde(default)]
    correlation_id: Option<String>,
    /// Id of the new instance; generated if none is given.
    #[serde(default)]
    instance_id: Option<String>,
    /// The instance's name.
    #[serde(default)]
    name: Option<String>,
}

/// What the request asked for.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there for its schema")]
enum StartedOrListed {
    /// A start.
    Started(InstanceStatus),
    /// A list.
    Listed(InstancePage),
}

/// Starts an instance, or lists instances.
///
/// A body with `definitionId` starts an instance where neither it nor the query has anything of a list
/// (`page`, `status`, `searchTerm` …); its members are `definitionId`, `input`, `properties`,
/// `correlationId`, `instanceId` and `name`. The answer comes when its first burst has been committed.
/// With `Prefer: respond-async` it is 202 and comes as soon as the start is accepted; from then on the
/// instance can be read. Any other body, also an empty one, is a filter, as for GET, whose parameters
/// may be in the query, too. `POST /workflow-instances/start` always starts, `POST
/// /workflow-instances/query` always lists.
#[utoipa::path(post, path = "/workflow-instances", tag = "instances",
    params(("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query), ("cursor" = Option<String>, Query),
        ("searchTerm" = Option<String>, Query), ("definitionId" = Option<String>, Query),
        ("definitionIds" = Option<Vec<String>>, Query), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("version" = Option<u32>, Query),
        ("parentWorkflowInstanceId" = Option<String>, Query),
        ("hasIncidents" = Option<bool>, Query), ("isSystem" = Option<bool>, Query), ("status" = Option<String>, Query),
        ("subStatus" = Option<String>, Query), ("orderBy" = Option<String>, Query),
        ("orderDirection" = Option<String>, Query),
        ("variable" = Option<Vec<String>>, Query, example = json!(["Amount:gte:100"]),
            description = "As for GET, beside `variableFilters` of the body")),
    request_body = StartRequest,
    responses((status = 200, body = StartedOrListed),
        (status = 202, body = InstanceStatus, description = "Accepted: see `Location`"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody), (status = 413, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn start_or_list(
    State(app): State<Arc<App>>,
    caller: Caller,
    prefer: Prefer,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    let Value::Object(members) = &body else {
        return Err(Problem::bad_request("the body is not a JSON object"));
    };
    let has = |wanted: &[&str]| members.keys().any(|name| lenient::is_member(name, wanted));
    let is_given = |value: &Value| value.as_str() != Some("") && !value.is_null();
    let names_definition = members
        .iter()
        .any(|(name, value)| lenient::is_member(name, &["definitionId"]) && is_given(value));
    let is_list = !names_definition
        || members.keys().any(|name| instance_filter::is_of_list(name))
        || instance_filter::is_query_of_list(&params);
    if !is_list {
        let known = instance_filter::in_query();
        if let Some(name) = params.names().find(|name| !lenient::is_member(name, &known)) {
            return Err(Problem::bad_request(format!(
                "there is no query parameter {name:?} here: a start has none, a list those of GET \
                 /workflow-instances"
            )));
        }
        caller.must("exec:workflow-definitions")?;
        return start(&app, &asking, body, prefer).await;
    }
    if has(&["input", "instanceId", "properties"]) {
        return Err(Problem::bad_request(
            "the request mixes a start with a list, or names no definitionId: to start an instance \
             send definitionId, input, properties, correlationId, instanceId and name only, and no \
             query of a list, such as page",
        ));
    }
    caller.must("read:workflow-instances")?;
    let list = listed(&app, filter(body)?.within(&params)?).await?;
    Ok(list.into_response())
}

/// The filter in a body.
///
/// # Errors
/// 400 for a member that says something and means nothing here: the answer would have more instances
/// than were asked for.
fn filter(body: Value) -> Result<ListRequest, Problem> {
    let says = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    let known = instance_filter::in_body();
    let is_known = |name: &str| lenient::is_member(name, &known);
    let mut members = body.as_object().into_iter().flatten();
    if let Some((name, _)) = members.find(|(name, value)| says(value) && !is_known(name)) {
        return Err(Problem::bad_request(format!(
            "there is no filter {name}: use {}",
            known.join(", ")
        )));
    }
    lenient::from_value(body)
        .map_err(|error| Problem::bad_request(format!("the filter cannot be read: {error}")))
}

/// Starts an instance of a published definition. Unlike `POST /workflow-instances`, it never lists.
///
/// The answer comes when its first burst has been committed, and has what that burst has set: where the
/// status is `Running`, the instance goes on, and sets more. `POST
/// /workflow-definitions/{definitionId}/execute` waits for its end. With `Prefer: respond-async` the
/// answer is 202 and comes at once.
#[utoipa::path(post, path = "/workflow-instances/start", tag = "instances",
    request_body = StartRequest,
    responses((status = 200, body = InstanceStatus),
        (status = 202, body = InstanceStatus, description = "Accepted: see `Location`"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn start_only(
    State(app): State<Arc<App>>,
    prefer: Prefer,
    asking: Asking,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    start(&app, &asking, body, prefer).await
}

/// Lists instances, newest first. Unlike `POST /workflow-instances`, it never starts one. What the query
/// names is read instead of what the body says.
#[utoipa::path(post, path = "/workflow-instances/query", tag = "instances",
    params(("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query), ("cursor" = Option<String>, Query),
        ("searchTerm" = Option<String>, Query), ("definitionId" = Option<String>, Query),
        ("definitionIds" = Option<Vec<String>>, Query), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("version" = Option<u32>, Query),
        ("parentWorkflowInstanceId" = Option<String>, Query),
        ("hasIncidents" = Option<bool>, Query), ("isSystem" = Option<bool>, Query), ("status" = Option<String>, Query),
        ("subStatus" = Option<String>, Query), ("orderBy" = Option<String>, Query),
        ("orderDirection" = Option<String>, Query),
        ("variable" = Option<Vec<String>>, Query, example = json!(["Amount:gte:100"]),
            description = "As for GET, beside `variableFilters` of the body")),
    request_body = ListRequest,
    responses((status = 200, body = InstancePage), (status = 400, body = ProblemBody)))]
pub(super) async fn query(
    State(app): State<Arc<App>>,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Json<InstancePage>, Problem> {
    listed(&app, filter(body)?.within(&params)?).await
}

async fn start(
    app: &Arc<App>,
    asking: &Asking,
    body: Value,
    prefer: Prefer,
) -> Result<Response, Problem> {
    let request: StartRequest = lenient::from_value(body)
        .map_err(|error| Problem::bad_request(format!("the start cannot be read: {error}")))?;
    let beginning = Beginning {
        definition_id: definition_id(&request.definition_id)?,
        instance_id: request.instance_id.as_deref().map(record::id).transpose()?,
        input: request.input.unwrap_or_default(),
        properties: request.properties.unwrap_or_default(),
        correlation_id: request.correlation_id,
        name: request.name,
        ..Beginning::default()
    };
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    begun(app, asking, beginning, patience, None).await
}

/// Starts an instance, and answers with its status, which is in the note, too.
pub(super) async fn begun(
    app: &Arc<App>,
    asking: &Asking,
    beginning: Beginning,
    patience: Patience,
    note: Option<Note<'_>>,
) -> Result<Response, Problem> {
    let started = pipeline::start(app, asking, beginning, patience).await;
    if let Some(note) = note {
        note.replied_if(started.as_ref().ok().map(|started| &started.reply)).await;
    }
    let Started { instance, reply } = started.map_err(respond::not_begun)?;
    let id = &instance.id;
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(respond::not_begun(problem));
            }
            let status = InstanceStatus::of_outcome(id, &outcome, instance.status);
            let status = status.of_definition(&instance).whole(app).await;
            Ok(respond::of_instance(id, Json(status)))
        }
        Reply::Done => {
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(respond::accepted(id, InstanceStatus::of_row(&instance)));
            };
            let status = json!(InstanceStatus::of_seen(&seen).whole(app).await);
            Ok(respond::of_instance(id, seen.answer(app, &status)))
        }
        Reply::Accepted | Reply::Late => {
            Ok(respond::accepted(id, InstanceStatus::of_row(&instance)))
        }
    }
}
