//! HTTP requests. The client follows redirects itself, so that the guard checks each hop.

mod body;
mod redirect;

use std::error::Error as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{Request, SecretParts};
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::{Map, depth, limits, media};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};

use crate::calls::{CallEnd, ErrorKind, with_cause};
use crate::depot::{Content, Depot};
use crate::files_left;
use crate::guard::{Forbidden, Guard, Hosts, Names, Resolver, SystemNames};

use body::{Body, Segments};

/// The number of redirects that are followed.
const REDIRECTS_MAX: usize = 5;
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// The media type of an answer that names none.
const UNKNOWN: &str = "application/octet-stream";

/// Sends HTTP requests.
pub(crate) struct Http {
    guard: Guard,
    depot: Depot,
    /// The client, or the reason why there is none, such as certificates that cannot be read.
    client: Result<Client, String>,
}

/// A request between two hops.
struct Hop {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Option<Segments>,
    /// The parts that stay at the origin that they were sent to.
    secret: SecretParts,
}

impl Http {
    /// A client that calls only addresses that the guard allows.
    pub(crate) fn new(guard: Guard, depot: Depot) -> Self {
        Self::over(guard, depot, Resolver(guard, SystemNames))
    }

    /// A client that checks URLs with the guard, and looks names up with the resolver.
    fn over(guard: Guard, depot: Depot, resolver: Resolver<impl Names>) -> Self {
        // The first provider that is installed in a process stays; ours are all the same.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = roots::trusted_by(Client::builder())
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIME_MAX)
            .user_agent(concat!("staunch/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(resolver)
            .build();
        Self { guard, depot, client: client.map_err(|error| explain(&error)) }
    }

    /// Sends the request to one of these hosts, or to any if none are named, and reads the whole
    /// answer.
    pub(crate) async fn send(
        &self,
        request: &Request,
        key: &str,
        traceparent: Option<&str>,
        hosts: Option<&Hosts>,
    ) -> CallEnd {
        match self.go(request, key, traceparent, hosts).await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn go(
        &self,
        call: &Request,
        key: &str,
        traceparent: Option<&str>,
        hosts: Option<&Hosts>,
    ) -> Result<CallEnd, CallEnd> {
        let client = self.client.as_ref().map_err(|reason| {
            CallEnd::error(ErrorKind::Connect, format!("there is no HTTP client: {reason}"))
        })?;
        let mut hop =
            Hop::first(call, key, traceparent).map_err(|Forbidden(reason)| refuse(reason))?;
        for _ in 0..=REDIRECTS_MAX {
            self.guard.check(&hop.url).map_err(|Forbidden(reason)| refuse(reason))?;
            if let Some(hosts) = hosts {
                hosts.check(&hop.url).map_err(|Forbidden(reason)| refuse(reason))?;
            }
            let mut request =
                client.request(hop.method.clone(), hop.url.clone()).headers(hop.headers.clone());
            if let Some(body) = &hop.body {
                let (body, bytes) = body.read(&self.depot).await.map_err(unkept)?;
                request = request.header(CONTENT_LENGTH, bytes).body(body);
            }
            let response = request.send().await.map_err(|error| failed(&error))?;
            match hop.redirected(&response).map_err(CallEnd::refused)? {
                Some(next) => hop = next,
                None => return read(&self.depot, response, call.as_file).await,
            }
        }
        Err(CallEnd::refused(format!("{} redirects more than {REDIRECTS_MAX} times", call.url)))
    }
}

impl Hop {
    fn first(call: &Request, key: &str, traceparent: Option<&str>) -> Result<Self, Forbidden> {
        let url = Url::parse(&call.url)
            .map_err(|error| Forbidden(format!("{:?} is not a URL: {error}", call.url)))?;
        let method = Method::from_bytes(call.method.as_bytes())
            .map_err(|error| Forbidden(format!("{:?} is not a method: {error}", call.method)))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &call.headers {
            set(&mut headers, name, value)?;
        }
        let body = Body::of(call, key)?;
        let given = call.content_type.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(body) = &body {
            let named = body.exact.as_deref().or(given);
            if named.is_some() || !headers.contains_key(CONTENT_TYPE) {
                set(&mut headers, CONTENT_TYPE.as_str(), named.unwrap_or(&body.usual))?;
            }
        }
        let body = body.map(|body| body.segments);
        set(&mut headers, "idempotency-key", key)?;
        if let Some(traceparent) = traceparent {
            set(&mut headers, "traceparent", traceparent)?;
        }
        headers.remove(HOST);
        headers.remove(CONTENT_LENGTH);
        Ok(Self { url, method, headers, body, secret: call.secret.clone() })
    }
}

fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Forbidden> {
    let name = HeaderName::from_bytes(name.as_bytes())
        .map_err(|error| Forbidden(format!("{name:?} is not a header name: {error}")))?;
    let value = HeaderValue::from_str(value)
        .map_err(|error| Forbidden(format!("header {name} has an impossible value: {error}")))?;
    headers.insert(name, value);
    Ok(())
}

async fn read(depot: &Depot, mut response: Response, as_file: bool) -> Result<CallEnd, CallEnd> {
    let status_code = response.status().as_u16();
    let headers = readable(response.headers());
    let about = About::of(&response);
    let is_file = as_file || !about.is_text();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        let is_large = body.len() + chunk.len() > depot.inline_max();
        if is_file && is_large && depot.keeps() {
            body.extend_from_slice(&chunk);
            let content = Content::Large(body, response.bytes_stream());
            let kept = depot.file_of(&about.name, &about.content_type, content).await;
            let content = kept.map_err(unkept)?;
            return Ok(CallEnd::Response { status_code, headers, content });
        }
        if body.len() + chunk.len() > limits::CALL_RESPONSE_BYTES_MAX {
            return Err(CallEnd::refused(format!(
                "the answer of {} has more than the {} bytes that are read",
                response.url(),
                limits::CALL_RESPONSE_BYTES_MAX
            )));
        }
        body.extend_from_slice(&chunk);
    }
    let content = if as_file {
        about.file(body)
    } else if body.is_empty() {
        Value::Null
    } else {
        about.value(body).map_err(refuse)?
    };
    Ok(CallEnd::Response { status_code, headers, content })
}

/// What an answer says about its body.
struct About {
    /// The name of the body as a file: from the answer, or its URL.
    name: String,
    content_type: String,
    /// The URL that has answered.
    url: String,
}

impl About {
    fn of(response: &Response) -> Self {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let named = header(CONTENT_DISPOSITION).and_then(|text| {
            let (_, name) = text.split_once("filename=")?;
            let name = name.split(';').next().unwrap_or_default().trim().trim_matches('"');
            Some(name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
        });
        let last = || response.url().path_segments()?.next_back().map(str::to_owned);
        let name = named.filter(|name| !name.is_empty()).or_else(last);
        Self {
            name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "file".to_owned()),
            content_type: header(CONTENT_TYPE).unwrap_or(UNKNOWN).to_owned(),
            url: response.url().to_string(),
        }
    }

