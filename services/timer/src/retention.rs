//! Retention: removes ended instances after their time, and what else has expired or lost its
//! owner. One node does it for all, as with the sweep.
//!
//! Nothing is remembered between two runs: a run begins anew after a crash and finds what is left.
//! Instances go in small transactions with pauses between them, so that starts do not notice. An
//! instance that is to be archived is removed after the archive has it; after a crash in between it
//! is archived twice.

mod batch;
mod report;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Stream};
use model::{After, DefinitionId, RETENTION, SubStatus, Timestamp};
use store::{Audit, AuditOutcome, Ended, EndedFilter, Owned, Store, VersionOption};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use report::{Group, Report};
pub use rules::Rules;

use crate::metrics::Metrics;
use crate::{Context, Error, shards};

/// After a step, a run pauses for this many times the duration of the step.
const PAUSE_FACTOR: u32 = 4;
/// The longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Rows, or instances with rows, of one step that is about no ended instance.
const ROWS: u64 = 500;
/// Removed instances of a group after which an entry of the audit log is written before its end.
const NOTED_AT: u64 = 10_000;
/// Dead letters that are read at once.
const LETTERS: usize = 256;

/// Whether a run goes on; asked before each step.
type Guard = Arc<dyn Fn() -> bool + Send + Sync>;

/// The retention of one cluster.
#[derive(Clone)]
pub struct Retention {
    store: Arc<dyn Store>,
    bus: Option<Arc<dyn Bus>>,
    rules: Rules,
    nonces: bus::Nonces,
    guard: Guard,
    /// Ends a run after the step in progress.
    stop: CancellationToken,
    metrics: Metrics,
    only_looks: bool,
}

