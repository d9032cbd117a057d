//! The short form of definitions: written from Elsa's form, and expanded to it. Nothing is stored.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use catalog::run_apart;
use engine::Engine;
use model::{Definition, Misread, limits, media};
use serde_json::{Value, json};
use shortform::{Flaw, Notation, Places, Vocabulary};
use tokio::time::timeout;

use super::naming;
use super::reading::Reading;
use super::saving::unwrapped;
use crate::body::{Body, BytesMax, Params, content_type, must_be_plain, read};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, workers};

/// The media type of YAML (RFC 9512).
const YAML: &str = "application/yaml";
/// Other media types of YAML.
const YAML_TOO: [&str; 4] = ["application/x-yaml", "text/yaml", "text/x-yaml", "text/vnd.yaml"];
/// The media type of a JSON Schema.
const SCHEMA: &str = "application/schema+json";
/// Bytes of the documents of activity types of which a schema is made.
const TYPES_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The id of a definition that has none while it is expanded.
const UNNAMED: &str = "";
/// The member with the id of a definition.
const ID: &str = "definitionId";
/// The member with its activities.
const ROOT: &str = "root";
/// Bytes of a text in the short form: deep JSON has many spaces as YAML.
const TEXT_BYTES_MAX: usize = 4 * limits::DEFINITION_BYTES_MAX;
/// Flaws in one answer.
const FLAWS_MAX: usize = 1_000;
/// Flaws that the detail of a problem has.
const SAID_MAX: usize = 10;
/// Characters of the message of a flaw.
const MESSAGE_CHARS_MAX: usize = 500;
/// How long a request waits for its turn.
const TURN_TIME_MAX: Duration = Duration::from_secs(10);

/// Writes a definition in the short form, as YAML. The body is that of a save; nothing is stored.
///
/// Nothing is lost: expanded again, the text is the same definition. A part that the short form cannot
/// say is in it as `{full: …}`.
#[utoipa::path(post, path = "/workflow-definitions/short-form/shorten", tag = "definitions", request_body = Value,
    responses((status = 200, body = Value, content_type = "application/yaml", description = "The definition in the short form",
            example = json!("definitionId: hello\nname: Hello\nroot:\n  type: WriteLine\n  text: hello\n")),
        (status = 400, body = ProblemBody)))]
pub(super) async fn shorten(
    State(app): State<Arc<App>>,
    Body(body): Body<Value>,
) -> Result<impl IntoResponse, Problem> {
    let mut definition = unwrapped(body)?.document;
    naming::of_definition(&mut definition, "the body")?;
    if let Some(flaw) = definition.get(ROOT).and_then(no_root) {
        return Err(Problem::bad_request(format!("{ROOT} of the body: {flaw}")));
    }
    // What a save refuses would be written as a text that is refused.
    Reading::of(definition.clone(), "the body")?.draft(&app.cx.engine)?;
    let engine = Arc::clone(&app.cx.engine);
    let work = move |vocabulary: &Vocabulary| {
        spell(&engine, &mut definition);
        shortform::write(&vocabulary.shorten(&definition))
    };
    let text = apart(&app, work).await?;
    let bytes = text.len();
    if bytes > TEXT_BYTES_MAX {
        let detail = format!(
            "as YAML the definition has {bytes} bytes, more than {TEXT_BYTES_MAX}, because its values \
             are nested deeply: use it as JSON"
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
    }
    Ok(([(CONTENT_TYPE, YAML)], text))
}

/// Expands a definition in the short form to Elsa's form; nothing is stored.
///
/// The body is YAML, or JSON with the media type of JSON. The answer is not checked any further:
/// `/workflow-definitions/validation/check` does that.
#[utoipa::path(post, path = "/workflow-definitions/short-form/expand", tag = "definitions",
    request_body(content = Value, content_type = "application/yaml",
        example = json!("definitionId: hello\nname: Hello\nroot:\n  - type: WriteLine\n    text: hello\n")),
    responses((status = 200, body = shape::definition::ExpandedDefinition),
        (status = 400, body = ProblemBody, description = "The text is no definition: each of `flaws` has `line`, `column` and `message`; `isCutShort` says that there are more")))]
