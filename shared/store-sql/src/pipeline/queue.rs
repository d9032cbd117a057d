//! What waits for a transaction: bounded, in order, and never two of the same key at once.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::Error;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use super::job::{Answer, Key, Work};
use crate::options::Options;
use crate::stats::Counters;

/// Published outbox rows that wait to be removed. Those above are left to the sweep, which
/// publishes them again, and that changes nothing.
const PUBLISHED_MAX: usize = 100_000;
/// Published outbox rows that one transaction removes.
const PUBLISHED_BATCH: usize = 2_000;
/// So many go with the next transaction; fewer wait a moment, because each statement more is a
/// round trip that bursts wait for.
const PUBLISHED_ENOUGH: usize = 128;
/// Bytes that take one place in the queue.
const PLACE_BYTES: usize = 64 * 1024;
/// Jobs that are looked at to fill one batch.
const SCAN_MAX: usize = 1_024;

/// Work and the caller who waits for it.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) answer: oneshot::Sender<Result<Answer, Error>>,
    bytes: usize,
    /// Its places in the queue, given back when its transaction is over.
    _place: OwnedSemaphorePermit,
}

/// What shares a transaction.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) jobs: Vec<Job>,
    pub(crate) published: Vec<String>,
    keys: Vec<Key>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    busy: HashSet<Key>,
    published: Vec<String>,
    /// When the first of them came.
    published_since: Option<Instant>,
    closed: bool,
}

pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    places: Arc<Semaphore>,
    places_max: usize,
    batch_max: usize,
    batch_bytes_max: usize,
    queue_wait: Duration,
    published_wait: Duration,
}

impl Queue {
    pub(crate) fn new(options: &Options) -> Self {
        let places_max = options.queue_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            places: Arc::new(Semaphore::new(places_max)),
            places_max,
            batch_max: options.batch_max.max(1),
            batch_bytes_max: options.batch_bytes_max,
            queue_wait: options.queue_wait,
            published_wait: options.published_wait,
        }
    }

    /// Puts work at the end, waiting a bounded time for a place.
    pub(crate) async fn push(
        &self,
        counters: &Counters,
        work: Work,
        answer: oneshot::Sender<Result<Answer, Error>>,
    ) -> Result<(), Error> {
        let bytes = work.bytes();
        let places = (1 + bytes / PLACE_BYTES).min(self.places_max);
        let places = u32::try_from(places).unwrap_or(u32::MAX);
        let place = Arc::clone(&self.places).acquire_many_owned(places);
        let place = match tokio::time::timeout(self.queue_wait, place).await {
            Ok(Ok(place)) => place,
            Ok(Err(error)) => return Err(Error::Unavailable(error.to_string())),
            Err(_elapsed) => {
                Counters::add(&counters.overloaded, 1);
                return Err(Error::Overloaded("too many bursts wait to be committed".to_owned()));
            }
        };
        let mut state = self.lock();
        if state.closed {
            return Err(closed());
        }
        state.waiting.push_back(Job { work, answer, bytes, _place: place });
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    pub(crate) fn published(&self, ids: Vec<String>) {
        let mut state = self.lock();
        // After closing there may be no transaction to go with; the sweep publishes them again.
        if state.closed {
            return;
        }
        let room = PUBLISHED_MAX.saturating_sub(state.published.len());
        state.published.extend(ids.into_iter().take(room));
        state.published_since.get_or_insert_with(Instant::now);
    }

    /// The next batch; none when the queue is closed and empty.
    pub(crate) async fn take(&self) -> Option<Batch> {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                let mut batch = self.fill(&mut state);
                let have_waited =
                    state.published_since.is_some_and(|at| at.elapsed() >= self.published_wait);
                if have_waited || state.closed || state.published.len() >= PUBLISHED_ENOUGH {
                    batch.published = state.take_published();
                }
                if !batch.jobs.is_empty() || !batch.published.is_empty() {
                    if !state.waiting.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(batch);
                }
                if state.closed && state.waiting.is_empty() {
                    self.changed.notify_one();
                    return None;
                }
            }
            // Either way there may be something to do.
            drop(tokio::time::timeout(self.published_wait, changed).await);
        }
    }

    /// The batch is over; its keys are free.
    pub(crate) fn release(&self, keys: Vec<Key>) {
        let mut state = self.lock();
        for key in keys {
            state.busy.remove(&key);
        }
        drop(state);
        self.changed.notify_one();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    /// Takes what may run now, in order; what has a busy key stays, and so does what is behind it
    /// with one of the same keys.
    fn fill(&self, state: &mut State) -> Batch {
        let mut batch = Batch::default();
        let mut passed: HashSet<Key> = HashSet::new();
        let mut bytes = 0;
        let mut index = 0;
        while batch.jobs.len() < self.batch_max && index < SCAN_MAX {
            let Some(job) = state.waiting.get(index) else { break };
            let keys = &job.work.keys;
            if keys.iter().any(|key| state.busy.contains(key) || passed.contains(key)) {
                passed.extend(keys.iter().cloned());
                index += 1;
                continue;
            }
            bytes += job.bytes;
            if bytes > self.batch_bytes_max && !batch.jobs.is_empty() {
                break;
            }
            state.busy.extend(keys.iter().cloned());
            batch.keys.extend(keys.iter().cloned());
            batch.jobs.extend(state.waiting.remove(index));
        }
        batch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_published(&mut self) -> Vec<String> {
        let some = self.published.len().min(PUBLISHED_BATCH);
        let taken = self.published.drain(..some).collect();
        self.published_since = (!self.published.is_empty()).then(Instant::now);
        taken
    }
}

impl Batch {
    /// The keys that are busy for it.
    pub(crate) fn take_keys(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.keys)
    }
}

fn closed() -> Error {
    Error::Unavailable("it is closed".to_owned())
}
