//! Claims: work that one node of many does, once. A node claims the work by creating a key. When
//! the work is done, the key stays for a while, so that nodes that come later see it. Another node
//! takes over the claim of a node that has died, by compare-and-swap.
//!
//! A claim saves work, as a lease does: doing the work twice must be harmless.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::lock::lock;
use crate::retry::{BUDGET, Pace};
use crate::{Entry, Error, Kv, Nonces, Put, Revision};

/// The result of an attempt to claim a key.
#[derive(Debug)]
pub enum Claim {
    /// This node has the claim: do the work, then call [`Claims::done`].
    Won(Claimed),
    /// Another node that is live does the work.
    Taken {
        /// The name of that node.
        by: String,
    },
    /// The work has been done.
    Done,
}

/// A claim of this node.
#[derive(Debug)]
pub struct Claimed {
    /// The key.
    pub key: String,
    /// The revision of the claim.
    pub revision: Revision,
    nonce: String,
}

/// The claims of one node. Cheap to clone.
#[derive(Clone)]
pub struct Claims {
    kv: Arc<dyn Kv>,
    owner: String,
    nonces: Nonces,
    ttl_claimed: Duration,
    ttl_done: Duration,
    /// Nonces of the claims that this process holds or is acquiring.
    active: Arc<Mutex<BTreeSet<String>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Claimed,
    Done,
}

#[derive(Serialize, Deserialize)]
struct Value {
    owner: String,
    state: State,
    nonce: String,
}

impl Claims {
    /// The claims of the node `owner`. A claim expires after `ttl_claimed`; a finished one is
    /// remembered for `ttl_done`.
    #[must_use]
    pub fn new(
        kv: Arc<dyn Kv>,
        owner: &str,
        nonces: Nonces,
        ttl_claimed: Duration,
        ttl_done: Duration,
    ) -> Self {
        let active = Arc::default();
        Self { kv, owner: owner.to_owned(), nonces, ttl_claimed, ttl_done, active }
    }

    /// Claims a key. A claim of an owner that is not live is taken over.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s. The claim may have been written; this
    /// process takes it over when it tries again, other nodes when it expires.
    pub async fn claim(
        &self,
        key: &str,
        owner_is_live: impl Fn(&str) -> bool + Send,
    ) -> Result<Claim, Error> {
        let nonce = (self.nonces)();
        let active = Active::new(&self.active, &nonce);
        let claim = self.contend(key, &nonce, owner_is_live).await?;
        if matches!(claim, Claim::Won(_)) {
            active.keep();
        }
        Ok(claim)
    }

