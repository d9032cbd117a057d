//! Filters that write dates, numbers and texts by the format strings of .NET, in its invariant
//! culture.

use jiff::Zoned;
use jiff::tz::TimeZone;
use liquid_core::{Error, Result, Runtime, Value, ValueCow, ValueView};

use crate::liquid::date;
use crate::liquid::filter::Own;

/// The size limit of a format string.
const FORMAT_BYTES_MAX: usize = 1_024;
/// The greatest number of digits behind the point, and of leading zeros.
const DIGITS_MAX: usize = 30;
/// The number of values of `format_string`.
const VALUES_MAX: usize = 16;

pub(super) const ALL: [Own; 4] = [
    own("time_zone", "The instant as local time in a time zone.", 1, time_zone),
    own("format_date", "A date by a .NET format string.", 2, |input, given, runtime| {
        let Some(time) = date::read(input.to_kstr().trim(), runtime) else {
            return Ok(input.to_value());
        };
        Ok(Value::scalar(formatted_date(&time, &format_of(given)?)))
    }),
    own("format_number", "A number by a .NET format string.", 2, |input, given, _| {
        let number = input.as_scalar().and_then(|scalar| scalar.to_float());
        let Some(number) = number else { return Ok(input.to_value()) };
        Ok(Value::scalar(formatted_number(number, &format_of(given)?)?))
    }),
    own("format_string", "Fills the values into `{0}`, `{1:N2}` …", VALUES_MAX, format_string),
];

const fn own(
    name: &'static str,
    description: &'static str,
    arguments_max: usize,
    run: crate::liquid::filter::Run,
) -> Own {
    Own { name, description, arguments_max, run }
}

