//! The resources that all roles of one process share: the node, the engine and the catalog.

use std::sync::Arc;

use catalog::Catalog;
use chassis::Settings;
use engine::Engine;
use node::{Node, nonces};

/// The resources that all roles of one process share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) node: Node,
    pub(crate) engine: Arc<Engine>,
    pub(crate) catalog: Catalog,
}

impl Process {
    /// Joins the cluster with these roles.
    ///
    /// # Errors
    /// When the broker or the database does not answer, or is not provisioned or migrated.
    pub(crate) async fn join(settings: &Settings, roles: &[&str]) -> anyhow::Result<Self> {
        let node = Node::join(settings, roles).await?;
        let engine = catalog::engine(
            settings.script_time(),
            settings.script_config.values(),
            &settings.script_libraries,
        );
        let (store, bus) = (Arc::clone(&node.store), Arc::clone(&node.bus));
        let catalog = Catalog::start(store, bus, Arc::clone(&engine), nonces(), &node.name).await?;
        Ok(Self { node, engine, catalog })
    }

    /// Leaves the cluster and closes everything, in order.
    pub(crate) async fn leave(self) {
        self.catalog.close().await;
        self.node.leave().await;
    }
}