    /// The body is text, as far as its media type tells.
    fn is_text(&self) -> bool {
        !matches!(media::text(Some(&self.content_type), b""), Ok(None))
    }

    /// The body as its media type says: JSON parsed, text, or a file. What should be text and is none
    /// is a file too: the other side's mistake about its charset is no failure of the call, and loses
    /// nothing.
    fn value(&self, body: Vec<u8>) -> Result<Value, String> {
        let kind = Some(self.content_type.as_str()).filter(|kind| *kind != UNKNOWN);
        let Ok(Some(text)) = media::text(kind, &body) else { return Ok(self.file(body)) };
        if !kind.and_then(media::essence).is_some_and(|kind| media::is_json(&kind)) {
            return Ok(text.into());
        }
        model::json::check_integers(text.as_bytes())
            .map_err(|flaw| format!("in the answer of {}, {flaw}", self.url))?;
        depth::check_json_value(text.as_bytes())
            .map_err(|error| format!("the answer of {}: {error}", self.url))?;
        Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.into()))
    }

    fn file(&self, body: Vec<u8>) -> Value {
        json!({
            "fileName": self.name,
            "contentType": self.content_type,
            "size": body.len(),
            "content": STANDARD.encode(body),
        })
    }
}

/// The end of a call whose large content could not be had or kept.
fn unkept(error: payloads::Error) -> CallEnd {
    match error {
        payloads::Error::Store(_) | payloads::Error::Place(..) => {
            CallEnd::error(ErrorKind::Failed, error.to_string())
        }
        payloads::Error::Source(error) => CallEnd::error(ErrorKind::Connect, error.to_string()),
        error => CallEnd::refused(error.to_string()),
    }
}

fn readable(headers: &HeaderMap) -> Map {
    let mut map = Map::new();
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let mut values: Vec<Value> = values.map(|value| text(value).into()).collect();
        // As an endpoint gives them: a header that is there twice is a list.
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        map.insert(name.to_string(), value);
    }
    map
}

fn refuse(reason: String) -> CallEnd {
    CallEnd::refused(reason)
}

fn failed(error: &reqwest::Error) -> CallEnd {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(Forbidden(reason)) = inner.downcast_ref::<Forbidden>() {
            return CallEnd::refused(reason.clone());
        }
        source = inner.source();
    }
    let kind = match (files_left::is_lack(error), error.is_timeout()) {
        (true, _) => ErrorKind::Exhausted,
        (false, true) => ErrorKind::Timeout,
        (false, false) => ErrorKind::Connect,
    };
    CallEnd::error(kind, explain(error))
}

/// The texts of an error and of all its causes: the library's outermost error alone says little.
fn explain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        with_cause(&mut text, inner);
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
