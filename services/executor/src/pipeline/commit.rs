//! commit: one transaction with its version check. The lease saved work up to here; this check is
//! what makes the result true.

use std::time::Duration;

use chassis::Point;
use engine::Effect;
use model::Timestamp;
use protocol::{ContentType, Headers, HttpAnswer, Message, TimerArmed, encode_body, subject};
use store::{Commit, StoredBookmark};
use tokio::time::Instant;

use super::load;
use super::lock::Hold;
use super::run::{End, Ran};
use super::settle::Stop;
use crate::decide::Known;
use crate::draft::{Draft, draft};
use crate::executor::Cx;
use crate::metrics::METRICS;

/// How long a burst whose commit is in doubt waits before it looks again.
const DOUBT_PAUSE: Duration = Duration::from_millis(50);
/// Timers that are due sooner than this are announced; the others are found by a look into the
/// database.
const ARMED_WITHIN: Duration = Duration::from_secs(60);

/// How a commit ended.
#[derive(Debug)]
pub(crate) enum Committed {
    /// It is written.
    Done(Box<Done>, Box<Known>),
    /// Someone else was here, or nobody knows: load and run again.
    Conflict,
    /// The activation strategy forbids the instance.
    NotAllowed(model::InstanceId),
}

/// A committed burst, and what is left to do for it.
#[derive(Debug)]
pub(crate) struct Done {
    /// Where the instance was before; none when it is new.
    pub(crate) was: Option<model::SubStatus>,
    pub(crate) outgoing: Outgoing,
    /// What `WriteHttpResponse` said.
    pub(crate) answer: Option<HttpAnswer>,
    /// Commands that waited for the new bookmarks.
    pub(crate) woken: Vec<Message>,
}

/// Messages that a commit allows to be published. Made here only.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(super) outbox: Vec<store::OutboxRow>,
    pub(super) commands: Vec<Message>,
    /// Timers that are due soon.
    pub(super) armed: Vec<Message>,
    pub(super) journal: Option<Message>,
}

/// Writes the burst, if the instance is still at the version that was loaded.
pub(crate) async fn commit(cx: &Cx, hold: &Hold, mut ran: Ran) -> Result<Committed, Stop> {
    let was = ran.before.row.as_ref().map(|row| row.status);
    let Draft { burst, known, journal, answer } = fit(cx, &mut ran).await?;
    cx.at(Point::BeforeCommit).await;
    // Another may have the lease by now: its burst is as good as this one, and this one would only
    // make it run twice.
    if !hold.is_good() {
        return Err(Stop::Fenced);
    }
    let outgoing = Outgoing {
        outbox: burst.outbox.clone(),
        commands: burst
            .starts
            .iter()
            .map(|start| start.command.clone())
            .chain(burst.commands.iter().map(|kept| kept.command.clone()))
            .collect(),
        armed: armed(&burst.created, cx.now().after(ARMED_WITHIN)),
        journal,
    };
    let began = Instant::now();
    let committed = cx.store.commit(burst).await;
    METRICS.committed(began.elapsed());
    match committed {
        Ok(Commit::Done { waiting: woken }) => {
            cx.at(Point::Committed).await;
            let done = Done { was, outgoing, answer, woken };
            Ok(Committed::Done(Box::new(done), Box::new(known)))
        }
        Ok(Commit::Conflict) => {
            METRICS.conflict();
            cx.at(Point::Conflicted).await;
            Ok(Committed::Conflict)
        }
        Ok(Commit::NotAllowed(by)) => Ok(Committed::NotAllowed(by)),
        // It may have happened. What is loaded next says so, by the command's id.
        Err(error @ store::Error::Unavailable(_)) => {
            tracing::warn!(%error, "a commit is in doubt, looking again");
            tokio::time::sleep(DOUBT_PAUSE).await;
            Ok(Committed::Conflict)
        }
        Err(error) => Err(error.into()),
    }
}

/// What tells the owners of timers about those that are due before `end`; they look into the
/// database for the others.
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

/// Drafts the transaction. What does not fit ends the instance with an incident that says so.
async fn fit(cx: &Cx, ran: &mut Ran) -> Result<Draft, Stop> {
    let mut programs = Vec::new();
    for effect in &ran.effects {
        if let Effect::Dispatch(dispatch) = effect {
            // A child whose definition is unknown is accepted all the same: it ends with the
            // reason, and its parent goes on.
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
            let end = End::too_large(unfit.to_string());
            let before = match &ran.before.row {
                Some(row) => load::read(cx, &row.id).await?,
                None => Known::default(),
            };
            let mut ended = Ran::ended(cx, before, &ran.work, end);
            sign(cx, &mut ended);
            draft(&mut ended, &[]).map_err(|unfit| Stop::Bug(unfit.to_string()))
        }
    }
}

/// Writes into the journal who ran this burst.
fn sign(cx: &Cx, ran: &mut Ran) {
    if let Some(first) = ran.journal.first_mut() {
        first.node = Some(cx.node.clone());
    }
}
