//! Rows that have no message any more, made by the test. The sweep finds, counts and repairs each.

use std::time::Duration;

use async_nats::jetstream::Context;
use chassis::Point;
use model::SubStatus;
use testkit::eventually;
use tokio::time::Instant;

use crate::callee::Callee;
use crate::ledger::Ledger;
use crate::scale::pick;
use crate::workflow::Names;
use crate::world::{World, all_roles, dies_at};

/// The time in which the sweep has to find and repair a stuck row.
const MENDED_MAX: Duration = Duration::from_secs(30);
const DEATH_MAX: Duration = Duration::from_secs(60);

/// G9: a start, a resume, an outbox row and a running instance that have no message any more are
/// each found, counted and repaired within 30 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stuck_is_found_counted_and_mended_within_thirty_seconds_g9() {
    let Some(mut world) = World::start(1, vec![all_roles("mender")]).await else { return };
    let callee = Callee::start().await;
    let jetstream = world.jetstream().await;
    let ledger = Ledger::new(&world, jetstream.clone(), &callee, Names::new("stuck"));
    let mender = world.api(0);
    let each = pick(2, 10);
    for definition in [
        Names::quick("unstarted"),
        Names::waiting("unwoken"),
        Names::quick("unpublished"),
        Names::calling("unfinished", &callee.url),
    ] {
        mender.publish(&definition).await;
    }
    for number in 0..each {
        let id = format!("waiting-unwoken-{number}");
        mender.start("waiting-unwoken", &id, number).await.unwrap().ok();
    }
    ledger.all_are("waiting-unwoken", SubStatus::Suspended, each).await;
    world.cluster.node_mut(0).kill().unwrap();
    for number in 0..each {
        ledger.wait_in_vain(&format!("waiting-unwoken-{number}")).await;
        // The one that the sweep repairs only when it is old comes last: a newer one may be
        // running.
        leave_behind(&mut world, &jetstream, Point::Accepted, "unstarted", number).await;
        leave_behind(&mut world, &jetstream, Point::BeforePublish, "unpublished", number).await;
        let calling = "calling-unfinished";
        leave_behind(&mut world, &jetstream, Point::BeforeCall, calling, number).await;
    }
    let stuck = Instant::now();
    world.cluster.node_mut(0).restart().await.unwrap();
    for (definition, what) in [
        ("unstarted", "start"),
        ("waiting-unwoken", "waiting"),
        ("unpublished", "outbox"),
        ("calling-unfinished", "unfinished"),
    ] {
        ledger.all_are(definition, SubStatus::Finished, each).await;
        let mut counted = 0.0;
        eventually(&format!("{each} of {what} are counted"), MENDED_MAX, async || {
            counted = mender.metric("staunch_sweep_mended_total", what).await;
            counted >= each as f64
        })
        .await;
        println!("G9: {each} x {what}: mended {:.1?} later, {counted} counted", stuck.elapsed());
    }
    ledger.nothing_left().await;
    let took = stuck.elapsed();
    println!("G9: {} stuck things, all found, counted and mended within {took:.1?}", 4 * each);
    assert!(took <= MENDED_MAX, "{took:?}");
}

/// A process aborts at a point during one start, and the test deletes the stream's messages.
async fn leave_behind(
    world: &mut World,
    jetstream: &Context,
    point: Point,
    definition: &str,
    number: usize,
) {
    let name = format!("{}-{number}", point.name());
    world.cluster.add(dies_at(&name, point.name(), 1)).await.unwrap();
    let last = world.cluster.nodes().len() - 1;
    // The process aborts before it responds.
    drop(world.api(last).start(definition, &format!("{definition}-{number}"), number).await);
    let victim = world.cluster.node_mut(last);
    eventually("the victim dies", DEATH_MAX, async || !victim.is_running()).await;
    victim.stop().await.unwrap();
    let stream = jetstream.get_stream("STAUNCH_COMMANDS").await.unwrap();
    stream.purge().await.unwrap();
}
