//! What a burst writes: the difference between the instance before and after, as one transaction,
//! and what is told to others once it is committed. Pure: time and ids come with the burst.

use std::collections::BTreeSet;

use engine::{Dispatch, Effect, Program, Publish, Task};
use model::{BookmarkId, CommandId, Instance, InstanceId, Map, Parent, Stimulus, SubStatus, Token};
use protocol::{
    Body, BurstJournal, Command, ContentType, EventRaised, HttpAnswer, LifecycleEvent, Message,
    Resume, Start, TaskRequest, encode_body, header, subject,
};
use serde::Serialize;
use serde_json::json;
use store::{Burst, NewInstance, OutboxRow, PendingCommand, StoredBookmark, shard_of};

use crate::decide::Known;
use crate::pipeline::run::Ran;
use crate::work::Work;

/// The member of a child's resume input that tells about the child itself.
const CHILD_KEY: &str = "__Child";

/// A version that a child would run: found before drafting, because it takes a look-up.
pub(crate) type Child<'a> = Option<&'a Program>;

/// One transaction, and what follows from it.
pub(crate) struct Draft {
    pub(crate) burst: Burst,
    pub(crate) known: Known,
    pub(crate) journal: Option<Message>,
    pub(crate) answer: Option<HttpAnswer>,
}

/// Why a burst cannot be written: something in it is too large, or has no form.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unfit(String);

impl From<protocol::Garbled> for Unfit {
    fn from(error: protocol::Garbled) -> Self {
        Self(error.to_string())
    }
}

