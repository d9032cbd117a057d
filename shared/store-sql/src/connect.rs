//! Opens, checks and closes the store.

use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::DatabaseTransaction;
use store::{Error, Figures, PoolFigures, StatementFigures, Store};
use tokio::time::{Instant, timeout_at};

use crate::database::Database;
use crate::failure::Failure;
use crate::loads::Loads;
use crate::notes::Notes;
use crate::options::Options;
use crate::pipeline::{Pipeline, Work, WorkEnd};
use crate::pools::Pools;
use crate::stats::Stats;
use crate::{answers, schema, slowest};

pub(crate) use crate::database::commit;

/// The database port on SQLite or PostgreSQL. Clones share connections and pipeline.
#[derive(Clone)]
pub struct SqlStore {
    pub(crate) database: Arc<Database>,
    pipeline: Arc<Pipeline>,
    pub(crate) loads: Arc<Loads>,
    pub(crate) notes: Arc<Notes>,
}

/// Connects to `sqlite://path` (the file and its folder are created if they are missing),
/// `sqlite::memory:` or `postgres://…`.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached, [`Error::Absent`] when PostgreSQL has no database of
/// the name, [`Error::Denied`] when its user may not log in or lacks a right, [`Error::Schema`] when the
/// schema is older than this program and [`Options::migrate`] is off.
pub async fn connect(url: &str, options: Options) -> Result<SqlStore, Error> {
    let migrate = options.migrate;
    let database = Arc::new(Database::open(url, options).await?);
    if migrate {
        schema::bring_up(&database.writer).await?;
    }
    let pending = schema::pending(&database.reader).await?;
    if !pending.is_empty() {
        let what = if pending.len() == schema::known().len() { "it is empty" } else { "it is old" };
        let list = pending.join(", ");
        let text = format!("{what}, without the migrations {list}; run `staunch migrate`");
        return Err(Error::Schema(text));
    }
    let pipeline = Arc::new(Pipeline::start(&database));
    let loads = Arc::new(Loads::start(&database));
    Ok(SqlStore { database, pipeline, loads, notes: Arc::default() })
}

impl SqlStore {
    /// Figures since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (size, idle) = self.database.pools.connections();
        self.database.counters.snapshot(self.pipeline.queued(), size, idle)
    }

    pub(crate) async fn run(&self, work: Work) -> Result<WorkEnd, Error> {
        self.pipeline.run(&self.database, work).await
    }

    pub(crate) fn remove_published(&self, ids: Vec<String>) {
        self.pipeline.published(ids);
    }

    /// Repeats an attempt while it fails with a temporary error.
    pub(crate) async fn tried<T, F>(&self, attempt: impl FnMut() -> F + Send) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        self.database.retried(attempt).await.map_err(Failure::into_error)
    }

    /// Begins a transaction that writes, for statements outside the pipeline.
    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction, Failure> {
        self.database.begin_change().await
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn ping(&self) -> Result<(), Error> {
        let Database { url_file, pools, options, .. } = &*self.database;
        url_file.follow(pools, options).await;
        answers::ask(&self.database).await?;
        let Err(failing) = self.database.writes.check() else { return Ok(()) };
        // A node that is not ready gets no work, so only this write finds out that the database
        // accepts writes again.
        match self.database.try_to_write().await {
            Ok(()) => Ok(()),
            Err(_) => Err(failing),
        }
    }

    fn figures(&self) -> Figures {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let pools = self.database.pools.figures().map(|pool| PoolFigures {
            name: pool.pool,
            open: pool.size.into(),
            idle: number(pool.idle),
            max: pool.max.into(),
        });
        let backend = match &self.database.pools {
            Pools::Sqlite { .. } => "SQLite",
            Pools::Postgres { .. } => "PostgreSQL",
        };
        Figures { backend, queued: number(self.pipeline.queued()), pools: pools.to_vec() }
    }

    fn statements(&self) -> Vec<StatementFigures> {
        slowest::all()
    }

    async fn close(&self) {
        self.database.begin_close();
        let deadline = Instant::now() + self.database.options.close_max;
        self.pipeline.close(deadline).await;
        if timeout_at(deadline, self.database.pools.close()).await.is_err() {
            tracing::warn!("the database connections did not close in time and are left open");
        }
    }
}

#[cfg(test)]
mod tests;
