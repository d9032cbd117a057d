//! What all roles of one process share: connections, engine, clock, chance, presence, catalog.
//! The only place that names the adapters.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bus::{Bucket, Bus, Member, Presence};
use bus_nats::NatsBus;
use catalog::Catalog;
use chassis::{Chance, Clock, Settings, SystemChance, SystemClock};
use engine::Engine;
use store::Store;

/// A node that says nothing for this long is gone.
const PRESENCE_TTL: Duration = Duration::from_secs(3);

/// What all roles of one process share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) presence: Presence,
    pub(crate) catalog: Catalog,
    nats: NatsBus,
}

impl Process {
    /// Connects, creates what is missing where the settings say so, and joins the live nodes with
    /// these roles.
    ///
    /// # Errors
    /// When the broker or the database does not answer, or is not prepared.
    pub(crate) async fn join(settings: &Settings, roles: &[&str]) -> anyhow::Result<Self> {
        let store = open_store(settings).await.context("open the database")?;
        let nats = open_bus(settings).await.context("connect to NATS")?;
        let bus: Arc<dyn Bus> = Arc::new(nats.clone());
        let (clock, chance) = (SystemClock, SystemChance);
        let me = Member {
            node: settings.node.clone(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            started_at: clock.now(),
            address: roles.contains(&"ingress").then(|| settings.public_url()),
        };
        let nodes = bus.kv(Bucket::Nodes);
        let presence = Presence::join(nodes, me, PRESENCE_TTL, nonces()).await?;
        let engine = Arc::new(Engine::new(
            activities::all(),
            expressions::with_script_time(settings.script_time()),
        ));
        let catalog = Catalog::start(
            Arc::clone(&store),
            Arc::clone(&bus),
            Arc::clone(&engine),
            nonces(),
            &settings.node,
        )
        .await?;
        let (clock, chance) = (Arc::new(clock), Arc::new(chance));
        Ok(Self { store, bus, engine, clock, chance, presence, catalog, nats })
    }

    /// Leaves the live nodes and closes everything, in order.
    pub(crate) async fn leave(self) {
        self.presence.leave().await;
        self.catalog.close().await;
        self.store.close().await;
        self.nats.close().await;
    }
}

/// Nonces for compare-and-swap.
pub(crate) fn nonces() -> bus::Chance {
    Arc::new(|| SystemChance.new_id())
}

/// The database, with its schema brought up to date where the settings say so.
///
/// # Errors
/// When it does not answer, or its schema does not fit.
pub(crate) async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, store::Error> {
    let options = store_sql::Options { migrate: settings.provision, ..Default::default() };
    Ok(Arc::new(store_sql::connect(&settings.database_url, options).await?))
}

/// The broker, verified; what is missing is created where the settings say so.
///
/// # Errors
/// When it does not answer, is too old, or is not provisioned.
pub(crate) async fn open_bus(settings: &Settings) -> Result<NatsBus, bus::Error> {
    let bus = connect(settings).await?;
    match bus.verify().await {
        Err(bus::Error::NotProvisioned(_)) if settings.provision => bus.provision(1).await?,
        verified => verified?,
    }
    Ok(bus)
}

/// The broker, as it is.
///
/// # Errors
/// When it does not answer, or is too old.
pub(crate) async fn connect(settings: &Settings) -> Result<NatsBus, bus::Error> {
    let mut options = bus_nats::Options::new(settings.nats_url.clone());
    options.name = format!("staunch {}", settings.node);
    options.creds.clone_from(&settings.nats_creds);
    bus_nats::connect(options).await
}
