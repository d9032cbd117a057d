//! One world: from its seed to its end.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bus::Stream;
use chassis::{Clock as _, Point, TokioClock};
use engine::{Engine, Env};
use model::{Definition, Misfire, Schedule, SubStatus, Timestamp, What};
use serde_json::{Value, json};
use store::{Base, Definitions as _, InstanceFilter, Instances as _, Page, Publication, shard_of};
use tokio::time::Instant;

use crate::chance::Dice;
use crate::client::Client;
use crate::cluster::{Cluster, Role};
use crate::nemesis::{Nemesis, Passed};
use crate::oracle::{Expectations, Found};
use crate::outside::Outside;
use crate::plan::Plan;
use crate::planted::Planted;
use crate::publisher::Edition;
use crate::story::{self, TICK};
use crate::trouble::{heal, replace, trouble};

/// Virtual time within which the world settles after the faults.
const PATIENCE: Duration = Duration::from_secs(300);

/// The settings of a world.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) planted: Option<Planted>,
    /// True if there are no faults.
    pub(crate) calm: bool,
    /// True if the report has the history in words.
    pub(crate) keeps_lines: bool,
}

/// The result of a world.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) complaints: Vec<String>,
    /// The whole history as a number: the same seed gives the same number.
    pub(crate) trace: (u64, u64),
    pub(crate) crashes: u64,
    /// The points that were reached, and those where nodes crashed.
    pub(crate) passed: BTreeMap<Point, Passed>,
    pub(crate) lines: Vec<String>,
}

pub(crate) struct World {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) dice: Dice,
    pub(crate) ticker: Schedule,
    ticker_until: Mutex<Timestamp>,
    /// The versions of the definition with several publishers, as in the answers to them.
    pub(crate) editions: Mutex<Vec<Edition>>,
}

/// Runs a world on a single thread with virtual time.
pub(crate) fn run(engine: &Arc<Engine>, options: &Options) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let report = runtime.block_on(live(Arc::clone(engine), options.clone()));
    drop(runtime);
    report
}

async fn live(engine: Arc<Engine>, options: Options) -> Report {
    let began = Instant::now();
    let dice = Dice::new(options.seed);
    let plan = if options.calm { Plan::calm() } else { Plan::draw(options.seed, &dice) };
    let (nemesis, crashed) = Nemesis::new(dice.fork(1), plan, options.keeps_lines);
    let clock = TokioClock::starting_at(Timestamp::from_millis(1_793_000_000_000));
    let planted = options.planted;
    let outside = Outside::new(dice.fork(2), planted);
    let cluster = Cluster::new(clock, engine, Arc::clone(&nemesis), outside, planted, options.seed);
    let ticker = publish(&cluster).await;
    let until = Mutex::new(clock.now());
    let world =
        Arc::new(World { cluster, dice, ticker, ticker_until: until, editions: Mutex::default() });
    populate(&world);
    let trouble = tokio::spawn(trouble(Arc::clone(&world)));
    let replacing = tokio::spawn(replace(Arc::clone(&world), crashed));

    let told = tokio::time::timeout(PATIENCE, story::tell(&world)).await;
    tokio::time::sleep_until(began + nemesis.plan().lasts).await;
    nemesis.calm_down();
    trouble.abort();
    heal(&world);
    let mut complaints = match told {
        Ok(expected) => {
            world.retire_ticker().await;
            settle(&world, &expected).await
        }
        Err(_) => vec!["the clients did not get to an end".to_owned()],
    };
    replacing.abort();
    let stuck = world.cluster.stop().await;
    complaints.extend(stuck.iter().map(|name| format!("{name} does not stop")));
    complaints.extend(nemesis.witness.complaints());
    Report {
        complaints,
        passed: nemesis.passed(),
        trace: nemesis.trace(),
        crashes: nemesis.crashes(),
        lines: nemesis.lines(),
    }
}

