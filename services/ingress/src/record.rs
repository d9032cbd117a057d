//! Reads instances: the row, and the parts of its state that answers need.
//!
//! The executor writes the state. Only the members named here are read, so the state may have more.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use engine::{Program, State};
use model::{Bookmark, BookmarkId, CommandId, Instance, InstanceId, Map, SubStatus, execution_id};
use protocol::{Body, Command, HttpAnswer, Message};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Loaded;

use crate::states::{self, Held, Purpose};
use crate::{App, Problem};

/// The members of `Instance::state` that ingress reads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    /// The engine's state.
    pub(crate) state: State,
    unfinished: bool,
    applied: Vec<CommandId>,
    answer: Option<KeptAnswer>,
}

#[derive(Debug, Deserialize)]
struct KeptAnswer {
    commands: Vec<CommandId>,
    answer: HttpAnswer,
}

/// An instance, with its state.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The row.
    pub(crate) instance: Instance,
    record: Record,
    command: Option<Message>,
    /// Room for its state, and for the answer that is made of it.
    room: Held,
}

/// Reads an instance, as [`states::load`] says; `None` when there is none.
pub(crate) async fn find(app: &App, id: &InstanceId) -> Result<Option<Seen>, Problem> {
    find_within(app, id, app.config.answer_time_max).await
}

/// Reads an instance, and waits for room for its state for at most this time; `None` when there is none.
pub(crate) async fn find_within(
    app: &App,
    id: &InstanceId,
    patience: Duration,
) -> Result<Option<Seen>, Problem> {
    seen(states::load(app, id, Purpose::Look, patience).await?, id)
}

/// Reads an instance whose state the answer has; 404 when there is none.
pub(crate) async fn get_to_show(app: &App, id: &InstanceId) -> Result<Seen, Problem> {
    let found = states::load(app, id, Purpose::Answer, app.config.answer_time_max).await?;
    seen(found, id)?.ok_or_else(|| missing(id))
}

fn seen(found: Option<(Loaded, Held)>, id: &InstanceId) -> Result<Option<Seen>, Problem> {
    let Some((loaded, room)) = found else { return Ok(None) };
    let record = read(&loaded.instance.state).map_err(|error| {
        tracing::error!(%error, instance = %id, "the state of an instance cannot be read");
        Problem::internal()
    })?;
    Ok(Some(Seen { instance: loaded.instance, record, command: loaded.command, room }))
}

/// Whether there is such an instance. No large state is read.
pub(crate) async fn exists(app: &App, id: &InstanceId) -> Result<bool, Problem> {
    Ok(app.cx.store.load_within(id, 0).await?.is_some())
}

/// Refuses an instance that does not exist, with 404.
pub(crate) async fn must_exist(app: &App, id: &InstanceId) -> Result<(), Problem> {
    if exists(app, id).await? { Ok(()) } else { Err(missing(id)) }
}

fn missing(id: &InstanceId) -> Problem {
    Problem::not_found(format!("there is no workflow instance {id}"))
}

/// Reads what the executor keeps about an instance; empty bytes are one that has not run.
pub(crate) fn read(bytes: &[u8]) -> Result<Record, rmp_serde::decode::Error> {
    if bytes.is_empty() { Ok(Record::default()) } else { rmp_serde::from_slice(bytes) }
}

/// Reads an instance; 404 when there is none.
pub(crate) async fn get(app: &App, id: &InstanceId) -> Result<Seen, Problem> {
    let found = find(app, id).await?;
    found.ok_or_else(|| missing(id))
}

/// Reads an instance that a command has changed; `None` when there is no room for its state in time. A
/// refusal would say that nothing was done.
pub(crate) async fn get_after(app: &App, id: &InstanceId) -> Result<Option<Seen>, Problem> {
    match get(app, id).await {
        Err(problem) if problem.is("overloaded") => Ok(None),
        found => found.map(Some),
    }
}

/// Reads the id of an instance.
pub(crate) fn id(text: &str) -> Result<InstanceId, Problem> {
    InstanceId::parse(text).map_err(|error| Problem::bad_request(error.to_string()))
}

impl Record {
    /// The open bookmarks, without those of outgoing calls; none while the instance is paused.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Bookmark> {
        let state = &self.state;
        let open = (!state.is_paused).then(|| state.bookmarks.values());
        open.into_iter().flatten().filter(|open| !state.calls.contains_key(&open.id))
    }

    /// The status of an instance in this state, of which the row says `said`.
    pub(crate) fn status(&self, said: SubStatus) -> SubStatus {
        match self.state.status {
            status if status.is_final() => status,
            _ if !self.state.calls.is_empty() => SubStatus::Executing,
            _ if self.state.is_paused => SubStatus::Suspended,
            _ if self.unfinished => SubStatus::Executing,
            SubStatus::Pending => said,
            status => status,
        }
    }
}

impl Seen {
    /// Its status.
    pub(crate) fn status(&self) -> SubStatus {
        self.instance.status
    }

