use model::Timestamp;
use protocol::header;

use super::*;
use crate::{Fault, Faults, MemoryBus, Operation, Pools, Queue as _, TaskAnswer, Tasks as _};

/// The room for tasks here, and the body of a fat one.
const ROOM: u64 = 65_536;
const FAT: usize = 4_096;

fn bus() -> MemoryBus {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    bus.limit_tasks(ROOM);
    bus
}

fn pools(bus: &MemoryBus) -> Pools {
    Pools::new(Arc::new(bus.clone()))
}

fn task(task_type: &str, number: usize, bytes: usize) -> Message {
    Message {
        subject: subject::task(task_type, 1),
        headers: [(header::MESSAGE_ID.to_owned(), format!("{task_type}.{number}"))].into(),
        payload: vec![b' '; bytes],
    }
}

async fn publish(pools: &Pools, bus: &MemoryBus, message: Message) -> Result<(), Error> {
    pools.prepare(&message).await?;
    let _passed = pools.admit(&message).await?;
    bus.publish(message).await.map(drop)
}

/// Publishes fat tasks of this type, from this number on, until there is no room: their number.
async fn pile_up(pools: &Pools, bus: &MemoryBus, task_type: &str, from: usize) -> (usize, Error) {
    let mut number = from;
    loop {
        match publish(pools, bus, task(task_type, number, FAT)).await {
            Ok(()) => number += 1,
            Err(error) => return (number - from, error),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_without_workers_leaves_room_for_all_others() {
    let bus = bus();
    let pools = pools(&bus);
    let (taken, error) = pile_up(&pools, &bus, "Fat", 0).await;
    assert_eq!(taken, 9, "{error}");
    assert!(matches!(error, Error::Full(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("9 tasks of Fat version 1 wait"), "{text}");
    assert!(text.contains("more than half full (28672 bytes are free)"), "{text}");
    for number in 0..5 {
        publish(&pools, &bus, task("Thin", number, 100)).await.unwrap();
    }
    // Further types that pile up take a part of what they find.
    for other in 0..12 {
        let (taken, error) = pile_up(&pools, &bus, &format!("Other{other}"), 0).await;
        assert!(error.to_string().contains("more than half full"), "{error}");
        assert_eq!(taken, 1, "{other}");
        if bus.fill(Stream::Tasks, "").await.unwrap().bytes > ROOM - 2 * FAT as u64 {
            break;
        }
    }
    publish(&pools, &bus, task("Thin", 5, 100)).await.unwrap();
    publish(&pools, &bus, task("Last", 0, FAT)).await.unwrap();
    let tasks = bus.stored(Stream::Tasks);
    assert!(tasks.iter().any(|(_, message)| message.subject == "staunch.task.Last.1"));
}

#[tokio::test(start_paused = true)]
async fn what_workers_have_done_makes_room_again() {
    let bus = bus();
    let pools = pools(&bus);
    let (taken, _) = pile_up(&pools, &bus, "Fat", 0).await;
    let handed =
        bus.take_tasks(&[("Fat".to_owned(), 1)], taken, Duration::from_secs(1)).await.unwrap();
    assert_eq!(handed.len(), taken);
    let (more, _) = pile_up(&pools, &bus, "Fat", taken).await;
    assert_eq!(more, 0, "a task that is in progress is still in the stream");
    for one in handed {
        bus.answer_task(&one.address, TaskAnswer::Done).await.unwrap();
    }
    tokio::time::advance(SEEN_FOR).await;
    assert_eq!(pile_up(&pools, &bus, "Fat", taken).await.0, taken);
}

#[tokio::test(start_paused = true)]
async fn what_is_on_the_way_counts_before_it_is_stored() {
    let bus = bus();
    let pools = pools(&bus);
    let mut passed = Vec::new();
    while let Ok(one) = pools.admit(&task("Fat", passed.len(), FAT)).await {
        passed.push(one);
    }
    assert_eq!(passed.len(), 8);
    tokio::time::advance(SEEN_FOR).await;
    assert!(pools.admit(&task("Fat", 8, FAT)).await.is_err(), "a look does not show them");
    drop(passed);
    tokio::time::advance(SEEN_FOR).await;
    drop(pools.admit(&task("Fat", 8, FAT)).await.unwrap());
}

/// What a stream has cannot be asked for.
struct Silent;

impl Faults for Silent {
    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        match operation {
            Operation::Read { .. } => Fault::Unavailable,
            _ => Fault::None,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_task_is_held_back_because_nothing_is_known() {
    let bus = MemoryBus::with_faults(Arc::new(|| Timestamp::from_millis(0)), Arc::new(Silent));
    bus.limit_tasks(ROOM);
    let pools = pools(&bus);
    for number in 0..16 {
        let task = task("Fat", number, FAT);
        let _passed = pools.admit(&task).await.unwrap();
        bus.publish(task).await.unwrap();
    }
    let refused = bus.publish(task("Fat", 16, FAT)).await.unwrap_err();
    assert!(matches!(refused, Error::Full(_)), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn only_tasks_are_counted() {
    let bus = bus();
    let pools = pools(&bus);
    pile_up(&pools, &bus, "Fat", 0).await;
    let event = Message { subject: "staunch.event.a.b.finished".to_owned(), ..task("", 0, FAT) };
    drop(pools.admit(&event).await.unwrap());
    // A task of an earlier release, which names no version.
    let old = Message { subject: "staunch.task.Old".to_owned(), ..task("", 0, FAT) };
    let (mut passed, mut count) = (Vec::new(), 0);
    while let Ok(one) = pools.admit(&old).await {
        passed.push(one);
        count += 1;
    }
    assert_eq!(count, 1);
}
