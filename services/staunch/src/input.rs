//! Workflow input as it is written on a command line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::Failure;

/// Reads `{"Name": value}`, or `@file` that holds it.
///
/// # Errors
/// When the file cannot be read, or the text is no JSON object.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Failure> {
    let (origin, text) = match text.strip_prefix('@') {
        None => ("the input".to_owned(), text.to_owned()),
        Some(path) => (path.to_owned(), file(Path::new(path))?),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Failure::usage(format!(
            "{origin} is no JSON object: write names and values, such as '{{\"Amount\": 1}}'"
        ))),
        Err(error) => Err(Failure::usage(format!("{origin} is no JSON: {error}"))),
    }
}

/// Reads a text file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn file(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
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
}
