//! Several workflow instances at once, as files and zips.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use model::{InstanceId, VersionId, depth, json as exact};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::bulk::{bounded, each_once};
use super::files::files;
use super::removal::{Removal, remove_all};
use super::transfer::{Contents, Imported, exported, take_in};
use crate::archive::{Packed, pack};
use crate::auth::caller::Caller;
use crate::body::{Body, BytesMax, Params, content_type, parse, read};
use crate::pipeline::identify::Asking;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::states::{self, Held};
use crate::{App, Problem, record};

/// Bytes of the files of one export together.
const EXPORT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The instances to export, and what of them. What is not said to be left out is exported.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstancesExport {
    ids: Option<Vec<String>>,
    include_bookmarks: Option<bool>,
    /// The journal is both logs: it is left out if both are.
    include_activity_execution_log: Option<bool>,
    include_workflow_execution_log: Option<bool>,
}

impl InstancesExport {
    fn read(params: &Params) -> Result<Self, Problem> {
        Ok(Self {
            ids: Some(params.many("ids")),
            include_bookmarks: params.flag("includeBookmarks")?,
            include_activity_execution_log: params.flag("includeActivityExecutionLog")?,
            include_workflow_execution_log: params.flag("includeWorkflowExecutionLog")?,
        })
    }

    fn contents(&self) -> Contents {
        Contents {
            bookmarks: self.include_bookmarks.unwrap_or(true),
            journal: self.include_activity_execution_log.unwrap_or(true)
                || self.include_workflow_execution_log.unwrap_or(true),
        }
    }
}

/// Exports instances: one as JSON, several as a zip. They stay here.
#[utoipa::path(post, path = "/bulk-actions/export/workflow-instances", tag = "instances",
    request_body = InstancesExport,
    responses((status = 200, content((shape::instance::InstanceFile = "application/json"), (String = "application/zip")), description = "An instance, or a zip of them"),
        (status = 204, description = "Nothing is named"), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<InstancesExport>,
) -> Result<Response, Problem> {
    several(&app, &caller, request).await
}

/// Exports instances: one as JSON, several as a zip. They stay here.
#[utoipa::path(get, path = "/bulk-actions/export/workflow-instances", tag = "instances",
    params(("ids" = Option<Vec<String>>, Query), ("includeBookmarks" = Option<bool>, Query),
        ("includeActivityExecutionLog" = Option<bool>, Query),
        ("includeWorkflowExecutionLog" = Option<bool>, Query)),
    responses((status = 200, content((shape::instance::InstanceFile = "application/json"), (String = "application/zip")), description = "An instance, or a zip of them"),
        (status = 204, description = "Nothing is named"), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn export_get(
    State(app): State<Arc<App>>,
    caller: Caller,
    params: Params,
) -> Result<Response, Problem> {
    several(&app, &caller, InstancesExport::read(&params)?).await
}

/// An instance as a file, as with GET; the body says what is left out.
#[utoipa::path(post, path = "/workflow-instances/{id}/export", tag = "instances",
    params(("id" = String, Path)), request_body = InstancesExport,
    responses((status = 200, body = shape::instance::InstanceFile, description = "The file that `import` reads"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn export_one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<InstancesExport>,
) -> Result<Response, Problem> {
    several(&app, &caller, InstancesExport { ids: Some(vec![id]), ..request }).await
}

/// The turn of an export of several instances.
async fn turn(app: &App) -> Result<SemaphorePermit<'_>, Problem> {
    match timeout(app.config.answer_time_max, app.exports.acquire()).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => {
            app.metrics.refused();
            Err(Problem::overloaded(
                "another export of several instances is being made: try again in a moment",
            ))
        }
    }
}

