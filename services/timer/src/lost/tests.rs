use bus::Queue as _;
use protocol::{Headers, LostTask};

use super::*;
use crate::sweep::{Mended, Sweep};
use crate::world::{World, seconds};

fn attempt(task: &str, number: u32) -> Message {
    let id = format!("{task}.{number}");
    let headers = [(header::MESSAGE_ID, id.as_str()), (header::TASK, task)];
    let headers: Headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Message { subject: subject::task("Ship", 1), headers, payload: Vec::new() }
}

/// An instance that waits for the report of a task; the outbox has the task where it says so.
async fn waits(world: &World, task: &str, is_in_outbox: bool) {
    world.waits_for_task(task, is_in_outbox.then(|| attempt(task, 1))).await;
}

/// The instances that were asked to hand a task out again.
async fn asked(world: &World) -> Vec<String> {
    let commands = world.commands().await.into_iter();
    let mut asked: Vec<_> = commands
        .filter_map(|(_, command)| match command.body {
            Body::Perform(Perform { instance_id, lost: Some(LostTask { .. }) }) => {
                Some(instance_id.to_string())
            }
            _ => None,
        })
        .collect();
    asked.sort_unstable();
    asked
}

#[tokio::test(start_paused = true)]
async fn tasks_that_went_with_their_stream_are_handed_out_again() {
    let world = World::new();
    for task in ["gone", "acknowledged", "paused"] {
        waits(&world, task, false).await;
        world.bus.publish(attempt(task, 1)).await.unwrap();
    }
    tokio::time::advance(seconds(600)).await;
    world.bus.wipe();
    waits(&world, "kept", true).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    tokio::time::advance(seconds(10)).await;
    assert_eq!(sweep.run_once().await.unwrap(), Mended { published: 1, ..Mended::default() });
    assert!(asked(&world).await.is_empty(), "reports may be on their way");
    tokio::time::advance(seconds(11)).await;
    assert_eq!(sweep.run_once().await.unwrap(), Mended { lost: 3, ..Mended::default() });
    assert_eq!(asked(&world).await, ["acknowledged", "gone", "paused"]);
    let consumers: Vec<_> = world.bus.pools().into_keys().collect();
    assert_eq!(consumers, ["task-Ship-1"]);

    // Those that were handed out are in the stream; the rest is asked for again, after a while.
    for task in ["gone", "acknowledged"] {
        world.bus.publish(attempt(task, 2)).await.unwrap();
    }
    tokio::time::advance(seconds(50)).await;
    assert!(sweep.run_once().await.unwrap().is_empty());
    tokio::time::advance(seconds(120)).await;
    assert_eq!(sweep.run_once().await.unwrap().lost, 1);
    assert_eq!(asked(&world).await, ["acknowledged", "gone", "paused", "paused"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_a_worker_acknowledged_is_not_handed_out_again() {
    let world = World::new();
    tokio::time::advance(seconds(60)).await;
    waits(&world, "taken", false).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    for _ in 0..100 {
        tokio::time::advance(seconds(60)).await;
        assert!(sweep.run_once().await.unwrap().is_empty());
    }
}

/// The pause after looks that found nothing grows to an hour. It is that of one stream.
#[tokio::test(start_paused = true)]
async fn a_stream_that_was_made_anew_is_looked_through_at_once() {
    let world = World::new();
    tokio::time::advance(seconds(60)).await;
    waits(&world, "taken", false).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    for _ in 0..200 {
        tokio::time::advance(seconds(60)).await;
        assert!(sweep.run_once().await.unwrap().is_empty());
    }
    world.bus.wipe();
    tokio::time::advance(seconds(21)).await;
    assert_eq!(sweep.run_once().await.unwrap().lost, 1);
    assert_eq!(asked(&world).await, ["taken"]);
}

#[tokio::test(start_paused = true)]
async fn many_lost_tasks_are_found_over_several_sweeps() {
    let world = World::new();
    let count = AGAIN_MAX + 700;
    for number in 0..count {
        waits(&world, &format!("t{number:05}"), false).await;
    }
    world.bus.wipe();
    tokio::time::advance(seconds(60)).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    let mut found = 0;
    for _ in 0..3 {
        found += sweep.run_once().await.unwrap().lost;
    }
    assert_eq!(found, count as u64);
    assert_eq!(asked(&world).await.len(), count);
}

/// Tasks of a type that has its share of the new stream stay in the outbox. They are not lost, and those
/// of others are looked for.
#[tokio::test(start_paused = true)]
async fn tasks_that_are_held_back_are_not_lost_and_hide_no_lost_ones() {
    let world = World::new();
    world.bus.limit_tasks(65_536);
    waits(&world, "gone", false).await;
    world.bus.publish(attempt("gone", 1)).await.unwrap();
    for number in 0..20 {
        let task = format!("fat{number:02}");
        let mut message = attempt(&task, 1);
        message.subject = subject::task("Fat", 1);
        message.payload = vec![b' '; 4_096];
        world.waits_for_task(&task, Some(message)).await;
    }
    tokio::time::advance(seconds(600)).await;
    world.bus.wipe();
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    tokio::time::advance(seconds(21)).await;
    let mended = sweep.run_once().await.unwrap();
    assert!((8..=9).contains(&mended.published), "{mended:?}");
    assert_eq!(asked(&world).await, ["gone"]);
}
