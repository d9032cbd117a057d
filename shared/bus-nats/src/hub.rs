//! One watch per bucket for the whole process, shared by all its followers.
//!
//! The watch has its own consumer. It starts from a full snapshot after every reconnect, every gap
//! in the consumer's sequence numbers and every silence: a watch that continued from its last
//! position would miss deletions whose markers have expired meanwhile.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::{Message, StatusCode, Subscriber};
use bus::{Change, Error, Revision, Watch};
use bytes::Bytes;
use futures::StreamExt as _;
use model::Backoff;
use serde_json::json;
use tasks::Trouble;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::api::{Api, nanos};
use crate::bucket::is_tombstone;
use crate::connection::Link;
use crate::heal::Healer;

const HEARTBEAT: Duration = Duration::from_secs(2);
/// After two and a half heartbeats without a message, the consumer counts as gone.
const SILENCE_MAX: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The number of changes that a follower may be behind; one that is further behind starts again
/// with a snapshot.
const BEHIND_MAX: usize = 65_536;

pub(crate) struct Hub {
    bucket: &'static str,
    api: Api,
    link: Link,
    healer: Healer,
    closed: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    is_synced: bool,
    live: BTreeMap<String, (Bytes, Revision)>,
    trouble: Trouble,
    followers: Vec<mpsc::Sender<Change>>,
}

impl Hub {
    pub(crate) fn new(
        bucket: &'static str,
        api: Api,
        link: Link,
        healer: Healer,
        closed: &CancellationToken,
    ) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { bucket, api, link, healer, closed: closed.child_token(), state })
    }

    /// A snapshot of all known keys, and all changes after it. The first follower starts the watch.
    pub(crate) fn watch(self: &Arc<Self>) -> Watch {
        let mut state = self.state();
        let known = state.live.len() + 2;
        let (sender, receiver) = mpsc::channel(BEHIND_MAX.max(known * 2));
        let sets = state.live.iter().map(|(key, (value, revision))| Change::Set {
            key: key.clone(),
            value: Some(value.clone()),
            revision: *revision,
        });
        let synced = state.is_synced.then_some(Change::Synced);
        let snapshot: Vec<_> = std::iter::once(Change::Reset).chain(sets).chain(synced).collect();
        for change in snapshot {
            // The channel has room for the whole snapshot.
            drop(sender.try_send(change));
        }
        state.followers.push(sender);
        if !std::mem::replace(&mut state.is_running, true) {
            let (hub, closed) = (Arc::clone(self), self.closed.clone());
            drop(tasks::supervise("bus: watch a bucket", closed, move || run(Arc::clone(&hub))));
        }
        drop(state);
        Box::pin(futures::stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|change| (change, receiver))
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: &Change) {
        let mut state = self.state();
        match change {
            Change::Reset => {
                state.is_synced = false;
                state.live.clear();
            }
            Change::Synced => state.is_synced = true,
            Change::Set { key, value: Some(value), revision } => {
                state.live.insert(key.clone(), (value.clone(), *revision));
            }
            Change::Set { key, value: None, .. } => {
                state.live.remove(key);
            }
        }
        // A follower that has ended or is too far behind is removed: its stream ends.
        state.followers.retain(|follower| follower.try_send(change.clone()).is_ok());
    }

    /// Follows the bucket until the watch breaks; returns the reason.
    async fn session(&self) -> Result<String, Error> {
        let mut reconnects = self.link.reconnects();
        let client = self.api.client();
        let inbox = client.new_inbox();
        let unavailable = |error: &dyn std::fmt::Display| {
            Error::Unavailable(format!("the watch of {}: {error}", self.bucket))
        };
        let mut messages =
            client.subscribe(inbox.clone()).await.map_err(|error| unavailable(&error))?;
        let stream = format!("KV_{}", self.bucket);
        let body = json!({
            "stream_name": stream,
            "config": {
                "description": "a Staunch node follows this bucket",
                "deliver_subject": inbox,
                "deliver_policy": "last_per_subject",
                "filter_subject": format!("$KV.{}.>", self.bucket),
                "ack_policy": "none",
                "max_deliver": 1,
                "flow_control": true,
                "idle_heartbeat": nanos(HEARTBEAT),
                "inactive_threshold": nanos(Duration::from_secs(30)),
                "mem_storage": true,
                "num_replicas": 1,
            }
        });
        let created = self.api.call(&format!("CONSUMER.CREATE.{stream}"), &body).await;
        let created = match created {
            Ok(created) => created,
            Err(failure) => {
                if self.healer.heal(&stream).await {
                    return Ok("the bucket was created again".to_owned());
                }
                return Err(failure.into_error(&format!("the watch of {}", self.bucket)));
            }
        };
        let name = created["name"].as_str().unwrap_or_default().to_owned();
        let pending = created["num_pending"].as_u64().unwrap_or_default();
        if self.state().trouble.ends() {
            tracing::info!(bucket = self.bucket, "a bucket is watched again");
        }
        self.tell(&Change::Reset);
        let mut progress = Progress { seen: 0, until_synced: Some(pending) };
        self.check_synced(&mut progress, pending);
        let why = tokio::select! {
            () = self.closed.cancelled() => "the bus is closed".to_owned(),
            _ = reconnects.changed() => "the connection was opened again".to_owned(),
            why = self.follow(&mut messages, &mut progress) => why,
        };
        // Without this, the server removes the consumer only after a while.
        let call = self.api.subject(&format!("CONSUMER.DELETE.{stream}.{name}"));
        if let Err(error) = client.publish(call, Bytes::new()).await {
            tracing::debug!(%error, "a consumer could not be removed; it will expire");
        }
        Ok(why)
    }

    async fn follow(&self, messages: &mut Subscriber, progress: &mut Progress) -> String {
        loop {
            match tokio::time::timeout(SILENCE_MAX, messages.next()).await {
                Err(_) => return "the server is silent".to_owned(),
                Ok(None) => return "the subscription has ended".to_owned(),
                Ok(Some(message)) => {
                    if let Err(why) = self.take(&message, progress).await {
                        return why;
                    }
                }
            }
        }
    }

    async fn take(&self, message: &Message, progress: &mut Progress) -> Result<(), String> {
        if message.status == Some(StatusCode::IDLE_HEARTBEAT) {
            return self.beat(message, progress).await;
        }
        if let Some(status) = message.status {
            return Err(format!("the server says {status}"));
        }
        let address = AckAddress::of(message).ok_or("a message has no sequence in the stream")?;
        if address.delivered != progress.seen + 1 {
            return Err(format!(
                "changes {} to {} are missing",
                progress.seen + 1,
                address.delivered
            ));
        }
        progress.seen = address.delivered;
        let prefix = format!("$KV.{}.", self.bucket);
        if let Some(key) = message.subject.strip_prefix(&prefix) {
            let is_gone = is_tombstone(message.headers.as_ref());
            let value = (!is_gone).then(|| message.payload.clone());
            self.tell(&Change::Set { key: key.to_owned(), value, revision: address.sequence });
        }
        self.check_synced(progress, address.pending);
        Ok(())
    }

    /// A heartbeat reports how far the consumer is. If it has a reply address, the server waits for
    /// an answer there before it goes on.
    async fn beat(&self, message: &Message, progress: &Progress) -> Result<(), String> {
        let header = |name: &str| message.headers.as_ref().and_then(|headers| headers.get(name));
        let stalled = header("Nats-Consumer-Stalled").map(ToString::to_string);
        let address = message.reply.as_ref().map(ToString::to_string).or(stalled);
        if let Some(address) = address {
            let answered = self.api.client().publish(address, Bytes::new()).await;
            answered.map_err(|error| format!("no answer could be sent: {error}"))?;
        }
        let last = header("Nats-Last-Consumer").and_then(|last| last.as_str().parse::<u64>().ok());
        match last {
            Some(last) if last > progress.seen => Err(format!("changes up to {last} are missing")),
            _ => Ok(()),
        }
    }

    fn check_synced(&self, progress: &mut Progress, pending: u64) {
        let is_complete =
            progress.until_synced.is_some_and(|until| pending == 0 || progress.seen >= until);
        if is_complete {
            progress.until_synced = None;
            self.tell(&Change::Synced);
        }
    }

    fn is_synced(&self) -> bool {
        self.state().is_synced
    }
}

