//! Opens and closes the connections of a process.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bus::{Bucket, Bus, Home, Member, Presence};
use bus_nats::{NatsBus, Placement};
use chassis::{Chance, Clock, ConfigError, Life, Settings, SystemChance, SystemClock};
use protocol::subject;
use store::Store;
use store_sql::SqlStore;
use tokio::net::UdpSocket;

use crate::clock::ClusterClock;
use crate::observe::{self, Observing};

/// The longest look for the address of this machine.
const LOOKUP_MAX: Duration = Duration::from_secs(1);

/// The connections that all roles of one process share. Cheap to clone.
#[derive(Clone)]
pub struct Node {
    /// Its name among the live nodes.
    pub name: String,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The broker.
    pub bus: Arc<dyn Bus>,
    /// The clock of the database, whatever this machine's shows.
    pub clock: Arc<dyn Clock>,
    /// The system's randomness.
    pub chance: Arc<dyn Chance>,
    /// The live nodes, this one among them.
    pub presence: Presence,
    home: Home,
    nats: NatsBus,
    observing: Arc<Observing>,
}

impl Node {
    /// Connects to the database and the broker, creates missing streams, buckets and tables if the
    /// settings say so, and joins the live nodes with these roles.
    ///
    /// # Errors
    /// When the broker or the database does not answer, is not prepared, or the broker belongs to
    /// another database. [`ConfigError`] when the key of the settings is one of the database.
    pub async fn join(settings: &Settings, roles: &[&str]) -> anyhow::Result<Self> {
        let store = open(settings).await.context("open the database")?;
        bootstrap_is_nobodys(settings, &store).await?;
        let nats = open_bus(settings, roles).await.context("connect to NATS")?;
        let bus: Arc<dyn Bus> = Arc::new(nats.clone());
        let home = home(&store, &*bus).await.context("read the id of the cluster")?;
        home.settle().await?;
        let store: Arc<dyn Store> = Arc::new(store);
        let clock = ClusterClock::start(&*store).await.context("read the clock of the database")?;
        let clock = Arc::new(clock);
        let address = match roles.contains(&"ingress") {
            true => Some(settings.node_url(here(settings).await)),
            false => None,
        };
        let me = Member {
            node: settings.node.clone(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            started_at: clock.now(),
            address,
            version: Some(chassis::version().to_owned()),
        };
        let presence =
            Presence::join(bus.kv(Bucket::Nodes), me, settings.presence_ttl, nonces()).await;
        let presence =
            presence.context("join the nodes (`staunch doctor` says what NATS lacks)")?;
        let observing =
            observe::start(Arc::clone(&store), nats.clone(), Arc::clone(&clock), &presence, roles);
        chassis::watch_certificates(settings);
        let chance = Arc::new(SystemChance);
        let (name, observing) = (settings.node.clone(), Arc::new(observing));
        Ok(Self { name, store, bus, clock, chance, presence, home, nats, observing })
    }

    /// Stops the process when the broker turns out to be another cluster's: this node would take
    /// commands of instances that its database does not have. And when a later process has its name:
    /// one of them would confirm for both that a definition is in force.
    pub(crate) fn stay_home(&self, life: &Life) {
        let (home, presence, of) = (self.home.clone(), self.presence.clone(), life.clone());
        life.supervise("cluster id: watch", move || {
            let (home, presence, life) = (home.clone(), presence.clone(), of.clone());
            async move {
                let stop = life.stop();
                let stranger = tokio::select! {
                    found = home.guard(&stop) => found.map(|stranger| stranger.to_string()),
                    () = presence.displaced() => Some(format!(
                        "another process has started under the name of this node, {:?}: give each \
                         its own with --node",
                        presence.node()
                    )),
                };
                if let Some(stranger) = stranger {
                    tracing::error!(%stranger, "this node stays out of the cluster");
                    life.fail(stranger);
                }
            }
        });
    }

    /// Leaves the live nodes and closes everything, in order.
    pub async fn leave(self) {
        self.observing.end();
        self.presence.leave().await;
        self.store.close().await;
        self.nats.close().await;
    }
}

/// Refuses an `api-key` that the database has, too: whoever has it would get all permissions.
async fn bootstrap_is_nobodys(settings: &Settings, store: &dyn Store) -> anyhow::Result<()> {
    let Some(key) = &settings.api_key else { return Ok(()) };
    let owner = store::key_owner(store, &store::key_hash(key.expose())).await;
    let Some(owner) = owner.context("look for the api-key in the database")? else { return Ok(()) };
    let why = format!(
        "the setting api-key, or STAUNCH_API_KEY, is the key of {owner} in the database: at this \
         node it would have all permissions. Start the node without it, or with a key of its own, \
         such as one from `openssl rand -hex 32`; the variable is for both nodes and commands"
    );
    Err(ConfigError::Unsafe(why).into())
}

/// The address of this machine towards its first NATS server, by which others may reach it, too;
/// none if that is not known within a second. Nothing is sent.
async fn here(settings: &Settings) -> Option<IpAddr> {
    let first = settings.nats_url.split(',').next().unwrap_or_default().trim();
    let rest = first.split_once("://").map_or(first, |(_, rest)| rest);
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split(['/', '?']).next().unwrap_or_default();
    let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let place = if has_port { place.to_owned() } else { format!("{place}:4222") };
    let asking = async {
        let to = tokio::net::lookup_host(place).await.ok()?.next()?;
        let any: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0)).await.ok()?;
        socket.connect(to).await.ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    tokio::time::timeout(LOOKUP_MAX, asking).await.ok().flatten()
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
    Ok(Arc::new(open(settings).await?))
}

