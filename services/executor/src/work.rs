//! What moves an instance: a command from outside, or something its holder owes it.

use std::sync::Arc;

use model::{BookmarkId, CommandId, InstanceId, Map, Timestamp};
use protocol::{Body, Command, Sequence};

use crate::record::result_id;

/// One reason for a burst.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// The same however often it is tried.
    pub(crate) id: CommandId,
    pub(crate) what: What,
    pub(crate) sequence: Option<Sequence>,
    pub(crate) traceparent: Option<String>,
    /// Whose HTTP client waits for what `WriteHttpResponse` says.
    pub(crate) responders: Vec<CommandId>,
    /// When the command was stored: how long it may still be early.
    pub(crate) stored_at: Timestamp,
    /// It waited for a bookmark, and is kept until it is applied.
    pub(crate) is_woken: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A command, with an input that may be large.
    Command(Arc<Body>),
    /// The turn that ran out of its budget goes on.
    Continue,
    /// A call has its answer.
    Result { bookmark_id: BookmarkId, input: Map },
}

impl Work {
    pub(crate) fn command(command: &Command, stored_at: Timestamp) -> Self {
        Self {
            id: command.id.clone(),
            what: What::Command(Arc::new(command.body.clone())),
            sequence: command.sequence.clone(),
            traceparent: command.traceparent.clone(),
            responders: Vec::new(),
            stored_at,
            is_woken: false,
        }
    }

    pub(crate) fn own(id: CommandId, what: What, traceparent: Option<String>) -> Self {
        Self {
            id,
            what,
            sequence: None,
            traceparent,
            responders: Vec::new(),
            stored_at: Timestamp::default(),
            is_woken: false,
        }
    }

    pub(crate) fn result(
        instance: &InstanceId,
        bookmark_id: BookmarkId,
        input: Map,
        traceparent: Option<String>,
    ) -> Self {
        let id = result_id(instance, &bookmark_id);
        Self::own(id, What::Result { bookmark_id, input }, traceparent)
    }

    pub(crate) fn proceed(
        instance: &InstanceId,
        version: i64,
        traceparent: Option<String>,
    ) -> Self {
        let parts = ["continue", instance.as_str(), &version.to_string()];
        Self::own(CommandId::new(model::derived(&parts)), What::Continue, traceparent)
    }

    /// What the command asks for, if it is one.
    pub(crate) fn body(&self) -> Option<&Body> {
        match &self.what {
            What::Command(body) => Some(body),
            What::Continue | What::Result { .. } => None,
        }
    }

    /// The event it stems from.
    pub(crate) fn event(&self) -> Option<&CommandId> {
        match self.body() {
            Some(Body::Resume(resume)) => resume.event_id.as_ref(),
            _ => None,
        }
    }

    /// Whether an accepted row may be kept for it, which goes when it is applied.
    pub(crate) fn has_row(&self) -> bool {
        matches!(self.body(), Some(Body::Resume(_) | Body::Cancel(_)))
    }
}

/// Whether the sender of a command waits for what `WriteHttpResponse` says.
pub(crate) fn responds(command: &Command) -> bool {
    match &command.body {
        Body::Start(start) => start.responds,
        Body::Resume(resume) => resume.responds,
        Body::Cancel(_) | Body::Event(_) | Body::Task(_) | Body::Perform(_) => false,
    }
}
