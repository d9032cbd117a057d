//! The content of the `state` column of an instance: the engine's state, and the ids by which a
//! redelivered command is recognised. MessagePack with named fields, so that a reader may read
//! `state` alone, and a newer version may add fields.

use std::collections::{BTreeMap, VecDeque};

use engine::State;
use model::{BookmarkId, CommandId, InstanceId, SearchKey, limits};
use protocol::{ContentType, Garbled, HttpAnswer, Lineage, Sequence, decode_body};
use serde::{Deserialize, Serialize};
use store::ValueChanges;

/// The number of senders whose order one instance remembers.
const SENDERS_MAX: usize = 1_000;
/// The largest answer for an HTTP client that is kept for a redelivery, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The number of bytes that an outcome may have beside the output and the response: incidents and
/// bookmarks.
const OUTCOME_OVERHEAD: usize = 256 * 1024;

/// The content of `Instance::state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The state of the engine.
    pub state: State,
    /// The ids of the newest applied commands.
    pub applied: VecDeque<CommandId>,
    /// The newest events that bookmarks of this instance have taken.
    pub events: VecDeque<TakenEvent>,
    /// The number of the newest applied command of each sender that numbers its commands; the sender
    /// that sent last comes last.
    pub sequences: Vec<Sequence>,
    /// The key of the activation strategy, which the instance holds until it is over.
    pub activation_key: Option<String>,
    /// The last turn ran out of its budget: `Input::Continue` is due.
    pub unfinished: bool,
    /// The newest response of `WriteHttpResponse`, and the commands that it answers.
    pub answer: Option<KeptAnswer>,
    /// The descent of the instance.
    #[serde(skip_serializing_if = "is_root")]
    pub lineage: Lineage,
    /// The searchable values in the database, by the names of their variables. None if no burst has
    /// written them, or if the newest burst was of a program that does not know them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed: Option<BTreeMap<String, SearchKey>>,
}

/// An event that a bookmark of this instance has taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TakenEvent {
    /// The id of the event command.
    pub id: CommandId,
    /// Other bookmarks that waited for the event at that time and have not taken it yet.
    pub others: Vec<BookmarkId>,
}

/// An answer that has to be sent again after a crash between the commit and the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// The commands that it answers.
    pub commands: Vec<CommandId>,
    /// The answer.
    pub answer: HttpAnswer,
}

/// The place of a command in the order of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// It is the next.
    Next,
    /// It, or one after it, was applied.
    Past,
    /// Others come before it; the number `due` is the next.
    Early {
        /// The next number.
        due: u64,
    },
}

impl Record {
    /// Reads a row's state; an empty one gives a new record.
    ///
    /// # Errors
    /// When the bytes are not a record, or nest too deep to be read.
    pub fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        decode_body(ContentType::MessagePack, bytes)
    }

    /// Writes a row's state.
    ///
    /// # Errors
    /// When a value cannot be encoded as MessagePack.
    pub fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        self.encode_about(0)
    }

    /// Writes a row's state of about this many bytes. Without them a large state is copied several times
    /// as it grows.
    pub(crate) fn encode_about(&self, bytes: usize) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        let mut state = Vec::with_capacity(128 + bytes + bytes / 16);
        rmp_serde::encode::write_named(&mut state, self)?;
        Ok(state)
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

    pub(crate) fn order(&self, sequence: &Sequence) -> Order {
        let known = self.sequences.iter().find(|known| known.sender == sequence.sender);
        let last = match known {
            Some(known) => known.number,
            // This sender may have been forgotten to make room, so any number may be the next.
            None if self.sequences.len() >= SENDERS_MAX => return Order::Next,
            None => 0,
        };
        match sequence.number {
            number if number <= last => Order::Past,
            number if number == last + 1 => Order::Next,
            _ => Order::Early { due: last + 1 },
        }
    }

    pub(crate) fn advance(&mut self, sequence: &Sequence) {
        self.sequences.retain(|known| known.sender != sequence.sender);
        self.sequences.push(sequence.clone());
        if self.sequences.len() > SENDERS_MAX {
            self.sequences.remove(0);
        }
    }

    /// Whether this bookmark may take the event: no bookmark has taken it, or this one waited for the
    /// event when another one took it.
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

    /// Keeps a small answer, for a redelivery, and an answer that is too large for the outcome,
    /// which is then sent without it. An answer in between is only in the outcome. `size` is the
    /// size of the answer as JSON, in bytes.
    pub(crate) fn keep_answer(
        &mut self,
        commands: Vec<CommandId>,
        answer: &HttpAnswer,
        size: usize,
    ) {
        let is_kept = size <= ANSWER_BYTES_MAX
            || size + json_size(&self.state.output) + OUTCOME_OVERHEAD > limits::OUTCOME_BYTES_MAX;
        self.answer = is_kept.then(|| KeptAnswer { commands, answer: answer.clone() });
    }

    pub(crate) fn answer_for(&self, command: &CommandId) -> Option<&HttpAnswer> {
        let kept = self.answer.as_ref()?;
        kept.commands.contains(command).then_some(&kept.answer)
    }

    /// Takes over the searchable values after a burst; returns what changes in the database. A new
    /// instance has none there.
    pub(crate) fn index(
        &mut self,
        after: BTreeMap<String, SearchKey>,
        is_new: bool,
    ) -> ValueChanges {
        let replaces = self.indexed.is_none() && !is_new;
        let before = self.indexed.take().unwrap_or_default();
        let is_gone = |name: &&String| !after.contains_key(*name);
        let removed = before.keys().filter(is_gone).cloned().collect();
        let is_other = |(name, key): &(&String, &SearchKey)| before.get(*name) != Some(*key);
        let set = after.iter().filter(is_other);
        let set = set.map(|(name, key)| (name.clone(), key.clone())).collect();
        self.indexed = Some(after);
        ValueChanges { replaces, set, removed }
    }

    /// Bookmarks that others may resume: all but those of calls. A paused instance has none, so
    /// that what arrives is kept until it goes on, as if it came before its bookmark.
    pub(crate) fn open(&self) -> impl Iterator<Item = &model::Bookmark> {
        let calls = &self.state.calls;
        let open = (!self.state.is_paused).then(|| self.state.bookmarks.values());
        open.into_iter().flatten().filter(|open| !calls.contains_key(&open.id))
    }

    /// The last turn ran out of its budget, and the instance is not paused.
    pub(crate) fn has_turn_to_go_on(&self) -> bool {
        self.unfinished && !self.state.is_paused
    }
}

fn is_root(lineage: &Lineage) -> bool {
    *lineage == Lineage::default()
}

/// The number of bytes as JSON; the largest number for a value that JSON cannot express.
pub(crate) fn json_size(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// The id of the burst that records the result of a call: the same on every try.
pub(crate) fn result_id(instance: &InstanceId, bookmark: &BookmarkId) -> CommandId {
    CommandId::new(model::derived(&["call", instance.as_str(), bookmark.as_str()]))
}

#[cfg(test)]
mod tests;
