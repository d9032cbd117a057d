//! Answers that are more than JSON: answers that a workflow wrote, and 202.

use axum::Json;
use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::InstanceId;
use protocol::{HttpAnswer, Outcome, Refusal};
use serde::Serialize;
use serde_json::{Value, json};

use crate::endpoint::form::unkept;
use crate::{App, Problem};

/// Elsa's header with the id of the instance that answers.
pub(crate) const INSTANCE_HEADER: HeaderName =
    HeaderName::from_static("x-elsa-workflow-instance-id");

/// Elsa's header that says whether a run was refused before it began.
const CANNOT_START: HeaderName = HeaderName::from_static("x-elsa-workflow-cannot-start");

/// The answer to a run that began.
pub(crate) fn began(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    response.headers_mut().insert(CANNOT_START, HeaderValue::from_static("False"));
    response
}

/// The problem of a run that an activation strategy forbids. Clients of Elsa read two headers and
/// nothing else: that it cannot start, and the instance to look at, which is the one in the way.
pub(crate) fn not_begun(problem: Problem) -> Problem {
    if problem.status() != StatusCode::CONFLICT {
        return problem;
    }
    let instance = problem.member("workflowInstanceId").and_then(Value::as_str);
    let instance = instance.and_then(|id| HeaderValue::from_str(id).ok());
    let problem = problem.header(CANNOT_START, HeaderValue::from_static("True"));
    match instance {
        Some(id) => problem.header(INSTANCE_HEADER, id),
        None => problem,
    }
}

/// Marks a response that a workflow wrote: it is sent unchanged, whatever its status.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verbatim;

/// Marks a page of ours: a browser shows it as it is, whatever its status.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page;

/// The response that a workflow wrote; the bytes of a payload are sent as they are read.
pub(crate) async fn said(
    app: &App,
    id: &InstanceId,
    answer: &HttpAnswer,
) -> Result<Response, Problem> {
    let mut response = workflow_said(id, answer);
    if let Some(hash) = answer.payload.as_ref().filter(|_| !has_no_content(answer.status_code)) {
        let opened = app.payloads.open(hash).await;
        let (size, parts) = opened.map_err(|error| unkept(error, usize::MAX))?;
        *response.body_mut() = Body::from_stream(parts);
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
        let unknown = HeaderValue::from_static("application/octet-stream");
        headers.entry(CONTENT_TYPE).or_insert(unknown);
    }
    Ok(response)
}

/// The response that `WriteHttpResponse` wrote.
pub(crate) fn workflow_said(id: &InstanceId, answer: &HttpAnswer) -> Response {
    let bytes = answer.content.as_str().filter(|_| answer.is_base64);
    let bytes = bytes.and_then(|text| STANDARD.decode(text).ok());
    let (body, default_type) = match &answer.content {
        _ if bytes.is_some() && !has_no_content(answer.status_code) => {
            (Body::from(bytes.unwrap_or_default()), Some("application/octet-stream"))
        }
        _ if has_no_content(answer.status_code) => (Body::empty(), None),
        Value::Null => (Body::empty(), None),
        Value::String(text) => (Body::from(text.clone()), Some("text/plain; charset=utf-8")),
        other => (Body::from(other.to_string()), Some("application/json; charset=utf-8")),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status_code).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    let all = answer.headers.iter();
    for (name, value) in
        all.flat_map(|(name, values)| values.split('\n').map(move |one| (name, one)))
    {
        let name = HeaderName::try_from(name.as_str());
        // Headers that HTTP does not allow, and headers that the server sets itself, are left out.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value))
            && name != CONTENT_LENGTH
            && name != TRANSFER_ENCODING
        {
            headers.append(name, value);
        }
    }
    let given_type = answer.content_type.as_deref().filter(|_| !has_no_content(answer.status_code));
    let content_type = given_type.or(default_type);
    if let Some(Ok(value)) = content_type.map(HeaderValue::from_str)
        && (answer.content_type.is_some() || !headers.contains_key(CONTENT_TYPE))
    {
        headers.insert(CONTENT_TYPE, value);
    }
    response.extensions_mut().insert(Verbatim);
    of_instance(id, response)
}

/// Whether an answer with this status never has content (RFC 9110, sections 15.3.5, 15.3.6 and
/// 15.4.5).
fn has_no_content(status: u16) -> bool {
    matches!(status, 204 | 205 | 304)
}

