//! Connection pools: SQLite with one connection that writes and several that read, PostgreSQL with
//! one pool for the pipeline and one for other queries.

use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _, Row as _};
use store::{Error, no_driver};
use tokio::time::Instant;

use crate::failure::{Failure, MAY_WRITE, advised, said};
use crate::options::Options;

/// Statements that a connection keeps prepared.
const STATEMENTS_MAX: usize = 512;
/// A PostgreSQL connection that was idle for longer than this is tested before use.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// When several processes open a new SQLite file, one of them sets the journal mode and SQLite
/// refuses the others at once. They try again this many times.
const OPENS_MAX: u32 = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(50);
/// A server that is too slow to take the first connection is asked again for so long.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// PostgreSQL ends a transaction that does nothing for this many milliseconds.
const IDLE_IN_TRANSACTION_MAX: &str = "4000";

/// The number of statements that read instances at the same time.
pub(crate) const READERS: usize = 2;
/// The number of connections to PostgreSQL for look-ups after commits and for rare changes, beside
/// those of the committers and the readers of instances.
const OTHERS: usize = 2;

/// The pipeline finds its rows by key. PostgreSQL plans that only if the tables have statistics: a
/// plan made for an empty table would go on reading the whole table.
const BY_KEY: [(&str, &str); 4] = [
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// What to do about a pooler in the way.
const POOLER: &str = "a pooler such as PgBouncer seems to be in between; set database-pooler for \
    nodes, and give `staunch migrate` the address of PostgreSQL itself";

/// PostgreSQL's code for a database that it does not have.
const NO_DATABASE: &str = "3D000";
/// What to do where PostgreSQL does not have the database.
const MAKE_IT: &str = "create the database, or name another one in database-url";

/// The pools of one database.
pub(crate) enum Pools {
    Sqlite { writer: SqlitePool, reader: SqlitePool },
    Postgres { writer: PgPool, reader: PgPool, openings: Option<Openings> },
}

/// The statements with which transactions begin behind a pooler. They remove what the transactions
/// of others have prepared on the connection, and set for one transaction what otherwise a
/// connection is opened with.
pub(crate) struct Openings {
    pub(crate) writing: Arc<str>,
    pub(crate) reading: Arc<str>,
}

/// The connections of one pool.
pub(crate) struct Figures {
    /// Its name.
    pub(crate) pool: &'static str,
    /// Open connections.
    pub(crate) size: u32,
    /// Those of them that nobody uses.
    pub(crate) idle: usize,
    /// The largest number of connections.
    pub(crate) max: u32,
}

impl Figures {
    fn of<D: sqlx::Database>(name: &'static str, pool: &sqlx::Pool<D>) -> Self {
        let max = pool.options().get_max_connections();
        Self { pool: name, size: pool.size(), idle: pool.num_idle(), max }
    }
}

impl Pools {
    /// Opens the pools for `sqlite:…` or `postgres://…`.
    pub(crate) async fn open(url: &str, options: &Options) -> Result<Self, Error> {
        if url.starts_with("sqlite:") {
            return open_sqlite(url, options).await;
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return open_postgres(url, options).await;
        }
        Err(Error::Unavailable(no_driver(url)))
    }

    /// Later connections log in as this URL says; those that are open stay. The database stays the same.
    pub(crate) fn log_in_as(&self, url: &str, options: &Options) -> Result<(), Error> {
        let Self::Postgres { writer, reader, .. } = self else { return Ok(()) };
        let Login { settings, of_writer, .. } = Login::read(url, options)?;
        let place = |of: &PgConnectOptions| {
            (of.get_host().to_owned(), of.get_port(), of.get_database().map(str::to_owned))
        };
        if place(&settings) != place(&reader.connect_options()) {
            return Err(Error::Unavailable(
                "it names another database: only the user and the password may change while a \
                 process runs, so start the process again"
                    .to_owned(),
            ));
        }
        writer.set_connect_options(of_writer);
        reader.set_connect_options(settings);
        Ok(())
    }

    /// What transactions begin with behind a pooler; none without one.
    pub(crate) fn openings(&self) -> Option<&Openings> {
        match self {
            Self::Postgres { openings, .. } => openings.as_ref(),
            Self::Sqlite { .. } => None,
        }
    }

    /// The number of open connections, and how many of them are idle.
    pub(crate) fn connections(&self) -> (u32, usize) {
        let [writer, reader] = self.figures();
        (writer.size + reader.size, writer.idle + reader.idle)
    }

    /// The figures of each pool.
    pub(crate) fn figures(&self) -> [Figures; 2] {
        match self {
            Self::Sqlite { writer, reader } => {
                [Figures::of("writer", writer), Figures::of("reader", reader)]
            }
            Self::Postgres { writer, reader, .. } => {
                [Figures::of("writer", writer), Figures::of("reader", reader)]
            }
        }
    }

    /// Closes all connections; waits for those that are in use.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
            Self::Postgres { writer, reader, .. } => {
                reader.close().await;
                writer.close().await;
            }
        }
    }
}

