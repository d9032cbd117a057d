//! The sweep: publishes what a crash left behind, wakes what was not woken, buries what has
//! expired. The replica that owns shard 0 sweeps for all; two that sweep at once do no harm,
//! because everything goes out under the id that it always had.

use std::collections::BTreeMap;
use std::time::Duration;

use chassis::Point;
use futures::StreamExt as _;
use model::{CommandId, InstanceId, Timestamp, derived, limits};
use protocol::{Body, Command, Message, Perform, header, subject};
use store::{InstanceFilter, OutboxRow, Page, PendingCommand};
use tokio_util::sync::CancellationToken;

use crate::memory::{Memory, Turn};
use crate::{Context, Error, shards};

/// Messages published at the same time.
const PUBLISHING_MAX: usize = 32;
/// Rows asked for at most, however many were mended lately.
const ROWS_MAX: u64 = 10_000;
/// The same thing is not mended again for this long, then twice as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// The sweeper of one replica.
pub struct Sweep {
    cx: Context,
    lately: Memory<String>,
}

/// What one sweep has mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Outbox rows that nobody had published.
    pub published: u64,
    /// Accepted starts that nobody had run.
    pub started: u64,
    /// Accepted commands that nobody had applied.
    pub applied: u64,
    /// Waiting commands whose bookmark is there.
    pub woken: u64,
    /// Instances with work in hand that nobody does.
    pub performed: u64,
    /// Waiting commands whose time was over: they are among the dead now.
    pub expired: u64,
}

impl Mended {
    /// Nothing had been left behind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Sweep {
    /// A sweeper that has mended nothing yet.
    #[must_use]
    pub fn new(cx: Context) -> Self {
        Self { cx, lately: Memory::new(FIRST_PAUSE) }
    }

