//! The executor on its own.

use std::process::ExitCode;
use std::sync::Arc;

use catalog::Catalog;
use chassis::{Life, Settings};
use connectors::Connectors;
use executor::{Config, Context};
use node::{Node, nonces};
use payloads::Payloads;

fn main() -> ExitCode {
    chassis::main("executor", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let config = Config::from_settings(&settings)?;
    let node = Node::join(&settings, &["executor"]).await?;
    let _admin = node.watch(&settings, &life)?;
    let Node { name, store, bus, clock, chance, presence, .. } = node.clone();
    let engine = catalog::engine(
        settings.script_time(),
        settings.script_config.values(),
        &settings.script_libraries,
    );
    let catalog =
        Catalog::start(store.clone(), bus.clone(), engine.clone(), nonces(), &name).await?;
    let bytes_max = config.payload_bytes_max;
    let outside = bus.outside();
    let payloads = Payloads::new(store.clone(), clock.clone(), chance.clone(), bytes_max)
        .above(config.payload_above)
        .resting(config.payload_places.over(&outside));
    let calls = Arc::new(Connectors::new(&config.connectors, Some(outside), Some(payloads)));
    let cx = Context {
        node: name,
        store,
        bus,
        engine,
        catalog: catalog.clone(),
        clock,
        chance,
        presence,
        calls,
        points: None,
        config,
    };
    let ended = executor::run(cx, life).await;
    catalog.close().await;
    node.leave().await;
    ended
}
