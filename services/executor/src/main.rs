//! The executor on its own: connects the adapters and runs the role.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bus::{Bucket, Bus, Member, Presence};
use catalog::Catalog;
use chassis::{Chance as _, Clock as _, Life, Settings, SystemChance, SystemClock};
use engine::Engine;
use executor::calls::{Guard, HttpCalls};
use executor::{Config, Context};

const PRESENCE_TTL: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    chassis::main("executor", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let sql = store_sql::Options { migrate: settings.provision, ..Default::default() };
    let store: Arc<dyn store::Store> =
        Arc::new(store_sql::connect(&settings.database_url, sql).await?);
    let mut options = bus_nats::Options::new(settings.nats_url.clone());
    options.creds.clone_from(&settings.nats_creds);
    let nats = bus_nats::connect(options).await?;
    match nats.verify().await {
        Err(bus::Error::NotProvisioned(_)) if settings.provision => nats.provision(1).await?,
        verified => verified?,
    }
    let bus: Arc<dyn Bus> = Arc::new(nats.clone());
    let nonces: bus::Chance = Arc::new(|| SystemChance.new_id());
    let node = settings.node.clone();
    let (roles, started_at) = (vec!["executor".to_owned()], SystemClock.now());
    let me = Member { node: node.clone(), roles, started_at, address: None };
    let nodes = bus.kv(Bucket::Nodes);
    let presence = Presence::join(nodes, me, PRESENCE_TTL, Arc::clone(&nonces)).await?;
    let engine = Arc::new(Engine::new(
        activities::all(),
        expressions::with_script_time(settings.script_time()),
    ));
    let (kept, wired, ran) = (Arc::clone(&store), Arc::clone(&bus), Arc::clone(&engine));
    let catalog = Catalog::start(kept, wired, ran, nonces, &node).await?;
    let config = Config::from(&settings);
    let calls = Arc::new(HttpCalls::new(Guard { allow_private: config.allow_private_addresses }));
    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    let cx = Context {
        node,
        store: Arc::clone(&store),
        bus,
        engine,
        catalog: catalog.clone(),
        clock,
        chance,
        presence: presence.clone(),
        calls,
        points: None,
        config,
    };
    let ended = executor::run(cx, life).await;
    presence.leave().await;
    catalog.close().await;
    store.close().await;
    nats.close().await;
    ended
}
