//! The cache-notifier on its own.

use std::process::ExitCode;

use cache_notifier::{Config, Context};
use chassis::{Life, Settings};
use node::{Node, nonces};

fn main() -> ExitCode {
    chassis::main("cache-notifier", run)
}

async fn run(settings: Settings, life: Life) -> anyhow::Result<()> {
    let node = Node::join(&settings, &[cache_notifier::ROLE]).await?;
    let _admin = node.watch(&settings, &life)?;
    let Node { name, store, bus, presence, .. } = node.clone();
    let cx = Context::start(&name, store, bus, presence, nonces(), Config::default()).await?;
    let ended = cache_notifier::run(cx, life).await;
    node.leave().await;
    ended
}
