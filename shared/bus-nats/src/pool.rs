//! The durable consumers of tasks: one for each type and version.

use std::time::Duration;

use bus::{Error, Pool};
use model::{Backoff, Timestamp, limits};
use protocol::subject;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::NatsBus;
use crate::api::{Api, ApiError, nanos};
use crate::select::select;

/// Workers that take longer say that they are at work, or get the task again.
pub(crate) const ACK_WAIT: Duration = Duration::from_secs(30);
/// Tasks of one type in progress, over all its workers.
const ACK_PENDING_MAX: u32 = 1_000;
/// Longer than an election of a leader (4 to 9 s).
const BUDGET: Duration = Duration::from_secs(12);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// "consumer already exists", with other limits than ours.
const EXISTS: [u64; 2] = [10148, 10013];
/// A consumer with another name has the subject, or has all of them.
const TAKEN: [u64; 2] = [10099, 10100];

impl NatsBus {
    /// Makes the consumer for a type and version of tasks, unless it is there.
    pub(crate) async fn provide_pool(&self, task_type: &str, version: u32) -> Result<(), Error> {
        let name = subject::task_consumer(task_type, version);
        let stream = subject::TASKS_STREAM;
        let body = json!({
            "stream_name": stream,
            "action": "create",
            "config": config(&name, &subject::task(task_type, version)),
        });
        let call = format!("CONSUMER.CREATE.{stream}.{name}");
        let give_up = Instant::now() + BUDGET;
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let failure = match self.open()?.data_api.call(&call, &body).await {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            let code = failure.code();
            if code.is_some_and(|code| EXISTS.contains(&code)) {
                return Ok(());
            }
            let what = format!("the consumer {name} of {stream}");
            if code.is_some_and(|code| TAKEN.contains(&code)) {
                return Err(Error::NotProvisioned(format!(
                    "{what} cannot be made, because another consumer has its tasks: remove that one"
                )));
            }
            let pause = backoff.next();
            let is_passing = matches!(failure, ApiError::NoResponders | ApiError::Timeout);
            if !is_passing || Instant::now() + pause >= give_up {
                return Err(failure.into_error(&what));
            }
            tokio::time::sleep(pause).await;
        }
    }
}

impl NatsBus {
    /// The pools of workers that there are.
    pub(crate) async fn pools_of_tasks(&self) -> Result<Vec<Pool>, Error> {
        let stream = subject::TASKS_STREAM;
        let api = &self.open()?.data_api;
        let mut pools = Vec::new();
        let mut offset = 0;
        loop {
            let asked = json!({ "offset": offset });
            let page = api.call(&format!("CONSUMER.LIST.{stream}"), &asked).await;
            let page =
                page.map_err(|failure| failure.into_error(&format!("the stream {stream}")))?;
            let consumers = page["consumers"].as_array().map_or(&[][..], Vec::as_slice);
            pools.extend(consumers.iter().filter_map(pool));
            offset += consumers.len();
            let total = page["total"].as_u64().and_then(|total| usize::try_from(total).ok());
            let is_last = consumers.is_empty() || total.is_none_or(|total| offset >= total);
            if is_last || pools.len() >= limits::ACTIVITY_TYPES_MAX {
                break;
            }
        }
        for pool in pools.iter_mut().filter(|pool| pool.waiting + pool.in_progress > 0) {
            let filter = subject::task(&pool.task_type, pool.version);
            let oldest = first(api, &filter, 1).await?;
            pool.oldest = oldest.map(|(_, stored_at)| stored_at);
            if pool.waiting == 0 {
                continue;
            }
            let waiting = match oldest {
                Some((sequence, _)) if sequence > pool.delivered => oldest,
                _ => first(api, &filter, pool.delivered + 1).await?,
            };
            pool.oldest_waiting = waiting.map(|(_, stored_at)| stored_at);
        }
        Ok(pools)
    }
}

/// The first task with this subject from a sequence on: its sequence, and when it was stored.
async fn first(api: &Api, filter: &str, from: u64) -> Result<Option<(u64, Timestamp)>, Error> {
    let found = select(api, subject::TASKS_STREAM, filter, from, 1).await?;
    Ok(found.first().map(|(sequence, stored_at, _)| (*sequence, *stored_at)))
}

/// The pool of a consumer, as JetStream describes it; none of a consumer that is not ours.
fn pool(consumer: &Value) -> Option<Pool> {
    let (task_type, version) = subject::task_of(consumer["config"]["filter_subject"].as_str()?)?;
    let number = |member: &str| consumer[member].as_u64().unwrap_or_default();
    Some(Pool {
        task_type,
        version,
        consumer: consumer["name"].as_str()?.to_owned(),
        waiting: number("num_pending"),
        in_progress: number("num_ack_pending"),
        redelivered: number("num_redelivered"),
        asking: number("num_waiting"),
        oldest: None,
        oldest_waiting: None,
        delivered: consumer["delivered"]["stream_seq"].as_u64().unwrap_or_default(),
        made_at: consumer["created"].as_str().and_then(|text| Timestamp::parse(text).ok()),
        ack_wait: consumer["config"]["ack_wait"].as_u64().map_or(ACK_WAIT, Duration::from_nanos),
        // Without a limit it is -1.
        deliveries_max: consumer["config"]["max_deliver"].as_u64().filter(|max| *max > 0),
    })
}

/// The configuration of a consumer, as JetStream's API has it. Deliveries have no limit: attempts
/// are counted by the engine, and a task that is not acknowledged was not done.
fn config(name: &str, filter: &str) -> Value {
    json!({
        "durable_name": name,
        "name": name,
        "description": "the workers for one type and version of tasks pull from it",
        "filter_subject": filter,
        "deliver_policy": "all",
        "ack_policy": "explicit",
        "replay_policy": "instant",
        "ack_wait": nanos(ACK_WAIT),
        "max_deliver": -1,
        "max_ack_pending": ACK_PENDING_MAX,
    })
}
