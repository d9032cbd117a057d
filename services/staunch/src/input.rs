//! Reads the input of commands: workflow input, and files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use model::limits::DEFINITION_BYTES_MAX;
use protocol::subject;
use serde_json::{Map, Value};

use crate::Failure;

/// Reads `{"Name": value}`, or `@file` with such an object.
///
/// # Errors
/// When the file cannot be read, or the text is not a JSON object.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Failure> {
    match read(text)? {
        (_, Value::Object(map)) => Ok(map),
        (origin, _) => Err(Failure::usage(format!(
            "{origin} is not a JSON object: write names and values, such as '{{\"Amount\": 1}}'"
        ))),
    }
}

/// Reads `[ … ]`, or `@file` with such a list.
///
/// # Errors
/// When the file cannot be read, or the text is not a JSON list.
pub(crate) fn list(text: &str) -> Result<Vec<Value>, Failure> {
    match read(text)? {
        (_, Value::Array(items)) => Ok(items),
        (origin, _) => Err(Failure::usage(format!("{origin} is not a JSON list: write [ … ]"))),
    }
}

/// A JSON value, and where it comes from.
fn read(text: &str) -> Result<(String, Value), Failure> {
    let (origin, text) = match text.strip_prefix('@') {
        None => ("the value".to_owned(), text.to_owned()),
        Some(path) => (path.to_owned(), file(Path::new(path))?),
    };
    match serde_json::from_str(&text) {
        Ok(value) => Ok((origin, value)),
        Err(error) => Err(Failure::usage(format!("{origin} is not JSON: {error}"))),
    }
}

/// A type of tasks with its version, as people write it: `Ship`, or `Ship@2`. For the command line.
///
/// # Errors
/// The reason, when it has no name or no version that a type can have.
pub(crate) fn task_kind(text: &str) -> Result<String, String> {
    match subject::task_kind(text)? {
        ("", _) => {
            Err("it has no name: write the type of the tasks, such as Ship or Ship@2".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

/// Reads a text file that is not larger than a definition may be, without a byte order mark at its start.
///
/// # Errors
/// When it cannot be read or is too large.
pub(crate) fn file(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let bytes_max = u64::try_from(DEFINITION_BYTES_MAX).unwrap_or(u64::MAX);
    let mut text = String::new();
    let read = File::open(path)
        .and_then(|file| file.take(bytes_max.saturating_add(1)).read_to_string(&mut text));
    match read {
        Ok(length) if length > DEFINITION_BYTES_MAX => Err(Failure::usage(format!(
            "{shown} is larger than {DEFINITION_BYTES_MAX} bytes, the limit of a definition"
        ))),
        Ok(_) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => Err(Failure::usage(format!("cannot read {shown}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn input_is_an_object_or_a_usage_error() {
        assert_eq!(parse(r#"{"Amount": 1}"#).unwrap()["Amount"], 1);
        for text in ["[1]", "{", "@/no/such/file"] {
            assert_eq!(parse(text).unwrap_err().kind, Kind::Usage, "{text}");
        }
    }

    #[test]
    fn a_type_of_tasks_has_a_name_and_a_version_if_any() {
        assert_eq!(task_kind("Ship@2"), Ok("Ship@2".to_owned()));
        assert!(task_kind("Pack@x").unwrap_err().contains("\"x\" is none"));
        for nameless in ["", "@2"] {
            assert!(task_kind(nameless).unwrap_err().contains("no name"), "{nameless}");
        }
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        let failure = file(Path::new("/dev/zero")).unwrap_err();
        assert!(failure.message.contains("larger than"), "{failure}");
    }
}
