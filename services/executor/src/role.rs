//! The role: pulls commands and answers requests until the process stops.

use chassis::Life;
use protocol::subject;

use crate::executor::{Context, Executor};
use crate::gate::Gate;
use crate::{api, listen, pull};

/// Runs an executor until the life ends: then it stops pulling, finishes the work in progress, and
/// releases its leases. A kill drops everything at once.
///
/// # Errors
/// When the service cannot be registered with the bus, the pauses cannot be read, or a master key of
/// secrets is missing.
pub async fn run(cx: Context, life: Life) -> anyhow::Result<()> {
    crate::metrics::watch_expressions();
    vault::check_start(&*cx.store, cx.config.master.as_ref()).await?;
    let executor = Executor::start(cx);
    let requests = api::serve(&executor).await?;
    let gate = Gate::start(&executor).await?;
    let cx = executor.cx();
    let questions = cx.bus.subscribe(&subject::runtime(&cx.node)).await?;
    life.ready();
    let stop = life.stop();
    let work = async {
        let answering = api::answer(&executor, requests, stop.clone());
        let begin_stop = async {
            stop.cancelled().await;
            executor.begin_stop();
        };
        let telling = gate.answer(&executor, questions, stop.clone());
        let pulling = pull::pull(&executor, &gate, stop.clone());
        let listening = listen::listen(&executor, stop.clone());
        tokio::join!(pulling, answering, telling, listening, begin_stop);
        executor.stop().await;
    };
    if life.kill().run_until_cancelled(work).await.is_none() {
        executor.kill();
    }
    Ok(())
}