async fn open(settings: &Settings) -> Result<SqlStore, store::Error> {
    let options = store_sql::Options {
        url_file: settings.file_of("database-url").map(Path::to_owned),
        migrate: settings.provision,
        max_connections: settings.database_connections,
        pooled: settings.database_pooler,
        committers: settings.database_committers,
        acquire_timeout: settings.database_wait,
        statement_timeout: settings.database_statement_time,
        ..Default::default()
    };
    store_sql::connect(&settings.database_url, options).await
}

async fn home(store: &SqlStore, bus: &dyn Bus) -> Result<Home, store::Error> {
    let id = store.cluster_id(SystemChance.new_id()).await?;
    Ok(Home::new(bus.kv(Bucket::Runtime), &id, nonces()))
}

/// Makes the broker belong to the database of these settings, whichever it belonged to before;
/// returns the id of the cluster, and the one before.
///
/// # Errors
/// When the database or the broker does not answer.
pub async fn claim(settings: &Settings, bus: &NatsBus) -> anyhow::Result<(String, Option<String>)> {
    let store = open(settings).await.context("open the database")?;
    let id = store.cluster_id(SystemChance.new_id()).await?;
    let before = Home::new(bus.kv(Bucket::Runtime), &id, nonces()).claim().await;
    store.close().await;
    Ok((id, before?))
}

/// Looks at the database of the settings, whatever its schema is. Changes nothing.
///
/// # Errors
/// When it does not answer.
pub async fn inspect_database(settings: &Settings) -> Result<store_sql::Inspection, store::Error> {
    store_sql::inspect(&settings.database_url, settings.database_pooler).await
}

/// Connects to the broker, checks the permissions for these roles, and verifies the topology. If the
/// settings say so, creates missing streams and buckets, now and whenever the broker loses them.
///
/// # Errors
/// When it does not answer, is too old, refuses what the roles need, or is not provisioned.
pub async fn open_bus(settings: &Settings, roles: &[&str]) -> Result<NatsBus, bus::Error> {
    let bus = connect(settings).await?;
    bus.check_permissions(roles).await?;
    match bus.verify().await {
        Err(bus::Error::NotProvisioned(why)) if settings.provision => {
            tracing::info!(%why, "creates what NATS lacks, and changes what differs");
            bus.provision(Placement::default()).await?;
        }
        verified => verified?,
    }
    Ok(bus)
}

/// Connects to the broker without verifying its topology.
///
/// # Errors
/// When it does not answer, is too old, or refuses the login; one that has expired is said to have.
pub async fn connect(settings: &Settings) -> Result<NatsBus, bus::Error> {
    connect_with(settings, bus_options(settings)).await
}

/// The same for a task worker: answers arrive where the user of a worker may listen, not where one of a
/// role may.
///
/// # Errors
/// As [`connect`].
pub async fn connect_worker(settings: &Settings) -> Result<NatsBus, bus::Error> {
    let mut options = bus_options(settings);
    options.inbox_prefix = subject::INBOX.to_owned();
    connect_with(settings, options).await
}

async fn connect_with(
    settings: &Settings,
    options: bus_nats::Options,
) -> Result<NatsBus, bus::Error> {
    let connected = bus_nats::connect(options).await;
    if matches!(connected, Err(bus::Error::Denied(_))) {
        check_nats_login(settings)?;
    }
    connected
}

/// Refuses files with the login of NATS with which [`Node::join`] fails before it connects, and a login
/// that has expired. Nothing is asked.
///
/// # Errors
/// [`bus::Error::Denied`] with the reason, without secrets.
pub fn check_nats_login(settings: &Settings) -> Result<(), bus::Error> {
    bus_nats::check_login(&bus_options(settings), SystemClock.now())
}

fn bus_options(settings: &Settings) -> bus_nats::Options {
    let mut options = bus_nats::Options::new(settings.nats_url.clone());
    options.url_file = settings.file_of("nats-url").map(Path::to_owned);
    options.name = format!("staunch {}", settings.node);
    options.creds.clone_from(&settings.nats_creds);
    options.nkey.clone_from(&settings.nats_nkey);
    options.tls.ca.clone_from(&settings.nats_ca);
    options.tls.identity = settings.nats_tls_cert.clone().zip(settings.nats_tls_key.clone());
    options.tls.is_required = settings.nats_ca.is_some() || settings.nats_tls_cert.is_some();
    options.connect_max = settings.nats_wait;
    options.keep_provisioned = settings.provision;
    options
}
