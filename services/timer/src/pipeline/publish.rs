//! Publishes the command of a due timer. The command has the same id at every try and in every
//! replica.

use bus::Error;
use model::{CommandId, derived};
use protocol::{Body, Command, Resume};
use store::DueTimer;

use crate::Context;

pub(super) async fn publish(cx: &Context, timer: &DueTimer) -> Result<(), Error> {
    let message = resume(timer).encode().map_err(|garbled| Error::Corrupt(garbled.to_string()))?;
    cx.bus.publish(message).await?;
    Ok(())
}

fn resume(timer: &DueTimer) -> Command {
    let DueTimer { due_at, instance_id, bookmark_id, .. } = timer;
    let id = derived(&["timer", bookmark_id.as_str(), &due_at.as_millis().to_string()]);
    let resume = Resume {
        instance_id: instance_id.clone(),
        bookmark_id: Some(bookmark_id.clone()),
        due_at: Some(*due_at),
        ..Resume::default()
    };
    let mut command = Command::new(CommandId::new(id), Body::Resume(resume));
    command.traceparent = chassis::inject();
    command
}
