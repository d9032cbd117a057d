//! Observes the cluster and what this node depends on, and shows it as metrics.
//!
//! Each node measures its own round trips and looks at the live nodes. Figures of the whole cluster
//! are counted by one of them, the first of the live nodes by name: no more than a few requests every
//! ten seconds, a few more after each scrape of its metrics, and a census of the database that takes at
//! most a twentieth of the time. Whether the database answers is asked more often: for a process that
//! nobody asks for its health this is the only health check. Whether NATS answers for what work needs is
//! asked by itself: the other looks may wait for the database.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bus::{Bucket, Bus as _, Kv, Member, Pauses, Presence, Standing};
use bus_nats::NatsBus;
use protocol::subject;
use store::{Census, Store};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::ClusterClock;
use crate::silence;

const EVERY: Duration = Duration::from_secs(10);
/// The pause after a look at the streams that a scrape has asked for: `staunch top` reads a second later.
const SCRAPED_PAUSE: Duration = Duration::from_millis(900);
/// The pause between an answer of the database and the next question, which is one `SELECT 1`. With
/// the time that the store waits for an answer it is shorter than a silence lasts in the store.
const DATABASE_EVERY: Duration = Duration::from_secs(2);
/// The pause between two censuses of the database, and how many times its own duration it is at
/// least.
const CENSUS_EVERY: Duration = Duration::from_secs(25);
const CENSUS_SHARE: u32 = 20;
/// A census counts each kind of rows up to this number.
const CENSUS_MAX: u64 = 1_000_000;
/// A timer that was due this long ago is overdue.
const OVERDUE: Duration = Duration::from_secs(10);
const ROLES: [&str; 4] = ["ingress", "executor", "timer", "cache-notifier"];
/// The streams as the metrics name them; a test holds them against the protocol.
const STREAMS: [&str; 4] =
    [subject::COMMANDS_STREAM, subject::EVENTS_STREAM, subject::TASKS_STREAM, subject::DEAD_STREAM];

/// What is observed. It does not keep the presence of this node alive.
struct Observer {
    node: String,
    store: Arc<dyn Store>,
    clock: Arc<ClusterClock>,
    nats: NatsBus,
    runtime: Arc<dyn Kv>,
    live: watch::Receiver<Vec<Member>>,
    standing: Standing,
    pauses: OnceLock<Pauses>,
    /// The permissions of its roles let it read the pauses.
    may_read_pauses: bool,
    /// The metrics were read.
    scraped: Notify,
}

/// The observation; it ends with this value.
pub(crate) struct Observing(CancellationToken);

impl Observing {
    pub(crate) fn end(&self) {
        self.0.cancel();
    }
}

impl Drop for Observing {
    fn drop(&mut self) {
        self.end();
    }
}

/// Observes until the result is ended or dropped.
pub(crate) fn start(
    store: Arc<dyn Store>,
    nats: NatsBus,
    clock: Arc<ClusterClock>,
    presence: &Presence,
    roles: &[&str],
) -> Observing {
    let stop = CancellationToken::new();
    let observer = Arc::new(Observer {
        node: presence.node().to_owned(),
        store,
        clock,
        runtime: nats.kv(Bucket::Runtime),
        nats,
        live: presence.changed(),
        standing: presence.standing(),
        pauses: OnceLock::new(),
        may_read_pauses: roles.contains(&"executor") || roles.contains(&"ingress"),
        scraped: Notify::new(),
    });
    let (weak, stopped) = (Arc::downgrade(&observer), stop.clone());
    meter::at_scrape(move || {
        let shown = weak.upgrade().filter(|_| !stopped.is_cancelled());
        shown.is_some_and(|observer| {
            observer.show();
            observer.scraped.notify_one();
            true
        })
    });
    let stopped = stop.clone();
    let run = move || observe(Arc::clone(&observer), stopped.clone());
    // The task ends with `stop`.
    drop(tasks::supervise("observe", stop.clone(), run));
    Observing(stop)
}

