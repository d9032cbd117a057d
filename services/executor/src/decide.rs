//! What a command means for an instance as it stands: the rules of starting, resuming and
//! cancelling. Pure; whoever calls it has loaded the instance and still has to commit.

use engine::{Input, Resume};
use model::{CommandId, Instance, SubStatus};
use protocol::{Body, Message, Refusal, header};

use crate::record::{Place, Record};
use crate::work::{What, Work};

/// An instance as its holder knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// None while nothing is stored.
    pub(crate) row: Option<Instance>,
    /// The accepted start, while the instance is pending.
    pub(crate) accepted: Option<CommandId>,
    pub(crate) record: Record,
    pub(crate) sight: Sight,
}

/// How far what is known can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It was read or written under the lease.
    #[default]
    Sure,
    /// It was read while the lease was asked for: good for what the commit will check, and for
    /// nothing else.
    Early,
    /// Nobody has looked: it is taken for one that has not been run.
    None,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// A turn with this input.
    Turn(Input),
    /// The first turn.
    Start,
    /// The instance ends without a first turn.
    CancelPending,
    /// The command was applied before, or what is left of it is what its holder owes anyway.
    Tail,
    /// Nothing, and nobody needs to know.
    Nothing,
    /// Nothing, for this reason.
    Refuse(Refusal, String),
    /// It is kept until there is a bookmark for it.
    Wait,
    /// Commands of the same sender come before it.
    Early {
        /// The number that is due.
        due: u64,
    },
    /// There is no such instance.
    Unknown,
}

impl Known {
    /// One that nobody has looked for.
    pub(crate) fn unseen() -> Self {
        Self { sight: Sight::None, ..Self::default() }
    }

    /// 0 before the first commit.
    pub(crate) fn version(&self) -> i64 {
        self.row.as_ref().map_or(0, |row| row.version)
    }

    /// Nothing has been run yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.row.as_ref().is_none_or(|row| row.status == SubStatus::Pending)
    }

    /// It is over, or waits for something outside.
    pub(crate) fn rests(&self) -> bool {
        !self.is_pending() && !self.record.unfinished && self.record.state.calls.is_empty()
    }
}

/// The id a message's command has, where the message says so.
pub(crate) fn id_of(message: &Message) -> Option<CommandId> {
    message.header(header::COMMAND_ID).or(message.id()).map(CommandId::new)
}

/// Decides what the work means for the instance.
pub(crate) fn decide(known: &Known, work: &Work) -> Decision {
    if known.record.has_applied(&work.id) {
        return Decision::Tail;
    }
    match work.sequence.as_ref().map(|sequence| known.record.place(sequence)) {
        Some(Place::Past) => {
            let reason = "a command of this sender with this or a later number was applied before";
            return Decision::Refuse(Refusal::AlreadyDone, reason.to_owned());
        }
        Some(Place::Early { due }) => return Decision::Early { due },
        Some(Place::Next) | None => {}
    }
    match &work.what {
        What::Command(body) => asked(known, body, work),
        What::Continue if known.record.unfinished => Decision::Turn(Input::Continue),
        What::Continue => Decision::Nothing,
        What::Result { bookmark_id, input } => {
            if !known.record.state.calls.contains_key(bookmark_id) {
                return Decision::Nothing;
            }
            Decision::Turn(Input::Resume(Resume {
                bookmark_id: bookmark_id.clone(),
                input: input.clone(),
                responds: !work.responders.is_empty(),
            }))
        }
    }
}

fn asked(known: &Known, body: &Body, work: &Work) -> Decision {
    match body {
        Body::Start(_) => start(known, work),
        Body::Resume(resume) => resumed(known, resume, work),
        Body::Cancel(cancel) => cancelled(known, cancel.reason.clone()),
        Body::Perform(_) => match &known.row {
            Some(row) if row.status == SubStatus::Executing => Decision::Tail,
            _ => Decision::Nothing,
        },
        // Events and tasks are looked up first; what reaches an instance is a resume or a start.
        Body::Event(_) | Body::Task(_) => Decision::Nothing,
    }
}

fn start(known: &Known, work: &Work) -> Decision {
    let Some(row) = &known.row else { return Decision::Start };
    if !known.is_pending() {
        let reason = format!("instance {} exists already: it is {}", row.id, row.status);
        return Decision::Refuse(Refusal::AlreadyDone, reason);
    }
    if known.accepted.as_ref().is_none_or(|accepted| *accepted == work.id) {
        return Decision::Start;
    }
    let reason = format!("instance {} was started by another command", row.id);
    Decision::Refuse(Refusal::AlreadyDone, reason)
}

fn resumed(known: &Known, resume: &protocol::Resume, work: &Work) -> Decision {
    let Some(row) = &known.row else { return Decision::Unknown };
    let refuse = |refusal, reason| Decision::Refuse(refusal, reason);
    if row.status.is_final() {
        let reason = format!("instance {} is over: it is {}", row.id, row.status);
        return refuse(Refusal::AlreadyDone, reason);
    }
    let record = &known.record;
    let bookmark = match &resume.bookmark_id {
        Some(id) => match record.open().find(|open| open.id == *id) {
            Some(bookmark) => bookmark,
            None if record.state.calls.contains_key(id) => {
                let reason = format!("bookmark {id} waits for the answer of an outgoing call");
                return refuse(Refusal::StillRunning, reason);
            }
            None if known.is_pending() => return Decision::Wait,
            None => {
                let reason = format!("bookmark {id} of instance {} is not open", row.id);
                return refuse(Refusal::AlreadyDone, reason);
            }
        },
        None => {
            let open: Vec<_> = record.open().filter(|open| open.due_at.is_none()).collect();
            match open.as_slice() {
                [bookmark] => *bookmark,
                [] if known.is_pending() => return Decision::Wait,
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
    Decision::Turn(Input::Resume(Resume {
        bookmark_id: bookmark.id.clone(),
        input: resume.input.clone(),
        responds: !work.responders.is_empty(),
    }))
}

fn cancelled(known: &Known, reason: Option<String>) -> Decision {
    let Some(row) = &known.row else { return Decision::Unknown };
    if row.status.is_final() {
        let reason = format!("instance {} is over: it is {}", row.id, row.status);
        return Decision::Refuse(Refusal::AlreadyDone, reason);
    }
    if known.is_pending() {
        return Decision::CancelPending;
    }
    Decision::Turn(Input::Cancel { reason })
}

#[cfg(test)]
mod tests;
