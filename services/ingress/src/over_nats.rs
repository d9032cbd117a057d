//! The HTTP API for clients that have only NATS: a request to `staunch.api.http.<method>.<path>` is
//! answered as the same request over HTTP would be.
//!
//! Each part of the path below `/elsa/api` is one token of the subject, escaped as everywhere:
//! `staunch.api.http.post.workflow-instances.order-7.restart`. The query is in the header
//! `Staunch-Query`; other headers are those of HTTP. The answer has the body and the headers of the
//! HTTP answer, its status in `Staunch-Status`, and for an error the headers of the Services API.
//! Credentials are checked as over HTTP; who may send such requests at all is up to NATS.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, FORWARDED, HOST, ORIGIN, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::Response;
use bus::{Endpoint, Incoming, Subscription};
use futures::StreamExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{ContentType, Headers, Message, encode_body, header, subject};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{App, Context};

/// The name under which ingress registers with the NATS Services API.
const SERVICE: &str = "staunch-ingress";
const ABOUT: &str = "HTTP gateway: REST API, workflow endpoints, resume links";
/// The number of requests over NATS that are processed at the same time.
const REQUESTS_MAX: usize = 256;
/// The largest answer that is read before it is found too large for a message, in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// The header with the query of a request, as it stands behind `?` in a URL.
const QUERY: &str = "Staunch-Query";
/// The header with the status of an answer.
const STATUS: &str = "Staunch-Status";
/// The headers of the Services API that mark an error.
const ERROR: &str = "Nats-Service-Error";
const ERROR_CODE: &str = "Nats-Service-Error-Code";
/// Headers that are about a connection, or about the host and the page of a browser: a message has
/// none of these.
const REFUSED: [HeaderName; 7] =
    [CONNECTION, CONTENT_LENGTH, FORWARDED, HOST, ORIGIN, TRANSFER_ENCODING, UPGRADE];

/// The bytes of a part of a path that a URL has as `%` and two digits.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Registers the endpoints.
///
/// # Errors
/// When the bus cannot be asked.
pub(crate) async fn register(cx: &Context) -> Result<Subscription, bus::Error> {
    let endpoint = |name: &str, subject: String| Endpoint { name: name.to_owned(), subject };
    let endpoints = vec![
        endpoint("status", format!("{}.ingress.status", subject::API)),
        endpoint("http", format!("{}.>", subject::HTTP)),
    ];
    cx.bus.serve(SERVICE, chassis::version(), ABOUT, endpoints).await
}

/// Answers requests until `stop`.
pub(crate) async fn answer(
    app: Arc<App>,
    router: Router,
    requests: Subscription,
    stop: CancellationToken,
) {
    let answering = requests.take_until(stop.cancelled()).for_each_concurrent(
        REQUESTS_MAX,
        |Incoming { message, reply }| {
            let (app, router) = (Arc::clone(&app), router.clone());
            async move {
                if let Some(reply) = reply {
                    respond(&app, router, message, reply).await;
                }
            }
        },
    );
    answering.await;
}

async fn respond(app: &App, router: Router, request: Message, reply: String) {
    let answer = match request.subject.strip_prefix(subject::HTTP) {
        Some(rest) => call(router, rest, &request).await,
        None => status(app),
    };
    let answer = Message { subject: reply.clone(), ..answer };
    let mut sent = app.cx.bus.send(answer).await;
    if let Err(bus::Error::TooLarge(reason)) = sent {
        let answer = Message { subject: reply, ..too_large(&reason) };
        sent = app.cx.bus.send(answer).await;
    }
    if let Err(error) = sent {
        tracing::debug!(%error, "a request over NATS was not answered");
    }
}

/// What `nats req staunch.api.ingress.status ''` answers.
fn status(app: &App) -> Message {
    let body = json!({
        "address": app.config.listen.to_string(),
        "requests": app.config.requests_max - app.room.available_permits(),
        "requestsMax": app.config.requests_max,
        "waiting": app.waiters.count(),
        "streams": app.streams.count(),
        "leaving": app.is_leaving(),
        "draining": app.is_draining(),
    });
    written(StatusCode::OK, &body)
}

