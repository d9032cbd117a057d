use bus::{Queue as _, TaskAnswer, Tasks as _, Wire as _};
use chassis::Clock as _;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::sweep::{Mended, Sweep};
use crate::world::{World, seconds};

fn task(id: &str, attempt: u32) -> Message {
    let headers = [
        (header::MESSAGE_ID, format!("{id}.{attempt}")),
        (header::TASK, id.to_owned()),
        (header::ATTEMPT, attempt.to_string()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value));
    Message { subject: subject::task("Ship", 1), headers: headers.into(), payload: Vec::new() }
}

async fn publish(world: &World, id: &str, deliveries_max: Option<i64>) {
    // The stream is older than the task, which it has not lost.
    tokio::time::advance(seconds(60)).await;
    world.waits_for_task(id, None).await;
    publish_alone(world, id, deliveries_max).await;
}

/// A task that nobody waits for: its result was stored, and its worker died before it said so.
async fn publish_alone(world: &World, id: &str, deliveries_max: Option<i64>) {
    world.bus.provide("Ship", 1).await.unwrap();
    if let Some(max) = deliveries_max {
        world.bus.limit_deliveries("task-Ship-1", max);
    }
    world.bus.publish(task(id, 2)).await.unwrap();
}

/// Workers get all tasks so often, and die of them.
async fn die(world: &World, times: usize) {
    for _ in 0..times {
        world.bus.take_tasks(&[("Ship".to_owned(), 1)], 10, Duration::ZERO).await.unwrap();
        tokio::time::advance(seconds(31)).await;
    }
    // Only one who asks again makes the server see that the limit is reached.
    let rest = world.bus.take_tasks(&[("Ship".to_owned(), 1)], 10, Duration::ZERO).await.unwrap();
    assert!(rest.iter().all(|task| task.deliveries > 0));
}

async fn left(world: &World) -> u64 {
    world.bus.span(Stream::Tasks).await.unwrap().messages
}

/// The tasks whose attempts are said to have failed, with what is said.
async fn said(world: &World) -> Vec<(String, TaskCompleted)> {
    let commands = world.commands().await.into_iter();
    let tasks = commands.filter_map(|(_, command)| match command.body {
        Body::Task(task) => Some((task.task_id.clone(), task)),
        _ => None,
    });
    tasks.collect()
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_gets_any_more_fails_its_attempt_and_is_taken_away() {
    let world = World::new();
    publish(&world, "poison", Some(3)).await;
    die(&world, 3).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    assert!(sweep.run_once().await.unwrap().is_empty(), "an acknowledgement may be on its way");
    tokio::time::advance(seconds(61)).await;
    assert_eq!(sweep.run_once().await.unwrap(), Mended { spent: 1, ..Mended::default() });
    let said = said(&world).await;
    let [(id, failed)] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(
        (id.as_str(), failed.attempt, failed.status),
        ("poison", Some(2), Some(TaskStatus::Failed))
    );
    assert_eq!(failed.retryable, None, "the attempts of the activity go on");
    let error = failed.error.as_ref().unwrap();
    assert_eq!(error["type"], "TaskDeliveriesExceeded");
    let detail = error["detail"].as_str().unwrap();
    assert!(detail.contains("task-Ship-1 has handed the task out 3 times"), "{detail}");
    assert_eq!(left(&world).await, 0);
    tokio::time::advance(seconds(600)).await;
    assert!(sweep.run_once().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_over_is_taken_away_and_nothing_is_said_of_it() {
    let world = World::new();
    publish_alone(&world, "over", Some(1)).await;
    let no_task = Message { headers: [].into(), ..task("none", 1) };
    world.bus.publish(no_task).await.unwrap();
    die(&world, 1).await;
    let mut sweep = Sweep::new(world.replica("timer-1").await);
    assert!(sweep.run_once().await.unwrap().is_empty());
    tokio::time::advance(seconds(61)).await;
    assert_eq!(sweep.run_once().await.unwrap(), Mended { spent: 2, ..Mended::default() });
    assert!(said(&world).await.is_empty());
    assert_eq!(left(&world).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_or_that_a_worker_has_is_left_alone() {
    for limit in [None, Some(3)] {
        let world = World::new();
        publish(&world, "waits", limit).await;
        let mut sweep = Sweep::new(world.replica("timer-1").await);
        let mut look = async |times| {
            for _ in 0..times {
                tokio::time::advance(seconds(61)).await;
                assert!(sweep.run_once().await.unwrap().is_empty());
            }
        };
        look(3).await;
        let kinds = [("Ship".to_owned(), 1)];
        let handed = world.bus.take_tasks(&kinds, 10, Duration::ZERO).await.unwrap();
        for _ in 0..3 {
            world.bus.answer_task(&handed[0].address, TaskAnswer::Working).await.unwrap();
            look(1).await;
        }
        assert_eq!(left(&world).await, 1);
        assert!(said(&world).await.is_empty());
    }
}

/// A look sees nothing while other tasks of the type are in progress; nats-server has said it.
#[tokio::test(start_paused = true)]
async fn what_the_server_says_is_found_while_workers_are_busy() {
    let world = World::new();
    publish(&world, "poison", Some(1)).await;
    die(&world, 1).await;
    publish(&world, "busy", None).await;
    let kinds = [("Ship".to_owned(), 1)];
    assert_eq!(world.bus.take_tasks(&kinds, 10, Duration::ZERO).await.unwrap().len(), 1);
    let stop = CancellationToken::new();
    let sweep = Sweep::new(world.replica("timer-1").await);
    let advisory = |sequence: u64, at: Timestamp| Message {
        subject: subject::TASK_SPENT.replace('*', "task-Ship-1"),
        payload: json!({"type": "io.nats.jetstream.advisory.v1.max_deliver", "deliveries": 1,
            "stream_seq": sequence, "timestamp": at.to_string()})
        .to_string()
        .into_bytes(),
        ..Message::default()
    };
    let now = world.clock.now();
    let hears = async {
        tokio::time::sleep(seconds(1)).await;
        // The second is about a message of an earlier stream, the third is none.
        world.bus.send(advisory(1, now)).await.unwrap();
        world.bus.send(advisory(2, now.before(seconds(3_600)))).await.unwrap();
        world.bus.send(Message { payload: b"{}".to_vec(), ..advisory(1, now) }).await.unwrap();
        while left(&world).await > 1 {
            tokio::time::sleep(seconds(1)).await;
        }
        tokio::time::sleep(seconds(20)).await;
        stop.cancel();
    };
    tokio::join!(sweep.serve(&stop), hears);
    let said: Vec<_> = said(&world).await.into_iter().map(|(id, _)| id).collect();
    assert_eq!((said, left(&world).await), (vec!["poison".to_owned()], 1));
}
