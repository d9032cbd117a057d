//! The large order: its journal is shown live, it waits for a timer, and a URL approves it.

use std::time::Duration;

use model::InstanceId;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::stage::Stage;
use crate::command::run::{output_of, start};
use crate::journal::{self, Journal};
use crate::{Failure, output, say};

const SOON: Duration = Duration::from_secs(40);

/// A running order, whose journal is printed as it grows.
#[derive(Debug)]
pub(super) struct Order {
    id: InstanceId,
    journal: JoinHandle<Result<Result<(), Failure>, tasks::Panicked>>,
}

/// Starts an order above the limit over HTTP, and waits until it waits for its timer.
pub(super) async fn order(stage: &Stage) -> Result<Order, Failure> {
    let input = json!({"OrderId": "1001", "Amount": 2500});
    let id = start(&stage.client, "order-approval", &json!({"input": input}), None).await?;
    stage.line(&format!("order 1001 over 2500 EUR is accepted: instance {id}"));
    let journal = tasks::spawn("demo journal", print_journal(stage.client.clone(), id.clone()));
    wait_for(stage, &id, "Elsa.Delay").await?;
    stage.line("it sleeps two seconds; no process holds it, the database does");
    Ok(Order { id, journal })
}

/// Waits until the order needs an approval, approves it by URL, and shows the result.
pub(super) async fn approve(stage: &Stage, order: Order) -> Result<(), Failure> {
    let Order { id, journal } = order;
    let bookmark = wait_for(stage, &id, "Elsa.Event").await?;
    stage.line("the timer has fired, and the order waits for a person");
    let path = format!("/workflow-instances/{id}/bookmarks/{bookmark}/url");
    let answer = stage.client.post(&path, &json!({})).await?;
    let url = output::text(&answer.body, "url");
    stage.line(&format!("approval link, good once: {url}"));
    stage.client.open(&url).await?;
    stage.line("the link was opened");
    let told = tokio::time::timeout(SOON, journal).await;
    match told {
        Ok(Ok(Ok(told))) => told?,
        _ => return Err(Failure::failed(format!("instance {id} does not end"))),
    }
    let instance = stage.client.get(&format!("/workflow-instances/{id}")).await?;
    result(stage, &instance, "approved by a person")
}

/// Shows the output of an instance; fails if it is not this decision.
pub(super) fn result(stage: &Stage, instance: &Value, expected: &str) -> Result<(), Failure> {
    let result = output_of(instance);
    let status = output::text(instance, "subStatus");
    stage.line(&format!("the instance is {status}, with the output {result}"));
    if status == "Finished" && output::text(&result, "Decision") == expected {
        return Ok(());
    }
    Err(Failure::failed(format!("expected a finished instance that is {expected:?}: {instance}")))
}

/// Prints the journal of an instance until its end.
async fn print_journal(client: crate::client::Client, id: InstanceId) -> Result<(), Failure> {
    let print = |entry: &Value| {
        say::quote(&journal::line(entry));
        Ok(())
    };
    Journal::of(&client, &id).follow(print, |_| false).await.map(|_| ())
}

/// Waits until an instance has a bookmark of this name; returns the bookmark's id.
async fn wait_for(stage: &Stage, id: &InstanceId, name: &str) -> Result<String, Failure> {
    let path = format!("/workflow-instances/{id}");
    let look = async || {
        let instance = stage.client.get(&path).await?;
        let bookmarks = instance.pointer("/workflowState/bookmarks").and_then(Value::as_array);
        let mut open = bookmarks.into_iter().flatten();
        let found = open.find(|bookmark| output::text(bookmark, "name") == name);
        Ok(found.map(|bookmark| output::text(bookmark, "id")))
    };
    stage.until(&format!("instance {id} waits at {name}"), SOON, look).await
}
