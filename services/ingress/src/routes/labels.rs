//! Labels of definitions, in Elsa's form: the labels themselves, and those that a version has.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::IntoResponse;
use model::{Definition, VersionId, limits};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Label, LabelKept, check_label, check_version_labels};
use utoipa::ToSchema;

use super::definitions::no_version;
use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::identity::password::is_unseen;
use crate::paging::Part;
use crate::present::Paged;
use crate::problem::ProblemBody;
use crate::respond::segment;
use crate::{App, Problem};

/// A description that is no longer fits into the bytes that are stored, whatever its characters.
const DESCRIPTION_CHARS_MAX: usize = limits::LABEL_DESCRIPTION_BYTES_MAX / 4;

/// A label.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LabelSummary {
    id: String,
    name: String,
    /// The name in lower case; no other label has it.
    normalized_name: String,
    description: Option<String>,
    /// As `#rrggbb`.
    color: Option<String>,
}

impl From<&Label> for LabelSummary {
    fn from(label: &Label) -> Self {
        let normalized_name = label.normalized_name();
        let Label { id, name, description, color } = label.clone();
        Self { id, name, normalized_name, description, color }
    }
}

/// A label as it is to be; what is absent, null or empty is none.
#[derive(Deserialize, ToSchema)]
pub(super) struct LabelRequest {
    name: Option<String>,
    description: Option<String>,
    /// As `#rrggbb`.
    color: Option<String>,
}

/// The labels that a version has.
#[derive(Serialize, ToSchema)]
pub(super) struct VersionLabels {
    /// Ids of labels.
    items: Vec<String>,
}

/// The labels that a version is to have, instead of those that it has.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VersionLabelsRequest {
    /// Ids of labels; those that no label has are left out.
    label_ids: Option<Vec<String>>,
}

/// Lists the labels, by name.
///
/// Without a page and a size the answer has all of them.
#[utoipa::path(get, path = "/labels", tag = "labels",
    params(("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = Paged<LabelSummary>), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Paged<LabelSummary>>, Problem> {
    let page = Part::of_list(&params, &[])?.or_all().page()?;
    let labels = app.cx.store.labels().await?;
    let found = page.of(labels.iter().map(LabelSummary::from));
    Ok(Json(Paged { items: found.items, total_count: found.total }))
}

/// Makes a label.
#[utoipa::path(post, path = "/labels", tag = "labels", request_body = LabelRequest,
    responses((status = 201, body = LabelSummary), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<LabelRequest>,
) -> Result<impl IntoResponse, Problem> {
    let label = request.label(app.fresh_id())?;
    done(app.cx.store.create_label(&label).await?, &label)?;
    let details = json!({"name": label.name, "color": label.color});
    app.audit(&caller, "label.create", &label.id, details).await;
    let made = format!("/elsa/api/labels/{}", segment(&label.id));
    Ok((StatusCode::CREATED, [(LOCATION, made)], Json(LabelSummary::from(&label))))
}

/// A label.
#[utoipa::path(get, path = "/labels/{id}", tag = "labels", params(("id" = String, Path)),
    responses((status = 200, body = LabelSummary), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<LabelSummary>, Problem> {
    let found = app.cx.store.label(&id).await?.ok_or_else(|| unknown(&id))?;
    Ok(Json(LabelSummary::from(&found)))
}

/// Changes a label. The versions that have it keep it.
#[utoipa::path(post, path = "/labels/{id}", tag = "labels", params(("id" = String, Path)), request_body = LabelRequest,
    responses((status = 200, body = LabelSummary), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)))]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<LabelRequest>,
) -> Result<Json<LabelSummary>, Problem> {
    let label = request.label(id)?;
    done(app.cx.store.replace_label(&label).await?, &label)?;
    let details = json!({"name": label.name, "color": label.color});
    app.audit(&caller, "label.update", &label.id, details).await;
    Ok(Json(LabelSummary::from(&label)))
}

/// Removes a label, also from the versions that have it.
#[utoipa::path(delete, path = "/labels/{id}", tag = "labels", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    let found = app.cx.store.label(&id).await?.ok_or_else(|| unknown(&id))?;
    if !app.cx.store.delete_label(&id).await? {
        return Err(unknown(&id));
    }
    app.audit(&caller, "label.delete", &id, json!({"name": found.name})).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The labels that a version of a definition has.
#[utoipa::path(get, path = "/workflow-definitions/{id}/labels", tag = "labels",
    params(("id" = String, Path, description = "Version id")),
    responses((status = 200, body = VersionLabels), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn of_version(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<VersionLabels>, Problem> {
    params.only(&[])?;
    let version = version(&app, &id).await?;
    let mut found = app.cx.store.labels_of(std::slice::from_ref(&version.id)).await?;
    Ok(Json(VersionLabels { items: found.remove(&version.id).unwrap_or_default() }))
}

/// Gives a version of a definition these labels instead of those that it has. A version that is made
/// after it takes them along.
#[utoipa::path(post, path = "/workflow-definitions/{id}/labels", tag = "labels",
    params(("id" = String, Path, description = "Version id")), request_body = VersionLabelsRequest,
    responses((status = 200, body = VersionLabels), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn set_of_version(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<VersionLabelsRequest>,
) -> Result<Json<VersionLabels>, Problem> {
    let labels = request.label_ids.unwrap_or_default();
    check_version_labels(&labels)?;
    let Definition { id: version_id, definition_id, version, .. } = version(&app, &id).await?;
    let kept = app.cx.store.set_labels(&version_id, &labels).await?;
    let items = kept.ok_or_else(|| no_version(&id))?;
    let details = json!({"version": version, "versionId": version_id, "labels": items});
    app.audit(&caller, "definition.label", definition_id.as_str(), details).await;
    Ok(Json(VersionLabels { items }))
}

impl LabelRequest {
    /// The label, if it keeps the rules.
    fn label(self, id: String) -> Result<Label, Problem> {
        let text = |text: Option<String>| {
            let text = text.unwrap_or_default().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let name = text(self.name).unwrap_or_default();
        if name.contains(is_unseen) {
            return Err(Problem::bad_request(
                "name is not that of a label: it has a character that nobody sees (such as U+200B or \
                 U+202E), and would look like another name: leave it out",
            ));
        }
        let chars = self.description.as_ref().map_or(0, |text| text.chars().count());
        if chars > DESCRIPTION_CHARS_MAX {
            return Err(Problem::bad_request(format!(
                "description has {chars} characters: use at most {DESCRIPTION_CHARS_MAX}"
            )));
        }
        let label =
            Label { id, name, description: text(self.description), color: text(self.color) };
        check_label(&label)?;
        Ok(label)
    }
}

fn done(kept: LabelKept, label: &Label) -> Result<(), Problem> {
    match kept {
        LabelKept::Done => Ok(()),
        LabelKept::NameTaken => Err(Problem::conflict(
            "name-taken",
            format!(
                "there is a label {:?} already, in this or another case: use another name",
                label.name
            ),
        )),
        LabelKept::TooMany => Err(Problem::conflict(
            "too-many",
            format!(
                "there are {} labels already, the most there may be: remove one that no definition \
                 needs",
                limits::LABELS_MAX
            ),
        )),
        LabelKept::Unknown => Err(unknown(&label.id)),
    }
}

/// The version with this id.
async fn version(app: &App, id: &str) -> Result<Definition, Problem> {
    let found = app.cx.store.version(&VersionId::new(id)).await?;
    found.ok_or_else(|| no_version(id))
}

fn unknown(id: &str) -> Problem {
    Problem::not_found(format!("there is no label {id:?}: labels are named by their id"))
}
