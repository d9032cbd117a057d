//! Cron expressions. Validation, waits and schedules all read them with this module.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::Timestamp;

/// A cron expression in a time zone.
///
/// 5 or 6 fields, the first of 6 is seconds; a day must match both the day of the month and the
/// day of the week, as in Elsa. Daylight saving is honoured in the zone; UTC when none is given.
#[derive(Clone, Debug)]
pub struct Calendar {
    cron: Cron,
    zone: TimeZone,
}

/// The reason why an expression or a zone cannot be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidCalendar {
    /// The expression cannot be read.
    #[error("{expression:?} is not a cron expression of 5 or 6 fields: {reason}")]
    Cron {
        /// The text.
        expression: String,
        /// The mistake in it.
        reason: String,
    },
    /// There is no such time zone.
    #[error("there is no time zone {name}: write a name such as Europe/Berlin, or UTC")]
    Zone {
        /// As written.
        name: String,
    },
}

impl Calendar {
    /// Reads an expression and a zone.
    ///
    /// # Errors
    /// [`InvalidCalendar`] says which of the two is wrong, and why.
    pub fn read(expression: &str, zone: Option<&str>) -> Result<Self, InvalidCalendar> {
        let zone = match zone.filter(|name| !name.is_empty()) {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name)
                .ok()
                .ok_or_else(|| InvalidCalendar::Zone { name: name.to_owned() })?,
        };
        let parser = CronParser::builder()
            .seconds(Seconds::Optional)
            .year(Year::Disallowed)
            .dom_and_dow(true)
            .sloppy_ranges(true)
            .build();
        let cron = parser.parse(expression).map_err(|error| InvalidCalendar::Cron {
            expression: expression.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { cron, zone })
    }

    /// The first occurrence after a time; `None` when there is none.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let found = self.cron.find_next_occurrence(&self.local(after)?, false);
        found.ok().map(|next| timestamp(&next)).filter(|next| *next > after)
    }

    /// Whether there is any occurrence; `0 0 30 2 *` has none.
    #[must_use]
    pub fn occurs(&self) -> bool {
        self.next(Timestamp::from_millis(0)).is_some()
    }

    /// Occurrences at or before `from`, newest first.
    pub fn backwards(&self, from: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        let mut at = self.local(from);
        let mut inclusive = true;
        std::iter::from_fn(move || {
            let start = at.take()?;
            let previous = self.cron.find_previous_occurrence(&start, inclusive).ok()?;
            if !inclusive && previous.timestamp() >= start.timestamp() {
                return None;
            }
            inclusive = false;
            at = Some(previous.clone());
            Some(timestamp(&previous))
        })
    }

    fn local(&self, at: Timestamp) -> Option<Zoned> {
        let instant = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(instant.to_zoned(self.zone.clone()))
    }
}

fn timestamp(zoned: &Zoned) -> Timestamp {
    Timestamp::from_millis(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_honours_fields_and_zones() {
        let check = |expression: &str, zone: Option<&str>, after: &str, expected: &str| {
            let after = Timestamp::parse(after).unwrap();
            let next = Calendar::read(expression, zone).unwrap().next(after).unwrap();
            assert_eq!(next, Timestamp::parse(expected).unwrap(), "{expression}");
        };
        check("0 0 * * * *", None, "2026-01-01T10:30:00Z", "2026-01-01T11:00:00Z");
        check("*/5 * * * *", None, "2026-01-01T10:30:00Z", "2026-01-01T10:35:00Z");
        check("0/20 * * * * *", None, "2026-01-01T10:30:05Z", "2026-01-01T10:30:20Z");
        check("0 8 * * MON-FRI", None, "2026-01-02T09:00:00Z", "2026-01-05T08:00:00Z");
        check("0 0 13 * FRI", None, "2026-01-01T00:00:00Z", "2026-02-13T00:00:00Z");
        let berlin = Some("Europe/Berlin");
        check("0 8 * * *", berlin, "2026-01-01T08:00:00Z", "2026-01-02T07:00:00Z");
        check("30 2 * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z");
        check("0 8 * * *", berlin, "2026-07-01T08:00:00Z", "2026-07-02T06:00:00Z");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let flaw = |expression, zone| Calendar::read(expression, zone).unwrap_err().to_string();
        assert!(flaw("every day", None).contains("5 or 6 fields"));
        let expected =
            "there is no time zone Mars/Olympus: write a name such as Europe/Berlin, or UTC";
        assert_eq!(flaw("0 8 * * *", Some("Mars/Olympus")), expected);
    }
}
