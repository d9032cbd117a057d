//! Tasks for workers that speak no NATS: taken from the consumers of their types, and answered at the
//! address of the delivery, which any process knows how to use.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::{HeaderMap, Message, StatusCode, Subscriber};
use async_trait::async_trait;
use bus::{Error, Handed, TaskAnswer, Tasks};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::select_all;
use model::{Timestamp, limits};
use protocol::subject;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::NatsBus;
use crate::api::{CONSUMER_NOT_FOUND, message_in, nanos};
use crate::hub::AckAddress;
use crate::incarnation::has;
use crate::options::ANSWER_MAX;
use crate::pool::ACK_WAIT;
use crate::pull::BATCH_COMPLETED;
use crate::queue::timestamp;

/// The longest single request for the next task: the server may have forgotten it.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// A type without a consumer is looked for again after this time.
const MISSING_AGAIN: Duration = Duration::from_secs(1);
/// The server refuses a shorter wait.
const WAIT_MIN: Duration = Duration::from_millis(20);
/// The wait for what has come to an inbox that takes nothing new.
const REST_MAX: Duration = Duration::from_secs(1);

/// The type with which the next call begins, so that no type waits behind another for ever.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// The consumer of one type and version.
struct Pool {
    name: String,
    ack_wait: Duration,
}

#[async_trait]
impl Tasks for NatsBus {
    async fn take_tasks(
        &self,
        kinds: &[(String, u32)],
        max: usize,
        wait: Duration,
    ) -> Result<Vec<Handed>, Error> {
        let count = kinds.len().min(limits::TASK_KINDS_PER_POLL_MAX);
        let kinds = kinds.get(..count).unwrap_or_default();
        let give_up = Instant::now() + wait;
        loop {
            let mut pools = self.consumers_of(kinds).await?;
            let first = TURN.fetch_add(1, Ordering::Relaxed) % pools.len().max(1);
            pools.rotate_left(first);
            let mut handed = Vec::new();
            for pool in &pools {
                if handed.len() < max {
                    self.take_waiting(pool, max - handed.len(), &mut handed).await?;
                }
            }
            let left = give_up.saturating_duration_since(Instant::now());
            if !handed.is_empty() || left < WAIT_MIN {
                return Ok(handed);
            }
            let longest = if pools.len() < kinds.len() { MISSING_AGAIN } else { REQUEST_MAX };
            if pools.is_empty() {
                tokio::time::sleep(left.min(longest)).await;
                continue;
            }
            let mut handed = self.take_first(&pools, left.min(longest)).await?;
            if handed.is_empty() {
                continue;
            }
            // Several came at the same time, and the caller wants fewer.
            for surplus in handed.split_off(handed.len().min(max)) {
                self.answer_task(&surplus.address, TaskAnswer::Back(Duration::ZERO)).await?;
            }
            return Ok(handed);
        }
    }

    async fn answer_task(&self, address: &str, answer: TaskAnswer) -> Result<(), Error> {
        let Some(stored_at) = stored(address) else {
            return Err(Error::Corrupt(format!("{address:?} is no address of a task")));
        };
        let api = &self.open()?.data_api;
        // The broker may have lost its store since: the address is that of another task then, which
        // this would end.
        if matches!(answer, TaskAnswer::Done) && !has(api, subject::TASKS_STREAM, stored_at).await?
        {
            tracing::debug!(address, "a task is not settled any more");
            return Ok(());
        }
        let text = match answer {
            TaskAnswer::Done => Bytes::from_static(b"+ACK"),
            TaskAnswer::Working => Bytes::from_static(b"+WPI"),
            TaskAnswer::Back(delay) => {
                Bytes::from(format!("-NAK {}", json!({"delay": nanos(delay)})))
            }
        };
        let sent = api.answer(address.to_owned(), HeaderMap::new(), text, ANSWER_MAX).await;
        sent.map(drop).map_err(|failure| failure.into_error("the answer to a task"))
    }
}

