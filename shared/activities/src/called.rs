//! What the activities that ask for a call share: the failure of a call, and files in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{Failure, Step, Type};
use model::{Map, PayloadHash, file, xml};
use serde_json::{Value, json};

/// The failure of a call, if it has no result. Its code begins with the name, such as `SqlTimeout`.
pub(crate) fn failure(input: &Map, name: &str) -> Option<Failure> {
    let kind = input.get("error").and_then(Value::as_str)?;
    let message = input.get("message").and_then(Value::as_str).unwrap_or(kind);
    let code = match kind {
        "timeout" => "Timeout",
        "refused" => "Refused",
        "connect" => "Connect",
        _ => "Failed",
    };
    let message = match input.get("code").and_then(Value::as_str) {
        Some(theirs) => format!("{theirs}: {message}"),
        None => message.to_owned(),
    };
    Some(Failure::new(&format!("{name}{code}"), message).in_category(name))
}

/// Whether an output goes where XML is of use as a value, not as text.
pub(crate) fn wants_value(step: &Step<'_, '_>, output: &str) -> bool {
    matches!(step.bound_type(output), Some(Type::Object | Type::Json | Type::Dictionary))
}

/// The content of an answer: XML as a value if the output wants one, anything else as it is.
///
/// # Errors
/// [`Failure`] when the XML cannot be read.
pub(crate) fn read_xml(
    step: &Step<'_, '_>,
    output: &str,
    content: Value,
    headers: &Value,
) -> Result<Value, Failure> {
    let media_type = headers.get("content-type").and_then(Value::as_str).unwrap_or_default();
    let is_xml = xml::is_type(media_type.split(';').next().unwrap_or_default());
    match &content {
        Value::String(text) if is_xml && wants_value(step, output) => {
            let invalid = |flaw: xml::Flaw| {
                let message = format!(
                    "the answer is {flaw}; a variable of type String gets the text as it is"
                );
                Failure::new("InvalidXml", message).in_category("HTTP")
            };
            xml::value(text).map_err(invalid)
        }
        _ => Ok(content),
    }
}

/// Bytes, with what is known about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
    /// The payload with the bytes, in their place: the content of a large file.
    pub(crate) payload: Option<PayloadHash>,
}

/// The bytes that a value stands for: a file as an endpoint gives it (`{fileName, contentType,
/// content}`, the content in base64), or text, or JSON. A large file has a payload in the place of its
/// bytes: where those are needed, load the value first.
///
/// # Errors
/// [`Failure`] when the content of a file is not base64, or a secret is in it.
pub(crate) fn content(property: &str, value: &Value) -> Result<Content, Failure> {
    if engine::is_sealed(value) {
        let reason = "a value that is made of a secret cannot become a file: its bytes would be \
                      kept in clear; send it with a call";
        return Err(Failure::input(property, reason));
    }
    if let Some(file) = file::members(value) {
        let text = |name: &str| file::text(file, name).map(str::to_owned);
        let encoded = file::text(file, "content").unwrap_or_default();
        let bytes = STANDARD.decode(encoded.trim()).map_err(|error| {
            Failure::input(property, format!("the content of a file is not base64: {error}"))
        })?;
        let file_name = text("fileName").or_else(|| text("name"));
        let (content_type, payload) = (text("contentType"), file::payload(file));
        return Ok(Content { bytes, file_name, content_type, payload });
    }
    let bytes = match value {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    };
    Ok(Content { bytes, ..Content::default() })
}

/// A file as JSON.
pub(crate) fn file_value(file_name: &str, content_type: &str, bytes: &[u8]) -> Value {
    json!({
        "fileName": file_name, "contentType": content_type, "size": bytes.len(),
        "content": encoded(bytes)
    })
}

/// Standard base64.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_for_bytes() {
        let bytes = |value: Value| content("x", &value).unwrap().bytes;
        assert_eq!(bytes(json!("é")), "é".as_bytes());
        assert_eq!(bytes(json!({"a": 1})), br#"{"a":1}"#);
        assert_eq!(bytes(json!({"content": "aGk="})), br#"{"content":"aGk="}"#, "no file");
        let file = content("x", &file_value("a.bin", "x/y", &[0, 255])).unwrap();
        assert_eq!((file.bytes, file.file_name.as_deref()), (vec![0, 255], Some("a.bin")));
        let sealed = json!({"key": format!("k={{sealed:{}}}", "Ab-_".repeat(10))});
        assert!(content("x", &sealed).unwrap_err().message.contains("secret"));
        let wrong = json!({"fileName": "a", "content": "?"});
        assert!(content("x", &wrong).unwrap_err().message.contains("not base64"));
    }

    #[test]
    fn failures_have_codes() {
        let of = |input: Value| failure(input.as_object().unwrap(), "Sql").map(|found| found.code);
        assert_eq!(of(json!({"error": "timeout"})).as_deref(), Some("SqlTimeout"));
        assert_eq!(of(json!({"error": "failed", "code": "23505"})).as_deref(), Some("SqlFailed"));
        assert_eq!(of(json!({"rows": []})), None);
    }
}
