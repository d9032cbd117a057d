//! One check: a grade, what was found, and what to do.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// As it should be.
    Ok,
    /// It works, and may not go on working.
    Warn,
    /// Something does not work, or is not safe.
    Bad,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        })
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) grade: Grade,
    /// `nats`, `database`, `cluster`, `work`, `payloads`, `api`, `clock`, `host` or `settings`.
    pub(crate) area: &'static str,
    pub(crate) found: String,
    /// What to do; none if nothing is to be done.
    pub(crate) advice: Option<String>,
}

impl Check {
    pub(super) fn ok(area: &'static str, found: impl Into<String>) -> Self {
        Self { grade: Grade::Ok, area, found: found.into(), advice: None }
    }

    pub(super) fn warn(
        area: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { grade: Grade::Warn, area, found: found.into(), advice }
    }

    pub(super) fn bad(
        area: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { grade: Grade::Bad, area, found: found.into(), advice }
    }

    pub(super) fn document(&self) -> Value {
        json!({"grade": self.grade.to_string(), "area": self.area, "found": self.found,
            "advice": self.advice})
    }
}

/// The grade of a measured round trip.
pub(super) fn latency(
    area: &'static str,
    what: &str,
    times: &[Duration],
    (advised, most): (Duration, Duration),
) -> Option<Check> {
    let median = *times.get(times.len() / 2)?;
    let found = format!("{what} answers in {:.1} ms", median.as_secs_f64() * 1_000.0);
    let advice = format!(
        "at most {} ms are advised, since each burst waits for some of them: place the nodes \
         closer to it, or give it faster hardware",
        advised.as_millis()
    );
    Some(match median {
        time if time <= advised => Check::ok(area, found),
        time if time <= most => Check::warn(area, found, advice),
        _ => Check::bad(area, found, advice),
    })
}
