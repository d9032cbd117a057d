//! Nodes of the previous version and of this one, side by side.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cluster::NodePlan;
use testkit::eventually;
use tokio::time::Instant;

use crate::callee::Callee;
use crate::ledger::{Found, Ledger};
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles};

const NODES: usize = 3;
const SENDERS: usize = 6;
/// Voyages that finish between two changes.
const BETWEEN: usize = 30;
const PROGRESS_MAX: Duration = Duration::from_secs(90);

/// G13: nodes are changed one by one from the previous version to this one and back, under load,
/// and nothing fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_are_upgraded_and_downgraded_one_by_one_and_nothing_fails_g13() {
    let Some(previous) = previous() else {
        let how = "`just upgrade` builds the previous commit and names it";
        return testkit::skip("upgrade", "rolling upgrade", how);
    };
    let old = |name: &str| NodePlan { binary: Some(previous.clone()), ..all_roles(name) };
    let nodes = (0..NODES).map(|node| old(&format!("node-{node}"))).collect();
    let Some(mut world) = World::start(1, nodes).await else { return };
    let callee = Callee::start().await;
    let names = Names::new("upgrade");
    for definition in names.voyages(&callee.url) {
        world.api(0).publish(&definition).await;
    }
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let doors = (0..NODES).map(|node| world.api(node)).collect();
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let traffic = Traffic::begin(route, SENDERS);
    progress(&traffic).await;
    for to in [None, Some(previous.as_path())] {
        for node in 0..NODES {
            change(&mut world, node, to).await;
            progress(&traffic).await;
        }
    }
    let accepted = traffic.end().await;
    let ledger = Ledger::new(&world, jetstream, &callee, names);
    ledger.settled(&accepted).await;
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    println!(
        "G13: {NODES} nodes changed to this version and back to the previous one under load: \
         {voyages} voyages accepted, {voyages} finished once, 0 failed, {repeated_calls} calls \
         repeated; longest pause {:.1?}",
        accepted.longest_pause()
    );
}

/// Stops a node in order and starts it as another version.
async fn change(world: &mut World, node: usize, to: Option<&Path>) {
    let began = Instant::now();
    let node = world.cluster.node_mut(node);
    let exit = node.stop().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    node.plan_mut().binary = to.map(Path::to_owned);
    node.restart().await.unwrap();
    let version = if to.is_some() { "the previous version" } else { "this version" };
    println!(
        "{} is {version}: {:.1?} to stop, {:.1?} in all",
        node.name(),
        exit.took,
        began.elapsed()
    );
}

async fn progress(traffic: &Traffic) {
    let wanted = traffic.finished() + BETWEEN;
    eventually(&format!("{BETWEEN} more voyages are over"), PROGRESS_MAX, async || {
        traffic.finished() >= wanted
    })
    .await;
}

#[expect(clippy::disallowed_methods, reason = "a switch of these tests")]
fn previous() -> Option<PathBuf> {
    std::env::var("STAUNCH_PREVIOUS_BINARY").ok().filter(|path| !path.is_empty()).map(PathBuf::from)
}
