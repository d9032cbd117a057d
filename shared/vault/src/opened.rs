//! The secrets as they were when they were read, for turns and calls.

use std::collections::BTreeMap;

use engine::Vault;
use model::Timestamp;

use crate::Error;
use crate::aead::Key;
use crate::keeper::normal;

/// A value, or the reason why there is none.
pub(crate) struct Entry {
    pub(crate) value: Result<String, String>,
    pub(crate) expires_at: Option<Timestamp>,
}

/// The secrets as they were when they were read.
pub struct Opened {
    pub(crate) entries: BTreeMap<String, Entry>,
    /// The key that seals, once there is one; or the reason why it cannot be used.
    pub(crate) sealing: Result<Option<Key>, String>,
    pub(crate) at: Timestamp,
}

impl Opened {
    /// Whether there is a secret of this name, which is in lower case; it may be revoked or expired.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }
}

impl Vault for Opened {
    fn read(&self, name: &str) -> Result<String, String> {
        let name = normal(name);
        let Some(entry) = self.entries.get(&name) else {
            let advice = "make it with `staunch secret set`";
            return Err(format!("there is no secret {name:?}: {advice}"));
        };
        if entry.expires_at.is_some_and(|at| at <= self.at) {
            return Err(format!("the secret {name:?} has expired: rotate it"));
        }
        entry.value.clone()
    }

    fn values(&self) -> Vec<String> {
        self.entries.values().filter_map(|entry| entry.value.clone().ok()).collect()
    }

    fn seal(&self, text: &str, owner: &str, nonce: [u8; 12]) -> Result<String, String> {
        let sealing = self.sealing.as_ref().map_err(String::clone)?;
        let sealing =
            sealing.as_ref().ok_or("there is no key to seal with: make a secret first")?;
        let sealed = of_owner(sealing, owner)
            .and_then(|key| key.encrypt_with(text.as_bytes(), owner, nonce));
        sealed.map_err(|error| error.to_string())
    }

    fn open(&self, sealed: &str, owner: &str) -> Option<String> {
        let sealing = self.sealing.as_ref().ok()?.as_ref()?;
        String::from_utf8(of_owner(sealing, owner).ok()?.decrypt(sealed, owner)?).ok()
    }

    fn locked(&self) -> Option<String> {
        self.sealing.as_ref().err().cloned()
    }
}

fn of_owner(sealing: &Key, owner: &str) -> Result<Key, Error> {
    sealing.of_use(&format!("instance {owner}"))
}
