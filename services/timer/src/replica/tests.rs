#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::{Bucket, Bus as _, Claim, Claims, Wire as _};
use bus::{Fault, Faults, Operation};
use model::{BookmarkId, Misfire, Recurrence, SubStatus};
use protocol::{Body, ContentType, Headers, Message, encode_body};
use store::{InstanceFilter, Instances as _, Page, SchedulePause, Schedules as _};

use super::*;
use crate::Config;
use crate::world::{World, seconds, start};

fn ids(resumed: &[(Timestamp, BookmarkId)]) -> BTreeSet<BookmarkId> {
    resumed.iter().map(|(_, id)| id.clone()).collect()
}

fn serve(cx: Context) -> (CancellationToken, tokio::task::JoinHandle<Result<(), Error>>) {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    (stop, tokio::spawn(async move { Timer::new(cx).serve(&stopped).await }))
}

#[tokio::test(start_paused = true)]
async fn two_replicas_fire_200_timers_exactly_once() {
    let world = World::new();
    for number in 0..200_u64 {
        world.waiting_until(start().after(Duration::from_millis(number * 37))).await;
    }
    let (first, one) = serve(world.replica("timer-1").await);
    let (second, two) = serve(world.replica("timer-2").await);
    tokio::time::sleep(seconds(20)).await;
    let resumed = world.resumed().await;
    assert_eq!(resumed.len(), 200);
    assert_eq!(ids(&resumed).len(), 200);
    first.cancel();
    second.cancel();
    one.await.unwrap().unwrap();
    two.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn replicas_that_see_different_members_still_fire_once() {
    let world = World::new();
    for _ in 0..50 {
        world.waiting_until(start()).await;
    }
    // For a moment each replica believes that it is alone.
    let mut alone = Timer::new(world.replica("timer-1").await);
    let shards = alone.shards.clone();
    assert_eq!(shards.len(), 64);
    let mut other = Timer::new(world.replica("timer-2").await);
    other.shards = shards.clone();
    tokio::time::advance(seconds(1)).await;
    for timer in [&mut alone, &mut other] {
        timer.shards = shards.clone();
        timer.scan_at = Instant::now();
        timer.scan_if_time();
    }
    let drive = async |timer: &mut Timer| {
        loop {
            while let Some(done) = timer.work.join_next().await {
                timer.finish(done.unwrap().unwrap());
            }
            timer.fire_due().await;
            if timer.work.is_empty() {
                break;
            }
        }
    };
    tokio::join!(drive(&mut alone), drive(&mut other));
    assert_eq!(world.resumed().await.len(), 50);
}

#[tokio::test(start_paused = true)]
async fn the_claims_of_a_killed_replica_are_taken_over() {
    let world = World::new();
    let dead = world.join("timer-dead").await;
    let bookmark = world.waiting_until(start()).await;
    // A replica claims the timer, and dies before it publishes.
    let claims = Claims::new(
        world.bus.kv(Bucket::Timers),
        "timer-dead",
        world.nonces(),
        seconds(3600),
        seconds(3600),
    );
    let key = format!("{}.{}", bookmark.bookmark.id, start().as_millis());
    assert!(matches!(claims.claim(&key, |_| true).await.unwrap(), Claim::Won(_)));
    drop(dead);
    let (_stop, _task) = serve(world.replica("timer-2").await);
    tokio::time::sleep(seconds(15)).await;
    let resumed = world.resumed().await;
    assert_eq!(ids(&resumed), BTreeSet::from([bookmark.bookmark.id]));
}

#[tokio::test(start_paused = true)]
async fn nothing_fires_early_by_the_databases_clock() {
    let hour = seconds(3600);
    for begin in [start().before(hour), start().after(hour)] {
        let shift = begin.as_millis() - start().as_millis();
        let world =
            World::with_database_clock(move |now| Timestamp::from_millis(now.as_millis() + shift));
        let offset = begin.as_millis() - start().as_millis();
        let mut due = std::collections::BTreeMap::new();
        for number in 0..40_u64 {
            let due_at = begin.after(Duration::from_millis(100 + number * 333));
            due.insert(world.waiting_until(due_at).await.bookmark.id, due_at);
        }
        let (_stop, _task) = serve(world.replica("timer-1").await);
        tokio::time::sleep(seconds(30)).await;
        let resumed = world.resumed().await;
        assert_eq!(resumed.len(), 40);
        for (at, id) in resumed {
            let by_database = Timestamp::from_millis(at.as_millis() + offset);
            let lateness = by_database.as_millis() - due[&id].as_millis();
            assert!((1..=200).contains(&lateness), "{id} fired {lateness} ms after it was due");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_database_clock_that_is_set_back_delays_what_is_due() {
    let is_back = Arc::new(AtomicBool::new(false));
    let set_back = Arc::clone(&is_back);
    let world = World::with_database_clock(move |now| {
        if set_back.load(Ordering::Relaxed) { now.before(seconds(20)) } else { now }
    });
    world.waiting_until(start().after(seconds(10))).await;
    let (_stop, _task) = serve(world.replica("timer-1").await);
    tokio::time::sleep(seconds(5)).await;
    is_back.store(true, Ordering::Relaxed);
    tokio::time::sleep(seconds(24)).await;
    assert_eq!(world.resumed().await, []);
    tokio::time::sleep(seconds(2)).await;
    assert_eq!(world.resumed().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_announced_timer_fires_on_time() {
    let world = World::new();
    let (_stop, _task) = serve(world.replica("timer-1").await);
    // Just after a scan.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let due_at = chassis::Clock::now(&world.clock).after(seconds(1));
    let bookmark = world.waiting_until(due_at).await;
    let armed = TimerArmed {
        instance_id: bookmark.instance_id,
        bookmark_id: bookmark.bookmark.id,
        due_at,
        shard: bookmark.shard,
    };
    let payload = encode_body(ContentType::Json, &armed).unwrap();
    let subject = subject::TIMER_ARMED.to_owned();
    world.bus.send(Message { subject, headers: Headers::new(), payload }).await.unwrap();
    tokio::time::sleep(seconds(2)).await;
    let resumed = world.resumed().await;
    assert_eq!(resumed.len(), 1);
    let lateness = resumed[0].0.since(due_at);
    assert!(lateness < Duration::from_millis(50), "{lateness:?}");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_timers_due_in_one_second_are_fired_within_it() {
    let world = World::new();
    for number in 0..1_000_u64 {
        world.waiting_until(start().after(seconds(10) + Duration::from_millis(number))).await;
    }
    let presence = world.join("timer-1").await;
    let config = Config { in_flight_max: 16, scan_rows: 100, ..Config::default() };
    let (_stop, _task) = serve(world.replica_with("timer-1", presence, config));
    tokio::time::sleep(seconds(13)).await;
    let resumed = world.resumed().await;
    assert_eq!(ids(&resumed).len(), 1_000);
    assert_eq!(resumed.len(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn what_a_wiped_broker_lost_is_fired_again_under_the_same_id() {
    let world = World::new();
    let lost = world.waiting_until(start()).await;
    let (_stop, _task) = serve(world.replica("timer-1").await);
    tokio::time::sleep(seconds(1)).await;
    let before = world.commands().await;
    assert_eq!(before.len(), 1);
    world.bus.wipe();
    assert_eq!(world.commands().await.len(), 0);
    tokio::time::sleep(seconds(50)).await;
    let after = world.commands().await;
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].1, before[0].1);
    world.resumes(&lost).await;
    world.bus.wipe();
    tokio::time::sleep(seconds(300)).await;
    assert_eq!(world.commands().await.len(), 0);
}

struct Outage(AtomicBool);

impl Faults for Outage {
    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        let hit = matches!(
            operation,
            Operation::Publish { .. } | Operation::PutIf { bucket: Bucket::Timers, .. }
        );
        if hit && self.0.load(Ordering::Relaxed) { Fault::Unavailable } else { Fault::None }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_due_while_the_bus_is_away_is_fired_when_it_is_back() {
    let outage = Arc::new(Outage(AtomicBool::new(true)));
    let world = World::with_bus_faults(outage.clone());
    for _ in 0..20 {
        world.waiting_until(start().after(seconds(2))).await;
    }
    let (_stop, _task) = serve(world.replica("timer-1").await);
    tokio::time::sleep(seconds(60)).await;
    assert_eq!(world.resumed().await, []);
    outage.0.store(false, Ordering::Relaxed);
    tokio::time::sleep(seconds(20)).await;
    let resumed = world.resumed().await;
    assert_eq!((resumed.len(), ids(&resumed).len()), (20, 20));
}

#[tokio::test(start_paused = true)]
async fn every_occurrence_of_a_schedule_starts_one_instance() {
    let world = World::new();
    let every = Recurrence::Every { interval: seconds(10) };
    world.schedules(every, start().after(seconds(10))).await;
    let (_first, _one) = serve(world.replica("timer-1").await);
    let (_second, _two) = serve(world.replica("timer-2").await);
    tokio::time::sleep(seconds(65)).await;
    let commands = world.commands().await;
    assert_eq!(commands.len(), 6);
    for (number, (at, command)) in (1..).zip(&commands) {
        let nominal = start().after(seconds(10) * number);
        assert!(at.since(nominal) < Duration::from_millis(50) && *at >= nominal, "{at}");
        let Body::Start(start) = &command.body else { panic!("{command:?}") };
        assert_eq!(start.version_id.as_ref().unwrap().as_str(), "nightly-3");
        assert_eq!(start.trigger_activity_id.as_ref().unwrap().as_str(), "timer");
    }
    let listed = world.store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    assert_eq!(listed.total, 6);
    assert!(
        listed
            .items
            .iter()
            .all(|instance| instance.status == SubStatus::Pending
                && instance.definition_version == 3)
    );
}

/// The occurrences that this process counted as missed.
fn misfired() -> u64 {
    let text = meter::text();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("staunch_timers_misfired_total "));
    value.unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn missed_occurrences_start_as_many_instances_as_the_policy_says() {
    for (misfire, expected) in
        [(Misfire::FireOnce, 1), (Misfire::FireAll { max: 4 }, 4), (Misfire::Skip, 0)]
    {
        let world = World::new();
        let hourly = Recurrence::Cron { expression: "0 * * * *".to_owned(), zone: None };
        world.schedules_with(hourly, start().before(seconds(36_000)), misfire).await;
        tokio::time::advance(seconds(1_800)).await;
        let mut timer = Timer::new(world.replica("timer-1").await);
        let before = misfired();
        assert_eq!(timer.run_once().await, expected, "{misfire:?}");
        assert_eq!(timer.run_once().await, 0);
        // Of the eleven hours those are counted that started nothing.
        let passed_over = 11 - expected;
        assert!(misfired() >= before + passed_over, "{misfire:?}: {before}, then {}", misfired());
        tokio::time::advance(seconds(1_801)).await;
        assert_eq!(timer.run_once().await, 1, "the next one is on time");
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_schedule_starts_nothing_though_its_time_is_known() {
    let world = World::new();
    let every = Recurrence::Every { interval: seconds(60) };
    let schedule = world.schedules(every, start().after(seconds(5))).await;
    let (stop, task) = serve(world.replica("timer-1").await);
    // The replica has read the time, and waits for it.
    tokio::time::sleep(seconds(2)).await;
    let pause = SchedulePause { since: start(), by: "ann".to_owned() };
    assert!(world.store.pause_schedule(&schedule.id, &pause).await.unwrap());
    tokio::time::sleep(seconds(600)).await;
    assert_eq!(world.commands().await.len(), 0);
    let paused = world.store.schedule(&schedule.id).await.unwrap().unwrap();
    assert_eq!((paused.last_at, paused.missed), (None, 0));
    let next_at = start().after(seconds(665));
    assert!(world.store.resume_schedule(&paused.schedule, Some(next_at)).await.unwrap());
    tokio::time::sleep(seconds(130)).await;
    let commands = world.commands().await;
    assert_eq!(commands.len(), 2, "one for each minute since the pause");
    assert!(commands.iter().all(|(at, _)| *at >= next_at));
    let status = world.store.schedule(&schedule.id).await.unwrap().unwrap();
    assert_eq!((status.last_at, status.missed), (Some(next_at.after(seconds(60))), 0));
    stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_finishes_what_is_in_hand() {
    let world = World::new();
    for _ in 0..100 {
        world.waiting_until(start()).await;
    }
    let (stop, task) = serve(world.replica("timer-1").await);
    tokio::time::sleep(Duration::from_millis(3)).await;
    stop.cancel();
    task.await.unwrap().unwrap();
    let resumed = world.resumed().await;
    assert_eq!(resumed.len(), ids(&resumed).len());
}
