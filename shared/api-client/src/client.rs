//! Requests to one server.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::{Failure, Kind, text};

/// Longest wait for one answer, unless the caller sets a shorter one.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// The size limit of one answer, in bytes: a whole page of the largest instances is smaller.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Advice for a server that does not answer.
const HINT: &str = "start a server with `staunch dev`, or name another with --server";

/// A client of one server.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    server: String,
    /// The value of the header `Authorization`.
    authorization: Option<String>,
    answer_time_max: Duration,
    hint: &'static str,
}

/// The response to a request that succeeded.
#[derive(Debug)]
pub struct Response {
    /// A success.
    pub status: StatusCode,
    /// The body; a text if it is not JSON.
    pub body: Value,
    /// Why what was accepted waits (`X-Staunch-Detail`), if the server knows it.
    pub detail: Option<String>,
}

impl Client {
    /// A client of this server, with an API key if it requires one.
    ///
    /// # Errors
    /// When it is not a valid address.
    pub fn to(server: &str, api_key: Option<&str>) -> Result<Self, Failure> {
        Self::with(server, api_key.map(|key| format!("ApiKey {key}")))
    }

    /// A client of this server for somebody who sent this value of the header `Authorization`.
    ///
    /// # Errors
    /// When it is not a valid address.
    pub fn with(server: &str, authorization: Option<String>) -> Result<Self, Failure> {
        let server = server.trim_end_matches('/').to_owned();
        let url = reqwest::Url::parse(&server)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            return Err(Failure::usage(format!(
                "the server {server:?} is not an address: use one such as http://127.0.0.1:5001"
            )));
        };
        // A node closes a connection that is idle for longer, perhaps while a request is sent.
        let idle = model::limits::HEADERS_TIME_MAX / 2;
        let builder = roots::trusted_by(reqwest::Client::builder())
            .connect_timeout(Duration::from_secs(5))
            .pool_idle_timeout(idle);
        // A proxy cannot reach the loopback of this machine.
        let near = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let http = if near { builder.no_proxy() } else { builder }
            .build()
            .map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
        let (answer_time_max, hint) = (ANSWER_TIME_MAX, HINT);
        Ok(Self { http, server, authorization, answer_time_max, hint })
    }

    /// The same client with another longest wait, and other advice for a server that does not
    /// answer.
    pub fn with_patience(self, answer_time_max: Duration, hint: &'static str) -> Self {
        Self { answer_time_max, hint, ..self }
    }

    /// The address of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Sends a GET below `/elsa/api`.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.send(Method::GET, path, None, None).await?.body)
    }

    /// Sends a POST below `/elsa/api`.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Response, Failure> {
        self.send(Method::POST, path, Some(body), None).await
    }

    /// Sends a DELETE below `/elsa/api`.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn delete(&self, path: &str) -> Result<Response, Failure> {
        self.send(Method::DELETE, path, None, None).await
    }

    /// Sends a POST with an idempotency key: repeats have no second effect.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn post_once(
        &self,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Result<Response, Failure> {
        self.send(Method::POST, path, Some(body), Some(key)).await
    }

    /// Fetches an absolute address, like a person with a link.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn open(&self, url: &str) -> Result<Response, Failure> {
        let request = self.http.get(url).timeout(self.answer_time_max);
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        self.read(answer).await
    }

    /// Whether the server says that it is ready.
    pub async fn is_ready(&self) -> bool {
        self.open(&format!("{}/health/ready", self.server)).await.is_ok()
    }

    /// The metrics of the server, with the caller's API key.
    ///
    /// # Errors
    /// The server's refusal; unavailable if it does not answer.
    pub async fn metrics(&self) -> Result<Response, Failure> {
        let url = format!("{}/metrics", self.server);
        let mut request = self.http.get(url).timeout(self.answer_time_max);
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        self.read(answer).await
    }

    /// Sends a body of any size below `/elsa/api`, as it is read.
    ///
    /// # Errors
    /// The refusal of the server; unavailable if it does not answer.
    pub async fn upload(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: reqwest::Body,
    ) -> Result<Response, Failure> {
        let mut request = self.http.post(format!("{}/elsa/api{path}", self.server)).body(body);
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        self.read(answer).await
    }

    /// Opens an answer that goes on: its chunks are for the caller to read.
    ///
    /// # Errors
    /// The refusal of the server; unavailable if it does not answer.
    pub async fn follow(
        &self,
        path: &str,
        header: Option<(&str, &str)>,
    ) -> Result<reqwest::Response, Failure> {
        let mut request = self.http.get(format!("{}/elsa/api{path}", self.server));
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let sent = tokio::time::timeout(self.answer_time_max, request.send()).await;
        let answer = sent.map_err(|_elapsed| {
            let seconds = self.answer_time_max.as_secs();
            Failure::unavailable(format!("{}: no answer within {seconds} s", self.server))
        })?;
        let answer = answer.map_err(|error| self.silent(&error))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        match self.read(answer).await {
            Ok(response) => Err(Failure::failed(format!("the server answers {}", response.status))),
            Err(refusal) => Err(refusal),
        }
    }

    /// Asks the admin port of a process, or changes something there.
    ///
    /// # Errors
    /// The refusal of the process; unavailable if it does not answer.
    pub async fn admin(&self, path: &str, change: Option<&Value>) -> Result<Value, Failure> {
        let url = format!("{}{path}", self.server);
        let request = match change {
            Some(change) => self.http.put(url).json(change),
            None => self.http.get(url),
        };
        let mut request = request.timeout(self.answer_time_max);
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        Ok(self.read(answer).await?.body)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Response, Failure> {
        let url = format!("{}/elsa/api{path}", self.server);
        let mut request = self.http.request(method, url).timeout(self.answer_time_max);
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.map_err(|error| self.silent(&error))?;
        self.read(answer).await
    }

    async fn read(&self, answer: reqwest::Response) -> Result<Response, Failure> {
        let status = answer.status();
        let detail = answer.headers().get("x-staunch-detail");
        let detail = detail.and_then(|detail| Some(detail.to_str().ok()?.to_owned()));
        let bytes = self.whole(answer).await?;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).trim().to_owned()));
        if status.is_success() {
            Ok(Response { status, body, detail })
        } else {
            Err(refused(status, &body))
        }
    }

    /// The body, up to a limit.
    async fn whole(&self, mut answer: reqwest::Response) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| self.silent(&error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(Failure::failed(format!(
                    "{} answers with more than {ANSWER_BYTES_MAX} bytes; ask for less, as with --limit",
                    self.server
                )));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn silent(&self, error: &reqwest::Error) -> Failure {
        let why = if error.is_timeout() {
            format!("no answer within {} s", self.answer_time_max.as_secs())
        } else if let Some(reason) = tls_reason(error) {
            format!("there is no TLS with it: {reason}")
        } else if error.is_connect() {
            "nothing listens there".to_owned()
        } else {
            error.to_string()
        };
        Failure::unavailable(format!("{}: {why}; {}", self.server, self.hint))
    }
}

