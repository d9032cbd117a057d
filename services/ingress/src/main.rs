//! The HTTP gateway on its own.

use std::process::ExitCode;

use catalog::Catalog;
use chassis::{Life, Settings, Trail};
use ingress::{Config, Context};
use node::{Node, nonces};

fn main() -> ExitCode {
    chassis::main("ingress", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let config = Config::from_settings(&settings)?;
    let node = Node::join(&settings, &["ingress"]).await?;
    let _admin = node.watch(&settings, &life)?;
    let Node { name, store, bus, clock, chance, presence, .. } = node.clone();
    let engine = catalog::engine(
        settings.script_time(),
        settings.script_config.values(),
        &settings.script_libraries,
    );
    let catalog =
        Catalog::start(store.clone(), bus.clone(), engine.clone(), nonces(), &name).await?;
    let (of, trail) = (catalog.clone(), Trail::default());
    let cx = Context { store, bus, engine, catalog: of, presence, clock, chance, trail };
    ingress::start(cx, config, &life).await?;
    life.ready();
    life.stop().cancelled().await;
    life.finished().await;
    catalog.close().await;
    node.leave().await;
    Ok(())
}