/// 202, with the path of the instance.
pub(crate) fn accepted(id: &InstanceId, body: impl Serialize) -> Response {
    let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
    let location = format!("/elsa/api/workflow-instances/{}", segment(id.as_str()));
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    of_instance(id, response)
}

/// An answer about this instance.
pub(crate) fn of_instance(id: &InstanceId, response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(INSTANCE_HEADER, value);
    }
    response
}

/// The problem for a refused command; `None` if the answer is 202.
pub(crate) fn refusal(outcome: &Outcome) -> Option<Problem> {
    let refusal = outcome.refusal?;
    let detail = outcome.message.clone();
    let says = |otherwise: &str| detail.clone().unwrap_or_else(|| otherwise.to_owned());
    let problem = match refusal {
        Refusal::Waiting | Refusal::StillRunning => return None,
        Refusal::Garbled => Problem::bad_request(says("the command could not be read")),
        Refusal::NotFound => Problem::not_found(says("it names something that does not exist")),
        Refusal::AlreadyDone => {
            Problem::conflict("already-resumed", format!("already resumed: {}", says("it is over")))
        }
        Refusal::Ambiguous => {
            let bookmarks: Vec<_> = outcome.bookmarks.iter().map(ToString::to_string).collect();
            Problem::new(StatusCode::BAD_REQUEST, "ambiguous", says("several bookmarks are open"))
                .with("bookmarks", bookmarks)
        }
        Refusal::Unfit => Problem::conflict("unfit", says("it does not fit the instance")),
        Refusal::NotAllowed => {
            Problem::conflict("not-allowed", says("the activation strategy does not allow it"))
        }
        Refusal::Dead => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Problem::new(status, "dead", says("it was tried too often and is in the dead letters"))
        }
    };
    Some(match &outcome.workflow_instance_id {
        Some(id) => problem.with("workflowInstanceId", id.as_str()),
        None => problem,
    })
}

/// 500 for an instance that ended with an incident.
pub(crate) fn faulted(id: &InstanceId, incidents: &[String]) -> Problem {
    let detail = match incidents.first() {
        Some(first) => format!("the workflow failed: {first}"),
        None => "the workflow failed".to_owned(),
    };
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "workflow-faulted", detail)
        .with("workflowInstanceId", id.as_str())
        .with("incidents", json!(incidents))
}

/// Writes a name as one path segment.
pub(crate) fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Whether a header that is a list has an item of this kind.
pub(crate) fn lists(headers: &HeaderMap, name: &HeaderName, is_it: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| is_it(item.trim()))
}

/// Sets a header; a value that cannot be one is left out.
pub(crate) fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_workflow_says_is_sent_as_it_is() {
        let check = |content: Value, content_type: Option<&str>, expected: Option<&str>| {
            let content_type = content_type.map(str::to_owned);
            let answer =
                HttpAnswer { status_code: 404, content, content_type, ..HttpAnswer::default() };
            let response = workflow_said(&"i".into(), &answer);
            let sent = response.headers().get(CONTENT_TYPE).map(|value| value.to_str().unwrap());
            assert_eq!((response.status().as_u16(), sent), (404, expected));
            assert!(response.extensions().get::<Verbatim>().is_some());
        };
        check(Value::Null, None, None);
        check(json!("hi"), None, Some("text/plain; charset=utf-8"));
        check(json!("<p>"), Some("text/html"), Some("text/html"));
        check(json!({"a": 1}), None, Some("application/json; charset=utf-8"));
    }

    #[test]
    fn each_value_of_a_header_is_sent() {
        let lines = [("Set-Cookie", "a=1\nb=2"), ("X-Empty", ""), ("X-Wrong", "a\rb")];
        let headers = lines.map(|(name, values)| (name.to_owned(), values.to_owned())).into();
        let response = workflow_said(&"i".into(), &HttpAnswer { headers, ..HttpAnswer::default() });
        let sent = |name: &str| response.headers().get_all(name).iter().collect::<Vec<_>>();
        assert_eq!(sent("set-cookie"), ["a=1", "b=2"]);
        assert_eq!(sent("x-empty"), [""]);
        assert!(sent("x-wrong").is_empty());
    }

    #[test]
    fn names_become_path_segments() {
        assert_eq!(segment("Order Approval/é"), "Order%20Approval%2F%C3%A9");
    }
}
