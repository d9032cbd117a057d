//! Two sites, 50 ms apart, each a network namespace: NATS and the database are in the first; the
//! second is lost, then the first, and each comes back.

use std::time::Duration;

use cluster::NodePlan;

use super::far::Far;
use super::load::{Load, ready, said, unready};
use super::root::{Network, has, is_root};
use super::slow::ROUND_TRIP;
use crate::api::KEY;
use crate::pace::pace_of;
use crate::scale::pick;
use crate::world::{World, all_roles};

/// How long a site is away: longer than the leases of its nodes.
const AWAY: Duration = Duration::from_secs(6);

/// G1, G2, G5, G7, G11: each site is lost and comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_site_costs_time_and_no_work_g1_g2_g5_g7_g11() {
    if !(is_root("two sites") && has("ip", "iproute2")) {
        return;
    }
    let Some(mut world) = World::start(1, vec![all_roles("first")]).await else { return };
    let network = Network::new();
    // Far nodes meet the delay where their packets arrive: few kernels can delay packets themselves.
    let link = Far::at(&world, &network.here).await;
    link.round_trip(ROUND_TRIP);
    let mut second = NodePlan {
        under: network.under(),
        host: Some(network.there.clone()),
        auth: "api-key".to_owned(),
        ..link.node("second")
    };
    second.arguments.extend(["--api-key", KEY].map(str::to_owned));
    world.cluster.add(second).await.unwrap();
    let count = pick(60, 500);
    for (node, site) in ["first", "second"].into_iter().enumerate() {
        let pace = pace_of(&world.api(node), site, count).await;
        println!("asked at the {site} site: {pace:.0} starts/s of 8 callers");
    }
    let load = Load::begin_at(&world, "sites", &[0, 1], &network.here).await;
    load.progress(10).await;
    network.cut();
    said(&world, 1, &["WARN", "presence could not be renewed"]).await;
    let took = load.progress(10).await;
    println!("the second site is lost: the first goes on, 10 voyages in {took:.1?}");
    network.heal();
    ready(&world, 1).await;
    load.progress(10).await;
    // The first site: its node, NATS and the database.
    world.cluster.node_mut(0).kill().unwrap();
    world.cluster.brokers_mut().servers()[0].kill().unwrap();
    world.cluster.postgres().unwrap().kill().unwrap();
    unready(&world, 1, "Unhealthy").await;
    tokio::time::sleep(AWAY).await;
    world.cluster.postgres().unwrap().restart().await.unwrap();
    world.cluster.brokers_mut().servers()[0].restart().await.unwrap();
    ready(&world, 1).await;
    let took = load.progress(5).await;
    println!("the first site is back without its node: 5 voyages in {took:.1?}");
    world.cluster.node_mut(0).restart().await.unwrap();
    load.progress(10).await;
    load.end(&world, "two sites").await;
}
