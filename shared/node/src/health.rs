//! The requirements of a process, as checks for `/health/ready`.

use std::sync::Arc;

use bus::{Bus, Presence};
use chassis::{Admin, Health, Life, Settings};
use store::Store;

use crate::Node;

/// Checks of the database, the broker, and this node's place among the live nodes.
#[must_use]
pub fn health(store: &Arc<dyn Store>, bus: &Arc<dyn Bus>, presence: &Presence) -> Health {
    let health = Health::new();
    let store = Arc::clone(store);
    health.add("database", move || {
        let store = Arc::clone(&store);
        async move { store.ping().await.map_err(|error| error.to_string()) }
    });
    let bus = Arc::clone(bus);
    health.add("nats", move || {
        let bus = Arc::clone(&bus);
        async move { bus.ping().await.map_err(|error| error.to_string()) }
    });
    let presence = presence.clone();
    health.add("cluster", move || {
        let is_cut_off = presence.is_cut_off();
        async move { if is_cut_off { Err("cut off from the other nodes".to_owned()) } else { Ok(()) } }
    });
    health
}

impl Node {
    /// Answers health and metrics on the port that `admin-listen` names, until the result is
    /// dropped; `None` if it is not set.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn admin(&self, settings: &Settings, life: &Life) -> anyhow::Result<Option<Admin>> {
        let Some(address) = settings.admin_listen else { return Ok(None) };
        let health = health(&self.store, &self.bus, &self.presence);
        Admin::start(address, settings.api_key.clone(), life, health).map(Some)
    }
}
