//! The streams of the twin, the one consumer of commands, and those of tasks.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use model::Timestamp;
use model::limits::PULL_BYTES_MAX;
use protocol::{Message, subject};
use tokio::time::Instant;

use super::wire::matches;
use crate::{Error, Fill, Pool, Receipt, SELECT_BYTES_MAX, Span, Stream};

/// How long a message id is remembered.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How long a delivery may stay unanswered; as in the topology.
const ACK_WAIT: Duration = Duration::from_secs(3);
/// The same of tasks; as the consumers of NATS have it.
pub(super) const TASK_ACK_WAIT: Duration = Duration::from_secs(30);
/// The number of deliveries that may be unanswered at the same time.
const ACK_PENDING_MAX: usize = 8_192;
/// The number of messages in one stream: a work queue refuses more, the others drop the oldest.
const MESSAGES_MAX: usize = 1_000_000;
/// The bytes that the tasks may take; as in the topology.
const TASKS_BYTES_MAX: u64 = 268_435_456;

pub(super) struct Log {
    /// When the streams were made.
    since: Instant,
    streams: BTreeMap<Stream, One>,
    consumer: Consumer,
    /// The consumers of tasks, by name.
    pools: BTreeMap<String, TaskPool>,
    tasks_bytes_max: u64,
}

/// The consumer of one type and version of tasks.
struct TaskPool {
    subject: String,
    consumer: Consumer,
}

#[derive(Default)]
struct One {
    last: u64,
    stored: BTreeMap<u64, (Timestamp, Message)>,
    /// The bytes of their bodies.
    bytes: u64,
    ids: BTreeMap<String, u64>,
    ids_by_age: VecDeque<(Instant, String)>,
}

#[derive(Default)]
struct Consumer {
    /// The last sequence that was delivered for the first time.
    delivered: u64,
    /// A message that was delivered so often is delivered no more, and stays in the stream.
    deliveries_max: Option<i64>,
    pending: BTreeMap<u64, Pending>,
}

struct Pending {
    attempt: i64,
    again_at: Instant,
}

/// One delivery.
pub(super) struct Pulled {
    pub(super) sequence: u64,
    pub(super) attempt: i64,
    pub(super) stored_at: Timestamp,
    pub(super) message: Message,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            streams: BTreeMap::new(),
            consumer: Consumer::default(),
            pools: BTreeMap::new(),
            tasks_bytes_max: TASKS_BYTES_MAX,
        }
    }
}

impl Log {
    /// One with the same limits, and nothing in it.
    pub(super) fn wiped(&self) -> Self {
        Self { tasks_bytes_max: self.tasks_bytes_max, ..Self::default() }
    }

    pub(super) fn limit_tasks(&mut self, bytes_max: u64) {
        self.tasks_bytes_max = bytes_max;
    }

    /// Stores a message; `None` if no stream has its subject.
    pub(super) fn publish(
        &mut self,
        message: &Message,
        now: Timestamp,
        at: Instant,
    ) -> Result<Option<Receipt>, Error> {
        let Some(stream) = stream_of(&message.subject) else { return Ok(None) };
        let bytes_max = self.bytes_max(stream);
        let one = self.streams.entry(stream).or_default();
        one.forget_ids(at);
        if let Some(sequence) = message.id().and_then(|id| one.ids.get(id)) {
            return Ok(Some(Receipt { sequence: *sequence, duplicate: true }));
        }
        if one.stored.len() >= MESSAGES_MAX {
            if is_work_queue(stream) {
                return Err(Error::Full(format!("{stream:?} has {MESSAGES_MAX} messages")));
            }
            if let Some(oldest) = one.stored.keys().next().copied() {
                one.remove(oldest);
            }
        }
        let bytes = one.bytes + bytes_of(message);
        if bytes_max.is_some_and(|bytes_max| bytes > bytes_max) {
            return Err(Error::Full(format!("{stream:?} has {} bytes", one.bytes)));
        }
        one.bytes = bytes;
        one.last += 1;
        one.stored.insert(one.last, (now, message.clone()));
        if let Some(id) = message.id() {
            one.ids.insert(id.to_owned(), one.last);
            one.ids_by_age.push_back((at, id.to_owned()));
        }
        Ok(Some(Receipt { sequence: one.last, duplicate: false }))
    }

