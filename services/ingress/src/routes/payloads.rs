//! Payloads: large contents, kept before a request names them, and read after an answer has.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use http_body_util::Limited;
use model::{PayloadHash, file};
use serde_json::Value;

use crate::body::Params;
use crate::endpoint::form::unkept;
use crate::endpoint::request::named;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The header with the name that the sender expects.
const EXPECTED: &str = "x-staunch-payload";
/// The media type of a payload that is read.
const BYTES: &str = "application/octet-stream";

/// Keeps the body as a payload, whatever it is, and answers with the file that it is: a value for the
/// inputs of workflows, and for variables.
///
/// The name and the type of the file are those of `Content-Disposition` and `Content-Type`. With
/// `X-Staunch-Payload`, the bytes are refused if they are not those of that name. A payload is removed
/// when no instance uses it for the time of the setting `payload-kept`.
#[utoipa::path(post, path = "/payloads", tag = "payloads",
    request_body(content = Option<String>, content_type = "application/octet-stream"),
    params(("X-Staunch-Payload" = Option<String>, Header, pattern = "^sha256-[0-9a-f]{64}$",
        example = "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        description = "The name that the bytes must have")),
    responses((status = 201, body = shape::operation::LargeFile), (status = 400, body = ProblemBody),
        (status = 408, body = ProblemBody), (status = 413, body = ProblemBody)))]
pub(super) async fn keep(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    params: Params,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Problem> {
    if let Some((name, _)) = params.0.first() {
        return Err(Problem::bad_request(format!(
            "there is no query parameter {name:?} here: the name of the file is that of the header \
             Content-Disposition, its type that of Content-Type"
        )));
    }
    let expected = headers.get(EXPECTED).map(|value| hash(value.to_str().unwrap_or_default()));
    let expected = expected.transpose()?;
    let max = usize::try_from(app.payloads.bytes_max()).unwrap_or(usize::MAX);
    let body = request.into_body();
    if usize::try_from(body.size_hint().lower()).map_or(true, |declared| declared > max) {
        return Err(Problem::payload_too_large(max));
    }
    let body = Body::new(Limited::new(body, max)).into_data_stream();
    let kept = app.payloads.keep(body).await.map_err(|error| match unkept(error, max) {
        problem if problem.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::payload_too_large(max)
        }
        problem => problem,
    })?;
    if let Some(expected) = expected.filter(|expected| *expected != kept.hash) {
        return Err(Problem::bad_request(format!(
            "the bytes are those of {}, not of {expected}: send them again",
            kept.hash
        )));
    }
    let (name, kind) = named(&headers);
    Ok((StatusCode::CREATED, Json(file::large(&name, &kind, kept.size, &kept.hash))))
}

/// The bytes of a payload.
///
/// The first 256 KiB are read before the answer begins: 503 where they cannot be had now, 500 where they
/// are missing. All are checked while they are sent: the connection breaks off where they are damaged. There
/// are no ranges: the answer has all bytes.
#[utoipa::path(get, path = "/payloads/{hash}", tag = "payloads",
    params(("hash" = String, Path, pattern = "^sha256-[0-9a-f]{64}$",
        example = "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", description = "`sha256-` and 64 hexadecimal digits")),
    responses((status = 200, body = String, content_type = "application/octet-stream"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn read(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let hash = hash(&name)?;
    let (size, parts) = app.payloads.open(&hash).await.map_err(|error| unkept(error, 0))?;
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(BYTES));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{hash}\"")) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}

fn hash(name: &str) -> Result<PayloadHash, Problem> {
    name.parse().map_err(|error| Problem::bad_request(format!("{error}")))
}
