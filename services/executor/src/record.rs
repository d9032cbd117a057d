//! What an instance's row keeps in its `state` column: the engine's state, and what tells a
//! redelivered command from a new one. MessagePack with named fields, so that readers may look at
//! `state` alone and a newer version may add to it.

use std::collections::VecDeque;

use engine::State;
use model::{BookmarkId, CommandId, InstanceId, limits};
use protocol::{HttpAnswer, Sequence};
use serde::{Deserialize, Serialize};

/// Senders whose order is remembered in one instance.
const SENDERS_MAX: usize = 1_000;
/// Larger answers for an HTTP client are not kept for a redelivery.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The content of `Instance::state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The engine's.
    pub state: State,
    /// Ids of the commands that were applied last.
    pub applied: VecDeque<CommandId>,
    /// Events that were taken last.
    pub events: VecDeque<TakenEvent>,
    /// How far each sender with an order has come, the most recent last.
    pub sequences: Vec<Sequence>,
    /// Held while the instance is unfinished.
    pub activation_key: Option<String>,
    /// The last turn ran out of its budget: `Input::Continue` is due.
    pub unfinished: bool,
    /// What the last `WriteHttpResponse` said, and to whom.
    pub answer: Option<KeptAnswer>,
}

/// An event that was taken at one of its bookmarks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TakenEvent {
    /// The event command's id.
    pub id: CommandId,
    /// Other bookmarks that waited for it at that time, and have not taken it yet.
    pub others: Vec<BookmarkId>,
}

/// An answer that may have to be given again, after a crash between commit and reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// Who was answered.
    pub commands: Vec<CommandId>,
    /// With what.
    pub answer: HttpAnswer,
}

/// Where a command stands in its sender's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the next.
    Next,
    /// It, or one after it, was applied.
    Past,
    /// Others come before it; this number is due.
    Early {
        /// The next number.
        due: u64,
    },
}

impl Record {
    /// Reads a row's state; an empty one is a fresh record.
    ///
    /// # Errors
    /// When the bytes are no record.
    pub fn decode(bytes: &[u8]) -> Result<Self, rmp_serde::decode::Error> {
        if bytes.is_empty() { Ok(Self::default()) } else { rmp_serde::from_slice(bytes) }
    }

    /// Writes a row's state.
    ///
    /// # Errors
    /// When a value has no form in MessagePack.
    pub fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        rmp_serde::to_vec_named(self)
    }

    pub(crate) fn has_applied(&self, id: &CommandId) -> bool {
        self.applied.contains(id)
    }

    pub(crate) fn remember(&mut self, id: &CommandId) {
        self.applied.push_back(id.clone());
        while self.applied.len() > limits::APPLIED_COMMANDS_MAX {
            self.applied.pop_front();
        }
    }

    pub(crate) fn place(&self, sequence: &Sequence) -> Place {
        let known = self.sequences.iter().find(|known| known.sender == sequence.sender);
        let last = match known {
            Some(known) => known.number,
            // Others may have been forgotten to make room: then any number may be the next.
            None if self.sequences.len() >= SENDERS_MAX => return Place::Next,
            None => 0,
        };
        match sequence.number {
            number if number <= last => Place::Past,
            number if number == last + 1 => Place::Next,
            _ => Place::Early { due: last + 1 },
        }
    }

    pub(crate) fn advance(&mut self, sequence: &Sequence) {
        self.sequences.retain(|known| known.sender != sequence.sender);
        self.sequences.push(sequence.clone());
        if self.sequences.len() > SENDERS_MAX {
            self.sequences.remove(0);
        }
    }

    /// Whether this bookmark may still take the event: nobody has taken it here, or this one
    /// waited beside the one that did.
    pub(crate) fn may_take(&self, event: &CommandId, bookmark: &BookmarkId) -> bool {
        let taken = self.events.iter().find(|taken| taken.id == *event);
        taken.is_none_or(|taken| taken.others.contains(bookmark))
    }

    /// Whether a bookmark of this instance has taken the event.
    pub(crate) fn has_taken(&self, event: &CommandId) -> bool {
        self.events.iter().any(|taken| taken.id == *event)
    }

    /// Takes an event at a bookmark that is still open.
    pub(crate) fn take(&mut self, event: &CommandId, bookmark: &BookmarkId) {
        if let Some(taken) = self.events.iter_mut().find(|taken| taken.id == *event) {
            taken.others.retain(|other| other != bookmark);
            return;
        }
        let hash = self.state.bookmarks.get(bookmark).map(|open| open.hash.clone());
        let others = self.state.bookmarks.values();
        let others =
            others.filter(|open| Some(&open.hash) == hash.as_ref() && open.id != *bookmark);
        let others = others.map(|open| open.id.clone()).collect();
        self.events.push_back(TakenEvent { id: event.clone(), others });
        while self.events.len() > limits::APPLIED_COMMANDS_MAX {
            self.events.pop_front();
        }
    }

    /// Keeps an answer, if it is small enough.
    pub(crate) fn keep_answer(&mut self, commands: Vec<CommandId>, answer: &HttpAnswer) {
        let size = serde_json::to_vec(answer).map_or(usize::MAX, |bytes| bytes.len());
        self.answer =
            (size <= ANSWER_BYTES_MAX).then(|| KeptAnswer { commands, answer: answer.clone() });
    }

    pub(crate) fn answer_for(&self, command: &CommandId) -> Option<&HttpAnswer> {
        let kept = self.answer.as_ref()?;
        kept.commands.contains(command).then_some(&kept.answer)
    }

    /// Bookmarks that others may resume: all but those of calls.
    pub(crate) fn open(&self) -> impl Iterator<Item = &model::Bookmark> {
        let calls = &self.state.calls;
        self.state.bookmarks.values().filter(|open| !calls.contains_key(&open.id))
    }
}

/// The id of what a call's result does: the same however often it is made.
pub(crate) fn result_id(instance: &InstanceId, bookmark: &BookmarkId) -> CommandId {
    CommandId::new(model::derived(&["call", instance.as_str(), bookmark.as_str()]))
}

#[cfg(test)]
mod tests;