/// The settings of SQLite connections.
pub(crate) fn sqlite_settings(url: &str, options: &Options) -> Result<SqliteConnectOptions, Error> {
    let settings = SqliteConnectOptions::from_str(url).map_err(failed)?;
    Ok(settings
        .create_if_missing(!url.contains("mode=ro"))
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(options.busy_timeout)
        .foreign_keys(true)
        .statement_cache_capacity(STATEMENTS_MAX)
        .disable_statement_logging())
}

async fn open_sqlite(url: &str, options: &Options) -> Result<Pools, Error> {
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    let settings = sqlite_settings(url, options)?;
    if let Some(folder) = settings.get_filename().parent().filter(|_| !in_memory) {
        make_folder(folder).await?;
    }
    let pool = |connections| {
        SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(options.busy_timeout)
            .test_before_acquire(false)
            // A database in memory lives as long as its connection.
            .idle_timeout(None)
            .max_lifetime(None)
            // SQLite ends a transaction by itself when the disk is full or fails. The driver still
            // counts that transaction, and its connection refuses every later BEGIN. Such a
            // connection is closed, and the pool opens another.
            .before_acquire(move |connection, _| {
                let is_usable = in_memory || !connection.is_in_transaction();
                Box::pin(async move { Ok(is_usable) })
            })
    };
    let mut tries = 1;
    let writer = loop {
        match pool(1).connect_with(settings.clone()).await {
            Err(error) if is_busy(&error) && tries < OPENS_MAX => {
                tries += 1;
                tokio::time::sleep(OPEN_PAUSE).await;
            }
            opened => break opened.map_err(|error| unopened(&settings, error))?,
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

pub(crate) fn unopened(settings: &SqliteConnectOptions, error: sqlx::Error) -> Error {
    let path = settings.get_filename();
    let what = |text: &str| format!("the SQLite file {} cannot be opened: {text}", path.display());
    match Failure::from(&error).into_error() {
        Error::Denied(text) => Error::Denied(what(&text)),
        // SQLite does not say why it cannot open a file.
        _ if is_forbidden(path) => Error::Denied(advised(&what(&error.to_string()), MAY_WRITE)),
        _ => Error::Unavailable(what(&error.to_string())),
    }
}

/// Whether this process may not read and write the file.
fn is_forbidden(path: &Path) -> bool {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(path);
    opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

fn is_busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(reply) if reply.code().as_deref() == Some("5"))
}

async fn make_folder(folder: &Path) -> Result<(), Error> {
    tokio::fs::create_dir_all(folder).await.map_err(|error| {
        let text = format!("the folder {} cannot be made: {error}", folder.display());
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Error::Denied(advised(&text, MAY_WRITE)),
            _ => Error::Unavailable(text),
        }
    })
}

async fn open_postgres(url: &str, options: &Options) -> Result<Pools, Error> {
    let Login { settings, of_writer, openings } = Login::read(url, options)?;
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
    let writers = options.committers.max(1) + READERS + OTHERS;
    let writers = u32::try_from(writers).unwrap_or(u32::MAX);
    let writer = opened(pool(writers), &of_writer, options).await?;
    if openings.is_none() {
        keeps_settings(&writer, &settings).await?;
    }
    let reader = opened(pool(options.max_connections.max(1)), &settings, options).await?;
    Ok(Pools::Postgres { writer, reader, openings })
}

/// How connections to PostgreSQL are opened.
struct Login {
    settings: PgConnectOptions,
    of_writer: PgConnectOptions,
    /// Behind a pooler.
    openings: Option<Openings>,
}

impl Login {
    fn read(url: &str, options: &Options) -> Result<Self, Error> {
        let timeout = options.statement_timeout.as_millis().to_string();
        let of_all = [
            ("statement_timeout", timeout.as_str()),
            // A node that stops in the middle of a transaction must not keep its locks.
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MAX),
            // Compiling a statement takes longer than any statement here runs.
            ("jit", "off"),
        ];
        let settings = PgConnectOptions::from_str(url)
            .map_err(failed)?
            .application_name("staunch")
            .disable_statement_logging();
        // A pooler refuses what it cannot keep for a connection.
        Ok(if options.pooled {
            let settings = settings.statement_cache_capacity(0).extra_float_digits(None);
            let writing = opening(of_all.into_iter().chain(BY_KEY));
            let openings = Some(Openings { writing, reading: opening(of_all) });
            Self { of_writer: settings.clone(), settings, openings }
        } else {
            let settings = settings.statement_cache_capacity(STATEMENTS_MAX).options(of_all);
            let of_writer = settings.clone().options(BY_KEY);
            Self { settings, of_writer, openings: None }
        })
    }
}

