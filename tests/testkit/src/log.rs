//! What a test logs.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Level};

/// Everything that this thread has logged since it began. Clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

/// Logging goes to a [`Log`] until it is dropped.
#[must_use]
pub struct Logging {
    _to: DefaultGuard,
    _second: Dispatch,
}

impl Log {
    /// Begins with what this thread logs from this level on.
    pub fn begin(level: Level) -> (Self, Logging) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .finish();
        // With a second one, places in the code that threads of other tests were first at are logged.
        let second = tracing_subscriber::fmt().with_writer(std::io::sink).finish();
        let second = Dispatch::new(second);
        (log, Logging { _to: tracing::subscriber::set_default(subscriber), _second: second })
    }

    /// All of it.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The number of lines that contain these words.
    #[must_use]
    pub fn count(&self, words: &str) -> usize {
        self.text().lines().filter(|line| line.contains(words)).count()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
