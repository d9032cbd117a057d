//! A world: its cluster, its schedule and the versions that its clients have published.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chassis::Clock as _;
use engine::Env;
use model::{Definition, Misfire, Schedule, Timestamp, What};
use serde_json::{Value, json};
use store::{Base, Definitions as _, Instances as _, Page, Publication, shard_of};

use crate::chance::Dice;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::definitions::{self, FILE, OUTER, OUTER_STREAM, TICK};
use crate::edition::Edition;

pub(crate) struct World {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) dice: Dice,
    pub(crate) ticker: Schedule,
    ticker_until: Mutex<Timestamp>,
    /// The versions of the definition with several publishers, as in the answers to them.
    pub(crate) editions: Mutex<Vec<Edition>>,
    /// When those messages were stored that are lost with the stream that workflows listen to.
    lost: Mutex<BTreeSet<i128>>,
}

impl World {
    /// A world whose definitions are published, without nodes.
    pub(crate) async fn open(cluster: Arc<Cluster>, dice: Dice) -> Self {
        cluster.bus.make_stream(OUTER_STREAM, OUTER);
        let ticker = publish(&cluster).await;
        let ticker_until = Mutex::new(cluster.clock.now());
        let (editions, lost) = (Mutex::default(), Mutex::default());
        Self { cluster, dice, ticker, ticker_until, editions, lost }
    }

    pub(crate) fn client(&self, label: u64) -> Client {
        Client {
            store: self.cluster.store_of("client"),
            bus: self.cluster.bus_of("client"),
            clock: self.cluster.clock,
            dice: self.dice.fork(100 + label),
        }
    }

    /// The broker loses all its data at some time in this world.
    pub(crate) fn loses_streams(&self) -> bool {
        self.cluster.nemesis.plan().wipe_at.is_some()
    }

    /// The broker loses the stream of tasks at some time in this world.
    pub(crate) fn loses_tasks(&self) -> bool {
        self.loses_streams() || self.cluster.nemesis.plan().tasks_anew_every.is_some()
    }

    /// Removes the stream that workflows listen to, and makes it anew after this time. What nobody has
    /// settled is lost with it.
    pub(crate) async fn make_outer_anew(&self, gone_for: Duration) {
        let lost = self.cluster.bus.remove_stream(OUTER_STREAM);
        self.lost.lock().unwrap().extend(lost);
        self.cluster.nemesis.note_anew(OUTER_STREAM);
        tokio::time::sleep(gone_for).await;
        self.cluster.bus.make_stream(OUTER_STREAM, OUTER);
    }

    /// Whether the message that was stored at this time was lost with its stream.
    pub(crate) fn has_lost(&self, stored_nanos: i128) -> bool {
        self.lost.lock().unwrap().contains(&stored_nanos)
    }

    /// The clocks of nodes are wrong in this world.
    pub(crate) fn has_wrong_clocks(&self) -> bool {
        self.cluster.nemesis.plan().skew_max_ms > 0
    }

    /// The reports of workers that nobody waits for: the second of two reports about a task is kept
    /// for days, in case it came early.
    pub(crate) fn late_reports(&self) -> usize {
        let pending = self.cluster.store.pending();
        let is_late = |row: &&store::PendingCommand| {
            row.waiting && row.command.subject.starts_with("staunch.cmd.task.")
        };
        pending.iter().filter(is_late).count()
    }

    pub(crate) async fn lines(&self, id: &str) -> Vec<String> {
        let journal = self.cluster.store.journal(&id.into(), Page::first()).await.unwrap();
        let lines = journal.items.into_iter().filter(|entry| entry.what == What::Line);
        lines.filter_map(|entry| entry.message).collect()
    }

    /// A publication with its triggers and schedules, over any latest version.
    pub(crate) fn publication(
        &self,
        id: &str,
        version_id: &str,
        version: u32,
        root: Value,
    ) -> Publication {
        publication(&self.cluster, id, version_id, version, root)
    }

    /// Publishes another version, as ingress does before it announces it.
    pub(crate) async fn publish_version(&self, id: &str, version: u32, root: Value) {
        let publication = self.publication(id, &format!("{id}-{version}"), version, root);
        self.cluster.store.publish(publication).await.unwrap();
        self.cluster.nemesis.note("client", format_args!("{id} {version} is published"));
    }

    pub(crate) fn ticker_first(&self) -> Timestamp {
        self.ticker.next_at.unwrap()
    }

    pub(crate) fn ticker_until(&self) -> Timestamp {
        *self.ticker_until.lock().unwrap()
    }

    /// Ends the schedule. Its occurrences up to this time must exist.
    pub(crate) async fn end_ticker(&self, until: Timestamp) {
        *self.ticker_until.lock().unwrap() = until;
        self.cluster.store.retract(&"ticker".into(), &Base::Any).await.unwrap();
    }
}

/// Publishes all definitions; returns the schedule of the definition that timers start.
async fn publish(cluster: &Cluster) -> Schedule {
    let mut ticker = None;
    for (id, root) in definitions::all() {
        let publication = publication(cluster, id, &format!("{id}-1"), 1, root);
        ticker = publication.schedules.first().cloned().or(ticker);
        cluster.store.publish(publication).await.unwrap();
    }
    ticker.unwrap()
}

fn publication(
    cluster: &Cluster,
    id: &str,
    version_id: &str,
    version: u32,
    root: Value,
) -> Publication {
    let document = json!({
        "id": version_id, "definitionId": id, "version": version,
        "isLatest": true, "isPublished": true, "publishedAt": cluster.clock.now(), "root": root,
        "inputs": [{"name": FILE, "type": "Object"}]
    });
    let definition: Definition = serde_json::from_value(document).unwrap();
    let program = match cluster.engine.compile(&definition, &engine::Library::default()) {
        Ok(program) => program,
        Err(problems) => panic!("{id}: {problems:?}"),
    };
    let now = cluster.clock.now();
    let command_id = "publish".into();
    let env = Env {
        now,
        seed: [0; 32],
        command_id,
        installation: Arc::default(),
        contents: engine::Contents::default(),
    };
    let found = cluster.engine.triggers(&program, &env).unwrap();
    let mut schedules = found.schedules;
    for schedule in &mut schedules {
        schedule.next_at = Some(now.after(TICK));
        schedule.shard = shard_of(schedule.id.as_str());
        schedule.misfire = Misfire::FireAll { max: 1_000 };
    }
    Publication { definition, base: Base::Any, triggers: found.stimuli, schedules }
}
