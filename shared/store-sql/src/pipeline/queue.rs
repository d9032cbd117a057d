//! The jobs that wait for a transaction: bounded, in order, and never two with the same key in
//! progress.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::Error;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use super::job::{Key, Work, WorkEnd};
use crate::options::Options;
use crate::stats::Counters;

/// The largest number of published outbox rows that wait for their removal. Further rows are left
/// to the sweep, which publishes them again; the stream drops the duplicates.
const PUBLISHED_MAX: usize = 100_000;
/// Published outbox rows that one transaction removes.
const PUBLISHED_BATCH: usize = 2_000;
/// With this many rows the next transaction removes them. Fewer rows wait a moment, because another
/// statement is a round trip for which the bursts have to wait.
const PUBLISHED_ENOUGH: usize = 128;
/// Bytes that take one permit of the queue.
const PERMIT_BYTES: usize = 64 * 1024;
/// The number of jobs that are examined for one batch.
const SCAN_MAX: usize = 1_024;

/// Work, and the caller that waits for it.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) answer: oneshot::Sender<Result<WorkEnd, Error>>,
    bytes: usize,
    /// Its permits, released when its transaction is over.
    _room: OwnedSemaphorePermit,
}

/// The jobs that share a transaction.
pub(crate) struct Batch<'a> {
    pub(crate) jobs: Vec<Job>,
    pub(crate) published: Vec<String>,
    pub(crate) keys: BusyKeys<'a>,
}

/// The keys of a batch. They are released when this is dropped, also by a panic.
pub(crate) struct BusyKeys<'a> {
    queue: &'a Queue,
    keys: Vec<Key>,
}

impl Drop for BusyKeys<'_> {
    fn drop(&mut self) {
        self.queue.release(&self.keys);
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    busy: HashSet<Key>,
    published: Vec<String>,
    /// The time when the first of the published rows came.
    published_since: Option<Instant>,
    closed: bool,
}

pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    room: Arc<Semaphore>,
    room_max: usize,
    batch_max: usize,
    batch_bytes_max: usize,
    queue_wait: Duration,
    published_wait: Duration,
}

impl Queue {
    pub(crate) fn new(options: &Options) -> Self {
        let room_max = options.queue_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            room: Arc::new(Semaphore::new(room_max)),
            room_max,
            batch_max: options.batch_max.max(1),
            batch_bytes_max: options.batch_bytes_max,
            queue_wait: options.queue_wait,
            published_wait: options.published_wait,
        }
    }

    /// Puts work at the end of the queue; waits a limited time for room.
    pub(crate) async fn push(
        &self,
        counters: &Counters,
        work: Work,
        answer: oneshot::Sender<Result<WorkEnd, Error>>,
    ) -> Result<(), Error> {
        let bytes = work.bytes();
        let permits = (1 + bytes / PERMIT_BYTES).min(self.room_max);
        let permits = u32::try_from(permits).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(permits);
        let room = match tokio::time::timeout(self.queue_wait, room).await {
            Ok(Ok(room)) => room,
            Ok(Err(error)) => return Err(Error::Unavailable(error.to_string())),
            Err(_elapsed) => {
                Counters::add(&counters.overloaded, 1);
                meter::DATABASE_OVERLOADED.inc(&[]);
                return Err(Error::Overloaded("too many bursts wait to be committed".to_owned()));
            }
        };
        let mut state = self.lock();
        if state.closed {
            return Err(closed());
        }
        state.waiting.push_back(Job { work, answer, bytes, _room: room });
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    pub(crate) fn published(&self, ids: Vec<String>) {
        let mut state = self.lock();
        // After closing there may be no next transaction; the sweep publishes the rows again.
        if state.closed {
            return;
        }
        let room = PUBLISHED_MAX.saturating_sub(state.published.len());
        state.published.extend(ids.into_iter().take(room));
        state.published_since.get_or_insert_with(Instant::now);
    }

    /// The next batch; none when the queue is closed and empty.
    pub(crate) async fn take(&self) -> Option<Batch<'_>> {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.lock();
                let (jobs, keys) = self.fill(&mut state);
                let have_waited =
                    state.published_since.is_some_and(|at| at.elapsed() >= self.published_wait);
                let mut published = Vec::new();
                if have_waited || state.closed || state.published.len() >= PUBLISHED_ENOUGH {
                    published = state.take_published();
                }
                if !jobs.is_empty() || !published.is_empty() {
                    if !state.waiting.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(Batch { jobs, published, keys: BusyKeys { queue: self, keys } });
                }
                if state.closed && state.waiting.is_empty() {
                    self.changed.notify_one();
                    return None;
                }
            }
            // In both cases there may be something to do.
            drop(tokio::time::timeout(self.published_wait, changed).await);
        }
    }

    /// Releases the keys of a batch that is over.
    fn release(&self, keys: &[Key]) {
        let mut state = self.lock();
        for key in keys {
            state.busy.remove(key);
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

    /// Drops the jobs that still wait. Their callers get an unknown outcome.
    pub(crate) fn give_up(&self) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        drop(waiting);
    }

    /// Takes the jobs that may run now, in order, and marks their keys as busy. A job with a busy
    /// key stays, and so does every later job with one of its keys.
    fn fill(&self, state: &mut State) -> (Vec<Job>, Vec<Key>) {
        let mut jobs: Vec<Job> = Vec::new();
        let mut taken = Vec::new();
        let mut passed: HashSet<Key> = HashSet::new();
        let mut bytes = 0;
        let mut index = 0;
        while jobs.len() < self.batch_max && index < SCAN_MAX {
            let Some(job) = state.waiting.get(index) else { break };
            let keys = &job.work.keys;
            if keys.iter().any(|key| state.busy.contains(key) || passed.contains(key)) {
                passed.extend(keys.iter().cloned());
                index += 1;
                continue;
            }
            bytes += job.bytes;
            if bytes > self.batch_bytes_max && !jobs.is_empty() {
                break;
            }
            state.busy.extend(keys.iter().cloned());
            taken.extend(keys.iter().cloned());
            jobs.extend(state.waiting.remove(index));
        }
        (jobs, taken)
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

fn closed() -> Error {
    Error::Unavailable("the store is closed".to_owned())
}