/// Drafts the transaction of a burst. `children` are the programs of its dispatches, in order.
pub(crate) fn draft(ran: &mut Ran, children: &[Child<'_>]) -> Result<Draft, Unfit> {
    let mut row = row(ran)?;
    let mut pen =
        Pen { ran, row: &row, starts: Vec::new(), commands: Vec::new(), outbox: Vec::new() };
    let mut tokens: Vec<Token> = Vec::new();
    let mut answer = None;
    let mut children = children.iter();
    for effect in &ran.effects {
        match effect {
            Effect::Publish(publish) => pen.event(publish)?,
            Effect::Task(task) => pen.task(task)?,
            Effect::Dispatch(dispatch) => {
                pen.child(dispatch, children.next().copied().flatten())?;
            }
            Effect::Respond(response) => answer = Some(told(response)),
            Effect::Grant(token) => tokens.push(token.clone()),
        }
    }
    if ran.has_moved {
        pen.lifecycle()?;
        pen.parent()?;
    }
    let Pen { starts, commands, outbox, .. } = pen;
    if let Some(answer) = &answer {
        ran.record.keep_answer(ran.work.responders.clone(), answer);
    }
    row.state = ran.record.encode().map_err(|error| Unfit(format!("the state: {error}")))?;
    if row.state.len() > model::limits::STATE_BYTES_MAX {
        return Err(Unfit(format!(
            "the state of the instance has {} bytes, more than the {} that are kept: keep large \
             data elsewhere",
            row.state.len(),
            model::limits::STATE_BYTES_MAX
        )));
    }
    let (burned, created) = bookmarks(ran, &row);
    let journal = journal(ran, &row);
    let kept = Instance { state: Vec::new(), ..row.clone() };
    let own = ran.work.has_row().then(|| ran.work.id.clone());
    let settles = own.into_iter().chain(ran.work.event().cloned()).collect();
    let burst = Burst {
        expected: ran.before.expected,
        activation_key: ran.record.activation_key.clone(),
        burned,
        created,
        journal: std::mem::take(&mut ran.journal),
        starts,
        commands,
        outbox,
        tokens,
        settles,
        instance: row,
    };
    let record = std::mem::take(&mut ran.record);
    let known = Known { row: Some(kept), record, ..Known::default() };
    Ok(Draft { burst, known, journal, answer })
}

/// The row after the burst; its state is still that before.
fn row(ran: &Ran) -> Result<Instance, Unfit> {
    let state = &ran.record.state;
    let status = match state.status {
        // Work in hand: the sweep looks after it if this node dies.
        status if status.is_final() => status,
        _ if ran.record.unfinished || !state.calls.is_empty() => SubStatus::Executing,
        status => status,
    };
    let mut row = match (&ran.before.row, ran.work.body()) {
        (Some(row), _) => row.clone(),
        (None, Some(Body::Start(start))) => pending(start, &ran.work, ran.now),
        (None, _) => return Err(Unfit("only a start makes an instance".to_owned())),
    };
    if let Some((id, number)) = &ran.version {
        row.version_id = id.clone();
        row.definition_version = *number;
    }
    row.version += 1;
    row.updated_at = ran.now;
    if ran.has_moved {
        row.status = status;
        row.correlation_id = state.correlation_id.clone();
        row.name = state.name.clone();
        row.parent = state.parent.clone();
        row.incidents = state.incident_count;
        row.finished_at = row.status.is_final().then(|| row.finished_at.unwrap_or(ran.now));
    }
    Ok(row)
}

/// A row that was accepted and has not run: version 0.
fn pending(start: &Start, work: &Work, now: model::Timestamp) -> Instance {
    Instance {
        id: start.instance_id(&work.id),
        definition_id: start.definition_id.clone(),
        version_id: start.version_id.clone().unwrap_or_default(),
        definition_version: 0,
        version: 0,
        status: SubStatus::Pending,
        correlation_id: start.correlation_id.clone(),
        name: start.name.clone(),
        parent: start.parent.clone(),
        incidents: 0,
        created_at: now,
        updated_at: now,
        finished_at: None,
        state: Vec::new(),
    }
}

/// A start that is accepted with a transaction: its row and its command.
pub(crate) fn accepted(
    mut start: Start,
    id: CommandId,
    program: Child<'_>,
    traceparent: Option<&str>,
    now: model::Timestamp,
) -> Result<NewInstance, Unfit> {
    if let Some(program) = program {
        start.version_id = Some(program.version_id().clone());
    }
    let mut command = Command::new(id, Body::Start(start.clone()));
    command.traceparent = traceparent.map(str::to_owned);
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

/// Bookmarks that are gone, and those that are new. Those of calls are the holder's own business:
/// nobody looks for them.
fn bookmarks(ran: &Ran, row: &Instance) -> (Vec<BookmarkId>, Vec<StoredBookmark>) {
    let (before, after) = (&ran.before.open, &ran.record);
    let open: BTreeSet<_> = after.open().map(|open| &open.id).collect();
    let burned = before.iter().filter(|id| !open.contains(id)).cloned().collect();
    let created = after.open().filter(|open| !before.contains(&open.id));
    let created = created.map(|open| StoredBookmark {
        instance_id: row.id.clone(),
        definition_id: row.definition_id.clone(),
        correlation_id: row.correlation_id.clone(),
        shard: shard_of(row.id.as_str()),
        bookmark: open.clone(),
    });
    (burned, created.collect())
}

fn told(response: &engine::Response) -> HttpAnswer {
    HttpAnswer {
        status_code: response.status_code,
        headers: response.headers.clone(),
        content_type: response.content_type.clone(),
        content: response.content.clone(),
    }
}

/// Writes what is told to others.
struct Pen<'a> {
    ran: &'a Ran,
    row: &'a Instance,
    starts: Vec<NewInstance>,
    commands: Vec<PendingCommand>,
    outbox: Vec<OutboxRow>,
}

impl Pen<'_> {
    fn event(&mut self, publish: &Publish) -> Result<(), Unfit> {
        let number = self.commands.len().to_string();
        let version = self.row.version.to_string();
        let parts = ["raise", self.row.id.as_str(), &version, &number];
        let id = CommandId::new(model::derived(&parts));
        let raised = EventRaised {
            event_name: publish.event_name.clone(),
            correlation_id: publish.correlation_id.clone(),
            instance_id: publish.instance_id.clone(),
            payload: publish.payload.clone(),
        };
        let hash = Stimulus::event(&publish.event_name).hash();
        self.command(id, Body::Event(raised), publish.instance_id.clone(), |kept| {
            kept.hash = Some(hash);
            kept.correlation_id = publish.correlation_id.clone();
        })
    }

    fn task(&mut self, task: &Task) -> Result<(), Unfit> {
        let request = TaskRequest {
            task_id: task.task_id.clone(),
            task_name: task.task_name.clone(),
            workflow_instance_id: self.row.id.clone(),
            payload: task.payload.clone(),
        };
        let id = model::derived(&["task", self.row.id.as_str(), &task.task_id]);
        self.outbox(id, subject::task(&task.task_name), &request)
    }

    fn child(&mut self, dispatch: &Dispatch, program: Child<'_>) -> Result<(), Unfit> {
        let parent =
            Parent { instance_id: self.row.id.clone(), bookmark_id: dispatch.bookmark_id.clone() };
        let start = Start {
            definition_id: dispatch.definition_id.clone(),
            instance_id: Some(dispatch.instance_id.clone()),
            input: dispatch.input.clone(),
            correlation_id: dispatch.correlation_id.clone(),
            parent: Some(parent),
            ..Start::default()
        };
        let id = child_id(&dispatch.instance_id);
        let traceparent = self.ran.work.traceparent.as_deref();
        self.starts.push(accepted(start, id, program, traceparent, self.ran.now)?);
        Ok(())
    }

    /// `started` with the first commit; then how the burst left the instance.
    fn lifecycle(&mut self) -> Result<(), Unfit> {
        if self.row.version == 1 {
            self.lifecycle_event("started")?;
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
        // In this order also for a sweep, which goes by the id where the time is the same.
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
            incidents: state.incidents.iter().map(|incident| incident.message.clone()).collect(),
        };
        let subject = subject::lifecycle(&row.definition_id, &row.id, what);
        match self.outbox(id.clone(), subject.clone(), &event) {
            // An output that fits the state may not fit a message: what happened is told all the same.
            Err(_) => self.outbox(id, subject, &LifecycleEvent { output: None, ..event }),
            Ok(()) => Ok(()),
        }
    }

    /// A child that has ended tells the parent that waits for it.
    fn parent(&mut self) -> Result<(), Unfit> {
        let state = &self.ran.record.state;
        let was_over = self.ran.before.row.as_ref().is_some_and(|row| row.status.is_final());
        let (true, false, Some(parent)) = (self.row.status.is_final(), was_over, &state.parent)
        else {
            return Ok(());
        };
        let Some(bookmark_id) = &parent.bookmark_id else { return Ok(()) };
        let end = |output: &Map| {
            let mut input = output.clone();
            let child = json!({
                "workflowInstanceId": self.row.id,
                "status": "Finished",
                "subStatus": self.row.status.as_str(),
                "output": output,
            });
            input.insert(CHILD_KEY.to_owned(), child);
            Resume {
                instance_id: parent.instance_id.clone(),
                bookmark_id: Some(bookmark_id.clone()),
                input,
                ..Resume::default()
            }
        };
        let id = CommandId::new(model::derived(&["child-end", self.row.id.as_str()]));
        let (whole, empty) = (end(&state.output), end(&Map::new()));
        for resume in [whole, empty] {
            let to = Some(parent.instance_id.clone());
            let written = self.command(id.clone(), Body::Resume(resume), to, |kept| {
                kept.bookmark_id = Some(bookmark_id.clone());
            });
            // An output that is too large for a command does not keep the parent waiting for ever.
            if written.is_ok() {
                break;
            }
        }
        Ok(())
    }

    fn command(
        &mut self,
        id: CommandId,
        body: Body,
        instance_id: Option<InstanceId>,
        fill: impl FnOnce(&mut PendingCommand),
    ) -> Result<(), Unfit> {
        let mut command = Command::new(id.clone(), body);
        command.traceparent = self.ran.work.traceparent.clone();
        let mut kept = PendingCommand {
            id,
            instance_id,
            bookmark_id: None,
            hash: None,
            correlation_id: None,
            command: command.encode()?,
            accepted_at: self.ran.now,
            expires_at: None,
            waiting: false,
        };
        fill(&mut kept);
        self.commands.push(kept);
        Ok(())
    }

    fn outbox(&mut self, id: String, subject: String, body: &impl Serialize) -> Result<(), Unfit> {
        let instance_id = self.row.id.clone();
        let message = message(self.ran, &instance_id, subject, Some(&id), body)?;
        self.outbox.push(OutboxRow { id, instance_id, message, created_at: self.ran.now });
        Ok(())
    }
}

/// What the burst did, for those who watch. Best effort: one that is too large is left out, and
/// the gap in the versions shows it.
fn journal(ran: &Ran, row: &Instance) -> Option<Message> {
    if ran.journal.is_empty() {
        return None;
    }
    let body = BurstJournal {
        workflow_instance_id: row.id.clone(),
        version: row.version,
        entries: ran.journal.clone(),
    };
    let subject = subject::journal(&row.definition_id, &row.id);
    message(ran, &row.id, subject, None, &body).ok()
}

fn message(
    ran: &Ran,
    instance_id: &InstanceId,
    subject: String,
    id: Option<&str>,
    body: &impl Serialize,
) -> Result<Message, Unfit> {
    let payload = encode_body(ContentType::Json, body)?;
    if payload.len() > model::limits::COMMAND_BYTES_MAX {
        return Err(Unfit(format!(
            "a message to {subject} has {} bytes, more than the {} that are allowed: keep large \
             data elsewhere and send a reference to it",
            payload.len(),
            model::limits::COMMAND_BYTES_MAX
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