async fn call(router: Router, rest: &str, message: &Message) -> Message {
    let request = match request(rest, message) {
        Ok(request) => request,
        Err(reason) => return problem(StatusCode::BAD_REQUEST, "Bad request", &reason),
    };
    let answered: Result<Response, Infallible> = router.oneshot(request).await;
    let (head, body) = answered.unwrap_or_else(|never| match never {}).into_parts();
    if head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        let reason = "this answer goes on while it is read: ask over HTTP; for live events \
                      subscribe to staunch.event.*.*.*";
        return problem(StatusCode::BAD_REQUEST, "Bad request", reason);
    }
    let Ok(body) = to_bytes(body, ANSWER_BYTES_MAX).await else {
        return too_large(&format!("it has more than {ANSWER_BYTES_MAX} bytes"));
    };
    let mut headers = Headers::new();
    for name in head.headers.keys() {
        let values = head.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let values: Vec<_> = values.collect();
        if !values.is_empty() {
            headers.insert(name.as_str().to_owned(), values.join(&header::BETWEEN.to_string()));
        }
    }
    mark(&mut headers, head.status, head.status.canonical_reason().unwrap_or("Refused"));
    Message { headers, payload: body.to_vec(), ..Message::default() }
}

/// The HTTP request that a message stands for.
///
/// # Errors
/// What of the message is no request.
fn request(rest: &str, message: &Message) -> Result<Request<Body>, String> {
    let mut tokens = rest.split('.').skip(1);
    let method = tokens.next().unwrap_or_default().to_ascii_uppercase();
    let method = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE]
        .into_iter()
        .find(|known| *known == method.as_str())
        .ok_or_else(|| {
            format!("there is no method {method:?}: use get, post, put, patch or delete")
        })?;
    let mut uri = "/elsa/api".to_owned();
    for token in tokens {
        let part = subject::untoken(token).filter(|part| !part.is_empty()).ok_or_else(|| {
            format!(
                "{token:?} is no part of a path: write bytes other than A-Z, a-z, 0-9, _ and - \
                     as = and two hexadecimal digits"
            )
        })?;
        uri.push('/');
        uri.extend(utf8_percent_encode(&part, ESCAPED));
    }
    if let Some(query) = message.header(QUERY) {
        uri.push('?');
        uri.push_str(query);
    }
    let mut request = Request::builder().method(method).uri(&uri);
    for (name, value) in &message.headers {
        let is_ours = name.eq_ignore_ascii_case(QUERY) || name.starts_with("Nats-");
        if is_ours {
            continue;
        }
        let known = HeaderName::try_from(name)
            .map_err(|error| format!("{name:?} is no header: {error}"))?;
        if REFUSED.contains(&known) || known.as_str().starts_with("x-forwarded-") {
            return Err(format!("the header {name} has no meaning over NATS: leave it out"));
        }
        for value in value.split(header::BETWEEN) {
            let value = HeaderValue::try_from(value)
                .map_err(|error| format!("the value of the header {name}: {error}"))?;
            request = request.header(known.clone(), value);
        }
    }
    let has_type = message.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    if !has_type && !message.payload.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    request
        .header(HOST, "localhost")
        .body(Body::from(message.payload.clone()))
        .map_err(|error| format!("{uri:?} is no path of the API: {error}"))
}

fn mark(headers: &mut Headers, status: StatusCode, title: &str) {
    headers.insert(STATUS.to_owned(), status.as_u16().to_string());
    if status.is_client_error() || status.is_server_error() {
        headers.insert(ERROR.to_owned(), title.to_owned());
        headers.insert(ERROR_CODE.to_owned(), status.as_u16().to_string());
    }
}

fn too_large(reason: &str) -> Message {
    let detail = format!(
        "the answer is too large for a message: {reason}; ask for smaller pages, or over HTTP"
    );
    problem(StatusCode::PAYLOAD_TOO_LARGE, "Too large", &detail)
}

fn problem(status: StatusCode, title: &str, detail: &str) -> Message {
    let body = json!({"status": status.as_u16(), "title": title, "detail": detail});
    let mut message = written(status, &body);
    mark(&mut message.headers, status, title);
    message
}

fn written(status: StatusCode, body: &serde_json::Value) -> Message {
    // JSON values always have a form in JSON.
    let payload = encode_body(ContentType::Json, body).unwrap_or_default();
    let mut headers =
        Headers::from([(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())]);
    headers.insert(STATUS.to_owned(), status.as_u16().to_string());
    Message { headers, payload, ..Message::default() }
}
