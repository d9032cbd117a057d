//! The streams of the twin, with the one consumer of commands, and those of tasks.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use model::Timestamp;
use protocol::{Message, subject};
use tokio::time::Instant;

use super::consumer::{Address, Consumer, LateAcks, Pulled, Stored};
use super::wire::matches;
use crate::{Error, Fill, Pool, Receipt, SELECT_BYTES_MAX, Span, Stream};

/// How long a message id is remembered.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How long a delivery may stay unanswered; as in the topology.
const ACK_WAIT: Duration = Duration::from_secs(3);
/// The same of tasks; as the consumers of NATS have it.
pub(super) const TASK_ACK_WAIT: Duration = Duration::from_secs(30);
/// The number of messages in one stream: a work queue refuses more, the others drop the oldest.
const MESSAGES_MAX: usize = 1_000_000;
/// The bytes that the tasks may take; as in the topology.
const TASKS_BYTES_MAX: u64 = 268_435_456;

pub(super) struct Log {
    /// When the streams were made.
    since: Instant,
    /// When the stream of tasks was made: it may be made anew alone.
    tasks_since: Instant,
    streams: BTreeMap<Stream, One>,
    consumer: Consumer,
    /// The consumers of tasks, by name.
    pools: BTreeMap<String, TaskPool>,
    tasks_bytes_max: u64,
    /// The number of the consumer that was made last.
    made: u64,
    late: LateAcks,
}

/// The consumer of one type and version of tasks.
struct TaskPool {
    subject: String,
    consumer: Consumer,
    made_at: Timestamp,
}

#[derive(Default)]
struct One {
    last: u64,
    stored: Stored,
    /// The bytes of their bodies.
    bytes: u64,
    ids: BTreeMap<String, u64>,
    ids_by_age: VecDeque<(Instant, String)>,
}

impl Default for Log {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            since: now,
            tasks_since: now,
            streams: BTreeMap::new(),
            consumer: Consumer::default(),
            pools: BTreeMap::new(),
            tasks_bytes_max: TASKS_BYTES_MAX,
            made: 0,
            late: LateAcks::default(),
        }
    }
}

impl Log {
    /// One with the same limits, and nothing in it.
    pub(super) fn wiped(&self) -> Self {
        let made = self.made + 1;
        let consumer = Consumer::new(made);
        let (tasks_bytes_max, late) = (self.tasks_bytes_max, self.late);
        Self { consumer, tasks_bytes_max, made, late, ..Self::default() }
    }

    /// Removes the stream of tasks with its consumers, and makes it anew: its numbers begin at 1.
    pub(super) fn make_tasks_anew(&mut self) {
        self.streams.remove(&Stream::Tasks);
        self.pools.clear();
        self.tasks_since = Instant::now();
    }

    pub(super) fn late_acks(&self) -> LateAcks {
        self.late
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
        self.consumer.pull(&commands.stored, None, ACK_WAIT, max, now)
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
            Some(TaskPool { subject, consumer, .. }) => {
                consumer.pull(&tasks.stored, Some(subject), TASK_ACK_WAIT, max, now)
            }
            None => (Vec::new(), None),
        }
    }

    /// Removes a task, also if the answer is late; but not the one of its number in another stream.
    pub(super) fn ack_task(&mut self, name: &str, address: Address) {
        let consumer = self.pools.get(name).map(|pool| &pool.consumer);
        if self.late.is_of(consumer, address) {
            self.remove(Stream::Tasks, address.sequence);
        }
    }

    /// Delivers a task again at this time.
    pub(super) fn retry_task(&mut self, name: &str, sequence: u64, again_at: Instant) {
        if let Some(pool) = self.pools.get_mut(name) {
            pool.consumer.again_at(sequence, again_at);
        }
    }

    /// Removes a command, also if the answer is late; but not the one of its number in another stream.
    pub(super) fn ack(&mut self, address: Address) {
        if self.late.is_of(Some(&self.consumer), address) {
            self.remove(Stream::Commands, address.sequence);
        }
    }

    /// Delivers a command again at this time, unless it is one of another stream.
    pub(super) fn retry(&mut self, address: Address, again_at: Instant) {
        if address.consumer == self.consumer.number {
            self.consumer.again_at(address.sequence, again_at);
        }
    }

    pub(super) fn progress(&mut self, address: Address, now: Instant) {
        self.retry(address, now + ACK_WAIT);
    }

    pub(super) fn redeliver(&mut self, now: Instant) {
        self.consumer.redeliver(now);
    }

    pub(super) fn redeliver_tasks(&mut self, now: Instant) {
        for pool in self.pools.values_mut() {
            pool.consumer.redeliver(now);
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
        let since = if stream == Stream::Tasks { self.tasks_since } else { self.since };
        let age = Some(since.elapsed());
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

    pub(super) fn provide(&mut self, name: String, subject: String, now: Timestamp) {
        self.made += 1;
        let consumer = Consumer::new(self.made);
        self.pools.entry(name).or_insert(TaskPool { subject, consumer, made_at: now });
    }

    /// Removes a consumer of tasks. Its tasks stay.
    pub(super) fn remove_pool(&mut self, name: &str) {
        self.pools.remove(name);
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
        let pool = |(name, TaskPool { subject, consumer, made_at }): (&String, &TaskPool)| {
            let (task_type, version) = subject::task_of(subject)?;
            let own = tasks.iter().filter(|(.., message)| message.subject == *subject);
            let waiting = own.clone().filter(|(sequence, ..)| *sequence > consumer.delivered);
            let redelivered = consumer.pending.values().filter(|pending| pending.attempt > 1);
            Some(Pool {
                task_type,
                version,
                consumer: name.clone(),
                waiting: count(waiting.clone().count()),
                in_progress: count(consumer.pending.len()),
                redelivered: count(redelivered.count()),
                asking: 0,
                oldest: own.map(|(_, at, _)| *at).next(),
                oldest_waiting: waiting.map(|(_, at, _)| *at).next(),
                delivered: consumer.delivered,
                made_at: Some(*made_at),
                ack_wait: TASK_ACK_WAIT,
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
