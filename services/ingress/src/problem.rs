//! Every refusal is an RFC 9457 problem: the mistake, its place, and the correction.
//!
//! A problem never contains a secret, a stack trace or a token. Its `type` is a stable URN; its
//! `instance` is the path of the request, filled in by [`crate::finish`].

use axum::Json;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use model::Map;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Seconds after which a client may try an overloaded server again.
const RETRY_SECONDS: u64 = 1;

/// The refusal of a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    status: StatusCode,
    slug: &'static str,
    detail: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    members: Map,
}

/// A problem as it is sent (RFC 9457), as `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Stable name of the kind of problem.
    #[schema(example = "urn:staunch:problem:not-found")]
    r#type: String,
    /// The kind of problem in words.
    title: String,
    /// The HTTP status.
    #[schema(value_type = u16)]
    status: u16,
    /// The mistake in this request, and its correction.
    detail: String,
    /// The path of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    /// The same in texts, as clients of Elsa show it: under `generalErrors`, one for each mistake.
    #[schema(value_type = Object)]
    errors: Value,
    /// Further members, such as `validationErrors`, `workflowInstanceId` or `bookmarks`.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    members: Map,
}

impl Problem {
    /// A problem of this kind.
    pub(crate) fn new(status: StatusCode, slug: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let (headers, members) = (Vec::new(), Map::new());
        Self(Box::new(Inner { status, slug, detail, headers, members }))
    }

    /// The same problem, of something else than the request names.
    pub(crate) fn of(mut self, what: &str) -> Self {
        self.0.detail = format!("{what}: {}", self.0.detail);
        self
    }

    /// 400: the request cannot be understood.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// 400: the definition cannot be published.
    pub(crate) fn invalid_definition(errors: Vec<Value>) -> Self {
        let detail = match errors.len() {
            1 => "the definition has a problem: see validationErrors".to_owned(),
            count => format!("the definition has {count} problems: see validationErrors"),
        };
        Self::new(StatusCode::BAD_REQUEST, "invalid-definition", detail)
            .with("validationErrors", errors)
    }

    /// The errors of a definition that cannot be published.
    pub(crate) fn validation_errors(&self) -> Option<&Vec<Value>> {
        self.member("validationErrors").and_then(Value::as_array)
    }

    /// A further member.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.members.get(name)
    }

    /// 401: the caller is not known.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .header(WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey"))
    }

    /// 401: the token of the caller is no good (RFC 6750). The description has no quotes.
    pub(crate) fn invalid_token(description: &str) -> Self {
        let problem = Self::unauthorized(description);
        let challenge =
            format!("Bearer error=\"invalid_token\", error_description=\"{description}\"");
        match HeaderValue::from_str(&challenge) {
            Ok(challenge) => problem.header(WWW_AUTHENTICATE, challenge),
            Err(_) => problem,
        }
    }

    /// 403: the caller may not do this.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 404: it does not exist.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// 405: the path exists with other methods.
    pub(crate) fn method_not_allowed(method: &str, allowed: &[String]) -> Self {
        let allow = allowed.join(", ");
        let detail = format!("{method} is not allowed here: use {allow}");
        let problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail);
        match HeaderValue::from_str(&allow) {
            Ok(allow) => problem.header(ALLOW, allow),
            Err(_) => problem,
        }
    }

    /// 409: the change does not fit what exists now.
    pub(crate) fn conflict(slug: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, slug, detail)
    }

    /// 413: more bytes than allowed.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let detail = format!(
            "the body is larger than the {bytes_max} bytes that are allowed: keep a large value \
             or file with POST /elsa/api/payloads, and name it in its place; divide a definition \
             that is larger into several"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    /// 413: the body of a request to a workflow has more bytes than its endpoint, or the server, allows.
    pub(crate) fn request_too_large(bytes_max: usize, is_of_endpoint: bool) -> Self {
        let why = match is_of_endpoint {
            true => "by requestSizeLimit of this endpoint: send less, or have that limit raised",
            false => {
                "by the setting payload-bytes: divide it, or keep it elsewhere and name its address"
            }
        };
        let detail =
            format!("the body is larger than the {bytes_max} bytes that are allowed {why}");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    /// 413: what a form has in memory is larger than allowed, with this field.
    pub(crate) fn field_too_large(name: &str, bytes_max: usize) -> Self {
        let name: String = name.chars().take(100).collect();
        let detail = format!(
            "the fields of the form have more than {bytes_max} bytes: send {name:?} as a file, with \
             a filename"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "field-too-large", detail)
    }

    /// 413: a payload has more bytes than allowed.
    pub(crate) fn payload_too_large(bytes_max: usize) -> Self {
        let detail = format!(
            "the payload is larger than the {bytes_max} bytes that the setting payload-bytes \
             allows: divide it, or keep it elsewhere and name its address"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    /// 415: a body that is compressed.
    pub(crate) fn encoded(encoding: &str) -> Self {
        let shown: String = encoding.chars().take(50).collect();
        let detail = format!(
            "the body has Content-Encoding {shown:?}: send it as it is, without that header"
        );
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", detail)
    }

    /// 415: a body that is not JSON.
    pub(crate) fn unsupported(content_type: &str) -> Self {
        let detail =
            format!("the body is {content_type:?}: send JSON with Content-Type: application/json");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", detail)
    }

    /// 503 with `Retry-After`: the server is overloaded or stopping.
    pub(crate) fn overloaded(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail)
            .header(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS))
    }

    /// 503: the database or the broker does not answer.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            .header(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS))
    }

    /// 504: the request took too long.
    pub(crate) fn timeout(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail)
    }

    /// 500: a fault of this server. The log has the details; the caller does not get them.
    pub(crate) fn internal() -> Self {
        let detail = "something went wrong in the server; its log says what";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// Adds the number under which the log has the details.
    pub(crate) fn incident(mut self, number: &str) -> Self {
        self.0.detail =
            format!("something went wrong in the server; its log has incident {number}");
        self.with("incident", number)
    }

    /// Adds a member.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Whether it is of the kind with this name.
    pub(crate) fn is(&self, slug: &str) -> bool {
        self.0.slug == slug
    }

    /// The detail: the mistake, and its correction.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Its HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The problem that stands for a bare HTTP status.
    pub(crate) fn of_status(status: StatusCode, text: &str) -> Self {
        let reason = status.canonical_reason().unwrap_or("error");
        let slug = match status {
            StatusCode::BAD_REQUEST => "bad-request",
            StatusCode::NOT_FOUND => "not-found",
            StatusCode::METHOD_NOT_ALLOWED => "method-not-allowed",
            StatusCode::PAYLOAD_TOO_LARGE => "too-large",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported-media-type",
            StatusCode::REQUEST_TIMEOUT => "timeout",
            _ if status.is_client_error() => "bad-request",
            _ => "internal",
        };
        let text = text.trim();
        Self::new(status, slug, if text.is_empty() { reason } else { text })
    }

    /// Each mistake in a text of its own, which begins with its activity and property.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |error: &Value| {
            let text = |member: &str| error.get(member).and_then(Value::as_str);
            let message = text("message").unwrap_or_default();
            match (text("activityId"), text("property")) {
                (Some(activity), Some(property)) => {
                    format!("{activity}, property {property}: {message}")
                }
                (Some(place), None) | (None, Some(place)) => format!("{place}: {message}"),
                (None, None) => message.to_owned(),
            }
        };
        match self.validation_errors() {
            Some(errors) if !errors.is_empty() => errors.iter().map(text).collect(),
            _ => vec![self.0.detail.clone()],
        }
    }

    /// The answer, with the path of the request if it is known.
    pub(crate) fn respond(&self, instance: Option<String>) -> Response {
        let problem = &self.0;
        let body = ProblemBody {
            r#type: format!("urn:staunch:problem:{}", problem.slug),
            title: title(problem.slug),
            status: problem.status.as_u16(),
            detail: problem.detail.clone(),
            instance,
            errors: json!({"generalErrors": self.texts()}),
            members: problem.members.clone(),
        };
        let mut response = (problem.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        for (name, value) in &problem.headers {
            headers.insert(name.clone(), value.clone());
        }
        response
    }
}

