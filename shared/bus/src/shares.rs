//! The share of the stream of tasks that the tasks of one type may take.
//!
//! While the stream is at most half full, every task passes. After that, a task passes while those of
//! its type that the stream has, each counted with the size of this one, take at most an eighth of
//! what is free. So one type without workers leaves almost half of the stream to the others, and each
//! further one leaves eight ninths of what it found. The first task of a type always passes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use protocol::{Message, subject};
use tokio::time::Instant;

use crate::lock::lock;
use crate::{Bus, Error, Fill, Stream};

/// What the stream has is asked for again after this time.
const SEEN_FOR: Duration = Duration::from_secs(1);
/// It is asked for earlier once this part of what is free has passed: other processes publish, too.
const SEEN_PART: u64 = 32;
/// The part of what is free that the tasks of one type may take.
const SHARE_PART: u64 = 8;

/// What one process knows of the stream of tasks.
#[derive(Default)]
pub(crate) struct Shares {
    seen: Arc<Mutex<Seen>>,
    /// One asks, and the others wait for the answer.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Seen {
    /// The time of the look; `None` before the first.
    at: Option<Instant>,
    /// The bytes of the stream, with those that passed since.
    bytes: u64,
    /// `None` where the stream has no limit, or nothing is known.
    bytes_max: Option<u64>,
    /// The bytes that passed since the look.
    passed: u64,
    /// The messages of each subject that was asked for since the look, with those that passed since.
    own: BTreeMap<String, u64>,
    /// What has passed and may not be stored yet: the messages and the bytes of each subject. No look
    /// shows them.
    on_the_way: BTreeMap<String, (u64, u64)>,
}

/// A message that may be published: kept until it is.
#[must_use = "it counts as published once this is dropped"]
#[derive(Debug, Default)]
pub struct Passed {
    _on_the_way: Option<OnTheWay>,
}

struct OnTheWay {
    seen: Arc<Mutex<Seen>>,
    name: String,
    size: u64,
}

impl Shares {
    /// Lets a message pass, unless it is a task whose type has more than its share.
    ///
    /// # Errors
    /// [`Error::Full`] says how many tasks of the type wait.
    pub(crate) async fn admit(&self, bus: &dyn Bus, message: &Message) -> Result<Passed, Error> {
        let name = message.subject.as_str();
        if !name.strip_prefix(subject::TASKS).is_some_and(|rest| rest.starts_with('.')) {
            return Ok(Passed::default());
        }
        let _turn = self.turn.lock().await;
        if self.seen().is_old() {
            self.look(bus, name, true).await;
        }
        if self.seen().lacks(name) {
            self.look(bus, name, false).await;
        }
        let size = size(message);
        let mut seen = self.seen();
        seen.check(name, size)?;
        seen.pass(name, size);
        let on_the_way = OnTheWay { seen: Arc::clone(&self.seen), name: name.to_owned(), size };
        Ok(Passed { _on_the_way: Some(on_the_way) })
    }

    /// Asks what the stream has. A task is not held back because the answer is missing.
    async fn look(&self, bus: &dyn Bus, name: &str, is_new: bool) {
        let fill = bus.fill(Stream::Tasks, name).await;
        let mut seen = self.seen();
        if is_new {
            (seen.at, seen.passed) = (Some(Instant::now()), 0);
            seen.own.clear();
        }
        match fill {
            Ok(fill) => seen.set(name, fill),
            Err(error) => {
                tracing::debug!(%error, "not known how full the stream of tasks is");
                seen.bytes_max = None;
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }
}

impl Seen {
    fn is_old(&self) -> bool {
        let Some(at) = self.at else { return true };
        at.elapsed() >= SEEN_FOR || self.free().is_some_and(|free| self.passed > free / SEEN_PART)
    }

    fn free(&self) -> Option<u64> {
        self.bytes_max.map(|bytes_max| bytes_max.saturating_sub(self.bytes))
    }

    fn is_over_half(&self) -> bool {
        self.free().is_some_and(|free| self.bytes > free)
    }

    /// The messages of this subject decide, and are not known.
    fn lacks(&self, name: &str) -> bool {
        self.is_over_half() && !self.own.contains_key(name)
    }

    fn set(&mut self, name: &str, fill: Fill) {
        let Fill { bytes, bytes_max, own } = fill;
        let on_the_way: u64 = self.on_the_way.values().map(|(_, bytes)| bytes).sum();
        self.bytes = bytes.saturating_add(on_the_way);
        self.bytes_max = bytes_max;
        let own_on_the_way = self.on_the_way.get(name).map_or(0, |(count, _)| *count);
        self.own.insert(name.to_owned(), own.saturating_add(own_on_the_way));
    }

    fn check(&self, name: &str, size: u64) -> Result<(), Error> {
        let (Some(free), Some(own), true) = (self.free(), self.own.get(name), self.is_over_half())
        else {
            return Ok(());
        };
        if own.saturating_mul(size) <= free / SHARE_PART {
            return Ok(());
        }
        let whose = match subject::task_of(name) {
            Some((task_type, version)) => format!("{task_type} version {version}"),
            None => name.to_owned(),
        };
        Err(Error::Full(format!(
            "{own} tasks of {whose} wait, and the stream of tasks is more than half full ({free} bytes \
             are free): this one waits until workers have taken some"
        )))
    }

    fn pass(&mut self, name: &str, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
        self.passed = self.passed.saturating_add(size);
        if let Some(own) = self.own.get_mut(name) {
            *own = own.saturating_add(1);
        }
        let (count, bytes) = self.on_the_way.entry(name.to_owned()).or_default();
        (*count, *bytes) = (count.saturating_add(1), bytes.saturating_add(size));
    }

    fn arrived(&mut self, name: &str, size: u64) {
        let Some((count, bytes)) = self.on_the_way.get_mut(name) else { return };
        (*count, *bytes) = (count.saturating_sub(1), bytes.saturating_sub(size));
        if *count == 0 {
            self.on_the_way.remove(name);
        }
    }
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        lock(&self.seen).arrived(&self.name, self.size);
    }
}

impl std::fmt::Debug for OnTheWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OnTheWay({} bytes to {})", self.size, self.name)
    }
}

/// About the bytes that a message takes in the stream.
fn size(message: &Message) -> u64 {
    let headers = message.headers.iter().map(|(name, value)| name.len() + value.len());
    let size = message.subject.len() + message.payload.len() + headers.sum::<usize>();
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