    /// Takes the commands that can be delivered now, and returns when the next one will be, if that
    /// is known.
    pub(super) fn pull(&mut self, max: usize, now: Instant) -> (Vec<Pulled>, Option<Instant>) {
        let commands = self.streams.entry(Stream::Commands).or_default();
        self.consumer.pull(commands, None, ACK_WAIT, max, now)
    }

    /// Takes the tasks of a consumer that can be delivered now; as [`Log::pull`]. None of one that does
    /// not exist.
    pub(super) fn take(
        &mut self,
        name: &str,
        max: usize,
        now: Instant,
    ) -> (Vec<Pulled>, Option<Instant>) {
        let tasks = self.streams.entry(Stream::Tasks).or_default();
        match self.pools.get_mut(name) {
            Some(TaskPool { subject, consumer }) => {
                consumer.pull(tasks, Some(subject), TASK_ACK_WAIT, max, now)
            }
            None => (Vec::new(), None),
        }
    }

    /// Removes a task, also if the answer is late.
    pub(super) fn ack_task(&mut self, sequence: u64) {
        self.remove(Stream::Tasks, sequence);
    }

    /// Delivers a task again at this time.
    pub(super) fn retry_task(&mut self, name: &str, sequence: u64, again_at: Instant) {
        if let Some(pool) = self.pools.get_mut(name) {
            pool.consumer.again_at(sequence, again_at);
        }
    }

    /// Removes a command, also if the answer is late.
    pub(super) fn ack(&mut self, sequence: u64) {
        self.remove(Stream::Commands, sequence);
    }

    pub(super) fn retry(&mut self, sequence: u64, again_at: Instant) {
        self.consumer.again_at(sequence, again_at);
    }

    pub(super) fn progress(&mut self, sequence: u64, now: Instant) {
        self.retry(sequence, now + ACK_WAIT);
    }

    pub(super) fn redeliver(&mut self, now: Instant) {
        for pending in self.consumer.pending.values_mut() {
            pending.again_at = now;
        }
    }

    pub(super) fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Vec<(u64, Timestamp, Message)> {
        let Some(one) = self.streams.get(&stream) else { return Vec::new() };
        let read = one.stored.range(from..).take(max);
        read.map(|(sequence, (at, message))| (*sequence, *at, message.clone())).collect()
    }

    /// Ends after the message with which the bytes are too many, as the server does.
    pub(super) fn select(
        &self,
        stream: Stream,
        filter: &str,
        from: u64,
        max: usize,
    ) -> Vec<(u64, Timestamp, Message)> {
        let Some(one) = self.streams.get(&stream) else { return Vec::new() };
        let stored =
            one.stored.range(from..).filter(|(_, (_, message))| matches(filter, &message.subject));
        let mut selected = Vec::new();
        let mut bytes = 0;
        for (sequence, (at, message)) in stored.take(max) {
            if bytes > SELECT_BYTES_MAX {
                break;
            }
            bytes += message.payload.len();
            selected.push((*sequence, *at, message.clone()));
        }
        selected
    }

    pub(super) fn span(&self, stream: Stream) -> Span {
        let age = Some(self.since.elapsed());
        let Some(one) = self.streams.get(&stream) else {
            return Span { first: 1, last: 0, messages: 0, age };
        };
        let first = one.stored.keys().next().copied().unwrap_or(one.last + 1);
        let messages = u64::try_from(one.stored.len()).unwrap_or(u64::MAX);
        Span { first, last: one.last, messages, age }
    }