/// `not-found` becomes `Not found`.
pub(crate) fn title(slug: &str) -> String {
    let mut words = slug.replace('-', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.respond(None);
        response.extensions_mut().insert(self);
        response
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Refused(reason) => Self::bad_request(reason),
            store::Error::Overloaded(_) => Self::overloaded(
                "the database has too much to do: try again in a moment, and send less at once",
            ),
            store::Error::Unavailable(reason) | store::Error::Absent(reason) => {
                tracing::warn!(reason, "the database is unavailable");
                Self::unavailable("the database does not answer: try again in a moment")
            }
            // The caller has done nothing wrong; the log tells the operator what to grant.
            store::Error::Denied(reason) => {
                tracing::error!(reason, "the database denies access to this server");
                Self::unavailable("the database does not let this server in: try again later")
            }
            store::Error::Corrupt(_) | store::Error::Schema(_) | store::Error::TooNew(_) => {
                tracing::error!(%error, "the database does not fit this server");
                Self::internal()
            }
        }
    }
}

impl From<catalog::Error> for Problem {
    fn from(error: catalog::Error) -> Self {
        match error {
            catalog::Error::Store(error) => error.into(),
            catalog::Error::Bus(error) => {
                tracing::warn!(%error, "the bus is unavailable");
                Self::unavailable("the message bus does not answer: try again in a moment")
            }
            catalog::Error::Broken { version_id, problems } => {
                let detail = format!(
                    "definition version {version_id} is stored and published, and does not \
                     compile here: publish it anew"
                );
                let problems = problems.iter().map(|problem| json!(problem)).collect::<Vec<_>>();
                Self::conflict("broken-definition", detail).with("validationErrors", problems)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_the_activity_and_the_property() {
        let said = |activity: Value, property: Value| {
            let error =
                json!({"activityId": activity, "property": property, "message": "give one"});
            Problem::invalid_definition(vec![error]).texts()
        };
        assert_eq!(said(json!("t"), json!("url")), ["t, property url: give one"]);
        assert_eq!(said(json!("t"), Value::Null), ["t: give one"]);
        assert_eq!(said(Value::Null, json!("name")), ["name: give one"]);
        assert_eq!(said(Value::Null, Value::Null), ["give one"]);
    }

    #[test]
    fn titles_are_the_slug_in_words() {
        assert_eq!(title("not-found"), "Not found");
        assert_eq!(title(""), "");
    }

    #[test]
    fn a_right_that_the_server_lacks_is_not_the_callers_fault() {
        let problem = Problem::from(store::Error::Denied("role weak".to_owned()));
        assert_eq!(problem.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(!problem.detail().contains("weak"), "{}", problem.detail());
    }

    #[test]
    fn a_bare_status_gets_a_reason() {
        let problem = Problem::of_status(StatusCode::NOT_FOUND, " ");
        assert_eq!(problem.detail(), "Not Found");
        assert_eq!(problem.status(), StatusCode::NOT_FOUND);
    }
}
