//! A start by a plain NATS message, as any NATS client can send it.

use std::time::Duration;

use protocol::{Headers, Message};
use serde_json::json;

use super::approval::result;
use super::stage::Stage;
use crate::Failure;
use crate::failure::Kind;

const SOON: Duration = Duration::from_secs(40);
const ID: &str = "order-1002";

/// Publishes a start, and shows the result of the instance.
pub(super) async fn publish(stage: &Stage) -> Result<(), Failure> {
    let body = json!({"instanceId": ID, "input": {"OrderId": "1002", "Amount": 80}});
    let subject = "staunch.cmd.start.order-approval".to_owned();
    let message =
        Message { subject, headers: Headers::new(), payload: body.to_string().into_bytes() };
    stage.bus.send(message).await?;
    stage.line(&format!("published to staunch.cmd.start.order-approval: {body}"));
    let path = format!("/workflow-instances/{ID}");
    let look = async || match stage.client.get(&path).await {
        Ok(instance) if instance["status"] == "Finished" => Ok(Some(instance)),
        Ok(_) => Ok(None),
        Err(failure) if failure.kind == Kind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    };
    let instance = stage.until("the published order is finished", SOON, look).await?;
    result(stage, &instance, "approved at once")
}