    pub(super) fn fill(&self, stream: Stream, subject: &str) -> Fill {
        let bytes_max = self.bytes_max(stream);
        let Some(one) = self.streams.get(&stream) else {
            return Fill { bytes_max, ..Fill::default() };
        };
        let own = one.stored.values().filter(|(_, message)| message.subject == subject).count();
        Fill { bytes: one.bytes, bytes_max, own: u64::try_from(own).unwrap_or(u64::MAX) }
    }

    /// The twin limits the bytes of tasks only.
    fn bytes_max(&self, stream: Stream) -> Option<u64> {
        (stream == Stream::Tasks).then_some(self.tasks_bytes_max)
    }

    pub(super) fn provide(&mut self, name: String, subject: String) {
        self.pools
            .entry(name)
            .or_insert_with(|| TaskPool { subject, consumer: Consumer::default() });
    }

    /// Limits the deliveries of each task of a consumer, if it exists.
    pub(super) fn limit_deliveries(&mut self, name: &str, max: i64) {
        if let Some(pool) = self.pools.get_mut(name) {
            pool.consumer.deliveries_max = Some(max);
        }
    }

    pub(super) fn pools(&self) -> BTreeMap<String, String> {
        let subject = |(name, pool): (&String, &TaskPool)| (name.clone(), pool.subject.clone());
        self.pools.iter().map(subject).collect()
    }

    pub(super) fn task_pools(&self) -> Vec<Pool> {
        let tasks = self.read(Stream::Tasks, 1, usize::MAX);
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let pool = |(name, TaskPool { subject, consumer }): (&String, &TaskPool)| {
            let (task_type, version) = subject::task_of(subject)?;
            let own = tasks.iter().filter(|(.., message)| message.subject == *subject);
            let in_progress = consumer.pending.len();
            let redelivered = consumer.pending.values().filter(|pending| pending.attempt > 1);
            Some(Pool {
                task_type,
                version,
                consumer: name.clone(),
                waiting: count(own.clone().count().saturating_sub(in_progress)),
                in_progress: count(in_progress),
                redelivered: count(redelivered.count()),
                asking: 0,
                oldest: own.map(|(_, at, _)| *at).next(),
                delivered: consumer.delivered,
                deliveries_max: consumer.deliveries_max.and_then(|max| u64::try_from(max).ok()),
            })
        };
        self.pools.iter().filter_map(pool).collect()
    }

    pub(super) fn remove(&mut self, stream: Stream, sequence: u64) -> bool {
        match stream {
            Stream::Commands => drop(self.consumer.pending.remove(&sequence)),
            Stream::Tasks => {
                for pool in self.pools.values_mut() {
                    pool.consumer.pending.remove(&sequence);
                }
            }
            Stream::Events | Stream::Dead => {}
        }
        self.streams.get_mut(&stream).is_some_and(|one| one.remove(sequence))
    }

    /// The bytes of the bodies that a stream has.
    pub(super) fn bytes(&self, stream: Stream) -> u64 {
        self.streams.get(&stream).map_or(0, |one| one.bytes)
    }

    /// The commands that are delivered and not answered, and those of them that were delivered before.
    pub(super) fn in_hand(&self) -> (u64, u64) {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let again = self.consumer.pending.values().filter(|one| one.attempt > 1).count();
        (count(self.consumer.pending.len()), count(again))
    }

    pub(super) fn backlog(&self) -> u64 {
        let stored = self.streams.get(&Stream::Commands).map_or(0, |one| one.stored.len());
        u64::try_from(stored).unwrap_or(u64::MAX)
    }
}

