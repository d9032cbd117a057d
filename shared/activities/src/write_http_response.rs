//! WriteHttpResponse: answers the HTTP client that waits.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engine::{Activity, Decision, Descriptor, Failure, Next, Response, Step, Type};
use model::{Map, file, media};
use serde_json::Value;

use crate::called::{content, encoded};

/// The values of one header of a request, as HTTP joins them (RFC 9110, section 5.3).
pub(crate) const JOINED: &str = ", ";
/// The values of one header of an answer: those of `Set-Cookie` cannot be joined, and a line break is in
/// no value.
const LINES: &str = "\n";

/// `Elsa.WriteHttpResponse`
pub(crate) struct WriteHttpResponse;

impl Activity for WriteHttpResponse {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.WriteHttpResponse", "HTTP", "Answers the HTTP client that waits.")
            .called("HTTP Response")
            .input("statusCode", Type::StatusCode, "A code, or a name such as OK.")
            .default(200)
            .input(
                "content",
                Type::Object,
                "Text is sent as it is, a file as its bytes, anything else as JSON.",
            )
            .input("contentType", Type::String, "The Content-Type.")
            .input("responseHeaders", Type::Dictionary, "Header names and values.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let status = step.integer("statusCode")?.unwrap_or(200);
        let mut response = Response {
            status_code: u16::try_from(status).unwrap_or(200),
            headers: headers(step.object("responseHeaders")?, LINES),
            content_type: step.text("contentType")?,
            content: step.content("content")?,
            is_base64: false,
            payload: None,
        };
        if file::members(&response.content).is_some() {
            let file = content("content", &response.content)?;
            response.content_type = response.content_type.or(file.content_type);
            response.payload = file.payload;
            response.is_base64 = response.payload.is_none();
            response.content = match response.is_base64 {
                true => encoded(&file.bytes).into(),
                false => Value::Null,
            };
        } else if let Some(bytes) = in_charset(&response)? {
            response.content = encoded(&bytes).into();
            response.is_base64 = true;
        }
        if step.respond(response) { Ok(Next::done()) } else { Err(nobody_waits()) }
    }
}

/// The bytes of an answer whose media type names another charset than UTF-8.
fn in_charset(response: &Response) -> Result<Option<Vec<u8>>, Failure> {
    // What a secret is in becomes text when it is sent.
    if response.content.is_null() || engine::is_sealed(&response.content) {
        return Ok(None);
    }
    let text = match &response.content {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    };
    match media::bytes(response.content_type.as_deref(), &text) {
        Ok(Cow::Owned(bytes)) => Ok(Some(bytes)),
        Ok(Cow::Borrowed(_)) => Ok(None),
        Err(flaw) => Err(Failure::input("contentType", flaw.to_string())),
    }
}

/// The failure of an answer that nobody waits for.
pub(crate) fn nobody_waits() -> Failure {
    let message = "no HTTP client waits for an answer: answer in the burst that the request \
                   starts or resumes, and only once";
    Failure::new("NoHttpContext", message).in_category("HTTP")
}

/// Header values as text; several of one header with this between them. A header without any is left out.
pub(crate) fn headers(map: Map, between: &str) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let all = |value: Value| match value {
        Value::Array(items) => items.into_iter().map(text).collect::<Vec<_>>().join(between),
        other => text(other),
    };
    let given =
        map.into_iter().filter(|(_, value)| value.as_array().is_none_or(|all| !all.is_empty()));
    given.map(|(name, value)| (name, all(value))).collect()
}
