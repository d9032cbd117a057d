//! Processes that abort at a named point of their path, under load.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use chassis::Point;
use testkit::eventually;

use crate::bustle::Bustle;
use crate::callee::Callee;
use crate::ledger::{Found, Ledger};
use crate::scale::{is_full, turn as turn_wanted};
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles, dies_at, last_words};

const SURVIVOR: &str = "survivor";
/// The number of processes that abort in one round.
const VICTIMS: usize = 3;
/// The signal of a process that aborts.
const ABORTED: i32 = 6;
const SENDERS: usize = 6;
/// The smallest number of voyages of a round, even when its processes abort early.
const VOYAGES_MIN: usize = 30;
const DEATH_MAX: Duration = Duration::from_secs(90);
/// A sample runs one round out of this number.
const SAMPLE_STEP: usize = 29;
/// A process aborts when it reaches its point for this time. A full run tries all of them at every
/// point.
const NTHS: [usize; 5] = [1, 2, 5, 12, 30];

/// Points whose pace is set by a clock and not by the load: there a process aborts the first time
/// it reaches the point, or soon after.
const PACED: [Point; 1] = [Point::Scanned];
const PACED_NTH_MAX: usize = 5;

/// Points that only the owner of the first shard reaches.
const SWEEPER: [Point; 4] = [Point::BeforeSweep, Point::Resent, Point::BeforeBurial, Point::Buried];

/// Points of an occurrence: only the owner of the schedule's shard reaches them.
const SCHEDULER: [Point; 2] = [Point::BeforeOccurrence, Point::Occurred];

/// G1, G2, G3, G6, G7, G9: wherever a process aborts, other nodes do the accepted work, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_any_point_loses_nothing_and_repeats_nothing_g1_g2_g3_g6_g7_g9() {
    let Some(mut world) = World::start(1, vec![all_roles(SURVIVOR)]).await else { return };
    let callee = Callee::start().await;
    let mut total = Outcome::default();
    let mut deaths = BTreeMap::new();
    for (number, points) in plan().iter().enumerate() {
        let outcome = round(&mut world, &callee, number, points).await;
        for (point, _) in points {
            *deaths.entry(*point).or_insert(0) += 1;
        }
        total.add(&outcome);
    }
    let (died, points) = (deaths.values().sum::<usize>(), deaths.len());
    let Outcome { voyages, repeated_calls, ticks, strays, recovery } = total;
    println!(
        "G1 G2 G3 G6 G7 G9: {died} processes died at {points} of {} points; {voyages} voyages \
         accepted, {voyages} finished once, 0 lost, 0 twice; {repeated_calls} outgoing calls \
         repeated, each under its first key; {ticks} occurrences of schedules and {strays} \
         expired events, none twice; longest from the last death to all finished {recovery:?}",
        Point::ALL.len()
    );
}

/// A point, and the number of times the process reaches it until it aborts.
type Death = (Point, usize);

/// Every point with every number of times, or a sample of the points with the first number; grouped
/// by round.
fn plan() -> Vec<Vec<Death>> {
    let mut plan: Vec<Vec<Death>> = Vec::new();
    for (turn, nth) in NTHS.into_iter().enumerate() {
        if turn_wanted().is_some_and(|wanted| wanted != turn + 1) {
            continue;
        }
        let others = Point::ALL.iter().copied().filter(|point| !SWEEPER.contains(point));
        let mut others: Vec<_> = others.collect();
        // Other groups in every pass.
        others.rotate_left(turn * 7);
        let death = |point: &Point| {
            let is_paced = PACED.contains(point);
            (*point, if is_paced { nth.min(PACED_NTH_MAX) } else { nth })
        };
        plan.extend(others.chunks(VICTIMS).map(|points| points.iter().map(death).collect()));
        // A sweep publishes only messages that aborted processes left, and one sweep may publish
        // all of them.
        let left = |point| {
            let nth = if point == Point::Resent { 1 } else { 1 + turn / 2 };
            vec![(point, nth), (Point::BeforePublish, 3), (Point::Committed, 7)]
        };
        plan.extend(SWEEPER.into_iter().map(left));
    }
    if is_full() { plan } else { plan.into_iter().step_by(SAMPLE_STEP).collect() }
}

/// The time in which a process must have aborted at this point. Publications are much rarer than
/// other commands.
fn patience(point: Point) -> Duration {
    match point {
        Point::BeforePublication
        | Point::Publicised
        | Point::Announced
        | Point::Heard
        | Point::BeforeSwap
        | Point::Pointed
        | Point::Asked
        | Point::BeforeAnswer
        | Point::Answered => DEATH_MAX * 4,
        _ => DEATH_MAX,
    }
}

