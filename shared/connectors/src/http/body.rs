//! The body of a request: text, JSON, a form, a form with files, or the bytes of a file.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use engine::Request;
use futures::{StreamExt as _, stream};
use model::{PayloadHash, file, media};
use payloads::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::depot::Depot;
use crate::guard::Forbidden;

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";
/// Parts of one form.
const PARTS_MAX: usize = 1_000;
/// The characters that a form writes as they are.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// Bytes to send.
pub(super) struct Body {
    pub(super) segments: Segments,
    /// Their media type, if the headers of the request name none.
    pub(super) usual: String,
    /// Their media type, whatever the request names.
    pub(super) exact: Option<String>,
}

/// The bytes of a body in order; those of large files are read when it is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Segments(Vec<Segment>);

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Bytes(Vec<u8>),
    Payload(PayloadHash),
}

impl Segments {
    fn add(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Segment::Bytes(last)) => last.extend_from_slice(bytes),
            _ => self.0.push(Segment::Bytes(bytes.to_vec())),
        }
    }

    fn append(&mut self, others: Self) {
        for other in others.0 {
            match other {
                Segment::Bytes(bytes) => self.add(&bytes),
                payload => self.0.push(payload),
            }
        }
    }

    /// The body for one request, and its length in bytes.
    pub(super) async fn read(
        &self,
        depot: &Depot,
    ) -> Result<(reqwest::Body, u64), payloads::Error> {
        if let [Segment::Bytes(bytes)] = self.0.as_slice() {
            return Ok((bytes.clone().into(), bytes.len() as u64));
        }
        let mut length = 0;
        let mut whole: Parts = stream::empty().boxed();
        for segment in &self.0 {
            let (size, parts) = match segment {
                Segment::Bytes(bytes) => {
                    let once = stream::iter([Ok(Bytes::from(bytes.clone()))]);
                    (bytes.len() as u64, once.boxed())
                }
                Segment::Payload(hash) => depot.open(hash).await?,
            };
            length += size;
            whole = whole.chain(parts).boxed();
        }
        Ok((reqwest::Body::wrap_stream(whole), length))
    }
}

impl From<Vec<u8>> for Segments {
    fn from(bytes: Vec<u8>) -> Self {
        Self(vec![Segment::Bytes(bytes)])
    }
}

impl Body {
    fn new(segments: impl Into<Segments>, usual: &str) -> Self {
        Self { segments: segments.into(), usual: usual.to_owned(), exact: None }
    }

    /// The body of the request; none without content.
    pub(super) fn of(request: &Request, key: &str) -> Result<Option<Self>, Forbidden> {
        let named = request.content_type.as_deref().unwrap_or_default().trim();
        let is = |kind: &str| {
            named.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
        };
        Ok(Some(match &request.content {
            Value::Null => return Ok(None),
            Value::String(text) => Self::new(written(named, text)?, "text/plain; charset=utf-8"),
            Value::Object(fields) if is(FORM) => {
                let fields = fields.iter().flat_map(|(name, value)| {
                    each(value).into_iter().map(move |value| (name.as_str(), value))
                });
                Self::new(form(fields).into_bytes(), FORM)
            }
            Value::Object(fields) if is(MULTIPART) => {
                let boundary = model::derived(&["boundary", key]);
                let mut body = Segments::default();
                let mut parts = 0;
                for (name, value) in fields {
                    for value in each(value) {
                        parts += 1;
                        part(&mut body, &boundary, name, value)?;
                    }
                }
                if parts > PARTS_MAX {
                    return Err(Forbidden(format!("the form has more than {PARTS_MAX} parts")));
                }
                body.add(format!("--{boundary}--\r\n").as_bytes());
                let exact = Some(format!("{MULTIPART}; boundary={boundary}"));
                Self { exact, ..Self::new(body, MULTIPART) }
            }
            value => match file::members(value) {
                Some(file) => {
                    let usual = file::text(file, "contentType");
                    Self::new(bytes(file)?, usual.unwrap_or("application/octet-stream"))
                }
                None => Self::new(written(named, &value.to_string())?, "application/json"),
            },
        }))
    }
}

/// A text in the charset that the media type names.
fn written(content_type: &str, text: &str) -> Result<Vec<u8>, Forbidden> {
    let bytes = media::bytes(Some(content_type), text).map(Cow::into_owned);
    bytes.map_err(|flaw| Forbidden(format!("the content cannot be sent as {content_type}: {flaw}")))
}