/// The reason why a TLS handshake failed; none if that is not what failed.
fn tls_reason(error: &reqwest::Error) -> Option<String> {
    let causes = successors(error.source(), |cause| Error::source(*cause));
    causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).find_map(|cause| {
        // An I/O error hides the error inside it from its sources.
        let mut inner =
            successors(cause.get_ref(), |inner| inner.downcast_ref::<io::Error>()?.get_ref());
        inner.find_map(|inner| inner.downcast_ref::<rustls::Error>()).map(ToString::to_string)
    })
}

/// A text as one segment of a path.
pub fn segment(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let each = |byte: u8| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(each).collect()
}

/// The failure for a refusal of the server.
fn refused(status: StatusCode, body: &Value) -> Failure {
    let kind = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Kind::NotFound,
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Kind::Conflict,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Kind::Forbidden,
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Kind::Unavailable,
        _ => Kind::Failed,
    };
    let said = ["detail", "message", "title"].into_iter().map(|name| text(body, name));
    let message = said.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| match body {
        Value::String(text) if !text.is_empty() => text.clone(),
        _ => format!("the server answers {status}"),
    });
    let hint = match status {
        StatusCode::UNAUTHORIZED => "; give an API key with --api-key or STAUNCH_API_KEY",
        _ => "",
    };
    // Clients of Elsa look for the message among the errors.
    let again = format!("generalErrors: {message}");
    let is_new = |problem: &String| *problem != again && !message.contains(problem.as_str());
    let details = problems(body).into_iter().filter(is_new).collect();
    let failure = Failure::new(kind, format!("{message}{hint}")).with(details);
    Failure { body: Some(Box::new(body.clone())), ..failure }
}

