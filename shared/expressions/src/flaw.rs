//! Makes flaws, and limits the length of their messages.

use engine::Flaw;

/// A flaw without a line and a column.
pub(crate) fn flaw(message: impl Into<String>) -> Flaw {
    Flaw { message: message.into(), line: None, column: None }
}

/// Cuts a message after `chars_max` characters and marks the cut with `…`.
pub(crate) fn cut(mut message: String, chars_max: usize) -> String {
    if let Some((end, _)) = message.char_indices().nth(chars_max) {
        message.truncate(end);
        message.push('…');
    }
    message
}
