//! A timer replica in a process.

use tokio_util::sync::CancellationToken;

use crate::{Context, Sweep, Timer};

/// Fires what is due and sweeps, until the process is told to stop; then finishes what is in hand.
///
/// # Errors
/// When the bus does not answer at the start.
pub async fn run(cx: Context, life: chassis::Life) -> anyhow::Result<()> {
    let about = "Fires what is due, and publishes what was left behind.";
    let listed = cx.bus.serve("staunch-timer", chassis::version(), about, Vec::new()).await?;
    let stop = life.stop();
    let ended = CancellationToken::new();
    let sweep = Sweep::new(cx.clone());
    let (sweeping, swept) = (stop.clone(), ended.clone());
    life.spawn("sweep", async move {
        sweep.serve(&sweeping).await;
        swept.cancel();
    });
    life.ready();
    life.ready();
    Timer::new(cx).serve(&stop).await?;
    ended.cancelled().await;
    drop(listed);
    Ok(())
}