impl Retention {
    /// Retention by these rules. Without a bus no dead letters are removed.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        bus: Option<Arc<dyn Bus>>,
        rules: Rules,
        nonces: bus::Nonces,
    ) -> Self {
        Self {
            store,
            bus,
            rules,
            nonces,
            guard: Arc::new(|| true),
            stop: CancellationToken::new(),
            metrics: Metrics,
            only_looks: false,
        }
    }

    /// The same, whose run ends soon after `stop`, with an audit entry of what it has removed.
    #[must_use]
    pub fn until(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }

    /// The same, which removes nothing and only reports.
    #[must_use]
    pub fn dry(self) -> Self {
        Self { only_looks: true, ..self }
    }

    /// The retention of a timer replica, which pauses while the replica does not own shard 0.
    #[must_use]
    pub(crate) fn of(cx: &Context) -> Self {
        let (presence, node) = (cx.presence.clone(), Arc::clone(&cx.node));
        let rules = cx.config.rules.clone();
        Self {
            guard: Arc::new(move || shards::is_first(&presence, &node)),
            metrics: cx.metrics.clone(),
            ..Self::new(cx.store.clone(), Some(cx.bus.clone()), rules, cx.nonces.clone())
        }
    }

    /// Runs from time to time until `stop`, while this node owns shard 0.
    pub(crate) async fn serve(self, stop: &CancellationToken) {
        let this = self.until(stop.clone());
        let mut ticks = tokio::time::interval(this.rules.every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if this.goes_on() {
                this.run_once().await.log();
            }
        }
    }

    /// Whether there is to be a further step.
    fn goes_on(&self) -> bool {
        !self.stop.is_cancelled() && (self.guard)()
    }

    /// Runs once: through all definitions, then through everything else. Each part runs, also after
    /// a failure of an earlier one, which the report has.
    pub async fn run_once(&self) -> Report {
        let mut report = Report::default();
        let now = match self.store.clock().await {
            Ok(now) => now,
            Err(error) => return Report { failed: Some(error.into()), ..report },
        };
        let instances = self.instances(now, &mut report).await;
        report.ended("instances", instances);
        if !self.only_looks {
            let others = self.others(now, &mut report).await;
            report.ended("others", others);
            for (what, count) in report.counts() {
                self.metrics.retired(what, count);
            }
        }
        report.is_cut_short = self.stop.is_cancelled();
        report
    }

    async fn instances(&self, now: Timestamp, report: &mut Report) -> Result<(), Error> {
        let mut last: Option<DefinitionId> = None;
        while self.goes_on()
            && let Some(id) = self.store.ended_definition(last.as_ref()).await?
        {
            self.definition(&id, now, report).await?;
            last = Some(id);
        }
        Ok(())
    }

    async fn definition(
        &self,
        id: &DefinitionId,
        now: Timestamp,
        report: &mut Report,
    ) -> Result<(), Error> {
        let retention = match self.said_by(id).await? {
            Ok(retention) => retention,
            Err(reason) => {
                report.unclear.push((id.clone(), reason));
                return Ok(());
            }
        };
        for status in model::Retention::STATES {
            let Some(time) = retention.time(status) else { continue };
            let filter =
                EndedFilter { definition_id: id.clone(), status, before: now.before(time) };
            let mut group = Group::new(id, status, time, retention.after);
            let done = self.group(&filter, now, &mut group).await;
            let noted = self.note(&mut group, now).await;
            report.add(group);
            noted?;
            done?;
        }
        Ok(())
    }

    /// What is said for a definition: by its published version, or else its latest one, or else the
    /// settings.
    async fn said_by(&self, id: &DefinitionId) -> Result<Result<model::Retention, String>, Error> {
        let mut found = self.store.definition(id, VersionOption::Published).await?;
        if found.is_none() {
            found = self.store.definition(id, VersionOption::Latest).await?;
        }
        let custom = found.map(|definition| definition.custom_properties).unwrap_or_default();
        let said = self.rules.retention.said_by(&custom);
        Ok(said.and_then(|said| match said.after {
            After::Archive if self.rules.archive.is_none() => {
                Err("they are to be archived, and archive-to is not set".to_owned())
            }
            After::Archive | After::Delete => Ok(said),
        }))
    }

    async fn group(
        &self,
        filter: &EndedFilter,
        now: Timestamp,
        group: &mut Group,
    ) -> Result<(), Error> {
        let mut last: Option<Ended> = None;
        loop {
            if !self.goes_on() {
                return Ok(());
            }
            let began = Instant::now();
            let found = self.store.ended(filter, last.as_ref(), self.rules.batch).await?;
            last = found.last().cloned();
            let is_last = u64::try_from(found.len()).is_ok_and(|found| found < self.rules.batch);
            group.see(&found);
            let free: Vec<Ended> = found.into_iter().filter(|ended| !ended.is_held).collect();
            if self.only_looks {
                group.would_go(free);
            } else {
                for part in batch::parts(free) {
                    if !self.goes_on() {
                        return Ok(());
                    }
                    self.retire(&part, filter, now, group).await?;
                    self.pause(began).await;
                }
                // A crash leaves no more than these out of the audit log.
                if group.removed - group.noted.0 >= NOTED_AT {
                    self.note(group, now).await?;
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Pauses after a step that began at that instant, in proportion to its duration.
    async fn pause(&self, began: Instant) {
        let pause = began.elapsed().saturating_mul(PAUSE_FACTOR);
        let pause = tokio::time::sleep(pause.min(PAUSE_MAX));
        self.stop.run_until_cancelled(pause).await;
    }

    async fn others(&self, now: Timestamp, report: &mut Report) -> Result<(), Error> {
        for table in Owned::ALL {
            let removed = self.orphans(table).await?;
            report.count(table.name(), removed);
        }
        let removed = self.all(|| self.store.forget_logins(now, ROWS)).await?;
        report.count("sessions", removed);
        let removed = self.all(|| self.store.forget_requests(now, ROWS)).await?;
        report.count("requests", removed);
        if let Some(time) = self.rules.audit {
            let before = now.before(time);
            let removed = self.all(|| self.store.forget_audit(before, ROWS)).await?;
            report.count("audit", removed);
        }
        if let (Some(time), Some(bus)) = (self.rules.dead, &self.bus) {
            report.count("letters", self.letters(&**bus, now.before(time)).await?);
        }
        Ok(())
    }

    /// Repeats a removal until it finds less than it may take; returns the sum.
    async fn all<F>(&self, mut remove: impl FnMut() -> F) -> Result<u64, Error>
    where
        F: Future<Output = Result<u64, store::Error>>,
    {
        let mut sum = 0;
        while self.goes_on() {
            let began = Instant::now();
            let removed = remove().await?;
            sum += removed;
            if removed < ROWS {
                break;
            }
            self.pause(began).await;
        }
        Ok(sum)
    }

    async fn orphans(&self, table: Owned) -> Result<u64, Error> {
        let (mut sum, mut last) = (0, None);
        while self.goes_on() {
            let began = Instant::now();
            let walked = self.store.orphans(table, last.as_ref(), ROWS).await?;
            if !walked.orphans.is_empty() {
                sum += self.store.remove_orphans(table, &walked.orphans).await?;
            }
            last = walked.last;
            if last.is_none() {
                break;
            }
            self.pause(began).await;
        }
        Ok(sum)
    }

    async fn letters(&self, bus: &dyn Bus, before: Timestamp) -> Result<u64, Error> {
        let (mut sum, mut from) = (0, 1);
        while self.goes_on() {
            let found = bus.read(Stream::Dead, from, LETTERS).await?;
            let old: Vec<u64> = found
                .iter()
                .filter(|(_, at, _)| *at < before)
                .map(|(number, _, _)| *number)
                .collect();
            for number in &old {
                sum += u64::from(bus.remove(Stream::Dead, *number).await?);
            }
            match found.last() {
                // They are in the order of their time: behind a young one are younger ones.
                Some((number, _, _)) if old.len() == LETTERS => from = number + 1,
                _ => break,
            }
        }
        Ok(sum)
    }

    /// Writes what was removed of a group since its last entry into the audit log.
    async fn note(&self, group: &mut Group, now: Timestamp) -> Result<(), Error> {
        let (removed, archived) = (group.removed - group.noted.0, group.archived - group.noted.1);
        if removed == 0 || self.only_looks {
            return Ok(());
        }
        let entry = Audit {
            at: now,
            who: RETENTION.to_owned(),
            what: "instance.retention".to_owned(),
            target: group.definition_id.to_string(),
            details: serde_json::json!({
                "status": group.status,
                "removed": removed,
                "archived": archived,
            }),
            address: None,
            outcome: AuditOutcome::Done,
        };
        self.store.audit(entry).await?;
        group.noted = (group.removed, group.archived);
        Ok(())
    }
}

/// The name of a final state in metrics.
pub(crate) fn named(status: SubStatus) -> &'static str {
    match status {
        SubStatus::Cancelled => "cancelled",
        SubStatus::Faulted => "faulted",
        _ => "finished",
    }
}

#[cfg(test)]
mod tests;
