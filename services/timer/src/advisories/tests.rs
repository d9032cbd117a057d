use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bus::{Fault, Faults, Operation, Wire as _};

use super::*;
use crate::world::World;

/// A login that may hear no advisories while `is_denied`.
#[derive(Default)]
struct Rights {
    is_denied: AtomicBool,
    tries: AtomicU64,
}

impl Faults for Rights {
    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        if *operation != (Operation::Subscribe { subject: subject::TASK_SPENT }) {
            return Fault::None;
        }
        self.tries.fetch_add(1, Ordering::Relaxed);
        if self.is_denied.load(Ordering::Relaxed) { Fault::Denied } else { Fault::None }
    }
}

fn advisory() -> Message {
    let subject = subject::TASK_SPENT.replace('*', "task-Ship-1");
    Message { subject, payload: b"{}".to_vec(), ..Message::default() }
}

/// Whether one comes in this time.
async fn comes(advisories: &mut Advisories, cx: &Context, within: Duration) -> bool {
    tokio::time::timeout(within, advisories.next(cx)).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_is_heard_once_the_permissions_are_there() {
    let rights = Arc::new(Rights { is_denied: true.into(), ..Rights::default() });
    let tries = || rights.tries.load(Ordering::Relaxed);
    let world = World::with_bus_faults(Arc::clone(&rights) as Arc<dyn Faults>);
    let cx = world.replica("timer-1").await;
    let mut advisories = Advisories::default();
    // The sweep gives up the wait at each of its ticks.
    for _ in 0..600 {
        assert!(!comes(&mut advisories, &cx, Duration::from_secs(5)).await);
    }
    assert_eq!(tries(), 1, "not more often than the pause");
    assert!(advisories.is_told);
    assert!(!comes(&mut advisories, &cx, DENIED_PAUSE).await);
    assert_eq!(tries(), 2);

    rights.is_denied.store(false, Ordering::Relaxed);
    assert!(!comes(&mut advisories, &cx, DENIED_PAUSE).await);
    assert_eq!(tries(), 3, "no restart is needed");
    world.bus.send(advisory()).await.unwrap();
    assert!(comes(&mut advisories, &cx, Duration::from_secs(1)).await);
    assert!(!comes(&mut advisories, &cx, 2 * DENIED_PAUSE).await);
    assert_eq!(tries(), 3, "what is heard is not tried again");
}

#[tokio::test(start_paused = true)]
async fn each_refusal_is_told_once() {
    let mut advisories = Advisories::default();
    let denied = Error::Denied("no".to_owned());
    advisories.failed(&Error::Unavailable("away".to_owned()));
    assert!(!advisories.is_told && advisories.is_another());
    advisories.failed(&denied);
    assert!(advisories.is_told && !advisories.is_another());
    for (stood, is_another) in [(Duration::from_secs(1), false), (DENIED_PAUSE, true)] {
        advisories.heard = Some((Box::pin(futures::stream::empty()), Instant::now()));
        tokio::time::advance(stood).await;
        assert_eq!(advisories.is_another(), is_another, "{stood:?}");
    }
}
