//! The twin: the whole port in memory, with the observed semantics of JetStream.
//!
//! Nothing here depends on a wall clock, a hash order or a thread: the same calls in the same order
//! give the same answers, so a simulation can be replayed from its seed. Time is tokio's, so that
//! it can be paused; the times with which a server stamps messages come from the given clock. An
//! implementation of [`Faults`] injects faults.

mod bucket;
mod consumer;
mod fault;
mod figures;
mod kv;
mod log;
mod outside;
mod size;
mod streams;
mod talk;
mod tasks;
mod wire;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use protocol::{Message, subject};
use tokio::sync::Notify;
use tokio::time::Instant;

pub use consumer::LateAcks;
pub use fault::{Fault, Faults, Operation};

use crate::lock::lock;
use crate::{
    Bucket, Bus, Delivery, Error, Figures, Fill, Kv, Outside, Pool, Queue, Receipt, Settle, Span,
    Stream,
};
use fault::{Interference, NoFaults};
use size::check_size;

/// The time that the server stamps messages with.
pub type ServerClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A bus in memory. Clones share it; each may act for another node.
#[derive(Clone)]
pub struct MemoryBus {
    shared: Arc<Shared>,
    node: Arc<str>,
}

struct Shared {
    state: Mutex<State>,
    faults: Arc<dyn Faults>,
    clock: ServerClock,
    /// A message arrived, or has to be delivered again.
    arrived: Notify,
    /// A key got an expiry: the expiry task has to look again.
    expiring: Arc<Notify>,
}

#[derive(Default)]
struct State {
    log: log::Log,
    buckets: BTreeMap<Bucket, bucket::State>,
    wire: wire::State,
    outside: outside::State,
    expirer: bool,
    closed: bool,
}

impl MemoryBus {
    /// A bus without faults, on this clock.
    #[must_use]
    pub fn new(clock: ServerClock) -> Self {
        Self::with_faults(clock, Arc::new(NoFaults))
    }

    /// A bus whose operations fail as `faults` says.
    #[must_use]
    pub fn with_faults(clock: ServerClock, faults: Arc<dyn Faults>) -> Self {
        let shared = Shared {
            state: Mutex::default(),
            faults,
            clock,
            arrived: Notify::new(),
            expiring: Arc::default(),
        };
        Self { shared: Arc::new(shared), node: Arc::from("") }
    }