async fn observe(observer: Arc<Observer>, stop: CancellationToken) {
    let figures = async {
        let mut census_at = Instant::now();
        while !stop.is_cancelled() {
            stop.run_until_cancelled(observer.look(&mut census_at)).await;
            let observer = &*observer;
            let scraped = || async move {
                if observer.counts() {
                    observer.look_at_streams().await;
                }
            };
            stop.run_until_cancelled(rest(&observer.scraped, scraped)).await;
        }
    };
    let answers = silence::watch(|| observer.nats.check_answers(), &stop);
    tokio::join!(figures, ask_database(&*observer.store, &stop), answers);
}

/// Waits for the next look at everything. A scrape meanwhile, which shows old figures of the queue, lets
/// this look at once, so that the next one a second later has new figures.
async fn rest<F: Future<Output = ()>>(scraped: &Notify, look: impl Fn() -> F) {
    let until = Instant::now() + EVERY;
    while tokio::time::timeout_at(until, scraped.notified()).await.is_ok() {
        look().await;
        tokio::time::sleep_until(until.min(Instant::now() + SCRAPED_PAUSE)).await;
    }
}

/// Asks again and again whether the database answers, and measures the round trip, until `stop`. It
/// waits for nothing else: NATS may hang at the same time.
async fn ask_database(store: &dyn Store, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let asked = async {
            let began = Instant::now();
            match store.ping().await {
                Ok(()) => meter::DATABASE_ROUND_TRIP.record(&[], began.elapsed()),
                Err(error) => failed("database", &error),
            }
            tokio::time::sleep(DATABASE_EVERY).await;
        };
        stop.run_until_cancelled(asked).await;
    }
}

impl Observer {
    /// Looks once at everything.
    async fn look(&self, census_at: &mut Instant) {
        self.measure().await;
        self.watch_pauses().await;
        let counts = self.counts();
        meter::CLUSTER_OBSERVER.set(&[], u64::from(counts));
        if !counts {
            show_lag(&bus_nats::Lag::default());
            show_census(&Census::default());
            *census_at = Instant::now();
            return;
        }
        self.look_at_streams().await;
        if *census_at <= Instant::now() {
            let began = Instant::now();
            self.take_census().await;
            *census_at = began + CENSUS_EVERY.max(began.elapsed() * CENSUS_SHARE);
        }
    }

    /// Shows what is known without a question.
    fn show(&self) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let live = self.live.borrow();
        meter::NODES_LIVE.set(&[], count(live.len()));
        for role in ROLES {
            let has = |member: &&Member| member.roles.iter().any(|own| own == role);
            meter::NODES.set(&[role], count(live.iter().filter(has).count()));
        }
        meter::NODE_CUT_OFF.set(&[], u64::from(self.standing.is_cut_off()));
        if let Some(pauses) = self.pauses.get() {
            meter::CLUSTER_PAUSED.set(&[], u64::from(pauses.is_cluster_paused()));
            meter::NODE_PAUSED.set(&[], u64::from(pauses.is_paused(&self.node)));
        }
    }

    /// Measures the round trip to NATS, and reads the clock of the database.
    async fn measure(&self) {
        match self.nats.rtt().await {
            Ok(took) => meter::NATS_ROUND_TRIP.record(&[], took),
            Err(error) => failed("nats", &error),
        }
        if let Err(error) = self.clock.read(&*self.store).await {
            failed("clock", &error);
        }
    }

    /// Follows the pauses, once they can be read.
    async fn watch_pauses(&self) {
        if self.may_read_pauses && self.pauses.get().is_none() {
            match Pauses::start(Arc::clone(&self.runtime)).await {
                Ok(pauses) => drop(self.pauses.set(pauses)),
                Err(error) => failed("pauses", &error),
            }
        }
    }

    /// This node counts for the whole cluster.
    fn counts(&self) -> bool {
        let live = self.live.borrow();
        let is_first = live.first().is_some_and(|member| member.node == self.node);
        is_first && !self.standing.is_cut_off()
    }

    async fn look_at_streams(&self) {
        match self.nats.lag().await {
            Ok(lag) => show_lag(&lag),
            Err(error) => failed("streams", &error),
        }
    }

    async fn take_census(&self) {
        let counted = async {
            let now = self.store.clock().await?;
            self.store.census(now.before(OVERDUE), CENSUS_MAX).await
        };
        match counted.await {
            Ok(census) => show_census(&census),
            Err(error) => failed("counts", &error),
        }
    }
}

