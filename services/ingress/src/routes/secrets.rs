//! Secrets: what is known about them. Their values come in, and never go out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Secret;
use utoipa::ToSchema;
use vault::{Error, Keeper, shown};

use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::paging::Part;
use crate::present::Paged;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The kinds of values: what each is for is up to the workflow.
const TYPES: [(&str, &str); 3] =
    [("Text", "Text"), ("RsaKey", "RSA Key"), ("X509Certificate", "X.509 Certificate")];
/// The only store.
const STORE: &str = "Encrypted";
/// Longest description and display name, in bytes.
const TEXT_BYTES_MAX: usize = 2_000;
/// The number of tags of a secret.
const TAGS_MAX: usize = 50;

/// A secret, without its value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SecretSummary {
    id: String,
    name: String,
    display_name: String,
    description: Option<String>,
    type_name: String,
    /// Always `Encrypted`.
    store_name: &'static str,
    scope: Option<String>,
    tags: Vec<String>,
    /// `Active`, `Expired` or `Revoked`.
    status: &'static str,
    /// The version that is read; null if the secret is expired or revoked.
    current_version: Option<i64>,
    /// The number of its newest version, also of a secret that is expired or revoked.
    version: i64,
    created_at: String,
    updated_at: Option<String>,
    expires_at: Option<String>,
}

/// A new secret.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SecretRequest {
    /// 2 to 200 letters, digits, dots, dashes, underscores and colons; kept in lower case.
    name: Option<String>,
    #[serde(flatten)]
    about: About,
    /// Its value; no answer has it.
    value: Option<String>,
}

/// What is said about a secret; what is absent or null stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    display_name: Option<String>,
    description: Option<String>,
    /// `Text`, `RsaKey` or `X509Certificate`.
    type_name: Option<String>,
    /// `Encrypted`, which is the only store.
    store_name: Option<String>,
    scope: Option<String>,
    tags: Option<Vec<String>>,
    /// The time from which it is not read.
    expires_at: Option<String>,
}

/// Another value of a secret.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rotation {
    /// Its new value.
    value: Option<String>,
    /// The time from which that is not read; never if absent or null.
    expires_at: Option<String>,
}

/// The secrets that a picker offers.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Picking {
    search: Option<String>,
    type_names: Option<Vec<String>>,
    store_names: Option<Vec<String>>,
    scope: Option<String>,
    /// True if absent.
    active_only: Option<bool>,
}

/// The secrets that an editor offers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Picked {
    items: Vec<SecretSummary>,
    /// The caller may make another one.
    can_create_inline: bool,
}

/// The kinds of secrets and the stores.
#[derive(Serialize, ToSchema)]
pub(super) struct SecretKinds {
    types: Vec<SecretType>,
    stores: Vec<SecretStore>,
}

/// A kind of secrets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SecretType {
    name: &'static str,
    display_name: &'static str,
}

/// A store of secrets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SecretStore {
    /// Always `Encrypted`.
    name: &'static str,
    display_name: &'static str,
    /// There is no master key.
    is_read_only: bool,
}

/// Whether a secret can be used.
#[derive(Serialize, ToSchema)]
pub(super) struct SecretTested {
    succeeded: bool,
    /// Why it cannot.
    error: Option<String>,
}

/// Lists secrets by name, without their values.
#[utoipa::path(get, path = "/secrets", tag = "secrets",
    params(("search" = Option<String>, Query), ("typeName" = Option<String>, Query), ("scope" = Option<String>, Query),
        ("status" = Option<String>, Query), ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = Paged<SecretSummary>), (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Paged<SecretSummary>>, Problem> {
    let filters = ["search", "typeName", "typeNames", "storeName", "scope", "status"];
    let page = Part::of_list(&params, &filters)?.page()?;
    let mut types = params.many("typeName");
    types.extend(params.many("typeNames"));
    let wanted = Picking {
        search: params.one("search").map(str::to_owned),
        type_names: Some(types),
        store_names: Some(params.many("storeName")),
        scope: params.one("scope").map(str::to_owned),
        active_only: Some(false),
    };
    let status = params.one("status").map(str::to_ascii_lowercase);
    let mut found = matching(&app, &wanted).await?;
    found.retain(|one| status.as_ref().is_none_or(|want| one.status.eq_ignore_ascii_case(want)));
    let total_count = found.len() as u64;
    let skip = usize::try_from(page.skip()).unwrap_or(usize::MAX);
    let take = usize::try_from(page.take()).unwrap_or(usize::MAX);
    Ok(Json(Paged { items: found.into_iter().skip(skip).take(take).collect(), total_count }))
}

/// The secrets that an editor offers for a reference.
#[utoipa::path(post, path = "/secrets/picker", tag = "secrets", request_body = Picking,
    responses((status = 200, body = Picked), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody)))]
