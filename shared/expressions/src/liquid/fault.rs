//! From what went wrong in a template to a [`Flaw`] that its author can use.

use engine::Flaw;
use liquid_core::Error;
use model::limits;

/// Characters of a message that are kept.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// A flaw without a place.
pub(super) fn plain(message: String) -> Flaw {
    Flaw { message, line: None, column: None }
}

/// The rendering does not fit.
pub(super) fn too_long() -> Flaw {
    plain(format!(
        "the template renders more than {} KiB",
        limits::TEMPLATE_OUTPUT_BYTES_MAX / 1024
    ))
}

/// The rendering is no text.
pub(super) fn not_text() -> Flaw {
    plain("the template renders bytes that are no text".to_owned())
}

/// What the library says, in one sentence, with the place where it knows one.
pub(super) fn of(error: &Error) -> Flaw {
    let text = error.to_string();
    let text = text.strip_prefix("liquid:").unwrap_or(&text).trim();
    let (line, column) = place(text);
    // Below a quoted line the parser says what it expected: `  = expected Identifier`.
    let reason = text.lines().find_map(|line| line.trim().strip_prefix("= "));
    let first = text.lines().next().unwrap_or_default();
    let mut message = match reason {
        Some(reason) => reason.to_owned(),
        None => match context(text) {
            Some(context) => format!("{first} ({context})"),
            None => first.to_owned(),
        },
    };
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
        message.push('…');
    }
    Flaw { message, line, column }
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

/// What the message is about: the first `key=value` below it.
fn context(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("with:")?;
    let pair = rest.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(pair.replacen('=', " ", 1))
}
