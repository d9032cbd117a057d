//! `staunch run`: starts an instance; with `--wait`, follows it to its end.

use clap::Args;
use model::{InstanceId, SubStatus};
use serde_json::{Value, json};

use crate::client::{Client, ClientArgs};
use crate::journal::{self, Journal};
use crate::output::{self, Format};
use crate::{Failure, input, say};

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The definition to start
    #[arg(value_name = "DEFINITION")]
    definition_id: String,
    /// Workflow input: a JSON object, or @FILE with one
    #[arg(short, long, default_value = "{}", value_name = "JSON|@FILE")]
    input: String,
    /// Properties of the instance, such as '{"Flowchart:ExecutionMode": "TokenBased"}': a JSON
    /// object, or @FILE with one
    #[arg(long, default_value = "{}", value_name = "JSON|@FILE")]
    properties: String,
    /// Groups instances that belong together
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// The idempotency key: several tries of this command with one key start one instance. It holds at
    /// the route `dispatch`, which `run` calls; the same key at `execute` starts another one
    #[arg(long, value_name = "KEY")]
    id: Option<String>,
    /// Waits for the end, and prints the output
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// Starts an instance. Prints its id; with `--wait`, its output.
///
/// # Errors
/// When it is not accepted; with `--wait`, when it ends faulted or cancelled.
pub(crate) async fn run(args: RunArgs, format: Format) -> Result<(), Failure> {
    let body = body(&args)?;
    let client = args.client.client()?;
    let id = start(&client, &args.definition_id, &body, args.id.as_deref()).await?;
    if args.wait { wait(&client, &id, format).await } else { accepted(&id, format) }
}

/// The request for the start.
fn body(args: &RunArgs) -> Result<Value, Failure> {
    let mut body = json!({"input": input::parse(&args.input)?});
    let properties = input::parse(&args.properties)
        .map_err(|failure| Failure { message: format!("--properties: {failure}"), ..failure })?;
    if !properties.is_empty() {
        body["properties"] = Value::Object(properties);
    }
    if let Some(correlation_id) = &args.correlation_id {
        body["correlationId"] = json!(correlation_id);
    }
    Ok(body)
}

/// Starts an instance; returns its id. Says why it waits, if the server knows it.
///
/// # Errors
/// When it is not accepted.
pub(crate) async fn start(
    client: &Client,
    definition_id: &str,
    body: &Value,
    key: Option<&str>,
) -> Result<InstanceId, Failure> {
    let path = format!("/workflow-definitions/{definition_id}/dispatch");
    let answer = match key {
        Some(key) => client.post_once(&path, body, key).await?,
        None => client.post(&path, body).await?,
    };
    if let Some(detail) = &answer.detail {
        say::message(detail);
    }
    match output::text(&answer.body, "workflowInstanceId") {
        id if id.is_empty() => Err(Failure::failed(format!("{definition_id} did not start"))),
        id => Ok(InstanceId::new(id)),
    }
}

fn accepted(id: &InstanceId, format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => say::data(id.as_str()),
        Format::Json => output::json(&json!({"workflowInstanceId": id})),
    }
}

async fn wait(client: &Client, id: &InstanceId, format: Format) -> Result<(), Failure> {
    say::message(&format!("{id} is accepted"));
    let print = |entry: &Value| {
        say::message(&journal::line(entry));
        Ok(())
    };
    let status = Journal::of(client, id).follow(print, |_| false).await?;
    let instance = client.get(&format!("/workflow-instances/{id}")).await?;
    match format {
        Format::Table => output::json(&output_of(&instance))?,
        Format::Json => output::json(&instance)?,
    }
    ended(id, status)
}

/// The output of an instance, read from its state.
pub(crate) fn output_of(instance: &Value) -> Value {
    instance.pointer("/workflowState/output").cloned().unwrap_or_else(|| json!({}))
}

/// Checks the final status of an instance.
///
/// # Errors
/// When it is faulted or cancelled.
pub(crate) fn ended(id: &InstanceId, status: SubStatus) -> Result<(), Failure> {
    match status {
        SubStatus::Faulted | SubStatus::Cancelled => {
            Err(Failure::failed(format!("{id} is {status}; see `staunch instance get {id}`")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn sent(more: &[&str]) -> Result<Value, Failure> {
        let line = Line::try_parse_from([&["run", "order"], more].concat()).unwrap();
        body(&line.run)
    }

    #[test]
    fn a_start_has_the_members_that_are_given() {
        assert_eq!(sent(&[]).unwrap(), json!({"input": {}}));
        let properties = r#"{"Flowchart:ExecutionMode": "TokenBased"}"#;
        let all = ["-i", r#"{"N": 1}"#, "--properties", properties, "--correlation-id", "c"];
        assert_eq!(
            sent(&all).unwrap(),
            json!({"input": {"N": 1}, "correlationId": "c",
                "properties": {"Flowchart:ExecutionMode": "TokenBased"}})
        );
        let failure = sent(&["--properties", "[1]"]).unwrap_err();
        assert!(failure.message.starts_with("--properties: "), "{failure}");
    }
}
