//! How long ended instances are kept, and what becomes of them then.
//!
//! Settings say it for all definitions; a definition says it for its own instances in the custom
//! property `retention`. Where nobody says anything, instances are kept for ever.

use std::time::Duration;

use serde_json::Value;

use crate::{Map, SubStatus, limits, span};

/// The custom property of a definition.
pub const RETENTION: &str = "retention";

/// What becomes of an instance after its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum After {
    /// It is removed.
    #[default]
    Delete,
    /// It is written to the archive, then removed.
    Archive,
}

/// How long ended instances are kept, counted from their last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Those that finished; for ever if `None`.
    pub finished: Option<Duration>,
    /// Those that were cancelled; for ever if `None`.
    pub cancelled: Option<Duration>,
    /// Those that faulted; for ever if `None`.
    pub faulted: Option<Duration>,
    /// What becomes of them then.
    pub after: After,
}

impl Retention {
    /// The final states, in the order in which they are looked through.
    pub const STATES: [SubStatus; 3] =
        [SubStatus::Finished, SubStatus::Cancelled, SubStatus::Faulted];

    /// How long an instance in this state is kept; `None` for ever.
    #[must_use]
    pub fn time(&self, status: SubStatus) -> Option<Duration> {
        match status {
            SubStatus::Finished => self.finished,
            SubStatus::Cancelled => self.cancelled,
            SubStatus::Faulted => self.faulted,
            SubStatus::Pending | SubStatus::Executing | SubStatus::Suspended => None,
        }
    }

    /// True if every instance is kept for ever.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        Self::STATES.iter().all(|status| self.time(*status).is_none())
    }

    /// The same with what a definition says in its custom properties. `"retention": "30d"` or
    /// `"keep"` is for every state; an object names states and `then`, what becomes of the instances:
    /// `{"finished": "7d", "faulted": "keep", "then": "archive"}`. What it does not name stays.
    ///
    /// # Errors
    /// The member that cannot be read, and what it may be.
    pub fn said_by(self, custom: &Map) -> Result<Self, String> {
        let said = custom.iter().find(|(name, _)| name.eq_ignore_ascii_case(RETENTION));
        let members = match said {
            None | Some((_, Value::Null)) => return Ok(self),
            Some((_, Value::Object(members))) => members,
            Some((_, one)) => {
                let time = time(None, one)?;
                return Ok(Self { finished: time, cancelled: time, faulted: time, ..self });
            }
        };
        let mut retention = self;
        for (name, value) in members {
            match name.to_ascii_lowercase().as_str() {
                "finished" => retention.finished = time(Some(name.as_str()), value)?,
                "cancelled" => retention.cancelled = time(Some(name.as_str()), value)?,
                "faulted" => retention.faulted = time(Some(name.as_str()), value)?,
                "then" => retention.after = after(value)?,
                _ => {
                    return Err(format!(
                        "{RETENTION}.{name} is not known: use finished, cancelled, faulted or then"
                    ));
                }
            }
        }
        Ok(retention)
    }
}

/// The time of a state; of every state if it has no name.
fn time(name: Option<&str>, value: &Value) -> Result<Option<Duration>, String> {
    let what = name.map_or_else(|| RETENTION.to_owned(), |name| format!("{name} of {RETENTION}"));
    let wrong = |reason: &str| format!("{what} {reason}: use keep or a time such as 12h or 30d");
    let Some(text) = value.as_str() else {
        return Err(match name {
            Some(_) => wrong("is not a text"),
            None => format!(
                "{}, or an object with finished, cancelled, faulted and then",
                wrong("is neither a text nor an object")
            ),
        });
    };
    if text.eq_ignore_ascii_case("keep") {
        return Ok(None);
    }
    let time = span::parse(text).map_err(|_not_a_time| wrong(&format!("is {text:?}")))?;
    if time < limits::RETENTION_MIN {
        return Err(wrong(&format!("is {text:?}, which is below 1h")));
    }
    Ok(Some(time))
}

fn after(value: &Value) -> Result<After, String> {
    match value.as_str() {
        Some("delete") => Ok(After::Delete),
        Some("archive") => Ok(After::Archive),
        _ => Err(format!("then of {RETENTION} is {value}: use delete or archive")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn settings() -> Retention {
        Retention { finished: Some(30 * DAY), faulted: Some(90 * DAY), ..Retention::default() }
    }

    fn said(retention: Value) -> Result<Retention, String> {
        settings().said_by(&Map::from_iter([("retention".to_owned(), retention)]))
    }

    #[test]
    fn where_nobody_says_anything_all_is_kept() {
        assert!(Retention::default().keeps_all());
        assert_eq!(Retention::default().said_by(&Map::new()), Ok(Retention::default()));
        assert_eq!(said(Value::Null), Ok(settings()));
        assert_eq!(settings().time(SubStatus::Suspended), None);
    }

    #[test]
    fn a_definition_says_it_for_every_state_or_for_some() {
        let week = Some(7 * DAY);
        let all =
            Retention { finished: week, cancelled: week, faulted: week, after: After::Delete };
        assert_eq!(said(json!("7d")), Ok(all));
        assert!(said(json!("keep")).unwrap().keeps_all());
        let some = Retention { finished: week, faulted: None, after: After::Archive, ..settings() };
        let text = json!({"Finished": "7.00:00:00", "faulted": "keep", "then": "archive"});
        assert_eq!(said(text), Ok(some));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (value, part) in [
            (json!("soon"), "retention is \"soon\": use keep"),
            (json!("5m"), "below 1h"),
            (json!(30), "retention is neither a text nor an object: use keep or a time such as"),
            (json!([]), ", or an object with finished, cancelled, faulted and then"),
            (json!({"finished": 5}), "finished of retention is not a text"),
            (json!({"failed": "1d"}), "retention.failed is not known"),
            (json!({"then": "burn"}), "delete or archive"),
            (json!({"finished": {}}), "finished of retention"),
        ] {
            let error = said(value.clone()).unwrap_err();
            assert!(error.contains(part), "{value}: {error}");
            assert!(!error.contains("retention of retention"), "{error}");
        }
    }
}
