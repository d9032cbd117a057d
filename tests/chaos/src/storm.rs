//! A cluster of three brokers, PostgreSQL and three nodes. One part after the other breaks and
//! heals under load.

use std::time::Duration;

use cluster::NodePlan;
use testkit::{Proxy, eventually};
use tokio::time::{Instant, sleep};

use crate::callee::Callee;
use crate::ledger::{Found, Ledger};
use crate::scale::{is_calm, is_full, pick};
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles};

const SENDERS: usize = 8;
const NODES: usize = 3;
const BROKERS: usize = 3;
/// How long a part is away: longer than the TTL of a lease, of a presence and the ack wait.
const AWAY: Duration = Duration::from_secs(8);
/// About the time that all faults together take.
const CALM: Duration = Duration::from_secs(300);
/// After the last fault heals, everything works as before within this time.
const HEALED: Duration = Duration::from_secs(15);
const PROGRESS_MAX: Duration = Duration::from_secs(60);
/// The length of a time slice. Throughput is measured over several of them.
const SLICE: Duration = Duration::from_secs(15);
/// The streams' duplicate window.
const DUPLICATES: Duration = Duration::from_secs(120);
/// The least ratio of the throughput after the faults to the throughput before.
const RATIO_MIN: f64 = 0.95;

/// A fault that heals.
#[derive(Clone, Copy, Debug)]
enum Blow {
    KillNode(usize),
    PauseNode(usize),
    RestartNode(usize),
    KillBroker(usize),
    PauseBroker(usize),
    RestartBroker(usize),
    /// The leaders of all streams and consumers, and of the cluster itself, step down.
    StepDown,
    /// No traffic passes between a node and the brokers.
    CutOff(usize),
    KillDatabase,
    PauseDatabase,
}

use Blow::{
    CutOff, KillBroker, KillDatabase, KillNode, PauseBroker, PauseDatabase, PauseNode,
    RestartBroker, RestartNode, StepDown,
};

const SAMPLE: &[Blow] = &[KillNode(0), KillBroker(1), CutOff(1), StepDown];
const FULL: &[Blow] = &[
    KillNode(0),
    KillBroker(0),
    CutOff(1),
    StepDown,
    PauseNode(2),
    PauseBroker(1),
    KillDatabase,
    RestartNode(1),
    RestartBroker(2),
    StepDown,
    CutOff(0),
    PauseDatabase,
    KillBroker(2),
    KillNode(2),
    PauseNode(0),
    PauseBroker(0),
    StepDown,
    RestartNode(0),
    KillDatabase,
    CutOff(2),
];

/// G1, G2, G3, G5, G9, G11: after parts have broken and healed, nothing is lost, nothing was done
/// twice, and throughput is as before. G4: then the brokers lose all their data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_weathers_a_storm_and_the_loss_of_its_streams_g1_g2_g3_g4_g5_g9_g11() {
    let Some(mut world) = World::start(BROKERS, Vec::new()).await else { return };
    let callee = Callee::start().await;
    let proxies = nodes_behind_proxies(&mut world).await;
    let names = Names::new("storm");
    for definition in names.voyages(&callee.url) {
        world.api(0).publish(&definition).await;
    }
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let doors = (0..NODES).map(|node| world.api(node)).collect();
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let traffic = Traffic::begin(route, SENDERS);

    // The work of the brokers grows until the streams' duplicate window is full.
    sleep(pick(Duration::ZERO, DUPLICATES)).await;
    progress(&traffic, 40).await;
    let (slices, slice) = pick((2, SLICE / 5), (8, SLICE));
    let before = traffic.over(slices, slice).await;
    println!("before: {before} voyages/s");
    let blows = match (is_calm(), is_full()) {
        (true, _) => &[],
        (false, true) => FULL,
        (false, false) => SAMPLE,
    };
    if blows.is_empty() {
        sleep(CALM).await;
    }
    for blow in blows {
        let struck = Instant::now();
        strike(&mut world, &proxies, *blow).await;
        let healed = Instant::now();
        progress(&traffic, 30).await;
        println!(
            "{blow:?}: broken for {:.1?}, 30 voyages over {:.1?} after healing, {:.1}/s meanwhile",
            healed - struck,
            healed.elapsed(),
            traffic.rate(struck.elapsed().as_secs())
        );
    }
    sleep(pick(HEALED / 5, HEALED)).await;
    let after = traffic.over(slices, slice).await;
    let accepted = traffic.end().await;
    let ended = Instant::now();
    let ledger = Ledger::new(&world, jetstream, &callee, names.clone());
    ledger.settled(&accepted).await;
    let settled = ended.elapsed();
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    let ratio = after.mean / before.mean;
    // The variation between the slices determines the error of the ratio.
    let doubt = 2.0 * ratio * (after.doubt().powi(2) + before.doubt().powi(2)).sqrt();
    println!(
        "G1 G2 G3 G5 G9: {voyages} voyages accepted, {voyages} finished once, 0 lost, 0 twice, 0 \
         stuck; {repeated_calls} outgoing calls repeated; all over {settled:.1?} after the last \
         was accepted; longest pause {:.1?}",
        accepted.longest_pause()
    );
    println!(
        "G11: {before}/s before, {after}/s after healing: {:.0} % ± {:.0} %",
        ratio * 100.0,
        doubt * 100.0
    );
    assert!(!is_full() || is_calm() || ratio >= RATIO_MIN, "{ratio} ± {doubt}");
    lose_the_streams(&mut world, &ledger).await;
}

