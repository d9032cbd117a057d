//! A request as the input of a workflow: `__HttpRequest`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use model::{Map, depth, endpoint, json, xml};
use serde_json::{Value, json as value};

use super::form::{self, Form};
use super::limits::{Limits, Received};
use super::template::decoded;
use crate::Problem;
use crate::body::{content_type, is_json};

/// Headers with credentials of callers: instances do not keep them.
const SECRETS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// The input of a start or resume by HTTP. A request that exceeds a limit is refused, unless the
/// workflow goes on with the outcome for it.
pub(super) fn input(
    parts: &Parts,
    path: &str,
    template: &str,
    values: Map,
    limits: &Limits,
    received: &Received,
) -> Result<Map, Problem> {
    let media_type = content_type(&parts.headers);
    let mut refusal = received.as_ref().err().cloned();
    let bytes = received.as_deref().unwrap_or_default();
    let (body, mut form) = content(&parts.headers, media_type.as_deref(), limits, bytes)?;
    if let Some(found) = limits.uploads.refusal(&form.files) {
        let problem = found.problem();
        refusal = Some(limits.exposed_or_refused(found, || problem)?);
        form.files.clear();
    }
    let mut request = value!({
        "method": parts.method.as_str(),
        "path": path,
        "template": template,
        "routeData": values,
        "query": query(parts.uri.query().unwrap_or_default()),
        "headers": headers(&parts.headers),
        "contentType": media_type,
        "body": body,
        "form": form.fields,
        "files": form.files,
    });
    if let Some(refusal) = refusal {
        request[endpoint::REFUSAL] = refusal.value();
    }
    let mut input = Map::new();
    input.insert("__HttpRequest".to_owned(), request);
    input.insert("HttpContext".to_owned(), Value::Bool(true));
    input.insert("Path".to_owned(), Value::String(path.to_owned()));
    Ok(input)
}

/// The content of a body: JSON as it is, a form as its fields, XML as a value if the endpoint wants
/// one, text as text, any other type in base64.
fn content(
    headers: &HeaderMap,
    media_type: Option<&str>,
    limits: &Limits,
    bytes: &[u8],
) -> Result<(Value, Form), Problem> {
    if bytes.is_empty() {
        return Ok((Value::Null, Form::default()));
    }
    match media_type {
        Some(media_type) if is_json(media_type) => {
            depth::check_json_value(bytes)
                .map_err(|flaw| Problem::bad_request(flaw.to_string()))?;
            json::check_integers(bytes)
                .map_err(|flaw| Problem::bad_request(format!("in the body, {flaw}")))?;
            let body = serde_json::from_slice(bytes)
                .map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
            Ok((body, Form::default()))
        }
        Some(media_type) if limits.reads_xml && xml::is_type(media_type) => {
            let text = std::str::from_utf8(bytes)
                .map_err(|error| Problem::bad_request(format!("the XML is not UTF-8: {error}")))?;
            let body = xml::value(text)
                .map_err(|flaw| Problem::bad_request(format!("the body is {flaw}")))?;
            Ok((body, Form::default()))
        }
        Some("application/x-www-form-urlencoded") => {
            let text = std::str::from_utf8(bytes)
                .map_err(|error| Problem::bad_request(format!("the form is not UTF-8: {error}")))?;
            Ok((Value::Null, Form { fields: query(text), files: Vec::new() }))
        }
        Some("multipart/form-data") => {
            let line = headers.get("content-type").and_then(|value| value.to_str().ok());
            Ok((Value::Null, form::multipart(line.unwrap_or_default(), bytes)?))
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok((Value::String(text.to_owned()), Form::default())),
            Err(_) => Ok((Value::String(form::base64(bytes)), Form::default())),
        },
    }
}

/// Names and values; a name that occurs several times has a list.
fn query(text: &str) -> Map {
    let mut values = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain = |text: &str| {
            let spaced = text.replace('+', " ");
            decoded(&spaced).unwrap_or(spaced)
        };
        form::add(&mut values, plain(name), Value::String(plain(value)));
    }
    values
}

