//! The last log lines of this process, kept in memory for whoever helps: as they were written, so with
//! the same secrets masked.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines that are kept.
const LINES_MAX: usize = 2_000;
/// Bytes of all lines that are kept.
const BYTES_MAX: usize = 512 * 1024;
/// Bytes that are kept of one line.
const LINE_BYTES_MAX: usize = 8 * 1024;
/// What begins the colour of a text on a terminal, and what ends it.
const COLOUR: (char, char) = ('\u{1b}', 'm');

static RECENT: Mutex<Ring> = Mutex::new(Ring::new());

/// The last lines, oldest first, without colours; and the number of older lines that are forgotten.
pub(crate) fn recent_lines() -> (Vec<String>, u64) {
    let ring = lock();
    (ring.lines.iter().map(|line| plain(line)).collect(), ring.forgotten)
}

fn lock() -> MutexGuard<'static, Ring> {
    RECENT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Ring {
    lines: VecDeque<Box<str>>,
    bytes: usize,
    forgotten: u64,
}

impl Ring {
    const fn new() -> Self {
        Self { lines: VecDeque::new(), bytes: 0, forgotten: 0 }
    }

    fn push(&mut self, line: Box<str>) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
            self.forgotten += 1;
        }
    }
}

/// Writes each line to another writer, and keeps it. A line arrives in one piece, formatted.
pub(super) struct Tee<W>(pub(super) W);

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Kept first: where nobody reads the log any more, the write fails.
        let line = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
        let line = String::from_utf8_lossy(line).trim_end().into();
        lock().push(line);
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A line without colours.
fn plain(line: &str) -> String {
    let (begin, end) = COLOUR;
    let mut parts = line.split(begin);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once(end).map_or(part, |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::fmt;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn the_oldest_lines_are_forgotten() {
        let mut ring = Ring::new();
        for number in 0..LINES_MAX + 5 {
            ring.push(number.to_string().into());
        }
        assert_eq!((ring.lines.len(), ring.forgotten), (LINES_MAX, 5));
        assert_eq!(ring.lines.front().map(|line| &**line), Some("5"));
        for _ in 0..BYTES_MAX / LINE_BYTES_MAX + 3 {
            ring.push("x".repeat(LINE_BYTES_MAX).into());
        }
        assert_eq!(ring.lines.len(), BYTES_MAX / LINE_BYTES_MAX);
        assert_eq!(ring.bytes, ring.lines.iter().map(|line| line.len()).sum::<usize>());
        assert!(ring.bytes <= BYTES_MAX);
    }

    #[test]
    fn a_line_is_written_and_kept_without_colours() {
        let logs = fmt::layer().with_writer(|| Tee(io::sink())).with_ansi(true);
        let subscriber = tracing_subscriber::registry().with(logs);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(of = "this-test", "a line that is kept");
            tracing::info!("{}", "é".repeat(LINE_BYTES_MAX));
        });
        let (lines, _) = recent_lines();
        let kept = lines.iter().find(|line| line.contains("this-test"));
        let kept = kept.unwrap_or_else(|| panic!("{lines:?}"));
        assert!(kept.contains(" WARN ") && kept.contains("a line that is kept"), "{kept}");
        assert!(!kept.contains('\u{1b}') && !kept.ends_with('\n'), "{kept:?}");
        assert!(lines.iter().all(|line| line.len() <= LINE_BYTES_MAX + 3), "cut");
    }
}