/// Each node connects to each broker through a separate proxy.
async fn nodes_behind_proxies(world: &mut World) -> Vec<Vec<Proxy>> {
    let targets: Vec<String> = world.cluster.nats_url().split(',').map(str::to_owned).collect();
    let mut proxies = Vec::with_capacity(NODES);
    for number in 0..NODES {
        let mut own = Vec::with_capacity(targets.len());
        for target in &targets {
            own.push(Proxy::to(target.trim_start_matches("nats://")).await);
        }
        let urls: Vec<_> = own.iter().map(|proxy| format!("nats://{}", proxy.address())).collect();
        let nats_url = Some(urls.join(","));
        let plan = NodePlan { nats_url, ..all_roles(&format!("node-{number}")) };
        world.cluster.begin(plan).unwrap();
        proxies.push(own);
    }
    for number in 0..NODES {
        world.cluster.node_mut(number).wait_ready().await.unwrap();
    }
    proxies
}

/// Waits until this many more voyages are over.
pub(crate) async fn progress(traffic: &Traffic, voyages: usize) {
    let wanted = traffic.finished() + voyages;
    eventually(&format!("{voyages} more voyages are over"), PROGRESS_MAX, async || {
        traffic.finished() >= wanted
    })
    .await;
}

/// Breaks a part, waits, and heals it.
async fn strike(world: &mut World, proxies: &[Vec<Proxy>], blow: Blow) {
    match blow {
        KillNode(node) => {
            world.cluster.node_mut(node).kill().unwrap();
            sleep(AWAY).await;
            world.cluster.node_mut(node).restart().await.unwrap();
        }
        PauseNode(node) => {
            world.cluster.node_mut(node).suspend().unwrap();
            sleep(AWAY).await;
            world.cluster.node_mut(node).resume().unwrap();
        }
        RestartNode(node) => {
            let exit = world.cluster.node_mut(node).stop().await.unwrap();
            assert!(exit.status.success(), "{exit:?}");
            world.cluster.node_mut(node).restart().await.unwrap();
        }
        KillBroker(broker) => {
            world.cluster.brokers_mut().servers()[broker].kill().unwrap();
            sleep(AWAY).await;
            world.cluster.brokers_mut().servers()[broker].restart().await.unwrap();
        }
        PauseBroker(broker) => {
            world.cluster.brokers_mut().servers()[broker].suspend().unwrap();
            sleep(AWAY).await;
            world.cluster.brokers_mut().servers()[broker].resume().unwrap();
        }
        RestartBroker(broker) => {
            world.cluster.brokers_mut().servers()[broker].stop().await.unwrap();
            world.cluster.brokers_mut().servers()[broker].restart().await.unwrap();
        }
        StepDown => step_down(world).await,
        CutOff(node) => {
            proxies[node].iter().for_each(Proxy::cut);
            sleep(AWAY).await;
            proxies[node].iter().for_each(Proxy::heal);
        }
        KillDatabase => {
            world.cluster.postgres().unwrap().kill().unwrap();
            sleep(AWAY / 4).await;
            world.cluster.postgres().unwrap().restart().await.unwrap();
        }
        PauseDatabase => {
            world.cluster.postgres().unwrap().suspend().unwrap();
            sleep(AWAY / 2).await;
            world.cluster.postgres().unwrap().resume().unwrap();
        }
    }
}

async fn step_down(world: &World) {
    let client = world.client().await;
    let streams = [
        "STAUNCH_COMMANDS",
        "STAUNCH_EVENTS",
        "KV_staunch_leases",
        "KV_staunch_nodes",
        "KV_staunch_timers",
        "KV_staunch_definitions",
    ];
    let of_streams = streams.map(|stream| format!("$JS.API.STREAM.LEADER.STEPDOWN.{stream}"));
    let of_consumer = "$JS.API.CONSUMER.LEADER.STEPDOWN.STAUNCH_COMMANDS.executor".to_owned();
    for subject in of_streams.into_iter().chain([of_consumer]) {
        // A group without a leader at this moment has none to step down.
        drop(client.request(subject, "".into()).await);
    }
}

/// Instances that wait for events and for timers go on after the brokers have lost all their data.
async fn lose_the_streams(world: &mut World, ledger: &Ledger<'_>) {
    const WAITING: usize = 25;
    let (wait, nap) = (Names::waiting("wiped"), Names::napping("wiped", 30));
    for definition in [&wait, &nap] {
        world.api(0).publish(definition).await;
    }
    for number in 0..WAITING {
        for what in ["waiting", "napping"] {
            let id = format!("{what}-wiped-{number}");
            world.api(0).start(&format!("{what}-wiped"), &id, number).await.unwrap().ok();
        }
    }
    ledger.all_are("waiting-wiped", model::SubStatus::Suspended, WAITING).await;
    ledger.all_are("napping-wiped", model::SubStatus::Suspended, WAITING).await;
    let wiped = Instant::now();
    world.cluster.brokers_mut().wipe().await.unwrap();
    world.cluster.provision().await.unwrap();
    for number in 0..WAITING {
        let id = format!("waiting-wiped-{number}");
        eventually("a resume is taken", PROGRESS_MAX, async || {
            let door = world.api(number % NODES);
            door.resume(&id).await.is_ok_and(|answer| answer.is_ok() || answer.status == 409)
        })
        .await;
    }
    ledger.all_are("waiting-wiped", model::SubStatus::Finished, WAITING).await;
    ledger.all_are("napping-wiped", model::SubStatus::Finished, WAITING).await;
    println!(
        "G4: {} instances suspended, the stores of all brokers deleted, all finished {:.1?} later",
        2 * WAITING,
        wiped.elapsed()
    );
}
