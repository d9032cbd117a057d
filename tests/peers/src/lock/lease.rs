//! Our lease: one node with its own connections for each contender.

use std::sync::Arc;

use anyhow::Context as _;
use bus::{Bucket, Bus as _, Lease, Leases, Terms};
use bus_nats::NatsBus;

use super::Contender;
use crate::chance::name;

pub(crate) struct Node {
    leases: Leases,
    key: String,
    held: Option<Lease>,
    _bus: NatsBus,
}

impl Node {
    /// Joins as a node that wants `key`.
    pub(crate) async fn join(url: &str, key: &str) -> anyhow::Result<Self> {
        let bus = bus_nats::connect(bus_nats::Options::new(url)).await?;
        let node = format!("node-{}", name());
        let kv = bus.kv(Bucket::Leases);
        let leases = Leases::start(kv, &node, Terms::default(), Arc::new(name));
        let leases = leases.fair(Arc::new(bus.clone()));
        Ok(Self { leases, key: key.to_owned(), held: None, _bus: bus })
    }

    /// Several nodes that want the same key.
    pub(crate) async fn several(url: &str, key: &str, count: usize) -> anyhow::Result<Vec<Self>> {
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(Self::join(url, key).await?);
        }
        Ok(nodes)
    }
}

impl Contender for Node {
    async fn take(&mut self) -> anyhow::Result<()> {
        self.held = Some(self.leases.acquire(&self.key).await?);
        Ok(())
    }

    async fn give(&mut self) -> anyhow::Result<()> {
        self.held.take().context("not held")?.release().await;
        Ok(())
    }
}
