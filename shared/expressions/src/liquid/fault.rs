//! Turns failures of a template into a [`Flaw`] that its author can use.

use engine::Flaw;
use liquid_core::Error;
use model::limits;

use crate::flaw::{cut, flaw};

/// The length at which a message is cut, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// The template did not end in its time.
pub(super) const LATE: &str = "the template ran too long and was stopped";

/// The flaw of a template that did not end in its time.
pub(super) fn late() -> Flaw {
    flaw(LATE)
}

/// The rendering is longer than its limit.
pub(super) fn too_long() -> Flaw {
    flaw(format!("the template renders more than {} KiB", limits::TEMPLATE_OUTPUT_BYTES_MAX / 1024))
}

/// The rendering is not UTF-8.
pub(super) fn not_text() -> Flaw {
    flaw("the template renders bytes that are not UTF-8")
}

/// The library's message in one sentence, with line and column where the message has them.
pub(super) fn of(error: &Error) -> Flaw {
    let text = error.to_string();
    let text = text.strip_prefix("liquid:").unwrap_or(&text).trim();
    let (line, column) = place(text);
    // The parser's expectation is below the quoted line: `  = expected Identifier`.
    let reason = text.lines().find_map(|line| line.trim().strip_prefix("= "));
    let first = text.lines().next().unwrap_or_default();
    let message = match reason {
        Some(reason) => reason.to_owned(),
        None => match context(text) {
            Some(context) => format!("{first} ({context})"),
            None => first.to_owned(),
        },
    };
    Flaw { message: cut(message, MESSAGE_CHARS_MAX), line, column }
}

/// `--> 1:7`
fn place(text: &str) -> (Option<u32>, Option<u32>) {
    let mark = text.split_once("--> ").and_then(|(_, rest)| rest.lines().next());
    let place = mark.and_then(|mark| mark.trim().split_once(':'));
    match place {
        Some((line, column)) => (line.parse().ok(), column.parse().ok()),
        None => (None, None),
    }
}

/// The first `key=value` below the message: the subject of the message.
fn context(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("with:")?;
    let pair = rest.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(pair.replacen('=', " ", 1))
}
