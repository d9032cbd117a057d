//! commit: one transaction with its version check. The lease saves work; the version check saves
//! truth.

use std::time::Duration;

use chassis::Point;
use engine::{Effect, LogLevel, LogLine};
use model::{Stimulus, Timestamp};
use protocol::{ContentType, Headers, HttpAnswer, Message, TimerArmed, encode_body, subject};
use store::{Burst, Commit, Room, StoredBookmark};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::draft::{Draft, draft};
use super::load;
use crate::burst::{Ending, Known, Ran};
use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::stop::Stop;
use crate::tenure::Tenure;

/// The pause after a commit with an unknown outcome, before the instance is read again.
const DOUBT_PAUSE: Duration = Duration::from_millis(50);
/// Timers that are due within this time are announced. Their owners find the others in the database.
const ARMED_WITHIN: Duration = Duration::from_secs(60);

/// The result of a commit.
#[derive(Debug)]
pub(crate) enum Committed {
    /// It is written, and the tenure knows the new state of the instance.
    Done(Box<Done>),
    /// Another writer was first, or the outcome is unknown: load and run again.
    Conflict,
    /// The activation strategy forbids the instance.
    NotAllowed(model::InstanceId),
}

/// A committed burst, and its consequences.
#[derive(Debug)]
pub(crate) struct Done {
    /// The instance has another status, or it has ended a second time.
    pub(crate) is_change: bool,
    pub(crate) outgoing: Outgoing,
    /// The response of `WriteHttpResponse`.
    pub(crate) answer: Option<HttpAnswer>,
    /// Kept commands that waited for the new bookmarks.
    pub(crate) woken: Vec<Message>,
}

/// Messages that a commit allows to be published. Only `commit` can make it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(super) outbox: Vec<store::OutboxRow>,
    pub(super) commands: Vec<Message>,
    /// Timers that are due soon.
    pub(super) armed: Vec<Message>,
    /// Plain messages, best effort.
    pub(super) notices: Vec<Message>,
    pub(super) journal: Option<Message>,
    /// The trace of the burst.
    pub(super) traceparent: Option<String>,
}