struct Progress {
    /// The consumer's sequence number of the last change that was taken.
    seen: u64,
    /// The number of changes with which the snapshot is complete; none once it is.
    until_synced: Option<u64>,
}

/// The address for the acknowledgement of a message, and the facts about the message that it
/// contains.
pub(crate) struct AckAddress<'a> {
    /// The stream.
    pub(crate) stream: &'a str,
    /// The number of deliveries.
    pub(crate) attempt: i64,
    /// The message's sequence in the stream.
    pub(crate) sequence: u64,
    /// Its number among the consumer's deliveries.
    pub(crate) delivered: u64,
    /// The time when it was stored, in nanoseconds.
    pub(crate) stored_nanos: i128,
    /// The number of messages that wait after it.
    pub(crate) pending: u64,
}

impl<'a> AckAddress<'a> {
    /// The address of a delivery.
    pub(crate) fn of(message: &'a Message) -> Option<Self> {
        Self::read(message.reply.as_ref()?)
    }

    /// Reads `$JS.ACK.<stream>.<consumer>.<attempt>.<sequence>.<delivered>.<time>.<pending>`; the
    /// newer form has domain and account before the stream.
    pub(crate) fn read(address: &'a str) -> Option<Self> {
        let tokens: Vec<_> = address.strip_prefix("$JS.ACK.")?.split('.').collect();
        let start = match tokens.len() {
            7 => 2,
            9.. => 4,
            _ => return None,
        };
        let number = |at: usize| tokens.get(start + at)?.parse::<u64>().ok();
        Some(Self {
            stream: tokens.get(start - 2)?,
            attempt: i64::try_from(number(0)?).ok()?,
            sequence: number(1)?,
            delivered: number(2)?,
            stored_nanos: i128::from(number(3)?),
            pending: number(4)?,
        })
    }
}

async fn run(hub: Arc<Hub>) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    while !hub.closed.is_cancelled() {
        let ended = tokio::select! {
            () = hub.closed.cancelled() => break,
            ended = hub.session() => ended,
        };
        if hub.is_synced() {
            backoff.reset();
        }
        match ended {
            Ok(why) => tracing::debug!(bucket = hub.bucket, why, "a watch starts again"),
            Err(error) if hub.state().trouble.is_news(&error) => {
                tracing::warn!(bucket = hub.bucket, %error, "a watch cannot start");
            }
            Err(_) => {}
        }
        tokio::select! {
            () = hub.closed.cancelled() => break,
            () = tokio::time::sleep(backoff.next()) => {}
        }
    }
    let mut state = hub.state();
    state.followers.clear();
    state.is_running = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_address_are_read() {
        for reply in [
            "$JS.ACK.S.C.1.22.3.1700000000000000000.5",
            "$JS.ACK._.AC.S.C.1.22.3.1700000000000000000.5.x",
        ] {
            let address = AckAddress::read(reply).unwrap();
            assert_eq!(
                (address.attempt, address.sequence, address.delivered, address.pending),
                (1, 22, 3, 5)
            );
            assert_eq!(address.stream, "S");
        }
        assert!(AckAddress::read("_INBOX.x").is_none());
    }
}