impl NatsBus {
    /// The consumers of these types that exist.
    async fn consumers_of(&self, kinds: &[(String, u32)]) -> Result<Vec<Pool>, Error> {
        let (api, stream) = (&self.open()?.data_api, subject::TASKS_STREAM);
        let mut pools = Vec::new();
        for (task_type, version) in kinds {
            let name = subject::task_consumer(task_type, *version);
            match api.call(&format!("CONSUMER.INFO.{stream}.{name}"), &Value::Null).await {
                Ok(info) => {
                    let own = info["config"]["ack_wait"].as_u64().map(Duration::from_nanos);
                    pools.push(Pool { name, ack_wait: own.unwrap_or(ACK_WAIT) });
                }
                Err(failure) if failure.code() == Some(CONSUMER_NOT_FOUND) => {}
                Err(failure) => {
                    return Err(failure.into_error(&format!("the consumer {name} of {stream}")));
                }
            }
        }
        Ok(pools)
    }

    /// Asks for the next tasks of a consumer; they come to a new inbox.
    async fn ask_for_tasks(&self, pool: &Pool, mut body: Value) -> Result<Subscriber, Error> {
        let api = &self.open()?.data_api;
        let failed = |error: &dyn std::fmt::Display| {
            Error::Unavailable(format!("the request for tasks of {}: {error}", pool.name))
        };
        let inbox = api.client().new_inbox();
        let tasks = api.client().subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
        body["max_bytes"] = limits::PULL_BYTES_MAX.into();
        let asked =
            api.client().publish_with_reply(next(self, pool)?, inbox, body.to_string().into());
        asked.await.map_err(|error| failed(&error))?;
        Ok(tasks)
    }

    /// Takes tasks that wait now.
    ///
    /// Where the stream has several copies, the server hands a task out when the others have heard of it, and
    /// its last status may come before the tasks: that says how many there are.
    async fn take_waiting(
        &self,
        pool: &Pool,
        max: usize,
        handed: &mut Vec<Handed>,
    ) -> Result<(), Error> {
        let body = json!({"batch": max, "no_wait": true});
        let mut tasks = self.ask_for_tasks(pool, body).await?;
        let (mut got, mut sent) = (0, None);
        while got < sent.unwrap_or(max) {
            let patience = if sent.is_some() { REST_MAX } else { ANSWER_MAX };
            match tokio::time::timeout(patience, tasks.next()).await {
                Ok(Some(message)) if is_task(&message) => {
                    got += 1;
                    handed.extend(self.handed(pool, &message));
                }
                // There are no others, or none that fit.
                Ok(Some(status)) => sent = Some(sent_of(&status, max)),
                Ok(None) => break,
                Err(_) if sent.is_some() => break,
                Err(_) => {
                    let inner = self.open()?;
                    let denied = inner.data_api.denied(&next(self, pool)?);
                    return match denied {
                        Some(text) => Err(Error::Denied(format!("tasks of {}: {text}", pool.name))),
                        None if handed.is_empty() => {
                            Err(Error::Unknown(format!("tasks of {}", pool.name)))
                        }
                        None => Ok(()),
                    };
                }
            }
        }
        Ok(())
    }

    /// Waits for the first task of any of these consumers: at most one of each.
    async fn take_first(&self, pools: &[Pool], wait: Duration) -> Result<Vec<Handed>, Error> {
        let body = json!({"batch": 1, "expires": nanos(wait)});
        let mut inboxes = Vec::with_capacity(pools.len());
        for pool in pools {
            inboxes.push(self.ask_for_tasks(pool, body.clone()).await?);
        }
        let mut reconnects = self.open()?.data.reconnects();
        let until = Instant::now() + wait + ANSWER_MAX;
        let (mut handed, mut open) = (Vec::new(), pools.len());
        // The pools of which a task has come, and of which one is on its way behind its status.
        let (mut come, mut coming) = (BTreeSet::new(), BTreeSet::new());
        let mut each = select_all(
            inboxes
                .iter_mut()
                .zip(pools)
                .enumerate()
                .map(|(at, (inbox, pool))| inbox.map(move |message| (at, pool, message))),
        );
        while open > 0 && (handed.is_empty() || !coming.is_empty()) {
            let rest = Instant::now() + REST_MAX;
            let until = if handed.is_empty() { until } else { until.min(rest) };
            let next = tokio::time::timeout_at(until, each.next());
            let next = tokio::select! {
                biased;
                next = next => next,
                // The request is lost with the connection.
                _ = reconnects.changed() => break,
            };
            match next {
                Ok(Some((at, pool, message))) if is_task(&message) => {
                    come.insert(at);
                    coming.remove(&at);
                    handed.extend(self.handed(pool, &message));
                }
                Ok(Some((_, _, status))) if sent_of(&status, 1) == 0 => open -= 1,
                Ok(Some((at, _, _))) => {
                    if !come.contains(&at) {
                        coming.insert(at);
                    }
                }
                Ok(None) | Err(_) => break,
            }
        }
        drop(each);
        if open > 0 {
            // Takes nothing new, and what is on its way: a task that comes to nobody would have to
            // wait for its time to be over.
            for inbox in &mut inboxes {
                if inbox.drain().await.is_err() {
                    return Err(Error::Closed);
                }
            }
            for (inbox, pool) in inboxes.iter_mut().zip(pools) {
                while let Ok(Some(message)) = tokio::time::timeout(REST_MAX, inbox.next()).await {
                    if is_task(&message) {
                        handed.extend(self.handed(pool, &message));
                    }
                }
            }
        }
        Ok(handed)
    }

