//! The encoding of documents: MessagePack on the path of every command, JSON where people read it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::Error;

/// Writes MessagePack with named members.
pub(crate) fn pack(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    rmp_serde::to_vec_named(value).map_err(|error| Error::Refused(error.to_string()))
}

/// Writes MessagePack without names: members may be added at the end only.
pub(crate) fn packed(value: &impl Serialize) -> Result<Vec<u8>, Error> {
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

/// A count in the form that the database keeps.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use model::Entry;

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
            owner: (sequence > 1).then_some(0),
            recorded: (sequence == 3).then(Box::default),
        };
        let entries = vec![entry(1, Some("n")), entry(2, None), entry(3, None)];
        let (with, without) = (pack(&entries).unwrap(), packed(&entries).unwrap());
        assert!(without.len() * 2 < with.len(), "{} of {}", without.len(), with.len());
        for bytes in [with, without] {
            assert_eq!(unpack::<Vec<Entry>>("a journal row", &bytes).unwrap(), entries);
        }
    }
}