async fn several(
    app: &App,
    caller: &Caller,
    request: InstancesExport,
) -> Result<Response, Problem> {
    let contents = request.contents();
    let ids = request.ids.unwrap_or_default();
    bounded(ids.len())?;
    let ids = each_once(ids);
    let is_one = ids.len() == 1;
    // What is packed is in memory as a whole: one at a time, and one of its own has room like a read.
    let _turn = match is_one {
        true => None,
        false => Some(turn(app).await?),
    };
    let (mut packed, mut total, mut room) = (Vec::new(), 0, Held::default());
    for id in &ids {
        let instance = InstanceId::new(id.as_str());
        let seen = match is_one {
            true => record::get_to_show(app, &instance).await?,
            // What was read before is kept meanwhile.
            false => record::get(app, &instance).await?,
        };
        let bytes = format!("{:#}\n", exported(app, &seen, contents).await?).into_bytes();
        total += bytes.len();
        if total > EXPORT_BYTES_MAX {
            return Err(Problem::bad_request(format!(
                "these instances have more than {EXPORT_BYTES_MAX} bytes together: name fewer of \
                 them in one export"
            )));
        }
        packed.push(Packed { name: file_name(id), bytes });
        if is_one {
            room = seen.into_room();
        }
    }
    for id in &ids {
        app.audit_later(caller, "instance.export", id, Value::Null).await;
    }
    let attached = |name: &str| (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""));
    match packed.pop() {
        None => Ok(StatusCode::NO_CONTENT.into_response()),
        Some(one) if is_one => {
            let kind = (CONTENT_TYPE, "application/json".to_owned());
            let body = states::body(app, room, one.bytes);
            Ok(([attached(&one.name), kind], body).into_response())
        }
        Some(last) => {
            packed.push(last);
            let kind = (CONTENT_TYPE, "application/zip".to_owned());
            let body = states::body(app, Held::default(), pack(packed)?);
            Ok(([attached("workflow-instances.zip"), kind], body).into_response())
        }
    }
}

/// Takes in instances that another installation exported: one as JSON, or a multipart form with
/// `.json` files and `.zip` files of them. The definition of each must be here, in the same version.
///
/// An instance that has the id, or one of the bookmarks, already stays as it is (409). Of several files,
/// those that cannot be taken in are named in `failed`; files that are no instances are refused before
/// anything is stored.
#[utoipa::path(post, path = "/bulk-actions/import/workflow-instances", tag = "instances",
    request_body(content((shape::FilesForm = "multipart/form-data"), (shape::instance::InstanceFile = "application/json"))),
    responses((status = 200, body = shape::bulk::InstancesImported),
        (status = 400, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn import(
    State(app): State<Arc<App>>,
    asking: Asking,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let kind = content_type(&headers);
    let limit = BytesMax::of(&request);
    let bytes = read(request.into_body(), limit).await?;
    let documents = match kind.as_deref() {
        Some("multipart/form-data") => {
            let read = files(&headers, bytes).await?.files.into_iter().map(|file| {
                let document = document(&file)?;
                Ok((file.name, Imported::read(document)?))
            });
            read.collect::<Result<Vec<_>, Problem>>()?
        }
        None | Some("application/json" | "text/json") => {
            vec![(String::new(), Imported::read(parse(&bytes)?)?)]
        }
        Some(other) => return Err(Problem::unsupported(other)),
    };
    let is_one = documents.len() == 1;
    let (mut taken, mut failed) = (Vec::new(), Vec::new());
    for (name, document) in documents {
        match take_in(&app, &asking, document).await {
            Ok(id) => taken.push(id),
            Err(problem) if is_one => return Err(problem),
            Err(problem) => failed.push(json!({"file": name, "detail": problem.detail()})),
        }
    }
    let first = taken.first();
    Ok(Json(json!({
        "imported": taken.len(), "count": taken.len(), "workflowInstanceId": first, "failed": failed,
    })))
}

pub(super) fn file_name(id: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    format!("workflow-instance-{}.json", id.chars().filter(is_plain).collect::<String>())
}

fn document(file: &Packed) -> Result<Value, Problem> {
    let wrong = |error: String| {
        Problem::bad_request(format!("{} is not an exported instance: {error}", file.name))
    };
    let bytes = exact::without_byte_order_mark(&file.bytes);
    depth::check_json_carrier(bytes).map_err(|error| wrong(error.to_string()))?;
    exact::check_integers(bytes).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))
}

/// The versions to remove.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct VersionIds {
    ids: Option<Vec<String>>,
}

/// Removes these versions of definitions, at most 1000 in one call, except those that unfinished instances
/// run or that other definitions use as an activity. Where some stay, the others are removed all the same,
/// and the answer is a problem.
#[utoipa::path(post, path = "/bulk-actions/delete/workflow-definitions/by-id", tag = "definitions",
    request_body = VersionIds,
    responses((status = 200, body = shape::bulk::Deletions), (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Some stay: `deleted` is the number of those that \
            are removed, `failed` has the ids of the others, and `problems` the reasons by id")))]
pub(super) async fn delete_versions(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<VersionIds>,
) -> Result<Json<Value>, Problem> {
    let ids = request.ids.unwrap_or_default();
    bounded(ids.len())?;
    let ids = each_once(ids).into_iter();
    let removals = ids.map(|id| Removal::Version(VersionId::new(id))).collect();
    remove_all(&app, &asking.caller, removals, "versions").await
}
