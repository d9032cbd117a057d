//! change -> coalesce -> broadcast -> ack
//!
//! One task owns all requests and decides. Writes of pointers, questions and answers run beside it,
//! so that one slow definition delays no other.

mod ack;
mod ask;
mod change;
mod coalesce;

use std::collections::BTreeMap;
use std::time::Duration;

use bus::{Endpoint, Incoming, Subscription};
use chassis::Point;
use futures::{FutureExt as _, StreamExt as _};
use model::DefinitionId;
use protocol::{Noticed, subject};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Context, Error, pointer};
use coalesce::{Topic, Waiter};

/// A notifier that started recently may not know every node yet. It waits this long for positions
/// of nodes that it does not know.
const UNKNOWN_NODES_WAIT: Duration = Duration::from_millis(100);

/// One notifier replica.
pub struct Notifier {
    cx: Context,
    topics: BTreeMap<DefinitionId, Topic>,
    work: JoinSet<Option<Written>>,
    ask_at: Instant,
    born: Instant,
    requests: Subscription,
    positions: Subscription,
}

type Written = (DefinitionId, Result<Noticed, Error>);

impl Notifier {
    /// Subscribes to requests and positions.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn start(cx: Context) -> Result<Self, Error> {
        let positions = cx.bus.subscribe(&format!("{}.*", subject::CACHE_APPLIED)).await?;
        let changed =
            Endpoint { name: "changed".to_owned(), subject: subject::CACHE_CHANGED.to_owned() };
        let about = "Informs every node of a new definition version, and answers when all have it.";
        let name = "staunch-cache-notifier";
        let requests = cx.bus.serve(name, chassis::version(), about, vec![changed]).await?;
        Ok(Self {
            cx,
            topics: BTreeMap::new(),
            work: JoinSet::new(),
            ask_at: Instant::now(),
            born: Instant::now(),
            requests,
            positions,
        })
    }

    /// Serves requests until `stop`. Then it answers every publisher that still waits, with the
    /// positions known by then.
    pub async fn serve(mut self, stop: &CancellationToken) {
        let mut members = self.cx.presence.changed();
        loop {
            let wake = self.wake_at();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(Ok(done)) = self.work.join_next() => {
                    if let Some((definition_id, written)) = done {
                        self.written(definition_id, written);
                    }
                }
                Some(incoming) = self.positions.next() => self.hear(&incoming),
                Some(incoming) = self.requests.next() => self.take(&incoming),
                Ok(()) = members.changed() => self.answer_all(),
                () = tokio::time::sleep_until(wake) => self.tick(),
            }
        }
        for id in self.topics.keys().cloned().collect::<Vec<_>>() {
            self.answer(&id, true);
        }
        while self.work.join_next().await.is_some() {}
    }

    fn take(&mut self, incoming: &Incoming) {
        let Some(Noticed { definition_id, version, .. }) = change::request(incoming) else {
            return;
        };
        tracing::debug!(definition = %definition_id, version, "a definition has changed");
        let waiting: usize = self.topics.values().map(|topic| topic.waiters.len()).sum();
        if waiting >= self.cx.config.waiting_max {
            tracing::warn!(definition = %definition_id, waiting,
                "too many announcements are under way; this one is left to the comparison with \
                 the database");
            return;
        }
        let topic = self.topics.entry(definition_id.clone()).or_default();
        if topic.ask(incoming.reply.clone(), version) {
            let version = topic.version;
            self.write(definition_id, version);
        }
    }

    fn write(&mut self, definition_id: DefinitionId, version: u32) {
        let cx = self.cx.clone();
        self.work.spawn(async move {
            let written = tasks::caught("write pointer", async {
                cx.trail.at(Point::Heard).await;
                pointer::write(&cx, &definition_id, version).await
            });
            // A definition whose write never ends is not written again.
            let written = written.await.unwrap_or_else(|panicked| Err(panicked.into()));
            Some((definition_id, written))
        });
    }

    fn written(&mut self, definition_id: DefinitionId, written: Result<Noticed, Error>) {
        let Some(topic) = self.topics.get_mut(&definition_id) else { return };
        match written {
            Ok(noticed) => {
                let version = topic.version;
                if topic.written(noticed) {
                    self.write(definition_id, version);
                    return;
                }
                self.answer(&definition_id, false);
                if self.topics.contains_key(&definition_id) {
                    self.ask(&definition_id);
                    if self.may_miss_nodes() {
                        self.ask_at = self.ask_at.min(Instant::now() + UNKNOWN_NODES_WAIT);
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, definition = %definition_id, "cannot be announced yet");
                // The next tick tries again, as long as a publisher waits.
                topic.is_writing = false;
                topic.is_stale = false;
            }
        }
    }

    fn hear(&mut self, incoming: &Incoming) {
        let Some((node, position)) = change::position(incoming) else { return };
        if let Some(topic) = self.topics.get_mut(&position.definition_id) {
            let definition_id = position.definition_id.clone();
            topic.hear(node, position);
            self.answer(&definition_id, false);
        }
    }

    fn ask(&mut self, definition_id: &DefinitionId) {
        let (cx, definition_id) = (self.cx.clone(), definition_id.clone());
        beside(&mut self.work, "ask nodes", async move {
            ask::ask(&cx, &definition_id).await;
            cx.trail.at(Point::Asked).await;
        });
    }

    fn tick(&mut self) {
        if self.ask_at > Instant::now() {
            return;
        }
        self.ask_at = Instant::now() + self.cx.config.ask_every;
        for id in self.topics.keys().cloned().collect::<Vec<_>>() {
            self.answer(&id, false);
            let Some(topic) = self.topics.get_mut(&id) else { continue };
            let unwritten = topic.waiters.iter().any(|waiter| waiter.written_at.is_none());
            if unwritten && !topic.is_writing {
                topic.is_writing = true;
                let version = topic.version;
                self.write(id, version);
            } else if !unwritten {
                self.ask(&id);
            }
        }
    }

    fn answer_all(&mut self) {
        for id in self.topics.keys().cloned().collect::<Vec<_>>() {
            self.answer(&id, false);
        }
    }

    /// Answers the publishers whose answer is complete or whose time is over; with `now`, all of
    /// them.
    fn answer(&mut self, definition_id: &DefinitionId, now: bool) {
        let may_miss_nodes = self.may_miss_nodes();
        let Some(topic) = self.topics.get_mut(definition_id) else { return };
        let mut nodes = self.cx.caching();
        if may_miss_nodes {
            let known = nodes.len();
            let unknown = topic.heard.keys().filter(|node| !nodes[..known].contains(node));
            nodes.extend(unknown.cloned().collect::<Vec<_>>());
        }
        // The pointer in this node's view: the written one, or a newer one.
        let pointer = self.cx.pointers.get(definition_id);
        let is_cut_off = self.cx.presence.is_cut_off();
        let mut waiting = Vec::new();
        for waiter in std::mem::take(&mut topic.waiters) {
            let missing = match waiter.written_at {
                Some(_) => topic.missing(&nodes, pointer.as_ref()),
                None => nodes.clone(),
            };
            let has_asked = |at: Instant| !may_miss_nodes || at.elapsed() >= UNKNOWN_NODES_WAIT;
            let is_sure = waiter.written_at.is_some_and(has_asked) && !is_cut_off;
            let everywhere = is_sure && missing.is_empty();
            if !everywhere && !now && waiter.since.elapsed() < self.cx.config.wait_max {
                waiting.push(waiter);
                continue;
            }
            let noticed = topic.noticed.clone().unwrap_or_else(|| Noticed {
                definition_id: definition_id.clone(),
                version_id: None,
                version: topic.version,
                revision: 0,
                everywhere: false,
                missing: Vec::new(),
            });
            let noticed = Noticed { everywhere, missing, ..noticed };
            reply(&mut self.work, &self.cx, waiter, noticed, nodes.len());
        }
        topic.waiters = waiting;
        if topic.waiters.is_empty() && !topic.is_writing {
            self.topics.remove(definition_id);
        }
    }

    /// Whether it started so recently that it may not know every node yet: if the list of nodes was
    /// lost just before its start, the next renewals fill it again.
    fn may_miss_nodes(&self) -> bool {
        self.born.elapsed() < self.cx.presence.ttl()
    }

    fn wake_at(&self) -> Instant {
        if self.topics.is_empty() {
            return Instant::now() + self.cx.config.reconcile_every;
        }
        self.ask_at
    }
}

fn reply(
    work: &mut JoinSet<Option<Written>>,
    cx: &Context,
    waiter: Waiter,
    noticed: Noticed,
    nodes: usize,
) {
    let cx = cx.clone();
    beside(work, "answer publisher", async move {
        ack::answer(&cx, waiter, noticed, nodes).await;
    });
}

/// Runs work whose result the deciding task does not need.
fn beside(
    work: &mut JoinSet<Option<Written>>,
    task: &'static str,
    future: impl Future<Output = ()> + Send + 'static,
) {
    // A panic is logged and counted. The nodes are asked again, and a publisher waits no longer
    // than its time limit.
    work.spawn(tasks::caught(task, future).map(|_| None));
}

#[cfg(test)]
mod tests;
