//! Several workflow definitions at once, as files and zips.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::Engine;
use futures::stream;
use model::{Definition, DefinitionId, Map, VersionId, depth, json as exact, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use shortform::Notation;
use store::VersionOption;
use utoipa::ToSchema;

use super::definitions::{definition_id, file_name, one, version_option};
use super::reading::Reading;
use super::saving::audit_draft;
use super::short_form;
use crate::archive::{Packed, Unpacked, is_yaml, pack, unpack};
use crate::body::lenient::is_member;
use crate::body::{Body, BytesMax, Params, content_type, read};
use crate::endpoint::form::{FormLimits, multipart};
use crate::pipeline::identify::Asking;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::publication::{self, Precondition, etag};
use crate::{App, Problem};

/// The definitions to export.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exported {
    /// Ids of versions.
    ids: Option<Vec<String>>,
    /// Ids of definitions.
    definition_ids: Option<Vec<String>>,
    /// The workflows that use them as activities are exported too.
    include_consuming_workflows: Option<bool>,
}

/// Imports several definitions, as drafts.
///
/// The body is a multipart form with `.json` files, with `.yaml` files in the short form, and with
/// `.zip` files of both. A `.yaml` file without `definitionId` gets its own name as id. Other files of a
/// zip are left out, and named in the answer. Nothing is stored if a file is no definition, or would
/// change a read-only definition; `failed` of the problem says what is wrong with each file.
#[utoipa::path(post, path = "/workflow-definitions/import-files", tag = "definitions",
    request_body(content = shape::FilesForm, content_type = "multipart/form-data"),
    responses((status = 200, body = shape::definition::FilesImported),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import(
    State(app): State<Arc<App>>,
    asking: Asking,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let limit = BytesMax::of(&request);
    let bytes = read(request.into_body(), limit).await?;
    let Unpacked { files, left_out } = files(&headers, bytes).await?;
    let definitions = definitions(&app, &asking, files).await?;
    for (name, definition) in &definitions {
        let latest = publication::latest_of(&app, &definition.definition_id).await?;
        publication::refuse_read_only(latest.as_ref()).map_err(|problem| problem.of(name))?;
    }
    let mut imported = Vec::new();
    for (file, definition) in definitions {
        let saved = publication::save(&app, definition, &Precondition::None).await?;
        audit_draft(&app, &asking.caller, "definition.import", &saved.definition).await;
        let Definition { definition_id, name, version, .. } = &saved.definition;
        imported.push(json!({"file": file, "definitionId": definition_id, "name": name,
            "version": version, "isNew": saved.is_new}));
    }
    Ok(Json(json!({"count": imported.len(), "files": imported, "leftOut": left_out})))
}

/// The files of a form, those in archives among them.
pub(super) async fn files(headers: &HeaderMap, bytes: Bytes) -> Result<Unpacked, Problem> {
    if content_type(headers).as_deref() != Some("multipart/form-data") {
        let detail = "the body is no multipart form: send the files in one, such as with curl -F";
        return Err(Problem::bad_request(detail));
    }
    let line = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let (memory_max, body_max) = (bytes.len(), bytes.len());
    let limits = FormLimits { payloads: None, memory_max, body_max };
    let body = stream::iter([Ok::<_, Infallible>(bytes)]);
    let form = multipart(line.unwrap_or_default(), body, &limits).await?;
    let mut sent = Unpacked::default();
    for file in form.files {
        let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
        let bytes = STANDARD.decode(text("content")).unwrap_or_default();
        let name = text("fileName").to_owned();
        if name.to_ascii_lowercase().ends_with(".zip") || bytes.starts_with(b"PK\x03\x04") {
            let Unpacked { files, left_out } =
                unpack(&bytes).map_err(|problem| problem.of(&name))?;
            sent.files.extend(files);
            sent.left_out.extend(left_out);
        } else {
            sent.files.push(Packed { name, bytes });
        }
    }
    if sent.files.is_empty() {
        return Err(Problem::bad_request("the form has no files: send .json or .zip files"));
    }
    Ok(sent)
}

/// The definitions in files, each with the name of its file.
///
/// # Errors
/// 400 with what is wrong with each file that is none.
async fn definitions(
    app: &Arc<App>,
    asking: &Asking,
    files: Vec<Packed>,
) -> Result<Vec<(String, Definition)>, Problem> {
    let mut names = BTreeMap::new();
    let mut definitions = Vec::new();
    let mut failed = Vec::new();
    for (at, file) in files.into_iter().enumerate() {
        let name = file.name.clone();
        match definition(app, asking, at, file).await {
            Ok(definition) => match names.entry(definition.definition_id.clone()) {
                Entry::Vacant(free) => {
                    free.insert(name.clone());
                    definitions.push((name, definition));
                }
                Entry::Occupied(first) => {
                    let said = format!("{name}: {} has the same id, {}", first.get(), first.key());
                    failed.push((name, said));
                }
            },
            Err(problem) if problem.status().is_client_error() => {
                failed.push((name, problem.detail().to_owned()));
            }
            Err(problem) => return Err(problem),
        }
    }
    if failed.is_empty() {
        return Ok(definitions);
    }
    let said: Vec<_> = failed.iter().map(|(_, detail)| detail.as_str()).collect();
    let problem = Problem::bad_request(said.join("; "));
    let each = failed.iter().map(|(file, detail)| json!({"file": file, "detail": detail}));
    Err(problem.with("failed", each.collect::<Vec<_>>()))
}

/// The definition in a file, the one at this position.
async fn definition(
    app: &Arc<App>,
    asking: &Asking,
    at: usize,
    file: Packed,
) -> Result<Definition, Problem> {
    let Packed { name, bytes } = file;
    let wrong = |error: String| {
        Problem::bad_request(format!("{name} is not a workflow definition: {error}"))
    };
    let bytes = exact::without_byte_order_mark(&bytes);
    let document = if is_yaml(&name) {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| {
            wrong(format!("byte {} is not UTF-8: save it as UTF-8", error.valid_up_to()))
        })?;
        let full = short_form::full(app, text.to_owned(), Notation::Yaml).await;
        full.map_err(|problem| problem.of(&name))?
    } else {
        json_of(bytes).map_err(wrong)?
    };
    let has_root = |members: &Map| members.keys().any(|name| is_member(name, &["root"]));
    if !document.as_object().is_some_and(has_root) {
        return Err(wrong("there is no root activity".to_owned()));
    }
    let mut definition = Reading::of(document, &name)?.draft(&app.cx.engine)?;
    if definition.definition_id.as_str().is_empty() {
        let stem = std::path::Path::new(&name).file_stem().and_then(|stem| stem.to_str());
        definition.definition_id = match stem {
            // As `staunch apply` names it.
            Some(stem) if is_yaml(&name) => DefinitionId::new(stem),
            // The same id for each repeat with an idempotency key.
            _ => {
                let parts = ["definition", asking.id.as_str(), &at.to_string()];
                DefinitionId::new(model::derived(&parts))
            }
        };
    }
    definition.definition_id =
        definition_id(definition.definition_id.as_str()).map_err(|problem| problem.of(&name))?;
    Ok(definition)
}

