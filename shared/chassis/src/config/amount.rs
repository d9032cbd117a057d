//! The kinds of values that are a number or a time.

use std::time::Duration;

use super::form::Form;
use super::value::Parse;

/// More digits than any number or time of a setting needs.
const DIGITS_MAX: usize = 15;
/// The digits of a time: any unit of it is a number of milliseconds.
const TIME_DIGITS_MAX: usize = 12;
/// The regular expression of a time.
pub(super) const TIME: &str = "[0-9]{1,12} *(?:ms|s|m|h|d)";
const WRONG_TIME: &str = "must be a time with a unit, such as 500ms, 30s, 5m, 1h or 30d";
const WRONG_NUMBER: &str = "must be a whole number above 0";

/// A time that may be none: `0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay(pub Duration);

impl Parse for u64 {
    fn parse(text: &str) -> Result<Self, String> {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let digits = text.replace('_', "");
        if !is_number || digits.len() > DIGITS_MAX {
            return Err(WRONG_NUMBER.to_owned());
        }
        match digits.parse() {
            Ok(0) | Err(_) => Err(WRONG_NUMBER.to_owned()),
            Ok(number) => Ok(number),
        }
    }

    fn form() -> Form {
        let form = Form::of(WRONG_NUMBER, "[0-9](?:_*[0-9]){0,14}_*");
        Form { least: Some("1"), ..form }
    }

    fn amount(&self) -> Option<u128> {
        Some(u128::from(*self))
    }
}

impl Parse for usize {
    fn parse(text: &str) -> Result<Self, String> {
        Self::try_from(u64::parse(text)?).or(Err(too_large(Self::MAX)))
    }

    fn form() -> Form {
        u64::form()
    }

    fn amount(&self) -> Option<u128> {
        u128::try_from(*self).ok()
    }
}

impl Parse for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        Self::try_from(u64::parse(text)?).or(Err(too_large(Self::MAX)))
    }

    fn form() -> Form {
        u64::form()
    }

    fn amount(&self) -> Option<u128> {
        Some(u128::from(*self))
    }
}

fn too_large(most: impl std::fmt::Display) -> String {
    format!("must be at most {most}")
}

impl Parse for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || WRONG_TIME.to_owned();
        let unit_at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit_at);
        if number.len() > TIME_DIGITS_MAX {
            return Err(wrong());
        }
        let Ok(number) = number.parse::<u64>() else { return Err(wrong()) };
        let time = match unit.trim_start_matches(' ') {
            "ms" => Some(Self::from_millis(number)),
            "s" => Some(Self::from_secs(number)),
            "m" => number.checked_mul(60).map(Self::from_secs),
            "h" => number.checked_mul(3_600).map(Self::from_secs),
            "d" => number.checked_mul(86_400).map(Self::from_secs),
            _ => None,
        };
        time.filter(|time| !time.is_zero()).ok_or_else(wrong)
    }

    fn form() -> Form {
        Form { least: Some("1ms"), ..Form::of(WRONG_TIME, TIME) }
    }

    fn amount(&self) -> Option<u128> {
        Some(self.as_millis())
    }
}

impl Parse for Delay {
    fn parse(text: &str) -> Result<Self, String> {
        let is_none = matches!(text.trim(), "0" | "0s" | "0ms");
        if is_none { Ok(Self(Duration::ZERO)) } else { Duration::parse(text).map(Self) }
    }

    fn form() -> Form {
        Form::of(WRONG_TIME, &format!("\\s*(?:0|0s|0ms)\\s*|{TIME}"))
    }

    fn amount(&self) -> Option<u128> {
        Some(self.0.as_millis())
    }
}
