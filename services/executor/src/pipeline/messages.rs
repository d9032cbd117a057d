//! The messages of a burst for others: events, tasks, children, and the end of a child for its parent.
//! Each has its row in the transaction.

use engine::{Dispatch, Program, Publish, Task, TaskCancel};
use model::{CommandId, Instance, InstanceId, Map, Parent, Stimulus, SubStatus, limits};
use protocol::{
    Body, Command, ContentType, EventRaised, LifecycleEvent, Lineage, Message, Resume, Start,
    TaskCancelled, TaskRequest, encode_body, header, subject,
};
use serde::Serialize;
use store::{NewInstance, OutboxRow, PendingCommand};

use super::child;
use crate::accept::{Descent, Unfit, accepted, accepted_command, child_id};
use crate::burst::{NOT_RUNNABLE, Ran};

/// Collects the messages and rows for others.
pub(super) struct Messages<'a> {
    pub(super) ran: &'a Ran,
    pub(super) row: &'a Instance,
    pub(super) starts: Vec<NewInstance>,
    pub(super) commands: Vec<PendingCommand>,
    pub(super) outbox: Vec<OutboxRow>,
    /// Plain messages, best effort.
    pub(super) notices: Vec<Message>,
}

impl Messages<'_> {
    pub(super) fn event(&mut self, publish: &Publish) -> Result<(), Unfit> {
        let number = self.commands.len().to_string();
        let version = self.row.version.to_string();
        let parts = ["raise", self.row.id.as_str(), &version, &number];
        let id = CommandId::new(model::derived(&parts));
        let raised = EventRaised {
            event_name: publish.event_name.clone(),
            correlation_id: publish.correlation_id.clone(),
            instance_id: publish.instance_id.clone(),
            payload: publish.payload.clone(),
            listened: None,
        };
        let hash = Stimulus::event(&publish.event_name).hash();
        let lineage = self.descends(false);
        self.command(id, Body::Event(raised), lineage, |kept| {
            kept.instance_id = publish.instance_id.clone();
            kept.hash = Some(hash);
            kept.correlation_id = publish.correlation_id.clone();
        })
    }

    /// The message of a task. The name of the workflow and the correlation id are left out where they
    /// would make it too large.
    pub(super) fn task(&mut self, task: &Task) -> Result<(), Unfit> {
        let attempt = task.attempt.to_string();
        let name = self.ran.program.as_deref().and_then(Program::name);
        let request = TaskRequest {
            task_id: task.task_id.clone(),
            task_type: task.task_name.clone(),
            task_version: task.task_version,
            input: task.payload.clone(),
            workflow_instance_id: self.row.id.clone(),
            workflow_definition_id: self.row.definition_id.clone(),
            workflow_name: name.map(str::to_owned),
            correlation_id: self.row.correlation_id.clone(),
            activity_id: task.activity_id.clone(),
            attempt: task.attempt,
            deadline: task.deadline,
        };
        let id = TaskRequest::message_id(&task.task_id, task.attempt);
        let subject = subject::task(&task.task_name, task.task_version);
        let written = |request: &TaskRequest| {
            message(self.ran, &self.row.id, subject.clone(), Some(&id), request)
        };
        let mut message = written(&request).or_else(|_| {
            written(&TaskRequest { workflow_name: None, correlation_id: None, ..request })
        })?;
        let mut set = |name: &str, value: String| message.headers.insert(name.to_owned(), value);
        set(header::TASK, task.task_id.clone());
        set(header::ATTEMPT, attempt);
        if let Some(deadline) = task.deadline {
            set(header::DEADLINE, deadline.to_string());
        }
        self.row_of(id, message);
        Ok(())
    }

    /// Notes that nobody waits for a task any more. It is not in the database: a worker that does not
    /// hear of it works in vain, and its result is refused.
    pub(super) fn cancel_task(&mut self, task: &TaskCancel) -> Result<(), Unfit> {
        let body = TaskCancelled {
            task_id: task.task_id.clone(),
            task_type: task.task_name.clone(),
            task_version: task.task_version,
            workflow_instance_id: self.row.id.clone(),
        };
        let subject = subject::task_cancel(&task.task_name, task.task_version, &task.task_id);
        let mut notice = message(self.ran, &self.row.id, subject, None, &body)?;
        notice.headers.insert(header::TASK.to_owned(), task.task_id.clone());
        self.notices.push(notice);
        Ok(())
    }

    pub(super) fn child(
        &mut self,
        dispatch: &Dispatch,
        program: Option<&Program>,
    ) -> Result<(), Unfit> {
        let bookmarks = &self.ran.record.state.bookmarks;
        let waiting = dispatch.bookmark_id.as_ref().and_then(|id| bookmarks.get(id));
        let parent = Parent {
            instance_id: self.row.id.clone(),
            bookmark_id: dispatch.bookmark_id.clone(),
            activity_instance_id: waiting.map(|bookmark| bookmark.activity_instance_id.clone()),
        };
        let start = Start {
            definition_id: dispatch.definition_id.clone(),
            instance_id: Some(dispatch.instance_id.clone()),
            input: dispatch.input.clone(),
            correlation_id: dispatch.correlation_id.clone(),
            parent: Some(parent),
            ..Start::default()
        };
        let lineage = self.descends(dispatch.bookmark_id.is_some());
        if lineage.depth > limits::CHILD_DEPTH_MAX {
            return self.too_deep(dispatch);
        }
        let traceparent = self.ran.work.traceparent.as_deref();
        let descent = Descent { traceparent, lineage };
        let id = child_id(&dispatch.instance_id);
        self.starts.push(accepted(start, id, program, &descent, self.ran.now)?);
        Ok(())
    }

    /// The descent of commands that this instance sends.
    fn descends(&self, waits: bool) -> Lineage {
        let Lineage { depth, chain } = self.ran.record.lineage;
        if waits {
            Lineage { depth: depth.saturating_add(1), chain }
        } else {
            Lineage { depth: 0, chain: chain.saturating_add(1) }
        }
    }

    /// A child would be too deep, so the instance gets the reason instead: an incident of the
    /// activity that waits.
    fn too_deep(&mut self, dispatch: &Dispatch) -> Result<(), Unfit> {
        let Some(bookmark_id) = &dispatch.bookmark_id else { return Ok(()) };
        let reason = format!(
            "{} workflows wait for each other here already, which is the limit: does {} execute \
             itself? Start it without waiting for it",
            limits::CHILD_DEPTH_MAX,
            dispatch.definition_id
        );
        let resume = Resume {
            instance_id: self.row.id.clone(),
            bookmark_id: Some(bookmark_id.clone()),
            input: child::not_started(&dispatch.instance_id, reason),
            ..Resume::default()
        };
        let id = model::derived(&["too-deep", dispatch.instance_id.as_str()]);
        let to = self.row.id.clone();
        let lineage = Lineage::default();
        self.command(CommandId::new(id), Body::Resume(resume), lineage, |kept| {
            kept.instance_id = Some(to);
            kept.bookmark_id = Some(bookmark_id.clone());
        })
    }

    /// `started` with the first commit; then the state in which the burst left the instance.
    pub(super) fn lifecycle(&mut self) -> Result<(), Unfit> {
        if self.row.version == 1 {
            self.lifecycle_event("started")?;
        }
        if self.row.status.is_final() && !self.ran.has_changed_to(self.row.status) {
            return Ok(());
        }
        match self.row.status {
            SubStatus::Suspended => self.lifecycle_event("suspended"),
            SubStatus::Finished => self.lifecycle_event("finished"),
            SubStatus::Faulted => self.lifecycle_event("faulted"),
            SubStatus::Cancelled => self.lifecycle_event("cancelled"),
            SubStatus::Pending | SubStatus::Executing => Ok(()),
        }
    }

    fn lifecycle_event(&mut self, what: &str) -> Result<(), Unfit> {
        let (row, state) = (self.row, &self.ran.record.state);
        // The number keeps the order for the sweep, which sorts by id if the times are equal.
        let number = self.outbox.len();
        let id = format!("{}.{}.{number}.{what}", row.id, row.version);
        let event = LifecycleEvent {
            id: id.clone(),
            time: self.ran.now,
            definition_id: row.definition_id.clone(),
            definition_version: row.definition_version,
            workflow_instance_id: row.id.clone(),
            correlation_id: row.correlation_id.clone(),
            sub_status: row.status,
            version: row.version,
            output: row.status.is_final().then(|| state.output.clone()),
            is_cut: false,
            incidents: state.incidents.iter().map(|incident| incident.message.clone()).collect(),
        };
        let subject = subject::lifecycle(&row.definition_id, &row.id, what);
        match self.outbox(id.clone(), subject.clone(), &event) {
            // An output that fits the state may not fit a message. The event marks that it lacks
            // the output.
            Err(_) => {
                let event = LifecycleEvent { output: None, is_cut: true, ..event };
                self.outbox(id, subject, &event)
            }
            Ok(()) => Ok(()),
        }
    }

    /// A child that has ended sends its output to the parent that waits for it: after each end, because
    /// a parent that had an incident itself did not take an earlier one.
    pub(super) fn parent(&mut self) -> Result<(), Unfit> {
        let state = &self.ran.record.state;
        let has_ended = self.row.status.is_final() && self.ran.has_changed_to(self.row.status);
        let (true, Some(parent)) = (has_ended, &state.parent) else { return Ok(()) };
        let Some(bookmark_id) = &parent.bookmark_id else { return Ok(()) };
        let end = |input: Map| {
            let resume = Resume {
                instance_id: parent.instance_id.clone(),
                bookmark_id: Some(bookmark_id.clone()),
                input,
                ..Resume::default()
            };
            // A second end is another command.
            let version = self.row.version.to_string();
            let parts = ["child-end", self.row.id.as_str(), &version];
            let id = CommandId::new(model::derived(&parts));
            let mut command = Command::new(id, Body::Resume(resume));
            command.traceparent = self.ran.work.traceparent.clone();
            command
        };
        let unstarted = state.incidents.iter().find(|incident| incident.code == NOT_RUNNABLE);
        let command = end(match unstarted {
            Some(incident) => child::not_started(&self.row.id, incident.message.clone()),
            None => child::ended(self.row, &state.output),
        });
        let message = match command.encode() {
            Ok(message) if child::fits(&state.output, message.payload.len()) => message,
            // The parent gets the reason, and fails with it.
            Ok(_) | Err(_) => end(child::refused(self.row, &state.output)).encode()?,
        };
        let mut kept = accepted_command(command.id, message, self.ran.now);
        kept.instance_id = Some(parent.instance_id.clone());
        kept.bookmark_id = Some(bookmark_id.clone());
        self.commands.push(kept);
        Ok(())
    }

    fn command(
        &mut self,
        id: CommandId,
        body: Body,
        lineage: Lineage,
        fill: impl FnOnce(&mut PendingCommand),
    ) -> Result<(), Unfit> {
        let mut command = Command::new(id.clone(), body);
        command.traceparent = self.ran.work.traceparent.clone();
        command.lineage = lineage;
        let mut kept = accepted_command(id, command.encode()?, self.ran.now);
        fill(&mut kept);
        self.commands.push(kept);
        Ok(())
    }

    fn outbox(&mut self, id: String, subject: String, body: &impl Serialize) -> Result<(), Unfit> {
        let message = message(self.ran, &self.row.id, subject, Some(&id), body)?;
        self.row_of(id, message);
        Ok(())
    }

    fn row_of(&mut self, id: String, message: Message) {
        let instance_id = self.row.id.clone();
        self.outbox.push(OutboxRow { id, instance_id, message, created_at: self.ran.now });
    }
}

pub(super) fn message(
    ran: &Ran,
    instance_id: &InstanceId,
    subject: String,
    id: Option<&str>,
    body: &impl Serialize,
) -> Result<Message, Unfit> {
    let payload = encode_body(ContentType::Json, body)?;
    if payload.len() > limits::COMMAND_BYTES_MAX {
        return Err(Unfit(format!(
            "a message to {subject} has {} bytes, more than the {} that are allowed: keep large \
             data elsewhere and send a reference to it",
            payload.len(),
            limits::COMMAND_BYTES_MAX
        )));
    }
    let mut message = Message { subject, payload, ..Message::default() };
    let mut set =
        |name: &str, value: &str| message.headers.insert(name.to_owned(), value.to_owned());
    set(header::CONTENT_TYPE, "application/json");
    if let Some(id) = id {
        set(header::MESSAGE_ID, id);
    }
    set(header::INSTANCE, instance_id.as_str());
    if let Some(traceparent) = &ran.work.traceparent {
        set(header::TRACEPARENT, traceparent);
    }
    Ok(message)
}