/// The problems of definitions that a body lists, and then the warnings: activity, property and
/// message.
pub fn findings(body: &Value) -> Vec<Value> {
    let lists = ["validationErrors", "validationWarnings"];
    let found = lists.into_iter().filter_map(|name| body.get(name).and_then(Value::as_array));
    found.flatten().cloned().collect()
}

/// Every problem that a body lists, one line each.
pub fn problems(body: &Value) -> Vec<String> {
    let lists = ["validationErrors", "errors", "problems"];
    let found = lists.into_iter().filter_map(|name| body.get(name));
    found.flat_map(each).collect()
}

fn each(problems: &Value) -> Vec<String> {
    match problems {
        Value::Array(items) => items.iter().map(problem).collect(),
        // FastEndpoints answers with lists of messages by field.
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(field, messages)| {
                let messages = messages.as_array().cloned().unwrap_or_default();
                messages.into_iter().map(move |message| format!("{field}: {}", problem(&message)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// One problem or warning.
pub fn problem(item: &Value) -> String {
    if let Value::String(text) = item {
        return text.clone();
    }
    let place = ["activityId", "property", "line"]
        .into_iter()
        .map(|name| (name, text(item, name)))
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, place)| match name {
            "activityId" => format!("activity {place}"),
            "line" => format!("line {place}, column {}", text(item, "column")),
            _ => place,
        })
        .collect::<Vec<_>>()
        .join(", ");
    match (place.as_str(), text(item, "message")) {
        (_, message) if message.is_empty() => item.to_string(),
        ("", message) => message,
        (place, message) => format!("{place}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let body = json!({"title": "Conflict", "detail": "the bookmark was resumed already"});
        let failure = refused(StatusCode::CONFLICT, &body);
        assert_eq!(failure.kind, Kind::Conflict);
        assert_eq!(failure.to_string(), "the bookmark was resumed already");
        let body = json!({"detail": "it cannot be used: no type", "problems": ["no type", "odd"]});
        let failure = refused(StatusCode::BAD_REQUEST, &body);
        assert_eq!(failure.details, ["odd"], "what the message has is not said twice");
        let failure = refused(StatusCode::SERVICE_UNAVAILABLE, &Value::Null);
        assert_eq!(failure.kind, Kind::Unavailable);
        assert!(failure.message.contains("503"), "{failure}");
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
            assert_eq!(refused(status, &Value::Null).kind, Kind::Forbidden);
        }
    }

    #[test]
    fn every_problem_gets_a_line() {
        let body = json!({"validationErrors": [
            {"activityId": "a1", "property": "text", "message": "unexpected end of script"},
            {"message": "no root"}, "plain"
        ]});
        let lines = problems(&body);
        assert_eq!(lines, ["activity a1, text: unexpected end of script", "no root", "plain"]);
        let lines = problems(&json!({"errors": {"input": ["too large"]}}));
        assert_eq!(lines, ["input: too large"]);
    }

    #[test]
    fn an_address_that_is_none_is_a_usage_error() {
        for server in ["", "localhost:5001", "ftp://x"] {
            let failure = Client::to(server, None).map(|_| ()).unwrap_err();
            assert_eq!(failure.kind, Kind::Usage, "{server}");
        }
    }
}
