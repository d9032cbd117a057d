//! Connections: SQLite with one that writes and several that read, PostgreSQL with a pool.

use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sea_orm::sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _};
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, SqliteTransactionMode,
    TransactionOptions, TransactionTrait as _,
};
use store::{Error, Store};

use crate::failure::{Failure, is_answer};
use crate::loads::{self, Loads};
use crate::options::Options;
use crate::pipeline::{Answer, Pipeline, Texts, Work};
use crate::schema;
use crate::sql::Tx;
use crate::stats::{Counters, Stats};

/// Statements that a connection keeps prepared.
const STATEMENTS_MAX: usize = 512;
/// A connection that nobody used for this long is tried before it is used.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// Of several processes that open a new SQLite file, one sets its journal mode, and the others are
/// refused at once and come again so often.
const OPENS_MAX: u32 = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(50);
/// What PostgreSQL lets a transaction do nothing for, in milliseconds.
const IDLE_IN_TRANSACTION_MAX: &str = "4000";

/// Connections to PostgreSQL for look-ups after commits and for what changes seldom, beside those
/// of committers and loads.
const OTHERS: usize = 2;

/// What is written is found by its key. PostgreSQL knows that only when the tables' statistics are
/// there: a plan that it made while a table was empty reads the whole table ever after.
const BY_KEY: [(&str, &str); 4] = [
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// The database port on SQLite or PostgreSQL. Clones share connections and pipeline.
#[derive(Clone)]
pub struct SqlStore {
    pub(crate) database: Arc<Database>,
    pipeline: Arc<Pipeline>,
    pub(crate) loads: Arc<Loads>,
}

enum Pools {
    Sqlite { writer: SqlitePool, reader: SqlitePool },
    Postgres { writer: PgPool, reader: PgPool },
}

/// The connections, and how they are used.
pub(crate) struct Database {
    pools: Pools,
    /// For statements that write.
    pub(crate) writer: DatabaseConnection,
    /// For statements that read.
    pub(crate) reader: DatabaseConnection,
    pub(crate) options: Options,
    pub(crate) counters: Counters,
    pub(crate) texts: Texts,
}

/// Connects to `sqlite://path` (made with its folder where it is missing), `sqlite::memory:` or
/// `postgres://…`.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached, [`Error::Schema`] when the schema is older
/// than this program and [`Options::migrate`] is off.
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
        return Err(Error::Schema(format!("{what}, without the migrations {list}")));
    }
    let pipeline = Arc::new(Pipeline::start(&database));
    let loads = Arc::new(Loads::start(&database));
    Ok(SqlStore { database, pipeline, loads })
}

impl SqlStore {
    /// Figures since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (size, idle) = self.database.connections();
        self.database.counters.snapshot(self.pipeline.queued(), size, idle)
    }

    pub(crate) async fn run(&self, work: Work) -> Result<Answer, Error> {
        self.pipeline.run(&self.database, work).await
    }

    pub(crate) fn remove_published(&self, ids: Vec<String>) {
        self.pipeline.published(ids);
    }

    /// One attempt after the other, while it fails for a passing reason.
    pub(crate) async fn tried<T, F>(&self, attempt: impl FnMut() -> F + Send) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        self.database.retried(attempt).await.map_err(Failure::into_error)
    }

    /// A transaction that writes, for statements outside the pipeline.
    pub(crate) async fn begin(&self) -> Result<DatabaseTransaction, Failure> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        Ok(self.database.writer.begin_with_options(options).await?)
    }
}

/// Ends a transaction of [`SqlStore::begin`].
pub(crate) async fn commit(tx: DatabaseTransaction) -> Result<(), Failure> {
    tx.commit().await.map_err(|error| {
        let answered = is_answer(&error);
        Failure::at_commit(error, answered)
    })
}

#[async_trait]
impl Store for SqlStore {
    async fn ping(&self) -> Result<(), Error> {
        self.tried(|| async {
            self.database.reader.execute_unprepared("SELECT 1").await?;
            Ok(())
        })
        .await
    }

    async fn close(&self) {
        self.pipeline.close().await;
        self.database.close().await;
    }
}

impl Database {
    pub(crate) async fn open(url: &str, options: Options) -> Result<Self, Error> {
        let pools = if url.starts_with("sqlite:") {
            open_sqlite(url, &options).await?
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            open_postgres(url, &options).await?
        } else {
            let scheme = url.split(':').next().unwrap_or_default();
            return Err(Error::Unavailable(format!(
                "there is no driver for {scheme:?}; use sqlite://path or postgres://host/database"
            )));
        };
        let (writer, reader) = match &pools {
            Pools::Sqlite { writer, reader } => (writer.clone().into(), reader.clone().into()),
            Pools::Postgres { writer, reader } => (writer.clone().into(), reader.clone().into()),
        };
        Ok(Self {
            pools,
            writer,
            reader,
            options,
            counters: Counters::default(),
            texts: Texts::default(),
        })
    }

    /// How many commit at the same time: SQLite has one writer.
    pub(crate) fn committers(&self) -> usize {
        match self.pools {
            Pools::Sqlite { .. } => 1,
            Pools::Postgres { .. } => self.options.committers.max(1),
        }
    }

    /// A transaction of the pipeline.
    pub(crate) async fn begin(&self) -> Result<Tx, Failure> {
        Ok(match &self.pools {
            Pools::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Pools::Postgres { writer, .. } => Tx::Postgres(writer.begin().await?),
        })
    }