#[derive(Clone, Debug, Default)]
struct Outcome {
    voyages: usize,
    repeated_calls: usize,
    ticks: usize,
    strays: usize,
    recovery: Duration,
}

impl Outcome {
    fn add(&mut self, other: &Self) {
        self.voyages += other.voyages;
        self.repeated_calls += other.repeated_calls;
        self.ticks += other.ticks;
        self.strays += other.strays;
        self.recovery = self.recovery.max(other.recovery);
    }
}

/// Nodes that will abort join the survivor and share the load until all of them have ended.
async fn round(world: &mut World, callee: &Callee, number: usize, deaths: &[Death]) -> Outcome {
    let began = Instant::now();
    let names = Names::new(&format!("r{number}"));
    let survivor = world.api(0);
    for definition in names.definitions(&callee.url) {
        survivor.publish(&definition).await;
    }
    let schedules = shard_of_schedules(world, &names).await;
    let victims = victims(world, number, deaths, schedules).await;
    let mut doors: Vec<_> = victims.iter().map(|victim| world.api(*victim)).collect();
    doors.push(survivor.clone());
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let wipes = deaths.iter().any(|(point, _)| *point == Point::Conflicted);
    let bustle = Bustle::begin(&route, world.cluster.database_url(), wipes).await;
    let traffic = Traffic::begin(route, SENDERS);
    for (victim, (point, nth)) in victims.iter().zip(deaths) {
        let victim = world.cluster.node_mut(*victim);
        let what = format!("somebody dies at {} the {nth}. time", point.name());
        eventually(&what, patience(*point), async || !victim.is_running()).await;
        let status = victim.stop().await.unwrap().status;
        assert_eq!(status.signal(), Some(ABORTED), "{what}: {}", last_words(victim));
    }
    let last_death = Instant::now();
    let what = format!("{VOYAGES_MIN} voyages are over");
    eventually(&what, DEATH_MAX, async || traffic.finished() >= VOYAGES_MIN).await;
    let (accepted, aftermath) = (traffic.end().await, bustle.end().await);
    let ledger = Ledger::new(world, jetstream, callee, names);
    ledger.settled(&accepted).await;
    let recovery = last_death.elapsed();
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    let (strays, ticks) = aftermath.settled(&ledger, &survivor).await;
    let deaths: Vec<_> =
        deaths.iter().map(|(point, nth)| format!("{}:{nth}", point.name())).collect();
    println!(
        "round {number}: {} died; {voyages} voyages, {ticks} ticks, {strays} strays once, \
         {repeated_calls} calls repeated, all finished {recovery:?} after the last death; {:?}",
        deaths.join(" "),
        began.elapsed()
    );
    Outcome { voyages, repeated_calls, ticks, strays, recovery }
}

/// Starts them; returns their indices among the nodes.
async fn victims(world: &mut World, number: usize, deaths: &[Death], schedules: i32) -> Vec<usize> {
    let first = world.cluster.nodes().len();
    let names = names(number, deaths, schedules);
    for (name, (point, nth)) in names.iter().zip(deaths) {
        world.cluster.begin(dies_at(name, point.name(), *nth)).unwrap();
    }
    let places: Vec<_> = (first..first + deaths.len()).collect();
    for place in &places {
        let victim = world.cluster.node_mut(*place);
        eventually("a victim works", DEATH_MAX, async || {
            victim.is_ready().await || !victim.is_running()
        })
        .await;
    }
    places
}

/// The shard of the one schedule.
pub(crate) async fn shard_of_schedules(world: &World, names: &Names) -> i32 {
    let shards: Vec<i32> = (0..model::limits::TIMER_SHARDS).collect();
    let far = model::Timestamp::from_millis(i64::MAX);
    let all = world.store.due_schedules(&shards, far, 1_000).await.unwrap();
    let own = all.into_iter().find(|schedule| schedule.definition_id.as_str() == names.tick);
    own.expect("the schedule is published").shard
}

/// Node names with which a node that will abort owns the shard, not the survivor.
fn names(number: usize, deaths: &[Death], schedules: i32) -> Vec<String> {
    let shard = |point: &Point| match point {
        point if SWEEPER.contains(point) => Some(0),
        point if SCHEDULER.contains(point) => Some(schedules),
        _ => None,
    };
    for attempt in 0_usize.. {
        let name = |index: usize| format!("victim-{number}-{index}-{attempt}");
        let names: Vec<String> = (0..deaths.len()).map(name).collect();
        let is_before_survivor = |(name, (point, _)): (&String, &Death)| {
            let two = [name.clone(), SURVIVOR.to_owned()];
            shard(point).is_none_or(|shard| bus::owner_of(shard, &two) == Some(name))
        };
        if names.iter().zip(deaths).all(is_before_survivor) {
            return names;
        }
    }
    unreachable!("some attempt fits")
}