/// Waits until the oracle has no complaint, and a little longer.
async fn settle(world: &World, expected: &Expectations) -> Vec<String> {
    let give_up = Instant::now() + PATIENCE;
    let mut is_settled = false;
    loop {
        let is_over = Instant::now() > give_up;
        if is_over || is_quiet(world).await {
            let complaints = Found::read(world).await.complaints(world, expected);
            if is_over || (complaints.is_empty() && is_settled) {
                return complaints;
            }
            is_settled = complaints.is_empty();
        } else {
            is_settled = false;
        }
        let wait = if is_settled { 20 } else { 3 };
        tokio::time::sleep(Duration::from_secs(wait)).await;
    }
}

/// True when no work seems to be in progress; a cheap check.
async fn is_quiet(world: &World) -> bool {
    let store = &world.cluster.store;
    let sizes = store.sizes();
    if (sizes.bookmarks, sizes.pending, sizes.outbox) != (0, 0, 0) {
        return false;
    }
    let filter = InstanceFilter {
        sub_statuses: vec![SubStatus::Pending, SubStatus::Executing, SubStatus::Suspended],
        ..InstanceFilter::default()
    };
    store.list(&filter, Page::new(0, 1)).await.unwrap().total == 0
        && world.cluster.bus.stored(Stream::Commands).is_empty()
}

fn populate(world: &World) {
    let executors = 2 + world.dice.below(3);
    for number in 0..executors {
        world.cluster.start(&format!("executor-{number}"), Role::Executor);
    }
    for number in 0..2 {
        world.cluster.start(&format!("timer-{number}"), Role::Timer);
    }
    for number in 0..2 {
        world.cluster.start(&format!("ingress-{number}"), Role::Ingress);
    }
    if world.dice.below(2) == 0 {
        world.cluster.start("notifier-0", Role::Notifier);
    }
}

/// Publishes all definitions; returns the schedule of the definition that timers start.
async fn publish(cluster: &Cluster) -> Schedule {
    let mut ticker = None;
    for (id, root) in story::definitions() {
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
        "isLatest": true, "isPublished": true, "publishedAt": cluster.clock.now(), "root": root
    });
    let definition: Definition = serde_json::from_value(document).unwrap();
    let program = match cluster.engine.compile(&definition) {
        Ok(program) => program,
        Err(problems) => panic!("{id}: {problems:?}"),
    };
    let now = cluster.clock.now();
    let command_id = "publish".into();
    let env = Env { now, seed: [0; 32], command_id, base_url: String::new() };
    let found = cluster.engine.triggers(&program, &env).unwrap();
    let mut schedules = found.schedules;
    for schedule in &mut schedules {
        schedule.next_at = Some(now.after(TICK));
        schedule.shard = shard_of(schedule.id.as_str());
        schedule.misfire = Misfire::FireAll { max: 1_000 };
    }
    Publication { definition, base: Base::Any, triggers: found.stimuli, schedules }
}

impl World {
    pub(crate) fn client(&self, label: u64) -> Client {
        Client {
            store: self.cluster.store_of("client"),
            bus: self.cluster.bus_of("client"),
            clock: self.cluster.clock,
            dice: self.dice.fork(100 + label),
        }
    }

    /// Deletes all data of the broker.
    pub(crate) fn loses_streams(&self) -> bool {
        self.cluster.nemesis.plan().wipe_at.is_some()
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

    /// Lets the schedule catch up, then ends it.
    async fn retire_ticker(&self) {
        let catches_up = Instant::now() + PATIENCE;
        loop {
            let schedules = self.cluster.store.schedules().await.unwrap();
            let now = self.cluster.clock.now();
            let next_at = schedules.iter().find_map(|schedule| schedule.next_at);
            if next_at.is_none_or(|next_at| next_at > now) || Instant::now() > catches_up {
                *self.ticker_until.lock().unwrap() = now;
                self.cluster.store.retract(&"ticker".into()).await.unwrap();
                return;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
}
