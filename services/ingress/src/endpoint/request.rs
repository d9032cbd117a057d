//! A request as the input of a workflow: `__HttpRequest`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use model::media::{self, Charset};
use model::{Map, depth, endpoint, json, xml};
use serde_json::{Value, json as value};

use super::arrival::Arrived;
use super::form::{self, Form};
use super::limits::{Limits, Received};
use super::template::unescaped;
use crate::Problem;
use crate::body::content_type;

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
    received: Received,
) -> Result<Map, Problem> {
    let media_type = content_type(&parts.headers);
    let mut refusal = received.as_ref().err().cloned();
    let (body, mut form) = match received {
        Ok(Arrived::Bytes(bytes)) => {
            content(&parts.headers, media_type.as_deref(), limits, &bytes)?
        }
        Ok(Arrived::Form(form)) => (Value::Null, form),
        Ok(Arrived::Large(file)) => (file, Form::default()),
        Err(_) => (Value::Null, Form::default()),
    };
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
/// one, other text as text, any other type as a file.
fn content(
    headers: &HeaderMap,
    media_type: Option<&str>,
    limits: &Limits,
    bytes: &[u8],
) -> Result<(Value, Form), Problem> {
    if bytes.is_empty() {
        return Ok((Value::Null, Form::default()));
    }
    let line = headers.get("content-type").and_then(|value| value.to_str().ok());
    let coding = headers.get("content-encoding").and_then(|value| value.to_str().ok());
    let flawed = |flaw: media::Flaw| {
        Problem::bad_request(match coding {
            Some(coding) => {
                format!("the body is not text: send it without Content-Encoding {coding}")
            }
            None => format!("the body is {flaw}"),
        })
    };
    let Some(text) = media::text(line, bytes).map_err(flawed)? else {
        return Ok((file(headers, bytes), Form::default()));
    };
    let body = match media_type {
        Some(media_type) if media::is_json(media_type) => {
            depth::check_json_value(text.as_bytes())
                .map_err(|flaw| Problem::bad_request(flaw.to_string()))?;
            json::check_integers(text.as_bytes())
                .map_err(|flaw| Problem::bad_request(format!("in the body, {flaw}")))?;
            serde_json::from_str(&text)
                .map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?
        }
        Some(media_type) if limits.reads_xml && xml::is_type(media_type) => {
            xml::value(&text).map_err(|flaw| Problem::bad_request(format!("the body is {flaw}")))?
        }
        Some("application/x-www-form-urlencoded") => {
            let charset = Charset::of(line.unwrap_or_default(), bytes).map_err(flawed)?;
            let fields = pairs(&text, |bytes| Some(charset.decode(&bytes).ok()?.into_owned()));
            return Ok((Value::Null, Form { fields, files: Vec::new() }));
        }
        _ => Value::String(text.into_owned()),
    };
    Ok((body, Form::default()))
}

/// The name and the media type of a body as a file.
pub(crate) fn named(headers: &HeaderMap) -> (String, String) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let name = text("content-disposition").and_then(|line| media::parameter(line, "filename"));
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "file".to_owned());
    (name, text("content-type").unwrap_or("application/octet-stream").to_owned())
}

/// The body as a file.
fn file(headers: &HeaderMap, bytes: &[u8]) -> Value {
    let (name, content_type) = named(headers);
    value!({
        "fileName": name,
        "contentType": content_type,
        "size": bytes.len(),
        "content": form::base64(bytes),
    })
}

/// Names and values of a query.
fn query(text: &str) -> Map {
    pairs(text, |bytes| String::from_utf8(bytes).ok())
}

/// Names and values, of which `read` makes texts; a name that occurs several times has a list.
fn pairs(text: &str, read: impl Fn(Vec<u8>) -> Option<String>) -> Map {
    let mut values = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain = |text: &str| {
            let spaced = text.replace('+', " ");
            let escaped = spaced.contains('%').then(|| unescaped(&spaced).and_then(&read));
            escaped.flatten().unwrap_or(spaced)
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

    fn seen(media_type: Option<&str>, body: impl AsRef<[u8]>) -> Result<Value, Problem> {
        seen_within(value!({}), media_type, body)
    }

    /// The request as an endpoint with this payload gets it.
    fn seen_within(
        payload: Value,
        media_type: Option<&str>,
        body: impl AsRef<[u8]>,
    ) -> Result<Value, Problem> {
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
        let received = Ok(Arrived::Bytes(body.as_ref().to_vec().into()));
        let limits = Limits::of(&payload);
        let input = input(&parts, path, "/orders/{id}", values, &limits, received)?;
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

    #[test]
    fn a_body_is_a_file_if_its_type_is_no_text() {
        for media_type in ["application/octet-stream", "application/pdf", "image/png"] {
            let expected = value!({"fileName": "file", "contentType": media_type, "size": 2,
                "content": "aGk="});
            assert_eq!(seen(Some(media_type), "hi").unwrap()["body"], expected);
        }
        let unnamed = seen(None, b"\x00\xff").unwrap();
        assert_eq!(unnamed["body"]["content"], "AP8=", "no type, and no text");
        assert_eq!(unnamed["body"]["contentType"], "application/octet-stream");
    }

    #[test]
    fn text_is_read_in_its_charset() {
        let check = |media_type: &str, body: &[u8], expected: Value| {
            let request = seen_within(value!({"readsXml": true}), Some(media_type), body).unwrap();
            assert_eq!(request["body"], expected, "{media_type}");
        };
        check("text/plain; charset=iso-8859-1", b"caf\xe9", value!("café"));
        check("text/csv; charset=utf-16le", b"a\0,\0", value!("a,"));
        check("application/json; charset=windows-1252", b"{\"\x80\": 1}", value!({"€": 1}));
        let declared = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>";
        check("application/xml", declared, value!({"a": "é"}));
        check("text/xml; charset=iso-8859-1", b"<a>\xe9</a>", value!({"a": "é"}));
        let form = "application/x-www-form-urlencoded; charset=iso-8859-1";
        let form = seen(Some(form), b"a=%E9&b=\xe9+%").unwrap();
        assert_eq!(form["form"], value!({"a": "é", "b": "é %"}));
        for (media_type, said) in [
            ("text/plain; charset=klingon", "the charset \"klingon\", which is not known"),
            ("text/plain", "the body is not text in UTF-8"),
            ("application/json", "the body is not text in UTF-8"),
        ] {
            let problem = seen(Some(media_type), b"\xe9").unwrap_err();
            assert_eq!(problem.status(), 400, "{media_type}");
            assert!(problem.detail().contains(said), "{problem:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/plain".parse().unwrap());
        headers.insert("content-encoding", "gzip".parse().unwrap());
        let found = content(&headers, Some("text/plain"), &Limits::default(), b"\x1f\x8b\x08");
        let detail = found.unwrap_err().detail().to_owned();
        assert_eq!(detail, "the body is not text: send it without Content-Encoding gzip");
    }
}
