//! Versions of nats-server: the oldest supported one, and the one that is downloaded.

use std::fmt;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, bail};

/// Major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The oldest server with the features that Staunch needs: expiry per key, and markers of expired
/// keys.
pub const MINIMUM: Version = Version(2, 11, 0);
/// The server that is downloaded, and that the tests run on.
pub const TESTED: Version = Version(2, 15, 1);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// Reads `2.15.1`, `v2.15.1` or `2.15.0-dev`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let core = text.split(['-', '+']).next()?;
        let mut parts = core.split('.').map(str::parse);
        let version = Self(parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        parts.next().is_none().then_some(version)
    }

    /// Asks a binary for its version; it prints `nats-server: v2.15.1`.
    ///
    /// # Errors
    /// When it cannot be run, or prints something else.
    pub async fn of(binary: &Path) -> anyhow::Result<Self> {
        let run = tokio::process::Command::new(binary)
            .arg("--version")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(std::time::Duration::from_secs(10), run)
            .await
            .with_context(|| format!("{} --version does not answer", binary.display()))?
            .with_context(|| format!("cannot run {}", binary.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(version) = text.split_whitespace().last().and_then(Self::parse) else {
            bail!(
                "{} --version says {:?}, which is not a nats-server",
                binary.display(),
                text.trim()
            );
        };
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        assert_eq!(Version::parse("v2.15.1"), Some(Version(2, 15, 1)));
        assert_eq!(Version::parse("2.15.0-dev"), Some(Version(2, 15, 0)));
        assert_eq!(Version::parse("2.9"), None);
        assert!(Version(2, 9, 10) < MINIMUM);
        assert!(TESTED > MINIMUM);
    }
}
