//! Group commit: bursts that wait at the same time share a transaction.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::database::{Burst, Database};
use crate::pace::{Bound, Lane, Stopwatch, race};

/// The largest number of bursts that share a transaction.
const BATCH: usize = 64;
const WAITING_MAX: usize = 4_096;

struct Job {
    burst: Burst,
    done: oneshot::Sender<Result<(), String>>,
}

/// The committers; they end with the last clone.
#[derive(Clone)]
pub(crate) struct Group {
    jobs: mpsc::Sender<Job>,
    _committers: Arc<JoinSet<()>>,
}

impl Group {
    pub(crate) fn start(database: &Database) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut committers = JoinSet::new();
        for _ in 0..database.committers() {
            committers.spawn(work(database.clone(), Arc::clone(&waiting)));
        }
        Self { jobs, _committers: Arc::new(committers) }
    }

    /// Returns when the burst is durable.
    pub(crate) async fn commit(&self, burst: Burst) -> anyhow::Result<()> {
        let (done, told) = oneshot::channel();
        let sent = self.jobs.send(Job { burst, done }).await;
        sent.ok().context("nobody commits any more")?;
        told.await?.map_err(anyhow::Error::msg)
    }
}

async fn work(database: Database, waiting: Arc<Mutex<mpsc::Receiver<Job>>>) {
    loop {
        let mut jobs = Vec::with_capacity(BATCH);
        if waiting.lock().await.recv_many(&mut jobs, BATCH).await == 0 {
            return;
        }
        let (bursts, callers): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| (job.burst, job.done)).unzip();
        let ended = database.commit(&bursts).await.map_err(|error| format!("{error:#}"));
        for caller in callers {
            // The caller may no longer wait.
            drop(caller.send(ended.clone()));
        }
    }
}

struct Commit(Group);

impl Lane for Commit {
    async fn step(&mut self) -> anyhow::Result<()> {
        self.0.commit(Burst::new()).await
    }
}

/// Rows of many bursts in shared transactions.
pub(crate) async fn measure(
    database: &Database,
    lanes: usize,
    length: Duration,
) -> anyhow::Result<Bound> {
    let group = Group::start(database);
    let clock = Stopwatch::start(length)?;
    race((0..lanes).map(|_| Commit(group.clone())).collect(), &clock).await?;
    let what = format!("{}: one burst's rows, up to {BATCH} a transaction", database.name());
    Ok(clock.bound("group", &what, lanes))
}