pub(super) async fn picker(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(wanted): Body<Picking>,
) -> Result<Json<Picked>, Problem> {
    let items = matching(&app, &wanted).await?;
    let can_create_inline = app.keeper.is_some() && caller.may("write:secrets");
    Ok(Json(Picked { items, can_create_inline }))
}

/// The kinds of secrets and the stores.
#[utoipa::path(get, path = "/secrets/descriptors", tag = "secrets",
    responses((status = 200, body = SecretKinds), (status = 403, body = ProblemBody)))]
pub(super) async fn descriptors(State(app): State<Arc<App>>) -> Json<SecretKinds> {
    let types = TYPES.map(|(name, display_name)| SecretType { name, display_name });
    let is_read_only = app.keeper.is_none();
    let store = SecretStore { name: STORE, display_name: "Encrypted", is_read_only };
    Json(SecretKinds { types: types.into(), stores: vec![store] })
}

/// Makes a secret.
#[utoipa::path(post, path = "/secrets", tag = "secrets", request_body = SecretRequest,
    responses((status = 200, body = SecretSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 409, body = ProblemBody)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<SecretRequest>,
) -> Result<Json<SecretSummary>, Problem> {
    let SecretRequest { name, about, value } = request;
    let name = name.unwrap_or_default();
    let secret = Secret {
        name: name.clone(),
        id: app.fresh_id(),
        display_name: name.clone(),
        description: None,
        type_name: TYPES[0].0.to_owned(),
        scope: None,
        tags: Vec::new(),
        is_revoked: false,
        version: 1,
        created_at: app.now(),
        updated_at: None,
        expires_at: None,
        wrapped_key: String::new(),
        ciphertext: String::new(),
    };
    let secret = about.checked()?.applied_to(secret);
    let made = keeper(&app)?.create(secret, &value.unwrap_or_default()).await?;
    app.audit(&caller, "secret.create", &made.name, known(&made)).await;
    Ok(Json(summary(&app, &made)))
}

