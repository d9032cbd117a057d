//! The rules that every implementation follows, so that all of them refuse the same values.
//!
//! PostgreSQL stores no NUL in a text and cannot index a long text; here that holds for every
//! implementation. A value that breaks a rule is [`Error::Refused`] before anything is written.

use model::{Definition, Instance, Token, Trigger, limits, route_shape};

use crate::{
    Audit, Burst, Error, NewInstance, OutboxRow, PendingCommand, Publication, StoredBookmark,
    ValueChanges,
};

/// Bytes of a text that is a key: an id, a hash, a correlation id.
pub const KEY_BYTES_MAX: usize = 1024;

/// The name of HTTP triggers.
pub const HTTP_ENDPOINT: &str = "Elsa.HttpEndpoint";

/// Checks that texts have no NUL.
///
/// # Errors
/// [`Error::Refused`] shows the text.
pub fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Result<(), Error> {
    match texts.into_iter().flatten().find(|text| text.contains('\0')) {
        Some(text) => Err(refused(format!("{text:?} contains a NUL character; leave it out"))),
        None => Ok(()),
    }
}

/// Checks that keys have no NUL and are short enough.
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

/// Checks an instance's row.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
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

/// Checks a start.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn start(start: &NewInstance) -> Result<(), Error> {
    keys([start.activation_key.as_deref()])?;
    instance(&start.instance)
}

/// Checks a command.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn command(command: &PendingCommand) -> Result<(), Error> {
    keys([
        Some(command.id.as_str()),
        command.instance_id.as_ref().map(AsRef::as_ref),
        command.bookmark_id.as_ref().map(AsRef::as_ref),
        command.hash.as_deref(),
        command.correlation_id.as_deref(),
    ])
}

/// Checks a bookmark.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
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

/// Checks a token.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn token(token: &Token) -> Result<(), Error> {
    keys([Some(token.hash.as_str()), Some(token.instance_id.as_str())])
}

/// Checks a message to publish.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn outbox_row(row: &OutboxRow) -> Result<(), Error> {
    keys([Some(row.id.as_str()), Some(row.instance_id.as_str())])
}

/// Checks an entry of the audit log.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn audit(entry: &Audit) -> Result<(), Error> {
    texts([Some(entry.who.as_str()), Some(&entry.what), Some(&entry.target)])?;
    texts([entry.address.as_deref()])
}

/// Checks changes of searchable values.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn values(changes: &ValueChanges) -> Result<(), Error> {
    let names = changes.set.keys().chain(&changes.removed).map(|name| Some(name.as_str()));
    keys(names.chain(changes.set.values().map(|key| Some(key.as_str()))))
}

/// Checks all changes of a burst.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn burst(burst: &Burst) -> Result<(), Error> {
    keys([burst.activation_key.as_deref()])?;
    instance(&burst.instance)?;
    burst.created.iter().try_for_each(bookmark)?;
    burst.starts.iter().try_for_each(start)?;
    burst.commands.iter().try_for_each(command)?;
    burst.outbox.iter().try_for_each(outbox_row)?;
    values(&burst.values)?;
    burst.tokens.iter().try_for_each(token)
}

/// Checks a definition version.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn definition(definition: &Definition) -> Result<(), Error> {
    keys([Some(definition.id.as_str()), Some(definition.definition_id.as_str())])?;
    texts([definition.name.as_deref()])
}

/// Checks a version to publish.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn publication(publication: &Publication) -> Result<(), Error> {
    definition(&publication.definition)?;
    if publication.definition.published_at.is_none() {
        let id = &publication.definition.id;
        return Err(refused(format!("version {id} is to be published without a publishedAt")));
    }
    for trigger in &publication.triggers {
        keys([Some(trigger.activity_id.as_str()), Some(&trigger.name), Some(&trigger.hash)])?;
    }
    for schedule in &publication.schedules {
        keys([Some(schedule.id.as_str()), Some(schedule.activity_id.as_str())])?;
    }
    Ok(())
}

/// The requests that an HTTP trigger receives: the shape of its path, and its method. No two
/// triggers of published definitions receive the same; `None` for other triggers.
#[must_use]
pub fn route(trigger: &Trigger) -> Option<(String, String)> {
    if trigger.name != HTTP_ENDPOINT {
        return None;
    }
    let text = |name: &str| trigger.payload.get(name).and_then(serde_json::Value::as_str);
    let method = text("Method").unwrap_or_default().to_lowercase();
    Some((route_shape(text("Path").unwrap_or_default()), method))
}

/// The first of these other triggers that receives a request which one of the new ones receives.
pub fn clash(new: &[Trigger], others: impl IntoIterator<Item = Trigger>) -> Option<Trigger> {
    let routes: Vec<_> = new.iter().filter_map(route).collect();
    others.into_iter().find(|other| route(other).is_some_and(|route| routes.contains(&route)))
}

/// The lowercase text that a search for instances searches.
#[must_use]
pub fn instance_search_text(instance: &Instance) -> String {
    let name = instance.name.as_deref().unwrap_or_default();
    let correlation_id = instance.correlation_id.as_deref().unwrap_or_default();
    format!("{}\n{name}\n{correlation_id}\n{}", instance.id, instance.definition_id).to_lowercase()
}

/// The lowercase text that a search for definitions searches.
#[must_use]
pub fn definition_search_text(definition: &Definition) -> String {
    let name = definition.name.as_deref().unwrap_or_default();
    let description = definition.description.as_deref().unwrap_or_default();
    format!("{name}\n{}\n{description}", definition.definition_id).to_lowercase()
}

/// The error of a change to a version that was published once.
#[must_use]
pub fn immutable_version(definition: &Definition) -> Error {
    let (number, id) = (definition.version, &definition.definition_id);
    refused(format!(
        "version {number} of definition {id} was published and never changes; save a new version"
    ))
}

/// The row after a publication. A version that was published before keeps its document.
///
/// # Errors
/// [`Error::Refused`] when the version was published before with other content.
pub fn published_over(
    known: Option<&Definition>,
    definition: Definition,
) -> Result<Definition, Error> {
    let stored = match known {
        Some(known) if known.is_immutable() => {
            if !known.has_content_of(&definition) {
                return Err(immutable_version(&definition));
            }
            let published_at = known.published_at.or(definition.published_at);
            Definition { published_at, ..known.clone() }
        }
        _ => definition,
    };
    Ok(Definition { is_latest: true, is_published: true, ..stored })
}

/// The error of a version id that belongs to another definition.
#[must_use]
pub fn foreign_version(definition: &Definition) -> Error {
    let (version, id) = (&definition.id, &definition.definition_id);
    refused(format!("version id {version} belongs to another definition than {id}; use a new one"))
}

/// The error of a number that belongs to another version.
#[must_use]
pub fn taken_number(definition: &Definition) -> Error {
    let (number, id) = (definition.version, &definition.definition_id);
    refused(format!("definition {id} has a version {number} already; use the next number"))
}

fn refused(reason: String) -> Error {
    Error::Refused(reason)
}
