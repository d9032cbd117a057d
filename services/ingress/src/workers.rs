//! Workers: the activity types that they have registered, as the bucket of NATS has them, what there is
//! for them to do, and who they are.

use std::collections::BTreeMap;

use bus::{Bucket, Pool, Put, Revision, Worker};
use engine::{Library, activity_type};
use model::{ActivityType, Definition, limits};
use protocol::subject;
use serde_json::{Value, json};

use crate::{App, Problem};

/// Attempts to write a document while others write it, too.
const TRIES_MAX: usize = 10;

/// The documents of the bucket.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// Those that can be used, by name and version.
    pub(crate) types: Vec<ActivityType>,
    /// The keys of the others, each with what is wrong.
    pub(crate) faulty: BTreeMap<String, Vec<String>>,
}

/// Reads all documents. The log names those that cannot be used.
///
/// # Errors
/// 503 when NATS does not answer.
pub(crate) async fn registered(app: &App) -> Result<Registered, Problem> {
    let kv = app.cx.bus.kv(Bucket::Activities);
    let entries = kv.entries().await.map_err(|error| unavailable(&error))?;
    let mut registered = Registered::default();
    for (key, entry) in entries {
        let document = entry.value.as_deref().unwrap_or_default();
        match read(&key, document).and_then(|kind| not_own(app, kind)) {
            Ok(kind) => registered.types.push(kind),
            Err(flaws) => {
                registered.faulty.insert(key, flaws);
            }
        }
    }
    for (key, flaws) in app.told_types.news(&registered.faulty) {
        let reason = flaws.join("; ");
        tracing::warn!(key, reason, "a document in the bucket of activity types is not used");
    }
    registered.types.sort_by_key(|kind| (kind.type_name.clone(), kind.version));
    Ok(registered)
}

/// The pools of workers of tasks.
///
/// # Errors
/// 503 when NATS does not answer.
pub(crate) async fn pools(app: &App) -> Result<Vec<Pool>, Problem> {
    app.cx.bus.task_pools().await.map_err(|error| unavailable(&error))
}

/// The workers that are services of NATS.
///
/// # Errors
/// 503 when NATS does not answer.
pub(crate) async fn at_work(app: &App) -> Result<Vec<Worker>, Problem> {
    let heard = bus::workers(&*app.cx.bus).await.map_err(|error| unavailable(&error))?;
    if heard.is_empty() {
        // A question that never left has no answer, either.
        app.cx.bus.ping().await.map_err(|error| unavailable(&error))?;
    }
    Ok(heard)
}

/// What a definition may use beside stored definitions: the types of workers, if it needs any.
///
/// # Errors
/// As [`registered`].
pub(crate) async fn known(
    app: &App,
    definition: &Definition,
    mut known: Library,
) -> Result<Library, Problem> {
    if !definition.is_immutable() && app.cx.engine.may_need_workers(definition) {
        known.register(registered(app).await?.types);
    }
    Ok(known)
}

/// Refuses a type that means an activity of Staunch itself, which definitions may also name without its
/// prefix.
pub(crate) fn not_own(app: &App, kind: ActivityType) -> Result<ActivityType, Vec<String>> {
    let is_named = |own: &str| {
        let short = own.rsplit('.').next().unwrap_or(own);
        [own, short].iter().any(|name| name.eq_ignore_ascii_case(&kind.type_name))
    };
    match app.cx.engine.descriptors().iter().find(|own| is_named(own.type_name)) {
        Some(own) => Err(vec![format!(
            "{} means {}, a type of Staunch itself: use a name such as Acme.{}",
            kind.type_name, own.type_name, kind.type_name
        )]),
        None => Ok(kind),
    }
}

/// Refuses the bytes of a document that are too many.
fn check_size(bytes: &[u8]) -> Result<(), String> {
    let max = limits::ACTIVITY_TYPE_DOCUMENT_BYTES_MAX;
    match bytes.len() {
        size if size > max => Err(format!("it has {size} bytes, more than {max}")),
        _ => Ok(()),
    }
}

/// Reads a document. A worker may leave out what the key says already: the type and the version.
fn read(key: &str, bytes: &[u8]) -> Result<ActivityType, Vec<String>> {
    check_size(bytes).map_err(|flaw| vec![flaw])?;
    ActivityType::check_members(bytes).map_err(|flaw| vec![flaw])?;
    let mut document: Value =
        serde_json::from_slice(bytes).map_err(|error| vec![format!("it is no JSON: {error}")])?;
    let named = key.rsplit_once('.').and_then(|(name, version)| {
        Some((subject::untoken(name)?, subject::task_version(version)?))
    });
    let Some((name, version)) = named else {
        return Err(vec![format!("the key {key:?} is no type with its version, such as Ship.1")]);
    };
    let own = subject::activity_key(&name, version);
    if key != own {
        return Err(vec![format!(
            "the key of {name}@{version} is {own}, not {key}: write the document there, and remove this \
             key (nats kv del {} {key})",
            Bucket::Activities.name()
        )]);
    }
    if let Some(members) = document.as_object_mut() {
        members.entry("type").or_insert_with(|| json!(name));
        members.entry("version").or_insert_with(|| json!(version));
    }
    let kind = activity_type(document)?;
    if (&kind.type_name, kind.version) != (&name, version) {
        return Err(vec![format!(
            "it is about {}, and its key about {name}@{version}",
            kind.label()
        )]);
    }
    Ok(kind)
}

