//! Packets are lost between a node and everything else.

use std::time::Duration;

use cluster::NodePlan;
use testkit::eventually;

use super::far::Far;
use super::load::{Load, SEEN_MAX};
use super::root::{Network, has, is_root};
use crate::pace::pace_of;
use crate::scale::pick;
use crate::world::{World, all_roles};

/// Percent of the packets, each way. The TCP of a connection repeats a lost packet after 200 ms or
/// more.
const LOST: [u32; 2] = [1, 5];

/// G1, G2, G11: the only executor loses packets to NATS and to the database. Work gets slower,
/// nothing is lost or done twice, and then it is as fast as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_executor_that_loses_packets_is_slow_and_right_g1_g2_g11() {
    if !(is_root("packet loss") && has("nft", "nftables") && has("ip", "iproute2")) {
        return;
    }
    let roles = "ingress,timer,cache-notifier";
    let door = NodePlan { roles: roles.to_owned(), ..all_roles("door") };
    let Some(mut world) = World::start(1, vec![door]).await else { return };
    let network = Network::new();
    let far = Far::at(&world, &network.here).await;
    let lossy =
        NodePlan { roles: "executor".to_owned(), under: network.under(), ..far.node("lossy") };
    world.cluster.add(lossy).await.unwrap();
    let door = world.api(0);
    let count = pick(60, 300);
    let before = pace_of(&door, "whole", count).await;
    let load = Load::begin_at(&world, "loss", &[0], &network.here).await;
    load.progress(10).await;
    for percent in LOST {
        network.lose(percent);
        let lossy = pace_of(&door, &format!("lossy-{percent}"), count).await;
        let took = load.progress(pick(10, 100)).await;
        println!(
            "{percent} % lost each way: {lossy:.0} starts/s beside voyages, the next ones took {took:.1?}"
        );
        network.keep_all();
    }
    load.progress(10).await;
    load.end(&world, "packet loss").await;
    let mut after = 0.0;
    eventually("it is about as fast as before", SEEN_MAX, async || {
        after = pace_of(&door, &testkit::unique("after"), count).await;
        after > before / 3.0
    })
    .await;
    println!("{before:.0} starts/s before, {after:.0} after");
    let is_ready = async || world.cluster.nodes()[0].is_healthy().await;
    eventually("the door is ready", Duration::from_secs(10), is_ready).await;
}
