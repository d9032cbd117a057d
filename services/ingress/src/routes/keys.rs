//! API keys, and the audit log.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{AUDITED, ApiKey, AuditFilter, AuditOutcome, User};
use utoipa::ToSchema;

use super::identity::must_be_known;
use crate::audit::shown;
use crate::auth::caller::Caller;
use crate::auth::hash_of;
use crate::body::{Body, Params};
use crate::paging::Part;
use crate::present::{Paged, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// Longest name of a key, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// The largest number of permissions of one key.
const PERMISSIONS_MAX: usize = 100;
/// Longest permission, in bytes.
const PERMISSION_BYTES_MAX: usize = 200;
/// The longest life of a key that expires: a hundred years.
const LIFETIME_SECONDS_MAX: u64 = 100 * 366 * 24 * 3600;

/// A key, without the key itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeySummary {
    id: String,
    name: String,
    permissions: Vec<String>,
    /// The name of the user who made it, or the id of one who is gone; none where no user did.
    owner: Option<String>,
    created_at: String,
    expires_at: Option<String>,
}

impl KeySummary {
    fn of(key: &ApiKey, users: &[User]) -> Self {
        let owner = key.user_id.as_ref().map(|id| {
            let user = users.iter().find(|user| user.id == *id);
            user.map_or_else(|| id.clone(), |user| user.name.clone())
        });
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            permissions: key.permissions.clone(),
            owner,
            created_at: key.created_at.to_string(),
            expires_at: key.expires_at.map(|at| at.to_string()),
        }
    }
}

/// The purpose and permissions of a new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct KeyRequest {
    /// The purpose of the key.
    name: String,
    /// Such as `read:workflow-instances`, `read:*` or `*`; only permissions that the caller has.
    permissions: Vec<String>,
    /// Unlimited if not given.
    #[serde(default)]
    lifetime_seconds: Option<u64>,
}

/// A new key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyMade {
    /// The key. It is shown only here.
    key: String,
    #[serde(flatten)]
    summary: KeySummary,
}

/// Lists the API keys.
#[utoipa::path(get, path = "/api-keys", tag = "keys",
    responses((status = 200, body = shape::Items<KeySummary>), (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let keys = app.cx.store.keys().await?;
    let users = app.cx.store.users().await?;
    let items: Vec<_> = keys.iter().map(|key| KeySummary::of(key, &users)).collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// Makes an API key. A caller cannot give permissions that it does not have.
#[utoipa::path(post, path = "/api-keys", tag = "keys", request_body = KeyRequest,
    responses((status = 201, body = KeyMade), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn make(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<KeyRequest>,
) -> Result<(StatusCode, Json<KeyMade>), Problem> {
    let name = request.name.trim();
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(Problem::bad_request(format!(
            "the name of a key has 1 to {NAME_BYTES_MAX} bytes, and says what it is for"
        )));
    }
    if request.permissions.is_empty() || request.permissions.len() > PERMISSIONS_MAX {
        return Err(Problem::bad_request(format!(
            "a key has 1 to {PERMISSIONS_MAX} permissions, such as read:workflow-instances or *"
        )));
    }
    if let Some(long) = request.permissions.iter().find(|p| p.len() > PERMISSION_BYTES_MAX) {
        return Err(Problem::bad_request(format!(
            "a permission has {} bytes: use at most {PERMISSION_BYTES_MAX}",
            long.len()
        )));
    }
    must_be_known(&app, &request.permissions).await?;
    if request.lifetime_seconds.is_some_and(|seconds| seconds > LIFETIME_SECONDS_MAX) {
        return Err(Problem::bad_request(format!(
            "lifetimeSeconds is above {LIFETIME_SECONDS_MAX}: leave it out for a key without end"
        )));
    }
    if let Some(more) = request.permissions.iter().find(|wanted| !caller.may(wanted)) {
        return Err(Problem::forbidden(format!(
            "the caller {} does not have {more:?} and cannot give it",
            caller.who
        )));
    }
    let id = app.fresh_id();
    let key = format!("stk_{id}_{}", URL_SAFE_NO_PAD.encode(app.cx.chance.seed()));
    let now = app.now();
    let kept = ApiKey {
        id,
        name: name.to_owned(),
        hash: hash_of(&key),
        permissions: store::once(request.permissions),
        created_at: now,
        expires_at: request.lifetime_seconds.map(|seconds| now.after(Duration::from_secs(seconds))),
        user_id: caller.user_id.clone(),
    };
    let summary = KeySummary::of(&kept, &app.cx.store.users().await?);
    let details = json!({"name": kept.name, "permissions": kept.permissions});
    app.cx.store.save_key(kept).await?;
    app.audit(&caller, "key.create", &summary.id, details).await;
    Ok((StatusCode::CREATED, Json(KeyMade { key, summary })))
}

/// Removes an API key, at once and on all nodes.
#[utoipa::path(delete, path = "/api-keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    if !app.cx.store.delete_key(&id).await? {
        return Err(Problem::not_found(format!("there is no API key {id:?}")));
    }
    app.audit(&caller, "key.delete", &id, Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The audit log, newest first.
#[utoipa::path(get, path = "/audit", tag = "keys",
    params(("who" = Option<String>, Query), ("what" = Option<String>, Query), ("target" = Option<String>, Query),
        ("outcome" = Option<String>, Query, description = "`done`, `refused` or `accepted`"),
        ("from" = Option<String>, Query, format = DateTime), ("until" = Option<String>, Query, format = DateTime),
        ("page" = Option<u64>, Query), ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = Paged<shape::operation::AuditEntry>), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody)))]
pub(super) async fn audit(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let filters = ["who", "what", "target", "outcome", "from", "until"];
    let part = Part::of_list(&params, &filters)?;
    let time = |name: &str| {
        let parsed = params.one(name).map(Timestamp::parse).transpose();
        parsed.map_err(|error| Problem::bad_request(format!("query parameter {name}: {error}")))
    };
    let text = |name: &str| params.one(name).map(str::to_owned);
    let outcome = params.one("outcome").map(outcome).transpose()?;
    let what = text("what");
    if let Some(unknown) = what.as_deref().filter(|what| !AUDITED.contains(what)) {
        let shown: String = unknown.chars().take(50).collect();
        let known = AUDITED.join(", ");
        let detail = format!("query parameter what is {shown:?}: use one of {known}");
        return Err(Problem::bad_request(detail));
    }
    let filter = AuditFilter {
        who: text("who"),
        what,
        target: text("target"),
        outcome,
        from: time("from")?,
        until: time("until")?,
    };
    let found = app.cx.store.audits(&filter, part.page()?).await?;
    let items: Vec<_> = found.items.iter().map(shown).collect();
    Ok(Json(json!({"items": items, "totalCount": found.total})))
}

fn outcome(text: &str) -> Result<AuditOutcome, Problem> {
    let known = AuditOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
    known.ok_or_else(|| {
        let names = AuditOutcome::ALL.map(AuditOutcome::as_str).join(", ");
        Problem::bad_request(format!("query parameter outcome is {text:?}: use one of {names}"))
    })
}
