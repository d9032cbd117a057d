//! Forms with files: `multipart/form-data` (RFC 7578). Small parts are read into memory, large files
//! go to payloads as they arrive.

use std::error::Error;

use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{Stream, StreamExt as _, stream};
use model::media::{self, Charset, parameter};
use model::{Map, file};
use multer::{Field, Multipart};
use payloads::Payloads;
use serde_json::{Value, json};

use crate::{Problem, body};

/// The largest number of parts of one form.
const PARTS_MAX: usize = 1_000;

/// The content of a form.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Form {
    /// Fields by name.
    pub(crate) fields: Map,
    /// Files, as in `model::file`.
    pub(crate) files: Vec<Value>,
}

/// Reads a form with the boundary of the content type.
pub(crate) async fn multipart<E>(
    content_type: &str,
    body: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    limits: &FormLimits<'_>,
) -> Result<Form, Problem>
where
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
{
    let boundary = parameter(content_type, "boundary")
        .ok_or_else(|| Problem::bad_request("the multipart form has no boundary"))?;
    let mut parts = Multipart::new(body, boundary);
    let mut form = Form::default();
    let mut left = limits.memory_max;
    for _ in 0..PARTS_MAX {
        let next = parts.next_field().await;
        let Some(field) = next.map_err(|error| broken(&error, limits))? else { return Ok(form) };
        left = part(&mut form, field, left, limits).await?;
    }
    Err(Problem::bad_request(format!("the multipart form has more than {PARTS_MAX} parts")))
}

/// The limits of a form.
pub(crate) struct FormLimits<'l> {
    /// Where large files rest; a form without it is read into memory as a whole.
    pub(crate) payloads: Option<&'l Payloads>,
    /// Bytes of all fields and files in memory.
    pub(crate) memory_max: usize,
    /// Bytes of the whole body, for the problem of a larger one.
    pub(crate) body_max: usize,
}

/// The problem of a form that cannot be read to its end.
fn broken(error: &multer::Error, limits: &FormLimits<'_>) -> Problem {
    match error {
        multer::Error::StreamReadFailed(cause) => body::unread(&**cause, limits.body_max),
        _ => Problem::bad_request("the multipart form is broken off or malformed"),
    }
}

/// Adds a part to the form; returns how many bytes may still be read into memory.
async fn part(
    form: &mut Form,
    mut field: Field<'static>,
    left: usize,
    limits: &FormLimits<'_>,
) -> Result<usize, Problem> {
    let line = |name: &HeaderName| {
        let value = field.headers().get(name.as_str());
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let disposition = line(&CONTENT_DISPOSITION).unwrap_or_default();
    let content_type = line(&CONTENT_TYPE);
    let name = parameter(&disposition, "name")
        .ok_or_else(|| Problem::bad_request("a part of the multipart form has no name"))?;
    let file_name = parameter(&disposition, "filename");
    let mut bytes = Vec::new();
    while let Some(more) = field.chunk().await.map_err(|error| broken(&error, limits))? {
        bytes.extend_from_slice(&more);
        if bytes.len() <= left {
            continue;
        }
        let (Some(file_name), Some(payloads)) = (&file_name, limits.payloads) else {
            return Err(match limits.payloads {
                Some(_) => Problem::field_too_large(&name, limits.memory_max),
                None => Problem::too_large(limits.memory_max),
            });
        };
        let begin = stream::iter([Ok(Bytes::from(bytes))]);
        let kept = payloads.keep(begin.chain(field)).await;
        let kept = kept.map_err(|error| unkept(error, limits.body_max))?;
        let kind = content_type.as_deref().unwrap_or("application/octet-stream");
        let mut file = file::large(file_name, kind, kept.size, &kept.hash);
        file["name"] = json!(name);
        form.files.push(file);
        return Ok(left);
    }
    let left = left - bytes.len();
    match file_name {
        // Browsers send a field for files that has none as a file without a name.
        Some(file_name) if !file_name.is_empty() || !bytes.is_empty() => form.files.push(json!({
            "name": name,
            "fileName": file_name,
            "contentType": content_type,
            "size": bytes.len(),
            "content": base64(&bytes),
        })),
        _ => {
            let flawed = |flaw: media::Flaw| {
                Problem::bad_request(format!("the part {name:?} of the multipart form is {flaw}"))
            };
            let charset = Charset::of(content_type.as_deref().unwrap_or_default(), &bytes);
            let text = charset.and_then(|charset| charset.decode(&bytes)).map_err(flawed)?;
            add(&mut form.fields, name.clone(), Value::String(text.into_owned()));
        }
    }
    Ok(left)
}

/// The problem of a body that was not kept as a payload.
pub(crate) fn unkept(error: payloads::Error, body_max: usize) -> Problem {
    match error {
        payloads::Error::Store(error) => error.into(),
        payloads::Error::Source(cause) => match cause.downcast::<multer::Error>() {
            Ok(error) => broken(&error, &FormLimits { payloads: None, memory_max: 0, body_max }),
            Err(cause) => body::unread(&*cause, body_max),
        },
        payloads::Error::TooLarge(max) | payloads::Error::TooLargeToLoad(max) => {
            Problem::too_large(usize::try_from(max).unwrap_or(usize::MAX))
        }
        payloads::Error::Place(..) => {
            tracing::warn!(%error, "a payload cannot be read or written");
            Problem::unavailable(
                "the place where payloads rest does not answer: try again in a moment",
            )
        }
        payloads::Error::Unplaced(..) => Problem::unavailable(error.to_string()),
        payloads::Error::Absent(_) => Problem::not_found(error.to_string()),
        payloads::Error::Damaged(_) => {
            tracing::error!(%error, "a payload cannot be read");
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string())
        }
    }
}

