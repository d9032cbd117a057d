//! Forms with files: `multipart/form-data` (RFC 7578), read from a body in memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Map;
use model::media::{self, Charset, parameter};
use serde_json::{Value, json};

use crate::Problem;

/// The largest number of parts of one form.
const PARTS_MAX: usize = 1_000;

/// The content of a form.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Form {
    /// Fields by name.
    pub(crate) fields: Map,
    /// Files: `{name, fileName, contentType, size, content}`, the content in base64.
    pub(crate) files: Vec<Value>,
}

/// Reads a form with the boundary of the content type.
pub(crate) fn multipart(content_type: &str, bytes: &[u8]) -> Result<Form, Problem> {
    let boundary = parameter(content_type, "boundary")
        .ok_or_else(|| Problem::bad_request("the multipart form has no boundary"))?;
    let broken = || Problem::bad_request("the multipart form is broken off or malformed");
    let delimiter = format!("--{boundary}").into_bytes();
    let mut form = Form::default();
    let start = find(bytes, &delimiter).ok_or_else(broken)?;
    let mut rest = &bytes[start + delimiter.len()..];
    for _ in 0..PARTS_MAX {
        if rest.starts_with(b"--") {
            return Ok(form);
        }
        rest = after_line_end(rest).ok_or_else(broken)?;
        let head_end = find(rest, b"\r\n\r\n").ok_or_else(broken)?;
        let head = std::str::from_utf8(&rest[..head_end]).map_err(|_not_text| broken())?;
        let body = &rest[head_end + 4..];
        let closing = [b"\r\n", delimiter.as_slice()].concat();
        let end = find(body, &closing).ok_or_else(broken)?;
        part(&mut form, head, &body[..end])?;
        rest = &body[end + closing.len()..];
    }
    Err(Problem::bad_request(format!("the multipart form has more than {PARTS_MAX} parts")))
}

fn part(form: &mut Form, head: &str, body: &[u8]) -> Result<(), Problem> {
    let line = |wanted: &str| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let disposition = line("content-disposition").unwrap_or_default();
    let name = parameter(disposition, "name")
        .ok_or_else(|| Problem::bad_request("a part of the multipart form has no name"))?;
    match parameter(disposition, "filename") {
        // Browsers send a field for files that has none as a file without a name.
        Some(file_name) if !file_name.is_empty() || !body.is_empty() => form.files.push(json!({
            "name": name,
            "fileName": file_name,
            "contentType": line("content-type"),
            "size": body.len(),
            "content": base64(body),
        })),
        _ => {
            let flawed = |flaw: media::Flaw| {
                Problem::bad_request(format!("the part {name:?} of the multipart form is {flaw}"))
            };
            let charset = Charset::of(line("content-type").unwrap_or_default(), body);
            let text = charset.and_then(|charset| charset.decode(body)).map_err(flawed)?;
            add(&mut form.fields, name.clone(), Value::String(text.into_owned()));
        }
    }
    Ok(())
}

fn after_line_end(bytes: &[u8]) -> Option<&[u8]> {
    let end = find(bytes, b"\r\n")?;
    let is_padding = bytes[..end].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_padding.then(|| &bytes[end + 2..])
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
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

    const TYPE: &str = "multipart/form-data; boundary=\"x y\"";

    #[test]
    fn fields_and_files_are_told_apart() {
        let body = "preamble\r\n--x y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
            --x y\r\ncontent-disposition: form-data; name=\"f\"; filename=\"t.txt\"\r\n\
            Content-Type: text/plain\r\n\r\nh\r\ni\r\n--x y--\r\n";
        let form = multipart(TYPE, body.as_bytes()).unwrap();
        assert_eq!(Value::Object(form.fields), json!({"a": "one"}));
        assert_eq!(
            form.files,
            [json!({"name": "f", "fileName": "t.txt", "contentType": "text/plain", "size": 4,
                "content": base64(b"h\r\ni")})]
        );
    }

    #[test]
    fn a_field_without_a_file_is_no_file() {
        let body = "--x y\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\r\n--x y--\r\n";
        let form = multipart(TYPE, body.as_bytes()).unwrap();
        assert_eq!((Value::Object(form.fields), form.files), (json!({"f": ""}), Vec::new()));
    }

    #[test]
    fn fields_are_read_in_their_charset() {
        let field = |content_type: &str, value: &[u8]| {
            let head = "--x y\r\nContent-Disposition: form-data; name=\"a\"\r\n";
            let head = format!("{head}Content-Type: {content_type}\r\n\r\n");
            multipart(TYPE, &[head.as_bytes(), value, b"\r\n--x y--\r\n"].concat())
        };
        let form = field("text/plain; charset=iso-8859-1", b"caf\xe9").unwrap();
        assert_eq!(form.fields["a"], "café");
        for (content_type, said) in
            [("text/plain", "not text in UTF-8"), ("text/plain; charset=klingon", "not known")]
        {
            let problem = field(content_type, b"caf\xe9").unwrap_err();
            assert!(problem.detail().contains(said), "{problem:?}");
        }
    }

    #[test]
    fn broken_forms_are_problems() {
        for body in ["", "--x y", "--x y\r\nno end", "--x y\r\n\r\n\r\nx\r\n--x y--"] {
            assert!(multipart(TYPE, body.as_bytes()).is_err(), "{body:?}");
        }
        assert!(multipart("multipart/form-data", b"").is_err());
    }
}