    fn handed(&self, pool: &Pool, message: &Message) -> Option<Handed> {
        let (Some(place), Some(reply)) = (AckAddress::of(message), &message.reply) else {
            tracing::warn!(subject = %message.subject, "a task has no sequence in a stream");
            return None;
        };
        Some(Handed {
            message: message_in(message),
            deliveries: place.attempt,
            stored_at: timestamp(place.stored_nanos),
            address: reply.to_string(),
            ack_wait: pool.ack_wait,
        })
    }
}

/// The subject of requests for the next tasks of a consumer.
fn next(bus: &NatsBus, pool: &Pool) -> Result<String, Error> {
    let call = format!("CONSUMER.MSG.NEXT.{}.{}", subject::TASKS_STREAM, pool.name);
    Ok(bus.open()?.data_api.subject(&call))
}

/// How many tasks the server hands out for a request of this many that ends with this status.
fn sent_of(status: &Message, asked: usize) -> usize {
    if status.description.as_deref().is_some_and(|said| said.contains(BATCH_COMPLETED)) {
        return asked;
    }
    let headers = status.headers.as_ref();
    let left = headers.and_then(|headers| headers.get("Nats-Pending-Messages"));
    let left = left.and_then(|left| left.as_str().parse().ok()).unwrap_or(asked);
    asked.saturating_sub(left)
}

fn is_task(message: &Message) -> bool {
    message.status.is_none_or(|status| status == StatusCode::OK)
}

/// When the task was stored whose delivery is answered at this address; nothing, if it is of no task.
fn stored(address: &str) -> Option<Timestamp> {
    let is_literal = |byte: u8| byte.is_ascii_graphic() && byte != b'*' && byte != b'>';
    let place = AckAddress::read(address).filter(|_| address.bytes().all(is_literal))?;
    (place.stream == subject::TASKS_STREAM).then(|| timestamp(place.stored_nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_to_tasks_and_nowhere_else() {
        for address in [
            "$JS.ACK.STAUNCH_TASKS.task-Ship-1.1.22.3.1700000000000000000.5",
            "$JS.ACK._.AC.STAUNCH_TASKS.task-Ship-1.1.22.3.1700000000000000000.5.x",
        ] {
            let at = Timestamp::from_millis(1_700_000_000_000);
            assert_eq!(stored(address), Some(at), "{address}");
        }
        for address in [
            "",
            "_INBOX.a",
            "$JS.ACK.STAUNCH_COMMANDS.executor.1.22.3.1700000000000000000.5",
            "$JS.ACK.STAUNCH_TASKS.*.1.22.3.1700000000000000000.5",
            "$JS.ACK.STAUNCH_TASKS.a b.1.22.3.1700000000000000000.5",
            "$JS.ACK.STAUNCH_TASKS.task-Ship-1.1.22.3.5",
            "$JS.ACK.STAUNCH_TASKS.task-Ship-1.1.x.3.1700000000000000000.5",
        ] {
            assert_eq!(stored(address), None, "{address}");
        }
    }
}
