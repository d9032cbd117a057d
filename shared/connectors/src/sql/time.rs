//! Dates and times: RFC 3339 in JSON.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde_json::Value;

pub(super) fn instant(at: DateTime<Utc>) -> Value {
    Value::String(at.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

pub(super) fn local(at: NaiveDateTime) -> Value {
    Value::String(at.format("%Y-%m-%dT%H:%M:%S%.f").to_string())
}

pub(super) fn date(at: NaiveDate) -> Value {
    Value::String(at.to_string())
}

pub(super) fn time(at: NaiveTime) -> Value {
    Value::String(at.to_string())
}

pub(super) fn to_instant(text: &str) -> Option<DateTime<Utc>> {
    let exact = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc()).ok();
    exact.or_else(|| Some(to_local(text)?.and_utc()))
}

pub(super) fn to_local(text: &str) -> Option<NaiveDateTime> {
    let text = text.trim().replacen(' ', "T", 1);
    if let Ok(at) = DateTime::parse_from_rfc3339(&text) {
        return Some(at.naive_utc());
    }
    let exact = NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f").ok();
    exact.or_else(|| to_date(&text)?.and_hms_opt(0, 0, 0))
}

pub(super) fn to_date(text: &str) -> Option<NaiveDate> {
    let day = text.trim().get(..10)?;
    NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()
}

pub(super) fn to_time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text.trim(), "%H:%M:%S%.f").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_with_and_without_offset() {
        let shown = |text: &str| to_instant(text).map(instant);
        let expected = Some(Value::from("2026-01-02T03:04:05Z"));
        assert_eq!(shown("2026-01-02T04:04:05+01:00"), expected);
        assert_eq!(shown("2026-01-02 03:04:05"), expected);
        assert_eq!(shown("2026-01-02"), Some(Value::from("2026-01-02T00:00:00Z")));
        assert_eq!(shown("yesterday"), None);
        assert_eq!(to_time("10:20:30.5").map(time), Some(Value::from("10:20:30.500")));
    }
}
