//! Durations in the notation of .NET, in ISO 8601 and in words.

use std::time::Duration;

/// Reads `[d.]hh:mm[:ss[.fffffff]]`, `PT5S` or `5s`.
///
/// # Errors
/// The notations that are allowed.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let found = if text.contains(':') { clock(text) } else { worded(text) };
    found.ok_or_else(|| format!("{text:?} is not a duration: write 00:00:05, PT5S or 5s"))
}

/// `[d.]hh:mm:ss[.fffffff]`
#[must_use]
pub fn text(span: Duration) -> String {
    let seconds = span.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let mut out = String::new();
    if days > 0 {
        out.push_str(&format!("{days}."));
    }
    out.push_str(&format!("{:02}:{:02}:{:02}", rest / 3600, rest % 3600 / 60, rest % 60));
    let ticks = span.subsec_nanos() / 100;
    if ticks > 0 {
        out.push_str(&format!(".{ticks:07}"));
    }
    out
}

fn worded(text: &str) -> Option<Duration> {
    let span: jiff::Span = text.parse().ok()?;
    let span = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(span).ok()
}

fn clock(text: &str) -> Option<Duration> {
    const DAYS_MAX: u64 = 10_675_199;
    let mut parts = text.split(':');
    let (first, minutes) = (parts.next()?, digits(parts.next()?)?);
    let last = parts.next().unwrap_or("0");
    if parts.next().is_some() {
        return None;
    }
    let (days, hours) = match first.split_once('.') {
        Some((days, hours)) => (digits(days)?, digits(hours)?),
        None => (0, digits(first)?),
    };
    let (seconds, fraction) = last.split_once('.').unwrap_or((last, ""));
    let seconds = digits(seconds)?;
    if days > DAYS_MAX || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    Some(Duration::new(whole, nanos(fraction)?))
}

fn digits(text: &str) -> Option<u64> {
    let good = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

fn nanos(fraction: &str) -> Option<u32> {
    if fraction.is_empty() {
        return Some(0);
    }
    let value = u32::try_from(digits(fraction)?).ok()?;
    let missing = 9_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    Some(value * 10_u32.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_notation_and_written_in_one() {
        let check = |input: &str, expected: &str| {
            assert_eq!(text(parse(input).unwrap()), expected, "{input}");
        };
        check("00:00:05", "00:00:05");
        check("1.02:03:04.5", "1.02:03:04.5000000");
        check("10:30", "10:30:00");
        check("PT5S", "00:00:05");
        check("P1DT2H", "1.02:00:00");
        check("90s", "00:01:30");
        check("1h 30m", "01:30:00");
        check("00:00:00.0000001", "00:00:00.0000001");
    }

    #[test]
    fn nonsense_is_refused() {
        let check = |input: &str| assert!(parse(input).is_err(), "{input}");
        check("");
        check("soon");
        check("24:00:00");
        check("-00:00:05");
        check("-PT5S");
        check("1:2:3:4");
        check("P1M");
        check("00:00:05.12345678901");
        check("99999999999999999999.00:00:00");
    }
}
