//! The meaning of a command for an instance: the rules of starting, resuming and cancelling. Pure.

use engine::{Alter, Fence, Input, Resume};
use model::{Alteration, Instance, SubStatus};
use protocol::{Body, LostTask, Perform, Refusal};

use crate::burst::Known;
use crate::record::Order;
use crate::work::{Cause, Work};

/// The meaning of a piece of work for an instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A turn with this input.
    Turn(Input),
    /// The first turn.
    Start,
    /// The instance ends without a first turn.
    CancelPending,
    /// The command was applied before, or its tenure already owes the instance the rest of its
    /// work.
    Tail,
    /// It changes nothing, and nobody needs an answer.
    Nothing,
    /// It changes nothing, for this reason.
    Refuse(Refusal, String),
    /// It is kept until there is a bookmark for it.
    Wait,
    /// Earlier commands of the same sender are still missing.
    Early {
        /// The number that is due.
        due: u64,
    },
    /// There is no such instance.
    Unknown,
}

/// Decides what the work means for the instance.
pub(crate) fn decide(known: &Known, work: &Work) -> Meaning {
    if known.record.has_applied(&work.id) {
        return Meaning::Tail;
    }
    match work.sequence.as_ref().map(|sequence| known.record.order(sequence)) {
        Some(Order::Past) => {
            let reason = "a command of this sender with this or a later number was applied before";
            return Meaning::Refuse(Refusal::AlreadyDone, reason.to_owned());
        }
        Some(Order::Early { due }) => return Meaning::Early { due },
        Some(Order::Next) | None => {}
    }
    match &work.cause {
        Cause::Command(body) => asked(known, body, work),
        Cause::Continue if known.record.has_turn_to_go_on() => Meaning::Turn(Input::Continue),
        Cause::Continue => Meaning::Nothing,
        Cause::CallEnded { bookmark_id, input } => {
            if !known.record.state.calls.contains_key(bookmark_id) {
                return Meaning::Nothing;
            }
            Meaning::Turn(Input::Resume(Resume {
                bookmark_id: bookmark_id.clone(),
                input: input.clone(),
                responds: !work.responders.is_empty(),
            }))
        }
    }
}

fn asked(known: &Known, body: &Body, work: &Work) -> Meaning {
    match body {
        Body::Start(_) => start(known, work),
        Body::Resume(resume) => resumed(known, resume, work),
        Body::Cancel(cancel) => cancelled(known, cancel.reason.clone()),
        Body::Alter(alter) => altered(known, alter),
        Body::Perform(Perform { lost: Some(lost), .. }) => hands_out_again(known, lost),
        Body::Perform(_) => match &known.row {
            Some(row) if row.status == SubStatus::Executing => Meaning::Tail,
            _ => Meaning::Nothing,
        },
        // Events and tasks are routed first; an instance gets them as a resume or a start.
        Body::Event(_) | Body::Task(_) => Meaning::Nothing,
    }
}

fn hands_out_again(known: &Known, lost: &LostTask) -> Meaning {
    let record = &known.record;
    let is_open = record.open().any(|open| open.id == lost.bookmark_id);
    let input = record.state.lost_task(&lost.bookmark_id, lost.before).filter(|_| is_open);
    let Some(input) = input else { return Meaning::Nothing };
    let bookmark_id = lost.bookmark_id.clone();
    Meaning::Turn(Input::Resume(Resume { bookmark_id, input, responds: false }))
}

fn start(known: &Known, work: &Work) -> Meaning {
    let Some(row) = &known.row else { return Meaning::Start };
    if !known.is_pending() {
        let reason = format!("instance {} exists already: it is {}", row.id, row.status);
        return Meaning::Refuse(Refusal::AlreadyDone, reason);
    }
    if known.accepted.as_ref().is_none_or(|accepted| *accepted == work.id) {
        return Meaning::Start;
    }
    let reason = format!("instance {} was started by another command", row.id);
    Meaning::Refuse(Refusal::AlreadyDone, reason)
}