    async fn contend(
        &self,
        key: &str,
        nonce: &str,
        owner_is_live: impl Fn(&str) -> bool + Send,
    ) -> Result<Claim, Error> {
        let value = self.value(State::Claimed, nonce);
        let mut pace = Pace::until(Instant::now() + BUDGET, nonce);
        let mut expected = 0;
        loop {
            let ttl = Some(self.ttl_claimed);
            let failure = match self.kv.put_if(key, value.clone(), expected, ttl, nonce).await {
                Ok(Put::Won(revision)) => return Ok(self.won(key, revision, nonce)),
                Ok(Put::Lost(Some(0))) => {
                    expected = 0;
                    Error::Unknown(format!("the claim {key} keeps changing"))
                }
                Ok(Put::Lost(at)) => match self.look(key, at, nonce, &owner_is_live).await? {
                    Look::Known(claim) => return Ok(claim),
                    Look::Free(revision) if revision != expected => {
                        expected = revision;
                        continue;
                    }
                    Look::Free(_) | Look::Behind => {
                        Error::Unknown(format!("the claim {key} cannot be read yet"))
                    }
                },
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error),
            };
            if !pace.wait().await {
                return Err(failure);
            }
        }
    }

    /// The state of the key, after the server refused it to this node.
    async fn look(
        &self,
        key: &str,
        at: Option<Revision>,
        nonce: &str,
        owner_is_live: &(impl Fn(&str) -> bool + Send),
    ) -> Result<Look, Error> {
        let entry = match self.kv.get(key).await {
            Ok(Some(entry)) if at.is_none_or(|at| entry.revision >= at) => entry,
            Ok(_) => return Ok(Look::Behind),
            Err(error) if error.is_passing() => return Ok(Look::Behind),
            Err(error) => return Err(error),
        };
        let Entry { value, revision } = entry;
        let Some(bytes) = value else { return Ok(Look::Free(revision)) };
        let value: Value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(error) => {
                tracing::warn!(%error, key, "a claim cannot be read; this node takes it over");
                return Ok(Look::Free(revision));
            }
        };
        if value.state == State::Done {
            return Ok(Look::Known(Claim::Done));
        }
        if value.nonce == nonce {
            return Ok(Look::Known(self.won(key, revision, nonce)));
        }
        let is_stale_own = value.owner == self.owner && !lock(&self.active).contains(&value.nonce);
        if is_stale_own || (value.owner != self.owner && !owner_is_live(&value.owner)) {
            return Ok(Look::Free(revision));
        }
        Ok(Look::Known(Claim::Taken { by: value.owner }))
    }

    /// Marks the work as done, for nodes that come later. If another node has taken over the claim,
    /// that node will mark it.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s.
    pub async fn done(&self, claimed: Claimed) -> Result<(), Error> {
        let value = self.value(State::Done, &claimed.nonce);
        let nonce = (self.nonces)();
        let mut pace = Pace::until(Instant::now() + BUDGET, &nonce);
        let result = loop {
            let Claimed { key, revision, .. } = &claimed;
            let ttl = Some(self.ttl_done);
            let failure = match self.kv.put_if(key, value.clone(), *revision, ttl, &nonce).await {
                Ok(Put::Won(_)) => break Ok(()),
                Ok(Put::Lost(Some(_))) => {
                    tracing::debug!(key, "a claim was taken over before it was marked done");
                    break Ok(());
                }
                Ok(Put::Lost(None)) => Error::Unknown(format!("the claim {key} keeps changing")),
                Err(error) if error.is_passing() => error,
                Err(error) => break Err(error),
            };
            if !pace.wait().await {
                break Err(failure);
            }
        };
        lock(&self.active).remove(&claimed.nonce);
        result
    }

    /// Gives back a claim whose work is not done. Best effort: if that fails, the claim expires.
    pub async fn abandon(&self, claimed: Claimed) {
        let nonce = (self.nonces)();
        if let Err(error) = self.kv.purge_if(&claimed.key, claimed.revision, &nonce).await {
            tracing::debug!(%error, key = claimed.key, "a claim could not be given back");
        }
        lock(&self.active).remove(&claimed.nonce);
    }

    fn won(&self, key: &str, revision: Revision, nonce: &str) -> Claim {
        Claim::Won(Claimed { key: key.to_owned(), revision, nonce: nonce.to_owned() })
    }

    fn value(&self, state: State, nonce: &str) -> Bytes {
        let value = Value { owner: self.owner.clone(), state, nonce: nonce.to_owned() };
        serde_json::to_vec(&value).unwrap_or_default().into()
    }
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Claims({}, {} active)", self.owner, lock(&self.active).len())
    }
}

enum Look {
    Known(Claim),
    Free(Revision),
    /// The read was answered by a server that is behind the one that refused the write.
    Behind,
}

/// Removes the nonce again unless the claim was won, also when the future is dropped.
struct Active<'a> {
    set: &'a Mutex<BTreeSet<String>>,
    nonce: Option<String>,
}

impl<'a> Active<'a> {
    fn new(set: &'a Mutex<BTreeSet<String>>, nonce: &str) -> Self {
        lock(set).insert(nonce.to_owned());
        Self { set, nonce: Some(nonce.to_owned()) }
    }

    fn keep(mut self) {
        self.nonce = None;
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        if let Some(nonce) = &self.nonce {
            lock(self.set).remove(nonce);
        }
    }
}

#[cfg(test)]
mod tests;
