//! The timer on its own.

use std::process::ExitCode;

use chassis::{Life, Settings};
use node::{Node, nonces};
use timer::{Config, Context};

fn main() -> ExitCode {
    chassis::main("timer", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let node = Node::join(&settings, &[timer::ROLE]).await?;
    let _admin = node.watch(&settings, &life)?;
    let Node { name, store, bus, presence, .. } = node.clone();
    let config = Config::from_settings(&settings)?;
    let cx = Context::new(&name, store, bus, presence, nonces(), config);
    let ended = timer::run(cx, life).await;
    node.leave().await;
    ended
}
