//! The only place of the CLI that writes to a terminal: data to standard output, messages for
//! people to standard error.
//!
//! Texts from workflows, brokers and servers may contain control characters, which can move a
//! terminal's cursor, change its title or hide text. Every text that is written here has them
//! escaped, so a caller cannot forget it.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use api_client::is_control;
pub(crate) use api_client::one_line;
use serde_json::Value;

use crate::Failure;
use crate::failure::Kind;

/// Standard output holds one JSON document, so progress goes to standard error.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, progress goes to standard error: a program reads standard output.
pub(crate) fn keep_output_for_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// Writes one piece of data and a line end.
///
/// # Errors
/// When standard output is closed, as behind `| head`.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    print(&visible(text))
}

/// Writes a JSON document, indented.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    print(&json_text(&format!("{value:#}")))
}

/// Writes a JSON document on one line.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn json_line(value: &Value) -> Result<(), Failure> {
    json_line_of(&value.to_string())
}

/// Writes the text of a JSON document that is one line already.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn json_line_of(text: &str) -> Result<(), Failure> {
    print(&json_text(text))
}

/// In one piece: a reader such as `grep -q`, which leaves when it has seen enough, has all of it by then.
fn print(text: &str) -> Result<(), Failure> {
    write_all(&format!("{text}\n"))
}

fn closed(error: &io::Error) -> Failure {
    let kind = match error.kind() {
        io::ErrorKind::BrokenPipe => Kind::Closed,
        _ => Kind::Failed,
    };
    Failure::new(kind, format!("standard output is closed: {error}"))
}

/// Shows lines in the place of those shown before, from the top of the terminal.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn screen(lines: &[String]) -> Result<(), Failure> {
    const HOME: &str = "\u{1b}[H";
    const CLEAR_LINE: &str = "\u{1b}[K\n";
    const CLEAR_BELOW: &str = "\u{1b}[J";
    let lines = lines.iter().map(|line| format!("{}{CLEAR_LINE}", one_line(line)));
    write_all(&format!("{HOME}{}{CLEAR_BELOW}", lines.collect::<String>()))
}

/// A page of the terminal of its own; the page before comes back when it is dropped.
pub(crate) struct Page(());

impl Page {
    /// Opens the page, without a cursor.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(crate) fn open() -> Result<Self, Failure> {
        write_all("\u{1b}[?1049h\u{1b}[?25l")?;
        Ok(Self(()))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if write_all("\u{1b}[?25h\u{1b}[?1049l").is_err() {
            tracing::debug!("standard output is closed");
        }
    }
}

fn write_all(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| closed(&error))
}

/// Writes a line for people to standard error. A closed terminal is no reason to stop.
pub(crate) fn message(text: &str) {
    let mut err = io::stderr().lock();
    if writeln!(err, "{}", visible(text)).is_err() {
        tracing::debug!(text, "standard error is closed");
    }
}

/// Writes the heading of a part of the demo.
pub(crate) fn heading(text: &str) {
    progress(&format!("\n{text}"));
}

/// Writes a line that the demo quotes, such as a line of a journal.
pub(crate) fn quote(text: &str) {
    progress(&format!("           | {text}"));
}

/// Writes a line of progress of `dev` or `demo`. A closed output is no reason to stop.
pub(crate) fn progress(text: &str) {
    if IS_JSON.load(Ordering::Relaxed) {
        return message(text);
    }
    if print(&visible(text)).is_err() {
        tracing::debug!(text, "standard output is closed");
    }
}

/// The text with every control character escaped, except line ends and tabs.
fn visible(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_control(c) && !matches!(c, '\n' | '\t'),
        |c| c.escape_default().to_string(),
    )
}

/// JSON text: outside of strings it has no control characters but line ends.
fn json_text(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_control(c) && c != '\n',
        |c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        },
    )
}

fn escaped(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let each = |c| if is_escaped(c) { escape(c) } else { String::from(c) };
    Cow::Owned(text.chars().map(each).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\r\u{7f}";

    #[test]
    fn no_control_character_reaches_a_terminal() {
        for shown in [visible(HOSTILE), one_line(HOSTILE), json_text(HOSTILE)] {
            assert!(!shown.contains(is_control), "{shown:?}");
        }
        assert_eq!(visible("a\u{1b}[31m\tb\nc"), "a\\u{1b}[31m\tb\nc");
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(visible("Grüße, 世界 👋"), "Grüße, 世界 👋");
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let value = json!({"text": HOSTILE, "wide": "👋\u{202e}"});
        let text = format!("{value:#}");
        let shown = json_text(&text);
        assert!(shown.chars().all(|c| !is_control(c) || c == '\n'), "{shown:?}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}
