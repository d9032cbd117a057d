//! The connections and settings of the timer service.

use std::sync::Arc;

use bus::{Bucket, Bus, Claims, Nonces, Presence};
use chassis::{Points, Trail};
use payloads::Shelves;
use store::Store;

use crate::Config;
use crate::metrics::Metrics;
use crate::schedule::Versions;

/// The connections and settings of the timer service. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub(crate) node: Arc<str>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) presence: Presence,
    pub(crate) claims: Claims,
    pub(crate) nonces: Nonces,
    pub(crate) versions: Arc<Versions>,
    pub(crate) metrics: Metrics,
    pub(crate) config: Config,
    pub(crate) trail: Trail,
    /// Where the parts of payloads are, outside of the database.
    pub(crate) shelves: Shelves,
}

impl Context {
    /// A timer replica under this node's name. It fires nothing unless the node is among the live
    /// ones with the role [`crate::ROLE`].
    #[must_use]
    pub fn new(
        node: &str,
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        presence: Presence,
        nonces: Nonces,
        config: Config,
    ) -> Self {
        let timers = bus.kv(Bucket::Timers);
        let claims =
            Claims::new(timers, node, Arc::clone(&nonces), config.claim_ttl, config.done_ttl);
        let shelves = config.payload_places.over(&bus.outside());
        Self {
            shelves,
            node: Arc::from(node),
            store,
            bus,
            presence,
            claims,
            nonces,
            versions: Arc::default(),
            metrics: Metrics,
            config,
            trail: Trail::default(),
        }
    }

    /// The same replica, which reports the points that it reaches.
    #[must_use]
    pub fn watched(self, points: Option<Arc<dyn Points>>) -> Self {
        Self { trail: Trail::new(&self.node, points), ..self }
    }
}