impl Consumer {
    /// Takes what can be delivered now of the messages with this subject, and returns when the next
    /// one will be, if that is known.
    fn pull(
        &mut self,
        stream: &One,
        subject: Option<&str>,
        ack_wait: Duration,
        max: usize,
        now: Instant,
    ) -> (Vec<Pulled>, Option<Instant>) {
        let mut pulled = Vec::new();
        if let Some(max) = self.deliveries_max {
            self.pending.retain(|_, pending| pending.again_at > now || pending.attempt < max);
        }
        let mut room = PULL_BYTES_MAX;
        let mut fits = |message: &Message| {
            room.checked_sub(message.payload.len()).inspect(|left| room = *left).is_some()
        };
        let due = self.pending.iter_mut().filter(|(_, pending)| pending.again_at <= now);
        for (sequence, pending) in due {
            if pulled.len() >= max {
                return (pulled, Some(now));
            }
            if let Some((stored_at, message)) = stream.stored.get(sequence) {
                if !fits(message) {
                    return (pulled, Some(now));
                }
                pending.attempt += 1;
                pending.again_at = now + ack_wait;
                pulled.push(Pulled {
                    sequence: *sequence,
                    attempt: pending.attempt,
                    stored_at: *stored_at,
                    message: message.clone(),
                });
            }
        }
        let news = stream.stored.range(self.delivered + 1..);
        let is_own = |message: &Message| subject.is_none_or(|subject| message.subject == subject);
        for (sequence, (stored_at, message)) in news.filter(|(_, (_, message))| is_own(message)) {
            let is_full = pulled.len() >= max || self.pending.len() >= ACK_PENDING_MAX;
            if is_full || !fits(message) {
                break;
            }
            self.delivered = *sequence;
            self.pending.insert(*sequence, Pending { attempt: 1, again_at: now + ack_wait });
            pulled.push(Pulled {
                sequence: *sequence,
                attempt: 1,
                stored_at: *stored_at,
                message: message.clone(),
            });
        }
        let next = self.pending.values().map(|pending| pending.again_at).min();
        (pulled, next)
    }

    fn again_at(&mut self, sequence: u64, at: Instant) {
        if let Some(pending) = self.pending.get_mut(&sequence) {
            pending.again_at = at;
        }
    }
}

impl One {
    fn remove(&mut self, sequence: u64) -> bool {
        let Some((_, message)) = self.stored.remove(&sequence) else { return false };
        self.bytes -= bytes_of(&message);
        true
    }

    fn forget_ids(&mut self, now: Instant) {
        while self.ids_by_age.front().is_some_and(|(at, _)| *at + DUPLICATE_WINDOW <= now) {
            if let Some((_, id)) = self.ids_by_age.pop_front() {
                self.ids.remove(&id);
            }
        }
    }
}

fn bytes_of(message: &Message) -> u64 {
    u64::try_from(message.payload.len()).unwrap_or(u64::MAX)
}

fn is_work_queue(stream: Stream) -> bool {
    matches!(stream, Stream::Commands | Stream::Tasks)
}

fn stream_of(name: &str) -> Option<Stream> {
    let prefixes = [
        (subject::COMMANDS, Stream::Commands),
        (subject::EVENTS, Stream::Events),
        (subject::TASKS, Stream::Tasks),
        (subject::DEAD, Stream::Dead),
    ];
    let has = |prefix| name.strip_prefix(prefix).is_some_and(|rest: &str| rest.starts_with('.'));
    prefixes.into_iter().find(|(prefix, _)| has(*prefix)).map(|(_, stream)| stream)
}

#[cfg(test)]
mod tests {
    use super::{ACK_WAIT, TASKS_BYTES_MAX};

    const TOPOLOGY: &str = include_str!("../../../../nats/topology.toml");

    #[test]
    fn the_ack_wait_is_that_of_the_topology() {
        let line = format!("ack_wait_seconds = {}", ACK_WAIT.as_secs());
        assert!(TOPOLOGY.lines().any(|known| known.trim() == line), "{line}");
    }

    #[test]
    fn the_room_for_tasks_is_that_of_the_topology() {
        let tasks = TOPOLOGY.split("[[stream]]").find(|one| one.contains("\"STAUNCH_TASKS\""));
        let line = format!("bytes_max = {TASKS_BYTES_MAX}");
        let tasks = tasks.unwrap().replace('_', "").replace("bytesmax", "bytes_max");
        assert!(tasks.lines().any(|known| known.trim() == line), "{tasks}");
    }
}
