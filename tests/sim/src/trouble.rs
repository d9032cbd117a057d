//! Faults of servers and nodes, as opposed to faults of single operations.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::time::Duration;

use bus::Bucket;
use protocol::subject;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::world::World;

const NEVER: Duration = Duration::from_secs(86_400);
/// A stream is made anew so often at most.
const ANEW_MAX: usize = 3;

/// Runs the faults that no operation triggers, until it is aborted.
pub(crate) async fn trouble(world: Arc<World>) {
    tokio::join!(expiries(&world), redeliveries(&world), wipe(&world), partition(&world), {
        let world = &world;
        async move { tokio::join!(moves(world), jumps(world), anew(world)) }
    });
}

/// Lets leases expire while their holders still run.
async fn expiries(world: &World) {
    let nemesis = &world.cluster.nemesis;
    let mut ticks = tokio::time::interval(nemesis.plan().lease_expires_every.unwrap_or(NEVER));
    loop {
        ticks.tick().await;
        if let Some(key) = nemesis.some_lease() {
            nemesis.note("bus", format_args!("lets the lease {key} expire"));
            world.cluster.bus.expire(Bucket::Leases, &key);
        }
    }
}

async fn redeliveries(world: &World) {
    let nemesis = &world.cluster.nemesis;
    let mut ticks = tokio::time::interval(nemesis.plan().redelivers_every.unwrap_or(NEVER));
    loop {
        ticks.tick().await;
        nemesis.note("bus", "delivers again");
        world.cluster.bus.redeliver();
        world.cluster.bus.reset_watches(Bucket::Leases);
    }
}

async fn wipe(world: &World) {
    let nemesis = &world.cluster.nemesis;
    tokio::time::sleep(nemesis.plan().wipe_at.unwrap_or(NEVER)).await;
    nemesis.note("bus", "is wiped");
    world.cluster.bus.wipe();
}

/// Removes streams, and makes them anew.
async fn anew(world: &Arc<World>) {
    tokio::join!(tasks_anew(world), outer_anew(world));
}

/// Removes the stream of tasks with its consumers, and makes it anew.
async fn tasks_anew(world: &World) {
    let Some(every) = world.cluster.nemesis.plan().tasks_anew_every else { return };
    let dice = world.dice.fork(8);
    for _ in 0..ANEW_MAX {
        tokio::time::sleep(every + dice.millis(1_000)).await;
        world.cluster.nemesis.note_anew(subject::TASKS_STREAM);
        world.cluster.bus.make_tasks_anew();
    }
}

/// Removes the stream that workflows listen to, and makes it anew a little later.
async fn outer_anew(world: &Arc<World>) {
    let Some(every) = world.cluster.nemesis.plan().outer_anew_every else { return };
    let dice = world.dice.fork(9);
    for _ in 0..ANEW_MAX {
        tokio::time::sleep(every + dice.millis(1_000)).await;
        let (world, gone_for) = (Arc::clone(world), dice.millis(2_000));
        // Once begun it runs to its end, even if this loop is aborted.
        let making = tokio::spawn(async move { world.make_outer_anew(gone_for).await });
        making.await.unwrap();
    }
}

/// Cuts one node off for a while, in both directions.
async fn partition(world: &World) {
    let nemesis = &world.cluster.nemesis;
    let Some((from, to)) = nemesis.plan().partition else { return };
    tokio::time::sleep(from).await;
    let names = world.cluster.names();
    if names.is_empty() {
        return;
    }
    let node = world.dice.fork(4).pick(&names).clone();
    nemesis.note(&node, "is cut off");
    world.cluster.bus.sever(&node);
    nemesis.cut_off(Some(node));
    tokio::time::sleep(to.saturating_sub(from)).await;
    heal(world);
}

/// Connects again the node that was cut off.
pub(crate) fn heal(world: &World) {
    let nemesis = &world.cluster.nemesis;
    if let Some(node) = nemesis.cut_off(None) {
        nemesis.note(&node, "is joined again");
        world.cluster.bus.mend(&node);
    }
}

/// Stops nodes in order while others join.
async fn moves(world: &World) {
    let plan = world.cluster.nemesis.plan();
    let Some(every) = plan.moves_every else { return };
    let dice = world.dice.fork(5);
    for number in 0.. {
        tokio::time::sleep(every + dice.millis(1_000)).await;
        let names = world.cluster.names();
        if names.is_empty() {
            continue;
        }
        let leaving = dice.pick(&names).clone();
        let Some(role) = world.cluster.role(&leaving) else { continue };
        let joining = format!("{}.m{number}", leaving.split('.').next().unwrap_or("node"));
        let (cluster, joins_first) = (Arc::clone(&world.cluster), dice.hits(5_000));
        // Once begun it runs to its end, even if this loop is aborted.
        let moving = tokio::spawn(async move {
            if joins_first {
                cluster.start(&joining, role);
                cluster.leave(&leaving).await;
            } else {
                cluster.leave(&leaving).await;
                cluster.start(&joining, role);
            }
        });
        moving.await.unwrap();
    }
}

/// Lets the clocks of nodes jump, forwards and back.
async fn jumps(world: &World) {
    if world.cluster.nemesis.plan().skew_max_ms == 0 {
        return;
    }
    let dice = world.dice.fork(6);
    loop {
        tokio::time::sleep(Duration::from_millis(500) + dice.millis(4_000)).await;
        let names = world.cluster.names();
        if !names.is_empty() {
            let name: &String = dice.pick(&names);
            world.cluster.jump(name);
        }
    }
}

/// Replaces a node that crashed, under the same name or another.
pub(crate) async fn replace(world: Arc<World>, mut crashed: UnboundedReceiver<String>) {
    let dice = world.dice.fork(3);
    let mut count = 0;
    while let Some(name) = crashed.recv().await {
        let Some(role) = world.cluster.kill(&name).await else { continue };
        count += 1;
        let again = if dice.hits(5_000) { name } else { format!("{name}.{count}") };
        let (world, wait) = (Arc::clone(&world), dice.millis(6_000));
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            world.cluster.start(&again, role);
        });
    }
}
