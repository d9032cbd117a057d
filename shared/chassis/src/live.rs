//! A secret that may be replaced while the process runs: its file is read again when it has changed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::{key_fault, value_in};
use crate::{Secret, Settings};

/// Time between two looks at a file, which the next use takes.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// A key of callers, as it is now. Clones share it.
#[derive(Clone)]
pub struct LiveKey(Arc<Mutex<Inner>>);

struct Inner {
    /// The setting.
    name: &'static str,
    /// Where it is read again; none if it stays.
    file: Option<PathBuf>,
    key: Secret,
    /// What is wrong with the file, which is logged once.
    fault: Option<String>,
    look_at: Instant,
}

impl LiveKey {
    /// The key in a setting, if it is set. It follows the file that a variable
    /// `STAUNCH_<NAME>_FILE` names; a key from elsewhere stays.
    #[must_use]
    pub fn of(settings: &Settings, name: &'static str, key: Option<&Secret>) -> Option<Self> {
        let file = settings.file_of(name).map(Path::to_owned);
        key.map(|key| Self::new(name, file, key.clone()))
    }

    fn new(name: &'static str, file: Option<PathBuf>, key: Secret) -> Self {
        let look_at = Instant::now() + LOOK_INTERVAL;
        Self(Arc::new(Mutex::new(Inner { name, file, key, fault: None, look_at })))
    }

    /// The key that callers need now. A file that cannot be used changes nothing.
    #[must_use]
    pub fn now(&self) -> Secret {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now >= inner.look_at {
            inner.look_at = now + LOOK_INTERVAL;
            inner.look();
        }
        inner.key.clone()
    }
}

/// A key that stays.
impl From<Secret> for LiveKey {
    fn from(key: Secret) -> Self {
        Self::new("", None, key)
    }
}

impl Inner {
    fn look(&mut self) {
        let Some(file) = &self.file else { return };
        let name = self.name;
        let found = value_in(file).and_then(|text| match key_fault(&text) {
            None => Ok(Secret::new(text)),
            Some(fault) => Err(format!("the key {fault}, so it can be guessed")),
        });
        match found {
            Ok(key) => {
                self.fault = None;
                if key != self.key {
                    self.key = key;
                    tracing::info!("the file of {name} has changed: callers need the new key");
                }
            }
            Err(fault) => {
                if self.fault.as_ref() != Some(&fault) {
                    tracing::error!("the file of {name} cannot be used, the key stays: {fault}");
                }
                self.fault = Some(fault);
            }
        }
    }
}

/// Shows no key.
impl fmt::Debug for LiveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveKey(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Args;

    const OLD: &str = "89abcdef01234567fedcba9876543210";
    const NEW: &str = "fedcba9876543210fedcba9876543210";

    #[tokio::test(start_paused = true)]
    async fn a_key_follows_its_file_and_stays_if_that_is_no_use() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, OLD).unwrap();
        let path = file.display().to_string();
        let variable = |name: &str| (name == "STAUNCH_API_KEY_FILE").then(|| path.clone());
        let settings = Settings::resolve(&Args::default(), &variable).unwrap();
        let key = LiveKey::of(&settings, "api-key", settings.api_key.as_ref()).unwrap();
        assert!(LiveKey::of(&settings, "metrics-key", settings.metrics_key.as_ref()).is_none());
        let after = async |text: Option<&str>| {
            match text {
                Some(text) => std::fs::write(&file, text).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            let before = key.now();
            tokio::time::advance(LOOK_INTERVAL).await;
            (before.expose().to_owned(), key.now().expose().to_owned())
        };
        assert_eq!(after(Some(NEW)).await, (OLD.to_owned(), NEW.to_owned()));
        for useless in [Some("short"), Some(""), None] {
            assert_eq!(after(useless).await.1, NEW);
        }
        assert_eq!(after(Some(OLD)).await.1, OLD);
        let fixed = LiveKey::from(Secret::new(OLD));
        tokio::time::advance(LOOK_INTERVAL).await;
        assert_eq!(fixed.now().expose(), OLD);
    }
}
