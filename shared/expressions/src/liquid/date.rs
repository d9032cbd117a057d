//! The filter `date`: formats a point in time by a pattern such as `%Y-%m-%d %H:%M`.

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use liquid_core::{Error, Result, Runtime, Value, ValueCow, ValueView};

use super::budget;

/// The size limit of a pattern.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Formats the input. `now` and `today` are the time of the turn, a number counts seconds since
/// 1970, and an input that is no date stays as it is.
pub(super) fn run(
    input: &dyn ValueView,
    given: &[ValueCow<'_>],
    runtime: &dyn Runtime,
) -> Result<Value> {
    let Some(pattern) = given.first().filter(|given| !given.is_nil()) else {
        return Ok(input.to_value());
    };
    let pattern = pattern.to_kstr();
    let text = input.to_kstr();
    let Some(time) = read(text.trim(), runtime) else { return Ok(input.to_value()) };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(Error::with_msg("the pattern of the filter date is too long"));
    }
    match strtime::format(pattern.as_str(), &time) {
        Ok(text) => Ok(Value::scalar(text)),
        Err(error) => {
            Err(Error::with_msg(format!("the filter date cannot use {pattern:?}: {error}")))
        }
    }
}

/// The instant that a text names.
pub(super) fn read(text: &str, runtime: &dyn Runtime) -> Option<Zoned> {
    let now = budget::now(runtime);
    if matches!(text, "now" | "today") {
        let now = Timestamp::from_millisecond(now.as_millis()).ok()?;
        return Some(now.to_zoned(TimeZone::UTC));
    }
    if let Ok(seconds) = text.parse::<i64>() {
        return Some(Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC));
    }
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    let date: Date = pieces.date();
    let time = DateTime::from_parts(date, pieces.time().unwrap_or_default());
    time.to_zoned(TimeZone::fixed(offset)).ok()
}
