//! Takes batches, writes them, and answers their callers.

use std::sync::Arc;
use std::time::Instant;

use store::{Commit, Error, StoredBookmark};
use tasks::{Panicked, caught};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::apply;
use super::job::{Work, WorkEnd};
use super::queue::{Batch, Job, Queue};
use super::whole::Whole;
use crate::cell::{Cell, Row};
use crate::database::Database;
use crate::failure::Failure;
use crate::stats::Counters;

/// The number of lookups of waiting commands that run beside the next transactions.
const LOOKUPS_MAX: usize = 8;

type Caller = oneshot::Sender<Result<WorkEnd, Error>>;
/// A lookup that panics drops its callers, who then load again.
type Lookups = JoinSet<Result<(), Panicked>>;

/// Works until the queue is closed and empty. A panic drops the current batch: its keys are
/// released, and its callers get an unknown outcome.
pub(crate) async fn run(database: Arc<Database>, queue: Arc<Queue>) {
    let mut lookups = JoinSet::new();
    while let Some(batch) = queue.take().await {
        write(&database, &queue, &mut lookups, batch).await;
        while lookups.try_join_next().is_some() {}
        while lookups.len() >= LOOKUPS_MAX {
            lookups.join_next().await;
        }
    }
    while lookups.join_next().await.is_some() {}
}

/// Writes a batch, or, if it fails as a whole, its jobs one by one.
async fn write(database: &Arc<Database>, queue: &Queue, lookups: &mut Lookups, batch: Batch<'_>) {
    let Batch { jobs, published, keys: _keys } = batch;
    let works: Vec<&Work> = jobs.iter().map(|job| &job.work).collect();
    let failure = match attempt(database, &works, &published).await {
        Ok(ends) => return answer(database, lookups, jobs, ends),
        Err(failure) => failure,
    };
    let alone = matches!(failure, Failure::Final(_)) && jobs.len() + published.len().min(1) > 1;
    queue.published(published);
    if !alone {
        let error = failure.into_error();
        if jobs.is_empty() {
            // The rows of published messages are tried again, with every next transaction.
            tracing::debug!(%error, "a transaction without jobs failed");
        } else {
            tracing::warn!(jobs = jobs.len(), %error, "a transaction failed");
        }
        for job in jobs {
            send(job.answer, Err(error.clone()));
        }
        return;
    }
    Counters::add(&database.counters.splits, 1);
    meter::DATABASE_SPLITS.inc(&[]);
    for job in jobs {
        match attempt(database, &[&job.work], &[]).await {
            Ok(ends) => answer(database, lookups, vec![job], ends),
            Err(failure) => send(job.answer, Err(failure.into_error())),
        }
    }
}

/// One transaction, repeated while it fails with a temporary error.
async fn attempt(
    database: &Database,
    works: &[&Work],
    published: &[String],
) -> Result<Vec<WorkEnd>, Failure> {
    let published: Vec<Row> = published.iter().map(|id| vec![Cell::text(id)]).collect();
    let began = Instant::now();
    let whole = database.has_whole_batches().then(|| Whole::of(works, &published)).flatten();
    let written = database
        .retried(|| async {
            if let Some(whole) = &whole {
                return whole.write(database).await;
            }
            let mut tx = database.begin().await?;
            let answers = apply::apply(&mut tx, works, &published).await?;
            tx.commit().await?;
            Ok(answers)
        })
        .await;
    database.writes.record(written.as_ref().map_err(Failure::error));
    let answers = written?;
    database.counters.committed(works.len(), began.elapsed());
    Ok(answers)
}

/// Answers the callers. Those that created bookmarks are answered after a look-up of the commands
/// that wait for these bookmarks.
fn answer(database: &Arc<Database>, lookups: &mut Lookups, jobs: Vec<Job>, ends: Vec<WorkEnd>) {
    let mut callers = Vec::new();
    let mut bookmarks = Vec::new();
    for (job, end) in jobs.into_iter().zip(ends) {
        if matches!(end, WorkEnd::Committed(Commit::Conflict)) {
            Counters::add(&database.counters.conflicts, 1);
            meter::DATABASE_CONFLICTS.inc(&[]);
        }
        let committed = matches!(end, WorkEnd::Committed(Commit::Done { .. }));
        if committed && !job.work.bookmarks.is_empty() {
            callers.push(job.answer);
            bookmarks.push(job.work.bookmarks);
        } else {
            send(job.answer, Ok(end));
        }
    }
    if !callers.is_empty() {
        lookups.spawn(caught("lookup", look_up(Arc::clone(database), callers, bookmarks)));
    }
}

/// The callers apply the commands found now. If the look-up fails, the sweep finds them later.
async fn look_up(
    database: Arc<Database>,
    callers: Vec<Caller>,
    bookmarks: Vec<Vec<StoredBookmark>>,
) {
    let found = database
        .retried(|| async {
            let mut session = database.read().await?;
            apply::answered(&mut session, &bookmarks).await
        })
        .await;
    let found = found.unwrap_or_else(|failure| {
        let error = failure.into_error();
        tracing::warn!(%error, "waiting commands could not be looked up after a commit");
        vec![Vec::new(); callers.len()]
    });
    for (caller, waiting) in callers.into_iter().zip(found) {
        send(caller, Ok(WorkEnd::Committed(Commit::Done { waiting })));
    }
}

/// A caller that has gone reads the database when it comes back.
fn send(caller: Caller, end: Result<WorkEnd, Error>) {
    drop(caller.send(end));
}
