//! The credentials of a live stream, checked again while it is open: a logout, a removed key, a
//! disabled user and a changed role count for it, too.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use super::caller::Caller;
use super::permission::Need;
use crate::{App, Problem};

/// The credentials that a stream was opened with.
#[derive(Clone)]
pub(crate) struct Recheck {
    need: Need,
    is_local: bool,
    /// The `Authorization` header alone.
    headers: HeaderMap,
    address: Option<IpAddr>,
}

impl Recheck {
    pub(super) fn new(
        need: Need,
        is_local: bool,
        headers: &HeaderMap,
        address: Option<IpAddr>,
    ) -> Self {
        let given = headers.get(AUTHORIZATION).cloned();
        let given = given.map(|mut value| {
            value.set_sensitive(true);
            (AUTHORIZATION, value)
        });
        Self { need, is_local, headers: given.into_iter().collect(), address }
    }

    /// The caller with its permissions as they are now; none while they cannot be read.
    ///
    /// # Errors
    /// The credentials do not count any more, or the caller may not use the route any more.
    pub(crate) async fn caller(&self, app: &App) -> Result<Option<Caller>, Problem> {
        match super::admit(app, &self.need, self.is_local, &self.headers).await {
            Ok(caller) => Ok(Some(caller.at(self.address))),
            Err(problem) if is_final(problem.status()) => Err(problem),
            Err(problem) => {
                let detail = problem.detail();
                tracing::warn!(detail, "the credentials of a stream could not be checked again");
                Ok(None)
            }
        }
    }
}

fn is_final(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

impl FromRequestParts<Arc<App>> for Recheck {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            tracing::error!("a stream is not in the list of live routes");
            Problem::internal()
        })
    }
}
