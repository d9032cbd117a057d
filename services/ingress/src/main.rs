//! The HTTP gateway.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bus::{Bucket, Bus as _, Member, Presence};
use catalog::Catalog;
use chassis::{Chance as _, Clock as _, Life, Settings, SystemChance, SystemClock};
use engine::Engine;
use store::Store as _;

/// A node that says nothing for this long is gone.
const PRESENCE_TTL: Duration = Duration::from_secs(3);

fn main() -> std::process::ExitCode {
    chassis::main("ingress", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let config = ingress::Config::from_settings(&settings)?;
    let options = store_sql::Options { migrate: settings.provision, ..Default::default() };
    let store = store_sql::connect(&settings.database_url, options).await;
    let store = Arc::new(store.context("open the database")?);
    let mut options = bus_nats::Options::new(settings.nats_url.clone());
    options.creds.clone_from(&settings.nats_creds);
    let bus = Arc::new(bus_nats::connect(options).await.context("connect to NATS")?);
    match bus.verify().await {
        Err(bus::Error::NotProvisioned(_)) if settings.provision => bus.provision(1).await?,
        verified => verified?,
    }
    let nonces: bus::Chance = Arc::new(|| SystemChance.new_id());
    let me = Member {
        node: settings.node.clone(),
        roles: vec!["ingress".to_owned()],
        started_at: SystemClock.now(),
        address: Some(settings.public_url()),
    };
    let nodes = bus.kv(Bucket::Nodes);
    let presence = Presence::join(nodes, me, PRESENCE_TTL, Arc::clone(&nonces)).await?;
    let engine = Arc::new(Engine::new(
        activities::all(),
        expressions::with_script_time(settings.script_time()),
    ));
    let (of, over) = (store.clone(), bus.clone());
    let catalog = Catalog::start(of, over, Arc::clone(&engine), nonces, &settings.node).await?;
    let cx = ingress::Context {
        store: store.clone(),
        bus: bus.clone(),
        engine,
        catalog: catalog.clone(),
        presence: presence.clone(),
        clock: Arc::new(SystemClock),
        chance: Arc::new(SystemChance),
    };
    ingress::start(cx, config, &life).await?;
    life.ready();
    life.stop().cancelled().await;
    life.finished().await;
    presence.leave().await;
    catalog.close().await;
    store.close().await;
    bus.close().await;
    Ok(())
}
