//! Opens and closes the connections of a process.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bus::{Bucket, Bus, Member, Presence};
use bus_nats::NatsBus;
use chassis::{Chance, Clock, Settings, SystemChance, SystemClock};
use store::Store;

/// A node that does not renew its presence for this long counts as gone.
const PRESENCE_TTL: Duration = Duration::from_secs(3);

/// The connections that all roles of one process share. Cheap to clone.
#[derive(Clone)]
pub struct Node {
    /// Its name among the live nodes.
    pub name: String,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The broker.
    pub bus: Arc<dyn Bus>,
    /// The system's clock.
    pub clock: Arc<dyn Clock>,
    /// The system's randomness.
    pub chance: Arc<dyn Chance>,
    /// The live nodes, this one among them.
    pub presence: Presence,
    nats: NatsBus,
}

impl Node {
    /// Connects to the database and the broker, creates missing streams, buckets and tables if the
    /// settings say so, and joins the live nodes with these roles.
    ///
    /// # Errors
    /// When the broker or the database does not answer, or is not prepared.
    pub async fn join(settings: &Settings, roles: &[&str]) -> anyhow::Result<Self> {
        let store = open_store(settings).await.context("open the database")?;
        let nats = open_bus(settings).await.context("connect to NATS")?;
        let bus: Arc<dyn Bus> = Arc::new(nats.clone());
        let me = Member {
            node: settings.node.clone(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            started_at: SystemClock.now(),
            address: roles.contains(&"ingress").then(|| settings.public_url()),
        };
        let presence = Presence::join(bus.kv(Bucket::Nodes), me, PRESENCE_TTL, nonces()).await?;
        let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
        Ok(Self { name: settings.node.clone(), store, bus, clock, chance, presence, nats })
    }

    /// Leaves the live nodes and closes everything, in order.
    pub async fn leave(self) {
        self.presence.leave().await;
        self.store.close().await;
        self.nats.close().await;
    }
}

/// Nonces for compare-and-swap.
#[must_use]
pub fn nonces() -> bus::Nonces {
    Arc::new(|| SystemChance.new_id())
}

/// Opens the database, and migrates its schema if the settings say so.
///
/// # Errors
/// When it does not answer, or its schema does not fit.
pub async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, store::Error> {
    let options = store_sql::Options { migrate: settings.provision, ..Default::default() };
    Ok(Arc::new(store_sql::connect(&settings.database_url, options).await?))
}

/// Connects to the broker and verifies its topology. If the settings say so, creates missing
/// streams and buckets, now and whenever the broker loses them.
///
/// # Errors
/// When it does not answer, is too old, or is not provisioned.
pub async fn open_bus(settings: &Settings) -> Result<NatsBus, bus::Error> {
    let bus = connect(settings).await?;
    match bus.verify().await {
        Err(bus::Error::NotProvisioned(_)) if settings.provision => bus.provision(1).await?,
        verified => verified?,
    }
    Ok(bus)
}

/// Connects to the broker without verifying its topology.
///
/// # Errors
/// When it does not answer, or is too old.
pub async fn connect(settings: &Settings) -> Result<NatsBus, bus::Error> {
    let mut options = bus_nats::Options::new(settings.nats_url.clone());
    options.name = format!("staunch {}", settings.node);
    options.creds.clone_from(&settings.nats_creds);
    options.nkey.clone_from(&settings.nats_nkey);
    options.tls.ca.clone_from(&settings.nats_ca);
    options.tls.identity = settings.nats_tls_cert.clone().zip(settings.nats_tls_key.clone());
    options.tls.is_required = settings.nats_ca.is_some() || settings.nats_tls_cert.is_some();
    options.keep_provisioned = settings.provision.then_some(1);
    bus_nats::connect(options).await
}
