//! command in -> lock -> load -> run -> commit -> perform -> publish, release -> settle
//!
//! [`apply`] is that path; each verb has its own file, and so has each exception: a burst that
//! commits nothing (`unchanged`), an accepted start that hits a bug (`end_pending`), a command that
//! was applied before (`again`), that changes nothing (`refuse`), that comes too early (`keep`), or
//! that an activation strategy forbids (`not_allowed`). The types enforce the order: `Ready` comes
//! only from `load`, and `Outgoing` only from `commit`, so "publish before commit" does not
//! compile. [`crate::actor`] decides which work comes next.

mod again;
mod alter;
mod child;
mod commit;
pub(crate) mod decide;
mod draft;
mod end_pending;
mod fetch;
pub(crate) mod keep;
pub(crate) mod load;
mod lock;
mod messages;
mod not_allowed;
mod observe;
mod perform;
pub(crate) mod publish;
mod refuse;
mod release;
mod run;
pub(crate) mod settle;
mod unchanged;

use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::burst::{Known, Unchanged};
use crate::cx::Cx;
use crate::mailbox::Mailbox;
use crate::reply;
use crate::stop::Stop;
use crate::tenure::{Origin, Tenure, TenureEnd};
use crate::work::{Cause, Work};
use commit::{Committed, Done, commit};
use fetch::Fetched;
use load::{Found, load, read_in_turn};
use lock::{lock, lock_again};
use perform::perform;
use publish::publish;
use release::release;
use run::{End, run};
use settle::settle;
use unchanged::{locked_out, stopped, unchanged};

/// The number of times that a burst with a version conflict is run again before its command is sent
/// back.
const CONFLICTS_MAX: usize = 16;

/// The result of a burst.
enum Burst {
    Committed(Box<Done>),
    Unchanged(Unchanged),
}

/// Processes one piece of work from the lock to the acknowledgement. Returns the reason if the
/// tenure ends with it.
///
/// The release is sent first, so that a node that is woken by a published message or an answer does
/// not meet a busy lease. No later step depends on its success, so none waits for it. Release and
/// publish come before the acknowledgement: after a crash in between, the command is delivered
/// again and is found to have been applied.
pub(crate) async fn apply(
    cx: &Cx,
    tenure: &mut Tenure,
    mailbox: &Mailbox,
    origin: Origin,
) -> Option<TenureEnd> {
    let work = tenure.work(&origin, cx.now());
    let span = span(tenure, &work);
    if let Err(stop) = lock(cx, tenure, &origin).instrument(span.clone()).await {
        cx.note(&stop);
        return Some(locked_out(origin, stop));
    }
    let done = match burst(cx, tenure, &work, span).await {
        Ok(Burst::Committed(done)) => *done,
        Ok(Burst::Unchanged(why)) => {
            unchanged(cx, tenure, origin, why).await;
            return None;
        }
        Err(stop) => {
            cx.note(&stop);
            return stopped(tenure, origin, stop);
        }
    };
    tenure.accept(origin);
    tenure.wake(&done.woken);
    perform(cx, tenure);
    let released = tenure.leave(mailbox, cx.mailboxes.has_aside(&tenure.id));
    let replies = tenure.replies(done.answer);
    let releasing = release(cx, released, tenure.traceparent.as_deref());
    tokio::join!(releasing, publish(cx, done.outgoing), reply::send_all(cx, replies));
    settle(tenure);
    None
}

/// The span of a burst, which begins with the wait for its lease.
fn span(tenure: &Tenure, work: &Work) -> Span {
    let trace = work.trace();
    let span = tracing::info_span!("burst", instance = %tenure.id, command = %work.id, trace);
    chassis::link(&span, work.traceparent.as_deref());
    span
}

