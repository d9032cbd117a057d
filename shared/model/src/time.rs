//! A point in time in UTC. It is a number; this crate reads no clock.

use std::fmt;
use std::time::Duration;

use jiff::fmt::temporal::Pieces;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since 1970-01-01T00:00:00Z. RFC 3339 text in JSON, an integer in MessagePack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The reason why a text is not a timestamp.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is {reason}")]
pub struct InvalidTimestamp {
    text: String,
    reason: String,
    is_out_of_range: bool,
}

impl InvalidTimestamp {
    fn of(text: &str, error: &jiff::Error) -> Self {
        let beyond = beyond(text.trim());
        let is_out_of_range = beyond.is_some();
        let reason = beyond.unwrap_or_else(|| {
            format!("not an RFC 3339 date and time such as 2026-01-31T08:00:00Z: {error}")
        });
        Self { text: text.to_owned(), reason, is_out_of_range }
    }

    /// The text is a time, and it is before [`Timestamp::EARLIEST`] or after [`Timestamp::LATEST`].
    #[must_use]
    pub fn is_out_of_range(&self) -> bool {
        self.is_out_of_range
    }
}

/// The limit that a time in this text does not keep; none if the text is no time.
fn beyond(text: &str) -> Option<String> {
    let pieces = Pieces::parse(text).ok()?;
    let (date, time, offset) = (pieces.date(), pieces.time()?, pieces.to_numeric_offset()?);
    if offset.to_timestamp(date.to_datetime(time)).is_ok() {
        return None;
    }
    Some(match date.year() {
        ..=0 => format!("too early: the earliest time is {}", Timestamp::EARLIEST),
        _ => format!("too late: the latest time is {}", Timestamp::LATEST),
    })
}

impl Timestamp {
    /// The earliest time that can be written.
    pub const EARLIEST: Self = Self(-377_705_023_201_000);
    /// The latest time that can be written: whatever the offset, its year has four digits.
    pub const LATEST: Self = Self(253_402_207_200_999);

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
            Err(error) => Err(InvalidTimestamp::of(text, &error)),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `from_millisecond` refuses the last 999 ms of the range.
        let since_epoch = jiff::SignedDuration::from_millis(self.0);
        match jiff::Timestamp::from_duration(since_epoch) {
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

    #[test]
    fn a_time_beyond_the_limits_is_refused_with_the_limit() {
        for limit in [Timestamp::EARLIEST, Timestamp::LATEST] {
            assert_eq!(Timestamp::parse(&limit.to_string()).unwrap(), limit);
        }
        for (text, limit) in [
            ("9999-12-31T23:59:59Z", "too late: the latest time is 9999-12-30T22:00:00.999Z"),
            (" 9999-12-31T23:59:59-01:00", "the latest time is 9999-12-30T22:00:00.999Z"),
            ("-009999-01-01T00:00:00Z", "too early: the earliest time is -009999-01-02T01:59:59"),
        ] {
            let invalid = Timestamp::parse(text).unwrap_err();
            assert!(invalid.is_out_of_range(), "{invalid}");
            assert!(invalid.to_string().contains(limit), "{invalid}");
        }
        for text in ["tomorrow", "9999-12-31", "9999-12-32T00:00:00Z", "9999-12-31T23:59:59"] {
            let invalid = Timestamp::parse(text).unwrap_err();
            assert!(!invalid.is_out_of_range(), "{invalid}");
            assert!(invalid.to_string().contains("is not an RFC 3339 date and time"), "{invalid}");
        }
    }
}
