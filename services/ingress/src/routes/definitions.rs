//! Reading workflow definitions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{ETAG, LINK};
use axum::response::{IntoResponse, Response};
use model::{Definition, DefinitionId, VersionId, limits};
use serde_json::{Value, json};
use store::{DefinitionColumn, DefinitionFilter, DefinitionOrder, Page, VersionOption};

use crate::app::App;
use crate::auth::caller::Caller;
use crate::auth::permission::READ_VERSION_LABELS;
use crate::body::Params;
use crate::bounds;
use crate::paging::Part;
use crate::present::definition::{self as present, DefinitionPage, DefinitionSummary};
use crate::present::shape;
use crate::problem::Problem;
use crate::problem::ProblemBody;
use crate::publication::{self, etag};
use crate::respond::segment;

/// All names that the query of the list may have.
const IN_QUERY: [&str; 14] = [
    "versionOptions",
    "definitionIds",
    "ids",
    "searchTerm",
    "name",
    "isSystem",
    "page",
    "pageSize",
    "skip",
    "take",
    "orderBy",
    "orderDirection",
    "materializer",
    "label",
];

/// Lists definitions, by name.
///
/// Without `versionOptions` the list has every version. Without a page and a size the answer has the
/// first 1000; `totalCount` is the number of all.
#[utoipa::path(
    get, path = "/workflow-definitions", tag = "definitions",
    params(
        ("versionOptions" = Option<String>, Query, description = "AllVersions (default), Draft, Latest, Published, LatestOrPublished, LatestAndPublished or a number"),
        ("definitionIds" = Option<Vec<String>>, Query), ("ids" = Option<Vec<String>>, Query),
        ("searchTerm" = Option<String>, Query), ("isSystem" = Option<bool>, Query),
        ("page" = Option<u64>, Query, description = "From 0"), ("pageSize" = Option<u64>, Query),
        ("orderBy" = Option<String>, Query, description = "Name (default), Created or Version"),
        ("orderDirection" = Option<String>, Query, description = "Ascending (default for Name) or Descending (default for the others)"),
        ("materializer" = Option<String>, Query, description = "Json; there are no definitions of another"),
        ("label" = Option<Vec<String>>, Query),
    ),
    responses((status = 200, body = DefinitionPage), (status = 400, body = ProblemBody)),
)]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    params: Params,
) -> Result<Json<DefinitionPage>, Problem> {
    params.only(&IN_QUERY)?;
    let is_ours = |name: &str| name.eq_ignore_ascii_case("Json");
    let labels = params.many("label");
    bounds::list("label", &labels)?;
    let filter = DefinitionFilter {
        definition_ids: params.many("definitionIds").into_iter().map(DefinitionId::new).collect(),
        version_ids: params.many("ids").into_iter().map(VersionId::new).collect(),
        version: version_option(&params, VersionOption::All)?,
        search: params.one("searchTerm").map(str::to_owned),
        name: params.one("name").map(str::to_owned),
        is_system: params.flag("isSystem")?,
        order: order(&params)?,
        labels,
    };
    let page = Part::of(&params)?.or_all().page()?;
    if !params.one("materializer").is_none_or(is_ours) {
        return Ok(Json(DefinitionPage::new(Vec::new(), 0)));
    }
    let found = app.cx.store.definitions(&filter, page).await?;
    let items = summaries(&app, &caller, &found.items).await?;
    Ok(Json(DefinitionPage::new(items, found.total)))
}

/// The versions as lists show them: with their labels, if the caller may see those.
async fn summaries(
    app: &App,
    caller: &Caller,
    versions: &[Definition],
) -> Result<Vec<DefinitionSummary>, Problem> {
    let summaries = versions.iter().map(DefinitionSummary::from);
    if !caller.may(READ_VERSION_LABELS) {
        return Ok(summaries.collect());
    }
    let ids: Vec<_> = versions.iter().map(|version| version.id.clone()).collect();
    let mut labels = app.cx.store.labels_of(&ids).await?;
    let labelled = summaries
        .zip(&ids)
        .map(|(summary, id)| summary.with_labels(labels.remove(id).unwrap_or_default()));
    Ok(labelled.collect())
}

