//! URL tokens in memory.

use async_trait::async_trait;
use model::{Timestamp, Token};

use super::{MemoryStore, Operation};
use crate::{Error, PendingCommand, Tokens, check};

#[async_trait]
impl Tokens for MemoryStore {
    async fn grant(&self, token: Token) -> Result<(), Error> {
        self.run(Operation::Grant, |tables| {
            check::token(&token)?;
            tables.tokens.entry(token.hash.clone()).or_insert(token);
            Ok(())
        })
        .await
    }

    async fn token(&self, hash: &str, now: Timestamp) -> Result<Option<Token>, Error> {
        self.run(Operation::Token, |tables| {
            Ok(tables.tokens.get(hash).filter(|token| now < token.expires_at).cloned())
        })
        .await
    }

    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error> {
        self.run(Operation::Redeem, |tables| {
            check::command(&command)?;
            if tables.tokens.get(hash).is_none_or(|token| token.expires_at <= now) {
                return Ok(false);
            }
            tables.tokens.remove(hash);
            tables.accept_command(command);
            Ok(true)
        })
        .await
    }
}
