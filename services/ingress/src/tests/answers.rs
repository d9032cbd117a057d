//! The description of the API as a contract: every answer that a test gets is in it, with its status,
//! its headers, its media type and all members of its body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use axum::http::{HeaderMap, Method, Uri};
use chassis::Auth;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::world::Answer;
use crate::auth::permission::{MOUNTS, takes_secret, unmounted};
use crate::description::openapi_text;

/// Headers that every answer may have: of HTTP, of CORS, and for browsers.
const GENERAL: [&str; 11] = [
    "access-control-allow-origin",
    "access-control-expose-headers",
    "connection",
    "content-length",
    "content-security-policy",
    "content-type",
    "referrer-policy",
    "strict-transport-security",
    "vary",
    "x-content-type-options",
    "x-frame-options",
];
/// Headers of requests that change what an operation does.
const READ: [&str; 4] = ["idempotency-key", "if-match", "if-none-match", "prefer"];

/// The document, and what was made of it.
pub(super) struct Contract {
    pub(super) document: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

pub(super) static CONTRACT: LazyLock<Contract> = LazyLock::new(|| Contract {
    document: serde_json::from_str(openapi_text(Auth::BOTH)).unwrap(),
    validators: Mutex::default(),
});

/// The request that an answer belongs to.
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

impl Contract {
    /// What of an answer is not in the document.
    pub(super) fn breaches(&self, asked: &Asked, answer: &Answer) -> Vec<String> {
        let found = self.operation(&asked.method, asked.uri.path());
        let Some((path, operation)) = found else { return Vec::new() };
        let status = answer.status;
        let of = format!("{status} of {} {path}", asked.method);
        let responses = &operation["responses"];
        let response = match responses.get(status.as_str()) {
            Some(response) => response,
            None => return vec![format!("{of} is not in the document")],
        };
        let response = self.resolved(response);
        let listed = response["headers"].as_object();
        let is_listed = |header: &str| {
            let mut listed = listed.into_iter().flat_map(|all| all.keys());
            listed.any(|listed| listed.eq_ignore_ascii_case(header)) || GENERAL.contains(&header)
        };
        let headers = answer.headers.keys().map(|header| header.as_str());
        let headers = headers.filter(|header| !is_listed(header));
        let mut breaches: Vec<_> =
            headers.map(|header| format!("{of} has the header {header}")).collect();
        if status.is_success() {
            breaches.extend(unlisted(asked, operation).map(|what| format!("{of} reads {what}")));
        }
        breaches.extend(self.of_content(response, answer).map(|flaw| format!("{of}: {flaw}")));
        breaches
    }

    /// What of the content of an answer is not in the document.
    fn of_content(&self, response: &Value, answer: &Answer) -> Option<String> {
        let kind = answer.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let Some(content) = response.get("content") else {
            return (answer.body != "").then(|| "it has content".to_owned());
        };
        let Some(media) = content.get(kind) else {
            return Some(format!("it is of type {kind:?}"));
        };
        if !kind.ends_with("json") {
            return None;
        }
        let ran = json!({"$ref": "#/components/schemas/Ran"});
        let is_of_run = media["schema"]["$ref"] == "#/components/schemas/RanOrSaid";
        let flaws = self.flaws(if is_of_run { &ran } else { &media["schema"] }, &answer.body);
        (!flaws.is_empty()).then(|| format!("{flaws:#?}"))
    }

    /// The operation of a request, and the template of its path; none if it is not in the document.
    fn operation(&self, method: &Method, path: &str) -> Option<(&str, &Value)> {
        let path = match unmounted(path) {
            rest if rest == path => path.to_owned(),
            rest => format!("{}{rest}", MOUNTS[0]),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let fixed = |template: &str| {
            let own: Vec<&str> = template.split('/').collect();
            let fits = |(own, given): (&&str, &&str)| {
                own == given || (own.starts_with('{') && !given.is_empty())
            };
            let fits = own.len() == parts.len() && own.iter().zip(&parts).all(fits);
            fits.then(|| own.iter().filter(|part| !part.starts_with('{')).count())
        };
        let paths = self.document["paths"].as_object().unwrap().iter();
        let found = paths.filter_map(|(template, item)| Some((fixed(template)?, template, item)));
        let (_, template, item) = found.max_by_key(|(fixed, ..)| *fixed)?;
        Some((template.as_str(), item.get(method.as_str().to_ascii_lowercase())?))
    }

    /// What a reference stands for.
    pub(super) fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        let pointer = value["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
        pointer.map_or(value, |pointer| self.document.pointer(pointer).unwrap())
    }

    /// What of a value does not fit a schema.
    pub(super) fn flaws(&self, schema: &Value, value: &Value) -> Vec<String> {
        let flaw = |error: jsonschema::ValidationError<'_>| {
            let text = error.to_string();
            let short: String = text.chars().take(300).collect();
            format!("{}: {short}", error.instance_path())
        };
        self.validator(schema).iter_errors(value).map(flaw).collect()
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let known = validators.entry(schema.to_string()).or_insert_with(|| {
            let mut whole = schema.clone();
            whole["components"] = self.document["components"].clone();
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            Arc::new(options.build(&whole).unwrap())
        });
        Arc::clone(known)
    }
}

/// The parameters and headers of a request that its operation does not list.
fn unlisted(asked: &Asked, operation: &Value) -> impl Iterator<Item = String> {
    let listed = operation["parameters"].as_array().cloned().unwrap_or_default();
    let query = asked.uri.query().unwrap_or_default().split('&');
    let query = query.filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty());
    // With a secret, nothing of a request is kept: its key means nothing.
    let is_ignored = |header: &str| header == READ[0] && takes_secret(asked.uri.path());
    let headers = READ.into_iter().filter(|header| asked.headers.contains_key(*header));
    let headers = headers.filter(move |header| !is_ignored(header));
    let all = query.map(|name| ("query", name)).chain(headers.map(|name| ("header", name)));
    all.filter(move |(place, name)| {
        !listed.iter().any(|one| {
            let is_it = |own: &str| own.eq_ignore_ascii_case(name);
            one["in"] == *place && one["name"].as_str().is_some_and(is_it)
        })
    })
    .map(|(place, name)| format!("the {place} parameter {name}"))
}
