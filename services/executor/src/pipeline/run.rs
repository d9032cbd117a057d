//! run: the pure engine. It cannot fail; only a bug stops it, and then nothing is committed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use chassis::Point;
use engine::{Effect, Env, Input, Rest, State, Turn};
use model::{
    ActivityId, BookmarkId, Entry, Incident, Instance, SubStatus, Timestamp, VersionId, What,
};
use protocol::Body;
use store::Expected;

use super::load::Ready;
use super::settle::Stop;
use crate::decide::{Known, Sight};
use crate::executor::Cx;
use crate::record::{Place, Record};
use crate::work::Work;

/// What a burst makes of an instance. Nothing of it has happened yet.
pub(crate) struct Ran {
    pub(crate) before: Before,
    pub(crate) record: Record,
    pub(crate) effects: Vec<Effect>,
    pub(crate) journal: Vec<Entry>,
    /// The version that runs, once that is decided.
    pub(crate) version: Option<(VersionId, u32)>,
    pub(crate) work: Work,
    /// The instance itself changed, not only what is remembered beside it.
    pub(crate) has_moved: bool,
    pub(crate) now: Timestamp,
}

/// What the difference is taken to.
pub(crate) struct Before {
    /// None when the burst makes the instance.
    pub(crate) row: Option<Instance>,
    /// Bookmarks that are in the database.
    pub(crate) open: BTreeSet<BookmarkId>,
    /// What it has to be for the commit.
    pub(crate) expected: Expected,
}

/// Why an instance ends without the engine.
pub(crate) struct End {
    status: SubStatus,
    /// (code, message)
    incident: Option<(&'static str, String)>,
}

impl End {
    pub(crate) fn cancelled() -> Self {
        Self { status: SubStatus::Cancelled, incident: None }
    }

    pub(crate) fn not_allowed(reason: String) -> Self {
        Self { status: SubStatus::Cancelled, incident: Some(("NotAllowed", reason)) }
    }

    pub(crate) fn not_runnable(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("DefinitionNotRunnable", reason)) }
    }

    pub(crate) fn broken(bug: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("EngineBug", bug)) }
    }

    pub(crate) fn too_large(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("TooLarge", reason)) }
    }
}

/// Runs one turn.
pub(crate) async fn run(cx: &Cx, ready: Box<Ready>) -> Result<Ran, Stop> {
    cx.at(Point::BeforeRun).await;
    let Ready { before, program, input, work } = *ready;
    // Before the clock is read, which goes on meanwhile.
    let core = if cx.config.offload_scripts && program.has_scripts() {
        let free = Arc::clone(&cx.scripts).acquire_owned().await;
        Some(free.map_err(|error| Stop::Bug(error.to_string()))?)
    } else {
        None
    };
    let env = Env {
        now: cx.now(),
        seed: cx.seed(),
        command_id: work.id.clone(),
        base_url: cx.config.base_url.clone(),
    };
    let (before, mut record) = split(before);
    take(&mut record, &work, &input);
    if let Input::Start(start) = &input
        && start.parent.is_none()
    {
        record.activation_key = program.activation_key(start.correlation_id.as_deref());
    }
    let state = std::mem::take(&mut record.state);
    let now = env.now;
    let version = Some((program.version_id().clone(), program.version()));
    let turn = move |cx: &Cx| {
        let turn = || cx.engine.turn(&program, state, input, &env);
        // What a panic leaves behind is thrown away, and the engine itself has no state.
        catch_unwind(AssertUnwindSafe(turn)).map_err(|panic| Stop::Bug(text_of(&*panic)))
    };
    let turn = if let Some(core) = core {
        let cx = Cx::clone(cx);
        let running = tokio::task::spawn_blocking(move || {
            let turn = turn(&cx);
            // A turn that nobody waits for any more has its core to its end.
            drop(core);
            turn
        });
        running.await.map_err(|error| Stop::Bug(error.to_string()))??
    } else {
        turn(cx)?
    };
    cx.at(Point::Ran).await;
    let Turn { state, effects, journal, rest } = turn;
    record.state = state;
    record.unfinished = rest == Rest::OutOfBudget;
    Ok(Ran { before, record, effects, journal, version, work, has_moved: true, now })
}