fn failed(what: &str, error: &dyn std::error::Error) {
    meter::OBSERVATIONS_FAILED.inc(&[what]);
    tracing::debug!(what, %error, "an observation for the metrics failed");
}

fn show_lag(lag: &bus_nats::Lag) {
    meter::CLUSTER_CONSUMER.set(&["pending"], lag.pending);
    meter::CLUSTER_CONSUMER.set(&["in hand"], lag.in_hand);
    meter::CLUSTER_CONSUMER.set(&["redelivered"], lag.redelivered);
    for stream in STREAMS {
        let found = lag.streams.iter().find(|(name, ..)| *name == stream);
        let (messages, bytes) = found.map_or((0, 0), |(_, messages, bytes)| (*messages, *bytes));
        meter::CLUSTER_STREAM_MESSAGES.set(&[stream], messages);
        meter::CLUSTER_STREAM_BYTES.set(&[stream], bytes);
    }
}

fn show_census(census: &Census) {
    meter::CLUSTER_INSTANCES.set(&["Pending"], census.pending);
    meter::CLUSTER_INSTANCES.set(&["Executing"], census.executing);
    meter::CLUSTER_INSTANCES.set(&["Suspended"], census.suspended);
    meter::CLUSTER_TIMERS_PENDING.set(&[], census.timers);
    meter::CLUSTER_TIMERS_OVERDUE.set(&[], census.timers_overdue);
    meter::CLUSTER_SCHEDULES.set(&[], census.schedules);
    meter::CLUSTER_OUTBOX.set(&[], census.outbox);
    meter::CLUSTER_COMMANDS_KEPT.set(&[], census.commands);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use model::Timestamp;
    use store::memory::{Faults, MemoryStore, Operation};

    use super::*;

    /// A database that hangs: each question is noted, and fails after the time that a store waits.
    #[derive(Default)]
    struct Hanging(Mutex<Vec<Instant>>);

    const ANSWER_MAX: Duration = Duration::from_secs(2);

    #[async_trait]
    impl Faults for Hanging {
        async fn before(&self, operation: Operation) -> Result<(), store::Error> {
            assert_eq!(operation, Operation::Ping);
            self.0.lock().unwrap().push(Instant::now());
            tokio::time::sleep(ANSWER_MAX).await;
            Err(store::Error::Unavailable("it hangs".to_owned()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_nobody_asks_for_its_health_soon_notices_that_its_database_hangs() {
        let hanging = Arc::new(Hanging::default());
        let store = MemoryStore::new(Arc::new(|| Timestamp::from_millis(0)));
        let store = store.with_faults(Arc::clone(&hanging) as Arc<dyn Faults>);
        let (began, stop) = (Instant::now(), CancellationToken::new());
        let asking = ask_database(&store, &stop);
        let ended = async {
            tokio::time::sleep(Duration::from_secs(13)).await;
            stop.cancel();
        };
        tokio::join!(asking, ended);
        assert_eq!(began.elapsed(), Duration::from_secs(13), "the stop ends a question");
        let asked = hanging.0.lock().unwrap();
        let seconds: Vec<_> = asked.iter().map(|at| (*at - began).as_secs()).collect();
        assert_eq!(seconds, [0, 4, 8, 12]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_scrape_lets_the_next_one_a_second_later_see_new_figures() {
        let (scraped, began) = (Notify::new(), Instant::now());
        let looks: Mutex<Vec<u128>> = Mutex::default();
        let look = || {
            looks.lock().unwrap().push(began.elapsed().as_millis() / 100);
            std::future::ready(())
        };
        let scrape = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            for _ in 0..20 {
                scraped.notify_one();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::join!(rest(&scraped, look), scrape);
        assert_eq!(began.elapsed(), EVERY);
        assert_eq!(*looks.lock().unwrap(), [30, 39, 48, 57]);
    }
}
