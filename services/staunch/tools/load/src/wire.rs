//! Commands over NATS, and their outcomes on one inbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use bus::{Incoming, Queue as _, Subscription, Wire as _};
use bus_nats::NatsBus;
use futures::StreamExt as _;
use model::{DefinitionId, Timestamp};
use protocol::{Command, LifecycleEvent, subject};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::workflow::MESSAGE;

/// The longest wait for one outcome.
const OUTCOME_MAX: Duration = Duration::from_secs(40);

/// One connection that all lanes share.
#[derive(Debug)]
pub(crate) struct Wire {
    bus: NatsBus,
    inbox: String,
    waiting: Arc<Waiting>,
    _listeners: JoinSet<()>,
}

/// The lanes that wait for an outcome or an end.
#[derive(Debug, Default)]
struct Waiting {
    outcomes: Mutex<HashMap<String, oneshot::Sender<Vec<u8>>>>,
    /// By the id of the instance, or by the message that started it.
    ends: Mutex<HashMap<String, oneshot::Sender<Timestamp>>>,
    /// The end of each instance, to distinguish a second end from a repeated event.
    ended: Mutex<HashMap<String, String>>,
    /// Instances that ended twice.
    doubles: Mutex<Vec<String>>,
}

impl Wire {
    /// Connects and subscribes to outcomes, and to the ends of this definition's instances if
    /// wanted.
    pub(crate) async fn connect(url: &str, ends_of: Option<&str>) -> anyhow::Result<Self> {
        let mut options = bus_nats::Options::new(url);
        options.name = "staunch load".to_owned();
        let bus = bus_nats::connect(options).await?;
        let inbox = bus.inbox();
        let waiting = Arc::new(Waiting::default());
        let mut listeners = JoinSet::new();
        let outcomes = bus.subscribe(&format!("{inbox}.*")).await?;
        listeners.spawn(hear_outcomes(outcomes, inbox.len() + 1, Arc::clone(&waiting)));
        if let Some(id) = ends_of {
            let id = subject::token(DefinitionId::new(id).as_str());
            let ends = bus.subscribe(&format!("{}.{id}.*.finished", subject::EVENTS)).await?;
            listeners.spawn(hear_ends(ends, Arc::clone(&waiting)));
        }
        Ok(Self { bus, inbox, waiting, _listeners: listeners })
    }

    /// Publishes a command and waits for its outcome.
    pub(crate) async fn ask(&self, mut command: Command) -> anyhow::Result<Vec<u8>> {
        let key = subject::token(command.id.as_str());
        command.reply_to = Some(format!("{}.{key}", self.inbox));
        let (tell, told) = oneshot::channel();
        lock(&self.waiting.outcomes).insert(key.clone(), tell);
        let asked = async {
            self.bus.publish(command.encode()?).await?;
            Ok::<_, anyhow::Error>(told.await?)
        };
        let asked = tokio::time::timeout(OUTCOME_MAX, asked).await;
        if !matches!(asked, Ok(Ok(_))) {
            lock(&self.waiting.outcomes).remove(&key);
        }
        asked.with_context(|| format!("no outcome within {OUTCOME_MAX:?}"))?
    }

    /// Publishes a command; returns when the stream has stored it.
    pub(crate) async fn tell(&self, command: &Command) -> anyhow::Result<()> {
        self.bus.publish(command.encode()?).await?;
        Ok(())
    }

    /// Subscribes to the end of the instance with this id, or that this message starts.
    pub(crate) fn listen(&self, instance: &str) -> oneshot::Receiver<Timestamp> {
        let (tell, told) = oneshot::channel();
        lock(&self.waiting.ends).insert(instance.to_owned(), tell);
        told
    }

    /// Waits for the end of an instance; returns the time of its commit.
    pub(crate) async fn end(
        &self,
        instance: &str,
        told: oneshot::Receiver<Timestamp>,
    ) -> anyhow::Result<Timestamp> {
        let told = tokio::time::timeout(OUTCOME_MAX, told).await;
        if told.is_err() {
            lock(&self.waiting.ends).remove(instance);
        }
        Ok(told.with_context(|| format!("{instance} did not end within {OUTCOME_MAX:?}"))??)
    }

    /// The number of instances that ended twice.
    pub(crate) fn doubles(&self) -> usize {
        lock(&self.waiting.doubles).len()
    }

    pub(crate) async fn close(&self) {
        self.bus.close().await;
    }
}

async fn hear_outcomes(mut outcomes: Subscription, prefix: usize, waiting: Arc<Waiting>) {
    while let Some(Incoming { message, .. }) = outcomes.next().await {
        let key = message.subject.get(prefix..).unwrap_or_default();
        let waiter = lock(&waiting.outcomes).remove(key);
        // The lane may have given up, or have its outcome already.
        if let Some(waiter) = waiter {
            drop(waiter.send(message.payload));
        }
    }
}

async fn hear_ends(mut ends: Subscription, waiting: Arc<Waiting>) {
    while let Some(Incoming { message, .. }) = ends.next().await {
        let Ok(event) = serde_json::from_slice::<LifecycleEvent>(&message.payload) else {
            tracing::warn!(subject = message.subject, "an event cannot be read");
            continue;
        };
        let instance = event.workflow_instance_id.to_string();
        let message = event.output.as_ref().and_then(|output| output.get(MESSAGE));
        let key = message.and_then(Value::as_str).unwrap_or(&instance);
        let waiter = lock(&waiting.ends).remove(key);
        if waiter.is_some_and(|waiter| waiter.send(event.time).is_err()) {
            tracing::debug!(instance, "nobody waits for its end any more");
        }
        let known = lock(&waiting.ended).insert(instance.clone(), event.id.clone());
        if known.is_some_and(|known| known != event.id) {
            lock(&waiting.doubles).push(instance);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
