//! The timer on its own: connects the adapters and runs the role.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bus::{Bucket, Bus, Member, Presence};
use chassis::{Chance as _, Clock as _, Life, Settings, SystemChance, SystemClock};
use timer::{Config, Context};

const PRESENCE_TTL: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    chassis::main("timer", run)
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
    let (roles, started_at) = (vec![timer::ROLE.to_owned()], SystemClock.now());
    let me = Member { node: settings.node.clone(), roles, started_at, address: None };
    let nodes = bus.kv(Bucket::Nodes);
    let presence = Presence::join(nodes, me, PRESENCE_TTL, Arc::clone(&nonces)).await?;
    let (kept, present, config) =
        (Arc::clone(&store), presence.clone(), Config::from_settings(&settings));
    let cx = Context::new(&settings.node, kept, bus, present, nonces, config);
    let ended = timer::run(cx, life).await;
    presence.leave().await;
    store.close().await;
    nats.close().await;
    ended
}