/// What a text in JSON says, or what is wrong with it.
fn json_of(text: &[u8]) -> Result<Value, String> {
    depth::check_json_carrier(text).map_err(|error| error.to_string())?;
    exact::check_integers(text).map_err(|error| error.to_string())?;
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Exports definitions: one as JSON, several as a zip.
#[utoipa::path(post, path = "/bulk-actions/export/workflow-definitions", tag = "definitions",
    params(("versionOptions" = Option<String>, Query, description = "Of `definitionIds`: Latest (default), Published, a number …")),
    request_body = Exported,
    responses((status = 200, content((shape::definition::DefinitionFile = "application/json"), (String = "application/zip")), description = "A definition, or a zip of them"),
        (status = 204, description = "Nothing is named"), (status = 404, body = ProblemBody)))]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    params: Params,
    Body(request): Body<Exported>,
) -> Result<Response, Problem> {
    exported(&app, request, version_option(&params, VersionOption::Latest)?).await
}

/// Exports definitions: one as JSON, several as a zip.
#[utoipa::path(get, path = "/bulk-actions/export/workflow-definitions", tag = "definitions",
    params(("ids" = Option<Vec<String>>, Query, description = "Ids of versions"),
        ("definitionIds" = Option<Vec<String>>, Query),
        ("includeConsumingWorkflows" = Option<bool>, Query),
        ("versionOptions" = Option<String>, Query)),
    responses((status = 200, content((shape::definition::DefinitionFile = "application/json"), (String = "application/zip")), description = "A definition, or a zip of them"),
        (status = 204, description = "Nothing is named"), (status = 404, body = ProblemBody)))]