/// The values of a field: those of a list, or the one.
fn each(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn form<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, &PLAIN).to_string().replace("%20", "+");
    let pairs: Vec<_> = fields
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(&text(value))))
        .collect();
    pairs.join("&")
}

fn part(body: &mut Segments, boundary: &str, name: &str, value: &Value) -> Result<(), Forbidden> {
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name={}", quoted(name));
    let bytes = match file::members(value) {
        Some(file) => {
            let file_name = file::text(file, "fileName").unwrap_or("file");
            let kind = file::text(file, "contentType").unwrap_or("application/octet-stream");
            if kind.chars().any(char::is_control) {
                return Err(Forbidden(format!("{kind:?} is not a media type")));
            }
            head.push_str(&format!("; filename={}\r\nContent-Type: {kind}", quoted(file_name)));
            bytes(file)?
        }
        None => text(value).into_bytes().into(),
    };
    body.add(head.as_bytes());
    body.add(b"\r\n\r\n");
    body.append(bytes);
    body.add(b"\r\n");
    Ok(())
}

/// A name in quotes, as browsers write it.
fn quoted(name: &str) -> String {
    let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    format!("\"{name}\"")
}

fn bytes(file: &model::Map) -> Result<Segments, Forbidden> {
    if let Some(hash) = file::payload(file) {
        return Ok(Segments(vec![Segment::Payload(hash)]));
    }
    let content = file::text(file, "content").unwrap_or_default();
    STANDARD
        .decode(content.trim())
        .map(Segments::from)
        .map_err(|error| Forbidden(format!("the content of a file is not base64: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn whole(body: &Body) -> Vec<u8> {
        let [Segment::Bytes(bytes)] = body.segments.0.as_slice() else { panic!("one segment") };
        bytes.clone()
    }

    fn body(content_type: &str, content: Value) -> Body {
        let content_type = Some(content_type.to_owned());
        let request = Request { content_type, content, ..Request::default() };
        Body::of(&request, "k").ok().flatten().unwrap()
    }

    #[test]
    fn an_object_becomes_a_form() {
        let form = body(FORM, json!({"a b": "ü&=+", "n": 1, "l": ["x", "y"], "e": null}));
        let text = String::from_utf8(whole(&form)).unwrap();
        assert_eq!(text, "a+b=%C3%BC%26%3D%2B&n=1&l=x&l=y&e=");
    }

    #[test]
    fn an_object_becomes_a_form_with_files() {
        let file = json!({"fileName": "a\"\r\n.txt", "contentType": "text/x", "content": "aGk="});
        let form = body("multipart/form-data", json!({"title": "T", "doc": file}));
        let kind = form.exact.clone().unwrap();
        let boundary = kind.split_once("boundary=").unwrap().1.to_owned();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nT\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"doc\"; \
             filename=\"a%22%0D%0A.txt\"\r\nContent-Type: text/x\r\n\r\nhi\r\n--{boundary}--\r\n"
        );
        assert_eq!(String::from_utf8(whole(&form)).unwrap(), expected);
    }

    #[test]
    fn a_file_is_sent_as_its_bytes() {
        let file = json!({"fileName": "a", "contentType": "image/png", "content": "AP8="});
        let sent = body("", file);
        assert_eq!((whole(&sent), sent.usual.as_str()), (vec![0, 255], "image/png"));
        let wrong = json!({"fileName": "a", "content": "?"});
        let request = Request { content: wrong, ..Request::default() };
        assert!(Body::of(&request, "k").is_err());
    }

    #[test]
    fn text_is_sent_in_the_charset_that_it_names() {
        let sent = |content: Value, kind: &str| {
            let content_type = Some(kind.to_owned());
            let request = Request { content, content_type, ..Request::default() };
            Body::of(&request, "k").map(|body| whole(&body.unwrap()))
        };
        assert_eq!(sent(json!("é"), "text/plain; charset=iso-8859-1").unwrap(), [0xe9]);
        let json = sent(json!({"a": "é"}), "application/json; charset=latin1").unwrap();
        assert_eq!(json, b"{\"a\":\"\xe9\"}");
        assert_eq!(sent(json!("é"), "text/plain").unwrap(), "é".as_bytes());
        let Forbidden(reason) = sent(json!("日"), "text/plain; charset=latin1").unwrap_err();
        assert!(reason.contains("a character is not in windows-1252"), "{reason}");
    }
}
