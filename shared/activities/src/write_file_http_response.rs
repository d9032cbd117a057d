//! WriteFileHttpResponse: answers the HTTP client with a file; with a zip archive if there are several.

use engine::{Activity, Decision, Descriptor, Failure, Next, Plan, Planning, Response, Step, Type};
use serde_json::Value;

use crate::archive::{Level, archive};
use crate::called::{Content, content, encoded};
use crate::create_zip_archive::entry;
use crate::write_http_response::nobody_waits;

/// `Elsa.WriteFileHttpResponse`
pub(crate) struct WriteFileHttpResponse;

impl Activity for WriteFileHttpResponse {
    fn descriptor(&self) -> Descriptor {
        let what = "Answers the HTTP client with a file; with a zip archive if there are several.";
        Descriptor::new("Elsa.WriteFileHttpResponse", "HTTP", what)
            .called("HTTP File Response")
            .input("contentType", Type::String, "The Content-Type; that of the file if not given.")
            .input("filename", Type::String, "The name; that of the file if not given.")
            .input("entityTag", Type::String, "The ETag.")
            .input("content", Type::Object, "A file, text, or a list of these.")
            .input("enableResumableDownloads", Type::Boolean, "Not used; kept for exports.")
            .default(false)
            .input("downloadCorrelationId", Type::String, "Not used; kept for exports.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        for input in ["enableResumableDownloads", "downloadCorrelationId"] {
            let is_off = node.literal(input).is_some_and(|value| *value == Value::Bool(false));
            if node.has(input) && !is_off {
                node.oversight(input, "has no effect: the file is sent as a whole");
            }
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let file = match step.value("content")? {
            Value::Array(items) if items.len() == 1 => content("content", &items[0])?,
            Value::Array(items) => {
                let entries = items.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
                Content {
                    bytes: archive(entries, Level::Optimal)?,
                    file_name: Some("download.zip".to_owned()),
                    content_type: Some("application/zip".to_owned()),
                }
            }
            Value::Null => return Err(Failure::input("content", "there is no file: give one")),
            single => content("content", &single)?,
        };
        let name = step.text("filename")?.or(file.file_name).unwrap_or_else(|| "file".to_owned());
        let kind = step.text("contentType")?.or(file.content_type);
        let mut response = Response {
            status_code: 200,
            content_type: Some(kind.unwrap_or_else(|| "application/octet-stream".to_owned())),
            content: encoded(&file.bytes).into(),
            is_base64: true,
            ..Response::default()
        };
        let mut set = |name: &str, value: String| response.headers.insert(name.to_owned(), value);
        set("Content-Disposition", disposition(&name));
        if let Some(tag) = step.text("entityTag")? {
            let is_tag = tag.ends_with('"') && (tag.starts_with('"') || tag.starts_with("W/\""));
            set("ETag", if is_tag { tag } else { format!("\"{tag}\"") });
        }
        if step.respond(response) { Ok(Next::done()) } else { Err(nobody_waits()) }
    }
}

/// The header that gives a download its name (RFC 6266).
fn disposition(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\/".contains(c) || c == ' ' { c } else { '_' })
        .collect();
    if plain == name {
        return format!("attachment; filename=\"{plain}\"");
    }
    let mut exact = String::new();
    for byte in name.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => exact.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => exact.push(char::from(byte)),
            _ => exact.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use engine::Effect;
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    fn answer(mut node: Value) -> Response {
        node["type"] = json!("Elsa.WriteFileHttpResponse");
        let mut player = player(json!({"type": "Sequence", "activities": [
            {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"}, node
        ]}));
        player.start_at(Some("h"), json!({}));
        assert_eq!(player.incident(), None);
        let Effect::Respond(response) = player.effects[0].clone() else { panic!("no answer") };
        response
    }

    #[test]
    fn one_file_is_the_answer() {
        let file = json!({"fileName": "a.txt", "contentType": "text/plain", "content": "aGk="});
        let file = json!({"expression": {"type": "Object", "value": file}});
        let said = answer(json!({"content": file, "entityTag": "7"}));
        assert_eq!((said.content, said.is_base64), (json!("aGk="), true));
        assert_eq!(said.content_type.as_deref(), Some("text/plain"));
        assert_eq!(said.headers["Content-Disposition"], "attachment; filename=\"a.txt\"");
        assert_eq!(said.headers["ETag"], "\"7\"");
    }

    #[test]
    fn several_files_are_a_zip() {
        let files = json!([{"fileName": "a.txt", "content": "aGk="}, "two"]);
        let files = json!({"expression": {"type": "Object", "value": files}});
        let said = answer(json!({"content": files, "filename": "é\".zip"}));
        assert_eq!(said.content_type.as_deref(), Some("application/zip"));
        let expected = "attachment; filename=\"__.zip\"; filename*=UTF-8''%C3%A9%22.zip";
        assert_eq!(said.headers["Content-Disposition"], expected);
        let file = json!({"fileName": "x", "content": said.content});
        let bytes = content("x", &file).unwrap().bytes;
        let read = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn without_a_client_it_is_an_incident() {
        let mut player = player(json!({"type": "Elsa.WriteFileHttpResponse", "content": "x"}));
        player.start(json!({}));
        assert_eq!(player.state().incidents[0].code, "NoHttpContext");
    }
}
