//! The rules that every implementation keeps, so that a value is refused by all or by none.
//!
//! PostgreSQL keeps no NUL in a text and indexes no long one; here that holds everywhere. What
//! fails is [`Error::Refused`], before anything is written.

use model::{Definition, Instance, Token, Trigger, limits};

use crate::{Burst, Error, NewInstance, OutboxRow, PendingCommand, Publication, StoredBookmark};

/// Bytes of a text that something is found by: an id, a hash, a correlation id.
pub const KEY_BYTES_MAX: usize = 1024;

const HTTP_ENDPOINT: &str = "Elsa.HttpEndpoint";

/// Texts without NUL.
///
/// # Errors
/// [`Error::Refused`] shows the text.
pub fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Result<(), Error> {
    match texts.into_iter().flatten().find(|text| text.contains('\0')) {
        Some(text) => Err(refused(format!("{text:?} contains a NUL character; leave it out"))),
        None => Ok(()),
    }
}

/// Texts without NUL that are short enough to be found by.
///
/// # Errors
/// [`Error::Refused`] shows the text.
pub fn keys<'a>(keys: impl IntoIterator<Item = Option<&'a str>>) -> Result<(), Error> {
    for key in keys.into_iter().flatten() {
        if key.len() > KEY_BYTES_MAX {
            let begin: String = key.chars().take(40).collect();
            let bytes = key.len();
            return Err(refused(format!(
                "{begin:?}… has {bytes} bytes; an id or key has at most {KEY_BYTES_MAX}"
            )));
        }
        texts([Some(key)])?;
    }
    Ok(())
}

/// An instance's row.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn instance(instance: &Instance) -> Result<(), Error> {
    let parent = instance.parent.as_ref();
    keys([
        Some(instance.id.as_str()),
        Some(instance.definition_id.as_str()),
        Some(instance.version_id.as_str()),
        instance.correlation_id.as_deref(),
        parent.map(|parent| parent.instance_id.as_str()),
        parent.and_then(|parent| parent.bookmark_id.as_ref()).map(AsRef::as_ref),
    ])?;
    texts([instance.name.as_deref()])?;
    if instance.state.len() > limits::STATE_BYTES_MAX {
        let (id, bytes) = (&instance.id, instance.state.len());
        return Err(refused(format!(
            "the state of instance {id} has {bytes} bytes; at most {} are kept",
            limits::STATE_BYTES_MAX
        )));
    }
    Ok(())
}

/// A start.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn start(start: &NewInstance) -> Result<(), Error> {
    keys([start.activation_key.as_deref()])?;
    instance(&start.instance)
}

/// A command to keep.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn command(command: &PendingCommand) -> Result<(), Error> {
    keys([
        Some(command.id.as_str()),
        command.instance_id.as_ref().map(AsRef::as_ref),
        command.bookmark_id.as_ref().map(AsRef::as_ref),
        command.hash.as_deref(),
        command.correlation_id.as_deref(),
    ])
}

/// A bookmark.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn bookmark(stored: &StoredBookmark) -> Result<(), Error> {
    let bookmark = &stored.bookmark;
    keys([
        Some(bookmark.id.as_str()),
        Some(stored.instance_id.as_str()),
        Some(stored.definition_id.as_str()),
        stored.correlation_id.as_deref(),
        Some(&bookmark.name),
        Some(&bookmark.hash),
        Some(&bookmark.activity_instance_id),
    ])?;
    texts([Some(bookmark.activity_id.as_str()), Some(bookmark.activity_node_id.as_str())])
}

/// A token.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn token(token: &Token) -> Result<(), Error> {
    keys([Some(token.hash.as_str()), Some(token.instance_id.as_str())])
}

/// A message to publish.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn outbox_row(row: &OutboxRow) -> Result<(), Error> {
    keys([Some(row.id.as_str()), Some(row.instance_id.as_str())])
}

/// Everything a burst changes.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn burst(burst: &Burst) -> Result<(), Error> {
    keys([burst.activation_key.as_deref()])?;
    instance(&burst.instance)?;
    burst.created.iter().try_for_each(bookmark)?;
    burst.starts.iter().try_for_each(start)?;
    burst.commands.iter().try_for_each(command)?;
    burst.outbox.iter().try_for_each(outbox_row)?;
    burst.tokens.iter().try_for_each(token)
}

/// A definition version.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn definition(definition: &Definition) -> Result<(), Error> {
    keys([Some(definition.id.as_str()), Some(definition.definition_id.as_str())])?;
    texts([definition.name.as_deref()])
}

/// A version to publish.
///
/// # Errors
/// [`Error::Refused`] says what is wrong.
pub fn publication(publication: &Publication) -> Result<(), Error> {
    definition(&publication.definition)?;
    for trigger in &publication.triggers {
        keys([Some(trigger.activity_id.as_str()), Some(&trigger.name), Some(&trigger.hash)])?;
    }
    for schedule in &publication.schedules {
        keys([Some(schedule.id.as_str()), Some(schedule.activity_id.as_str())])?;
    }
    Ok(())
}

/// The hashes among these triggers that no other definition may have: those of HTTP routes.
pub fn routes(triggers: &[Trigger]) -> impl Iterator<Item = &str> {
    triggers.iter().filter(|trigger| trigger.name == HTTP_ENDPOINT).map(|trigger| &*trigger.hash)
}

/// What a search for instances looks through, in lowercase.
#[must_use]
pub fn instance_search_text(instance: &Instance) -> String {
    let name = instance.name.as_deref().unwrap_or_default();
    let correlation_id = instance.correlation_id.as_deref().unwrap_or_default();
    format!("{}\n{name}\n{correlation_id}\n{}", instance.id, instance.definition_id).to_lowercase()
}

/// What a search for definitions looks through, in lowercase.
#[must_use]
pub fn definition_search_text(definition: &Definition) -> String {
    let name = definition.name.as_deref().unwrap_or_default();
    format!("{name}\n{}", definition.definition_id).to_lowercase()
}

/// A draft would change what is published.
#[must_use]
pub fn published_version(definition: &Definition) -> Error {
    let (number, id) = (definition.version, &definition.definition_id);
    refused(format!("version {number} of definition {id} is published; save a new version"))
}

/// The version id belongs to another definition.
#[must_use]
pub fn foreign_version(definition: &Definition) -> Error {
    let (version, id) = (&definition.id, &definition.definition_id);
    refused(format!("version id {version} belongs to another definition than {id}; use a new one"))
}

/// The number belongs to another version.
#[must_use]
pub fn taken_number(definition: &Definition) -> Error {
    let (number, id) = (definition.version, &definition.definition_id);
    refused(format!("definition {id} has a version {number} already; use the next number"))
}

fn refused(reason: String) -> Error {
    Error::Refused(reason)
}