pub(super) async fn expand(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<Value>, Problem> {
    must_be_plain(&headers)?;
    let notation = notation(&headers)?;
    let limit = BytesMax::of(&request);
    let bytes = read(request.into_body(), limit).await?;
    let text = String::from_utf8(bytes.to_vec()).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        Problem::bad_request(format!(
            "byte {valid} of the body is not UTF-8: send the text as UTF-8"
        ))
    })?;
    full(&app, text, notation).await.map(Json)
}

/// The definition that a text in the short form means.
///
/// # Errors
/// 400 when it is no definition, 413 when it is too large in Elsa's form.
pub(super) async fn full(
    app: &Arc<App>,
    text: String,
    notation: Notation,
) -> Result<Value, Problem> {
    let engine = Arc::clone(&app.cx.engine);
    let work = move |vocabulary: &Vocabulary| -> Result<Value, Problem> {
        let definition = expanded(vocabulary, &engine, &text, notation);
        let definition = definition.map_err(|flaws| refused(&flaws))?;
        let bytes = definition.to_string().len();
        let max = limits::DEFINITION_BYTES_MAX;
        if bytes > max {
            let detail = format!(
                "in Elsa's form the definition has {bytes} bytes, more than {max}: divide it into \
                 several"
            );
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
        }
        Ok(definition)
    };
    apart(app, work).await?
}

/// The JSON Schema of the short form with the activity types that workers have registered, for editors.
///
/// It is `schema/workflow/short.json` with these types: an editor completes their names and their inputs,
/// and marks what does not fit them.
#[utoipa::path(get, path = "/workflow-definitions/short-form/schema", tag = "definitions",
    responses((status = 200, body = Value, content_type = "application/schema+json", description = "The schema (draft-07)",
            example = json!({"$schema": "http://json-schema.org/draft-07/schema#", "title": "Workflow definition, short form"})),
        (status = 413, body = ProblemBody, description = "The documents of the types have more than 8 MiB together"),
        (status = 503, body = ProblemBody)))]
pub(super) async fn schema(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<impl IntoResponse, Problem> {
    params.only(&[])?;
    let types = workers::registered(&app).await?.types;
    let bytes: usize = types.iter().map(|kind| json!(kind).to_string().len()).sum();
    if bytes > TYPES_BYTES_MAX {
        let detail = format!(
            "the documents of the registered activity types have {bytes} bytes together, more than \
             {TYPES_BYTES_MAX}: use schema/workflow/short.json, which does without them"
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail));
    }
    let work =
        move |vocabulary: &Vocabulary| shortform::short_schema_with(vocabulary, &types).to_string();
    let text = apart(&app, work).await?;
    Ok(([(CONTENT_TYPE, SCHEMA)], text))
}

/// Does the work on a thread for blocking work, once it is its turn.
async fn apart<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&Vocabulary) -> T + Send + 'static,
) -> Result<T, Problem> {
    let turn = timeout(TURN_TIME_MAX, Arc::clone(&app.conversions).acquire_owned()).await;
    let Ok(Ok(permit)) = turn else {
        return Err(Problem::overloaded(
            "the server converts as many definitions as it may at once: try again in a moment",
        ));
    };
    let engine = Arc::clone(&app.cx.engine);
    let done = run_apart("convert", move || {
        // Held to the end of the work, also where the caller has gone.
        let _permit = permit;
        work(&Vocabulary::new(engine.descriptors()))
    });
    // A panic is logged already.
    done.await.map_err(|_panicked| Problem::internal())
}

/// The notation that the media type of a body says.
fn notation(headers: &HeaderMap) -> Result<Notation, Problem> {
    match content_type(headers).as_deref() {
        None | Some(YAML) => Ok(Notation::Yaml),
        Some(kind) if YAML_TOO.contains(&kind) => Ok(Notation::Yaml),
        Some(kind) if media::is_json(kind) => Ok(Notation::Json),
        Some(kind) => {
            let shown: String = kind.chars().take(50).collect();
            let detail = format!(
                "the body is {shown:?}: send YAML with Content-Type: application/yaml, or JSON with \
                 application/json"
            );
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            Err(Problem::new(status, "unsupported-media-type", detail))
        }
    }
}