/// Writes the document of a type, and makes the consumer of its tasks.
///
/// # Errors
/// 503 when NATS does not answer; 400 when the document is too large; 409 when there are too many types.
pub(crate) async fn register(app: &App, kind: &ActivityType) -> Result<(), Problem> {
    let kv = app.cx.bus.kv(Bucket::Activities);
    let key = subject::activity_key(&kind.type_name, kind.version);
    // It has no value that JSON does not have.
    let value = json!(kind).to_string().into_bytes();
    check_size(&value).map_err(|flaw| {
        Problem::bad_request(format!(
            "this activity type cannot be used: as it is stored, {flaw}: shorten its description or \
             its schemas"
        ))
    })?;
    let entries = kv.entries().await.map_err(|error| unavailable(&error))?;
    let is_new = entries.iter().all(|(present, _)| *present != key);
    if is_new && entries.len() >= limits::ACTIVITY_TYPES_MAX {
        let max = limits::ACTIVITY_TYPES_MAX;
        return Err(Problem::conflict(
            "full",
            format!("{max} activity types are registered: remove one first"),
        ));
    }
    change(app, &key, Some(value)).await?;
    if kind.mode == model::activity_type::Mode::Task {
        let provided = app.cx.bus.provide(&kind.type_name, kind.version).await;
        provided.map_err(|error| unavailable(&error))?;
    }
    Ok(())
}

/// Removes the document of a type; false when there was none.
///
/// # Errors
/// 503 when NATS does not answer.
pub(crate) async fn remove(app: &App, name: &str, version: u32) -> Result<bool, Problem> {
    change(app, &subject::activity_key(name, version), None).await
}

/// Writes or removes a key; false when there is nothing to remove.
async fn change(app: &App, key: &str, value: Option<Vec<u8>>) -> Result<bool, Problem> {
    let kv = app.cx.bus.kv(Bucket::Activities);
    for _ in 0..TRIES_MAX {
        let found = kv.get(key).await.map_err(|error| unavailable(&error))?;
        let revision: Revision = found.as_ref().map_or(0, |entry| entry.revision);
        let nonce = app.cx.chance.new_id();
        let put = match &value {
            Some(value) => kv.put_if(key, value.clone().into(), revision, None, &nonce).await,
            None if found.is_none_or(|entry| entry.value.is_none()) => return Ok(false),
            None => kv.purge_if(key, revision, &nonce).await,
        };
        match put {
            Ok(Put::Won(_)) => return Ok(true),
            Ok(Put::Lost(_)) | Err(bus::Error::Unknown(_)) => {}
            Err(error) => return Err(unavailable(&error)),
        }
    }
    Err(Problem::conflict("contended", "the activity type is being changed by others: try again"))
}

fn unavailable(error: &bus::Error) -> Problem {
    tracing::warn!(%error, "what workers do cannot be read");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_says_what_a_document_leaves_out() {
        let upper = read("upper.1", br#"{"mode": "request"}"#).unwrap();
        assert_eq!((upper.label().as_str(), upper.inputs().len()), ("upper@1", 0));
        let charge = read("Acme=2ECharge.2", b"{}").unwrap();
        assert_eq!(charge.label(), "Acme.Charge@2");
        for (key, document, part) in [
            ("upper", "{}", "no type with its version"),
            ("Acme.Charge.2", "{}", "the key of Acme.Charge@2 is Acme=2ECharge.2"),
            ("Acme=2echarge.2", "{}", "the key of Acme.charge@2 is Acme=2Echarge.2"),
            ("upper.1", "{", "no JSON"),
            ("upper.1", "[]", "a JSON object"),
            ("upper.1", r#"{"type": "lower"}"#, "about lower@1"),
            ("upper.1", r#"{"type": "upper", "type": "upper"}"#, "duplicate field `type`"),
            ("upper.1", r#"{"input": {"type": "colour"}}"#, "input:"),
        ] {
            let flaws = read(key, document.as_bytes()).unwrap_err().join(" ");
            assert!(flaws.contains(part), "{flaws}");
        }
    }
}