fn format_of(given: &[ValueCow<'_>]) -> Result<String> {
    let format = given.first().map(|format| format.to_kstr().into_string()).unwrap_or_default();
    if format.len() > FORMAT_BYTES_MAX {
        return Err(Error::with_msg("the format string is too long"));
    }
    Ok(format)
}

fn time_zone(
    input: &dyn ValueView,
    given: &[ValueCow<'_>],
    runtime: &dyn Runtime,
) -> Result<Value> {
    let name = given.first().map(|name| name.to_kstr().into_string()).unwrap_or_default();
    let zone = match name.as_str() {
        "" | "local" | "UTC" | "utc" => TimeZone::UTC,
        name => TimeZone::get(name).ok().ok_or_else(|| {
            Error::with_msg(format!(
                "there is no time zone {name}: write a name such as Europe/Berlin, or UTC"
            ))
        })?,
    };
    let Some(time) = date::read(input.to_kstr().trim(), runtime) else {
        return Ok(input.to_value());
    };
    let local = time.with_time_zone(zone);
    Ok(Value::scalar(formatted_date(&local, "yyyy-MM-dd'T'HH:mm:ss.fffzzz")))
}

fn format_string(
    input: &dyn ValueView,
    given: &[ValueCow<'_>],
    runtime: &dyn Runtime,
) -> Result<Value> {
    let format = input.to_kstr();
    let mut text = String::new();
    let mut rest = format.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, mark) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = mark.strip_prefix("{{").or_else(|| mark.strip_prefix("}}")) {
            text.push_str(mark.get(..1).unwrap_or_default());
            rest = after;
            continue;
        }
        let place = mark.strip_prefix('{').and_then(|mark| mark.split_once('}'));
        let Some((place, after)) = place else {
            return Err(Error::with_msg("a { or } has no counterpart: write {{ or }} for itself"));
        };
        let (number, format) = place.split_once(':').unwrap_or((place, ""));
        let value = number.trim().parse().ok().and_then(|at: usize| given.get(at));
        let Some(value) = value else {
            return Err(Error::with_msg(format!("there is no value for {{{place}}}")));
        };
        text.push_str(&filled(value.as_view(), format, runtime)?);
        rest = after;
    }
    text.push_str(rest);
    Ok(Value::scalar(text))
}

fn filled(value: &dyn ValueView, format: &str, runtime: &dyn Runtime) -> Result<String> {
    let shown = value.to_kstr().into_string();
    if format.is_empty() {
        return Ok(shown);
    }
    match value.as_scalar().and_then(|scalar| scalar.to_float()) {
        Some(number) => formatted_number(number, format),
        None => match date::read(shown.trim(), runtime) {
            Some(time) => Ok(formatted_date(&time, format)),
            None => Ok(shown),
        },
    }
}

/// A date by a standard format of one letter, or a custom one.
fn formatted_date(time: &Zoned, format: &str) -> String {
    let custom = match format {
        "" | "G" => "MM/dd/yyyy HH:mm:ss",
        "d" => "MM/dd/yyyy",
        "D" => "dddd, dd MMMM yyyy",
        "t" => "HH:mm",
        "T" => "HH:mm:ss",
        "f" => "dddd, dd MMMM yyyy HH:mm",
        "F" => "dddd, dd MMMM yyyy HH:mm:ss",
        "g" => "MM/dd/yyyy HH:mm",
        "m" | "M" => "MMMM dd",
        "y" | "Y" => "yyyy MMMM",
        "s" => "yyyy-MM-dd'T'HH:mm:ss",
        "o" | "O" => "yyyy-MM-dd'T'HH:mm:ss.fffffffzzz",
        "u" => return formatted_date(&in_utc(time), "yyyy-MM-dd HH:mm:ss'Z'"),
        "r" | "R" => return formatted_date(&in_utc(time), "ddd, dd MMM yyyy HH:mm:ss 'GMT'"),
        custom => custom,
    };
    let mut text = String::new();
    let mut rest = custom;
    while let Some(first) = rest.chars().next() {
        let run = rest.chars().take_while(|c| *c == first).count();
        let (taken, piece) = match first {
            '\'' | '"' => {
                let inner = rest.get(1..).unwrap_or_default();
                let end = inner.find(first).unwrap_or(inner.len());
                ((end + 2).min(rest.len()), inner.get(..end).unwrap_or_default().to_owned())
            }
            '\\' => {
                let next = rest.chars().nth(1);
                (1 + next.map_or(0, char::len_utf8), next.map(String::from).unwrap_or_default())
            }
            '%' => (1, String::new()),
            c if c.is_ascii_alphabetic() => (run, part(time, c, run)),
            other => (other.len_utf8(), other.to_string()),
        };
        text.push_str(&piece);
        rest = rest.get(taken..).unwrap_or_default();
    }
    text
}

fn in_utc(time: &Zoned) -> Zoned {
    time.with_time_zone(TimeZone::UTC)
}

/// One part of a date; a letter that means none stays as it is.
fn part(time: &Zoned, letter: char, count: usize) -> String {
    let padded = |number: i64| format!("{number:0width$}", width = count.min(2));
    let named = |pattern: &str| time.strftime(pattern).to_string();
    let hour = i64::from(time.hour());
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    match (letter, count) {
        ('y', 1 | 2) => padded(i64::from(time.year()) % 100),
        ('y', _) => format!("{:0count$}", time.year(), count = count.min(DIGITS_MAX)),
        ('M', 1 | 2) => padded(time.month().into()),
        ('M', 3) => named("%b"),
        ('M', _) => named("%B"),
        ('d', 1 | 2) => padded(time.day().into()),
        ('d', 3) => named("%a"),
        ('d', _) => named("%A"),
        ('H', _) => padded(hour),
        ('h', _) => padded(twelve),
        ('m', _) => padded(time.minute().into()),
        ('s', _) => padded(time.second().into()),
        ('f', _) => {
            let digits = format!("{:09}", time.subsec_nanosecond());
            digits.get(..count.min(7)).unwrap_or_default().to_owned()
        }
        ('t', 1) => if hour < 12 { "A" } else { "P" }.to_owned(),
        ('t', _) => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        ('z', 1 | 2) => named("%:z").get(..3).unwrap_or_default().to_owned(),
        ('z' | 'K', _) => named("%:z"),
        _ => letter.to_string().repeat(count),
    }
}

/// A number by a standard format such as `N2`, or a custom one such as `#,##0.00`.
fn formatted_number(number: f64, format: &str) -> Result<String> {
    let mut chars = format.chars();
    let letter = chars.next();
    let digits = chars.as_str();
    let is_standard = letter.is_some_and(|c| c.is_ascii_alphabetic())
        && digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_standard {
        return Ok(custom_number(number, format));
    }
    let digits: Option<usize> = digits.parse().ok().map(|digits: usize| digits.min(DIGITS_MAX));
    // The casts round towards zero and saturate.
    let whole = number.round() as i64;
    Ok(match letter.map(|letter| letter.to_ascii_uppercase()) {
        Some('N') => grouped(number, digits.unwrap_or(2)),
        Some('F') => format!("{number:.0$}", digits.unwrap_or(2)),
        Some('C') => format!("¤{}", grouped(number, digits.unwrap_or(2))),
        Some('P') => format!("{} %", grouped(number * 100.0, digits.unwrap_or(2))),
        Some('D') => {
            let (sign, width) = (if whole < 0 { "-" } else { "" }, digits.unwrap_or(1));
            format!("{sign}{:0width$}", whole.unsigned_abs())
        }
        Some('X') if letter == Some('x') => format!("{whole:00$x}", digits.unwrap_or(1)),
        Some('X') => format!("{whole:00$X}", digits.unwrap_or(1)),
        Some('G' | 'R') => format!("{number}"),
        _ => {
            let message = format!("the number format {format:?} is not one of C, D, F, G, N, P, X");
            return Err(Error::with_msg(message));
        }
    })
}

/// With commas between groups of three digits.
fn grouped(number: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", number.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if is_negative(number, &text) { "-" } else { "" };
    format!("{sign}{}{point}{fraction}", commas(whole))
}

/// Negative, also after rounding.
fn is_negative(number: f64, shown: &str) -> bool {
    number < 0.0 && shown.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

fn commas(whole: &str) -> String {
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A format of `0`, `#`, `,`, `.` and `%`, with any text around it.
fn custom_number(number: f64, format: &str) -> String {
    let is_digit = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let Some(begin) = format.find(is_digit) else { return format.to_owned() };
    let end = format.rfind(is_digit).map_or(format.len(), |at| at + 1);
    let (before, rest) = format.split_at(begin);
    let (digits, after) = rest.split_at(end - begin);
    let number = if format.contains('%') { number * 100.0 } else { number };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction: String = fraction.chars().filter(|c| *c != ',').take(DIGITS_MAX).collect();
    let width = whole.chars().filter(|c| *c == '0').take(DIGITS_MAX).count();
    let text = format!("{:.1$}", number.abs(), fraction.len());
    let (number_whole, number_fraction) = text.split_once('.').unwrap_or((&text, ""));
    let number_whole = number_whole.trim_start_matches('0');
    let number_whole = format!("{number_whole:0>width$}");
    let shown = if whole.contains(',') { commas(&number_whole) } else { number_whole };
    let least = fraction.rfind('0').map_or(0, |at| at + 1);
    let mut number_fraction = number_fraction.to_owned();
    while number_fraction.len() > least && number_fraction.ends_with('0') {
        number_fraction.pop();
    }
    let point = if number_fraction.is_empty() { "" } else { "." };
    let sign = if is_negative(number, &text) { "-" } else { "" };
    format!("{sign}{before}{shown}{point}{number_fraction}{after}")
}
