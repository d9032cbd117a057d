//! Reads the lifetime of an event's URL from a script: a TimeSpan, a date, or the text of either.

use std::time::Duration;

use model::Timestamp;
use rquickjs::{Ctx, Exception, Function, Result, Value};

/// Reads `lifetimeOrExpiry`; None when nothing was given.
pub(super) fn read<'js>(
    ctx: &Ctx<'js>,
    value: Option<Value<'js>>,
    now: Timestamp,
) -> Result<Option<Duration>> {
    let Some(value) = value.filter(|value| !value.is_null() && !value.is_undefined()) else {
        return Ok(None);
    };
    if let Some(text) = value.as_string() {
        let text = text.to_string()?;
        let read = time_span(&text).or_else(|| Some(Timestamp::parse(&text).ok()?.since(now)));
        return read.map(Some).ok_or_else(|| misfit(ctx));
    }
    let Some(object) = value.as_object() else { return Err(misfit(ctx)) };
    if let Some(millis) = object.get::<_, Option<f64>>("TotalMilliseconds")? {
        return Ok(Some(Duration::from_millis(millis.max(0.0) as u64)));
    }
    if let Some(get_time) = object.get::<_, Option<Function<'js>>>("getTime")? {
        let millis: f64 = get_time.call((rquickjs::function::This(value.clone()),))?;
        return Ok(Some(Timestamp::from_millis(millis as i64).since(now)));
    }
    Err(misfit(ctx))
}

fn misfit(ctx: &Ctx<'_>) -> rquickjs::Error {
    let message = "the lifetime must be a TimeSpan, a date, or text such as \"1.00:00:00\"";
    Exception::throw_type(ctx, message)
}

/// .NET's `[d.]hh:mm:ss[.fffffff]`
fn time_span(text: &str) -> Option<Duration> {
    let (days, clock) = match text.split_once(':')?.0.split_once('.') {
        Some((days, _)) => (days.parse::<u64>().ok()?, text.split_once('.')?.1),
        None => (0, text),
    };
    let mut parts = clock.split(':');
    let hours: u64 = parts.next()?.parse().ok()?;
    let minutes: u64 = parts.next()?.parse().ok()?;
    let seconds: f64 = parts.next().unwrap_or("0").parse().ok()?;
    let fits =
        parts.next().is_none() && hours < 24 && minutes < 60 && (0.0..60.0).contains(&seconds);
    let whole = days.checked_mul(24)?.checked_add(hours)?.checked_mul(60)?.checked_add(minutes)?;
    let whole = Duration::from_secs(whole.checked_mul(60)?);
    fits.then(|| whole.checked_add(Duration::from_secs_f64(seconds)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_read_as_dotnet_writes_them() {
        assert_eq!(time_span("00:05:00"), Some(Duration::from_secs(300)));
        assert_eq!(time_span("1.02:00:00.5"), Some(Duration::from_millis(26 * 3_600_000 + 500)));
        for wrong in ["", "5", "25:00:00", "1:2:3:4", "a:b:c", "-1:00:00", "0:00:61"] {
            assert_eq!(time_span(wrong), None, "{wrong}");
        }
    }
}
