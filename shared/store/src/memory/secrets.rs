//! Secrets in memory.

use async_trait::async_trait;

use super::{MemoryStore, Operation};
use crate::{Error, Rewrapped, Secret, Secrets, check_secret};

#[async_trait]
impl Secrets for MemoryStore {
    async fn create_secret(&self, secret: &Secret) -> Result<bool, Error> {
        check_secret(secret)?;
        self.run(Operation::CreateSecret, |tables| {
            if tables.secrets.contains_key(&secret.name) {
                return Ok(false);
            }
            tables.secrets.insert(secret.name.clone(), secret.clone());
            Ok(true)
        })
        .await
    }

    async fn secrets(&self) -> Result<Vec<Secret>, Error> {
        self.run(Operation::Secrets, |tables| Ok(tables.secrets.values().cloned().collect())).await
    }

    async fn secret(&self, name: &str) -> Result<Option<Secret>, Error> {
        self.run(Operation::Secret, |tables| Ok(tables.secrets.get(name).cloned())).await
    }

    async fn replace_secret(&self, before: &Secret, after: &Secret) -> Result<bool, Error> {
        check_secret(after)?;
        self.run(Operation::ReplaceSecret, |tables| {
            let Some(known) = tables.secrets.get_mut(&after.name) else { return Ok(false) };
            let version = |secret: &Secret| (secret.version, secret.wrapped_key.clone());
            if version(known) != version(before) {
                return Ok(false);
            }
            *known = after.clone();
            Ok(true)
        })
        .await
    }

    async fn delete_secret(&self, name: &str) -> Result<bool, Error> {
        self.run(Operation::DeleteSecret, |tables| Ok(tables.secrets.remove(name).is_some())).await
    }

    async fn rewrap_secrets(&self, changes: &[Rewrapped]) -> Result<bool, Error> {
        self.run(Operation::RewrapSecrets, |tables| {
            let is_same = |change: &Rewrapped| {
                tables.secrets.get(&change.name).is_some_and(|one| one.wrapped_key == change.from)
            };
            if !changes.iter().all(is_same) {
                return Ok(false);
            }
            for change in changes {
                if let Some(known) = tables.secrets.get_mut(&change.name) {
                    known.wrapped_key.clone_from(&change.to);
                }
            }
            Ok(true)
        })
        .await
    }
}
