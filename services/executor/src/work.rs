//! The reason for a burst: a command from outside, or work that the tenure owes the instance.

use std::sync::Arc;

use model::{BookmarkId, CommandId, InstanceId, Map, Timestamp};
use protocol::{Body, Command, Lineage, Message, Sequence, header};

use crate::record::result_id;

/// One reason for a burst.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// The same on every try.
    pub(crate) id: CommandId,
    pub(crate) cause: Cause,
    pub(crate) sequence: Option<Sequence>,
    pub(crate) traceparent: Option<String>,
    /// The commands whose HTTP clients wait for the response of `WriteHttpResponse`.
    pub(crate) responders: Vec<CommandId>,
    /// When the stream stored the command. A command that comes too early is kept for a limited
    /// time from then on.
    pub(crate) stored_at: Timestamp,
    /// The command was kept until its bookmark was there. Its row stays until it is applied.
    pub(crate) is_woken: bool,
    /// The descent of the sender of the command.
    pub(crate) lineage: Lineage,
}

#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// A command. Shared, because its input may be large.
    Command(Arc<Body>),
    /// A turn that used up its budget goes on.
    Continue,
    /// A call has its answer.
    CallEnded { bookmark_id: BookmarkId, input: Map },
}

impl Work {
    pub(crate) fn command(command: &Command, stored_at: Timestamp) -> Self {
        Self {
            id: command.id.clone(),
            cause: Cause::Command(Arc::new(command.body.clone())),
            sequence: command.sequence.clone(),
            traceparent: command.traceparent.clone(),
            responders: Vec::new(),
            stored_at,
            is_woken: false,
            lineage: command.lineage,
        }
    }

    /// The id of the trace that it belongs to, for log lines.
    pub(crate) fn trace(&self) -> Option<&str> {
        self.traceparent.as_deref().and_then(chassis::trace_id)
    }

    pub(crate) fn own(id: CommandId, cause: Cause, traceparent: Option<String>) -> Self {
        Self {
            id,
            cause,
            sequence: None,
            traceparent,
            responders: Vec::new(),
            stored_at: Timestamp::default(),
            is_woken: false,
            lineage: Lineage::default(),
        }
    }

    pub(crate) fn result(
        instance: &InstanceId,
        bookmark_id: BookmarkId,
        input: Map,
        traceparent: Option<String>,
    ) -> Self {
        let id = result_id(instance, &bookmark_id);
        Self::own(id, Cause::CallEnded { bookmark_id, input }, traceparent)
    }

    pub(crate) fn proceed(
        instance: &InstanceId,
        version: i64,
        traceparent: Option<String>,
    ) -> Self {
        let parts = ["continue", instance.as_str(), &version.to_string()];
        Self::own(CommandId::new(model::derived(&parts)), Cause::Continue, traceparent)
    }

    /// The body of the command; none for owed work.
    pub(crate) fn body(&self) -> Option<&Body> {
        match &self.cause {
            Cause::Command(body) => Some(body),
            Cause::Continue | Cause::CallEnded { .. } => None,
        }
    }

    /// The event that caused the resume.
    pub(crate) fn event(&self) -> Option<&CommandId> {
        match self.body() {
            Some(Body::Resume(resume)) => resume.event_id.as_ref(),
            _ => None,
        }
    }

    /// Whether the database may have a row for the command, to be removed when it is applied.
    pub(crate) fn has_row(&self) -> bool {
        matches!(self.body(), Some(Body::Resume(_) | Body::Cancel(_) | Body::Alter(_)))
    }
}

/// Whether the sender of a command waits for the response of `WriteHttpResponse`.
pub(crate) fn responds(command: &Command) -> bool {
    match &command.body {
        Body::Start(start) => start.responds,
        Body::Resume(resume) => resume.responds,
        Body::Cancel(_) | Body::Alter(_) | Body::Event(_) | Body::Task(_) | Body::Perform(_) => {
            false
        }
    }
}

/// Whether a command brings the report of a worker to the instance that waits for it. Only such a
/// resume has both: its cause, and a sender who waits for the outcome.
pub(crate) fn is_report(command: &Command) -> bool {
    let is_caused = matches!(&command.body, Body::Resume(resume) if resume.event_id.is_some());
    is_caused && command.reply_to.is_some()
}

/// The id of the command in a message, if the message names it.
pub(crate) fn id_of(message: &Message) -> Option<CommandId> {
    message.header(header::COMMAND_ID).or(message.id()).map(CommandId::new)
}
