//! A slow network, and one that is half open: connections stay, and nothing passes.

use std::time::Duration;

use super::far::Far;
use super::load::{Load, doctor, ready, unready};
use crate::pace::pace_of;
use crate::scale::pick;
use crate::world::{World, all_roles};

/// The time to there and back.
pub(super) const ROUND_TRIP: Duration = Duration::from_millis(50);

/// G1, G2, G11: 50 ms to NATS and to the database make everything slower, and break nothing. Then
/// nothing passes at all, on open connections: the node says so, and the others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_milliseconds_and_a_half_open_network_lose_nothing_g1_g2_g11() {
    let Some(mut world) = World::start(1, Vec::new()).await else { return };
    let far = Far::at(&world, "127.0.0.1").await;
    world.cluster.add(far.node("far")).await.unwrap();
    let (door, count) = (world.api(0), pick(60, 500));
    let near = pace_of(&door, "near", count).await;
    let waited = lease_waits(&world).await;
    far.round_trip(ROUND_TRIP);
    let slow = pace_of(&door, "slow", count).await;
    let slow_wait = mean(waited, lease_waits(&world).await);
    println!(
        "0 ms: {near:.0} starts/s, leases taken in {:.1} ms; {ROUND_TRIP:?}: {slow:.0} starts/s of 8 \
         callers, leases taken in {:.1} ms",
        mean((0.0, 0.0), waited) * 1e3,
        slow_wait * 1e3
    );
    assert!(slow_wait >= 0.9 * ROUND_TRIP.as_secs_f64() / 2.0, "the delay is not there");
    let (nats, database) = (far.nats_url(), far.database_url());
    let asked = ["--nats-url", nats.as_str(), "--database-url", database.as_str()];
    doctor(&world, &asked, &["JetStream answers in", "ms"]).await;
    doctor(&world, &asked, &["the database answers in", "ms"]).await;
    doctor(&world, &asked, &["ok", "clocks of this machine and the database"]).await;
    world.cluster.add(all_roles("near")).await.unwrap();
    let load = Load::begin(&world, "slow", &[0, 1]).await;
    let took = load.progress(pick(20, 200)).await;
    println!("{ROUND_TRIP:?}: the first voyages were over after {took:.1?}");
    far.nats.cut();
    unready(&world, 0, "nats").await;
    load.progress(10).await;
    far.nats.heal();
    ready(&world, 0).await;
    far.database.cut();
    unready(&world, 0, "database").await;
    load.progress(10).await;
    far.database.heal();
    ready(&world, 0).await;
    far.round_trip(Duration::ZERO);
    load.progress(10).await;
    load.end(&world, "slow and half open").await;
    let lost = world.api(0).metric_of("staunch_lease_losses_total").await;
    println!("leases lost by the far node, all while it was cut off: {lost:.0}");
}

/// The seconds that leases were waited for, and their number.
pub(super) async fn lease_waits(world: &World) -> (f64, f64) {
    let api = world.api(0);
    let figure = async |what: &str| {
        let name = format!("staunch_lease_wait_seconds_{what}");
        api.metric(&name, "false").await + api.metric(&name, "true").await
    };
    (figure("sum").await, figure("count").await)
}

/// The mean between two readings, in seconds.
pub(super) fn mean(before: (f64, f64), after: (f64, f64)) -> f64 {
    (after.0 - before.0) / (after.1 - before.1).max(1.0)
}
