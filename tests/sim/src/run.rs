//! The run of one world: from its seed to its end.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bus::{LateAcks, Stream};
use chassis::{Clock as _, Point, TokioClock};
use engine::Engine;
use model::{SubStatus, Timestamp};
use store::{Definitions as _, InstanceFilter, Instances as _, Page};
use tokio::time::Instant;

use crate::chance::Dice;
use crate::cluster::{Cluster, Role};
use crate::expect::Expectations;
use crate::nemesis::{Nemesis, Passed};
use crate::oracle::Found;
use crate::outside::Outside;
use crate::plan::Plan;
use crate::planted::Planted;
use crate::story;
use crate::trouble::{heal, replace, trouble};
use crate::worker::{self, WORKERS};
use crate::world::World;

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
    /// The number of streams that were made anew.
    pub(crate) made_anew: u64,
    /// The acknowledgements that came late.
    pub(crate) late_acks: LateAcks,
    /// The points that were reached, and those where nodes crashed.
    pub(crate) passed: BTreeMap<Point, Passed>,
    pub(crate) lines: Vec<String>,
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
    let world = Arc::new(World::open(cluster, dice).await);
    populate(&world);
    let trouble = tokio::spawn(trouble(Arc::clone(&world)));
    let workers: Vec<_> =
        (0..WORKERS).map(|number| tokio::spawn(worker::work(Arc::clone(&world), number))).collect();
    let replacing = tokio::spawn(replace(Arc::clone(&world), crashed));

    let open = story::Open::default();
    let told = tokio::time::timeout(PATIENCE, story::tell(&world, &open)).await;
    tokio::time::sleep_until(began + nemesis.plan().lasts).await;
    nemesis.calm_down();
    trouble.abort();
    heal(&world);
    // What dead workers had comes again now, and not only after the ack wait of its consumer.
    world.cluster.bus.redeliver_tasks();
    let mut complaints = match told {
        Ok(expected) => {
            retire_ticker(&world).await;
            settle(&world, &expected).await
        }
        Err(_) => {
            let open: Vec<_> = open.lock().unwrap().iter().cloned().collect();
            vec![format!("these stories did not come to an end: {}", open.join(", "))]
        }
    };
    replacing.abort();
    workers.iter().for_each(tokio::task::JoinHandle::abort);
    let stuck = world.cluster.stop().await;
    complaints.extend(stuck.iter().map(|name| format!("{name} does not stop")));
    complaints.extend(nemesis.witness.complaints());
    Report {
        complaints,
        passed: nemesis.passed(),
        trace: nemesis.trace(),
        crashes: nemesis.crashes(),
        made_anew: nemesis.made_anew(),
        late_acks: world.cluster.bus.late_acks(),
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
    if (sizes.bookmarks, sizes.pending - world.late_reports(), sizes.outbox) != (0, 0, 0) {
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

/// Lets the schedule catch up, then ends it.
async fn retire_ticker(world: &World) {
    let catches_up = Instant::now() + PATIENCE;
    loop {
        let schedules = world.cluster.store.schedules().await.unwrap();
        let now = world.cluster.clock.now();
        let next_at = schedules.iter().find_map(|schedule| schedule.next_at);
        if next_at.is_none_or(|next_at| next_at > now) || Instant::now() > catches_up {
            world.end_ticker(now).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
