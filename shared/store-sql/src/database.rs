//! The connections of one database, and the retries of statements on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use model::Backoff;
use sea_orm::sqlx;
use sea_orm::sqlx::postgres::PgArguments;
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, SqliteTransactionMode,
    TransactionOptions,
};
use store::Error;
use tokio::time::Instant;

use crate::access::Access;
use crate::answers::Answers;
use crate::failure::{Failure, is_answer};
use crate::joined::Texts;
use crate::measure::{self, Run, Wait};
use crate::options::Options;
use crate::pools::{Openings, Pools};
use crate::stats::Counters;
use crate::tx::Tx;
use crate::url_file::UrlFile;
use crate::writes::Writes;

/// The pauses between the tries of a transaction.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_LONGEST: Duration = Duration::from_millis(500);
/// The pause before a failure while the database does not answer: what tries again at once does not spin.
const PAUSE_SILENT: Duration = Duration::from_millis(100);

/// The rows that [`Database::try_to_write`] writes and removes. They are as large as a burst, because
/// a few bytes may fit into a file of a full disk; PostgreSQL would compress them if they were zeros.
const PROBE_SQLITE: &str = "INSERT INTO outbox (id, instance_id, created_at, message)
    VALUES ('', '', 0, zeroblob(65536)) ON CONFLICT (id) DO NOTHING";
const PROBE_POSTGRES: &str = "INSERT INTO outbox (id, instance_id, created_at, message)
    SELECT '', '', 0, string_agg(decode(md5(random()::text), 'hex'), '')
    FROM generate_series(1, 4096) ON CONFLICT (id) DO NOTHING";
const PROBE_END: &str = "DELETE FROM outbox WHERE id = ''";

/// The connections, and the rules for their use.
pub(crate) struct Database {
    pub(crate) pools: Pools,
    /// For statements that write.
    pub(crate) writer: Access,
    /// For statements that read.
    pub(crate) reader: Access,
    pub(crate) options: Options,
    pub(crate) counters: Counters,
    pub(crate) texts: Texts,
    pub(crate) writes: Writes,
    pub(crate) answers: Answers,
    pub(crate) url_file: UrlFile,
    /// The store is closing: failed attempts are not repeated.
    is_closing: AtomicBool,
}

impl Database {
    pub(crate) async fn open(url: &str, options: Options) -> Result<Self, Error> {
        let pools = Pools::open(url, &options).await?;
        let (mut writer, mut reader): (DatabaseConnection, DatabaseConnection) = match &pools {
            Pools::Sqlite { writer, reader } => (writer.clone().into(), reader.clone().into()),
            Pools::Postgres { writer, reader, .. } => {
                (writer.clone().into(), reader.clone().into())
            }
        };
        measure::statements(&mut writer);
        measure::statements(&mut reader);
        let (writer, reader) = match pools.openings() {
            Some(Openings { writing, reading }) => {
                let (writing, reading) = (Some(Arc::clone(writing)), Some(Arc::clone(reading)));
                (Access::new(writer, writing), Access::new(reader, reading))
            }
            None => (Access::new(writer, None), Access::new(reader, None)),
        };
        Ok(Self {
            url_file: UrlFile::new(url, &options),
            pools,
            writer,
            reader,
            options,
            counters: Counters::default(),
            texts: Texts::default(),
            writes: Writes::default(),
            answers: Answers::default(),
            is_closing: AtomicBool::new(false),
        })
    }

    /// The number of committers: SQLite has one writer.
    pub(crate) fn committers(&self) -> usize {
        match self.pools {
            Pools::Sqlite { .. } => 1,
            Pools::Postgres { .. } => self.options.committers.max(1),
        }
    }

    /// Begins a transaction of the pipeline.
    pub(crate) async fn begin(&self) -> Result<Tx, Failure> {
        let wait = Wait::begin();
        let tx = match &self.pools {
            Pools::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Pools::Postgres { writer, openings: None, .. } => Tx::Postgres(writer.begin().await?),
            Pools::Postgres { writer, openings: Some(of), .. } => {
                // The text consists of constants and one number; see `pools`.
                let begin = sqlx::AssertSqlSafe(format!("BEGIN; {}", of.writing));
                Tx::Postgres(writer.begin_with(begin).await?)
            }
        };
        wait.over();
        Ok(tx)
    }

