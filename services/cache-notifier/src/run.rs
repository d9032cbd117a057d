//! Runs a notifier in a process.

use tokio_util::sync::CancellationToken;

use crate::{Context, Notifier, reconcile};

/// Announces changes and compares pointers with the database, until the process stops.
///
/// # Errors
/// When the bus does not answer at the start.
pub async fn run(cx: Context, life: chassis::Life) -> anyhow::Result<()> {
    let notifier = Notifier::start(cx.clone()).await?;
    let stop = life.stop();
    let ended = CancellationToken::new();
    let (comparing, compared, of) = (stop.clone(), ended.clone().drop_guard(), cx.clone());
    life.supervise("reconcile", move || {
        let _until_the_last_run = &compared;
        let (cx, stop) = (of.clone(), comparing.clone());
        async move { reconcile::serve(&cx, &stop).await }
    });
    life.ready();
    notifier.serve(&stop).await;
    ended.cancelled().await;
    cx.close().await;
    Ok(())
}
