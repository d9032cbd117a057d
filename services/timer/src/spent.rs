//! Tasks that their consumer hands out no more: an operator has given it a `max_deliver`, and the workers
//! that got the task so often died of it. Their attempt has failed.
//!
//! nats-server says so once, to those who listen at that moment. What they miss is found where no task of
//! the type is in progress: one that was delivered, and is still in the stream, is handed out no more. It
//! has to be so a minute later, too, because an acknowledgement may be on its way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::{Pool, Stream};
use model::{CommandId, InstanceId, Stimulus, TaskStatus, Timestamp, derived};
use protocol::{Body, Command, Message, TaskCompleted, header, subject};
use serde::Deserialize;
use serde_json::json;
use store::BookmarkFilter;
use tokio::time::Instant;

use crate::{Context, Error};

/// The time between two looks through the consumers.
const PAUSE: Duration = Duration::from_secs(60);
/// The same, where the login of this process may not look.
pub(crate) const DENIED_PAUSE: Duration = Duration::from_secs(3_600);
/// Messages of a consumer that one look reads.
const READ: usize = 1_000;
/// Tasks whose instances one query looks for.
const PART: usize = 500;
/// What nats-server has said and no sweep has seen yet.
const ADVISED_MAX: usize = 1_000;

/// What one replica knows of such tasks.
#[derive(Default)]
pub(crate) struct Spent {
    /// What nats-server has said since the last sweep, by the sequence in the stream.
    advised: BTreeMap<u64, Advisory>,
    /// What the last look has found.
    seen: BTreeSet<(u64, Timestamp)>,
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

/// A task that no worker gets any more.
struct Task {
    sequence: u64,
    message: Message,
    deliveries: u64,
}

impl Task {
    fn id(&self) -> Option<&str> {
        self.message.header(header::TASK)
    }
}

/// The sequence of such a task, and the message that says that its attempt failed; none if nobody waits for it.
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
        let mut tasks = self.advised(cx).await?;
        if self.again_at.is_none_or(|at| Instant::now() >= at) {
            self.again_at = Some(Instant::now() + PAUSE);
            match self.look(cx).await {
                Err(Error::Bus(bus::Error::Denied(text))) => self.denied(&text),
                looked => tasks.extend(looked?),
            }
        }
        let mut found = Vec::with_capacity(tasks.len());
        for part in tasks.chunks(PART) {
            let waiting = waiting(cx, part).await?;
            found.extend(part.iter().map(|task| (task.sequence, failure(task, &waiting))));
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

    async fn advised(&mut self, cx: &Context) -> Result<Vec<Task>, Error> {
        let mut found = Vec::new();
        for (sequence, advisory) in std::mem::take(&mut self.advised) {
            let every = format!("{}.>", subject::TASKS);
            let first = cx.bus.select(Stream::Tasks, &every, sequence, 1).await?;
            // A stream that was made anew has other messages under the same numbers.
            let said_at = Timestamp::parse(&advisory.timestamp).ok();
            let is_it = |(own, stored_at, _): &(u64, Timestamp, Message)| {
                *own == sequence && said_at.is_some_and(|said_at| *stored_at <= said_at)
            };
            let task = first.into_iter().find(is_it);
            let deliveries = advisory.deliveries;
            found.extend(task.map(|(.., message)| Task { sequence, message, deliveries }));
        }
        Ok(found)
    }

    async fn look(&mut self, cx: &Context) -> Result<Vec<Task>, Error> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for pool in cx.bus.task_pools().await?.iter().filter(|pool| may_have_spent(pool)) {
            let own = subject::task(&pool.task_type, pool.version);
            for (sequence, at, message) in cx.bus.select(Stream::Tasks, &own, 1, READ).await? {
                if sequence > pool.delivered {
                    break;
                }
                if self.seen.contains(&(sequence, at)) {
                    let deliveries = pool.deliveries_max.unwrap_or_default();
                    found.push(Task { sequence, message, deliveries });
                }
                seen.insert((sequence, at));
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

/// The instances that wait for any of these tasks, by the hash of what they wait for.
async fn waiting(cx: &Context, tasks: &[Task]) -> Result<BTreeMap<String, InstanceId>, Error> {
    let hashes: Vec<_> =
        tasks.iter().filter_map(Task::id).map(|id| Stimulus::task(id).hash()).collect();
    if hashes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let limit = hashes.len() as u64;
    let waiting =
        cx.store.find(&BookmarkFilter { hashes, ..BookmarkFilter::default() }, limit).await?;
    Ok(waiting.into_iter().map(|one| (one.bookmark.hash, one.instance_id)).collect())
}

/// The report that the attempt failed. There is none of a task that nobody waits for, and none of a message
/// that is no task of this version: it is of no use.
fn failure(task: &Task, waiting: &BTreeMap<String, InstanceId>) -> Option<Message> {
    let kind = subject::task_of(&task.message.subject)?;
    let id = task.id()?;
    let attempt = task.message.header(header::ATTEMPT)?.parse().ok()?;
    let instance = waiting.get(&Stimulus::task(id).hash())?;
    tracing::warn!(
        task = id,
        subject = task.message.subject,
        attempt,
        %instance,
        "no worker gets this task any more: its consumer has handed it out as often as its max_deliver \
         says, so this attempt has failed"
    );
    report(id, kind, attempt, task.deliveries)
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
