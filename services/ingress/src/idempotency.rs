//! The same `Idempotency-Key`, the same change, the same answer: at every node, also after a
//! restart.
//!
//! Before a request with a key does anything, the key is claimed in the database, with a
//! fingerprint of the request. A repeated request gets the answer that is kept there. If none is
//! kept yet, the request is carried out again: its command has the same id, so it has no second
//! effect. The same key with another request is refused.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use model::{CommandId, Timestamp, limits};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::{Claim, KeyedRequest};

use crate::auth::caller::Caller;
use crate::auth::permission;
use crate::body::{self, BytesMax};
use crate::pipeline::identify::{key_id, key_in};
use crate::respond::Verbatim;
use crate::{App, Problem};

/// Marks an answer as a kept one.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The number of expired requests that one removal removes.
const FORGOTTEN_AT_ONCE: u64 = 1_000;

/// An answer in the form in which it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAnswer {
    status: u16,
    /// Names and values.
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    /// A workflow wrote the answer.
    is_verbatim: bool,
}

/// Sends the kept answer to a repeated request; keeps the answer to a new one. No cache keeps an
/// answer with a secret.
pub(crate) async fn replay(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let answers_secret = !is_read && route.is_some_and(permission::answers_secret);
    let mut response = repeated(&app, request, next).await.unwrap_or_else(Problem::into_response);
    if answers_secret && response.status().is_success() {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn repeated(app: &Arc<App>, request: Request, next: Next) -> Result<Response, Problem> {
    let Some(id) = id_of(&request)? else { return Ok(next.run(request).await) };
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let answers_secret = route.is_some_and(permission::answers_secret);
    let bytes_max = BytesMax::of(&request);
    let (parts, body) = request.into_parts();
    let bytes = body::read(body, bytes_max).await?;
    let now = app.now();
    let claimed = KeyedRequest {
        id,
        fingerprint: fingerprint(parts.uri.query(), &bytes),
        expires_at: now.after(limits::IDEMPOTENCY_KEPT),
    };
    forget_expired(app, now);
    let claim = app.cx.store.claim(&claimed, now).await?;
    match &claim {
        Claim::Reused => return Err(reused()),
        Claim::Repeated(Some(kept)) => return again(kept),
        Claim::Repeated(None) if answers_secret => return Err(secret()),
        Claim::Repeated(None) | Claim::New => {}
    }
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    let status = response.status();
    if claim == Claim::New && is_refusal(&response) {
        // Nothing was done: the caller may correct the request and use its key again.
        let released = app.cx.store.release(&claimed).await;
        log(released, "an Idempotency-Key was not given back");
    }
    let is_verbatim = response.extensions().get::<Verbatim>().is_some();
    let is_final = is_verbatim || (status.is_success() && status != StatusCode::ACCEPTED);
    if !is_final || answers_secret {
        return Ok(response);
    }
    keep(app, &claimed, response, is_verbatim).await
}

fn id_of(request: &Request) -> Result<Option<CommandId>, Problem> {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(None);
    }
    // The fingerprint of a password would be a hash that can be guessed, and an answer that goes on is
    // not kept.
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if route.is_some_and(|route| permission::takes_secret(route) || permission::is_live(route)) {
        return Ok(None);
    }
    let Some(key) = key_in(request.headers())? else { return Ok(None) };
    let Some(caller) = request.extensions().get::<Caller>() else { return Ok(None) };
    Ok(Some(key_id(request.method(), request.uri().path(), key, caller)))
}

/// The hash of the contents of a request, without its route.
fn fingerprint(query: Option<&str>, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(query.unwrap_or_default());
    hash.update([0]);
    hash.update(body);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn reused() -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "key-reused",
        "this Idempotency-Key was used with another body or query: use a new key for a new request",
    )
}

fn secret() -> Problem {
    Problem::conflict(
        "answered-before",
        "this Idempotency-Key was used before, and the answer had a secret, which is not kept: \
         use a new key to make another",
    )
}

/// The request was refused before it had any effect.
fn is_refusal(response: &Response) -> bool {
    let status = response.status();
    let is_verbatim = response.extensions().get::<Verbatim>().is_some();
    let may_have_done = matches!(status, StatusCode::CONFLICT | StatusCode::REQUEST_TIMEOUT);
    status.is_client_error() && !may_have_done && !is_verbatim
}

/// Keeps an answer that is final, and returns it.
async fn keep(
    app: &App,
    request: &KeyedRequest,
    response: Response,
    is_verbatim: bool,
) -> Result<Response, Problem> {
    let (parts, body) = response.into_parts();
    let body: Bytes = to_bytes(body, usize::MAX).await.map_err(|error| {
        tracing::error!(%error, "an answer could not be read");
        Problem::internal()
    })?;
    if body.len() <= limits::KEPT_ANSWER_BYTES_MAX {
        let kept = KeptAnswer {
            status: parts.status.as_u16(),
            headers: written(&parts.headers),
            body: body.to_vec(),
            is_verbatim,
        };
        match rmp_serde::to_vec_named(&kept) {
            Ok(kept) => {
                let kept = app.cx.store.keep_answer(request, kept).await;
                log(kept, "the answer to a request with an Idempotency-Key is not kept");
            }
            Err(error) => tracing::error!(%error, "an answer has no form to be kept in"),
        }
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

fn written(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}

/// The kept answer as a response.
fn again(kept: &[u8]) -> Result<Response, Problem> {
    let kept: KeptAnswer = rmp_serde::from_slice(kept).map_err(|error| {
        tracing::error!(%error, "the kept answer to a request with an Idempotency-Key is unreadable");
        Problem::internal()
    })?;
    let mut response = Response::new(Body::from(kept.body));
    *response.status_mut() = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    for (name, value) in kept.headers {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value)) {
            response.headers_mut().append(name, value);
        }
    }
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    if kept.is_verbatim {
        response.extensions_mut().insert(Verbatim);
    }
    Ok(response)
}

/// The request was carried out; a failure to record that changes nothing for the caller.
fn log(noted: Result<(), store::Error>, what: &str) {
    if let Err(error) = noted {
        tracing::warn!(%error, "{what}");
    }
}

/// Removes expired requests, sessions and counts of logins in the background, if that has not been done for a while.
pub(crate) fn forget_expired(app: &Arc<App>, now: Timestamp) {
    if app.expiry.is_due(now) {
        let shared = Arc::clone(app);
        app.spawn("ingress forgets requests", async move { forget(&shared, now).await });
    }
}

async fn forget(app: &App, now: Timestamp) {
    loop {
        let requests = app.cx.store.forget_requests(now, FORGOTTEN_AT_ONCE).await;
        let logins = app.cx.store.forget_logins(now, FORGOTTEN_AT_ONCE).await;
        match (requests, logins) {
            (Ok(FORGOTTEN_AT_ONCE..), Ok(_)) | (Ok(_), Ok(FORGOTTEN_AT_ONCE..)) => {}
            (Ok(_), Ok(_)) => return,
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(%error, "expired requests and sessions stay for now");
                return;
            }
        }
    }
}