    /// Begins a transaction that writes, for statements outside the pipeline.
    pub(crate) async fn begin_change(&self) -> Result<DatabaseTransaction, Failure> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        Ok(self.writer.begin(options).await?)
    }

    /// Runs a statement and commits, on PostgreSQL only, and returns the ids that the statement
    /// returns. An error counts as certain only when the server itself reports it.
    pub(crate) async fn at_once(
        &self,
        text: &str,
        arguments: PgArguments,
    ) -> Result<Vec<String>, Failure> {
        let Pools::Postgres { writer, openings, .. } = &self.pools else {
            return Err(Error::Unavailable("this is not PostgreSQL".to_owned()).into());
        };
        // The texts consist of constants; see `joined`.
        let query = sqlx::query_scalar_with(sqlx::AssertSqlSafe(text), arguments);
        if openings.is_some() {
            let mut tx = self.begin().await?;
            let run = Run::begin(text);
            let ids = tx.ids(query).await;
            run.over(ids.as_ref().ok().map(|ids| ids.len() as u64));
            let ids = ids?;
            tx.commit().await?;
            return Ok(ids);
        }
        let wait = Wait::begin();
        let mut session = writer.acquire().await?;
        wait.over();
        let run = Run::begin(text);
        let ids = query.fetch_all(&mut *session).await;
        run.over(ids.as_ref().ok().map(|ids| ids.len() as u64));
        ids.map_err(|error| {
            let answered = matches!(error, sqlx::Error::Database(_));
            Failure::at_commit(error, answered)
        })
    }

    /// Whether a batch can be one statement: that needs data-modifying `WITH`.
    pub(crate) fn has_whole_batches(&self) -> bool {
        matches!(self.pools, Pools::Postgres { .. })
    }

    /// A connection that sees all committed rows, for statements that find their rows by key.
    pub(crate) async fn read(&self) -> Result<Tx, Failure> {
        if self.pools.openings().is_some() {
            return self.begin().await;
        }
        let wait = Wait::begin();
        let session = match &self.pools {
            Pools::Sqlite { reader, .. } => Tx::SqliteReader(reader.acquire().await?),
            Pools::Postgres { writer, .. } => Tx::PostgresReader(writer.acquire().await?),
        };
        wait.over();
        Ok(session)
    }

    /// Repeats an attempt while it fails with a temporary error, and gives it up when the database does
    /// not answer the health check. While it does not, an attempt fails after a tenth of a second.
    pub(crate) async fn retried<T, F>(
        &self,
        attempt: impl FnMut() -> F + Send,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        if self.answers.is_silent() {
            tokio::time::sleep(PAUSE_SILENT).await;
            if self.answers.is_silent() {
                return Err(Failure::silence());
            }
        }
        let result = tokio::select! {
            biased;
            result = self.repeated(attempt) => result,
            () = self.answers.fallen_silent() => Err(Failure::silence()),
        };
        if result.is_ok() {
            self.answers.heard();
        }
        result
    }

    /// Repeats an attempt while it fails with a temporary error: a limited number of times, each
    /// within a limited time, and not at all once the store is closing.
    pub(crate) async fn repeated<T, F>(
        &self,
        mut attempt: impl FnMut() -> F + Send,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        let limit = self.options.statement_timeout.saturating_mul(3);
        let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
        // SQLite is a file: what holds it up is another process, which will be done.
        let retry_max = match self.pools {
            Pools::Sqlite { .. } => Duration::MAX,
            Pools::Postgres { .. } => self.options.retry_max,
        };
        let mut tries = 1;
        let began = Instant::now();
        loop {
            let result = tokio::time::timeout(limit, attempt()).await;
            let result = result.unwrap_or_else(|_elapsed| Err(Failure::timeout()));
            let may_try =
                tries < self.options.tries_max && began.elapsed() < retry_max && !self.is_closing();
            match result {
                Err(Failure::Passing(error)) if may_try => {
                    tracing::debug!(%error, tries, "trying again");
                    Counters::add(&self.counters.retries, 1);
                    meter::DATABASE_RETRIES.inc(&[]);
                    tokio::time::sleep(backoff.next()).await;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Writes a row and removes it, once, and records whether that succeeded.
    pub(crate) async fn try_to_write(&self) -> Result<(), Error> {
        let attempt = async {
            let tx = self.begin_change().await?;
            let probe = match self.pools {
                Pools::Sqlite { .. } => PROBE_SQLITE,
                Pools::Postgres { .. } => PROBE_POSTGRES,
            };
            tx.execute_unprepared(probe).await?;
            tx.execute_unprepared(PROBE_END).await?;
            commit(tx).await
        };
        let written = tokio::time::timeout(self.options.statement_timeout, attempt).await;
        let written = written.unwrap_or_else(|_elapsed| Err(Failure::timeout()));
        let written = written.map_err(Failure::into_error);
        self.writes.record(written.as_ref());
        written
    }

    /// Whether the store is closing.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Relaxed)
    }

    /// From now on failed attempts are not repeated.
    pub(crate) fn begin_close(&self) {
        self.is_closing.store(true, Relaxed);
    }
}

/// Ends a transaction of [`Database::begin_change`].
pub(crate) async fn commit(tx: DatabaseTransaction) -> Result<(), Failure> {
    tx.commit().await.map_err(|error| {
        let answered = is_answer(&error);
        Failure::at_commit(error, answered)
    })
}
