//! What the settings take, as tools can check it that have no node, such as the Helm chart.
//!
//! A [`Form`] is never stricter than the reading of the value: it is for a first look. Each kind of
//! value says its own, beside its reading in `value.rs` and its neighbours.

use serde::Serialize;

/// A level of log lines.
const LEVEL: &str = "(?i:off|error|warn|info|debug|trace)";
/// A port, from 1 to 65535, without zeros before it.
pub(super) const PORT: &str =
    "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
/// An address of IPv4, as it is usually written.
pub(super) const IPV4: &str = "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";

/// The texts that a setting takes. An empty text stands for no value and is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Form {
    /// What a text must be, as its refusal says it: `must be true or false`.
    pub must: String,
    /// A regular expression for the whole text, in the syntax that Rust, Go and JSON Schema share; any
    /// text if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A regular expression that is found nowhere in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
    /// The least number or time; of a rate the least time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<&'static str>,
    /// The largest number or time; of a rate the largest time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<&'static str>,
    /// The text is one JSON object.
    #[serde(skip_serializing_if = "is_false")]
    pub json: bool,
    /// The text is a secret.
    #[serde(skip_serializing_if = "is_false")]
    pub secret: bool,
}

/// A setting, for a look at its value without a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// Such as `nats-url`.
    #[serde(skip)]
    pub name: &'static str,
    /// Its usual default; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// What it takes.
    #[serde(flatten)]
    pub form: Form,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Form {
    /// Texts that this regular expression describes as a whole.
    pub(super) fn of(must: impl Into<String>, pattern: &str) -> Self {
        let pattern = Some(format!("^(?:{pattern})$"));
        Self { must: must.into(), pattern, ..Self::default() }
    }

    /// Any text.
    pub(super) fn any() -> Self {
        Self { must: "must not be empty".to_owned(), ..Self::default() }
    }

    /// Any text that nobody may see.
    pub(super) fn secret() -> Self {
        Self { secret: true, ..Self::any() }
    }

    /// One of these words.
    pub(super) fn word(words: &[&str]) -> Self {
        Self::of(one_of(words), &words.join("|"))
    }

    /// Items that this regular expression describes, with commas between them.
    pub(super) fn list(must: impl Into<String>, item: &str) -> Self {
        Self::of(must, &format!("\\s*(?:{item})?\\s*(?:,\\s*(?:{item})?\\s*)*"))
    }

    /// One JSON object.
    pub(super) fn object(must: impl Into<String>) -> Self {
        Self { json: true, ..Self::of(must, "\\s*\\{[\\s\\S]*\\}\\s*") }
    }

    /// The same without texts in which this is found.
    pub(super) fn without(self, never: &str) -> Self {
        Self { never: Some(never.to_owned()), ..self }
    }

    /// The same between these bounds; those of the kind stay where there are none.
    pub(super) fn within(self, bounds: Bounds) -> Self {
        let Bounds { least, most } = bounds;
        Self { least: least.or(self.least), most: most.or(self.most), ..self }
    }

    /// This form in place of that of the kind.
    pub(super) fn like(self, other: Self) -> Self {
        other
    }
}

/// `must be a, b or c`.
pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [] => "must not be set".to_owned(),
        [word] => format!("must be {word}"),
        [words @ .., last] => format!("must be {} or {last}", words.join(", ")),
    }
}

/// The least and the most of a setting, as their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    least: Option<&'static str>,
    most: Option<&'static str>,
}

impl Bounds {
    pub(super) const NONE: Self = Self { least: None, most: None };

    pub(super) fn at_least(self, least: &'static str) -> Self {
        Self { least: Some(least), ..self }
    }

    pub(super) fn at_most(self, most: &'static str) -> Self {
        Self { most: Some(most), ..self }
    }

    /// Refuses an amount outside of the bounds. `amount` reads that of a text.
    ///
    /// # Errors
    /// The bounds.
    pub(super) fn check(
        self,
        found: Option<u128>,
        amount: impl Fn(&str) -> Option<u128>,
    ) -> Result<(), String> {
        let Some(found) = found else { return Ok(()) };
        let is_below = self.least.and_then(&amount).is_some_and(|least| found < least);
        let is_above = self.most.and_then(&amount).is_some_and(|most| found > most);
        match (self.least, self.most) {
            _ if !is_below && !is_above => Ok(()),
            (Some(least), Some(most)) => Err(format!("must be between {least} and {most}")),
            (Some(least), None) => Err(format!("must be at least {least}")),
            (None, most) => Err(format!("must be at most {}", most.unwrap_or_default())),
        }
    }
}

/// A filter of log lines.
pub(super) fn log_filter() -> Form {
    let must = "must be LEVEL or MODULE=LEVEL, or several with commas between them; a level is one \
                of off, error, warn, info, debug and trace";
    let item = format!("\\s*(?:[\\w:-]+\\s*=)?\\s*{LEVEL}\\s*");
    Form::of(must, &format!("{item}(?:,{item})*"))
}

/// A place of files.
pub(super) fn place() -> Form {
    Form::of("must be a folder, or s3://bucket/prefix", &one_place("", ""))
}

/// Places of payloads.
pub(super) fn places() -> Form {
    let must = "must be database, nats, s3://bucket/prefix or a folder, or several with commas \
                between them";
    Form::list(must, &one_place(",", "\\s"))
}

/// A bucket, or a folder: a text that does not begin as a URL does. `C:\parts` is a folder, too. `end`
/// ends a place, and none begins with a `blank`.
fn one_place(end: &str, blank: &str) -> String {
    let scheme = "[A-Za-z][A-Za-z0-9+.-]*";
    let rest = format!("[^:{end}]*");
    let no_scheme =
        format!("[A-Za-z]|[^A-Za-z:{end}{blank}]{rest}|{scheme}[^A-Za-z0-9+.:{end}-]{rest}");
    // What is behind a colon does not begin with two slashes.
    let behind = format!("/?(?:[^/:{end}]{rest})?");
    let bucket = format!("s3://[^/{end}]+(?:/[^\\x00{end}]*)?");
    format!("{bucket}|[^:{end}]+|(?:{no_scheme})?:{behind}(?::{behind})*")
}

/// The URL of the issuer of tokens, or of its keys.
pub(super) fn issuer() -> Form {
    let must = "must be a URL such as https://id.example.com, without a user, a password and a \
                fragment";
    Form::of(must, "(?i:https?)://[^\\s/?#@]+(?:[/?][^\\s#]*)?")
}

/// The addresses of IPv6 as the texts of a regular expression, without brackets.
pub(super) fn ipv6() -> String {
    let part = "[0-9A-Fa-f]{1,4}";
    let mut forms = vec![format!("(?:{part}:){{7}}{part}"), format!("(?:{part}:){{6}}{IPV4}")];
    // The parts that the two colons stand for are none or more of eight.
    for before in 0..=7 {
        let begin = match before {
            0 => ":".to_owned(),
            _ => format!("(?:{part}:){{{before}}}"),
        };
        let after = 7 - before;
        let end = match after {
            0 => String::new(),
            _ => format!("(?:{part}(?::{part}){{0,{}}})?", after - 1),
        };
        forms.push(format!("{begin}:{end}"));
        if before <= 5 {
            forms.push(format!("{begin}:(?:{part}:){{0,{}}}{IPV4}", 5 - before));
        }
    }
    format!("(?:{})", forms.join("|"))
}
