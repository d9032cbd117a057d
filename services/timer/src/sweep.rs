//! The sweep: publishes messages that a crash left behind, wakes commands whose bookmark now
//! exists, moves expired commands to the dead letters, and removes rows that are of no use any
//! more. The replica that owns shard 0 sweeps for all. Two sweeps at once do no harm, because every
//! message keeps its id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bus::{Pools, Stream};
use chassis::Point;
use model::{CommandId, InstanceId, Timestamp, derived, limits};
use protocol::{Body, Command, Message, Perform, header, subject};
use store::{Cleared, InstanceFilter, Leftover, Nameless, OutboxRow, Page, PendingCommand};
use tasks::Trouble;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::advisories::Advisories;
use crate::lost::Lost;
use crate::memory::{Memory, Try};
use crate::outbox::Outbox;
use crate::spent::Spent;
use crate::{Context, Error, outbox, shards, unreadable};

/// The largest number of rows of one query, however many were handled lately.
const ROWS_MAX: u64 = 10_000;
/// The largest number of payloads that one sweep looks at: each may have thousands of parts.
const PAYLOADS_MAX: u64 = 100;
/// How long one sweep removes the parts of payloads that are outside of the database: its other steps
/// wait meanwhile.
const EMPTYING_MAX: Duration = Duration::from_secs(5);
/// The pause before the same row is handled again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// The time between two removals of rows that are of no use: they do no harm meanwhile.
const CLEAR_EVERY: Duration = Duration::from_secs(60);

/// The sweeper of one replica.
pub struct Sweep {
    cx: Context,
    pools: Pools,
    outbox: Outbox,
    lately: Memory<String>,
    lost: Lost,
    spent: Spent,
    cleared_at: Option<Instant>,
}

/// The numbers of items that one sweep has handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Outbox rows that their node did not publish.
    pub published: u64,
    /// Accepted starts that no executor has run.
    pub started: u64,
    /// Accepted commands that no executor has applied.
    pub applied: u64,
    /// Waiting commands whose bookmark exists.
    pub woken: u64,
    /// Instances with unfinished work and no executor.
    pub performed: u64,
    /// Tasks whose message the broker has lost.
    pub lost: u64,
    /// Tasks that their consumer hands out no more, because workers died of them.
    pub spent: u64,
    /// Waiting commands that expired and are moved to the dead letters.
    pub expired: u64,
    /// Rows that cannot be read and are moved to the dead letters.
    pub unreadable: u64,
    /// Rows of no use: expired tokens, timers without an instance, schedules without a definition,
    /// payloads that no instance uses.
    pub cleared: u64,
}

impl Mended {
    /// True if there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Sweep {
    /// A sweeper that has handled nothing yet.
    #[must_use]
    pub fn new(cx: Context) -> Self {
        let pools = Pools::new(Arc::clone(&cx.bus));
        Self {
            cx,
            pools,
            outbox: Outbox::default(),
            lately: Memory::new(FIRST_PAUSE),
            lost: Lost::default(),
            spent: Spent::default(),
            cleared_at: None,
        }
    }

