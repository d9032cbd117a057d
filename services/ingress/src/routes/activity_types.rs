//! The activity types that workers perform: how they are registered, and what the API says of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use bus::Worker;
use model::ActivityType;
use model::activity_type::Mode;
use protocol::subject;
use serde_json::{Value, json};

use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, workers};

/// The activity types that workers have registered, with the subjects that their workers use.
/// Documents that cannot be used are in `faulty`, each with what is wrong.
#[utoipa::path(get, path = "/activity-types", tag = "descriptors",
    responses((status = 200, body = shape::descriptor::ActivityTypes)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let registered = workers::registered(&app).await?;
    let items: Vec<_> = registered.types.iter().map(shown).collect();
    let faulty = registered.faulty.into_iter();
    let faulty: Vec<_> =
        faulty.map(|(key, problems)| json!({"key": key, "problems": problems})).collect();
    Ok(Json(json!({"count": items.len(), "items": items, "faulty": faulty})))
}

/// Registers a version of an activity type, or changes it. Definitions that were published before keep
/// the document that they were published with.
///
/// The answer has the subjects and the consumer that its workers use.
#[utoipa::path(post, path = "/activity-types", tag = "descriptors",
    request_body = shape::descriptor::ActivityTypeDocument,
    responses((status = 200, body = shape::descriptor::ActivityType),
        (status = 400, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn register(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(document): Body<Value>,
) -> Result<Json<Value>, Problem> {
    let read = engine::activity_type(document).and_then(|kind| workers::not_own(&app, kind));
    let kind = read.map_err(|flaws| {
        let advice = "docs/activity-types.md has an example";
        Problem::bad_request(format!(
            "this activity type cannot be used: {}; {advice}",
            flaws.join("; ")
        ))
        .with("problems", flaws)
    })?;
    workers::register(&app, &kind).await?;
    let details = json!({"version": kind.version, "mode": kind.mode});
    app.audit(&caller, "activity-type.register", &kind.type_name, details).await;
    Ok(Json(shown(&kind)))
}

/// What there is to do for the workers of each type and version of tasks.
#[utoipa::path(get, path = "/tasks/pools", tag = "runs",
    responses((status = 200, body = shape::Items<shape::descriptor::TaskPool>)))]
pub(super) async fn pools(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let mut pools = workers::pools(&app).await?;
    pools.sort_by_key(|pool| (pool.task_type.clone(), pool.version));
    let items: Vec<_> = pools
        .iter()
        .map(|pool| {
            json!({"taskType": pool.task_type, "version": pool.version, "consumer": pool.consumer,
                "waiting": pool.waiting, "inProgress": pool.in_progress,
                "redelivered": pool.redelivered, "asking": pool.asking, "oldest": pool.oldest,
                "oldestWaiting": pool.oldest_waiting})
        })
        .collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// The workers that are services of NATS, and what they work at: those that take tasks and say so, as the
/// client libraries do, and those that answer the requests of activities. Workers that are no services, or
/// that have an account of NATS of their own, are not among them.
#[utoipa::path(get, path = "/tasks/workers", tag = "runs",
    responses((status = 200, body = shape::Items<shape::descriptor::TaskWorker>),
        (status = 503, body = ProblemBody)))]
pub(super) async fn at_work(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let workers = workers::at_work(&app).await?;
    let items: Vec<_> = workers.iter().map(worker).collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

fn worker(worker: &Worker) -> Value {
    let Worker { name, id, version, host, tasks, requests } = worker;
    let tasks: Vec<_> = tasks
        .iter()
        .map(|takes| {
            json!({"taskType": takes.task_type, "version": takes.version,
                "concurrency": takes.concurrency})
        })
        .collect();
    let requests: Vec<_> = requests
        .iter()
        .map(|(kind, version)| json!({"activityType": kind, "version": version}))
        .collect();
    json!({"name": name, "id": id, "version": version, "host": host, "tasks": tasks,
        "requests": requests})
}

/// Removes a version of an activity type. Published definitions that use it go on using it.
#[utoipa::path(delete, path = "/activity-types/{typeName}/{version}", tag = "descriptors",
    params(("typeName" = String, Path), ("version" = u32, Path)),
    responses((status = 204), (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path((name, version)): Path<(String, String)>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    bounds::name("typeName", &name)?;
    let unknown = || Problem::not_found(format!("no worker has registered {name}@{version}"));
    let number = subject::task_version(&version).ok_or_else(unknown)?;
    if !workers::remove(&app, &name, number).await? {
        return Err(unknown());
    }
    app.audit(&caller, "activity-type.delete", &name, json!({"version": number})).await;
    Ok(StatusCode::NO_CONTENT)
}

/// A type, and where its workers find their work.
fn shown(kind: &ActivityType) -> Value {
    let mut shown = json!(kind);
    let (name, version) = (kind.type_name.as_str(), kind.version);
    let subjects = match kind.mode {
        Mode::Request => json!({"requestSubject": subject::act(name, version)}),
        Mode::Task => json!({
            "taskSubject": subject::task(name, version),
            "resultSubject": subject::task_result(name, version, "{taskId}")
                .replace("=7BtaskId=7D", "{taskId}"),
            "stream": subject::TASKS_STREAM,
            "consumer": subject::task_consumer(name, version),
        }),
    };
    if let (Some(all), Value::Object(subjects)) = (shown.as_object_mut(), subjects) {
        all.insert("key".to_owned(), subject::activity_key(name, version).into());
        all.extend(subjects);
    }
    shown
}
