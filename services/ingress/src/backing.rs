//! Whether NATS and the database answer, as readiness sees them. One task asks them, however many
//! requests wait.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Standing};
use store::Store;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// How long the restart of an executor usually takes at most; and the choice of another leader by
/// NATS, once readiness has noticed that it has none: 4 to 9 s in all. A caller who waits still gets
/// its answer from what comes back within this time.
pub(crate) const RESTART_TIME: Duration = Duration::from_secs(5);
/// The pause between an answer and the next question.
const PAUSE: Duration = Duration::from_secs(1);
/// An answer that takes longer counts as none, as in a check of readiness.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// A service without which nothing is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// NATS.
    Bus,
    /// The database.
    Database,
}

impl Part {
    /// Why a request that was accepted is not carried out yet.
    pub(crate) fn detail(self) -> &'static str {
        match self {
            Self::Bus => {
                "the message bus does not answer: the request is kept, and is carried out when it \
                 answers again"
            }
            Self::Database => {
                "the database does not answer: the request is kept, and is carried out when it \
                 answers again"
            }
        }
    }
}

/// The parts that do not answer. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backing(watch::Sender<Away>);

/// Since when each part has not answered; none for one that answers.
#[derive(Clone, Copy, Debug, Default)]
struct Away {
    bus: Option<Instant>,
    database: Option<Instant>,
}

impl Away {
    fn since(self) -> Option<Instant> {
        [self.bus, self.database].into_iter().flatten().min()
    }
}

impl Backing {
    /// Asks both again and again.
    pub(crate) async fn follow(self, store: Arc<dyn Store>, bus: Arc<dyn Bus>, standing: Standing) {
        loop {
            let (from_bus, from_store) =
                tokio::join!(timeout(ANSWER_MAX, bus.ping()), timeout(ANSWER_MAX, store.ping()));
            self.note(Part::Bus, matches!(from_bus, Ok(Ok(()))) && !standing.is_cut_off());
            self.note(Part::Database, matches!(from_store, Ok(Ok(()))));
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Records whether a part has answered just now.
    pub(crate) fn note(&self, part: Part, has_answered: bool) {
        self.0.send_if_modified(|away| {
            let since = match part {
                Part::Bus => &mut away.bus,
                Part::Database => &mut away.database,
            };
            let was_away = since.is_some();
            *since = (!has_answered).then(|| since.unwrap_or_else(Instant::now));
            was_away == has_answered
        });
    }

    /// A part that does not answer now.
    pub(crate) fn away(&self) -> Option<Part> {
        let Away { bus, database } = *self.0.borrow();
        bus.map(|_| Part::Bus).or_else(|| database.map(|_| Part::Database))
    }

    /// Completes when a part has not answered for as long as a restart usually takes, counted from
    /// when this was noticed.
    pub(crate) async fn lost(&self) {
        let mut away = self.0.subscribe();
        loop {
            let since = away.borrow_and_update().since();
            if since.is_some_and(|since| since.elapsed() >= RESTART_TIME) {
                return;
            }
            let grace = async {
                match since {
                    Some(since) => tokio::time::sleep_until(since + RESTART_TIME).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = grace => {}
                _ = away.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use bus::{Bucket, Fault, Faults, Member, MemoryBus, Operation, Presence};
    use model::Timestamp;
    use store::memory::MemoryStore;

    use super::*;

    /// Counts the questions to the streams, and fails while it is away.
    #[derive(Default)]
    struct Counted {
        asked: AtomicU32,
        is_away: AtomicBool,
    }

    impl Faults for Counted {
        fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
            if !matches!(operation, Operation::Read { .. }) {
                return Fault::None;
            }
            self.asked.fetch_add(1, Ordering::SeqCst);
            if self.is_away.load(Ordering::SeqCst) { Fault::Unavailable } else { Fault::None }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_requests_that_wait_ask_once_a_second_and_end_only_after_the_time_of_a_restart() {
        let clock = || Timestamp::from_millis(0);
        let counted = Arc::new(Counted::default());
        let bus = MemoryBus::with_faults(Arc::new(clock), Arc::clone(&counted) as _);
        let me = Member {
            node: "gateway".to_owned(),
            roles: vec!["ingress".to_owned()],
            started_at: clock(),
            address: None,
            version: None,
        };
        let nodes = bus.kv(Bucket::Nodes);
        let ttl = Duration::from_secs(30);
        let presence = Presence::join(nodes, me, ttl, testkit::nonces()).await.unwrap();
        let backing = Backing::default();
        let store = Arc::new(MemoryStore::new(Arc::new(clock)));
        let following = backing.clone().follow(store, Arc::new(bus), presence.standing());
        let lost = async || {
            let waiting = (0..100).map(|_| backing.lost());
            let began = Instant::now();
            let all = timeout(Duration::from_secs(20), futures::future::join_all(waiting)).await;
            all.is_ok().then(|| began.elapsed())
        };
        let checked = async {
            assert_eq!(lost().await, None, "the message bus answers");
            let asked = counted.asked.load(Ordering::SeqCst);
            assert!((19..=21).contains(&asked), "{asked}");
            // It is back before the time is over.
            counted.is_away.store(true, Ordering::SeqCst);
            let back = async {
                tokio::time::sleep(RESTART_TIME - 2 * PAUSE).await;
                assert_eq!(backing.away(), Some(Part::Bus));
                counted.is_away.store(false, Ordering::SeqCst);
            };
            let (ended, ()) = tokio::join!(lost(), back);
            assert_eq!((ended, backing.away()), (None, None));
            counted.is_away.store(true, Ordering::SeqCst);
            let took = lost().await.unwrap();
            assert!((RESTART_TIME..=RESTART_TIME + 2 * PAUSE).contains(&took), "{took:?}");
        };
        tokio::select! {
            () = following => panic!("nobody asks any more"),
            () = checked => {}
        }
    }
}