    /// The row alone, for a wait of any length: the state is put down, and its room given back.
    pub(crate) fn into_row(self) -> Instance {
        Instance { state: Vec::new(), ..self.instance }
    }

    /// The JSON that was made of the state, as an answer in its room.
    pub(crate) fn answer(self, app: &App, value: &Value) -> Response {
        states::json(app, self.room, value)
    }

    /// The room alone, for bytes that were made of the state.
    pub(crate) fn into_room(self) -> Held {
        self.room
    }

    /// The engine's state; empty when the instance has not run.
    pub(crate) fn state(&self) -> &State {
        &self.record.state
    }

    /// The open bookmarks, as [`Record::open`] has them.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Bookmark> {
        self.record.open()
    }

    /// The open bookmarks that a resume without a bookmark id may mean: all except timers.
    pub(crate) fn resumable(&self) -> Vec<&Bookmark> {
        self.open().filter(|open| open.due_at.is_none()).collect()
    }

    /// The open bookmark of this id.
    pub(crate) fn bookmark(&self, id: &BookmarkId) -> Option<&Bookmark> {
        self.open().find(|open| open.id == *id)
    }

    /// True when the command is among the last that were applied.
    pub(crate) fn has_applied(&self, id: &CommandId) -> bool {
        self.record.applied.contains(id)
    }

    /// The answer of `WriteHttpResponse` to this command, if it is still kept.
    pub(crate) fn answer_for(&self, id: &CommandId) -> Option<&HttpAnswer> {
        let kept = self.record.answer.as_ref()?;
        kept.commands.contains(id).then_some(&kept.answer)
    }

    /// The state in a form for people and programs.
    pub(crate) async fn view(&self, app: &App) -> Value {
        let program = self.program(app).await;
        let is_system = program.as_ref().is_some_and(|program| program.is_system());
        let mut view = match program {
            Some(program) => self.record.state.view(&program),
            // The version was deleted, or cannot be read here: show the parts that need no program.
            None => self.bare(),
        };
        if let Some(view) = view.as_object_mut() {
            // The state of an instance that has not run is empty; the row has its values.
            view.insert("id".to_owned(), json!(self.instance.id));
            view.insert("status".to_owned(), json!(self.status().main()));
            view.insert("subStatus".to_owned(), json!(self.status()));
            view.insert("isExecuting".to_owned(), json!(self.status() == SubStatus::Executing));
            view.insert("isSystem".to_owned(), json!(is_system));
            view.insert("createdAt".to_owned(), json!(self.instance.created_at));
            view.insert("updatedAt".to_owned(), json!(self.instance.updated_at));
            view.insert("finishedAt".to_owned(), json!(self.instance.finished_at));
            self.date(view);
            if self.instance.version == 0 {
                view.insert("correlationId".to_owned(), json!(self.instance.correlation_id));
                view.insert("name".to_owned(), json!(self.instance.name));
                view.insert("input".to_owned(), self.input());
            }
        }
        view
    }

    async fn program(&self, app: &App) -> Option<Arc<Program>> {
        app.cx.catalog.program(&self.instance.version_id).await.ok().flatten()
    }

    /// Whether its definition is a system definition.
    pub(crate) async fn is_system(&self, app: &App) -> bool {
        self.program(app).await.is_some_and(|program| program.is_system())
    }

    /// Gives contexts without a time of their start one: clients expect it. The workflow's own is the
    /// time when the instance was accepted; so is that of executions of earlier versions.
    fn date(&self, view: &mut Map) {
        let contexts = view.get_mut("activityExecutionContexts").and_then(Value::as_array_mut);
        for context in contexts.into_iter().flatten() {
            let Some(members) = context.as_object_mut() else { continue };
            if members.get("startedAt").is_none_or(Value::is_null) {
                members.insert("startedAt".to_owned(), json!(self.instance.created_at));
            }
            let is_workflow = members.get("parentContextId").is_some_and(Value::is_null);
            if is_workflow {
                let id = execution_id(&self.instance.id, 0);
                members.insert("id".to_owned(), json!(id));
                members.insert("completedAt".to_owned(), json!(self.instance.finished_at));
            }
        }
    }

    fn input(&self) -> Value {
        let command = self.command.as_ref().and_then(|command| Command::decode(command, "").ok());
        match command.map(|command| command.body) {
            Some(Body::Start(start)) => json!(start.input),
            _ => json!({}),
        }
    }

    fn bare(&self) -> Value {
        let state = &self.record.state;
        json!({
            "definitionId": self.instance.definition_id,
            "definitionVersionId": self.instance.version_id,
            "definitionVersion": self.instance.definition_version,
            "correlationId": state.correlation_id,
            "name": state.name,
            "input": state.input,
            "output": state.output,
            "properties": state.properties,
            "incidents": state.incidents.iter().map(engine::incident).collect::<Vec<_>>(),
            "bookmarks": self.open().map(engine::bookmark).collect::<Vec<_>>(),
            "completionCallbacks": [],
            "activityExecutionContexts": [],
            "scheduledActivities": [],
            "executionLogSequence": state.journal_sequence,
        })
    }
}
