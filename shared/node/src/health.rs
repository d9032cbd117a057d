//! The requirements of a process, as checks for `/health/ready`.

use std::sync::Arc;

use bus::{Bus, Member, Presence};
use chassis::{Admin, AdminKeys, Health, Life, LiveKey, Settings};
use store::Store;

use crate::Node;

/// The role that fires timers and repairs what crashes left behind.
const SWEEPER: &str = "timer";
const NO_SWEEP: &str = "no live node has the role timer: no timer fires, and what crashes leave \
    behind is not repaired; start one node with it, even beside an external scheduler";

/// Checks of the database, the broker, and this node's place among the live nodes; and the advice
/// to have a node that sweeps.
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
    let standing = presence.clone();
    health.add("cluster", move || {
        let is_cut_off = standing.is_cut_off();
        async move { if is_cut_off { Err("cut off from the other nodes".to_owned()) } else { Ok(()) } }
    });
    let presence = presence.clone();
    health.advise("sweep", move || {
        let sweeps = presence.live().iter().any(|member| member.roles.iter().any(|r| r == SWEEPER));
        async move { if sweeps { Ok(()) } else { Err(NO_SWEEP.to_owned()) } }
    });
    health
}

impl Node {
    /// Watches over this process until it ends: stops it when the broker becomes another cluster's,
    /// and answers health and metrics on the port that `admin-listen` names, until the result is
    /// dropped; `None` if it is not set, which a process without the role ingress says in its log.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn watch(&self, settings: &Settings, life: &Life) -> anyhow::Result<Option<Admin>> {
        self.stay_home(life);
        let Some(address) = settings.admin_listen else {
            if has_no_http(&self.name, &self.presence.live()) {
                tracing::info!(
                    "this process answers no health check and shows no metrics: it has not the role \
                     ingress, and admin-listen is not set"
                );
            }
            return Ok(None);
        };
        let health = health(&self.store, &self.bus, &self.presence);
        let keys = AdminKeys {
            api: LiveKey::of(settings, "api-key", settings.api_key.as_ref()),
            metrics: LiveKey::of(settings, "metrics-key", settings.metrics_key.as_ref()),
        };
        Admin::start(address, keys, life, health).map(Some)
    }
}

/// Whether the node has no HTTP API.
fn has_no_http(node: &str, live: &[Member]) -> bool {
    !live.iter().any(|member| member.node == node && member.address.is_some())
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn a_node_without_the_role_ingress_has_no_http() {
        let member = |node: &str, address: Option<&str>| Member {
            node: node.to_owned(),
            roles: Vec::new(),
            started_at: Timestamp::from_millis(0),
            address: address.map(str::to_owned),
            version: None,
        };
        let live = [member("gate", Some("http://10.0.0.1:5001")), member("timer", None)];
        assert!(!has_no_http("gate", &live));
        assert!(has_no_http("timer", &live) && has_no_http("other", &live));
    }
}