    /// A bus whose clock starts at `start` and advances with tokio's time.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        let origin = Instant::now();
        Self::new(Arc::new(move || start.after(origin.elapsed())))
    }

    /// The same bus, used by this node: [`Faults`] get its name.
    #[must_use]
    pub fn as_node(&self, node: &str) -> Self {
        Self { shared: Arc::clone(&self.shared), node: Arc::from(node) }
    }

    /// Loses everything that is stored, as when the server's disk is wiped: streams, buckets and
    /// pending messages. Watches start again from an empty snapshot.
    pub fn wipe(&self) {
        let mut state = self.state();
        state.log = state.log.wiped();
        for bucket in state.buckets.values_mut() {
            bucket.wipe();
        }
        drop(state);
        self.shared.arrived.notify_waiters();
    }

    /// Sets the bytes that the stream of tasks may hold.
    pub fn limit_tasks(&self, bytes_max: u64) {
        self.state().log.limit_tasks(bytes_max);
    }

    /// Limits the deliveries of each task of a consumer, as an operator may; nothing if it does not exist.
    pub fn limit_deliveries(&self, consumer: &str, max: i64) {
        self.state().log.limit_deliveries(consumer, max);
    }

    /// Removes a consumer of tasks, as an operator may. Its tasks stay.
    pub fn remove_pool(&self, consumer: &str) {
        self.state().log.remove_pool(consumer);
    }

    /// Makes a stream for messages of others, in the place of one of its name.
    pub fn make_stream(&self, name: &str, subject: &str) {
        self.state().outside.streams.make(name, subject);
    }

    /// Removes such a stream with all places in it. Returns when those of its messages were stored, in
    /// nanoseconds, that are lost with it: a place, if there is any, has not settled them.
    #[must_use]
    pub fn remove_stream(&self, name: &str) -> Vec<i128> {
        let lost = self.state().outside.streams.remove(name);
        self.shared.arrived.notify_waiters();
        lost
    }

    /// Gives such a stream back from a backup: the same messages with the same numbers and times, and
    /// none of the places in it.
    pub fn restore_stream(&self, name: &str) {
        self.state().outside.streams.restore(name);
        self.shared.arrived.notify_waiters();
    }

    /// When such a stream has stored a message, in nanoseconds; none if it does not have it.
    #[must_use]
    pub fn stored_nanos(&self, stream: &str, sequence: u64) -> Option<i128> {
        self.state().outside.streams.stored_nanos(stream, sequence)
    }

    /// Damages an object: whoever reads it finds the wrong digest at its end, until it is written again.
    pub fn damage_object(&self, store: &str, name: &str) {
        self.state().outside.damage(store, name);
    }

    /// Lets a key expire now; true when it was there.
    pub fn expire(&self, bucket: Bucket, key: &str) -> bool {
        self.state().buckets.entry(bucket).or_default().expire_key(key, Instant::now())
    }

    /// Breaks all watches of a bucket and restores them, as a reconnect does: each gets a `Reset`,
    /// a snapshot and `Synced`.
    pub fn reset_watches(&self, bucket: Bucket) {
        self.state().buckets.entry(bucket).or_default().reset_watches();
    }

    /// Cuts a node off from incoming traffic: its watches show no changes, and plain messages do
    /// not reach it. The calls that the node makes are left to [`Faults`].
    pub fn sever(&self, node: &str) {
        let mut state = self.state();
        state.wire.sever(node);
        for bucket in state.buckets.values_mut() {
            bucket.sever(node);
        }
    }

    /// Joins a severed node again: its watches start from a snapshot, as after a reconnect.
    pub fn mend(&self, node: &str) {
        let mut state = self.state();
        state.wire.mend(node);
        for bucket in state.buckets.values_mut() {
            bucket.mend(node);
        }
    }

    /// Delivers every pending command again at once, as when the consumer's leader changes.
    pub fn redeliver(&self) {
        self.state().log.redeliver(Instant::now());
        self.shared.arrived.notify_waiters();
    }

    /// The acknowledgements that came late until now.
    #[must_use]
    pub fn late_acks(&self) -> LateAcks {
        let state = self.state();
        let late = state.log.late_acks();
        let of_earlier_stream = late.of_earlier_stream + state.outside.streams.late_settled();
        LateAcks { of_earlier_stream, ..late }
    }

    /// The messages of a stream, in order.
    #[must_use]
    pub fn stored(&self, stream: Stream) -> Vec<(u64, Message)> {
        let stored = self.state().log.read(stream, 1, usize::MAX);
        stored.into_iter().map(|(sequence, _, message)| (sequence, message)).collect()
    }

    /// The consumers of tasks: the subject of each by its name.
    #[must_use]
    pub fn pools(&self) -> BTreeMap<String, String> {
        self.state().log.pools()
    }

    /// Closes the bus for all its clones: subscriptions and watches end, operations fail.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.wire = wire::State::default();
        state.buckets.clear();
        drop(state);
        self.shared.arrived.notify_waiters();
        self.shared.expiring.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.shared.state)
    }

    fn open(&self) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state();
        if state.closed { Err(Error::Closed) } else { Ok(state) }
    }

    fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    /// Asks the faults about an operation, and waits for the delay that they set.
    async fn judge(&self, operation: Operation<'_>) -> Result<Interference, Error> {
        self.shared.faults.judge(&self.node, &operation).await
    }

    /// Stores a message if a stream has its subject, and hands it to the current subscribers.
    fn put(&self, message: Message) -> Result<Option<Receipt>, Error> {
        let now = self.now();
        let mut state = self.open()?;
        let receipt = state.log.publish(&message, now, Instant::now())?;
        state.wire.deliver(message, None);
        drop(state);
        self.shared.arrived.notify_waiters();
        Ok(receipt)
    }
}

impl std::fmt::Debug for MemoryBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryBus({:?})", self.node)
    }
}

#[async_trait]
impl Queue for MemoryBus {
    async fn publish(&self, message: Message) -> Result<Receipt, Error> {
        check_size(&message)?;
        let subject = message.subject.clone();
        let operation = Operation::Publish { subject: &subject, id: message.id() };
        let verdict = self.judge(operation).await?;
        let none = || Error::NotProvisioned(format!("no stream has the subject {subject}"));
        if verdict.late.is_some() {
            // The caller has gone; nobody needs the result.
            self.when(verdict.late, |bus| drop(bus.put(message)));
            return Err(Error::Unknown("injected fault: the call is still in progress".to_owned()));
        }
        if verdict.twice {
            self.put(message.clone())?;
        }
        let receipt = self.put(message)?.ok_or_else(none)?;
        verdict.answer(receipt)
    }

    async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, Error> {
        let verdict = self.judge(Operation::Pull).await?;
        let give_up = Instant::now() + wait;
        loop {
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let (pulled, next) = self.open()?.log.pull(max, Instant::now());
            if !pulled.is_empty() {
                if verdict.lost {
                    // The commands reach no caller: they are delivered again after the ack wait.
                    return Ok(Vec::new());
                }
                let mut deliveries: Vec<_> =
                    pulled.into_iter().map(|pulled| self.delivery(pulled)).collect();
                if verdict.reordered {
                    deliveries.reverse();
                }
                if let Some(late) = verdict.late {
                    // Another puller may have some of them by then.
                    tokio::time::sleep(late).await;
                }
                return Ok(deliveries);
            }
            let wake = next.map_or(give_up, |next| next.min(give_up));
            let timer = tokio::time::timeout_at(wake, arrived).await;
            if timer.is_err() && Instant::now() >= give_up {
                return Ok(Vec::new());
            }
        }
    }

