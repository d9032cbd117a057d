//! The files that an endpoint takes: their size, their extensions, their media types.

use axum::http::StatusCode;
use model::endpoint;
use serde_json::{Value, json};

use crate::Problem;

/// The files that an endpoint takes. A list that is empty allows everything.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Uploads {
    bytes_max: Option<u64>,
    /// Extensions with their dot, in lower case.
    allowed: Vec<String>,
    blocked: Vec<String>,
    /// Media types, in lower case; `image/*` is every image.
    types: Vec<String>,
}

/// The reason why a workflow does not get the body or the files of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) outcome: &'static str,
    pub(super) message: String,
}

/// The texts of a list in a payload.
pub(super) fn texts(payload: &Value, member: &str) -> Vec<String> {
    let items = payload.get(member).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Uploads {
    pub(super) fn of(payload: &Value) -> Self {
        let extensions = |member: &str| {
            let texts = texts(payload, member).into_iter();
            texts.map(|text| dotted(&text)).collect()
        };
        let types = texts(payload, "allowedMimeTypes").into_iter();
        Self {
            bytes_max: payload.get("fileSizeLimit").and_then(Value::as_u64),
            allowed: extensions("allowedFileExtensions"),
            blocked: extensions("blockedFileExtensions"),
            types: types.map(|text| text.trim().to_ascii_lowercase()).collect(),
        }
    }

    /// The reason to refuse one of these files, `{fileName, contentType, size, …}`: the first, in
    /// Elsa's order of the rules.
    pub(super) fn refusal(&self, files: &[Value]) -> Option<Refusal> {
        let rules = [Self::size, Self::extension, Self::block, Self::media_type];
        rules.iter().find_map(|rule| files.iter().find_map(|file| rule(self, file)))
    }

    fn size(&self, file: &Value) -> Option<Refusal> {
        let (max, bytes) = (self.bytes_max?, file["size"].as_u64().unwrap_or_default());
        let message = || format!("has {bytes} bytes, more than the {max} that are allowed");
        (bytes > max).then(|| Refusal::of(endpoint::FILE_TOO_LARGE, file, message()))
    }

    fn extension(&self, file: &Value) -> Option<Refusal> {
        let extension = extension(file);
        let is_bad = !self.allowed.is_empty() && !self.allowed.contains(&extension);
        let message = || {
            let allowed = self.allowed.join(", ");
            format!("has {}, and only {allowed} are allowed", shown(&extension))
        };
        is_bad.then(|| Refusal::of(endpoint::INVALID_EXTENSION, file, message()))
    }

    fn block(&self, file: &Value) -> Option<Refusal> {
        let extension = extension(file);
        let message = || format!("has {}, which is not allowed", shown(&extension));
        let is_bad = self.blocked.contains(&extension);
        is_bad.then(|| Refusal::of(endpoint::INVALID_EXTENSION, file, message()))
    }

    fn media_type(&self, file: &Value) -> Option<Refusal> {
        let declared = file["contentType"].as_str().unwrap_or_default();
        let declared = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let fits = |allowed: &String| match allowed.strip_suffix("/*") {
            Some(kind) => declared.split('/').next() == Some(kind),
            None => *allowed == declared,
        };
        let is_bad = !self.types.is_empty() && !self.types.iter().any(fits);
        let message = || {
            let allowed = self.types.join(", ");
            let kind = if declared.is_empty() { "no media type" } else { &declared };
            format!("has {kind}, and only {allowed} are allowed")
        };
        is_bad.then(|| Refusal::of(endpoint::INVALID_MIME_TYPE, file, message()))
    }
}

/// The extension of a file, with its dot, in lower case. Dots and spaces at the end are left out, as
/// some systems do that save the file.
fn extension(file: &Value) -> String {
    let name = file["fileName"].as_str().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or_else(String::new, |(_, end)| dotted(end))
}

fn dotted(extension: &str) -> String {
    let bare = extension.trim().trim_start_matches('*').trim_start_matches('.');
    format!(".{}", bare.to_lowercase())
}

fn shown(extension: &str) -> String {
    if extension.is_empty() {
        "no extension".to_owned()
    } else {
        format!("the extension {extension}")
    }
}

impl Refusal {
    /// A body with more bytes than allowed.
    pub(super) fn too_large(bytes_max: usize) -> Self {
        let message = format!("the body has more than the {bytes_max} bytes that are allowed");
        Self { outcome: endpoint::REQUEST_TOO_LARGE, message }
    }

    fn of(outcome: &'static str, file: &Value, reason: String) -> Self {
        let name = file["fileName"].as_str().unwrap_or_default();
        Self { outcome, message: format!("the file {name:?} {reason}") }
    }

    /// The answer to a request for which the workflow does not go on.
    pub(super) fn problem(&self) -> Problem {
        let (status, slug) = match self.outcome {
            endpoint::FILE_TOO_LARGE | endpoint::REQUEST_TOO_LARGE => {
                (StatusCode::PAYLOAD_TOO_LARGE, "file-too-large")
            }
            _ => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-file"),
        };
        Problem::new(status, slug, self.message.clone())
    }

    /// The refusal as the workflow reads it.
    pub(super) fn value(&self) -> Value {
        json!({"outcome": self.outcome, "message": self.message})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_outcome() {
        let file =
            json!({"fileName": "Plan.PDF", "contentType": "Application/PDF; x=y", "size": 5});
        let script = json!({"fileName": "C:\\x.y\\run.exe. ", "contentType": null, "size": 6});
        let bare = json!({"fileName": "README", "contentType": "text/plain", "size": 0});
        let check = |payload: Value, files: [&Value; 2], expected: Option<(&str, &str)>| {
            let files = files.map(Value::clone);
            let refusal = Uploads::of(&payload).refusal(&files);
            let refusal = refusal.as_ref().map(|found| (found.outcome, found.message.as_str()));
            assert_eq!(refusal, expected, "{payload}");
        };
        let extension = |message| Some(("Invalid file extension", message));
        check(json!({}), [&file, &script], None);
        check(json!({"fileSizeLimit": 6}), [&file, &script], None);
        let message = "the file \"Plan.PDF\" has 5 bytes, more than the 4 that are allowed";
        let size = json!({"fileSizeLimit": 4, "allowedFileExtensions": [".txt"]});
        check(size, [&file, &bare], Some(("File too large", message)));
        check(json!({"allowedFileExtensions": [".pdf", "EXE"]}), [&file, &script], None);
        let message = "the file \"README\" has no extension, and only .pdf are allowed";
        check(json!({"allowedFileExtensions": ["*.pdf"]}), [&file, &bare], extension(message));
        let message = "the file \"C:\\\\x.y\\\\run.exe. \" has the extension .exe, which is not \
                       allowed";
        check(json!({"blockedFileExtensions": [".exe"]}), [&file, &script], extension(message));
        check(json!({"blockedFileExtensions": [".exe"]}), [&file, &bare], None);
        let types = json!({"allowedMimeTypes": ["application/pdf", "TEXT/*"]});
        check(types.clone(), [&file, &bare], None);
        let message = "the file \"C:\\\\x.y\\\\run.exe. \" has no media type, and only \
                       application/pdf, text/* are allowed";
        check(types, [&file, &script], Some(("Invalid file MIME type", message)));
    }
}
