//! Keys of others, such as those that sign tokens, encrypted by the key of the installation.

use model::Timestamp;

use crate::{Error, Keeper};

/// The beginning of an encrypted key. A key in clear has 32 random bytes.
const BEGIN: &[u8] = b"encrypted:";

/// The bytes are an encrypted key.
#[must_use]
pub fn is_encrypted_key(kept: &[u8]) -> bool {
    kept.starts_with(BEGIN)
}

impl Keeper {
    /// The key with this id, encrypted, as the database keeps it.
    ///
    /// # Errors
    /// When the database fails, or the key of the installation cannot be used.
    pub async fn encrypt_key(
        &self,
        id: &str,
        key: &[u8],
        now: Timestamp,
    ) -> Result<Vec<u8>, Error> {
        let context = context(id);
        let own = self.installation_key(now).await?.of_use(&context)?;
        Ok([BEGIN, own.encrypt(key, &context)?.as_bytes()].concat())
    }

    /// The key with this id in clear. One that was kept in clear is returned as it is.
    ///
    /// # Errors
    /// When the database fails, or no key decrypts it.
    pub async fn decrypt_key(&self, id: &str, kept: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(encrypted) = kept.strip_prefix(BEGIN) else { return Ok(kept.to_vec()) };
        let context = context(id);
        let own = self.known_installation_key().await?.of_use(&context)?;
        let text = std::str::from_utf8(encrypted).ok();
        let key = text.and_then(|text| own.decrypt(text, &context));
        key.ok_or_else(|| Error::Locked(format!("the key {id:?} is damaged")))
    }
}

fn context(id: &str) -> String {
    format!("signing key {id}")
}
