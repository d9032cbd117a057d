//! Waits for the outcome of a command, as long as the caller is willing to wait.

use std::time::Duration;

use axum::http::StatusCode;
use model::{CommandId, InstanceId, SubStatus};
use protocol::{Outcome, Refusal, ReplyWhen};
use store::AuditOutcome;
use tokio::time::Instant;

use super::identify::Asking;
use super::publish::PublishEnd;
use crate::app::App;
use crate::backing::Part;
pub(crate) use crate::waiters::Wait;
use crate::{executors, record};

/// When the row is looked at for the first time while no outcome comes: in the time in which
/// readiness notices a failure.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// The longest wait of the caller, and the point that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// The caller does not wait.
    None,
    /// The caller waits until this point, for this time at most.
    Until(ReplyWhen, Duration),
}

impl Patience {
    /// The longest wait.
    pub(super) fn time(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Until(_, time) => time,
        }
    }

    /// The wait that is left after some time.
    pub(super) fn less(self, spent: Duration) -> Self {
        match self {
            Self::None => Self::None,
            Self::Until(when, time) => Self::Until(when, time.saturating_sub(spent)),
        }
    }
}

/// The result of the wait.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The outcome.
    Outcome(Box<Outcome>),
    /// The change is accepted, and will be carried out.
    Accepted,
    /// The change is accepted, but was not carried out while the caller waited.
    Late,
    /// The change is carried out, and the instance has the result: the same idempotency key was
    /// used before, the outcome was too large for a message, or it did not arrive.
    Done,
}

impl Reply {
    /// What it says about the command, and why the command was refused.
    pub(crate) fn end(&self) -> (AuditOutcome, Option<Refusal>) {
        let refusal = match self {
            Self::Accepted | Self::Late => return (AuditOutcome::Accepted, None),
            Self::Done => None,
            Self::Outcome(outcome) => outcome.refusal,
        };
        match refusal {
            None => (AuditOutcome::Done, None),
            Some(Refusal::Waiting) => (AuditOutcome::Accepted, None),
            Some(refusal) => (AuditOutcome::Refused, Some(refusal)),
        }
    }
}

/// The wait for a command's outcome, begun before an outcome can be sent.
pub(crate) fn expect(app: &App, asking: &Asking, patience: Patience) -> Option<Wait> {
    match patience {
        Patience::None => None,
        Patience::Until(..) => Some(app.waiters.expect(&asking.id)),
    }
}

/// A published command: its id, and its instance.
pub(crate) struct Sent<'a> {
    pub(super) id: &'a CommandId,
    pub(super) instance_id: Option<&'a InstanceId>,
    pub(super) publish_end: PublishEnd,
}

/// Waits for the outcome of a command, as long as the caller is willing to wait, and only while it can
/// be carried out.
pub(crate) async fn wait(
    app: &App,
    sent: Sent<'_>,
    wait: Option<Wait>,
    patience: Patience,
) -> Reply {
    let (Some(wait), Patience::Until(when, time)) = (wait, patience) else {
        return Reply::Accepted;
    };
    // No outcome will come soon: the sweep has to publish the command, or another node waits for
    // it.
    let is_under_way = sent.publish_end == PublishEnd::Now || wait.has_company();
    if !is_under_way {
        return Reply::Accepted;
    }
    tokio::select! {
        biased;
        reply = heard_or_seen(app, &sent, wait, when, time) => reply,
        () = hopeless(app) => last_look(app, &sent, when).await,
        () = app.drained() => Reply::Accepted,
    }
}

/// Completes when no outcome will come soon: no executor runs, all are paused, or NATS or the database
/// does not answer.
async fn hopeless(app: &App) {
    tokio::select! {
        () = executors::missing(&app.cx.presence, &app.paused) => {}
        () = app.backing.lost() => {}
    }
}

/// The end of a wait that is given up: the outcome may be lost, and the command carried out.
async fn last_look(app: &App, sent: &Sent<'_>, when: ReplyWhen) -> Reply {
    match tokio::time::timeout(FIRST_LOOK, unheard(app, sent, when)).await {
        Ok(Some(Reply::Done)) => Reply::Done,
        Ok(_) | Err(_) => Reply::Accepted,
    }
}

/// Waits for the outcome. It is sent once, and a broker that dies may take it along: so the row is
/// looked at from time to time, ever more rarely.
async fn heard_or_seen(
    app: &App,
    sent: &Sent<'_>,
    mut wait: Wait,
    when: ReplyWhen,
    time: Duration,
) -> Reply {
    let until = Instant::now() + time;
    let mut pause = FIRST_LOOK;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if let Some(outcome) = wait.for_a_moment(left.min(pause)).await {
            return of_outcome(outcome);
        }
        let Some(seen) = unheard(app, sent, when).await else { return Reply::Accepted };
        if left <= pause || matches!(seen, Reply::Done) {
            return seen;
        }
        pause *= 2;
    }
}

/// An outcome that was too large for a message only reports that the command is done: the rest is
/// read from the instance, as after a repeat.
pub(super) fn of_outcome(outcome: Outcome) -> Reply {
    let is_whole = !outcome.is_cut || outcome.refusal.is_some() || outcome.response.is_some();
    if is_whole { Reply::Outcome(Box::new(outcome)) } else { Reply::Done }
}

/// No outcome has come: it may be lost, or too large to be sent. The row shows whether the command
/// is applied. `None` if the database does not answer: nothing is carried out then.
async fn unheard(app: &App, sent: &Sent<'_>, when: ReplyWhen) -> Option<Reply> {
    let Some(instance_id) = sent.instance_id else { return Some(Reply::Late) };
    // The caller waits for the outcome, and not for room.
    let reply = match record::find_within(app, instance_id, Duration::ZERO).await {
        Ok(Some(seen)) if seen.has_applied(sent.id) => {
            let is_settled = seen.status().is_final()
                || seen.answer_for(sent.id).is_some()
                || seen.status() == SubStatus::Suspended && !seen.resumable().is_empty();
            if when == ReplyWhen::Committed || is_settled { Reply::Done } else { Reply::Late }
        }
        Ok(_) => Reply::Late,
        Err(problem) if problem.is("overloaded") => Reply::Late,
        Err(problem) => {
            if problem.status() == StatusCode::SERVICE_UNAVAILABLE {
                app.backing.note(Part::Database, false);
            }
            return None;
        }
    };
    Some(reply)
}
