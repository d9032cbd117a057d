//! Secrets, encrypted before they come here.

use async_trait::async_trait;
use model::Timestamp;

use crate::{Error, check};

/// A secret. The database has neither its value nor the key that decrypts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its name in lower case; no other secret has it.
    pub name: String,
    /// Its id, which never changes.
    pub id: String,
    /// Its name for people.
    pub display_name: String,
    /// Its purpose.
    pub description: Option<String>,
    /// The kind of its value, such as `Text`.
    pub type_name: String,
    /// Its group, such as `Email`.
    pub scope: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// It is not read any more.
    pub is_revoked: bool,
    /// 1, 2, 3 …: each new value has the next one.
    pub version: i64,
    /// The time when it was made.
    pub created_at: Timestamp,
    /// The time of its last change.
    pub updated_at: Option<Timestamp>,
    /// The time from which it is not read; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// Its own key, wrapped by a master key.
    pub wrapped_key: String,
    /// Its value, encrypted by its own key.
    pub ciphertext: String,
}

/// Another wrapping of a secret's own key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrapped {
    /// The name of the secret.
    pub name: String,
    /// The wrapped key as it was read.
    pub from: String,
    /// The same key, wrapped by another master key.
    pub to: String,
}

/// Secrets.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// Adds a secret; false when there is one with its name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn create_secret(&self, secret: &Secret) -> Result<bool, Error>;

    /// All secrets, by name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn secrets(&self) -> Result<Vec<Secret>, Error>;

    /// The secret with this name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn secret(&self, name: &str) -> Result<Option<Secret>, Error>;

    /// Puts a secret in the place of the one with its name, if that has the version and the wrapped key
    /// of `before`; false if it does not.
    ///
    /// # Errors
    /// See [`Error`].
    async fn replace_secret(&self, before: &Secret, after: &Secret) -> Result<bool, Error>;

    /// Removes a secret; false when there is none with this name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_secret(&self, name: &str) -> Result<bool, Error>;

    /// Changes wrapped keys, all of them or none; false when one is not what it was.
    ///
    /// # Errors
    /// See [`Error`].
    async fn rewrap_secrets(&self, changes: &[Rewrapped]) -> Result<bool, Error>;
}

/// Checks a secret.
///
/// # Errors
/// [`Error::Refused`] names the broken rule.
pub fn check_secret(secret: &Secret) -> Result<(), Error> {
    let Secret { name, id, type_name, scope, .. } = secret;
    check::keys([Some(name.as_str()), Some(id), Some(type_name), scope.as_deref()])?;
    check::texts([Some(secret.display_name.as_str()), secret.description.as_deref()])?;
    check::texts(secret.tags.iter().map(|tag| Some(tag.as_str())))
}
