//! Work beside the voyages, so that every path is taken: publications, schedules, events that no
//! instance waits for, and deleted leases.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::jetstream::Context;
use model::SubStatus;
use testkit::eventually;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::api::Api;
use crate::ledger::Ledger;
use crate::traffic::{Route, publish};
use crate::workflow::Names;
use crate::world::sql;

const PUBLISH_EVERY: Duration = Duration::from_millis(300);
const STRAY_EVERY: Duration = Duration::from_millis(200);
const WIPE_EVERY: Duration = Duration::from_millis(5);
const WRITE_EVERY: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(60);

/// The work that is running.
pub(crate) struct Bustle {
    is_over: Arc<AtomicBool>,
    strays: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
    names: Names,
    jetstream: Context,
    database_url: String,
}

impl Bustle {
    /// Starts it. With `wipes`, all leases are deleted again and again and the test itself writes
    /// the instances' rows, so that commits fail their version check.
    pub(crate) async fn begin(route: &Route, database_url: &str, wipes: bool) -> Self {
        let Route { names, doors, jetstream, .. } = route;
        let is_over = Arc::new(AtomicBool::new(false));
        let strays = Arc::new(AtomicUsize::new(0));
        let mut tasks = vec![
            tokio::spawn(publications(names.clone(), doors.clone(), is_over.clone())),
            tokio::spawn(raise_strays(
                names.clone(),
                jetstream.clone(),
                database_url.to_owned(),
                is_over.clone(),
                strays.clone(),
            )),
        ];
        if wipes {
            let wiping = wipe_leases(jetstream.clone(), is_over.clone());
            let writing = write_beside(names.clone(), database_url.to_owned(), is_over.clone());
            tasks.extend([tokio::spawn(wiping), tokio::spawn(writing)]);
        }
        let (names, jetstream) = (names.clone(), jetstream.clone());
        let database_url = database_url.to_owned();
        Self { is_over, strays, tasks, names, jetstream, database_url }
    }

    /// Ends it. Events that are not dead letters yet become dead letters soon.
    pub(crate) async fn end(self) -> Aftermath {
        self.is_over.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        let strays = self.strays.load(Ordering::SeqCst);
        Aftermath {
            names: self.names,
            jetstream: self.jetstream,
            database_url: self.database_url,
            strays,
        }
    }
}

/// The work that the test counts afterwards.
pub(crate) struct Aftermath {
    names: Names,
    jetstream: Context,
    database_url: String,
    strays: usize,
}

impl Aftermath {
    /// Checks that every event without a waiting instance is one dead letter, and that every
    /// occurrence of the schedule has finished. Returns both numbers.
    pub(crate) async fn settled(&self, ledger: &Ledger<'_>, survivor: &Api) -> (usize, usize) {
        survivor.retract(&self.names.tick).await;
        let subject = format!("staunch.dead.cmd.event.{}", self.names.stray);
        let dead = async || self.dead(&subject).await;
        eventually("strays are buried", PATIENCE, async || {
            // The last of them may not be waiting yet.
            expire(&self.database_url, &self.names);
            dead().await >= self.strays
        })
        .await;
        assert_eq!(dead().await, self.strays, "strays among the dead");
        let tick = &self.names.tick;
        let mut ticks = 0;
        eventually("every occurrence is over", PATIENCE, async || {
            ticks = ledger.count(tick, None).await;
            ledger.count(tick, Some(SubStatus::Finished)).await == ticks
        })
        .await;
        (self.strays, ticks)
    }

    async fn dead(&self, subject: &str) -> usize {
        use futures::TryStreamExt as _;
        let stream = self.jetstream.get_stream("STAUNCH_DEAD").await.unwrap();
        let subjects = stream.info_with_subjects(subject).await.unwrap();
        let found = subjects.try_collect::<Vec<_>>().await.unwrap();
        found.into_iter().map(|(_, count)| count).sum()
    }
}

/// Publishes, again and again, a definition that is never started, on any node that answers.
async fn publications(names: Names, doors: Vec<Api>, is_over: Arc<AtomicBool>) {
    let mut version = 0;
    while !is_over.load(Ordering::SeqCst) {
        version += 1;
        let door = &doors[version % doors.len()];
        // The node may be dead.
        drop(door.try_publish(&names.news(version)).await);
        sleep(PUBLISH_EVERY).await;
    }
}

/// Sends events that no instance waits for and that expire at once.
async fn raise_strays(
    names: Names,
    jetstream: Context,
    database_url: String,
    is_over: Arc<AtomicBool>,
    strays: Arc<AtomicUsize>,
) {
    while !is_over.load(Ordering::SeqCst) {
        let number = strays.fetch_add(1, Ordering::SeqCst);
        let subject = format!("staunch.cmd.event.{}", names.stray);
        publish(&jetstream, &subject, &format!("{}-{number}", names.stray), "").await;
        expire(&database_url, &names);
        sleep(STRAY_EVERY).await;
    }
}

fn expire(database_url: &str, names: &Names) {
    let stray = &names.stray;
    let update = "update pending_resumes set expires_at = 1 where waiting and expires_at > 1";
    sql(database_url, &format!("{update} and id like '{stray}-%'"));
}

/// Raises the version of every unfinished voyage without a lease, and without changing its content.
async fn write_beside(names: Names, database_url: String, is_over: Arc<AtomicBool>) {
    let voyage = &names.voyage;
    let update = "update instances set version = version + 1 where status <> 'Finished'";
    while !is_over.load(Ordering::SeqCst) {
        let voyages = format!("{update} and version > 0 and definition_id = '{voyage}'");
        sql(&database_url, &voyages);
        sleep(WRITE_EVERY).await;
    }
}

/// The holders are not notified: a holder goes on while other nodes get the lease.
async fn wipe_leases(jetstream: Context, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::SeqCst) {
        let stream = jetstream.get_stream("KV_staunch_leases").await.unwrap();
        stream.purge().await.unwrap();
        sleep(WIPE_EVERY).await;
    }
}
