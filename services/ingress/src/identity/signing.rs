//! The keys that sign tokens: in a file, or in the database. Each node reads them again from time
//! to time, so that they are changed without a restart.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::Timestamp;
use store::SigningKey;
use vault::{Keeper, is_encrypted_key};

use super::config::IdentityConfig;
use super::key_file::{self, Key};
use super::secret;
use crate::{Context, Problem};

/// Keys are read again after this time: a removed one is refused from then on.
const READ_AGAIN: Duration = Duration::from_secs(10);
/// A token of an unknown key makes a node read them again, at most this often.
const READ_AGAIN_MIN: Duration = Duration::from_secs(1);
/// The keys as this node knows them.
#[derive(Default)]
pub(crate) struct SigningKeys {
    known: Mutex<Known>,
    /// Encrypts the keys in the database, if there is a master key.
    keeper: Option<Arc<Keeper>>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Vec<Key>,
    /// The one that signs.
    signer: Option<Key>,
    read_at: Option<Timestamp>,
}

impl Known {
    fn is_older(&self, now: Timestamp, age: Duration) -> bool {
        self.read_at.is_none_or(|at| at.after(age) <= now)
    }
}

impl SigningKeys {
    /// Keys that are encrypted in the database, if there is a master key.
    pub(super) fn encrypted_by(keeper: Option<Arc<Keeper>>) -> Self {
        Self { keeper, ..Self::default() }
    }

    /// The key that signs now; the first one is made when it is needed.
    pub(crate) async fn signer(
        &self,
        cx: &Context,
        config: &IdentityConfig,
    ) -> Result<Key, Problem> {
        let mut known = self.known();
        if known.is_older(cx.clock.now(), READ_AGAIN) || known.signer.is_none() {
            known = self.read(cx, config).await?;
        }
        if let Some(key) = known.signer {
            return Ok(key);
        }
        let (id, created_at) = (secret::short_id(&cx.chance.new_id()), cx.clock.now());
        let key = cx.chance.seed();
        let secret = match &self.keeper {
            Some(keeper) => keeper.encrypt_key(&id, &key, created_at).await?,
            None => key.to_vec(),
        };
        let made = SigningKey { id, secret, created_at, retired_at: None };
        cx.store.add_signing_key(&made).await?;
        tracing::info!(key = made.id, "a key that signs tokens is made");
        self.read(cx, config).await?.signer.ok_or_else(|| {
            tracing::error!("the key that signs tokens is gone");
            Problem::internal()
        })
    }

    /// The key with this id.
    pub(crate) async fn key(
        &self,
        cx: &Context,
        config: &IdentityConfig,
        id: &str,
    ) -> Result<Option<Key>, Problem> {
        let mut known = self.known();
        let of = |known: &Known| known.keys.iter().find(|key| key.id == id).cloned();
        let found = of(&known);
        let age = if found.is_some() { READ_AGAIN } else { READ_AGAIN_MIN };
        if !known.is_older(cx.clock.now(), age) {
            return Ok(found);
        }
        known = self.read(cx, config).await?;
        Ok(of(&known))
    }

    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn read(&self, cx: &Context, config: &IdentityConfig) -> Result<Known, Problem> {
        let now = cx.clock.now();
        let (keys, signer) = match &config.key_file {
            Some(file) => {
                let keys = match key_file::read(file) {
                    Ok(keys) => keys,
                    Err(error) => return self.last_good(now, &error),
                };
                let signer = keys.first().cloned();
                (keys, signer)
            }
            None => {
                let rows = cx.store.signing_keys().await?;
                let signer = rows.iter().find(|row| row.retired_at.is_none());
                let signer = signer.map(|row| row.id.clone());
                let keys = self.decrypted(rows).await?;
                let found = keys.iter().find(|key| Some(&key.id) == signer.as_ref()).cloned();
                if signer.is_some() && found.is_none() {
                    return Err(Problem::unavailable(
                        "the key that signs tokens cannot be decrypted: see the log",
                    ));
                }
                (keys, found)
            }
        };
        let known = Known { keys, signer, read_at: Some(now) };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        Ok(known)
    }

    /// The keys as they were read before: a file that cannot be used changes nothing.
    fn last_good(&self, now: Timestamp, error: &str) -> Result<Known, Problem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.keys.is_empty() {
            tracing::error!(error, "the keys that sign tokens cannot be read");
            let detail = "the keys that sign tokens cannot be read: see the log";
            return Err(Problem::unavailable(detail));
        }
        tracing::error!(
            error,
            "the keys that sign tokens cannot be read: those until now stay in use"
        );
        known.read_at = Some(now);
        Ok(known.clone())
    }

    /// The keys in these rows. One that no master key decrypts is left out: its tokens are refused.
    async fn decrypted(&self, rows: Vec<SigningKey>) -> Result<Vec<Key>, Problem> {
        let mut keys = Vec::new();
        for SigningKey { id, secret, .. } in rows {
            let secret = match &self.keeper {
                Some(keeper) => keeper.decrypt_key(&id, &secret).await,
                None if is_encrypted_key(&secret) => Err(vault::Error::Locked(
                    "this node has no master key: give it secrets-key-file".to_owned(),
                )),
                None => Ok(secret),
            };
            match secret {
                Ok(secret) => keys.push(Key { id, secret }),
                Err(vault::Error::Store(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::error!(%error, key = id, "a key that signs tokens is locked")
                }
            }
        }
        Ok(keys)
    }
}
