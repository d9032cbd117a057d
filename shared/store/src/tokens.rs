//! Single-use URL tokens.

use async_trait::async_trait;
use model::{Timestamp, Token};

use crate::{Error, PendingCommand};

/// URL tokens, found by the hash of their text.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Keeps a token. From then on it can be used.
    ///
    /// # Errors
    /// See [`Error`].
    async fn grant(&self, token: Token) -> Result<(), Error>;

    /// The token, if it can be used at that time.
    ///
    /// # Errors
    /// See [`Error`].
    async fn token(&self, hash: &str, now: Timestamp) -> Result<Option<Token>, Error>;

    /// Uses the token up and accepts the command, in one transaction; false when the token cannot be
    /// used.
    ///
    /// # Errors
    /// See [`Error`]. Read the token again to learn whether it was used.
    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error>;
}