    /// Sweeps every few seconds until `stop`, while this node owns shard 0.
    pub async fn serve(mut self, stop: &CancellationToken) {
        let mut ticks = tokio::time::interval(self.cx.config.sweep_every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if !shards::is_first(&self.cx.presence, &self.cx.node) {
                continue;
            }
            let swept = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                swept = self.run_once() => swept,
            };
            if let Err(error) = swept {
                tracing::warn!(%error, "the sweep broke off, trying again");
            }
        }
    }

    /// Sweeps once, whoever owns shard 0.
    ///
    /// # Errors
    /// When the database or the bus fails; what was mended before that stays mended.
    pub async fn run_once(&mut self) -> Result<Mended, Error> {
        self.lately.prune();
        self.cx.trail.at(Point::BeforeSweep).await;
        let now = self.cx.store.clock().await?;
        let mended = Mended {
            published: self.outbox(now).await?,
            started: self.unstarted(now).await?,
            applied: self.unapplied(now).await?,
            woken: self.wakeable(now).await?,
            performed: self.unfinished(now).await?,
            expired: self.expired(now).await?,
        };
        self.tell(mended);
        Ok(mended)
    }

    fn tell(&self, mended: Mended) {
        if mended.is_empty() {
            return;
        }
        let Mended { published, started, applied, woken, performed, expired } = mended;
        let counts = [
            ("outbox", published),
            ("start", started),
            ("command", applied),
            ("waiting", woken),
            ("unfinished", performed),
            ("expired", expired),
        ];
        for (what, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            self.cx.metrics.mended(what, count);
        }
        tracing::warn!(
            published,
            started,
            applied,
            woken,
            performed,
            expired,
            "the sweep mended what was left behind"
        );
    }

    async fn outbox(&mut self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(self.cx.config.outbox_after);
        let rows = self.cx.store.unpublished(before, self.cx.config.sweep_rows).await?;
        let rows = rows.into_iter().map(|row| (row.id, row.message)).collect();
        let (ids, ending) = self.publish(rows).await;
        let count = ids.len() as u64;
        if !ids.is_empty() {
            self.cx.trail.at(Point::Resent).await;
            self.cx.store.published(ids).await?;
        }
        ending.map(|()| count)
    }

    async fn unstarted(&mut self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(self.cx.config.inbox_after);
        let messages = self.cx.store.unstarted(before, self.rows()).await?;
        self.again(messages).await
    }

    async fn unapplied(&mut self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(self.cx.config.inbox_after);
        let messages = self.cx.store.unapplied(before, self.rows()).await?;
        self.again(messages).await
    }

    /// Publishes commands again, but not those that were lately.
    async fn again(&mut self, messages: Vec<Message>) -> Result<u64, Error> {
        let messages = messages.into_iter().map(|message| (name(&message), message));
        let messages = messages.filter(|(name, _)| self.is_time(name)).collect();
        self.mend(messages).await
    }

    async fn mend(&mut self, messages: Vec<(String, Message)>) -> Result<u64, Error> {
        let (names, ending) = self.publish(messages).await;
        let count = names.len() as u64;
        names.into_iter().for_each(|name| self.lately.done(name));
        ending.map(|()| count)
    }

    /// A waiting command goes out under a message id that was not used before, because the first
    /// one may still be within the stream's duplicate window.
    async fn wakeable(&mut self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(self.cx.config.outbox_after);
        let waiting = self.cx.store.wakeable(before, self.rows()).await?;
        let waiting: Vec<_> =
            waiting.into_iter().filter(|command| self.is_time(command.id.as_str())).collect();
        let instances = waiting.iter().filter_map(|command| command.instance_id.clone());
        let versions = self.versions(instances.collect()).await?;
        let messages = waiting.iter().map(|command| {
            let version = command.instance_id.as_ref().and_then(|id| versions.get(id));
            (command.id.to_string(), woken(command, version.copied().unwrap_or(0)))
        });
        self.mend(messages.collect()).await
    }

    async fn unfinished(&mut self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(self.cx.config.unfinished_after);
        let ids = self.cx.store.unfinished(before, self.rows()).await?;
        let key = |id: &InstanceId| format!("perform {id}");
        let ids: Vec<_> = ids.into_iter().filter(|id| self.is_time(&key(id))).collect();
        let versions = self.versions(ids.clone()).await?;
        let mut messages = Vec::with_capacity(ids.len());
        for id in &ids {
            let version = versions.get(id).copied().unwrap_or(0).to_string();
            let command_id = CommandId::new(derived(&["perform", id.as_str(), &version]));
            let perform = Perform { instance_id: id.clone() };
            messages.push((key(id), Command::new(command_id, Body::Perform(perform)).encode()?));
        }
        self.mend(messages).await
    }

    async fn expired(&mut self, now: Timestamp) -> Result<u64, Error> {
        let store = &self.cx.store;
        let overdue = store.overdue(now, self.cx.config.sweep_rows).await?;
        let mut dead = Vec::with_capacity(overdue.len());
        for command in &overdue {
            self.cx.trail.at(Point::BeforeBurial).await;
            let row = buried(command, now);
            // Committed with the end of its row, so that it is in one of the two places always.
            if store.bury(&command.id, now, row.clone()).await? {
                tracing::warn!(command = %command.id, instance = ?command.instance_id,
                    "nobody waited for this command in time: it is among the dead");
                dead.push((row.id, row.message));
            }
            self.cx.trail.at(Point::Buried).await;
        }
        store.forget_routed(now.before(limits::ROUTED_KEPT), self.cx.config.sweep_rows).await?;
        let count = dead.len() as u64;
        let (ids, ending) = self.publish(dead).await;
        if !ids.is_empty() {
            store.published(ids).await?;
        }
        ending.map(|()| count)
    }

    /// Publishes what it can; the keys of what is stored, and the failure that will pass, if any.
    async fn publish(&self, messages: Vec<(String, Message)>) -> (Vec<String>, Result<(), Error>) {
        let bus = &self.cx.bus;
        let mut publishing = futures::stream::iter(messages)
            .map(|(key, message)| async { (key, bus.publish(message).await) })
            .buffered(PUBLISHING_MAX);
        let mut published = Vec::new();
        let mut ending = Ok(());
        while let Some((key, receipt)) = publishing.next().await {
            match receipt {
                Ok(_) => published.push(key),
                Err(error) if error.is_passing() => ending = Err(Error::Bus(error)),
                Err(error) => tracing::error!(%error, key, "this message is never accepted"),
            }
        }
        (published, ending)
    }

    async fn versions(
        &self,
        ids: Vec<InstanceId>,
    ) -> Result<BTreeMap<InstanceId, i64>, store::Error> {
        let mut versions = BTreeMap::new();
        for ids in ids.chunks(500) {
            let filter = InstanceFilter { ids: ids.to_vec(), ..InstanceFilter::default() };
            let listed = self.cx.store.list(&filter, Page::first()).await?;
            let found = listed.items.into_iter();
            versions.extend(found.map(|instance| (instance.id, instance.version)));
        }
        Ok(versions)
    }

    fn is_time(&self, key: &str) -> bool {
        self.lately.turn(&key.to_owned()) != Turn::NotYet
    }

    /// What was mended lately may be found again, and hides nothing behind it.
    fn rows(&self) -> u64 {
        let known = u64::try_from(self.lately.len()).unwrap_or(u64::MAX);
        self.cx.config.sweep_rows.saturating_add(known).min(ROWS_MAX)
    }
}

fn name(message: &Message) -> String {
    message.id().unwrap_or(&message.subject).to_owned()
}

fn woken(command: &PendingCommand, version: i64) -> Message {
    let mut message = command.command.clone();
    let id = command.id.to_string();
    message.headers.insert(header::MESSAGE_ID.to_owned(), format!("{id}.w{version}"));
    message.headers.insert(header::COMMAND_ID.to_owned(), id);
    message
}

fn buried(command: &PendingCommand, now: Timestamp) -> OutboxRow {
    let id = format!("{}.dead", command.id);
    let mut message = command.command.clone();
    let origin = std::mem::take(&mut message.subject);
    message.subject = subject::dead(&origin);
    let headers = &mut message.headers;
    headers.insert(header::MESSAGE_ID.to_owned(), id.clone());
    headers.insert(header::COMMAND_ID.to_owned(), command.id.to_string());
    headers.insert(header::ORIGIN.to_owned(), origin);
    headers.insert(header::REASON.to_owned(), "expired".to_owned());
    let instance_id = command.instance_id.clone().unwrap_or_default();
    OutboxRow { id, instance_id, message, created_at: now }
}

#[cfg(test)]
mod tests;