/// The definition that a text means, or all that is wrong with it, in the order of the text.
fn expanded(
    vocabulary: &Vocabulary,
    engine: &Engine,
    text: &str,
    notation: Notation,
) -> Result<Value, Vec<Flaw>> {
    let tree = shortform::read(text, notation).map_err(|flaw| vec![flaw])?;
    let (full, mut flaws) = vocabulary.expand_all(&tree, Some(UNNAMED));
    let mut definition = full.value();
    if !definition.is_object() {
        if flaws.is_empty() {
            let message = "this is no definition: write an object with a root".to_owned();
            flaws.push(Flaw { mark: full.mark, message });
        }
        return Err(flaws);
    }
    let places = Places::default();
    let flaw = |misread: &Misread| Flaw {
        mark: places.locate(&full, None, Some(&misread.place)),
        message: format!("{}: {}", misread.place, misread.message),
    };
    let mut rest = definition.clone();
    let misread = Definition::repair(&mut rest);
    flaws.extend(misread.iter().take(FLAWS_MAX + 1).map(flaw));
    // What the expansion or the reading names is not named again.
    let known: BTreeSet<_> = flaws.iter().map(|it| (it.mark.line, it.mark.column)).collect();
    let misshapen = misshapen(engine, rest);
    let news = misshapen.iter().map(flaw);
    flaws.extend(news.filter(|it| !known.contains(&(it.mark.line, it.mark.column))));
    if !flaws.is_empty() {
        flaws.sort_by_key(|flaw| (flaw.mark.line, flaw.mark.column));
        return Err(flaws);
    }
    if let Some(members) = definition.as_object_mut()
        && members.get(ID).is_some_and(|id| id == UNNAMED)
    {
        members.shift_remove(ID);
    }
    Ok(definition)
}

/// The parts of what could be read that have another shape than a draft may have.
fn misshapen(engine: &Engine, definition: Value) -> Vec<Misread> {
    if let Some(message) = definition.get(ROOT).and_then(no_root) {
        return vec![Misread { place: ROOT.to_owned(), message }];
    }
    let read = serde_json::from_value::<Definition>(definition);
    read.map(|definition| engine.misshapen(&definition, false)).unwrap_or_default()
}

/// Says what a root is that is no activity. A draft may be without one.
fn no_root(root: &Value) -> Option<String> {
    let what = match root {
        Value::Object(_) => return None,
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
    };
    Some(format!(
        "this is {what}, and has to be an activity: write an object with a type, or leave {ROOT} out"
    ))
}

/// Gives the members of the activities the names that they have here; all else stays as it is.
fn spell(engine: &Engine, definition: &mut Value) {
    let Some(root) = definition.get_mut(ROOT) else { return };
    let mut whole = Definition { root: root.take(), ..Definition::default() };
    engine.spell(&mut whole);
    *root = whole.root;
}

/// The refusal of a text.
fn refused(flaws: &[Flaw]) -> Problem {
    let message = |flaw: &Flaw| flaw.message.chars().take(MESSAGE_CHARS_MAX).collect::<String>();
    let said = flaws.iter().take(SAID_MAX).map(|flaw| {
        format!("line {}, column {}: {}", flaw.mark.line, flaw.mark.column, message(flaw))
    });
    let mut detail =
        format!("the text is not a definition: {}", said.collect::<Vec<_>>().join("; "));
    if flaws.len() > SAID_MAX {
        detail.push_str("; more of them are in flaws");
    }
    let listed = flaws.iter().take(FLAWS_MAX).map(|flaw| {
        let Flaw { mark, .. } = flaw;
        json!({"line": mark.line, "column": mark.column, "message": message(flaw)})
    });
    Problem::bad_request(detail)
        .with("flaws", listed.collect::<Vec<_>>())
        .with("isCutShort", flaws.len() > FLAWS_MAX)
}
