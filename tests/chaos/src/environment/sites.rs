//! Two sites, 50 ms apart: NATS and the database are in the first; the second is lost, then the
//! first, and each comes back.

use std::time::Duration;

use super::far::Far;
use super::load::{Load, ready, unready};
use super::slow::ROUND_TRIP;
use crate::pace::pace_of;
use crate::scale::pick;
use crate::world::{World, all_roles};

/// How long a site is away: longer than the leases of its nodes.
const AWAY: Duration = Duration::from_secs(6);

/// G1, G2, G5, G7, G11: each site is lost and comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_site_costs_time_and_no_work_g1_g2_g5_g7_g11() {
    let Some(mut world) = World::start(1, vec![all_roles("first")]).await else { return };
    let link = Far::at(&world, "127.0.0.1").await;
    link.round_trip(ROUND_TRIP);
    world.cluster.add(link.node("second")).await.unwrap();
    let count = pick(60, 500);
    for (node, site) in ["first", "second"].into_iter().enumerate() {
        let pace = pace_of(&world.api(node), site, count).await;
        println!("asked at the {site} site: {pace:.0} starts/s of 8 callers");
    }
    let load = Load::begin(&world, "sites", &[0, 1]).await;
    load.progress(10).await;
    link.cut();
    unready(&world, 1, "Unhealthy").await;
    let took = load.progress(10).await;
    println!("the second site is lost: the first goes on, 10 voyages in {took:.1?}");
    link.heal();
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
