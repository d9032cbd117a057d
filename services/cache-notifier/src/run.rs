//! A notifier replica in a process.

use tokio_util::sync::CancellationToken;

use crate::{Context, Notifier, reconcile};

/// Announces changes and compares pointers with the database, until the process is told to stop.
///
/// # Errors
/// When the bus does not answer at the start.
pub async fn run(cx: Context, life: chassis::Life) -> anyhow::Result<()> {
    let notifier = Notifier::start(cx.clone()).await?;
    let stop = life.stop();
    let ended = CancellationToken::new();
    let (comparing, compared, of) = (stop.clone(), ended.clone(), cx.clone());
    life.spawn("reconcile", async move {
        reconcile::serve(&of, &comparing).await;
        compared.cancel();
    });
    life.ready();
    notifier.serve(&stop).await;
    ended.cancelled().await;
    cx.close().await;
    Ok(())
}
