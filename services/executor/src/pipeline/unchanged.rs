//! Instead of a commit: the handling of work that changed nothing, and whether its tenure goes on.

use protocol::{Outcome, Refusal};

use super::perform::perform;
use super::settle::settle;
use crate::burst::Unchanged;
use crate::cx::Cx;
use crate::job::Tail;
use crate::reply;
use crate::stop::{Stop, Verdict};
use crate::tenure::{Origin, Tenure, TenureEnd};

/// Ends work whose burst committed nothing.
pub(crate) async fn unchanged(cx: &Cx, tenure: &mut Tenure, origin: Origin, why: Unchanged) {
    match (origin, why) {
        (Origin::Delivered(job), Unchanged::Applied) => {
            tenure.tails.push(Tail::new(job));
            go_on(cx, tenure).await;
        }
        (Origin::Delivered(job), Unchanged::Nothing) => job.end(Verdict::Ack),
        (Origin::Delivered(job), Unchanged::Refused(refusal, reason)) => {
            let outcome = reply::outcome(&tenure.id, tenure.known.as_ref());
            let outcome = Outcome { refusal: Some(refusal), message: Some(reason), ..outcome };
            reply::reply(cx, &job.command, &outcome).await;
            job.end(Verdict::Ack);
        }
        (Origin::Kept(_), _) => {}
        (Origin::Owed(_), _) => {
            tenure.pause = None;
            go_on(cx, tenure).await;
        }
    }
}

/// Repeats the steps that follow the last commit: nothing new was committed.
async fn go_on(cx: &Cx, tenure: &mut Tenure) {
    perform(cx, tenure);
    for (reply_to, outcome) in tenure.replies(None) {
        reply::send(cx, &reply_to, &outcome).await;
    }
    settle(tenure);
}

/// Ends work whose burst stopped. Owed work that failed because of a dependency is tried again
/// while the lease is held, so that a call that has its answer is not made a second time.
pub(crate) fn stopped(tenure: &mut Tenure, origin: Origin, stop: Stop) -> Option<TenureEnd> {
    let is_lost = matches!(stop, Stop::Fenced);
    match origin {
        Origin::Delivered(job) => job.stop(&stop),
        Origin::Kept(command) if !is_lost => {
            tracing::debug!(%stop, command = %command.id, "left to the sweep");
        }
        Origin::Owed(owed) if stop.is_passing() => {
            let instance = &tenure.id;
            tracing::warn!(%stop, %instance, "owed work fails, trying again");
            tenure.put_back(owed);
        }
        Origin::Owed(_) if !is_lost => {
            return Some(match stop {
                Stop::Dead(refusal, reason) | Stop::Refused(refusal, reason) => {
                    TenureEnd::Failed(refusal, reason)
                }
                stop => TenureEnd::Failed(Refusal::Dead, stop.to_string()),
            });
        }
        Origin::Kept(_) | Origin::Owed(_) => {}
    }
    is_lost.then_some(TenureEnd::Lost)
}

/// Ends work that did not get the lease, and the tenure with it.
pub(crate) fn locked_out(origin: Origin, stop: Stop) -> TenureEnd {
    match origin {
        Origin::Delivered(job) => job.stop(&stop),
        // Their rows and calls are in the database; the sweep finds them.
        Origin::Kept(_) | Origin::Owed(_) => {}
    }
    TenureEnd::LockedOut(stop)
}
