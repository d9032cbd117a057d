//! The same `Idempotency-Key`, the same answer.
//!
//! What a key stands for is done once because its command's id derives from it, on any node and for
//! as long as the instance remembers. Here, beyond that, the answer itself is kept for a while, so
//! that a repeated request gets the very same one from the node that gave it first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use model::{CommandId, limits};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::auth::Caller;
use crate::body::unread;
use crate::respond::Verbatim;
use crate::submit::{key_id, key_in};
use crate::{App, Problem};

/// Answers kept at most.
const ANSWERS_MAX: usize = 1_000;
/// Larger answers are not kept.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long an answer is kept.
const ANSWER_AGE_MAX: Duration = Duration::from_secs(600);
/// Says that the answer is a kept one.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The answers that are kept.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_id: BTreeMap<CommandId, Answer>,
    oldest_first: VecDeque<CommandId>,
}

#[derive(Clone, Debug)]
struct Answer {
    /// Of the request's body.
    fingerprint: [u8; 32],
    kept_at: Instant,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    is_verbatim: bool,
}

/// Gives the kept answer to a repeated request; keeps the answer to a new one.
pub(crate) async fn replay(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let id = match id_of(&request) {
        Ok(Some(id)) => id,
        Ok(None) => return next.run(request).await,
        Err(problem) => return problem.into_response(),
    };
    let (parts, body) = request.into_parts();
    let bytes_max = app.config.body_bytes_max.max(limits::DEFINITION_BYTES_MAX);
    let bytes = match to_bytes(body, bytes_max).await {
        Ok(bytes) => bytes,
        Err(error) => return unread(&error, bytes_max).into_response(),
    };
    let fingerprint: [u8; 32] = Sha256::digest(&bytes).into();
    match app.answers.get(&id) {
        Some(answer) if answer.fingerprint == fingerprint => return answer.again(),
        Some(_) => {
            return Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "key-reused",
                "this Idempotency-Key was used with another body: use a new key for a new request",
            )
            .into_response();
        }
        None => {}
    }
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    app.answers.keep(id, fingerprint, response).await
}

fn id_of(request: &Request) -> Result<Option<CommandId>, Problem> {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(None);
    }
    let Some(key) = key_in(request.headers())? else { return Ok(None) };
    let Some(caller) = request.extensions().get::<Caller>() else { return Ok(None) };
    Ok(Some(key_id(request.method(), request.uri().path(), key, caller)))
}

impl Answers {
    fn get(&self, id: &CommandId) -> Option<Answer> {
        let answer = self.lock().by_id.get(id).cloned();
        answer.filter(|answer| answer.kept_at.elapsed() < ANSWER_AGE_MAX)
    }

    /// Keeps an answer that is final, and gives it back.
    async fn keep(&self, id: CommandId, fingerprint: [u8; 32], response: Response) -> Response {
        let status = response.status();
        let is_verbatim = response.extensions().get::<Verbatim>().is_some();
        let is_final = is_verbatim || (status.is_success() && status != StatusCode::ACCEPTED);
        if !is_final {
            return response;
        }
        let (parts, body) = response.into_parts();
        let body = match to_bytes(body, usize::MAX).await {
            Ok(body) => body,
            Err(error) => {
                tracing::error!(%error, "an answer could not be read");
                return Problem::internal().into_response();
            }
        };
        if body.len() <= ANSWER_BYTES_MAX {
            let headers = parts.headers.clone();
            let (kept_at, body) = (Instant::now(), body.clone());
            let answer = Answer { fingerprint, kept_at, status, headers, body, is_verbatim };
            self.lock().insert(id, answer);
        }
        Response::from_parts(parts, Body::from(body))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, id: CommandId, answer: Answer) {
        if self.by_id.insert(id.clone(), answer).is_none() {
            self.oldest_first.push_back(id);
        }
        while self.oldest_first.len() > ANSWERS_MAX {
            if let Some(oldest) = self.oldest_first.pop_front() {
                self.by_id.remove(&oldest);
            }
        }
    }
}

impl Answer {
    fn again(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        if self.is_verbatim {
            response.extensions_mut().insert(Verbatim);
        }
        response
    }
}
