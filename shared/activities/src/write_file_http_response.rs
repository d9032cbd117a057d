//! WriteFileHttpResponse: answers the HTTP client with a file; with a zip archive if there are several.

use engine::{Activity, Decision, Descriptor, Failure, Next, Plan, Planning, Response, Step, Type};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

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
            .input("entityTag", Type::String, "The ETag of a download that can be resumed.")
            .input("content", Type::Object, "A file, text as it is, or a list of these.")
            .input(
                "enableResumableDownloads",
                Type::Boolean,
                "Answer requests for a range of the file, so that a download can be resumed.",
            )
            .default(false)
            .input("downloadCorrelationId", Type::String, "Not used; kept for exports.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        node.warn_of_unused("downloadCorrelationId", "a download is resumed by its ETag");
        if let Some(Value::String(text)) = node.literal("content")
            && let Some(message) = no_url(text)
        {
            node.oversight("content", message);
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let response = match files(step)? {
            Some(file) => answer(step, file)?,
            None => Response { status_code: 204, ..Response::default() },
        };
        if step.respond(response) { Ok(Next::done()) } else { Err(nobody_waits()) }
    }
}

/// The one file to answer with: the only one, or an archive of a list; none without a value.
fn files(step: &mut Step<'_, '_>) -> Result<Option<Content>, Failure> {
    let items = match step.content("content")? {
        Value::Null => return Ok(None),
        Value::Array(items) => items,
        single => vec![single],
    };
    let urls = items.iter().filter_map(|item| no_url(item.as_str()?)).next();
    if let Some(message) = urls {
        return Err(Failure::input("content", message));
    }
    Ok(match items.as_slice() {
        [single] => Some(content("content", single)?),
        _ => {
            let Value::Array(several) = step.loaded("content", Value::Array(items))? else {
                return Ok(None);
            };
            let entries = several.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
            Some(Content {
                bytes: archive(entries, Level::Optimal)?,
                file_name: Some("download.zip".to_owned()),
                content_type: Some("application/zip".to_owned()),
                payload: None,
            })
        }
    })
}

/// The complaint about a text that is the URL of a file, and not its content.
fn no_url(text: &str) -> Option<String> {
    let text = text.trim();
    let is_url = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
        && !text.contains(char::is_whitespace);
    is_url.then(|| {
        format!("{text} is the URL of a file: get it with DownloadHttpFile, and give its result")
    })
}

fn answer(step: &mut Step<'_, '_>, file: Content) -> Result<Response, Failure> {
    let name = step.text("filename")?.or(file.file_name).unwrap_or_else(|| "file.bin".to_owned());
    let guessed = || mime_guess::from_path(&name).first_raw().map(str::to_owned);
    let kind = step.text("contentType")?.or(file.content_type).or_else(guessed);
    let is_resumable = step.flag("enableResumableDownloads")?;
    let tag = step.text("entityTag")?.filter(|_| is_resumable);
    let tag = tag.or_else(|| {
        is_resumable.then(|| match &file.payload {
            Some(hash) => hash.to_string(),
            None => encoded(&Sha256::digest(&file.bytes)),
        })
    });
    let is_large = file.payload.is_some();
    let mut response = Response {
        status_code: 200,
        content_type: Some(kind.unwrap_or_else(|| "application/octet-stream".to_owned())),
        content: match &file.payload {
            Some(_) => Value::Null,
            None => encoded(&file.bytes).into(),
        },
        is_base64: file.payload.is_none(),
        payload: file.payload,
        ..Response::default()
    };
    let mut set = |name: &str, value: String| response.headers.insert(name.to_owned(), value);
    set("Content-Disposition", disposition(&name));
    // A range of a payload is not answered: the client gets the whole.
    if is_resumable && !is_large {
        set("Accept-Ranges", "bytes".to_owned());
    }
    if let Some(tag) = tag {
        let is_tag = tag.ends_with('"') && (tag.starts_with('"') || tag.starts_with("W/\""));
        set("ETag", if is_tag { tag } else { format!("\"{tag}\"") });
    }
    Ok(response)
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