/// Adds a value; a name that has a value already gets a list.
pub(super) fn add(values: &mut Map, name: String, value: Value) {
    match values.get_mut(&name) {
        None => {
            values.insert(name, value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(first) => *first = json!([first.take(), value]),
    }
}

/// Standard base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn multipart(content_type: &str, bytes: &[u8]) -> Result<Form, Problem> {
        let limits = FormLimits { payloads: None, memory_max: 1_000, body_max: 2_000 };
        let body =
            bytes.chunks(7).map(|part| Ok::<_, std::io::Error>(Bytes::copy_from_slice(part)));
        let body = stream::iter(body.collect::<Vec<_>>());
        super::multipart(content_type, body, &limits).await
    }

    const TYPE: &str = "multipart/form-data; boundary=\"x y\"";

    #[tokio::test]
    async fn fields_and_files_are_told_apart() {
        let body = "preamble\r\n--x y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
            --x y\r\ncontent-disposition: form-data; name=\"f\"; filename=\"t.txt\"\r\n\
            Content-Type: text/plain\r\n\r\nh\r\ni\r\n--x y--\r\n";
        let form = multipart(TYPE, body.as_bytes()).await.unwrap();
        assert_eq!(Value::Object(form.fields), json!({"a": "one"}));
        assert_eq!(
            form.files,
            [json!({"name": "f", "fileName": "t.txt", "contentType": "text/plain", "size": 4,
                "content": base64(b"h\r\ni")})]
        );
    }

    #[tokio::test]
    async fn a_field_without_a_file_is_no_file() {
        let body = "--x y\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\r\n--x y--\r\n";
        let form = multipart(TYPE, body.as_bytes()).await.unwrap();
        assert_eq!((Value::Object(form.fields), form.files), (json!({"f": ""}), Vec::new()));
    }

    #[tokio::test]
    async fn fields_are_read_in_their_charset() {
        let field = async |content_type: &str, value: &[u8]| {
            let head = "--x y\r\nContent-Disposition: form-data; name=\"a\"\r\n";
            let head = format!("{head}Content-Type: {content_type}\r\n\r\n");
            multipart(TYPE, &[head.as_bytes(), value, b"\r\n--x y--\r\n"].concat()).await
        };
        let form = field("text/plain; charset=iso-8859-1", b"caf\xe9").await.unwrap();
        assert_eq!(form.fields["a"], "café");
        for (content_type, said) in
            [("text/plain", "not text in UTF-8"), ("text/plain; charset=klingon", "not known")]
        {
            let problem = field(content_type, b"caf\xe9").await.unwrap_err();
            assert!(problem.detail().contains(said), "{problem:?}");
        }
    }

    #[tokio::test]
    async fn broken_forms_are_problems() {
        for body in ["", "--x y", "--x y\r\nno end", "--x y\r\n\r\n\r\nx\r\n--x y--"] {
            assert!(multipart(TYPE, body.as_bytes()).await.is_err(), "{body:?}");
        }
        assert!(multipart("multipart/form-data", b"").await.is_err());
    }
}