pub(super) async fn export_get(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Response, Problem> {
    let request = Exported {
        ids: Some(params.many("ids")),
        definition_ids: Some(params.many("definitionIds")),
        include_consuming_workflows: params.flag("includeConsumingWorkflows")?,
    };
    exported(&app, request, version_option(&params, VersionOption::Latest)?).await
}

/// Exports a definition as JSON, or with the workflows that use it as a zip.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}/export", tag = "definitions",
    params(("definitionId" = String, Path), ("versionOptions" = Option<String>, Query),
        ("includeConsumingWorkflows" = Option<bool>, Query)),
    responses((status = 200, content((shape::definition::DefinitionFile = "application/json"), (String = "application/zip")), description = "The definition, or a zip"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn export_one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    let users = params.flag("includeConsumingWorkflows")?.unwrap_or(false);
    answer(&app.cx.engine, &with_users(&app, vec![one(&app, &id, &params).await?], users).await?)
}

/// Exports a definition as JSON, or with the workflows that use it as a zip.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/export", tag = "definitions",
    params(("definitionId" = String, Path), ("versionOptions" = Option<String>, Query),
        ("includeConsumingWorkflows" = Option<bool>, Query, description = "Also in the body")),
    request_body = Exported,
    responses((status = 200, content((shape::definition::DefinitionFile = "application/json"), (String = "application/zip")), description = "The definition, or a zip"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn export_with_users(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
    Body(request): Body<Exported>,
) -> Result<Response, Problem> {
    let asked = params.flag("includeConsumingWorkflows")?;
    let users = request.include_consuming_workflows.or(asked).unwrap_or(false);
    answer(&app.cx.engine, &with_users(&app, vec![one(&app, &id, &params).await?], users).await?)
}

async fn exported(
    app: &App,
    request: Exported,
    version: VersionOption,
) -> Result<Response, Problem> {
    let ids = request.ids.unwrap_or_default();
    let definition_ids = request.definition_ids.unwrap_or_default();
    let count = u64::try_from(ids.len() + definition_ids.len()).unwrap_or(u64::MAX);
    if count > limits::PAGE_ITEMS_MAX {
        let max = limits::PAGE_ITEMS_MAX;
        return Err(Problem::bad_request(format!("{count} are too many: name at most {max}")));
    }
    let mut found = Vec::new();
    for id in ids {
        let version = app.cx.store.version(&VersionId::new(id.as_str())).await?;
        found.push(version.ok_or_else(|| super::definitions::no_version(&id))?);
    }
    for id in definition_ids {
        let id = DefinitionId::new(id);
        match app.cx.store.definition(&id, version).await? {
            Some(definition) => found.push(definition),
            None => return Err(publication::missing_version(app, &id, version).await?),
        }
    }
    let users = request.include_consuming_workflows == Some(true);
    answer(&app.cx.engine, &with_users(app, found, users).await?)
}

/// The definitions, and the latest versions of those that use them, directly or not.
async fn with_users(
    app: &App,
    mut found: Vec<Definition>,
    is_wanted: bool,
) -> Result<Vec<Definition>, Problem> {
    let mut seen: BTreeSet<DefinitionId> =
        found.iter().map(|definition| definition.definition_id.clone()).collect();
    let used: Vec<DefinitionId> =
        if is_wanted { seen.iter().cloned().collect() } else { Vec::new() };
    for id in used {
        for user in publication::consumers_of(app, &id).await? {
            if seen.insert(user.clone()) {
                found.extend(publication::latest_of(app, &user).await?);
            }
        }
    }
    Ok(found)
}

/// The definition as a file has it: its node ids are those of all answers, whatever was written.
fn file(engine: &Engine, definition: &Definition) -> Value {
    let mut placed = definition.clone();
    engine.place(&mut placed);
    json!(placed)
}

fn answer(engine: &Engine, found: &[Definition]) -> Result<Response, Problem> {
    let attached = |name: &str| (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""));
    match found {
        [] => Ok(StatusCode::NO_CONTENT.into_response()),
        [one] => {
            let name = file_name(one.definition_id.as_str());
            Ok(([attached(&name), (ETAG, etag(one))], Json(file(engine, one))).into_response())
        }
        several => {
            let packed = |definition: &Definition| Packed {
                name: file_name(definition.definition_id.as_str()),
                bytes: format!("{:#}\n", file(engine, definition)).into_bytes(),
            };
            let bytes = pack(several.iter().map(packed).collect())?;
            let kind = (CONTENT_TYPE, "application/zip".to_owned());
            Ok(([attached("workflow-definitions.zip"), kind], bytes).into_response())
        }
    }
}
