//! The home of the bus: the one cluster whose messages it carries. Its id is a key of a bucket, and
//! each node compares it with the id in its database. Two databases behind one bus would take each
//! other's commands.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::follow::follow;
use crate::retry::{BUDGET, Pace};
use crate::{Change, Entry, Error, Kv, Nonces, Put, Revision};

/// The bus is the home of another cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this NATS carries the messages of another cluster, {theirs}, and the database of this node \
     belongs to the cluster {ours}: give each database a NATS server or account of its own; if the \
     other database is gone for good, run `staunch provision --claim` with the URL of this one"
)]
pub struct Stranger {
    /// The cluster of this node's database.
    pub ours: String,
    /// The cluster whose home the bus is.
    pub theirs: String,
}

/// The reason why a node has no home at this bus.
#[derive(Debug, thiserror::Error)]
pub enum NoHome {
    /// The bus belongs to another cluster.
    #[error(transparent)]
    Stranger(#[from] Stranger),
    /// The bus cannot be asked.
    #[error("cannot read the id of the cluster: {0}")]
    Bus(#[from] Error),
}

/// The id of the cluster that a bus belongs to, from the bucket of pauses; none before its first node.
///
/// # Errors
/// When the bus cannot be asked.
pub async fn home_of(kv: &dyn Kv) -> Result<Option<String>, Error> {
    let found = kv.entries().await?.into_iter().find(|(key, _)| key == Home::KEY);
    let value = found.and_then(|(_, entry)| entry.value);
    Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
}

/// The home of one cluster. Cheap to clone.
#[derive(Clone)]
pub struct Home {
    kv: Arc<dyn Kv>,
    id: Arc<str>,
    nonces: Nonces,
}

impl Home {
    /// The key of the id, in the bucket of pauses: no pause has this key.
    pub const KEY: &str = "cluster-id";

    /// The home of the cluster with this id, in the bucket of pauses.
    #[must_use]
    pub fn new(kv: Arc<dyn Kv>, id: &str, nonces: Nonces) -> Self {
        Self { kv, id: Arc::from(id), nonces }
    }

    /// Compares the id with the bus's; a bus without one has this id from now on.
    ///
    /// # Errors
    /// [`NoHome`] when the bus has another id, or does not answer within about 12 s.
    pub async fn settle(&self) -> Result<(), NoHome> {
        match self.written(|found| found.is_none()).await? {
            Some(theirs) if *theirs != *self.id => {
                Err(Stranger { ours: self.id.to_string(), theirs }.into())
            }
            _ => Ok(()),
        }
    }

    /// Gives the bus this id, whichever it had before; returns that one.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s.
    pub async fn claim(&self) -> Result<Option<String>, Error> {
        self.written(|found| found != Some(&*self.id)).await
    }

    /// Compares the ids after each reconnect and whenever the key changes, until `stop`; ends early
    /// with the stranger that this node has become.
    pub async fn guard(&self, stop: &CancellationToken) -> Option<Stranger> {
        let news = Notify::new();
        let comparing = async {
            loop {
                news.notified().await;
                match self.settle().await {
                    Ok(()) => {}
                    Err(NoHome::Stranger(stranger)) => return stranger,
                    // The watch begins anew when the bus is back, and then this is asked again.
                    Err(NoHome::Bus(error)) => {
                        tracing::warn!(%error, "the id of the cluster could not be compared");
                    }
                }
            }
        };
        let following = follow(&*self.kv, stop, |change| match change {
            Change::Synced => news.notify_one(),
            Change::Set { key, .. } if key == Self::KEY => news.notify_one(),
            Change::Set { .. } | Change::Reset => {}
        });
        tokio::select! {
            biased;
            () = following => None,
            stranger = comparing => Some(stranger),
        }
    }

    /// Writes the own id if `wants` says so about the id that is there; returns the one that was
    /// there.
    async fn written(&self, wants: impl Fn(Option<&str>) -> bool) -> Result<Option<String>, Error> {
        let mut nonce = (self.nonces)();
        let mut pace = Pace::until(Instant::now() + BUDGET, &nonce);
        loop {
            let failure = match self.found().await {
                Ok((found, _)) if !wants(found.as_deref()) => return Ok(found),
                Ok((found, revision)) => {
                    let value = Bytes::copy_from_slice(self.id.as_bytes());
                    match self.kv.put_if(Self::KEY, value, revision, None, &nonce).await {
                        Ok(Put::Won(_)) => return Ok(found),
                        Ok(Put::Lost(_)) => {
                            nonce = (self.nonces)();
                            Error::Unknown("the id of the cluster keeps changing".to_owned())
                        }
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            if !failure.is_passing() || !pace.wait().await {
                return Err(failure);
            }
        }
    }

    /// The id that is there, as the leader of the bucket has it, and the revision of its key.
    async fn found(&self) -> Result<(Option<String>, Revision), Error> {
        let found = self.kv.entries().await?.into_iter().find(|(key, _)| key == Self::KEY);
        if let Some((_, Entry { value: Some(value), revision })) = found {
            return Ok((Some(String::from_utf8_lossy(&value).into_owned()), revision));
        }
        Ok((None, self.kv.get(Self::KEY).await?.map_or(0, |entry| entry.revision)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::Timestamp;

    use super::*;
    use crate::{Bucket, Bus as _, MemoryBus};

    /// No two clusters have the same.
    fn nonces(id: &'static str) -> Nonces {
        let number = std::sync::atomic::AtomicU64::new(0);
        Arc::new(move || {
            let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            format!("{id}-{number}")
        })
    }

    fn homes() -> (Home, Home) {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        let of = |id: &'static str| Home::new(bus.kv(Bucket::Runtime), id, nonces(id));
        (of("ours"), of("theirs"))
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_cluster_keeps_the_bus_and_a_stranger_is_told_both_ids() {
        let (ours, theirs) = homes();
        ours.settle().await.unwrap();
        ours.settle().await.unwrap();
        let refused = theirs.settle().await.unwrap_err().to_string();
        assert!(
            refused.contains("cluster, ours,") && refused.contains("cluster theirs"),
            "{refused}"
        );
        assert_eq!(theirs.claim().await.unwrap().as_deref(), Some("ours"));
        theirs.settle().await.unwrap();
        assert!(matches!(ours.settle().await, Err(NoHome::Stranger(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_notices_that_its_bus_has_become_another_clusters() {
        let (ours, theirs) = homes();
        ours.settle().await.unwrap();
        let stop = CancellationToken::new();
        let claiming = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            theirs.claim().await.unwrap();
        };
        let (found, ()) = tokio::join!(ours.guard(&stop), claiming);
        let expected = Stranger { ours: "ours".to_owned(), theirs: "theirs".to_owned() };
        assert_eq!(found, Some(expected));
        stop.cancel();
        assert_eq!(theirs.guard(&stop).await, None);
    }
}