/// What a transaction begins with: these settings, until it ends.
fn opening<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Arc<str> {
    let set = settings.into_iter().map(|(name, value)| format!("; SET LOCAL {name} = {value}"));
    format!("DEALLOCATE ALL{}", set.collect::<String>()).into()
}

/// Refuses a pooler that was asked to ignore the settings of a connection: each statement would run
/// on another connection, without its settings and its prepared statements.
async fn keeps_settings(pool: &PgPool, settings: &PgConnectOptions) -> Result<(), Error> {
    let shown = sqlx::raw_sql("SHOW plan_cache_mode").fetch_one(pool).await.map_err(failed)?;
    let mode: String = shown.try_get(0).map_err(failed)?;
    match BY_KEY.contains(&("plan_cache_mode", mode.as_str())) {
        true => Ok(()),
        false => Err(Error::Unavailable(format!(
            "{}:{} does not keep the settings of a connection: {POOLER}",
            settings.get_host(),
            settings.get_port()
        ))),
    }
}

/// Opens a pool with its first connection. A server that is merely slow, as one that starts together with
/// many nodes, has [`OPEN_MAX`] for it.
async fn opened(
    pool: PgPoolOptions,
    settings: &PgConnectOptions,
    options: &Options,
) -> Result<PgPool, Error> {
    let began = Instant::now();
    loop {
        let error = match pool.clone().connect_with(settings.clone()).await {
            Ok(pool) => return Ok(pool),
            Err(error) => reason(settings, error, options).await,
        };
        if !matches!(error, sqlx::Error::PoolTimedOut) || began.elapsed() >= OPEN_MAX {
            return Err(refused(settings, &error));
        }
        tracing::debug!("the database is slow to take a connection: trying again");
    }
}

/// The reason why a server accepts no connection. A pool only reports that it waited for too long, so this
/// opens one more connection to find the reason; a server that is merely slow has none.
async fn reason(settings: &PgConnectOptions, error: sqlx::Error, options: &Options) -> sqlx::Error {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return error;
    }
    match tokio::time::timeout(options.acquire_timeout, settings.connect()).await {
        Ok(Err(reason)) => reason,
        _ => error,
    }
}

/// The error of a server that accepts no connection, with its address.
fn refused(settings: &PgConnectOptions, error: &sqlx::Error) -> Error {
    let (host, port) = (settings.get_host(), settings.get_port());
    let (user, name) = (settings.get_username(), settings.get_database().unwrap_or_default());
    let what = |reason: &str| {
        format!(
            "PostgreSQL at {host}:{port} takes no connection of user {user:?} to database {name:?}: \
             {reason}"
        )
    };
    match Failure::from(error).into_error() {
        Error::Denied(reason) => Error::Denied(what(&reason)),
        _ if has_no_database(error) => Error::Absent(advised(&what(&said(error)), MAKE_IT)),
        _ => match said(error) {
            reason if reason.contains("startup parameter") => {
                Error::Unavailable(what(&format!("{reason}: {POOLER}")))
            }
            reason => Error::Unavailable(what(&reason)),
        },
    }
}

/// Whether PostgreSQL says that it has no database of the name.
fn has_no_database(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|reply| reply.code());
    code.is_some_and(|code| code == NO_DATABASE)
}

fn failed(error: sqlx::Error) -> Error {
    match Failure::from(error).into_error() {
        error @ (Error::Unavailable(_) | Error::Denied(_)) => error,
        error => Error::Unavailable(error.to_string()),
    }
}