/// Writes the burst, if the instance is still at the version that was loaded. An instance that goes
/// on after its burst needs the lease first.
pub(crate) async fn commit(cx: &Cx, tenure: &mut Tenure, mut ran: Ran) -> Result<Committed, Stop> {
    if ran.goes_on() {
        tenure.hold.take(cx, &tenure.id).await?;
    }
    let Draft { burst, known, is_change, notices, journal, answer } =
        fit(cx, &mut ran, &mut tenure.room).await?;
    cx.at(Point::BeforeCommit).await;
    // Another node may have the lease by now. Its burst does the same work, and a commit here would
    // only make it run twice.
    if !tenure.hold.is_good() {
        return Err(Stop::Fenced);
    }
    let traceparent = ran.work.traceparent.clone();
    let outgoing = Outgoing { notices, ..outgoing(&burst, journal, cx.now(), traceparent) };
    let listens = burst.created.iter().any(|new| new.bookmark.name == Stimulus::MESSAGE);
    let began = Instant::now();
    let span = tracing::debug_span!(target: "spans", "commit", otel.kind = "client");
    let committed = cx.store.commit(burst).instrument(span).await;
    METRICS.committed(began.elapsed());
    match committed {
        Ok(Commit::Done { waiting: woken }) => {
            cx.at(Point::Committed).await;
            tenure.known = Some(known);
            if listens {
                cx.waits_for_messages.notify_one();
            }
            log_lines(&ran.effects, &tenure.id);
            Ok(Committed::Done(Box::new(Done { is_change, outgoing, answer, woken })))
        }
        Ok(Commit::Conflict) => {
            METRICS.conflict();
            cx.at(Point::Conflicted).await;
            Ok(Committed::Conflict)
        }
        // Loading again finds that the version was deleted, and refuses the start.
        Ok(Commit::Gone(version_id)) => {
            cx.catalog.forget(&version_id);
            Ok(Committed::Conflict)
        }
        Ok(Commit::NotAllowed(by)) => Ok(Committed::NotAllowed(by)),
        // The commit may have happened. The row that is read next shows it, by the id of the command.
        Err(error @ store::Error::Unavailable(_)) => {
            tracing::warn!(%error, "a commit is in doubt, looking again");
            tokio::time::sleep(DOUBT_PAUSE).await;
            Ok(Committed::Conflict)
        }
        // The workflow has set a value that the database refuses, such as a long correlation id. A
        // burst without a program runs no workflow.
        Err(store::Error::Refused(reason)) if ran.before.row.is_some() && ran.program.is_some() => {
            drop(known);
            let before = load::read(cx, &tenure.id, &mut tenure.room).await?;
            let ended = Ran::ended(cx.now(), before, &ran.work, Ending::not_storable(reason));
            Box::pin(commit(cx, tenure, ended)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes the log lines of the burst.
fn log_lines(effects: &[Effect], instance: &model::InstanceId) {
    for effect in effects {
        let Effect::Log(LogLine { level, category, message, attributes }) = effect else {
            continue;
        };
        let attributes = serde_json::to_string(attributes).unwrap_or_default();
        macro_rules! write {
            ($level:ident) => {
                tracing::$level!(target: "workflow", %instance, category, attributes, "{message}")
            };
        }
        match level {
            LogLevel::Trace => write!(trace),
            LogLevel::Debug => write!(debug),
            LogLevel::Information => write!(info),
            LogLevel::Warning => write!(warn),
            LogLevel::Error => write!(error),
        }
    }
}

/// The messages that the burst allows, once it is committed.
fn outgoing(
    burst: &Burst,
    journal: Option<Message>,
    now: Timestamp,
    traceparent: Option<String>,
) -> Outgoing {
    let starts = burst.starts.iter().map(|start| start.command.clone());
    let commands = burst.commands.iter().map(|kept| kept.command.clone());
    Outgoing {
        outbox: burst.outbox.clone(),
        commands: starts.chain(commands).collect(),
        armed: armed(&burst.created, now.after(ARMED_WITHIN)),
        notices: Vec::new(),
        journal,
        traceparent,
    }
}

/// The announcements of timers that are due before `end`, for their owners.
fn armed(created: &[StoredBookmark], end: Timestamp) -> Vec<Message> {
    let message = |stored: &StoredBookmark| {
        let due_at = stored.bookmark.due_at.filter(|due_at| *due_at < end)?;
        let armed = TimerArmed {
            instance_id: stored.instance_id.clone(),
            bookmark_id: stored.bookmark.id.clone(),
            due_at,
            shard: stored.shard,
        };
        let payload = encode_body(ContentType::Json, &armed).ok()?;
        let subject = subject::TIMER_ARMED.to_owned();
        Some(Message { subject, headers: Headers::new(), payload })
    };
    created.iter().filter_map(message).collect()
}

/// Drafts the transaction. A burst that is too large ends the instance with an incident instead.
async fn fit(cx: &Cx, ran: &mut Ran, room: &mut Room) -> Result<Draft, Stop> {
    let mut programs = Vec::new();
    for effect in &ran.effects {
        if let Effect::Dispatch(dispatch) = effect {
            // A child whose definition is unknown is accepted too: it ends with the reason, and its
            // parent goes on.
            let program = match cx.catalog.published(&dispatch.definition_id, None).await {
                Ok(program) => program,
                Err(catalog::Error::Broken { .. }) => None,
                Err(catalog::Error::Store(error)) => return Err(error.into()),
                Err(catalog::Error::Bus(error)) => return Err(error.into()),
            };
            programs.push(program);
        }
    }
    let children: Vec<_> = programs.iter().map(|program| program.as_deref()).collect();
    sign(cx, ran);
    match draft(ran, &children) {
        Ok(draft) => Ok(draft),
        Err(unfit) => {
            let end = Ending::too_large(unfit.to_string());
            // The state that does not fit is not needed any more.
            drop(std::mem::take(&mut ran.record));
            let before = match &ran.before.row {
                Some(row) => load::read(cx, &row.id, room).await?,
                None => Known::default(),
            };
            let mut ended = Ran::ended(cx.now(), before, &ran.work, end);
            sign(cx, &mut ended);
            draft(&mut ended, &[]).map_err(|unfit| Stop::Bug(unfit.to_string()))
        }
    }
}

/// Writes the name of this node into the journal of the burst.
fn sign(cx: &Cx, ran: &mut Ran) {
    if let Some(first) = ran.journal.first_mut() {
        first.node = Some(cx.node.clone());
    }
}