impl Ran {
    /// Its holder has more to do for it after the commit.
    pub(crate) fn goes_on(&self) -> bool {
        let state = &self.record.state;
        !state.status.is_final() && (self.record.unfinished || !state.calls.is_empty())
    }

    /// A command that changes nothing but its sender's order.
    pub(crate) fn noted(cx: &Cx, before: Known, work: &Work) -> Self {
        let (before, mut record) = split(before);
        remember(&mut record, work);
        let work = work.clone();
        let (effects, journal, now) = (Vec::new(), Vec::new(), cx.now());
        Self { before, record, effects, journal, version: None, work, has_moved: false, now }
    }

    /// An instance that ends without the engine.
    pub(crate) fn ended(cx: &Cx, before: Known, work: &Work, end: End) -> Self {
        let now = cx.now();
        let is_pending = before.is_pending();
        let (before, mut record) = split(before);
        remember(&mut record, work);
        record.unfinished = false;
        let state = &mut record.state;
        if let Some(Body::Start(start)) = work.body()
            && is_pending
        {
            state.parent = start.parent.clone();
            state.correlation_id = start.correlation_id.clone();
            state.name = start.name.clone();
            state.input = start.input.clone();
        } else if let Some(row) = before.row.as_ref().filter(|_| is_pending) {
            state.parent = row.parent.clone();
            state.correlation_id = row.correlation_id.clone();
            state.name = row.name.clone();
        }
        let journal = halt(state, end, now);
        let (effects, work) = (Vec::new(), work.clone());
        Self { before, record, effects, journal, version: None, work, has_moved: true, now }
    }
}

/// What the burst starts from, and what it changes.
fn split(known: Known) -> (Before, Record) {
    let open = known.record.open().map(|open| open.id.clone()).collect();
    let expected = match &known.row {
        Some(row) => Expected::Version(row.version),
        None if known.sight == Sight::None => Expected::Unstarted,
        None => Expected::Absent,
    };
    (Before { row: known.row, open, expected }, known.record)
}

/// Ends a state as the engine would.
fn halt(state: &mut State, end: End, now: Timestamp) -> Vec<Entry> {
    state.status = end.status;
    state.bookmarks.clear();
    state.calls.clear();
    let message = end.incident.as_ref().map(|(_, message)| message.clone());
    if let Some((code, message)) = end.incident {
        state.incident_count += 1;
        state.incidents.push(Incident {
            activity_id: ActivityId::default(),
            activity_node_id: String::new(),
            activity_type: "Workflow".to_owned(),
            code: code.to_owned(),
            message,
            timestamp: now,
        });
        if state.incidents.len() > model::limits::INCIDENTS_MAX {
            state.incidents.remove(0);
        }
    }
    state.journal_sequence += 1;
    vec![Entry {
        sequence: state.journal_sequence,
        timestamp: now,
        activity_id: None,
        activity_instance_id: None,
        activity_type: None,
        activity_name: None,
        what: What::Workflow,
        message: Some(end.status.to_string()),
        payload: message.map(|message| serde_json::json!({ "message": message })),
        node: None,
    }]
}

/// Notes what a redelivery is known by.
fn remember(record: &mut Record, work: &Work) {
    if let Some(sequence) = &work.sequence
        && record.place(sequence) == Place::Next
    {
        record.advance(sequence);
    }
    record.remember(&work.id);
}

fn take(record: &mut Record, work: &Work, input: &Input) {
    remember(record, work);
    if let Some(Body::Resume(resume)) = work.body()
        && let (Some(event), Input::Resume(resumed)) = (&resume.event_id, input)
    {
        record.take(event, &resumed.bookmark_id);
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the engine panicked without a text".to_owned())
}
