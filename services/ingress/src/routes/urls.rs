//! Making links that resume a bookmark.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{BookmarkId, Token, TokenTarget};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::auth::hash_of;
use crate::body::Body;
use crate::forwarded::Site;
use crate::pipeline::identify::Asking;
use crate::problem::ProblemBody;
use crate::{App, Problem, record};

/// The default life of a link: 7 days.
const LIFETIME_SECONDS: u64 = 7 * 24 * 3600;
/// The longest life of a link: 366 days.
const LIFETIME_SECONDS_MAX: u64 = 366 * 24 * 3600;

/// The life of a link.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UrlRequest {
    /// 7 days if not given, at most 366 days.
    lifetime_seconds: Option<u64>,
}

/// A link that resumes a bookmark, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UrlMade {
    /// Secret: anyone who has it may use it. It is shown only here.
    url: String,
    /// RFC 3339. From then on the link is refused.
    expires_at: String,
}

/// Makes a single-use link that resumes an open bookmark.
#[utoipa::path(post, path = "/workflow-instances/{id}/bookmarks/{bookmarkId}/url", tag = "links",
    params(("id" = String, Path), ("bookmarkId" = String, Path)), request_body = UrlRequest,
    responses((status = 200, body = UrlMade), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody, description = "No such open bookmark")))]
pub(super) async fn make(
    State(app): State<Arc<App>>,
    Path((id, bookmark_id)): Path<(String, String)>,
    asking: Asking,
    site: Site,
    Body(request): Body<UrlRequest>,
) -> Result<Json<UrlMade>, Problem> {
    let lifetime = request.lifetime_seconds.unwrap_or(LIFETIME_SECONDS);
    if !(1..=LIFETIME_SECONDS_MAX).contains(&lifetime) {
        return Err(Problem::bad_request(format!(
            "lifetimeSeconds is {lifetime}: use 1 to {LIFETIME_SECONDS_MAX}"
        )));
    }
    let seen = record::get(&app, &record::id(&id)?).await?;
    let bookmark_id = BookmarkId::new(bookmark_id);
    if seen.bookmark(&bookmark_id).is_none() {
        return Err(Problem::not_found(format!(
            "instance {id} has no open bookmark {:?}",
            bookmark_id.as_str()
        )));
    }
    let text = URL_SAFE_NO_PAD.encode(app.cx.chance.seed());
    let now = app.now();
    let token = Token {
        hash: hash_of(&text),
        instance_id: seen.instance.id.clone(),
        target: TokenTarget::Bookmark(bookmark_id.clone()),
        created_at: now,
        expires_at: now.after(Duration::from_secs(lifetime)),
    };
    let expires_at = token.expires_at.to_string();
    app.cx.store.grant(token).await?;
    let details = json!({"bookmark": bookmark_id, "expiresAt": expires_at});
    app.audit(&asking.caller, "token.grant", &id, details).await;
    let url = format!("{}/bookmarks/resume?t={text}", site.base_url(&app.config));
    Ok(Json(UrlMade { url, expires_at }))
}