fn resumed(known: &Known, resume: &protocol::Resume, work: &Work) -> Meaning {
    let Some(row) = &known.row else { return Meaning::Unknown };
    let refuse = |refusal, reason| Meaning::Refuse(refusal, reason);
    if row.status.is_final() {
        return refuse(Refusal::AlreadyDone, over(row));
    }
    let record = &known.record;
    let bookmark = match &resume.bookmark_id {
        Some(id) => match record.open().find(|open| open.id == *id) {
            Some(bookmark) => bookmark,
            None if record.state.calls.contains_key(id) => {
                let reason = format!("bookmark {id} waits for the answer of an outgoing call");
                return refuse(Refusal::StillRunning, reason);
            }
            None if known.is_pending() || record.state.is_paused => return Meaning::Wait,
            None => {
                let reason = format!("bookmark {id} of instance {} is not open", row.id);
                return refuse(Refusal::AlreadyDone, reason);
            }
        },
        None => {
            let open: Vec<_> = record.open().filter(|open| open.due_at.is_none()).collect();
            match open.as_slice() {
                [bookmark] => *bookmark,
                [] if known.is_pending() || record.state.is_paused => return Meaning::Wait,
                [] => {
                    let reason = format!(
                        "instance {} is {} and has no bookmark that can be resumed without naming it",
                        row.id, row.status
                    );
                    return refuse(Refusal::StillRunning, reason);
                }
                several => {
                    let ids: Vec<_> = several.iter().map(|open| open.id.as_str()).collect();
                    let reason = format!(
                        "instance {} waits at several bookmarks: name one of {}",
                        row.id,
                        ids.join(", ")
                    );
                    return refuse(Refusal::Ambiguous, reason);
                }
            }
        }
    };
    if resume.due_at.is_some() && resume.due_at != bookmark.due_at {
        let reason = format!("bookmark {} is not due at that time any more", bookmark.id);
        return refuse(Refusal::AlreadyDone, reason);
    }
    if let Some(event) = &resume.event_id
        && !record.may_take(event, &bookmark.id)
    {
        let reason = format!("instance {} has taken event {event} before", row.id);
        return refuse(Refusal::AlreadyDone, reason);
    }
    match record.state.fence(&bookmark.id, &resume.input) {
        Some(Fence::Attempt(reason)) => return refuse(Refusal::AlreadyDone, reason),
        Some(Fence::Kind(reason)) => return refuse(Refusal::NotFound, reason),
        None => {}
    }
    Meaning::Turn(Input::Resume(Resume {
        bookmark_id: bookmark.id.clone(),
        input: resume.input.clone(),
        responds: !work.responders.is_empty(),
    }))
}

/// The reason for a command whose instance is over.
pub(crate) fn over(row: &Instance) -> String {
    format!("instance {} is over: it is {}", row.id, row.status)
}

fn cancelled(known: &Known, reason: Option<String>) -> Meaning {
    let Some(row) = &known.row else { return Meaning::Unknown };
    if row.status.is_final() {
        return Meaning::Refuse(Refusal::AlreadyDone, over(row));
    }
    if known.is_pending() {
        return Meaning::CancelPending;
    }
    Meaning::Turn(Input::Cancel { reason })
}

fn altered(known: &Known, alter: &protocol::Alter) -> Meaning {
    let Some(row) = &known.row else { return Meaning::Unknown };
    if known.is_pending() {
        if let [Alteration::Cancel { .. }] = alter.alterations.as_slice() {
            return Meaning::CancelPending;
        }
        let reason = format!("instance {} has not run yet: alter it when it has", row.id);
        return Meaning::Refuse(Refusal::StillRunning, reason);
    }
    Meaning::Turn(Input::Alter(Alter { alterations: alter.alterations.clone(), from: None }))
}

#[cfg(test)]
mod tests;
