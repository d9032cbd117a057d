//! Tasks whose message the broker has lost: each is handed out again, as its next attempt.
//!
//! An attempt that was handed out before the stream of tasks was created, and that the stream does not
//! have, is lost: the stream that had it is gone. In a stream that has existed all the time, a message
//! that is not there was acknowledged by a worker, whose report may still come. The executor compares
//! the attempt once more, so a task that is found twice is handed out once.

use std::collections::BTreeSet;
use std::time::Duration;

use bus::{Pools, Stream};
use model::{CommandId, Timestamp, derived};
use protocol::{Body, Command, LostTask, Message, Perform, header, subject};
use serde_json::Value;
use store::{LISTED, StoredBookmark};
use tokio::time::Instant;

use crate::outbox::Outbox;
use crate::{Context, Error};

/// The name of the bookmarks that wait for the report of a worker.
const WAIT: &str = LISTED[0];
/// By so much a time of commit may differ from that of the stream, which is asked for over the network.
const MARGIN: Duration = Duration::from_secs(2);
/// Tasks of one part of a look.
const PART: u64 = 500;
/// Tasks that are handed out again by one sweep.
const AGAIN_MAX: usize = 5_000;
/// Commands that wait for executors; with more of them a look goes on later.
const BACKLOG_MAX: u64 = 10_000;
/// Messages of the stream that one read asks for.
const READ: usize = 1_000;
/// Tasks of the stream that are remembered during a look; a stream with more is not compared.
const STORED_MAX: usize = 2_000_000;
/// A stream is young for so long.
const YOUNG: Duration = Duration::from_secs(600);
/// The pause after a look; it doubles while the stream stays the same. A paused instance, for example,
/// hands nothing out.
const PAUSE: Duration = Duration::from_secs(60);
const PAUSE_MAX: Duration = Duration::from_secs(3_600);

/// What one replica knows of the stream.
#[derive(Default)]
pub(crate) struct Lost {
    /// When the stream was created, by the clock of the database.
    since: Option<Timestamp>,
    /// No look begins before this.
    again_at: Option<Instant>,
    pause: Duration,
    look: Option<Look>,
}

/// A look in progress.
struct Look {
    /// The ids of the tasks that the stream has, and of those that are held back.
    stored: BTreeSet<String>,
    after: Option<StoredBookmark>,
}

impl Lost {
    /// Goes on with a look, or begins one when it is time; returns the commands that hand lost tasks out
    /// again, for the sweep to publish, each with the key under which the sweep knows it.
    pub(crate) async fn find(
        &mut self,
        cx: &Context,
        pools: &Pools,
        outbox: &Outbox,
    ) -> Result<Vec<(String, Message)>, Error> {
        // Asked for each time: a stream that was just made is looked through at once, however long the
        // pause after the last look at the one before.
        let Some(age) = cx.bus.span(Stream::Tasks).await?.age else { return Ok(Vec::new()) };
        let created = cx.store.clock().await?.before(age);
        if self.since.is_none_or(|since| apart(since, created) > MARGIN) {
            *self = Self { since: Some(created), pause: PAUSE, ..Self::default() };
        }
        if self.again_at.is_some_and(|at| Instant::now() < at) {
            return Ok(Vec::new());
        }
        let before = self.since.unwrap_or(created).after(MARGIN);
        // What was on its way when the stream was created is there by now: reports, and messages that
        // the outbox has kept, but for tasks that are held back.
        if age < cx.config.lost_after {
            return Ok(Vec::new());
        }
        let Some(held) = outbox.held_before(cx, before).await? else { return Ok(Vec::new()) };
        if cx.bus.backlog().await? > BACKLOG_MAX {
            return Ok(Vec::new());
        }
        if self.look.is_none() {
            // A young stream may lack the consumers of its tasks, too.
            let is_needed =
                age < YOUNG || !cx.store.listed(WAIT, before, None, 1).await?.is_empty();
            let stored = if is_needed { stored(cx, pools).await? } else { Some(BTreeSet::new()) };
            let Some(mut stored) = stored else { return Ok(Vec::new()) };
            stored.extend(held);
            self.look = Some(Look { stored, after: None });
        }
        let Some(look) = &mut self.look else { return Ok(Vec::new()) };
        let mut again = Vec::new();
        while again.len() < AGAIN_MAX {
            let part = cx.store.listed(WAIT, before, look.after.as_ref(), PART).await?;
            let Some(last) = part.last().cloned() else {
                self.look = None;
                self.again_at = Some(Instant::now() + self.pause);
                self.pause = (self.pause * 2).min(PAUSE_MAX);
                break;
            };
            for waits in part {
                let task = waits.bookmark.payload.get("TaskId").and_then(Value::as_str);
                if task.is_some_and(|task| !look.stored.contains(task)) {
                    again.push((waits.bookmark.id.to_string(), hand_out(waits, before)?));
                }
            }
            look.after = Some(last);
        }
        Ok(again)
    }

    /// Begins again with the next sweep: what was found could not be published.
    pub(crate) fn again(&mut self) {
        (self.look, self.again_at, self.pause) = (None, None, PAUSE);
    }
}

/// The tasks that the stream has; none if there are too many. Makes the consumers for them: those that
/// were there are as lost as the messages.
async fn stored(cx: &Context, pools: &Pools) -> Result<Option<BTreeSet<String>>, Error> {
    let mut stored = BTreeSet::new();
    let every = format!("{}.>", subject::TASKS);
    let mut from = 1;
    loop {
        let part = cx.bus.select(Stream::Tasks, &every, from, READ).await?;
        let Some((end, ..)) = part.last() else { return Ok(Some(stored)) };
        from = end + 1;
        for (_, _, message) in &part {
            pools.prepare(message).await?;
            stored.extend(message.header(header::TASK).map(str::to_owned));
        }
        if stored.len() > STORED_MAX {
            tracing::error!(
                "more than {STORED_MAX} tasks wait for workers: those that the broker has lost are \
                 not looked for"
            );
            return Ok(None);
        }
    }
}

fn hand_out(waits: StoredBookmark, before: Timestamp) -> Result<Message, Error> {
    let StoredBookmark { instance_id, bookmark, .. } = waits;
    let time = before.to_string();
    let parts = ["lost", instance_id.as_str(), bookmark.id.as_str(), &time];
    let id = CommandId::new(derived(&parts));
    let lost = LostTask { bookmark_id: bookmark.id, before };
    let perform = Perform { instance_id, lost: Some(lost) };
    Ok(Command::new(id, Body::Perform(perform)).encode()?)
}

fn apart(one: Timestamp, other: Timestamp) -> Duration {
    one.since(other).max(other.since(one))
}

#[cfg(test)]
mod tests;