    async fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        let verdict = self.judge(Operation::Read { stream }).await?;
        let read = self.open()?.log.read(stream, from, max);
        verdict.answer(read)
    }

    async fn select(
        &self,
        stream: Stream,
        filter: &str,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        let verdict = self.judge(Operation::Read { stream }).await?;
        let selected = self.open()?.log.select(stream, filter, from, max);
        verdict.answer(selected)
    }

    async fn span(&self, stream: Stream) -> Result<Span, Error> {
        let verdict = self.judge(Operation::Read { stream }).await?;
        let span = self.open()?.log.span(stream);
        verdict.answer(span)
    }

    async fn fill(&self, stream: Stream, subject: &str) -> Result<Fill, Error> {
        let verdict = self.judge(Operation::Read { stream }).await?;
        let fill = self.open()?.log.fill(stream, subject);
        verdict.answer(fill)
    }

    async fn provide(&self, task_type: &str, version: u32) -> Result<(), Error> {
        let verdict = self.judge(Operation::Read { stream: Stream::Tasks }).await?;
        let name = subject::task_consumer(task_type, version);
        let now = self.now();
        self.open()?.log.provide(name, subject::task(task_type, version), now);
        verdict.answer(())
    }

    async fn task_pools(&self) -> Result<Vec<Pool>, Error> {
        let verdict = self.judge(Operation::Read { stream: Stream::Tasks }).await?;
        let pools = self.open()?.log.task_pools();
        verdict.answer(pools)
    }

    async fn remove(&self, stream: Stream, sequence: u64) -> Result<bool, Error> {
        let verdict = self.judge(Operation::Read { stream }).await?;
        let removed = self.open()?.log.remove(stream, sequence);
        verdict.answer(removed)
    }

    async fn backlog(&self) -> Result<u64, Error> {
        let verdict = self.judge(Operation::Read { stream: Stream::Commands }).await?;
        let backlog = self.open()?.log.backlog();
        verdict.answer(backlog)
    }

    async fn figures(&self) -> Result<Figures, Error> {
        let verdict = self.judge(Operation::Read { stream: Stream::Commands }).await?;
        let figures = self.open()?.figures();
        verdict.answer(figures)
    }
}

impl MemoryBus {
    fn answer(&self, apply: impl FnOnce(&mut log::Log, Instant)) -> Result<(), Error> {
        apply(&mut self.open()?.log, Instant::now());
        self.shared.arrived.notify_waiters();
        Ok(())
    }

    /// Does this now, or after the delay that a fault asks for.
    fn when(&self, late: Option<Duration>, act: impl FnOnce(&Self) + Send + 'static) {
        let Some(late) = late else { return act(self) };
        let bus = self.clone();
        #[expect(
            clippy::disallowed_methods,
            reason = "a fault that a test asked for, in the twin"
        )]
        tokio::spawn(async move {
            tokio::time::sleep(late).await;
            act(&bus);
        });
    }

    fn delivery(&self, pulled: consumer::Pulled) -> Delivery {
        let consumer::Pulled { address, stored_at, message } = pulled;
        let (sequence, attempt) = (address.sequence, address.attempt);
        let settle = Box::new(MemorySettle { bus: self.clone(), address });
        Delivery { message, sequence, attempt, stored_at, settle }
    }
}

/// The answers to one delivery. As with JetStream, sending an answer never fails while the
/// connection is up, and nothing reports whether it arrived. As with the adapter, an answer to a
/// delivery of a stream that was made anew since has no effect.
struct MemorySettle {
    bus: MemoryBus,
    address: consumer::Address,
}

impl MemorySettle {
    async fn send(
        &self,
        operation: Operation<'_>,
        apply: impl FnOnce(&mut log::Log, Instant) + Send + 'static,
    ) -> Result<(), Error> {
        let verdict = self.bus.judge(operation).await?;
        if verdict.lost {
            return Ok(());
        }
        let bus = self.bus.clone();
        #[expect(clippy::disallowed_methods, reason = "a fault that a test asked for, in the twin")]
        match verdict.late {
            Some(late) => drop(tokio::spawn(async move {
                tokio::time::sleep(late).await;
                drop(bus.answer(apply));
            })),
            None => bus.answer(apply)?,
        }
        Ok(())
    }
}

#[async_trait]
impl Settle for MemorySettle {
    async fn ack(&self) -> Result<(), Error> {
        let address = self.address;
        let operation = Operation::Ack { sequence: address.sequence };
        self.send(operation, move |log, _| log.ack(address)).await
    }

    async fn retry(&self, delay: Duration) -> Result<(), Error> {
        let address = self.address;
        let operation = Operation::Retry { sequence: address.sequence };
        self.send(operation, move |log, now| log.retry(address, now + delay)).await
    }

    async fn progress(&self) -> Result<(), Error> {
        let address = self.address;
        let operation = Operation::Progress { sequence: address.sequence };
        self.send(operation, move |log, now| log.progress(address, now)).await
    }
}

impl Bus for MemoryBus {
    fn kv(&self, bucket: Bucket) -> Arc<dyn Kv> {
        Arc::new(kv::MemoryKv::new(self, bucket))
    }

    fn outside(&self) -> Arc<dyn Outside> {
        Arc::new(self.clone())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.expiring.notify_one();
    }
}

#[cfg(test)]
mod tests;
