//! Values that differ on every call, in every test process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::Timestamp;

static CALLS: AtomicU64 = AtomicU64::new(0);

/// An id that is never repeated: the prefix, then letters and digits.
#[must_use]
pub fn unique(prefix: &str) -> String {
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{:x}-{:x}-{call:x}", since_epoch().as_nanos(), std::process::id())
}

/// Nonces.
#[must_use]
pub fn nonces() -> Arc<dyn Fn() -> String + Send + Sync> {
    Arc::new(|| unique("nonce"))
}

/// The time of this machine.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::from_millis(i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "tests that need the real time ask here")]
fn since_epoch() -> std::time::Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    now.unwrap_or_default()
}

/// A port on 127.0.0.1 that was free a moment ago.
#[must_use]
#[expect(clippy::expect_used, reason = "a test without a port cannot go on")]
pub fn free_port() -> u16 {
    nats_server::free_port().expect("no port is free")
}

/// A SQLite database in this directory, made when it is opened.
#[must_use]
pub fn sqlite_url(directory: &Path) -> String {
    format!("sqlite://{}?mode=rwc", directory.join("staunch.db").display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_ports_differ() {
        assert_ne!(unique("a"), unique("a"));
        assert_ne!(nonces()(), nonces()());
        assert_ne!(free_port(), 0);
        assert!(now().as_millis() > 0);
    }
}
