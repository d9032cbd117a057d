//! command in -> lock -> load -> run -> commit -> publish -> perform -> settle
//!
//! One file per verb. The types enforce the order: `Ready` comes only from `load`, `Ran` only from
//! `run` (or from `load`, where there is nothing to run), and `Outgoing` only from `commit`, so
//! "publish before commit" does not compile. Who holds the lease, and what waits behind what, is
//! the business of [`crate::actor`].

pub(crate) mod commit;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod perform;
pub(crate) mod publish;
pub(crate) mod run;
pub(crate) mod settle;

use chassis::Point;
use model::{InstanceId, limits};
use protocol::{Body, Refusal};
use store::PendingCommand;

use crate::decide::Known;
use crate::executor::Cx;
use crate::work::Work;
use commit::{Committed, Done};
use load::Loaded;
use lock::Hold;
use settle::Stop;

/// How often a burst that lost its version is run again before its command comes again later.
const CONFLICTS_MAX: usize = 16;

/// What became of a piece of work.
#[derive(Debug)]
pub(crate) enum Advance {
    /// It is committed.
    Done(Box<Done>),
    /// It was committed before: only the tail is left to do.
    Tail,
    /// Nothing was to be done.
    Nothing,
    /// It changed nothing, for this reason.
    Refused(Refusal, String),
}

/// One burst: from load to commit. `known` is what the holder remembers of its last one. Without
/// the lease the instance is taken for new, unseen; if it is not, or if it goes on after the burst,
/// the lease is taken first.
pub(crate) async fn burst(
    cx: &Cx,
    id: &InstanceId,
    hold: &mut Hold,
    known: &mut Option<Known>,
    work: &Work,
) -> Result<Advance, Stop> {
    let mut is_kept = false;
    if !hold.is_taken() {
        *known = Some(Known::unseen());
    }
    for _ in 0..CONFLICTS_MAX {
        let ran = match load::load(cx, id, known, work).await? {
            Loaded::Ready(ready) => match run::run(cx, ready).await {
                Err(Stop::Bug(reason)) => end_pending(cx, id, work, reason).await?,
                ran => ran?,
            },
            Loaded::Ran(ran) => *ran,
            Loaded::Tail => return again(cx, work).await,
            Loaded::Nothing => return Ok(Advance::Nothing),
            Loaded::Refused(refusal, reason) => {
                return Box::pin(refuse(cx, hold, known, work, refusal, reason)).await;
            }
            Loaded::Wait if is_kept => {
                let reason = "the instance has not come to a bookmark for it yet: it is kept";
                return Ok(Advance::Refused(Refusal::Waiting, reason.to_owned()));
            }
            Loaded::Wait => {
                // Written first, looked second; whoever creates bookmarks does the same, so one of
                // the two sees the other.
                keep(cx, work).await?;
                is_kept = true;
                *known = None;
                continue;
            }
            Loaded::Unseen => {
                hold.take(cx, id).await?;
                *known = None;
                continue;
            }
        };
        if ran.goes_on() {
            hold.take(cx, id).await?;
        }
        match commit::commit(cx, hold, ran).await? {
            Committed::Done(done, after) => {
                *known = Some(*after);
                return Ok(Advance::Done(done));
            }
            Committed::Conflict => {
                hold.take(cx, id).await?;
                *known = None;
            }
            Committed::NotAllowed(by) => {
                hold.take(cx, id).await?;
                return Box::pin(not_allowed(cx, id, hold, known, work, by)).await;
            }
        }
    }
    *known = None;
    Err(Stop::later(format!("instance {id} keeps changing under this node")))
}

/// An accepted start whose first turn hits a bug would be tried for ever: it ends, and says why.
async fn end_pending(cx: &Cx, id: &InstanceId, work: &Work, bug: String) -> Result<run::Ran, Stop> {
    let before = load::read(cx, id).await?;
    if before.row.is_none() || !before.is_pending() {
        return Err(Stop::Bug(bug));
    }
    tracing::error!(instance = %id, command = %work.id, bug, "the first turn of an instance broke");
    Ok(run::Ran::ended(cx, before, work, run::End::broken(bug)))
}

/// A command that was applied before. Its row went with it, and may have come back with a second
/// fan-out of the event that it follows from: then it goes again.
async fn again(cx: &Cx, work: &Work) -> Result<Advance, Stop> {
    if work.has_row() {
        cx.store.settle(&work.id, Vec::new(), Vec::new()).await?;
    }
    Ok(Advance::Tail)
}

/// Ends a command that changes nothing: its row goes; a number in its sender's order is used up.
async fn refuse(
    cx: &Cx,
    hold: &Hold,
    known: &mut Option<Known>,
    work: &Work,
    refusal: Refusal,
    reason: String,
) -> Result<Advance, Stop> {
    if let Some(event) = work.event()
        && known.as_ref().is_some_and(|known| known.record.has_taken(event))
    {
        cx.store.settle(event, Vec::new(), Vec::new()).await?;
    }
    let is_next = |known: &Known| {
        let place = work.sequence.as_ref().map(|sequence| known.record.place(sequence));
        place == Some(crate::record::Place::Next)
    };
    match known.take_if(|known| !known.is_pending() && is_next(known)) {
        Some(before) => match commit::commit(cx, hold, run::Ran::noted(cx, before, work)).await? {
            Committed::Done(_, after) => *known = Some(*after),
            Committed::Conflict | Committed::NotAllowed(_) => {
                return Err(Stop::later("the instance changed under this node".to_owned()));
            }
        },
        None if work.has_row() => cx.store.settle(&work.id, Vec::new(), Vec::new()).await?,
        None => {}
    }
    Ok(Advance::Refused(refusal, reason))
}

/// Keeps a resume until the instance has a bookmark for it.
async fn keep(cx: &Cx, work: &Work) -> Result<(), Stop> {
    let Some(Body::Resume(resume)) = work.body() else { return Ok(()) };
    let mut command = protocol::Command::new(work.id.clone(), Body::Resume(resume.clone()));
    command.sequence = work.sequence.clone();
    command.traceparent = work.traceparent.clone();
    let now = cx.now();
    let kept = PendingCommand {
        id: work.id.clone(),
        instance_id: Some(resume.instance_id.clone()),
        bookmark_id: resume.bookmark_id.clone(),
        hash: None,
        correlation_id: None,
        command: command.encode().map_err(Stop::garbled)?,
        accepted_at: now,
        expires_at: Some(now.after(limits::RESUME_WAIT_MAX)),
        waiting: true,
    };
    cx.at(Point::BeforeWait).await;
    cx.store.wait(kept).await?;
    cx.at(Point::Waiting).await;
    Ok(())
}

/// An activation strategy forbids the instance. A row that was accepted before this was known ends
/// without having run.
async fn not_allowed(
    cx: &Cx,
    id: &InstanceId,
    hold: &Hold,
    known: &mut Option<Known>,
    work: &Work,
    by: InstanceId,
) -> Result<Advance, Stop> {
    let reason = format!("instance {by} is unfinished, and the activation strategy allows one");
    let before = load::read(cx, id).await?;
    if before.row.is_some() && before.is_pending() {
        let ran = run::Ran::ended(cx, before, work, run::End::not_allowed(reason.clone()));
        match commit::commit(cx, hold, ran).await? {
            Committed::Done(done, after) => {
                *known = Some(*after);
                publish::publish(cx, done.outgoing).await;
            }
            Committed::Conflict | Committed::NotAllowed(_) => {
                return Err(Stop::later("the instance changed under this node".to_owned()));
            }
        }
    }
    Ok(Advance::Refused(Refusal::NotAllowed, reason))
}
