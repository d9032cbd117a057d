//! The two ways to a cluster: how a lane sends a request and reads its result.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use model::{InstanceId, Map};
use protocol::{Body, Command, ReplyWhen, Resume, Start};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Connection;
use crate::wire::Wire;

/// The connection of one lane.
#[derive(Debug)]
pub(crate) enum Door {
    Nats(Arc<Wire>),
    Http(Connection),
}

/// The part of a response that a lane reads.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Brief<'a> {
    #[serde(borrow)]
    sub_status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    workflow_instance_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    workflow_state: Option<State<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct State<'a> {
    #[serde(borrow)]
    sub_status: Option<Cow<'a, str>>,
}

impl Door {
    /// Starts an instance and waits until it has ended.
    pub(crate) async fn run(&mut self, id: &str, definition: &str) -> anyhow::Result<()> {
        match self {
            Self::Nats(wire) => {
                let mut command = start(id, definition, Map::new());
                command.reply_when = ReplyWhen::Settled;
                is(&wire.ask(command).await?, "Finished").map(drop)
            }
            Self::Http(connection) => {
                let path = format!("/elsa/api/workflow-definitions/{definition}/execute");
                let reply = connection.send("POST", &path, "{}").await?;
                check(reply.status, reply.body)?;
                is(reply.body, "Finished").map(drop)
            }
        }
    }

    /// Starts an instance and waits until it is suspended; returns its id.
    pub(crate) async fn begin(&mut self, id: &str, definition: &str) -> anyhow::Result<InstanceId> {
        match self {
            Self::Nats(wire) => {
                let command = start(id, definition, Map::new());
                let instance = command.instance_id().context("a start has an instance")?;
                is(&wire.ask(command).await?, "Suspended")?;
                Ok(instance)
            }
            Self::Http(connection) => {
                let body = json!({"definitionId": definition}).to_string();
                let reply = connection.send("POST", "/elsa/api/workflow-instances", &body).await?;
                check(reply.status, reply.body)?;
                let instance = is(reply.body, "Suspended")?;
                Ok(InstanceId::new(instance.context("the answer names no instance")?))
            }
        }
    }

    /// Starts an instance under this id; waits only until the start is accepted.
    pub(crate) async fn accept(
        &mut self,
        id: &str,
        definition: &str,
        input: Map,
    ) -> anyhow::Result<()> {
        match self {
            Self::Nats(wire) => wire.tell(&start_as(id, definition, input)).await,
            Self::Http(connection) => {
                let path = format!("/elsa/api/workflow-definitions/{definition}/dispatch");
                let body = json!({"instanceId": id, "input": input}).to_string();
                let reply = connection.send("POST", &path, &body).await?;
                check(reply.status, reply.body)
            }
        }
    }

    /// Resumes an instance, and waits until it is suspended again or has ended.
    pub(crate) async fn resume(
        &mut self,
        id: &str,
        instance: &InstanceId,
        then: &str,
    ) -> anyhow::Result<()> {
        match self {
            Self::Nats(wire) => {
                let resume = Resume { instance_id: instance.clone(), ..Resume::default() };
                let command = Command::new(id.into(), Body::Resume(resume));
                is(&wire.ask(command).await?, then).map(drop)
            }
            Self::Http(connection) => {
                let path = format!("/elsa/api/workflow-instances/{instance}/resume");
                let reply = connection.send("POST", &path, "{}").await?;
                check(reply.status, reply.body)?;
                is(reply.body, then).map(drop)
            }
        }
    }
}

fn start(id: &str, definition: &str, input: Map) -> Command {
    let body = Start { definition_id: definition.into(), input, ..Start::default() };
    Command::new(id.into(), Body::Start(body))
}

fn start_as(id: &str, definition: &str, input: Map) -> Command {
    let mut command = start(id, definition, input);
    if let Body::Start(body) = &mut command.body {
        body.instance_id = Some(id.into());
    }
    command
}

/// Saves a definition as a draft.
pub(crate) async fn save(api: &mut Connection, definition: &Value) -> anyhow::Result<()> {
    let imported = api.call("POST", "/elsa/api/workflow-definitions/import", definition).await?;
    let problems = imported["validationErrors"].as_array().is_some_and(|all| !all.is_empty());
    ensure!(!problems, "a definition has problems: {}", imported["validationErrors"]);
    Ok(())
}

/// Publishes a draft; returns when it is in force on all nodes.
pub(crate) async fn publish(api: &mut Connection, id: &str) -> anyhow::Result<()> {
    let path = format!("/elsa/api/workflow-definitions/{id}/publish");
    let published = api.call("POST", &path, &json!({})).await?;
    let everywhere = published["everywhere"].as_bool().unwrap_or(true);
    ensure!(everywhere, "{id} is not in force on all nodes: {}", published["missing"]);
    Ok(())
}

fn check(status: u16, body: &[u8]) -> anyhow::Result<()> {
    ensure!(status == 200, "the answer is {status}: {}", String::from_utf8_lossy(body));
    Ok(())
}

/// Checks the status of the instance; returns its id if the response has it.
fn is(answer: &[u8], wanted: &str) -> anyhow::Result<Option<String>> {
    let brief: Brief<'_> = serde_json::from_slice(answer).context("the answer cannot be read")?;
    unrefused(&brief)?;
    let state = brief.workflow_state.and_then(|state| state.sub_status);
    let status = brief.sub_status.or(state);
    if status.as_deref() != Some(wanted) {
        bail!("an instance is {}, not {wanted}", status.as_deref().unwrap_or("unknown"));
    }
    Ok(brief.workflow_instance_id.map(Cow::into_owned))
}

fn unrefused(brief: &Brief<'_>) -> anyhow::Result<()> {
    let message = brief.message.as_deref().unwrap_or_default();
    match &brief.refusal {
        Some(refusal) => bail!("refused: {refusal}: {message}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_wherever_it_has_the_status() {
        let outcome = br#"{"workflowInstanceId":"i","subStatus":"Finished","output":{}}"#;
        assert_eq!(is(outcome, "Finished").unwrap().as_deref(), Some("i"));
        let executed = br#"{"workflowState":{"id":"i","subStatus":"Finished"}}"#;
        assert_eq!(is(executed, "Finished").unwrap(), None);
        let error = is(outcome, "Suspended").unwrap_err().to_string();
        assert_eq!(error, "an instance is Finished, not Suspended");
        let refused = br#"{"refusal":"notFound","message":"no \"x\""}"#;
        let error = is(refused, "Finished").unwrap_err().to_string();
        assert_eq!(error, "refused: notFound: no \"x\"");
    }
}
