//! Tasks that their consumer hands out no more: an operator has given it a `max_deliver`, and the workers
//! that got the task so often died of it. Their attempt has failed.
//!
//! nats-server says so once, to those who listen at that moment. What they miss is found where no task of
//! the type is in progress: one that was delivered, and is still in the stream, is handed out no more. It
//! has to be so a minute later, too, because an acknowledgement may be on its way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::{Pool, Stream};
use model::{CommandId, Stimulus, TaskStatus, Timestamp, derived};
use protocol::{Body, Command, Message, TaskCompleted, header, subject};
use serde::Deserialize;
use serde_json::json;
use store::BookmarkFilter;
use tokio::time::Instant;

use crate::{Context, Error};

/// The time between two looks through the consumers.
const PAUSE: Duration = Duration::from_secs(60);
/// The same, where the login of this process may not look.
const DENIED_PAUSE: Duration = Duration::from_secs(3_600);
/// Messages of a consumer that one look reads.
const READ: usize = 1_000;
/// What nats-server has said and no sweep has seen yet.
const ADVISED_MAX: usize = 1_000;

/// What one replica knows of such tasks.
#[derive(Default)]
pub(crate) struct Spent {
    /// What nats-server has said since the last sweep, by the sequence in the stream.
    advised: BTreeMap<u64, Advisory>,
    /// What the last look has found.
    seen: BTreeSet<u64>,
    /// No look begins before this.
    again_at: Option<Instant>,
}

/// What nats-server says, as far as it is needed (`io.nats.jetstream.advisory.v1.max_deliver`).
#[derive(Deserialize)]
struct Advisory {
    timestamp: String,
    stream_seq: u64,
    deliveries: u64,
}

/// The sequence of a task, and the message that says that its attempt failed; none if nobody waits for it.
type Found = (u64, Option<Message>);

impl Spent {
    /// Remembers what nats-server says until the next sweep.
    pub(crate) fn hear(&mut self, advisory: &Message) {
        match serde_json::from_slice::<Advisory>(&advisory.payload) {
            Ok(advisory) if self.advised.len() < ADVISED_MAX => {
                self.advised.insert(advisory.stream_seq, advisory);
            }
            // The next look finds it.
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "an advisory about a task cannot be read"),
        }
    }

    /// Forgets what nats-server has said: another replica sweeps.
    pub(crate) fn forget(&mut self) {
        self.advised.clear();
    }

    /// The tasks that were found since the last sweep.
    pub(crate) async fn find(&mut self, cx: &Context) -> Result<Vec<Found>, Error> {
        let mut found = self.advised(cx).await?;
        if self.again_at.is_some_and(|at| Instant::now() < at) {
            return Ok(found);
        }
        self.again_at = Some(Instant::now() + PAUSE);
        match self.look(cx).await {
            Err(Error::Bus(bus::Error::Denied(text))) => self.denied(&text),
            looked => found.extend(looked?),
        }
        Ok(found)
    }

    /// The login of this process may not do what this needs, as before this version.
    pub(crate) fn denied(&mut self, text: &str) {
        self.again_at = Some(Instant::now() + DENIED_PAUSE);
        tracing::warn!(
            "tasks that were delivered as often as `max_deliver` of their consumer says are not \
             looked for: {text}; `staunch nats-permissions` prints what the role timer needs"
        );
    }

    async fn advised(&mut self, cx: &Context) -> Result<Vec<Found>, Error> {
        let mut found = Vec::new();
        for (sequence, advisory) in std::mem::take(&mut self.advised) {
            let every = format!("{}.>", subject::TASKS);
            let first = cx.bus.select(Stream::Tasks, &every, sequence, 1).await?;
            // A stream that was made anew has other messages under the same numbers.
            let said_at = Timestamp::parse(&advisory.timestamp).ok();
            let is_it = |(own, stored_at, _): &(u64, Timestamp, Message)| {
                *own == sequence && said_at.is_some_and(|said_at| *stored_at <= said_at)
            };
            if let Some((.., task)) = first.into_iter().find(is_it) {
                found.push((sequence, failure(cx, &task, advisory.deliveries).await?));
            }
        }
        Ok(found)
    }

    async fn look(&mut self, cx: &Context) -> Result<Vec<Found>, Error> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for pool in cx.bus.task_pools().await?.iter().filter(|pool| may_have_spent(pool)) {
            let own = subject::task(&pool.task_type, pool.version);
            for (sequence, _, task) in cx.bus.select(Stream::Tasks, &own, 1, READ).await? {
                if sequence > pool.delivered {
                    break;
                }
                if self.seen.contains(&sequence) {
                    let deliveries = pool.deliveries_max.unwrap_or_default();
                    found.push((sequence, failure(cx, &task, deliveries).await?));
                }
                seen.insert(sequence);
            }
        }
        self.seen = seen;
        Ok(found)
    }
}

/// Where a task is in progress, nobody but the server knows which.
fn may_have_spent(pool: &Pool) -> bool {
    pool.in_progress == 0 && (pool.redelivered > 0 || pool.deliveries_max.is_some())
}

/// The report that the attempt failed. There is none of a task that nobody waits for, and none of a message
/// that is no task of this version: it is of no use.
async fn failure(cx: &Context, task: &Message, deliveries: u64) -> Result<Option<Message>, Error> {
    let Some(kind) = subject::task_of(&task.subject) else { return Ok(None) };
    let (Some(task_id), Some(attempt)) = (
        task.header(header::TASK),
        task.header(header::ATTEMPT).and_then(|attempt| attempt.parse().ok()),
    ) else {
        return Ok(None);
    };
    let hash = Some(Stimulus::task(task_id).hash());
    let waits = BookmarkFilter { hash, ..BookmarkFilter::default() };
    let waiting = cx.store.find(&waits, 1).await?;
    let Some(waiting) = waiting.first() else { return Ok(None) };
    tracing::warn!(
        task = task_id,
        subject = task.subject,
        attempt,
        instance = %waiting.instance_id,
        "no worker gets this task any more: its consumer has handed it out as often as its max_deliver \
         says, so this attempt has failed"
    );
    Ok(report(task_id, kind, attempt, deliveries))
}

fn report(task_id: &str, kind: (String, u32), attempt: u32, deliveries: u64) -> Option<Message> {
    let times = match deliveries {
        0 => "as often as its consumer allows".to_owned(),
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let detail = format!(
        "the consumer {} has handed the task out {times}, as its max_deliver says, and no worker has \
         reported its end: see what the workers say of it",
        subject::task_consumer(&kind.0, kind.1)
    );
    let error = json!({
        "type": "TaskDeliveriesExceeded",
        "title": "The workers that got the task have not ended it",
        "detail": detail,
    });
    let id = CommandId::new(derived(&["spent", task_id, &attempt.to_string()]));
    let body = TaskCompleted {
        task_id: task_id.to_owned(),
        kind: Some(kind),
        status: Some(TaskStatus::Failed),
        attempt: Some(attempt),
        error: error.as_object().cloned(),
        ..TaskCompleted::default()
    };
    let message = Command::new(id, Body::Task(body)).encode();
    message.inspect_err(|error| tracing::warn!(%error, "a report of a task is no message")).ok()
}

#[cfg(test)]
mod tests;