    /// Sweeps every few seconds until `stop`, while this node owns shard 0.
    pub async fn serve(mut self, stop: &CancellationToken) {
        let mut ticks = tokio::time::interval(self.cx.config.sweep_every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut advisories = Advisories::default();
        let mut trouble = Trouble::default();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                advisory = advisories.next(&self.cx) => {
                    self.spent.hear(&advisory);
                    continue;
                }
                _ = ticks.tick() => {}
            }
            if !shards::is_first(&self.cx.presence, &self.cx.node) {
                self.spent.forget();
                continue;
            }
            let swept = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                swept = self.run_once() => swept,
            };
            match swept {
                Ok(_) if trouble.ends() => tracing::info!("the sweep is complete again"),
                Err(error) if trouble.is_news(&error) => {
                    tracing::warn!(%error, "the sweep is not complete; the next one goes on");
                }
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Sweeps once, even if this node does not own shard 0. Each step runs, also after a failure of
    /// an earlier one.
    ///
    /// # Errors
    /// The failure of the first step that failed; the work of the other steps remains done.
    pub async fn run_once(&mut self) -> Result<Mended, Error> {
        self.lately.prune();
        self.cx.trail.at(Point::BeforeSweep).await;
        let clock = self.cx.store.clock().await;
        let now = clock.inspect_err(|error| self.failed("clock", error))?;
        let mut failed = None;
        let published = self.outbox.publish(&self.cx, &self.pools, now).await;
        let published = self.ended("outbox", published, &mut failed);
        let started = self.unstarted(now).await;
        let started = self.ended("start", started, &mut failed);
        let applied = self.unapplied(now).await;
        let applied = self.ended("command", applied, &mut failed);
        let woken = self.wakeable(now).await;
        let woken = self.ended("waiting", woken, &mut failed);
        let performed = self.unfinished(now).await;
        let performed = self.ended("unfinished", performed, &mut failed);
        let lost = self.lost().await;
        let lost = self.ended("lost", lost, &mut failed);
        let spent = self.spent().await;
        let spent = self.ended("spent", spent, &mut failed);
        let expired = self.expired(now).await;
        let expired = self.ended("expired", expired, &mut failed);
        let forgotten = self.forget_routed(now).await;
        self.ended("routed", forgotten, &mut failed);
        let cleared = self.clear(now).await;
        let cleared = self.ended("cleared", cleared, &mut failed);
        // The last step: it moves the rows that the steps before it could not read.
        let unreadable = unreadable::bury(&self.cx, now).await;
        let unreadable = self.ended("unreadable", unreadable, &mut failed);
        let mended = Mended {
            published,
            started,
            applied,
            woken,
            performed,
            lost,
            spent,
            expired,
            unreadable,
            cleared,
        };
        self.report(mended);
        failed.map_or(Ok(mended), Err)
    }

    /// The number of items that a step handled; its failure is logged and counted, and the first
    /// failure is kept.
    fn ended(
        &self,
        step: &'static str,
        ended: Result<u64, Error>,
        failed: &mut Option<Error>,
    ) -> u64 {
        ended.unwrap_or_else(|error| {
            self.failed(step, &error);
            failed.get_or_insert(error);
            0
        })
    }

    fn failed(&self, step: &'static str, error: &dyn std::error::Error) {
        tracing::debug!(step, %error, "a step of the sweep failed");
        self.cx.metrics.step_failed(step);
    }

    fn report(&self, mended: Mended) {
        if mended.is_empty() {
            return;
        }
        let Mended {
            published,
            started,
            applied,
            woken,
            performed,
            lost,
            spent,
            expired,
            unreadable,
            cleared,
        } = mended;
        let counts = [
            ("outbox", published),
            ("start", started),
            ("command", applied),
            ("waiting", woken),
            ("unfinished", performed),
            ("lost", lost),
            ("spent", spent),
            ("expired", expired),
            ("unreadable", unreadable),
            ("cleared", cleared),
        ];
        for (what, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            self.cx.metrics.mended(what, count);
        }
        if cleared > 0 {
            tracing::info!(cleared, "the sweep removed rows that are of no use any more");
        }
        if mended == (Mended { cleared, ..Mended::default() }) {
            return;
        }
        tracing::warn!(
            published,
            started,
            applied,
            woken,
            performed,
            lost,
            spent,
            expired,
            unreadable,
            "the sweep published again, or took away, what was left behind"
        );
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

    /// Publishes commands again, except those that were published lately.
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

    /// Publishes waiting commands whose bookmark exists, under a new message id: the first id may
    /// still be within the stream's duplicate window.
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
            let perform = Perform { instance_id: id.clone(), lost: None };
            messages.push((key(id), Command::new(command_id, Body::Perform(perform)).encode()?));
        }
        self.mend(messages).await
    }

    async fn lost(&mut self) -> Result<u64, Error> {
        let again = self.lost.find(&self.cx, &self.pools, &self.outbox).await?;
        let (names, ending) = self.publish(again).await;
        if ending.is_err() {
            self.lost.again();
        }
        ending.map(|()| names.len() as u64)
    }

    /// Fails the attempts of tasks that no worker gets any more, and then takes the tasks away: after a
    /// crash in between they are found again, and the report has the same id.
    async fn spent(&mut self) -> Result<u64, Error> {
        let found = self.spent.find(&self.cx).await?;
        let (mut reports, mut over) = (Vec::new(), Vec::new());
        for (sequence, report) in found {
            match report {
                Some(report) => reports.push((sequence, report)),
                None => over.push(sequence),
            }
        }
        let (failed, ending) = self.publish(reports).await;
        for sequence in failed.iter().chain(&over) {
            match self.cx.bus.remove(Stream::Tasks, *sequence).await {
                Err(bus::Error::Denied(text)) => self.spent.denied(&text),
                removed => drop(removed?),
            }
        }
        ending.map(|()| (failed.len() + over.len()) as u64)
    }

