//! The clock of one node jumps by an hour, ahead and back.

use std::time::Duration;

use cluster::NodePlan;
use model::SubStatus;
use testkit::FalseClock;
use tokio::time::{Instant, sleep};

use super::load::{Load, said};
use crate::scale::pick;
use crate::workflow::Names;
use crate::world::{World, all_roles};

const NAP: u32 = 2;
/// A timer may fire this much before its time: a round trip to the database, and rounding.
const EARLY_MAX: Duration = Duration::from_millis(20);
/// On a busy machine a timer may be as late as this.
const LATE_MAX: Duration = Duration::from_secs(20);

/// G3, G6: a node whose clock is an hour ahead or behind fires no timer early or an hour late, and
/// keeps no lease that others have. It warns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_by_an_hour_moves_no_timer_g1_g2_g3_g6() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = FalseClock::find(folder.path(), "clocks") else { return };
    let mut jumps = NodePlan { ..all_roles("jumps") };
    jumps.environment.extend(clock.environment());
    let steady =
        NodePlan { roles: "ingress,timer,cache-notifier".to_owned(), ..all_roles("steady") };
    // At first only the node whose clock jumps executes: every delay begins by its clock.
    let Some(mut world) = World::start(1, vec![steady, jumps]).await else { return };
    world.api(0).publish(&Names::napping("clocks", NAP)).await;
    for (number, offset) in ["+0", "+3600", "+0", "-3600", "+0"].into_iter().enumerate() {
        clock.set(offset);
        // The library looks at the file once a second.
        sleep(Duration::from_millis(1_200)).await;
        let (first, last) = naps(&world, number).await;
        println!("G6: clock {offset} s: naps of {NAP} s took {first:.2?} to {last:.2?}");
        if offset != "+0" {
            let apart = async || world.api(1).metric_of("staunch_clock_apart_seconds").await;
            testkit::eventually("the metric shows it", LATE_MAX, async || apart().await > 3_500.0)
                .await;
        }
    }
    said(&world, 1, &["WARN", "clock", "apart"]).await;
    world.cluster.add(all_roles("other")).await.unwrap();
    let load = Load::begin(&world, "clocks", &[0, 1, 2]).await;
    load.progress(10).await;
    for offset in ["+3600", "-3600", "+0"] {
        clock.set(offset);
        sleep(Duration::from_millis(1_200)).await;
        load.progress(pick(15, 100)).await;
    }
    load.end(&world, "a clock that jumps").await;
    let lost = world.api(1).metric_of("staunch_lease_losses_total").await;
    let conflicts = world.api(1).metric_of("staunch_commit_conflicts_total").await;
    println!("G3: the node whose clock jumps lost {lost:.0} leases and {conflicts:.0} commits");
}

/// Starts naps; returns after what time the first and the last of them were over.
async fn naps(world: &World, number: usize) -> (Duration, Duration) {
    let count = pick(10, 50);
    let mut open = Vec::new();
    for nap in 0..count {
        let (id, asked) = (format!("nap-{number}-{nap}"), Instant::now());
        world.api(0).start("napping-clocks", &id, nap).await.unwrap().ok();
        open.push((model::InstanceId::new(id), asked));
    }
    let mut took = Vec::new();
    let wanted = Duration::from_secs(NAP.into());
    let give_up = Instant::now() + wanted + LATE_MAX;
    while !open.is_empty() {
        assert!(Instant::now() < give_up, "{} of {count} naps are late", open.len());
        let mut left = Vec::new();
        for (id, asked) in open {
            let found = world.store.load(&id).await.unwrap().unwrap();
            match found.instance.status {
                SubStatus::Finished => took.push(asked.elapsed()),
                _ => left.push((id, asked)),
            }
        }
        open = left;
    }
    took.sort_unstable();
    let (first, last) = (took[0], took[took.len() - 1]);
    assert!(first + EARLY_MAX >= wanted, "a nap of {wanted:?} took {first:?}");
    (first, last)
}