/// What is known about a secret.
#[utoipa::path(get, path = "/secrets/{name}", tag = "secrets", params(("name" = String, Path)),
    responses((status = 200, body = SecretSummary), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<SecretSummary>, Problem> {
    let found = app.cx.store.secret(&vault::normal(&name)).await?.filter(shown);
    let found = found.ok_or_else(|| Problem::from(Error::Unknown(name)))?;
    Ok(Json(summary(&app, &found)))
}

/// Changes what is known about a secret, and not its value.
#[utoipa::path(put, path = "/secrets/{name}", tag = "secrets", params(("name" = String, Path)), request_body = About,
    responses((status = 200, body = SecretSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
    Body(about): Body<About>,
) -> Result<Json<SecretSummary>, Problem> {
    let (checked, now) = (about.checked()?, app.now());
    let change = |secret: &mut Secret| {
        *secret = checked.applied_to(secret.clone());
        secret.updated_at = Some(now);
    };
    let changed = keeper(&app)?.describe(&name, change).await?;
    app.audit(&caller, "secret.update", &changed.name, known(&changed)).await;
    Ok(Json(summary(&app, &changed)))
}

/// The same as PUT, for clients that send this one.
#[utoipa::path(post, path = "/secrets/{name}", tag = "secrets", params(("name" = String, Path)), request_body = About,
    responses((status = 200, body = SecretSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn update_by_post(
    state: State<Arc<App>>,
    name: Path<String>,
    caller: Caller,
    about: Body<About>,
) -> Result<Json<SecretSummary>, Problem> {
    update(state, name, caller, about).await
}

/// Removes a secret. Workflows that name it fail from then on.
#[utoipa::path(delete, path = "/secrets/{name}", tag = "secrets", params(("name" = String, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    let found = app.cx.store.secret(&vault::normal(&name)).await?.filter(shown);
    let found = found.ok_or_else(|| Problem::from(Error::Unknown(name.clone())))?;
    if !app.cx.store.delete_secret(&found.name).await? {
        return Err(Error::Unknown(name).into());
    }
    app.audit(&caller, "secret.delete", &found.name, Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives a secret another value, which is read from the next second on. It is active again.
#[utoipa::path(post, path = "/secrets/{name}/rotate", tag = "secrets", params(("name" = String, Path)), request_body = Rotation,
    responses((status = 200, body = SecretSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn rotate(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
    Body(request): Body<Rotation>,
) -> Result<Json<SecretSummary>, Problem> {
    let (expires_at, now) = (time(request.expires_at.as_deref())?, app.now());
    let change = |secret: &mut Secret| {
        secret.expires_at = expires_at;
        secret.updated_at = Some(now);
        secret.is_revoked = false;
    };
    let value = request.value.unwrap_or_default();
    let changed = keeper(&app)?.rotate(&name, &value, change).await?;
    app.audit(&caller, "secret.rotate", &changed.name, known(&changed)).await;
    Ok(Json(summary(&app, &changed)))
}

/// Revokes a secret: it is not read any more, until it is rotated.
#[utoipa::path(post, path = "/secrets/{name}/revoke", tag = "secrets", params(("name" = String, Path)),
    responses((status = 200, body = SecretSummary), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)))]
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
) -> Result<Json<SecretSummary>, Problem> {
    let now = app.now();
    let change = |secret: &mut Secret| {
        secret.is_revoked = true;
        secret.updated_at = Some(now);
    };
    let changed = keeper(&app)?.describe(&name, change).await?;
    app.audit(&caller, "secret.revoke", &changed.name, Value::Null).await;
    Ok(Json(summary(&app, &changed)))
}

/// Whether a secret can be decrypted, and is active.
#[utoipa::path(post, path = "/secrets/{name}/test", tag = "secrets", params(("name" = String, Path)),
    responses((status = 200, body = SecretTested), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
) -> Result<Json<SecretTested>, Problem> {
    let keeper = keeper(&app)?;
    let found = keeper.get(&name).await?;
    let error = match (status(&app, &found), keeper.test(&name).await) {
        ("Active", Ok(())) => None,
        ("Active", Err(error @ Error::Locked(_))) => Some(error.to_string()),
        ("Active", Err(error)) => return Err(error.into()),
        (status, _) => Some(format!("the secret is {}", status.to_ascii_lowercase())),
    };
    app.audit(&caller, "secret.test", &found.name, json!({"succeeded": error.is_none()})).await;
    Ok(Json(SecretTested { succeeded: error.is_none(), error }))
}

fn keeper(app: &App) -> Result<&Keeper, Problem> {
    app.keeper.as_deref().ok_or_else(|| {
        Problem::conflict(
            "no-master-key",
            "this server has no master key for secrets: give it secrets-key-file",
        )
    })
}

async fn matching(app: &App, wanted: &Picking) -> Result<Vec<SecretSummary>, Problem> {
    let one_of = |names: &Option<Vec<String>>, name: &str| {
        let mut names = names.iter().flatten().peekable();
        names.peek().is_none() || names.any(|one| one.eq_ignore_ascii_case(name))
    };
    let search = wanted.search.as_deref().unwrap_or_default().trim().to_lowercase();
    let found = app.cx.store.secrets().await?.into_iter().filter(|secret| {
        let texts = [Some(&secret.name), Some(&secret.display_name), secret.description.as_ref()];
        let mut texts = texts.into_iter().flatten();
        shown(secret)
            && texts.any(|text| text.to_lowercase().contains(&search))
            && one_of(&wanted.type_names, &secret.type_name)
            && one_of(&wanted.store_names, STORE)
            && wanted.scope.as_ref().is_none_or(|scope| secret.scope.as_ref() == Some(scope))
            && (!wanted.active_only.unwrap_or(true) || status(app, secret) == "Active")
    });
    Ok(found.map(|secret| summary(app, &secret)).collect())
}

fn status(app: &App, secret: &Secret) -> &'static str {
    match secret.expires_at {
        _ if secret.is_revoked => "Revoked",
        Some(at) if at <= app.now() => "Expired",
        _ => "Active",
    }
}

fn summary(app: &App, secret: &Secret) -> SecretSummary {
    let status = status(app, secret);
    let Secret { name, id, display_name, description, type_name, scope, tags, .. } = secret.clone();
    SecretSummary {
        id,
        name,
        display_name,
        description,
        type_name,
        store_name: STORE,
        scope,
        tags,
        status,
        current_version: (status == "Active").then_some(secret.version),
        version: secret.version,
        created_at: secret.created_at.to_string(),
        updated_at: secret.updated_at.map(|at| at.to_string()),
        expires_at: secret.expires_at.map(|at| at.to_string()),
    }
}

/// For the audit log.
fn known(secret: &Secret) -> Value {
    json!({"version": secret.version, "scope": secret.scope, "expiresAt": secret.expires_at})
}

fn time(text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let parsed = text.filter(|text| !text.is_empty()).map(Timestamp::parse).transpose();
    parsed.map_err(|error| Problem::bad_request(format!("expiresAt: {error}")))
}

/// What is said about a secret, as it is kept.
struct Checked {
    about: About,
    expires_at: Option<Timestamp>,
}

impl About {
    fn checked(self) -> Result<Checked, Problem> {
        let texts = [&self.display_name, &self.description, &self.scope];
        if texts.into_iter().flatten().any(|text| text.len() > TEXT_BYTES_MAX) {
            return Err(Problem::bad_request(format!(
                "a name, description or scope has at most {TEXT_BYTES_MAX} bytes"
            )));
        }
        let tags = self.tags.iter().flatten();
        if tags.clone().count() > TAGS_MAX || tags.into_iter().any(|tag| tag.len() > 200) {
            return Err(Problem::bad_request(format!(
                "a secret has at most {TAGS_MAX} tags of 200 bytes"
            )));
        }
        if let Some(ty) = &self.type_name
            && !TYPES.iter().any(|(name, _)| name == ty)
        {
            let names = TYPES.map(|(name, _)| name).join(", ");
            return Err(Problem::bad_request(format!("typeName is {ty:?}: use one of {names}")));
        }
        if let Some(store) = &self.store_name
            && !store.eq_ignore_ascii_case(STORE)
        {
            return Err(Problem::bad_request(format!("storeName is {store:?}: use {STORE}")));
        }
        let expires_at = time(self.expires_at.as_deref())?;
        Ok(Checked { about: self, expires_at })
    }
}

impl Checked {
    fn applied_to(&self, mut secret: Secret) -> Secret {
        let about = &self.about;
        if let Some(name) = about.display_name.as_ref().filter(|name| !name.trim().is_empty()) {
            secret.display_name.clone_from(name);
        }
        if let Some(ty) = &about.type_name {
            secret.type_name.clone_from(ty);
        }
        if let Some(tags) = &about.tags {
            secret.tags.clone_from(tags);
        }
        secret.description = about.description.clone().or(secret.description);
        secret.scope = about.scope.clone().or(secret.scope);
        secret.expires_at = self.expires_at.or(secret.expires_at);
        secret
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Invalid(reason) => Self::bad_request(reason),
            Error::Taken(_) => Self::conflict("name-taken", error.to_string()),
            Error::Changed => Self::conflict("changed-meanwhile", error.to_string()),
            Error::Unknown(_) => Self::not_found(error.to_string()),
            Error::Locked(_) => Self::conflict("locked", error.to_string()),
        }
    }
}
