//! The value of a lease's key, in JSON.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Error, Kv, Nonces, Put};

/// A holder may renew its lease between a look and a removal, which is then tried again.
const REMOVALS_MAX: usize = 5;
/// The owner of a lease that cannot be read.
const UNREADABLE: &str = "(unreadable)";

/// The value of the key: the node that holds the lease, and its acquisition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holder {
    pub(super) owner: String,
    pub(super) nonce: String,
    /// The previous holder has written this entry; the new holder has not written yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) handed: bool,
    /// The nodes that wait behind it, as the previous holder knew them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) next: Vec<Waiter>,
}

/// A node that waits, and the acquisition that it waits with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) owner: String,
    pub(super) nonce: String,
}

impl Holder {
    pub(super) fn is_unreadable(&self) -> bool {
        self.owner == UNREADABLE && self.nonce.is_empty()
    }

    fn holding(self) -> Holding {
        let next = self.next.into_iter().map(|waiter| waiter.owner).collect();
        Holding { owner: self.owner, acquisition: self.nonce, next }
    }

    pub(super) fn bytes(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}

/// The holder that an entry shows; none on a tombstone.
pub(super) fn parse(value: Option<&Bytes>) -> Option<Holder> {
    value.map(|bytes| {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            tracing::warn!(%error, "a lease cannot be read; it is removed");
            Holder { owner: UNREADABLE.to_owned(), ..Holder::default() }
        })
    })
}

/// A lease, as one who does not want it sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The node that holds it.
    pub owner: String,
    /// The nonce with which that node asked for it.
    pub acquisition: String,
    /// The nodes that wait behind it, as its holder last knew them.
    pub next: Vec<String>,
}

impl Holding {
    /// Adds nodes that wait behind it, as its holder knows them now.
    pub fn joined_by(&mut self, nodes: &[String]) {
        for node in nodes {
            if !self.next.contains(node) {
                self.next.push(node.clone());
            }
        }
    }
}

/// The lease on `key`; `None` when no node holds it. A hint: it may have changed since.
///
/// # Errors
/// When the bus cannot be asked.
pub async fn look(kv: &dyn Kv, key: &str) -> Result<Option<Holding>, Error> {
    let entry = kv.get(key).await?;
    Ok(parse(entry.and_then(|entry| entry.value).as_ref()).map(Holder::holding))
}

/// Every lease that a node holds now, by key.
///
/// # Errors
/// When the bus cannot be asked.
pub async fn look_at_all(kv: &dyn Kv) -> Result<Vec<(String, Holding)>, Error> {
    let entries = kv.entries().await?.into_iter();
    let held =
        entries.filter_map(|(key, entry)| Some((key, parse(entry.value.as_ref())?.holding())));
    Ok(held.collect())
}

/// Takes the lease on `key` away from its holder; returns who had it, `None` if no node did. Results
/// stay right: a holder that still lives notices the loss, and its burst commits only if the
/// instance did not change meanwhile.
///
/// # Errors
/// When the bus cannot be asked, or the lease changed with every try.
pub async fn take_away(kv: &dyn Kv, key: &str, nonces: &Nonces) -> Result<Option<Holding>, Error> {
    for _ in 0..REMOVALS_MAX {
        let Some(entry) = kv.get(key).await? else { return Ok(None) };
        let Some(holder) = parse(entry.value.as_ref()) else { return Ok(None) };
        if let Put::Won(_) = kv.purge_if(key, entry.revision, &nonces()).await? {
            return Ok(Some(holder.holding()));
        }
    }
    Err(Error::Unavailable(format!("the lease on {key} changes all the time")))
}