    async fn expired(&mut self, now: Timestamp) -> Result<u64, Error> {
        let store = &self.cx.store;
        let overdue = store.overdue(now, self.cx.config.sweep_rows).await?;
        let mut dead = Vec::with_capacity(overdue.len());
        let mut failed = Ok(());
        for command in &overdue {
            self.cx.trail.at(Point::BeforeBurial).await;
            let row = buried(command, now);
            // One transaction removes the row and adds the letter, so neither is ever lost.
            match store.bury(&command.id, now, row.clone()).await {
                Ok(true) => {
                    tracing::warn!(command = %command.id, instance = command.instance_id.as_ref().map(tracing::field::display),
                        "no bookmark came for this command in time; it is moved to the dead letters");
                    dead.push((row.id, row.message));
                }
                Ok(false) => {}
                Err(error) => failed = Err(Error::Store(error)),
            }
            self.cx.trail.at(Point::Buried).await;
        }
        let count = dead.len() as u64;
        let (ids, ending) = self.publish(dead).await;
        if !ids.is_empty() {
            store.published(ids).await?;
        }
        failed.and(ending).map(|()| count)
    }

    async fn forget_routed(&self, now: Timestamp) -> Result<u64, Error> {
        let before = now.before(limits::ROUTED_KEPT);
        Ok(self.cx.store.forget_routed(before, self.cx.config.sweep_rows).await?)
    }

    /// Removes rows that are of no use any more, once in a while and at most as many as one sweep
    /// may; the next one goes on.
    async fn clear(&mut self, now: Timestamp) -> Result<u64, Error> {
        if self.cleared_at.is_some_and(|at| at.elapsed() < CLEAR_EVERY) {
            return Ok(0);
        }
        let (store, limit) = (&self.cx.store, self.cx.config.sweep_rows);
        // A timer that is fired again finds no instance a second time.
        let overdue = now.before(self.cx.config.refire_after);
        let mut cleared = 0;
        let mut is_rest = false;
        for (what, before) in
            [(Leftover::Tokens, now), (Leftover::Timers, overdue), (Leftover::Schedules, now)]
        {
            let count = store.clear(what, before, limit).await?;
            is_rest |= count >= limit;
            cleared += count;
        }
        let before = now.before(self.cx.config.payload_kept);
        let payloads = store.clear_payloads(before, now, PAYLOADS_MAX).await?;
        let Cleared { seen, removed, nameless } = payloads;
        let (gone, ending) = self.empty(nameless).await;
        cleared += removed + gone;
        // Where a place does not answer, the next look may wait.
        is_rest |= seen >= PAYLOADS_MAX && ending.is_ok();
        if !is_rest {
            self.cleared_at = Some(Instant::now());
        }
        ending.map(|()| cleared)
    }

    /// Removes the parts of these payloads from where they are outside of the database, and then their
    /// rows; returns the number of them, and the first failure. What is left, a later sweep removes.
    async fn empty(&self, nameless: Vec<Nameless>) -> (u64, Result<(), Error>) {
        let give_up = Instant::now() + EMPTYING_MAX;
        let (mut gone, mut ending) = (0, Ok(()));
        let mut silent = BTreeSet::new();
        for payload in nameless {
            if silent.contains(&payload.place) || Instant::now() >= give_up {
                continue;
            }
            let removing = self.cx.shelves.remove(&*self.cx.store, &payload);
            match tokio::time::timeout_at(give_up, removing).await {
                Ok(Ok(())) => gone += 1,
                Ok(Err(error)) => {
                    silent.insert(payload.place);
                    ending = ending.and(Err(error.into()));
                }
                Err(_) => tracing::debug!(place = payload.place, "there is more to remove"),
            }
        }
        (gone, ending)
    }

    /// As [`outbox::publish`].
    async fn publish<K: std::fmt::Display>(
        &self,
        messages: Vec<(K, Message)>,
    ) -> (Vec<K>, Result<(), Error>) {
        outbox::publish(&self.cx, &self.pools, messages).await
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
        self.lately.try_of(&key.to_owned()) != Try::TooSoon
    }

    /// The number of rows to ask for. Rows that were handled lately come on top, so that they do not
    /// hide others.
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
