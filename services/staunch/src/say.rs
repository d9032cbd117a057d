//! Where the CLI's words go: data to standard output, talk to standard error. Nothing else writes
//! to either.

use std::io::{self, Write as _};

use crate::Failure;

/// Writes one piece of data and a line end.
///
/// # Errors
/// When nobody reads it any more, as behind `| head`.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::failed(format!("standard output is closed: {error}")))
}

/// Says something to the person at the terminal. A closed terminal is no reason to stop.
pub(crate) fn talk(text: &str) {
    let mut err = io::stderr().lock();
    if writeln!(err, "{text}").is_err() {
        tracing::debug!(text, "standard error is closed");
    }
}

/// A heading in a story, on standard output.
pub(crate) fn heading(text: &str) {
    story(&format!("\n{text}"));
}

/// A line in a story that something else tells, such as a journal.
pub(crate) fn aside(text: &str) {
    story(&format!("           | {text}"));
}

/// A line of a story. A closed output is no reason to stop the story.
pub(crate) fn story(text: &str) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        tracing::debug!(text, "standard output is closed");
    }
}