/// Reads `orderBy` and `orderDirection`.
fn order(params: &Params) -> Result<DefinitionOrder, Problem> {
    let wrong = |name: &str, words: &str| {
        let text = params.one(name).unwrap_or_default();
        Problem::bad_request(format!("query parameter {name} is {text:?}: use {words}"))
    };
    let by = match params.one("orderBy").unwrap_or("Name").to_ascii_lowercase().as_str() {
        "name" => DefinitionColumn::Name,
        "created" | "createdat" => DefinitionColumn::CreatedAt,
        "version" => DefinitionColumn::Version,
        _ => return Err(wrong("orderBy", "Name, Created or Version")),
    };
    let ascending = match params.one("orderDirection").map(str::to_ascii_lowercase).as_deref() {
        None => by == DefinitionColumn::Name,
        Some("ascending") => true,
        Some("descending") => false,
        Some(_) => return Err(wrong("orderDirection", "Ascending or Descending")),
    };
    Ok(DefinitionOrder { by, ascending })
}

/// The number of definitions.
#[utoipa::path(get, path = "/workflow-definitions/query/count", tag = "definitions",
    responses((status = 200, body = shape::Count)))]
pub(super) async fn count(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let found = app.cx.store.definitions(&DefinitionFilter::default(), Page::new(0, 1)).await?;
    Ok(Json(json!({"count": found.total})))
}

/// Whether no other definition has this name.
#[utoipa::path(get, path = "/workflow-definitions/validation/is-name-unique", tag = "definitions",
    params(("name" = String, Query, min_length = 1), ("definitionId" = Option<String>, Query)),
    responses((status = 200, body = shape::definition::NameChecked)))]
pub(super) async fn is_name_unique(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let Some(name) = params.one("name") else {
        return Err(Problem::bad_request("query parameter name is missing"));
    };
    let filter = DefinitionFilter { name: Some(name.to_owned()), ..DefinitionFilter::default() };
    let found = app.cx.store.definitions(&filter, Page::first()).await?;
    let own = params.one("definitionId");
    let is_other = |other: &Definition| Some(other.definition_id.as_str()) != own;
    Ok(Json(json!({"isUnique": !found.items.iter().any(is_other)})))
}

/// Several versions, by their ids.
#[utoipa::path(get, path = "/workflow-definitions/many-by-id", tag = "definitions",
    params(("ids" = Vec<String>, Query)),
    responses((status = 200, body = shape::definition::FullDefinitions)))]
pub(super) async fn many_by_id(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let mut items = Vec::new();
    let ids = params.many("ids");
    for id in ids.iter().take(usize::try_from(limits::PAGE_ITEMS_MAX).unwrap_or(usize::MAX)) {
        let found = app.cx.store.version(&VersionId::new(id.as_str())).await?;
        items.extend(found.map(|found| present::definition(&app.cx.engine, &found)));
    }
    Ok(Json(json!({"items": items})))
}

/// A version, by its id.
#[utoipa::path(get, path = "/workflow-definitions/by-id/{id}", tag = "definitions",
    params(("id" = String, Path, description = "Version id")),
    responses((status = 200, body = shape::definition::FullDefinition), (status = 404, body = ProblemBody)))]
pub(super) async fn by_id(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let found = app.cx.store.version(&VersionId::new(id.as_str())).await?;
    let found = found.ok_or_else(|| no_version(&id))?;
    Ok(tagged(&app, &found))
}

/// A definition: its latest version, or the requested one.
#[utoipa::path(get, path = "/workflow-definitions/by-definition-id/{definitionId}", tag = "definitions",
    params(("definitionId" = String, Path), ("versionOptions" = Option<String>, Query)),
    responses((status = 200, body = shape::definition::FullDefinition), (status = 404, body = ProblemBody)))]