/// One burst, with one of the node's permits for bursts, within its span. An instance with a large state
/// waits for its memory before the permits, so that the others go on meanwhile.
async fn burst(cx: &Cx, tenure: &mut Tenure, work: &Work, span: Span) -> Result<Burst, Stop> {
    let began = Instant::now();
    let advanced = async {
        if tenure.hold.is_taken() && tenure.known.is_none() {
            tenure.known = Some(read_in_turn(cx, &tenure.id, &mut tenure.room).await?);
        }
        // This permit comes before the permit for the burst: bursts that continue others wait for
        // each other, and hold no permit meanwhile.
        let long = match work.cause {
            Cause::Continue => Some(cx.long_turn_permit().await?),
            Cause::Command(_) | Cause::CallEnded { .. } => None,
        };
        let permit = cx.burst_permit().await?;
        let traced = chassis::inject();
        let work = Work { traceparent: traced.or(work.traceparent.clone()), ..work.clone() };
        // What follows from this burst, such as its calls, belongs to it.
        tenure.traceparent.clone_from(&work.traceparent);
        let advanced = advance(cx, tenure, &work).await;
        drop((permit, long));
        advanced
    };
    let advanced = advanced.instrument(span.clone()).await;
    // Its lines belong to the trace, too.
    let _within = span.enter();
    match &advanced {
        Ok(Burst::Committed(done)) => {
            observe::committed(tenure, done.is_change, work, began.elapsed());
        }
        Ok(Burst::Unchanged(_)) => {}
        Err(stop) => {
            observe::stopped(tenure, work, stop);
            tenure.known = None;
        }
    }
    advanced
}

/// From load to commit; repeated if another writer has changed the instance meanwhile.
async fn advance(cx: &Cx, tenure: &mut Tenure, work: &Work) -> Result<Burst, Stop> {
    // Without the lease the instance is assumed to be new, and is not read.
    if !tenure.hold.is_taken() {
        tenure.known = Some(Known::unseen());
    }
    let mut is_kept = false;
    let mut contents = Fetched::default();
    for _ in 0..CONFLICTS_MAX {
        let Tenure { id, known, room, .. } = &mut *tenure;
        let found = load(cx, id, known, room, work).await?;
        let ran = match found {
            Found::Ready(ready) => match run(cx, ready, contents.there()).await {
                Err(Stop::Bug(bug)) => end_pending::end_pending(cx, tenure, work, bug).await?,
                Ok(End::Ran(ran)) => *ran,
                Ok(End::Wants(wanted)) => {
                    contents.fetch(cx, wanted).await?;
                    lock_again(cx, tenure).await?;
                    continue;
                }
                Ok(End::Again) => {
                    lock_again(cx, tenure).await?;
                    continue;
                }
                Err(stop) => return Err(stop),
            },
            Found::Ended(ran) => *ran,
            Found::Applied => return again::again(cx, work).await.map(Burst::Unchanged),
            Found::Nothing => return Ok(Burst::Unchanged(Unchanged::Nothing)),
            Found::Refused(refusal, reason) => {
                let refused = Box::pin(refuse::refuse(cx, tenure, work, refusal, reason)).await;
                return refused.map(Burst::Unchanged);
            }
            Found::TooEarly if is_kept => return Ok(Burst::Unchanged(Unchanged::kept())),
            Found::TooEarly => {
                keep::keep(cx, work).await?;
                tenure.known = None;
                is_kept = true;
                continue;
            }
            Found::Unseen => {
                lock_again(cx, tenure).await?;
                continue;
            }
        };
        match commit(cx, tenure, ran).await? {
            Committed::Done(done) => return Ok(Burst::Committed(done)),
            Committed::Conflict => lock_again(cx, tenure).await?,
            Committed::NotAllowed(by) => {
                let refused = Box::pin(not_allowed::not_allowed(cx, tenure, work, by)).await;
                return refused.map(Burst::Unchanged);
            }
        }
    }
    Err(Stop::later(format!("instance {} keeps changing under this node", tenure.id)))
}
