//! Nodes that reach PostgreSQL through PgBouncer in transaction mode.

use std::time::Duration;

use cluster::NodePlan;
use model::SubStatus;
use testkit::eventually;
use tokio::time::Instant;

use crate::callee::Callee;
use crate::failover::DATABASE;
use crate::ledger::{Found, Ledger};
use crate::pace::pace;
use crate::scale::pick;
use crate::storm::progress;
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles};

const NODES: usize = 2;
const SENDERS: usize = 8;
/// Connections to PostgreSQL, for all nodes together: each of them alone would open more.
const CONNECTIONS: u32 = 4;
const SOON: Duration = Duration::from_secs(30);

/// G1, G2, G5, G6: everything works over few connections that transactions share, also after the
/// pooler and the server were killed under load. Migrations need the server itself, and say so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_pooler_in_transaction_mode_nothing_is_lost_g1_g2_g5_g6() {
    let Some(mut server) = testkit::own_postgres(true).await else { return };
    server.create(DATABASE).await.unwrap();
    let Some(mut pooler) = testkit::pgbouncer(server.port(), CONNECTIONS).await else { return };
    let url = pooler.url(DATABASE);
    let behind = |name: &str| {
        let mut plan = NodePlan { database_url: Some(url.clone()), ..all_roles(name) };
        plan.arguments.push("--database-pooler".to_owned());
        plan
    };
    let mut world = World::start_on(server.url(DATABASE), vec![all_roles("direct")]).await;
    let direct = pace(&world.api(0), "direct").await;
    world.cluster.node_mut(0).stop().await.unwrap();
    for number in 0..NODES {
        world.cluster.add(behind(&format!("node-{number}"))).await.unwrap();
    }
    let doors: Vec<_> = (1..=NODES).map(|node| world.api(node)).collect();
    let pooled = pace(&doors[0], "pooled").await;
    println!("{direct:.0} starts/s directly, {pooled:.0} pooled");

    let refused = world.cluster.cli(&["migrate", "--database-url", &url]).await.unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("address of PostgreSQL itself"), "{said}");
    let nats = world.cluster.nats_url();
    let asked = ["doctor", "--nats-url", &nats, "--database-url", &url, "--database-pooler"];
    let said = world.cluster.cli(&asked).await.unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("migrations are applied"), "{said}");

    let callee = Callee::start().await;
    let names = Names::new("pooler");
    for definition in names.definitions(&callee.url) {
        doors[0].publish(&definition).await;
    }
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    let traffic = Traffic::begin(route, SENDERS);
    progress(&traffic, pick(20, 200)).await;
    let (clients, servers) = pooler.connections();
    println!("{clients} connections of nodes share {servers} of the database");
    assert!(servers <= CONNECTIONS as usize && clients > servers, "{clients} on {servers}");
    for what in ["pooler", "server"] {
        let struck = Instant::now();
        if what == "pooler" {
            pooler.kill();
            pooler.start().await;
        } else {
            server.kill().unwrap();
            server.restart().await.unwrap();
        }
        progress(&traffic, 20).await;
        println!("G5: 20 voyages are over {:.1?} after the {what} was killed", struck.elapsed());
    }
    let accepted = traffic.end().await;
    let ledger = Ledger::new(&world, jetstream, &callee, names.clone());
    ledger.settled(&accepted).await;
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    let mut ticks = 0;
    eventually("a time of the schedule is over", SOON, async || {
        ticks = ledger.count(&names.tick, Some(SubStatus::Finished)).await;
        ticks > 0
    })
    .await;
    println!(
        "G1 G2 G5: {voyages} voyages accepted, {voyages} finished once; {repeated_calls} outgoing \
         calls repeated; {ticks} times of a schedule; longest pause {:.1?}",
        accepted.longest_pause()
    );
    let is_healthy = async || world.cluster.nodes()[1].is_healthy().await;
    eventually("a node behind the pooler is ready", SOON, is_healthy).await;
}