    /// Runs a statement that commits by itself, and gives the ids that it answers. Only for
    /// PostgreSQL, and of its errors only what the server itself says is certain.
    pub(crate) async fn at_once(
        &self,
        text: &str,
        arguments: PgArguments,
    ) -> Result<Vec<String>, Failure> {
        let Pools::Postgres { writer, .. } = &self.pools else {
            return Err(Error::Unavailable("this is not PostgreSQL".to_owned()).into());
        };
        let mut session = writer.acquire().await?;
        // The texts are made of constants; see `joined`.
        let query = sqlx::query_scalar_with(sqlx::AssertSqlSafe(text), arguments);
        query.fetch_all(&mut *session).await.map_err(|error| {
            let answered = matches!(error, sqlx::Error::Database(_));
            Failure::at_commit(error, answered)
        })
    }

    /// Whether a batch can be one statement: that needs data-modifying `WITH`.
    pub(crate) fn has_whole_batches(&self) -> bool {
        matches!(self.pools, Pools::Postgres { .. })
    }

    /// A connection that sees everything committed, for statements that find their rows by key.
    pub(crate) async fn read(&self) -> Result<Tx, Failure> {
        Ok(match &self.pools {
            Pools::Sqlite { reader, .. } => Tx::SqliteReader(reader.acquire().await?),
            Pools::Postgres { writer, .. } => Tx::PostgresReader(writer.acquire().await?),
        })
    }

    /// Tries again while an attempt fails for a passing reason, a bounded number of times, each
    /// within a bounded time.
    pub(crate) async fn retried<T, F>(
        &self,
        mut attempt: impl FnMut() -> F + Send,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        let limit = self.options.statement_timeout.saturating_mul(3);
        let mut pause = Duration::from_millis(10);
        let mut tries = 1;
        loop {
            let result = tokio::time::timeout(limit, attempt()).await;
            match result.unwrap_or_else(|_elapsed| Err(Failure::timeout())) {
                Err(Failure::Passing(error)) if tries < self.options.tries_max => {
                    tracing::debug!(%error, tries, "trying again");
                    Counters::add(&self.counters.retries, 1);
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(3);
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    fn connections(&self) -> (u32, usize) {
        match &self.pools {
            Pools::Sqlite { writer, reader } => {
                (writer.size() + reader.size(), writer.num_idle() + reader.num_idle())
            }
            Pools::Postgres { writer, reader } => {
                (writer.size() + reader.size(), writer.num_idle() + reader.num_idle())
            }
        }
    }

    pub(crate) async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
            Pools::Postgres { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
        }
    }
}

async fn open_sqlite(url: &str, options: &Options) -> Result<Pools, Error> {
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let settings = SqliteConnectOptions::from_str(url).map_err(failed)?;
    let settings = settings
        .create_if_missing(!url.contains("mode=ro"))
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(options.acquire_timeout)
        .foreign_keys(true)
        .statement_cache_capacity(STATEMENTS_MAX)
        .disable_statement_logging();
    if let Some(folder) = settings.get_filename().parent().filter(|_| !in_memory) {
        make_folder(folder).await?;
    }
    let pool = |connections| {
        SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            // A database in memory lives as long as its connection.
            .idle_timeout(None)
            .max_lifetime(None)
    };
    let mut tries = 1;
    let writer = loop {
        match pool(1).connect_with(settings.clone()).await {
            Err(error) if is_busy(&error) && tries < OPENS_MAX => {
                tries += 1;
                tokio::time::sleep(OPEN_PAUSE).await;
            }
            opened => break opened.map_err(failed)?,
        }
    };
    let reader = if in_memory {
        writer.clone()
    } else {
        let settings = settings.pragma("query_only", "on");
        pool(options.max_connections.max(1)).connect_with(settings).await.map_err(failed)?
    };
    Ok(Pools::Sqlite { writer, reader })
}

fn is_busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(said) if said.code().as_deref() == Some("5"))
}

async fn make_folder(folder: &Path) -> Result<(), Error> {
    tokio::fs::create_dir_all(folder).await.map_err(|error| {
        let folder = folder.display();
        Error::Unavailable(format!("the folder {folder} cannot be made: {error}"))
    })
}

async fn open_postgres(url: &str, options: &Options) -> Result<Pools, Error> {
    let timeout = options.statement_timeout.as_millis().to_string();
    let settings = PgConnectOptions::from_str(url)
        .map_err(failed)?
        .application_name("staunch")
        .options([
            ("statement_timeout", timeout),
            // A node that stops in the middle of a transaction must not keep its locks.
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MAX.to_owned()),
            // Compiling a statement takes longer than any of ours runs.
            ("jit", "off".to_owned()),
        ])
        .statement_cache_capacity(STATEMENTS_MAX)
        .disable_statement_logging();
    let pool = |connections| {
        PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for > IDLE_MAX {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
    };
    let writers = options.committers.max(1) + loads::READERS + OTHERS;
    let writers = u32::try_from(writers).unwrap_or(u32::MAX);
    let writer = settings.clone().options(BY_KEY);
    let writer = pool(writers).connect_with(writer).await.map_err(failed)?;
    let reader =
        pool(options.max_connections.max(1)).connect_with(settings).await.map_err(failed)?;
    Ok(Pools::Postgres { writer, reader })
}

fn failed(error: sqlx::Error) -> Error {
    match Failure::from(error).into_error() {
        error @ Error::Unavailable(_) => error,
        error => Error::Unavailable(error.to_string()),
    }
}
