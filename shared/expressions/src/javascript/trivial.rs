//! Scripts that are no more than a literal or the reading of one value: most of those in real
//! workflows. They never enter QuickJS, and mean the same as if they had.

use engine::Scope;
use serde_json::Value;

use super::plan::is_word_char;
use super::{accessor, convert};

/// A script whose value can be found without running it.
#[derive(Debug, PartialEq)]
pub(super) enum Trivial {
    /// A number, a string, `true`, `false`, `null` or `undefined`.
    Literal(Value),
    /// `variables.X` or `getVariable("X")`
    Variable(String),
    /// `getInput("X")`
    Input(String),
    /// `getX()`
    Accessor(String),
}

impl Trivial {
    /// The trivial meaning of the text, if it has one.
    pub(super) fn parse(source: &str) -> Option<Self> {
        let mut text = source.trim();
        if let Some(rest) = text.strip_prefix("return")
            && rest.starts_with([' ', '\t'])
        {
            text = rest.trim_start_matches([' ', '\t']);
        }
        text = text.strip_suffix(';').unwrap_or(text).trim_end();
        literal(text).map(Self::Literal).or_else(|| reading(text))
    }

    /// The value; None where only QuickJS knows what to say.
    pub(super) fn evaluate(&self, scope: &dyn Scope) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Variable(name) => {
                Some(scope.variable(name).map_or(Value::Null, convert::normalised))
            }
            Self::Input(name) => Some(scope.input(name).map_or(Value::Null, convert::normalised)),
            Self::Accessor(word) => {
                let target = accessor::find(word, &accessor::Names::of(scope))?;
                target.read(scope).map(convert::normalised)
            }
        }
    }
}

fn literal(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        "null" | "undefined" => Some(Value::Null),
        _ => number(text).or_else(|| string(text)),
    }
}

fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    // 010 is octal, and beyond 15 digits a double begins to round.
    let plain = is_digits(whole)
        && fraction.is_none_or(is_digits)
        && (whole == "0" || !whole.starts_with('0'))
        && digits.len() <= 15;
    if !plain {
        return None;
    }
    text.parse::<f64>().ok().map(convert::number)
}

fn string(text: &str) -> Option<Value> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    let inner = text.get(1..)?.strip_suffix(quote)?;
    let is_template = quote == '`' && inner.contains("${");
    let has_escape = inner.contains([quote, '\\', '\n', '\r']);
    (!is_template && !has_escape).then(|| Value::String(inner.to_owned()))
}

fn reading(text: &str) -> Option<Trivial> {
    if let Some(name) = text.strip_prefix("variables.") {
        return is_name(name).then(|| Trivial::Variable(name.to_owned()));
    }
    let (function, argument) = text.strip_suffix(')')?.split_once('(')?;
    match (function, argument.trim()) {
        ("getVariable", argument) => string_argument(argument).map(Trivial::Variable),
        ("getInput", argument) => string_argument(argument).map(Trivial::Input),
        (function, "") => {
            let ours = super::host::FUNCTIONS.contains(&function);
            let getter = function.starts_with("get") && is_name(function) && !ours;
            getter.then(|| Trivial::Accessor(function.to_owned()))
        }
        _ => None,
    }
}

fn string_argument(argument: &str) -> Option<String> {
    match string(argument) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word_char) && !text.starts_with(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_recognised() {
        for (source, value) in [
            ("5", Value::from(5)),
            ("-3;", Value::from(-3)),
            ("return 2.0 ;", Value::from(2)),
            ("'a b'", Value::from("a b")),
            ("return `x`;", Value::from("x")),
            ("true", Value::from(true)),
        ] {
            assert_eq!(Trivial::parse(source), Some(Trivial::Literal(value)), "{source}");
        }
    }

    #[test]
    fn anything_that_needs_thought_is_left_to_quickjs() {
        for source in [
            "010",
            "1e3",
            "'a' + 'b'",
            "`${x}`",
            "'\\n'",
            "return\n5",
            "12345678901234567890",
            "getInput(x)",
            "variables.a.b",
            "getInput('a', 'b')",
            "f()",
            "'a'b'",
            "",
        ] {
            assert_eq!(Trivial::parse(source), None, "{source}");
        }
    }
}
