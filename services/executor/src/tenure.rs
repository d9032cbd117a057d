//! A tenure: the time in which an actor works on its instance, from taking the lease to giving it
//! back, and the data that the actor keeps meanwhile.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use model::{Backoff, BookmarkId, CommandId, InstanceId, Map, Timestamp};
use protocol::{Command, HttpAnswer, Message, Outcome, Refusal};
use store::{PendingCommand, Room, Rooms};
use tasks::Panicked;
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use crate::burst::Known;
use crate::hold::Hold;
use crate::job::{Job, Tail};
use crate::mailbox::Mailbox;
use crate::reply;
use crate::stop::{Stop, Verdict};
use crate::work::{Work, is_report, responds};

const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_LONGEST: Duration = Duration::from_secs(5);

/// The end of an outgoing call: the input that resumes its bookmark, nothing if it was not made, or a
/// panic.
pub(crate) type Answered = Result<Option<(BookmarkId, Map)>, Panicked>;

/// The data that an actor keeps while it works on its instance.
#[derive(Default)]
pub(crate) struct Tenure {
    pub(crate) id: InstanceId,
    pub(crate) hold: Hold,
    /// The instance after the last burst.
    pub(crate) known: Option<Known>,
    /// The memory that its state may take.
    pub(crate) room: Room,
    /// The version of an instance that was put down.
    version: i64,
    /// Commands that are committed and not acknowledged.
    pub(crate) tails: Vec<Tail>,
    /// Kept commands whose bookmark exists now.
    pub(crate) woken: VecDeque<Command>,
    /// The commands that were put aside in the database and taken from there.
    pub(crate) taken_aside: BTreeSet<CommandId>,
    pub(crate) calls: JoinSet<Answered>,
    pub(crate) in_flight: BTreeMap<BookmarkId, AbortHandle>,
    /// Answers of calls that are not recorded yet.
    pub(crate) results: VecDeque<(BookmarkId, Map)>,
    /// The last turn ran out of its budget: `Input::Continue` is due.
    pub(crate) unfinished: bool,
    /// Owed work waits until then, because a dependency failed.
    pub(crate) pause: Option<(Instant, Backoff)>,
    /// Owed work comes before the next command.
    pub(crate) is_owed_first: bool,
    pub(crate) traceparent: Option<String>,
    /// Nothing is left to do, and the hold has been handed over for release.
    pub(crate) is_over: bool,
}

/// The source of a piece of work, and the receiver of its result.
pub(crate) enum Origin {
    /// A delivery: the stream waits for its verdict, and its sender perhaps for the outcome.
    Delivered(Box<Job>),
    /// A command that was kept until its bookmark was there. Its row stays until it is applied.
    Kept(Box<Command>),
    /// Work that the tenure owes its instance.
    Owed(Owed),
}

/// The kinds of work that a tenure owes its instance.
pub(crate) enum Owed {
    /// The turn that ran out of its budget goes on.
    Continue,
    /// A call has its answer.
    Result(BookmarkId, Map),
}

/// The reasons why a tenure ends.
pub(crate) enum TenureEnd {
    /// Nothing is left to do.
    Idle,
    /// The lease could not be taken.
    LockedOut(Stop),
    /// Another node has taken the lease.
    Lost,
    /// The process stops.
    Stopped,
    /// Owed work can never be done.
    Failed(Refusal, String),
    /// Calls have ended without an answer.
    Stuck,
}

