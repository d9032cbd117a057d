//! A user's own password.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use chassis::http::Peer;
use serde::Deserialize;
use utoipa::ToSchema;

use super::identity::must_be_on;
use crate::body::Body;
use crate::identity::login;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// Another password of a user, and the one until now.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PasswordChange {
    username: Option<String>,
    /// The password until now.
    current_password: Option<String>,
    /// The password from now on.
    new_password: Option<String>,
}

/// Changes a user's own password, and ends all its sessions. The password until now is the only
/// credential; wrong ones count as failed logins do (429).
#[utoipa::path(post, path = "/identity/password", tag = "identity", request_body = PasswordChange,
    responses((status = 204), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody, description = "logins are off"), (status = 429, body = ProblemBody)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    Body(request): Body<PasswordChange>,
) -> Result<StatusCode, Problem> {
    must_be_on(&app)?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (Some(name), Some(current), Some(new)) =
        (given(request.username), given(request.current_password), given(request.new_password))
    else {
        return Err(Problem::bad_request("username, currentPassword and newPassword are needed"));
    };
    let address: Option<IpAddr> = peer.map(|Extension(Peer(address))| address.ip());
    login::change_password(&app, name.trim(), current.trim(), &new, address).await?;
    Ok(StatusCode::NO_CONTENT)
}
