//! Saving and importing workflow definitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::{ETAG, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use model::{Definition, DefinitionId, Map};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::bulk::bounded;
use super::definitions::definition_id;
use super::naming;
use super::reading::{Reading, publishable};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::body::{Body, Params, lenient};
use crate::pipeline::identify::Asking;
use crate::present::definition::SavedDefinition;
use crate::present::shape;
use crate::problem::Problem;
use crate::problem::ProblemBody;
use crate::publication::{self, Changed, Precondition};

/// The member of a variable that makes it searchable.
const SEARCHABLE: &str = "searchable";

/// Saves a definition.
///
/// The body is Elsa's `{model, publish}`, or the bare definition. A bare one is published;
/// `?publish=false`, or a member `"publish": false`, keeps it a draft. Saving content that is published already makes no new
/// version. A wrapped one keeps the member `searchable` of variables that are sent without it.
/// Send `If-Match` with the `ETag` of the version from which the change starts: if another
/// version has become the latest, the answer is 412.
#[utoipa::path(post, path = "/workflow-definitions", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody, description = "With every problem in `validationErrors`"),
        (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody, description = "With `version`, `versionId` and `etag` of the latest version")))]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.save(&app, body, None).await
}

/// Saves a definition under this id. Otherwise the same as POST.
#[utoipa::path(put, path = "/workflow-definitions/{definitionId}", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn put(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.save(&app, body, Some(definition_id(&id)?)).await
}

/// Imports a definition, as a draft; `?publish=true`, or a member `"publish": true`, publishes it.
///
/// The answer is the definition, with the members that tell what the import did. It is 201 for a
/// definition that came without an id and got one.
#[utoipa::path(post, path = "/workflow-definitions/import", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = shape::definition::ImportedDefinition), (status = 201, body = shape::definition::ImportedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn import(
    State(app): State<Arc<App>>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.import(&app, body, None).await
}

/// Imports a definition, as a draft; `?publish=true`, or a member `"publish": true`, publishes it.
///
/// The answer is the definition, with the members that tell what the import did. It is 201 for a
/// definition that came without an id and got one.
#[utoipa::path(put, path = "/workflow-definitions/import", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = shape::definition::ImportedDefinition), (status = 201, body = shape::definition::ImportedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn import_put(
    State(app): State<Arc<App>>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.import(&app, body, None).await
}

/// Imports a definition under this id, as a draft; `?publish=true`, or a member `"publish": true`, publishes it.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/import", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = shape::definition::ImportedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn import_as(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.import(&app, body, Some(definition_id(&id)?)).await
}

/// Imports a definition under this id, as a draft; `?publish=true`, or a member `"publish": true`, publishes it.
#[utoipa::path(put, path = "/workflow-definitions/{definitionId}/import", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = shape::definition::ImportedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn import_as_put(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    saving: Saving,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    saving.import(&app, body, Some(definition_id(&id)?)).await
}

/// Definitions that are published in one transaction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Together {
    /// Each with its `definitionId`.
    #[schema(value_type = Vec<Object>)]
    workflow_definitions: Vec<Value>,
    /// Publishes nothing: the answer is that of a publication, or names what is wrong.
    #[serde(default)]
    dry_run: bool,
}

