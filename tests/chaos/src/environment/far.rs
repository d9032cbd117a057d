//! A node whose way to NATS and to the database leads through proxies.

use std::time::Duration;

use cluster::NodePlan;
use testkit::Proxy;

use crate::world::{World, all_roles};

/// The proxies of one node, or of all nodes of one place.
pub(crate) struct Far {
    pub(crate) nats: Proxy,
    pub(crate) database: Proxy,
}

impl Far {
    /// Proxies on this address and free ports.
    pub(crate) async fn at(world: &World, address: &str) -> Self {
        let address = format!("{address}:0");
        let nats = world.cluster.nats_url();
        let nats = Proxy::at(&address, nats.trim_start_matches("nats://")).await;
        let database = Proxy::at(&address, &place(world.cluster.database_url())).await;
        Self { nats, database }
    }

    /// From now on each byte takes this long, to there and back together.
    pub(crate) fn round_trip(&self, time: Duration) {
        self.nats.delay(time / 2);
        self.database.delay(time / 2);
    }

    pub(crate) fn nats_url(&self) -> String {
        format!("nats://{}", self.nats.address())
    }

    pub(crate) fn database_url(&self) -> String {
        format!("postgres://postgres@{}/staunch", self.database.address())
    }

    /// A node with every role that uses them.
    pub(crate) fn node(&self, name: &str) -> NodePlan {
        let (nats_url, database_url) = (Some(self.nats_url()), Some(self.database_url()));
        NodePlan { nats_url, database_url, ..all_roles(name) }
    }
}

/// Host and port of a URL of PostgreSQL.
pub(crate) fn place(url: &str) -> String {
    let rest = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}
