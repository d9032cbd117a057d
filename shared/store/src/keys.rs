//! API keys and the audit log.

use async_trait::async_trait;
use model::Timestamp;
use serde_json::Value;

use crate::{Error, Listed, Page};

/// An API key; the key itself is not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// Its public id.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// Lowercase hex SHA-256 of the key.
    pub hash: String,
    /// Permissions as Elsa names them; `*` for all.
    pub permissions: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From then on it is refused; never when none.
    pub expires_at: Option<Timestamp>,
}

/// Something that someone did.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// When.
    pub at: Timestamp,
    /// Who: a key's id, or how they came in.
    pub who: String,
    /// What, such as `bookmark.resume`.
    pub what: String,
    /// To what.
    pub target: String,
    /// Readable details, without secrets.
    pub details: Value,
}

/// API keys and the audit log.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Keeps a key; one of the same id is replaced.
    ///
    /// # Errors
    /// See [`Error`].
    async fn save_key(&self, key: ApiKey) -> Result<(), Error>;

    /// The key of this hash.
    ///
    /// # Errors
    /// See [`Error`].
    async fn key(&self, hash: &str) -> Result<Option<ApiKey>, Error>;

    /// All keys.
    ///
    /// # Errors
    /// See [`Error`].
    async fn keys(&self) -> Result<Vec<ApiKey>, Error>;

    /// Removes a key; false when it is not there.
    ///
    /// # Errors
    /// See [`Error`].
    async fn delete_key(&self, id: &str) -> Result<bool, Error>;

    /// Writes down what someone did.
    ///
    /// # Errors
    /// See [`Error`].
    async fn audit(&self, entry: Audit) -> Result<(), Error>;

    /// One page of the audit log, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn audits(&self, page: Page) -> Result<Listed<Audit>, Error>;
}
