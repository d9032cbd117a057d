//! The role: pulls commands and answers requests until the process stops.

use chassis::Life;

use crate::executor::{Context, Executor};
use crate::{api, pull};

/// Runs an executor until the life ends: it stops pulling, finishes the work in progress, and
/// releases its leases. A kill drops everything at once.
///
/// # Errors
/// When the service cannot be registered with the bus.
pub async fn run(cx: Context, life: Life) -> anyhow::Result<()> {
    let executor = Executor::start(cx);
    let requests = api::serve(&executor).await?;
    life.ready();
    let stop = life.stop();
    let work = async {
        let answering = api::answer(&executor, requests, stop.clone());
        let begin_stop = async {
            stop.cancelled().await;
            executor.begin_stop();
        };
        tokio::join!(pull::pull(&executor, stop.clone()), answering, begin_stop);
        executor.stop().await;
    };
    if life.kill().run_until_cancelled(work).await.is_none() {
        executor.kill();
    }
    Ok(())
}
