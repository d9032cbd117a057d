//! A point in time in UTC. It is a number; this crate reads no clock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z. RFC 3339 text in JSON, an integer in MessagePack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The reason why a text is not a timestamp.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is not an RFC 3339 date and time such as 2026-01-31T08:00:00Z: {reason}")]
pub struct InvalidTimestamp {
    text: String,
    reason: String,
}

impl Timestamp {
    /// The timestamp this many milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time this much later, or the latest time if the sum does not fit.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time this much earlier, or the earliest time if the difference does not fit.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The duration since `earlier`; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads RFC 3339, with any offset.
    ///
    /// # Errors
    /// [`InvalidTimestamp`] shows the text and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        let parsed: Result<jiff::Timestamp, _> = text.trim().parse();
        match parsed {
            Ok(time) => Ok(Self(time.as_millisecond())),
            Err(error) => {
                Err(InvalidTimestamp { text: text.to_owned(), reason: error.to_string() })
            }
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "A time in RFC 3339; Staunch writes it in UTC, with milliseconds.",
        })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            Self::parse(&text).map_err(de::Error::custom)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_number_name_the_same_instant() {
        let time = Timestamp::parse("2026-11-21T10:00:00.250+01:00").unwrap();
        assert_eq!(time.to_string(), "2026-11-21T09:00:00.250Z");
        assert_eq!(Timestamp::from_millis(time.as_millis()), time);
        assert_eq!(time.since(time.before(Duration::from_secs(2))), Duration::from_secs(2));
        assert!(Timestamp::parse("tomorrow").is_err());
    }
}
