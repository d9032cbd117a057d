//! The master keys: the first wraps, all of them unwrap.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use tokio::time::Instant;

use crate::Error;
use crate::aead::{KEY_BYTES, Key};

/// The number of master keys at the same time: a rotation has two.
const KEYS_MAX: usize = 8;

/// Time between two looks at the file, which the next use takes.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// The master keys of an installation. While one is replaced by another, both are given. Those of a
/// file are read again when it has changed. Clones share them.
#[derive(Clone)]
pub struct Master(Arc<Mutex<Inner>>);

struct Inner {
    keys: Keys,
    file: Option<PathBuf>,
    /// What is wrong with the file, which is logged once.
    fault: Option<String>,
    look_at: Instant,
}

#[derive(Clone, PartialEq, Eq)]
struct Keys {
    first: Key,
    others: Vec<Key>,
}

impl Master {
    /// The keys of a file or of a text, one a line, the newest first; none if neither is given.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no key.
    pub fn load(file: Option<&Path>, text: Option<&str>) -> Result<Option<Self>, Error> {
        match (file, text) {
            (Some(_), Some(_)) => Err(Error::Invalid(
                "secrets-key and secrets-key-file are both given: give one".to_owned(),
            )),
            (Some(path), None) => Ok(Some(Self::with(Keys::read(path)?, Some(path.to_owned())))),
            (None, Some(text)) => Self::parse(text).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The keys of a text, one a line (or with commas between them), the newest first.
    ///
    /// # Errors
    /// When there is none, or one has not 32 bytes.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self::with(Keys::parse(text)?, None))
    }

    fn with(keys: Keys, file: Option<PathBuf>) -> Self {
        let look_at = Instant::now() + LOOK_INTERVAL;
        Self(Arc::new(Mutex::new(Inner { keys, file, fault: None, look_at })))
    }

    /// A key of a secret, wrapped by the newest master key.
    pub(crate) fn wrap(&self, key: &Key, name: &str) -> Result<String, Error> {
        self.keys().first.encrypt(&key.0, &context(name))
    }

    /// The key of a secret.
    pub(crate) fn unwrap(&self, wrapped: &str, name: &str) -> Result<Key, Error> {
        let (keys, context) = (self.keys(), context(name));
        let mut keys = std::iter::once(&keys.first).chain(&keys.others);
        let found = keys.find_map(|key| Key::of(&key.decrypt(wrapped, &context)?));
        found.ok_or_else(|| {
            Error::Locked(format!(
                "no master key decrypts {name:?}: give the key that it was written with, behind the \
                 newest one"
            ))
        })
    }

    /// The newest key has wrapped it.
    pub(crate) fn is_newest(&self, wrapped: &str, name: &str) -> bool {
        self.keys().first.decrypt(wrapped, &context(name)).is_some()
    }

    /// The keys as they are now. A file that cannot be used changes nothing.
    fn keys(&self) -> Keys {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now >= inner.look_at {
            inner.look_at = now + LOOK_INTERVAL;
            inner.look();
        }
        inner.keys.clone()
    }
}

impl Inner {
    fn look(&mut self) {
        let Some(file) = &self.file else { return };
        match Keys::read(file) {
            Ok(keys) => {
                self.fault = None;
                if keys != self.keys {
                    self.keys = keys;
                    tracing::info!(
                        "secrets-key-file has changed: its first key encrypts from now on"
                    );
                }
            }
            Err(error) => {
                let fault = error.to_string();
                if self.fault.as_ref() != Some(&fault) {
                    tracing::error!("the master keys before it stay: {fault}");
                }
                self.fault = Some(fault);
            }
        }
    }
}

impl Keys {
    fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::Invalid(format!("secrets-key-file {}: {error}", path.display()))
        })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.split([',', '\n']).map(str::trim).filter(|line| !line.is_empty());
        let keys: Vec<Key> = lines.take(KEYS_MAX + 1).map(key).collect::<Result<_, _>>()?;
        if keys.len() > KEYS_MAX {
            return Err(Error::Invalid(format!("there are more than {KEYS_MAX} master keys")));
        }
        let (first, others) = keys.split_first().ok_or_else(|| no_key("there is no master key"))?;
        Ok(Self { first: *first, others: others.to_vec() })
    }
}

/// Shows no key.
impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Master({} keys)", self.keys().others.len() + 1)
    }
}

fn context(name: &str) -> String {
    format!("key of {name}")
}

fn key(line: &str) -> Result<Key, Error> {
    let bytes = match line.len() == 2 * KEY_BYTES {
        true => of_hex(line),
        false => STANDARD
            .decode(line)
            .or_else(|_no_base64| URL_SAFE_NO_PAD.decode(line.trim_end_matches('=')))
            .ok(),
    };
    let found = bytes.and_then(|bytes| Key::of(&bytes));
    found.ok_or_else(|| no_key("a master key has not 32 bytes"))
}

fn of_hex(line: &str) -> Option<Vec<u8>> {
    let digits = line.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

fn no_key(why: &str) -> Error {
    Error::Invalid(format!(
        "{why}: give 32 random bytes in base64 or hexadecimal, such as `openssl rand -base64 32` makes"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_keys_follow_their_file_and_stay_if_that_is_no_use() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        let line = |byte: u8| STANDARD.encode([byte; 32]);
        let write = async |text: &str| {
            std::fs::write(&file, text).unwrap();
            tokio::time::advance(LOOK_INTERVAL).await;
        };
        write(&line(1)).await;
        let master = Master::load(Some(&file), None).unwrap().unwrap();
        let shared = master.clone();
        let old = master.wrap(&Key([9; 32]), "a").unwrap();
        write(&format!("{}\n{}", line(2), line(1))).await;
        assert!(shared.unwrap(&old, "a").unwrap() == Key([9; 32]) && !shared.is_newest(&old, "a"));
        let new = shared.wrap(&Key([9; 32]), "a").unwrap();
        write("useless").await;
        assert!(master.is_newest(&new, "a"));
        write(&line(2)).await;
        assert!(master.unwrap(&old, "a").is_err() && master.unwrap(&new, "a").is_ok());
    }

    #[test]
    fn keys_are_read_in_base64_and_hexadecimal() {
        let hex = "0123456789abcdef".repeat(4);
        let base64 = STANDARD.encode([7_u8; 32]);
        let both = Master::parse(&format!("{base64}\n\n {hex} \n")).unwrap();
        let old = Master::parse(&hex).unwrap();
        let wrapped = old.wrap(&Key([1; 32]), "a").unwrap();
        assert!(both.unwrap(&wrapped, "a").unwrap() == Key([1; 32]));
        assert!(!both.is_newest(&wrapped, "a") && old.is_newest(&wrapped, "a"));
        assert!(both.unwrap(&wrapped, "b").is_err(), "it is wrapped for its name");
        let alone = Master::parse(&base64).unwrap();
        assert!(alone.unwrap(&wrapped, "a").is_err());
        assert!(!format!("{both:?}").contains("BwcH"));
        for wrong in ["", "abc", "secret", &hex[1..]] {
            let error = Master::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("openssl"), "{error}");
        }
    }
}
