//! Commands that are accepted and have not run: the rows of starts and of other commands.

use engine::Program;
use model::{CommandId, Instance, InstanceId, Timestamp};
use protocol::{Body, Command, Lineage, Message, Start};
use store::{NewInstance, PendingCommand};

use crate::work::Work;

/// The reason why a burst cannot be written: it contains a value that is too large or cannot be
/// encoded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unfit(pub(crate) String);

impl From<protocol::Garbled> for Unfit {
    fn from(error: protocol::Garbled) -> Self {
        Self(error.to_string())
    }
}

/// A row that was accepted and has not run: version 0.
pub(crate) fn pending(start: &Start, work: &Work, now: Timestamp) -> Instance {
    let id = start.instance_id(&work.id);
    let version_id = start.version_id.clone().unwrap_or_default();
    Instance {
        correlation_id: start.correlation_id.clone(),
        name: start.name.clone(),
        parent: start.parent.clone(),
        ..Instance::new(id, start.definition_id.clone(), version_id, 0, now)
    }
}

/// The instance and command from which an accepted command descends.
pub(crate) struct Descent<'a> {
    pub(crate) traceparent: Option<&'a str>,
    pub(crate) lineage: Lineage,
}

/// A start that is accepted in a transaction: its row and its command.
pub(crate) fn accepted(
    mut start: Start,
    id: CommandId,
    program: Option<&Program>,
    descent: &Descent<'_>,
    now: Timestamp,
) -> Result<NewInstance, Unfit> {
    if let Some(program) = program {
        start.version_id = Some(program.version_id().clone());
    }
    let mut command = Command::new(id, Body::Start(start.clone()));
    command.traceparent = descent.traceparent.map(str::to_owned);
    command.lineage = descent.lineage;
    let work = Work::command(&command, now);
    let mut instance = pending(&start, &work, now);
    if let Some(program) = program {
        instance.version_id = program.version_id().clone();
        instance.definition_version = program.version();
    }
    let activation_key = program
        .filter(|_| start.parent.is_none())
        .and_then(|program| program.activation_key(start.correlation_id.as_deref()));
    Ok(NewInstance { instance, command: command.encode()?, activation_key })
}

/// The id of the command that starts a child.
pub(crate) fn child_id(child: &InstanceId) -> CommandId {
    CommandId::new(model::derived(&["child", child.as_str()]))
}

/// A command for an instance that is accepted in a transaction: its row.
pub(crate) fn accepted_command(id: CommandId, command: Message, now: Timestamp) -> PendingCommand {
    PendingCommand {
        id,
        instance_id: None,
        bookmark_id: None,
        hash: None,
        correlation_id: None,
        command,
        accepted_at: now,
        expires_at: None,
        waiting: false,
    }
}