/// Publishes several definitions, all or none.
///
/// One that uses another one of them as an activity uses the version that is published with it. If
/// one has a problem, none is published, and each of `validationErrors` has the `definitionId`.
#[utoipa::path(post, path = "/bulk-actions/import/workflow-definitions", tag = "definitions",
    request_body = Together,
    responses((status = 200, body = shape::bulk::SavedTogether, description = "For each what a save of it answers, after those that it uses"),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import_together(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(Together { workflow_definitions, dry_run }): Body<Together>,
) -> Result<Json<Value>, Problem> {
    bounded(workflow_definitions.len())?;
    let mut readings = Vec::with_capacity(workflow_definitions.len());
    for (at, document) in workflow_definitions.into_iter().enumerate() {
        let item = format!("item {at} of workflowDefinitions");
        let wrong = |problem: Problem| problem.of(&item);
        let document = unwrapped(document).map_err(wrong)?.document;
        let mut reading = Reading::of(document, &item)?;
        let id = &mut reading.definition.definition_id;
        *id = definition_id(id.as_str()).map_err(wrong)?;
        readings.push(reading);
    }
    let contents = publishable(&app, readings).await?;
    let published = if dry_run {
        publication::check_together(&app, contents).await?
    } else {
        publication::publish_together(&app, contents).await?
    };
    for saved in published.iter().filter(|saved| !dry_run && !saved.already_published) {
        audit(&app, &caller, &saved.definition).await;
    }
    let saved: Vec<_> =
        published.iter().map(|saved| SavedDefinition::of(&app.cx.engine, saved)).collect();
    Ok(Json(json!({"workflowDefinitions": saved})))
}

async fn audit(app: &App, caller: &Caller, published: &Definition) {
    let details = json!({"version": published.version});
    app.audit(caller, "definition.publish", published.definition_id.as_str(), details).await;
}

/// Notes the save or the import of a draft. Editors save after each change, so many are written
/// together.
pub(super) async fn audit_draft(app: &App, caller: &Caller, what: &str, saved: &Definition) {
    let details = json!({"version": saved.version});
    app.audit_later(caller, what, saved.definition_id.as_str(), details).await;
}

/// The parameters of a save beside its body.
#[derive(FromRequestParts)]
#[from_request(state(Arc<App>))]
pub(super) struct Saving {
    asking: Asking,
    params: Params,
    precondition: Precondition,
}

impl Saving {
    async fn save(
        self,
        app: &Arc<App>,
        body: Value,
        id: Option<DefinitionId>,
    ) -> Result<Response, Problem> {
        let Sent { document, publish, is_wrapped } = unwrapped(body)?;
        let publish = self.params.flag("publish")?.or(publish).unwrap_or(!is_wrapped);
        let mut definition = self.content(app, document, id, publish).await?;
        if is_wrapped {
            keep_searchable(app, &mut definition).await?;
        }
        let saved = self.store(app, definition, publish, "definition.save").await?;
        Ok(answer(&saved, saved.is_new, SavedDefinition::of(&app.cx.engine, &saved)))
    }

    async fn import(
        self,
        app: &Arc<App>,
        body: Value,
        id: Option<DefinitionId>,
    ) -> Result<Response, Problem> {
        let Sent { document, publish, .. } = unwrapped(body)?;
        let publish = self.params.flag("publish")?.or(publish).unwrap_or(false);
        let is_named = id.is_some() || names_itself(&document);
        let definition = self.content(app, document, id, publish).await?;
        let saved = self.store(app, definition, publish, "definition.import").await?;
        // As Elsa: one that came with its id was imported, and one that got an id was made.
        let is_made = saved.is_new && !is_named;
        Ok(answer(&saved, is_made, SavedDefinition::of(&app.cx.engine, &saved).flat()))
    }

    /// The definition that was sent, under its id.
    async fn content(
        &self,
        app: &Arc<App>,
        document: Value,
        id: Option<DefinitionId>,
        publish: bool,
    ) -> Result<Definition, Problem> {
        let mut reading = Reading::of(document, "the body")?;
        let definition = &mut reading.definition;
        if let Some(id) = id {
            definition.definition_id = id;
        } else if definition.definition_id.as_str().is_empty() {
            // The same id for each repeat with an idempotency key.
            let parts = ["definition", self.asking.id.as_str()];
            definition.definition_id = DefinitionId::new(model::derived(&parts));
        } else {
            definition.definition_id = definition_id(definition.definition_id.as_str())?;
        }
        if publish {
            publishable(app, vec![reading]).await?.pop().ok_or_else(Problem::internal)
        } else {
            reading.draft(&app.cx.engine)
        }
    }

    async fn store(
        self,
        app: &Arc<App>,
        definition: Definition,
        publish: bool,
        what: &str,
    ) -> Result<Changed, Problem> {
        if !publish {
            let saved = publication::save(app, definition, &self.precondition).await?;
            audit_draft(app, &self.asking.caller, what, &saved.definition).await;
            return Ok(saved);
        }
        let saved = publication::save_and_publish(app, definition, &self.precondition).await?;
        if !saved.already_published {
            audit(app, &self.asking.caller, &saved.definition).await;
        }
        Ok(saved)
    }
}

/// Keeps the member `searchable` of variables that are sent without it and have it in the latest
/// version. Elsa's Studio saves after each change, and writes only the members that it knows.
async fn keep_searchable(app: &App, definition: &mut Definition) -> Result<(), Problem> {
    if definition.variables.iter().all(|variable| variable.extra.contains_key(SEARCHABLE)) {
        return Ok(());
    }
    let latest = publication::latest_of(app, &definition.definition_id).await?;
    let known = latest.map(|latest| latest.variables).unwrap_or_default();
    let known: BTreeMap<_, _> = known
        .into_iter()
        .filter(|variable| !variable.id.is_empty())
        .filter_map(|mut variable| Some((variable.id, variable.extra.shift_remove(SEARCHABLE)?)))
        .collect();
    for variable in &mut definition.variables {
        if let Some(kind) = known.get(&variable.id)
            && !variable.extra.contains_key(SEARCHABLE)
        {
            variable.extra.insert(SEARCHABLE.to_owned(), kind.clone());
        }
    }
    Ok(())
}

/// A definition as it was sent.
pub(super) struct Sent {
    pub(super) document: Value,
    /// Whether the body says that it is to be published.
    publish: Option<bool>,
    /// It was the member `model` of the body.
    is_wrapped: bool,
}

/// The definition that a body is, or has.
pub(super) fn unwrapped(body: Value) -> Result<Sent, Problem> {
    let Value::Object(mut members) = body else {
        return Err(Problem::bad_request(
            "the body is not a JSON object: send a workflow definition",
        ));
    };
    naming::named(&mut members, naming::SENT, "the body")?;
    match members.remove("model").filter(|model| !model.is_null()) {
        Some(model @ Value::Object(_)) => {
            Ok(Sent { document: model, publish: published(&mut members)?, is_wrapped: true })
        }
        Some(_) => Err(Problem::bad_request("member model is not a JSON object")),
        None if members.contains_key("root") => {
            let publish = published(&mut members)?;
            Ok(Sent { document: Value::Object(members), publish, is_wrapped: false })
        }
        None => Err(Problem::bad_request(
            "the body is not a workflow definition: send one with a root activity, or \
             {\"model\": …, \"publish\": true}",
        )),
    }
}

/// Takes `publish` out of a body.
fn published(members: &mut Map) -> Result<Option<bool>, Problem> {
    match members.shift_remove("publish") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(publish)) => Ok(Some(publish)),
        Some(other) => {
            Err(Problem::bad_request(format!("publish is {other}: write true or false")))
        }
    }
}

/// Whether a definition that was sent has an id.
fn names_itself(document: &Value) -> bool {
    let is_id = |(name, value): (&String, &Value)| {
        lenient::is_member(name, &["definitionId"])
            && value.as_str().is_some_and(|id| !id.is_empty())
    };
    document.as_object().is_some_and(|members| members.iter().any(is_id))
}

fn answer(saved: &Changed, is_made: bool, body: impl Serialize) -> Response {
    let status = if is_made { StatusCode::CREATED } else { StatusCode::OK };
    let mut headers = HeaderMap::new();
    let id = crate::respond::segment(saved.definition.definition_id.as_str());
    let location = format!("/elsa/api/workflow-definitions/{id}");
    if let (true, Ok(location)) = (is_made, HeaderValue::from_str(&location)) {
        headers.insert(LOCATION, location);
    }
    if let Ok(tag) = HeaderValue::from_str(&publication::etag(&saved.definition)) {
        headers.insert(ETAG, tag);
    }
    (status, headers, Json(body)).into_response()
}
