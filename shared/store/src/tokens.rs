//! Single-use URL tokens.

use async_trait::async_trait;
use model::{Timestamp, Token};

use crate::{Error, PendingCommand};

/// URL tokens, found by the hash of their text.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Makes a token good.
    ///
    /// # Errors
    /// See [`Error`].
    async fn grant(&self, token: Token) -> Result<(), Error>;

    /// The token, if it is good at that time.
    ///
    /// # Errors
    /// See [`Error`].
    async fn token(&self, hash: &str, now: Timestamp) -> Result<Option<Token>, Error>;

    /// Uses the token up and accepts the command, in one transaction; false when it is not good.
    ///
    /// # Errors
    /// See [`Error`]; read it again to know whether it was used.
    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error>;
}