impl Tenure {
    pub(crate) fn new(id: InstanceId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Nothing runs and nothing waits here.
    pub(crate) fn is_idle(&self) -> bool {
        self.woken.is_empty()
            && self.results.is_empty()
            && self.in_flight.is_empty()
            && !self.unfinished
    }

    /// The instance is over, or waits for something outside.
    pub(crate) fn rests(&self) -> bool {
        self.known.as_ref().is_some_and(Known::rests)
    }

    /// Puts the instance down between two commands, if its state has no room any more or others wait for
    /// room: the next command reads it again, in its turn.
    pub(crate) fn share(&mut self, rooms: &Rooms) {
        let state_bytes = self.known.as_ref().map_or(0, |known| known.state_bytes);
        if !rooms.keeps(&mut self.room, state_bytes) {
            self.put_down();
        }
    }

    /// Puts an instance with a large state down, before a wait of any length.
    pub(crate) fn rest(&mut self) {
        if self.room.is_counted() {
            self.put_down();
        }
    }

    fn put_down(&mut self) {
        if let Some(known) = self.known.take() {
            self.version = known.version();
        }
        self.room = Room::default();
    }

    /// The work of an origin.
    pub(crate) fn work(&mut self, origin: &Origin, now: Timestamp) -> Work {
        match origin {
            Origin::Delivered(job) => {
                self.traceparent.clone_from(&job.command.traceparent);
                let responders = self.responders(Some(&job.command));
                Work { responders, ..Work::command(&job.command, job.stored_at) }
            }
            Origin::Kept(command) => {
                let responders = self.responders(None);
                Work { is_woken: true, responders, ..Work::command(command, now) }
            }
            Origin::Owed(owed) => {
                let traceparent = self.traceparent.clone();
                let work = match owed {
                    Owed::Continue => {
                        let version = self.known.as_ref().map_or(self.version, Known::version);
                        Work::proceed(&self.id, version, traceparent)
                    }
                    Owed::Result(bookmark_id, input) => {
                        Work::result(&self.id, bookmark_id.clone(), input.clone(), traceparent)
                    }
                };
                Work { responders: self.responders(None), ..work }
            }
        }
    }

    /// The work of this origin is committed.
    pub(crate) fn accept(&mut self, origin: Origin) {
        match origin {
            Origin::Delivered(job) => self.tails.push(Tail::new(job)),
            Origin::Kept(_) => {}
            Origin::Owed(_) => self.pause = None,
        }
    }

    /// The bookmark of these kept commands exists now. Commands that were added here before are not
    /// added again.
    pub(crate) fn wake(&mut self, kept: &[Message]) {
        for message in kept {
            match Command::decode(message, "") {
                Ok(command) if self.woken.iter().any(|woken| woken.id == command.id) => {}
                Ok(command) => self.woken.push_back(command),
                Err(error) => tracing::error!(%error, "a kept command cannot be read"),
            }
        }
    }

    /// Adds commands that were put aside, without those that were taken before; false if there is no
    /// other.
    pub(crate) fn take_aside(&mut self, kept: Vec<PendingCommand>) -> bool {
        let new = kept.into_iter().filter(|kept| self.taken_aside.insert(kept.id.clone()));
        let new: Vec<_> = new.map(|kept| kept.command).collect();
        self.wake(&new);
        !new.is_empty()
    }

    /// Owed work that is due.
    pub(crate) fn owed(&mut self) -> Option<Owed> {
        if self.pause.is_some_and(|(until, _)| Instant::now() < until) {
            return None;
        }
        let owed = match self.results.pop_front() {
            Some((bookmark_id, input)) => Owed::Result(bookmark_id, input),
            None if self.unfinished => Owed::Continue,
            None => return None,
        };
        self.is_owed_first = false;
        Some(owed)
    }

    /// Owed work failed for now: it is due again after a pause that grows.
    pub(crate) fn put_back(&mut self, owed: Owed) {
        if let Owed::Result(bookmark_id, input) = owed {
            self.results.push_front((bookmark_id, input));
        }
        let first = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
        let mut backoff = self.pause.map_or(first, |(_, backoff)| backoff);
        self.pause = Some((Instant::now() + backoff.next(), backoff));
    }

    /// Collects the answers of calls that have arrived.
    pub(crate) fn collect(&mut self) {
        while let Some(answer) = self.calls.try_join_next() {
            self.answered(answer);
        }
    }

    pub(crate) fn answered(&mut self, answer: Result<Answered, JoinError>) {
        match answer {
            Ok(Ok(Some((bookmark_id, input)))) => {
                // The call was cancelled, so its answer is not needed.
                if self.in_flight.remove(&bookmark_id).is_some() {
                    self.results.push_back((bookmark_id, input));
                }
            }
            // The command is delivered again, and the call is repeated with the same key.
            Ok(Ok(None) | Err(_)) => self.in_flight.retain(|_, call| !call.is_finished()),
            // The call was cancelled.
            Err(_) => {}
        }
    }

    /// The commands whose HTTP clients wait for the response of `WriteHttpResponse`.
    fn responders(&self, command: Option<&Command>) -> Vec<CommandId> {
        let waiting = self.tails.iter().filter(|tail| !tail.is_answered()).map(Tail::command);
        let all = waiting.chain(command).filter(|command| responds(command));
        all.map(|command| command.id.clone()).collect()
    }

    /// The outcomes that are due now: (subject, outcome).
    pub(crate) fn replies(&mut self, answer: Option<HttpAnswer>) -> Vec<(String, Outcome)> {
        let Some(known) = &self.known else { return Vec::new() };
        let rests = known.rests();
        let mut replies = Vec::new();
        for tail in &mut self.tails {
            let kept = known.record.answer_for(&tail.command().id);
            let answer = answer.as_ref().filter(|_| responds(tail.command())).or(kept).cloned();
            if let Some(reply_to) = tail.answer(rests, answer.is_some()) {
                let mut outcome = reply::with_answer(reply::outcome(&self.id, Some(known)), answer);
                // The report of a worker, which counts the instances as an event does.
                outcome.affected = is_report(tail.command()).then_some(1);
                replies.push((reply_to, outcome));
            }
        }
        replies
    }

    pub(crate) fn end_tails(&mut self, verdict: impl Fn() -> Verdict) {
        for tail in self.tails.drain(..) {
            tail.end(verdict());
        }
    }

    /// Ends the tenure if no work is left, here, in the mailbox or put aside: returns the hold, which
    /// is to be released.
    pub(crate) fn leave(&mut self, mailbox: &Mailbox, has_aside: bool) -> Option<Hold> {
        if !(self.is_idle() && mailbox.is_empty()) || has_aside {
            return None;
        }
        self.is_over = true;
        Some(std::mem::take(&mut self.hold))
    }
}