pub(super) async fn by_definition_id(
    state: State<Arc<App>>,
    path: Path<String>,
    params: Params,
) -> Result<impl IntoResponse, Problem> {
    get(state, path, params).await
}

/// A definition: its latest version, or the requested one.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}", tag = "definitions",
    params(("definitionId" = String, Path),
        ("versionOptions" = Option<String>, Query, description = "Latest (default), Published, a number …")),
    responses((status = 200, body = shape::definition::FullDefinition), (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<impl IntoResponse, Problem> {
    Ok(tagged(&app, &one(&app, &id, &params).await?))
}

/// The name of the file of a definition.
pub(super) fn file_name(id: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    let name: String = id.chars().filter(is_plain).collect();
    format!("workflow-definition-{name}.json")
}

/// The versions of a definition, newest first: all of them, or one page.
///
/// An answer has at most 1000. If there are more, its header `Link` names the next page.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}/versions", tag = "definitions",
    params(("definitionId" = String, Path),
        ("page" = Option<u64>, Query, description = "From 0"),
        ("pageSize" = Option<u64>, Query, description = "1000 if not given")),
    responses((status = 200, body = Vec<DefinitionSummary>), (status = 404, body = ProblemBody)))]
pub(super) async fn versions(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Result<Response, Problem> {
    let id = definition_id(&id)?;
    let mut part = Part::of_list(&params, &[])?;
    part.page_size = part.page_size.or(part.take).or(Some(limits::PAGE_ITEMS_MAX));
    let page = part.page()?;
    let found = publication::versions(&app, &id, page).await?;
    if found.total == 0 {
        return Err(publication::unknown(&id));
    }
    let items = summaries(&app, &caller, &found.items).await?;
    let after = page.skip().saturating_add(items.len() as u64);
    let mut response = Json(items).into_response();
    let id = segment(id.as_str());
    let take = page.take();
    let next = format!(
        "</elsa/api/workflow-definitions/{id}/versions?skip={after}&take={take}>; rel=\"next\""
    );
    // A page of none leads nowhere.
    let has_next = take > 0 && after < found.total;
    if let (true, Ok(next)) = (has_next, HeaderValue::from_str(&next)) {
        response.headers_mut().insert(LINK, next);
    }
    Ok(response)
}

/// A version in full, with its entity tag.
fn tagged(app: &App, definition: &Definition) -> impl IntoResponse + use<> {
    ([(ETAG, etag(definition))], Json(present::definition(&app.cx.engine, definition)))
}

pub(super) async fn one(app: &App, id: &str, params: &Params) -> Result<Definition, Problem> {
    let id = definition_id(id)?;
    let version = version_option(params, VersionOption::Latest)?;
    let found = app.cx.store.definition(&id, version).await?;
    match found {
        Some(found) => Ok(found),
        None => Err(publication::missing_version(app, &id, version).await?),
    }
}

/// 404 for a version.
pub(super) fn no_version(id: &str) -> Problem {
    Problem::not_found(format!("there is no workflow definition version {id:?}"))
}

/// Reads the id of a definition: any text that people may choose.
pub(crate) fn definition_id(text: &str) -> Result<DefinitionId, Problem> {
    let is_good = !text.trim().is_empty()
        && text.len() <= limits::ID_CHARS_MAX
        && !text.chars().any(char::is_control);
    if is_good {
        return Ok(DefinitionId::new(text));
    }
    Err(Problem::bad_request(format!(
        "the definition id is not valid: use 1 to {} bytes without control characters",
        limits::ID_CHARS_MAX
    )))
}

/// Reads `versionOptions`.
pub(super) fn version_option(
    params: &Params,
    otherwise: VersionOption,
) -> Result<VersionOption, Problem> {
    Ok(params.read("versionOptions")?.unwrap_or(otherwise))
}
