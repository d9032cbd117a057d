//! The crash: orders are accepted, the executor is killed while it works on them, another executor
//! takes over, and each order has exactly one finished instance.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use ingress::DemoExecutor;
use model::InstanceId;
use serde_json::{Value, json};

use super::stage::Stage;
use crate::command::run::start;
use crate::{Failure, output};

/// Orders of the first attempt. If the machine finishes them before the kill, the next attempt has
/// more.
const ORDERS: usize = 60;
const ATTEMPTS: u32 = 4;
const SOON: Duration = Duration::from_secs(60);

/// Kills the executor while orders are in progress, starts another, and counts.
pub(super) async fn kill_in_the_middle(stage: &mut Stage) -> Result<(), Failure> {
    for attempt in 0..ATTEMPTS {
        let orders = ORDERS << attempt;
        let batch = format!("batch-{attempt}");
        let mut finished = stage.bus.subscribe("staunch.event.order-approval.*.finished").await?;
        let accepting =
            tasks::spawn("demo orders", accept(stage.client.clone(), batch.clone(), orders));
        let first = tokio::time::timeout(SOON, finished.next()).await;
        let killed = stage.kill_executor().await?;
        let accepted = accepting.await.map_err(|error| Failure::failed(error.to_string()))?;
        let accepted = accepted.map_err(|error| Failure::failed(error.to_string()))??;
        let done = count(stage, &batch, Some("Finished")).await?;
        if !matches!(first, Ok(Some(_))) {
            return Err(Failure::failed("no order was finished"));
        }
        stage.line(&format!("{} orders are accepted", accepted.len()));
        let DemoExecutor { node, pid } = killed;
        stage.line(&format!("{node} (pid {pid}) was killed (SIGKILL) when {done} were finished"));
        let DemoExecutor { node, pid } = stage.start_executor().await?;
        stage.line(&format!("{node} has taken over: pid {pid}"));
        all_once(stage, &batch, &accepted).await?;
        if done < orders {
            return Ok(());
        }
        stage.line("it was too fast to be killed in the middle: once more, with twice as many");
    }
    Err(Failure::failed("the executor was never killed in the middle of its work"))
}

/// Starts orders over HTTP, several at a time; returns the ids of the accepted instances.
async fn accept(
    client: crate::client::Client,
    batch: String,
    orders: usize,
) -> Result<BTreeSet<InstanceId>, Failure> {
    let starts = futures::stream::iter(0..orders).map(|number| {
        let (client, batch) = (client.clone(), batch.clone());
        async move {
            let input = json!({"OrderId": format!("{batch}-{number}"), "Amount": 100});
            let body = json!({"input": input, "correlationId": batch});
            let key = format!("demo-{batch}-{number}");
            start(&client, "order-approval", &body, Some(&key)).await
        }
    });
    starts.buffer_unordered(8).try_collect().await
}

/// Waits until every accepted order is finished, and checks that none ran twice.
async fn all_once(
    stage: &Stage,
    batch: &str,
    accepted: &BTreeSet<InstanceId>,
) -> Result<(), Failure> {
    let look = async || {
        let finished = count(stage, batch, Some("Finished")).await?;
        Ok((finished >= accepted.len()).then_some(()))
    };
    stage.until("every accepted order is finished", SOON, look).await?;
    let all = count(stage, batch, None).await?;
    if all != accepted.len() {
        return Err(Failure::failed(format!("{all} instances for {} orders", accepted.len())));
    }
    for id in accepted {
        let decided = decisions(stage, id).await?;
        if decided != 1 {
            return Err(Failure::failed(format!("instance {id} was decided {decided} times")));
        }
    }
    stage.line(&format!("each of the {all} orders has exactly one finished instance"));
    Ok(())
}

/// The number of times that the journal of an instance records a decision.
async fn decisions(stage: &Stage, id: &InstanceId) -> Result<usize, Failure> {
    let path = format!("/workflow-instances/{id}/journal?skip=0&take=500");
    let journal = stage.client.get(&path).await?;
    let items = journal.get("items").and_then(Value::as_array);
    let ends = items.into_iter().flatten().filter(|entry| {
        output::text(entry, "activityName") == "OrderDecided"
            && output::text(entry, "eventName") == "Completed"
    });
    Ok(ends.count())
}

/// The number of instances of a batch; of this sub-status, if one is given.
async fn count(stage: &Stage, batch: &str, status: Option<&str>) -> Result<usize, Failure> {
    let mut body = json!({"correlationId": batch, "page": 0, "pageSize": 1});
    if let Some(status) = status {
        body["subStatus"] = json!(status);
    }
    let answer = stage.client.post("/workflow-instances", &body).await?.body;
    let total = answer.get("totalCount").and_then(Value::as_u64).unwrap_or_default();
    Ok(usize::try_from(total).unwrap_or(usize::MAX))
}
