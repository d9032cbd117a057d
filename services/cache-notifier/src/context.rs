//! The connections and settings of the cache notifier.

use std::sync::Arc;

use bus::{Bucket, Bus, Nonces, Pointers, Presence, owner_of};
use chassis::{Points, Trail};
use store::Store;

use crate::metrics::Metrics;
use crate::{Config, Error};

/// The role of the nodes that run a cache notifier.
pub const ROLE: &str = "cache-notifier";
/// The roles of the nodes that cache pointers: a publication waits for them.
const CACHING: [&str; 2] = ["ingress", "executor"];

/// The connections and settings of the cache notifier. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub(crate) node: Arc<str>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) presence: Presence,
    pub(crate) pointers: Pointers,
    pub(crate) metrics: Metrics,
    pub(crate) config: Config,
    pub(crate) trail: Trail,
}

impl Context {
    /// A notifier under this node's name; follows the pointers from now on.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn start(
        node: &str,
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        presence: Presence,
        nonces: Nonces,
        config: Config,
    ) -> Result<Self, Error> {
        let pointers = Pointers::start(bus.kv(Bucket::Definitions), nonces).await?;
        let metrics = Metrics;
        let (node, trail) = (Arc::from(node), Trail::default());
        Ok(Self { node, store, bus, presence, pointers, metrics, config, trail })
    }

    /// The same notifier, which reports its progress to these points.
    #[must_use]
    pub fn watched(self, points: Option<Arc<dyn Points>>) -> Self {
        Self { trail: Trail::new(&self.node, points), ..self }
    }

    /// Stops following the pointers.
    pub async fn close(&self) {
        self.pointers.close().await;
    }

    /// The live nodes that cache pointers.
    pub(crate) fn caching(&self) -> Vec<String> {
        self.members(|role| CACHING.contains(&role))
    }

    /// Whether this node does the work that only one notifier does.
    pub(crate) fn is_first(&self) -> bool {
        owner_of(0, &self.members(|role| role == ROLE)) == Some(&*self.node)
    }

    fn members(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let live = self.presence.live().into_iter();
        live.filter(|member| member.roles.iter().any(|role| is_wanted(role)))
            .map(|member| member.node)
            .collect()
    }
}