/// Headers in their usual spelling, without credentials.
fn headers(headers: &HeaderMap) -> Map {
    let mut values = Map::new();
    for (name, value) in headers {
        if let (false, Ok(value)) = (SECRETS.contains(&name.as_str()), value.to_str()) {
            form::add(&mut values, usual(name), Value::String(value.to_owned()));
        }
    }
    values
}

/// `content-type` becomes `Content-Type`.
fn usual(name: &HeaderName) -> String {
    let mut out = String::with_capacity(name.as_str().len());
    let mut begins = true;
    for c in name.as_str().chars() {
        out.push(if begins { c.to_ascii_uppercase() } else { c });
        begins = c == '-';
    }
    out
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn seen(media_type: Option<&str>, body: &str) -> Result<Value, Problem> {
        seen_within(value!({}), media_type, body)
    }

    /// The request as an endpoint with this payload gets it.
    fn seen_within(payload: Value, media_type: Option<&str>, body: &str) -> Result<Value, Problem> {
        let mut request = Request::builder()
            .method("POST")
            .uri("/workflows/orders/7?a=1&b=2&b=x+%26y&c")
            .header("x-number", "1")
            .header("authorization", "ApiKey secret");
        if let Some(media_type) = media_type {
            request = request.header("content-type", media_type);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let mut values = Map::new();
        values.insert("id".to_owned(), value!("7"));
        let path = "/workflows/orders/7";
        let received = Ok(body.to_owned().into());
        let limits = Limits::of(&payload);
        let input = input(&parts, path, "/orders/{id}", values, &limits, &received)?;
        assert_eq!(input["HttpContext"], true);
        Ok(input["__HttpRequest"].clone())
    }

    #[test]
    fn a_request_is_what_a_workflow_reads() {
        let request = seen(Some("application/json; charset=utf-8"), r#"{"n": 1}"#).unwrap();
        assert_eq!(request["body"], value!({"n": 1}));
        assert_eq!(request["query"], value!({"a": "1", "b": ["2", "x &y"], "c": ""}));
        assert_eq!(request["headers"]["X-Number"], "1");
        assert!(request["headers"].get("Authorization").is_none());
        assert_eq!(request["routeData"], value!({"id": "7"}));
        assert_eq!(request["contentType"], "application/json");
    }

    #[test]
    fn bodies_are_read_by_their_type() {
        assert_eq!(seen(Some("text/plain"), "hi").unwrap()["body"], "hi");
        assert_eq!(seen(None, "hi").unwrap()["body"], "hi");
        assert_eq!(seen(None, "").unwrap()["body"], Value::Null);
        let form = seen(Some("application/x-www-form-urlencoded"), "a=1&b=%C3%A9").unwrap();
        assert_eq!((&form["form"], &form["body"]), (&value!({"a": "1", "b": "é"}), &Value::Null));
        let problem = seen(Some("application/json"), "{\n\"a\":}").unwrap_err();
        assert!(problem.detail().contains("line 2 column 5"), "{problem:?}");
    }

    #[test]
    fn xml_is_a_value_where_one_is_wanted() {
        let xml = "<order id=\"7\"><item>a</item></order>";
        assert_eq!(seen(Some("text/xml"), xml).unwrap()["body"], xml);
        let wants = || value!({"readsXml": true});
        let value = seen_within(wants(), Some("application/soap+xml"), xml).unwrap();
        assert_eq!(value["body"], value!({"order": {"@id": "7", "item": "a"}}));
        assert_eq!(seen_within(wants(), Some("text/plain"), xml).unwrap()["body"], xml);
        let problem = seen_within(wants(), Some("text/xml"), "<a>").unwrap_err();
        assert_eq!(problem.status(), 400);
        assert!(problem.detail().contains("the body is not XML that can be read"), "{problem:?}");
    }
}
