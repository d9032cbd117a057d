//! Values of the port as rows of the pipeline's statements.

use model::{Entry, Instance, Token};
use protocol::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Burst, Error, NewInstance, OutboxRow, PendingCommand, StoredBookmark, check};

use crate::sql::{Cell, Row};

/// Writes MessagePack with named members.
pub(crate) fn pack(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    rmp_serde::to_vec_named(value).map_err(|error| Error::Refused(error.to_string()))
}

/// Writes MessagePack without names: members may be added at the end only.
fn packed(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    rmp_serde::to_vec(value).map_err(|error| Error::Refused(error.to_string()))
}

/// Reads MessagePack.
pub(crate) fn unpack<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Error> {
    rmp_serde::from_slice(bytes).map_err(|error| Error::Corrupt(format!("{what}: {error}")))
}

/// Writes JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Refused(error.to_string()))
}

/// Reads JSON.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Corrupt(format!("{what}: {error}")))
}

/// A count as it is kept.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A row of `instances`.
pub(crate) fn instance(
    instance: &Instance,
    activation_key: Option<&str>,
    start_command: Option<&Message>,
) -> Result<Row, Error> {
    let parent = instance.parent.as_ref();
    let parent_bookmark = parent.and_then(|parent| parent.bookmark_id.as_ref());
    Ok(vec![
        Cell::text(instance.id.as_str()),
        Cell::text(instance.definition_id.as_str()),
        Cell::text(instance.version_id.as_str()),
        Cell::number(instance.definition_version),
        Cell::number(instance.version),
        Cell::text(instance.status.as_str()),
        Cell::Text(instance.correlation_id.clone()),
        Cell::Text(instance.name.clone()),
        Cell::Text(parent.map(|parent| parent.instance_id.to_string())),
        Cell::Text(parent_bookmark.map(ToString::to_string)),
        Cell::number(instance.incidents),
        Cell::number(instance.created_at.as_millis()),
        Cell::number(instance.updated_at.as_millis()),
        Cell::Number(instance.finished_at.map(|time| time.as_millis())),
        Cell::Text(activation_key.filter(|_| !instance.status.is_final()).map(str::to_owned)),
        Cell::text(check::instance_search_text(instance)),
        Cell::Bytes(start_command.map(pack).transpose()?),
        Cell::Bytes(Some(instance.state.clone())),
    ])
}

/// A row of `instances` for a start.
pub(crate) fn start(start: &NewInstance) -> Result<Row, Error> {
    instance(&start.instance, start.activation_key.as_deref(), Some(&start.command))
}

/// What a later burst changes in a row of `instances`.
pub(crate) fn change(burst: &Burst, expected: i64) -> Row {
    let instance = &burst.instance;
    let activation_key = burst.activation_key.clone().filter(|_| !instance.status.is_final());
    vec![
        Cell::text(instance.id.as_str()),
        Cell::number(expected),
        Cell::number(instance.version),
        Cell::text(instance.status.as_str()),
        Cell::Text(instance.correlation_id.clone()),
        Cell::Text(instance.name.clone()),
        Cell::number(instance.incidents),
        Cell::number(instance.updated_at.as_millis()),
        Cell::Number(instance.finished_at.map(|time| time.as_millis())),
        Cell::Text(activation_key),
        Cell::text(check::instance_search_text(instance)),
        Cell::Bytes(Some(instance.state.clone())),
    ]
}

/// A row of `bookmarks`.
pub(crate) fn bookmark(stored: &StoredBookmark) -> Result<Row, Error> {
    let bookmark = &stored.bookmark;
    Ok(vec![
        Cell::text(bookmark.id.as_str()),
        Cell::text(stored.instance_id.as_str()),
        Cell::text(stored.definition_id.as_str()),
        Cell::Text(stored.correlation_id.clone()),
        Cell::number(stored.shard),
        Cell::text(&bookmark.name),
        Cell::text(&bookmark.hash),
        Cell::text(bookmark.activity_id.as_str()),
        Cell::text(&bookmark.activity_node_id),
        Cell::text(&bookmark.activity_instance_id),
        Cell::text(json(&bookmark.payload)?),
        Cell::Text(stored.route_template()),
        Cell::number(bookmark.created_at.as_millis()),
        Cell::Number(bookmark.due_at.map(|time| time.as_millis())),
    ])
}

/// A row of `pending_resumes`.
pub(crate) fn pending(command: &PendingCommand, waiting: bool) -> Result<Row, Error> {
    Ok(vec![
        Cell::text(command.id.as_str()),
        Cell::Text(command.instance_id.as_ref().map(ToString::to_string)),
        Cell::Text(command.bookmark_id.as_ref().map(ToString::to_string)),
        Cell::Text(command.hash.clone()),
        Cell::Text(command.correlation_id.clone()),
        Cell::number(command.accepted_at.as_millis()),
        Cell::Number(command.expires_at.map(|time| time.as_millis())),
        Cell::Flag(waiting),
        Cell::Bytes(Some(pack(&command.command)?)),
    ])
}

/// A row of `journal`; none when nothing happened. Its entries are without the names of their
/// members, which would be more than half of it.
pub(crate) fn journal(instance_id: &str, entries: &[Entry]) -> Result<Option<Row>, Error> {
    let Some(first) = entries.first() else { return Ok(None) };
    Ok(Some(vec![
        Cell::text(instance_id),
        Cell::number(count(first.sequence)),
        Cell::number(count(entries.len())),
        Cell::Bytes(Some(packed(&entries)?)),
    ]))
}

/// A row of `outbox`.
pub(crate) fn outbox(row: &OutboxRow) -> Result<Row, Error> {
    Ok(vec![
        Cell::text(&row.id),
        Cell::text(row.instance_id.as_str()),
        Cell::number(row.created_at.as_millis()),
        Cell::Bytes(Some(pack(&row.message)?)),
    ])
}

/// A row of `tokens`.
pub(crate) fn token(token: &Token) -> Result<Row, Error> {
    Ok(vec![
        Cell::text(&token.hash),
        Cell::text(token.instance_id.as_str()),
        Cell::text(json(&token.target)?),
        Cell::number(token.created_at.as_millis()),
        Cell::number(token.expires_at.as_millis()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_rows_with_names_and_without_are_read() {
        let entry = |sequence, node: Option<&str>| Entry {
            sequence,
            timestamp: model::Timestamp::from_millis(7),
            activity_id: Some("a".into()),
            activity_instance_id: None,
            activity_type: Some("Elsa.WriteLine".to_owned()),
            activity_name: None,
            what: model::What::Line,
            message: Some("x".to_owned()),
            payload: Some(serde_json::json!({"Outcomes": ["Done"]})),
            node: node.map(str::to_owned),
        };
        let entries = vec![entry(1, Some("n")), entry(2, None)];
        let (with, without) = (pack(&entries).unwrap(), packed(&entries).unwrap());
        assert!(without.len() * 2 < with.len(), "{} of {}", without.len(), with.len());
        for bytes in [with, without] {
            assert_eq!(unpack::<Vec<Entry>>("a journal row", &bytes).unwrap(), entries);
        }
    }
}
