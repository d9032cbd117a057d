//! Ten times the load that the cluster can carry. Each workflow takes tens of milliseconds, so that
//! the load generator can offer that much on the same cores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cluster::NodePlan;
use futures::{StreamExt as _, stream};
use model::SubStatus;
use testkit::eventually;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::api::Api;
use crate::callee::Callee;
use crate::ledger::Ledger;
use crate::scale::pick;
use crate::workflow::Names;
use crate::world::{World, all_roles};

const NODES: usize = 2;
/// Callers that each wait for their response, to measure the load that the cluster can carry.
const CALLERS: usize = 32;
/// The offered load as a multiple of that load.
const FACTOR: f64 = 10.0;
/// Commands that may wait before the API refuses starts; few, so that it refuses soon.
const BACKLOG_MAX: usize = 300;
/// The largest number of requests in flight; a machine has no more sockets for this test.
const REQUESTS_MAX: usize = 2_000;
/// The time until the API accepts starts again after the backlog is gone.
const OPEN_MAX: Duration = Duration::from_secs(5);
/// The time in which a commit ends that its caller did not wait for, and its instance.
const LATE_MAX: Duration = Duration::from_secs(60);
const SLICE: Duration = Duration::from_millis(10);
/// The largest growth of a node's memory, in MiB.
const GROWTH_MAX: u64 = 300;

/// G12, G1: excess starts are refused with a reason; memory stays bounded; accepted starts are done
/// once; afterwards everything works as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_too_much_is_refused_in_order_and_what_is_accepted_is_done_g12_g1() {
    let bounded = |name: &str| {
        let mut plan = all_roles(name);
        plan.arguments.extend(["--max-backlog".to_owned(), BACKLOG_MAX.to_string()]);
        plan
    };
    let nodes: Vec<NodePlan> = (0..NODES).map(|node| bounded(&format!("node-{node}"))).collect();
    let Some(world) = World::start(1, nodes).await else { return };
    let callee = Callee::start().await;
    let ledger = Ledger::new(&world, world.jetstream().await, &callee, Names::new("overload"));
    let doors: Vec<Api> = (0..NODES).map(|node| world.api(node)).collect();
    for id in ["calm", "flood", "after"] {
        doors[0].publish(&Names::laborious(id)).await;
    }
    let sustainable = sustainable(&doors).await;
    let before = memory(&world);
    let seconds = pick(8, 60);
    let flood = flood(&world, &doors, sustainable * FACTOR, Duration::from_secs(seconds)).await;
    let ended = Instant::now();
    ledger.nothing_left().await;
    let drained = ended.elapsed();
    // A start whose commit took longer than its caller waits is there later.
    let mut finished = 0;
    eventually("what is there is finished", LATE_MAX, async || {
        finished = ledger.count("flood", Some(SubStatus::Finished)).await;
        ledger.count("flood", None).await == finished
    })
    .await;
    // A caller without a response does not know whether the start was accepted.
    let known = flood.accepted..=flood.accepted + flood.unanswered;
    assert!(known.contains(&finished), "{finished} finished of {known:?}");
    eventually("starts are taken again", OPEN_MAX, async || {
        doors[1].start("after", "after-0", 0).await.unwrap().status == 200
    })
    .await;
    let growth = flood.memory_max.saturating_sub(before);
    let offered = flood.offered as f64 / seconds as f64;
    println!(
        "G12 G1: {sustainable:.0} starts/s can be carried; {:.0}/s offered, {:.1} times that, for \
         {seconds} s: {} accepted, {finished} finished, each once, {} refused with 503 and \
         Retry-After, {} unanswered{}; memory of a node {before} MiB before, {} MiB at most; \
         drained {drained:.1?} after the end",
        offered,
        offered / sustainable,
        flood.accepted,
        flood.refused,
        flood.unanswered,
        flood.why,
        flood.memory_max,
    );
    assert!(flood.refused > 0, "the door never closed");
    assert_eq!(flood.unanswered, 0, "{flood:?}");
    assert!(growth <= GROWTH_MAX, "a node grew by {growth} MiB");
}

/// Starts per second that the cluster finishes without a growing backlog.
async fn sustainable(doors: &[Api]) -> f64 {
    let count = pick(200, 1_000);
    let began = Instant::now();
    let starts = stream::iter(0..count).map(|number| {
        let door = doors[number % doors.len()].clone();
        async move { door.start("calm", &format!("calm-{number}"), number).await.unwrap().ok() }
    });
    starts.buffer_unordered(CALLERS).collect::<Vec<_>>().await;
    count as f64 / began.elapsed().as_secs_f64()
}

/// The results of the offered load.
#[derive(Debug, Default)]
struct Flood {
    offered: usize,
    accepted: usize,
    refused: usize,
    unanswered: usize,
    /// The reason why the last of those got no response.
    why: String,
    memory_max: u64,
}

/// Offers starts at a fixed rate, whatever the responses are.
async fn flood(world: &World, doors: &[Api], rate: f64, time: Duration) -> Flood {
    let answers: Arc<Mutex<BTreeMap<u16, usize>>> = Arc::default();
    let unanswered = Arc::new(AtomicUsize::new(0));
    let why: Arc<Mutex<String>> = Arc::default();
    let room = Arc::new(Semaphore::new(REQUESTS_MAX));
    let mut flood = Flood::default();
    let mut requests = JoinSet::new();
    let mut ticks = interval(SLICE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let began = Instant::now();
    while began.elapsed() < time {
        ticks.tick().await;
        let due = (began.elapsed().as_secs_f64() * rate) as usize;
        while flood.offered < due {
            let Ok(room) = Arc::clone(&room).try_acquire_owned() else { break };
            let number = flood.offered;
            flood.offered += 1;
            let door = doors[number % doors.len()].clone();
            let (answers, unanswered) = (Arc::clone(&answers), Arc::clone(&unanswered));
            let why = Arc::clone(&why);
            requests.spawn(async move {
                match door.start_async("flood", &format!("flood-{number}"), number).await {
                    Ok(answer) => {
                        let is_refused = matches!(answer.status, 429 | 503);
                        assert!(!is_refused || answer.retry_after.is_some(), "{answer:?}");
                        assert!(is_refused || answer.is_ok(), "{answer:?}");
                        *answers.lock().await.entry(answer.status).or_default() += 1;
                    }
                    Err(error) => {
                        unanswered.fetch_add(1, Ordering::Relaxed);
                        *why.lock().await = format!(" ({error:?})");
                    }
                }
                drop(room);
            });
        }
        while let Some(request) = requests.try_join_next() {
            request.unwrap();
        }
        flood.memory_max = flood.memory_max.max(memory(world));
    }
    while let Some(request) = requests.join_next().await {
        request.unwrap();
        flood.memory_max = flood.memory_max.max(memory(world));
    }
    // The cluster continues with the starts that it has accepted.
    sleep(SLICE).await;
    flood.memory_max = flood.memory_max.max(memory(world));
    let answers = answers.lock().await;
    let count = |refused: bool| {
        let of = answers.iter().filter(|(status, _)| matches!(status, 429 | 503) == refused);
        of.map(|(_, count)| count).sum::<usize>()
    };
    (flood.accepted, flood.refused) = (count(false), count(true));
    flood.unanswered = unanswered.load(Ordering::Relaxed);
    flood.why.clone_from(&*why.lock().await);
    flood
}

/// The memory of the largest node, in MiB.
fn memory(world: &World) -> u64 {
    let of = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib / 1024
    };
    world.cluster.nodes().iter().filter_map(cluster::Node::pid).map(of).max().unwrap()
}
