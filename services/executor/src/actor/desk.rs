//! What an actor remembers while it has the lease: the instance, the commands that are not done
//! with, the calls under way and their answers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use model::{BookmarkId, CommandId, InstanceId, Map};
use protocol::{Command, HttpAnswer, Outcome};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use super::tail::Tail;
use crate::decide::Known;
use crate::pipeline::settle::Verdict;
use crate::reply;
use crate::work::responds;

const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_LONGEST: Duration = Duration::from_secs(5);

/// What an actor remembers while it has the lease.
#[derive(Default)]
pub(super) struct Desk {
    /// The instance after the last burst.
    pub(super) known: Option<Known>,
    /// Commands that are committed, and whose senders or calls are not done with.
    pub(super) tails: Vec<Tail>,
    /// Commands that waited for a bookmark which is there now.
    pub(super) woken: VecDeque<Command>,
    /// Answers of calls that are not recorded yet.
    pub(super) results: VecDeque<(BookmarkId, Map)>,
    pub(super) calls: JoinSet<(BookmarkId, Map)>,
    pub(super) in_flight: BTreeMap<BookmarkId, AbortHandle>,
    /// `Input::Continue` is due.
    pub(super) unfinished: bool,
    /// Own work waits until then, because the world failed it.
    pub(super) pause: Option<(Instant, Duration)>,
    /// Own work has its turn before the next command.
    pub(super) own_turn: bool,
    pub(super) traceparent: Option<String>,
}

/// What an actor owes its instance.
pub(super) enum Own {
    Continue,
    Result(BookmarkId, Map),
}

impl Desk {
    /// Nothing runs and nothing waits here.
    pub(super) fn is_idle(&self) -> bool {
        self.woken.is_empty()
            && self.results.is_empty()
            && self.in_flight.is_empty()
            && !self.unfinished
    }

    /// A command that waited has its bookmark, unless it is here for another one already.
    pub(super) fn wake(&mut self, command: Command) {
        if !self.woken.iter().any(|woken| woken.id == command.id) {
            self.woken.push_back(command);
        }
    }

    /// Own work that is due.
    pub(super) fn owed(&mut self) -> Option<Own> {
        if self.pause.is_some_and(|(until, _)| Instant::now() < until) {
            return None;
        }
        if let Some((bookmark_id, input)) = self.results.pop_front() {
            return Some(Own::Result(bookmark_id, input));
        }
        self.unfinished.then_some(Own::Continue)
    }

    pub(super) fn put_back(&mut self, own: Own) {
        if let Own::Result(bookmark_id, input) = own {
            self.results.push_front((bookmark_id, input));
        }
        let pause = self.pause.map_or(PAUSE_FIRST, |(_, pause)| (pause * 2).min(PAUSE_LONGEST));
        self.pause = Some((Instant::now() + pause, pause));
    }

    /// Takes the answers that are there.
    pub(super) fn collect(&mut self) {
        while let Some(answer) = self.calls.try_join_next() {
            self.answered(answer);
        }
    }

    pub(super) fn answered(&mut self, answer: Result<(BookmarkId, Map), JoinError>) {
        match answer {
            Ok((bookmark_id, input)) => {
                // One that was given up is nobody's any more.
                if self.in_flight.remove(&bookmark_id).is_some() {
                    self.results.push_back((bookmark_id, input));
                }
            }
            Err(error) if error.is_panic() => {
                tracing::error!(%error, "an outgoing call panicked");
                self.in_flight.retain(|_, call| !call.is_finished());
            }
            Err(_) => {}
        }
    }

    /// Whose HTTP clients wait for what `WriteHttpResponse` says.
    pub(super) fn responders(&self, command: Option<&Command>) -> Vec<CommandId> {
        let waiting = self.tails.iter().filter(|tail| !tail.is_told()).map(Tail::command);
        let all = waiting.chain(command).filter(|command| responds(command));
        all.map(|command| command.id.clone()).collect()
    }

    /// The outcomes that are due now: (where to, what).
    pub(super) fn replies(
        &mut self,
        id: &InstanceId,
        answer: Option<HttpAnswer>,
    ) -> Vec<(String, Outcome)> {
        let Some(known) = &self.known else { return Vec::new() };
        let rests = known.rests();
        let mut replies = Vec::new();
        for tail in &mut self.tails {
            let kept = known.record.answer_for(&tail.command().id);
            let answer = answer.as_ref().filter(|_| responds(tail.command())).or(kept).cloned();
            if let Some(reply_to) = tail.tell(rests, answer.is_some()) {
                let outcome = reply::with_answer(reply::outcome(id, Some(known)), answer);
                replies.push((reply_to, outcome));
            }
        }
        replies
    }

    pub(super) fn end_tails(&mut self, verdict: impl Fn() -> Verdict) {
        for tail in self.tails.drain(..) {
            tail.end(verdict());
        }
    }
}
