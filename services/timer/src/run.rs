//! A timer replica in a process.

use tokio_util::sync::CancellationToken;

use crate::{Context, Retention, Sweep, Timer};

/// Fires due timers, sweeps, and removes what is kept no longer, until the process is asked to stop; then finishes the work in
/// progress.
///
/// # Errors
/// When the bus does not answer at the start.
pub async fn run(cx: Context, life: chassis::Life) -> anyhow::Result<()> {
    let about = "Fires what is due, and publishes what was left behind.";
    let listed = cx.bus.serve("staunch-timer", chassis::version(), about, Vec::new()).await?;
    let stop = life.stop();
    let ended = CancellationToken::new();
    let swept = ended.clone().drop_guard();
    let (sweeping, of) = (stop.clone(), cx.clone());
    life.supervise("sweep", move || {
        let _until_the_last_run = &swept;
        let (sweep, stop) = (Sweep::new(of.clone()), sweeping.clone());
        async move { sweep.serve(&stop).await }
    });
    let (retaining, of) = (stop.clone(), cx.clone());
    life.supervise("retention", move || {
        let (retention, stop) = (Retention::of(&of), retaining.clone());
        async move { retention.serve(&stop).await }
    });
    life.ready();
    Timer::new(cx).serve(&stop).await?;
    ended.cancelled().await;
    drop(listed);
    Ok(())
}
