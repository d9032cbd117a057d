//! Where messages come from that workflows listen to, and which of them they take.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Timestamp;

/// The beginning of the names of the streams behind buckets and object stores.
const BUCKET: &str = "KV_";
const STORE: &str = "OBJ_";
/// Where a stream is begun unless another place is named.
const NEW: &str = "new";
const NANOS_OF_MILLI: i128 = 1_000_000;

/// Where messages come from that workflows listen to, and which of them they take. Workflows with the
/// same source share its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSource {
    /// A subject, which may have wildcards.
    pub subject: String,
    /// The stream; none for messages as they come, which nobody keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Where a stream is begun: `new`, `all`, or a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What the messages of the stream are.
    #[serde(skip_serializing_if = "Content::is_message")]
    pub content: Content,
    /// Only messages for which this is true are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<Script>,
    /// The correlation id of the instances that start and of those that are resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Script>,
    /// Messages with the same value of this are one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Script>,
    /// A message is handed over when the instances that took the one before have ended or wait.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
}

/// What the messages of a stream are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Messages that somebody published.
    #[default]
    Message,
    /// Changes of the keys of a bucket; of these operations, or of all when there is none.
    Key(Vec<String>),
    /// Descriptions of objects in an object store.
    Object,
}

/// An expression that sees a message alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Script {
    /// The expression type; `Literal` for a value.
    pub language: String,
    /// Its text; of a value, its JSON.
    pub text: String,
}

impl Content {
    fn is_message(&self) -> bool {
        *self == Self::Message
    }
}

impl MessageSource {
    /// The changes of the keys of a bucket that fit a pattern.
    #[must_use]
    pub fn keys(bucket: &str, pattern: &str, operations: Vec<String>) -> Self {
        Self {
            subject: format!("$KV.{bucket}.{pattern}"),
            stream: Some(format!("{BUCKET}{bucket}")),
            content: Content::Key(operations),
            ..Self::default()
        }
    }

    /// The objects that are stored in an object store.
    #[must_use]
    pub fn objects(store: &str) -> Self {
        Self {
            subject: format!("$O.{store}.M.>"),
            stream: Some(format!("{STORE}{store}")),
            content: Content::Object,
            ..Self::default()
        }
    }

    /// The bucket or the object store; none of messages that somebody published.
    #[must_use]
    pub fn bucket(&self) -> Option<&str> {
        let stream = self.stream.as_deref()?;
        match self.content {
            Content::Message => None,
            Content::Key(_) => stream.strip_prefix(BUCKET),
            Content::Object => stream.strip_prefix(STORE),
        }
    }

    /// The same for those that wait: where they read what the stream had before, one message after the
    /// other. So it is a place of its own, which no workflow that starts with the messages empties.
    #[must_use]
    pub fn awaited(self) -> Self {
        let in_order = self.in_order || self.reads_the_past();
        Self { in_order, ..self }
    }

    /// It has messages from before anybody listened, or from a time that is named.
    #[must_use]
    pub fn reads_the_past(&self) -> bool {
        self.stream.is_some() && self.from.as_deref().is_some_and(|from| from != NEW)
    }

    /// A message that was stored at this time, in nanoseconds since 1970, is from before its beginning.
    /// NATS hands out such messages where the beginning is a time to come.
    #[must_use]
    pub fn is_too_early(&self, stored_nanos: i128) -> bool {
        let from = self.from.as_deref().and_then(|from| Timestamp::parse(from).ok());
        from.is_some_and(|from| stored_nanos < i128::from(from.as_millis()) * NANOS_OF_MILLI)
    }

    /// The source in the payload of [`Stimulus::message`](crate::Stimulus::message).
    #[must_use]
    pub fn of(payload: &Value) -> Option<Self> {
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        let rest = payload.get("Taking").cloned().unwrap_or_else(|| json!({}));
        let rest: Self = serde_json::from_value(rest).ok()?;
        let (subject, stream, from) = (text("Subject")?, text("Stream"), text("From"));
        Some(Self { subject, stream, from, ..rest })
    }

    /// The payload of its stimulus. Sources that take every message have the payload that they had
    /// before there were others.
    pub(crate) fn payload(&self) -> Value {
        let mut payload =
            json!({"Subject": self.subject, "Stream": self.stream, "From": self.from});
        let rest = Self { subject: String::new(), stream: None, from: None, ..self.clone() };
        if rest != Self::default() {
            let mut taking = json!(rest);
            if let Some(taking) = taking.as_object_mut() {
                taking.remove("subject");
            }
            payload["Taking"] = taking;
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stimulus;

    #[test]
    fn a_source_survives_its_stimulus_and_has_the_hash_that_it_had() {
        let plain = MessageSource {
            subject: "orders.*".to_owned(),
            stream: Some("ORDERS".to_owned()),
            from: Some("new".to_owned()),
            ..MessageSource::default()
        };
        let payload = json!({"Subject": "orders.*", "Stream": "ORDERS", "From": "new"});
        assert_eq!(Stimulus::message(&plain).payload, payload);
        let script =
            |text: &str| Some(Script { language: "JavaScript".to_owned(), text: text.to_owned() });
        let choosy = MessageSource {
            predicate: script("args.content.big"),
            correlation: script("args.content.id"),
            key: script("args.headers.Id"),
            in_order: true,
            ..plain.clone()
        };
        let keys = MessageSource::keys("config", "a.*", vec!["put".to_owned()]);
        assert_eq!((keys.bucket(), plain.bucket()), (Some("config"), None));
        let objects = MessageSource::objects("files");
        assert_eq!(objects.bucket(), Some("files"));
        for source in [plain.clone(), choosy, keys, objects] {
            let stimulus = Stimulus::message(&source);
            assert_eq!(MessageSource::of(&stimulus.payload), Some(source.clone()));
            assert_eq!(stimulus.hash() == Stimulus::message(&plain).hash(), source == plain);
            let stored = serde_json::to_value(&source).unwrap();
            assert_eq!(serde_json::from_value::<MessageSource>(stored).unwrap(), source);
        }
    }

    fn from(beginning: Option<&str>, stream: Option<&str>) -> MessageSource {
        let (from, stream) = (beginning.map(str::to_owned), stream.map(str::to_owned));
        MessageSource { subject: "orders.*".to_owned(), from, stream, ..MessageSource::default() }
    }

    #[test]
    fn those_that_wait_read_the_past_in_order_and_at_a_place_of_their_own() {
        let hash = |source: &MessageSource| Stimulus::message(source).hash();
        for beginning in ["all", "2026-01-31T08:00:00Z"] {
            let source = from(Some(beginning), Some("ORDERS"));
            let awaited = source.clone().awaited();
            assert!(awaited.in_order && hash(&awaited) != hash(&source), "{beginning}");
            assert_eq!(awaited.clone().awaited(), awaited);
        }
        for (beginning, stream) in [(Some("new"), Some("ORDERS")), (None, None)] {
            let source = from(beginning, stream);
            assert_eq!(source.clone().awaited(), source);
        }
    }

    #[test]
    fn what_was_stored_before_the_time_that_is_named_is_too_early() {
        let source = from(Some("1970-01-01T00:00:01.002Z"), Some("ORDERS"));
        let is_too_early = |nanos: i128| source.is_too_early(nanos);
        assert!(is_too_early(0) && is_too_early(1_001_999_999));
        assert!(!is_too_early(1_002_000_000) && !is_too_early(2_000_000_000));
        for beginning in [None, Some("new"), Some("all")] {
            assert!(!from(beginning, Some("ORDERS")).is_too_early(0), "{beginning:?}");
        }
    }
}
