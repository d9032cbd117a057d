//! A database alone: writes the rows of one burst in as few statements as possible.

use std::str::FromStr as _;
use std::time::Duration;

use anyhow::bail;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Postgres, QueryBuilder, Sqlite};

use crate::nats::number;
use crate::pace::{Bound, Lane, Stopwatch, race};

/// The number of PostgreSQL sessions; more would only wait for each other.
const SESSIONS: u32 = 32;
static STATE: [u8; 1024] = [7; 1024];

const MAKE: [&str; 4] = [
    "DROP TABLE IF EXISTS staunch_raw_instances",
    "DROP TABLE IF EXISTS staunch_raw_bookmarks",
    "CREATE TABLE staunch_raw_instances (id TEXT PRIMARY KEY, version BIGINT NOT NULL, \
     state BLOB NOT NULL)",
    "CREATE TABLE staunch_raw_bookmarks (id TEXT PRIMARY KEY, instance_id TEXT NOT NULL, \
     hash TEXT NOT NULL)",
];

/// A database of either kind.
#[derive(Clone)]
pub(crate) enum Database {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// The rows of one burst: an instance with 1 KiB of state, and a bookmark.
#[derive(Clone, Debug)]
pub(crate) struct Burst {
    instance: String,
    bookmark: String,
}

impl Burst {
    pub(crate) fn new() -> Self {
        let number = number();
        // Like hashes, consecutive ids are far from each other in the index.
        let id = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { instance: format!("{id:016x}-{number}"), bookmark: format!("{id:016x}b{number}") }
    }
}

impl Database {
    pub(crate) async fn connect(url: &str) -> anyhow::Result<Self> {
        let database = if url.starts_with("postgres") {
            Self::Postgres(PgPoolOptions::new().max_connections(SESSIONS).connect(url).await?)
        } else if url.starts_with("sqlite") {
            let options = SqliteConnectOptions::from_str(url)?
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .busy_timeout(Duration::from_secs(10));
            Self::Sqlite(SqlitePoolOptions::new().max_connections(1).connect_with(options).await?)
        } else {
            bail!("{url:?} is no database: use sqlite://path or postgres://host/database");
        };
        for statement in MAKE {
            database.execute(statement).await?;
        }
        Ok(database)
    }

    async fn execute(&self, statement: &'static str) -> anyhow::Result<()> {
        match self {
            Self::Postgres(pool) => {
                let statement = sqlx::AssertSqlSafe(statement.replace("BLOB", "BYTEA"));
                sqlx::query(statement).execute(pool).await?;
            }
            Self::Sqlite(pool) => {
                sqlx::query(statement).execute(pool).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn close(&self) -> anyhow::Result<()> {
        for statement in &MAKE[..2] {
            self.execute(statement).await?;
        }
        match self {
            Self::Postgres(pool) => pool.close().await,
            Self::Sqlite(pool) => pool.close().await,
        }
        Ok(())
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "PostgreSQL",
            Self::Sqlite(_) => "SQLite",
        }
    }

    /// The fastest number of transactions at the same time.
    pub(crate) fn committers(&self) -> usize {
        match self {
            Self::Postgres(_) => 2,
            Self::Sqlite(_) => 1,
        }
    }

    /// Writes all rows in one transaction.
    pub(crate) async fn commit(&self, bursts: &[Burst]) -> anyhow::Result<()> {
        match self {
            Self::Postgres(pool) => commit_postgres(pool, bursts).await,
            Self::Sqlite(pool) => commit_sqlite(pool, bursts).await,
        }
    }

    /// The fastest number of sessions at the same time for single transactions.
    pub(crate) fn sessions(&self) -> usize {
        match self {
            Self::Postgres(_) => SESSIONS as usize,
            Self::Sqlite(_) => 1,
        }
    }

    /// Writes one row in each transaction, one after the other in this number of sessions.
    pub(crate) async fn row_by_row(&self, lanes: usize, length: Duration) -> anyhow::Result<Bound> {
        let clock = Stopwatch::start(length)?;
        race((0..lanes).map(|_| Insert(self.clone())).collect(), &clock).await?;
        let what = format!("{}: one row of 1 KiB, a transaction each", self.name());
        Ok(clock.bound("row", &what, lanes))
    }

    async fn insert(&self, burst: &Burst) -> anyhow::Result<()> {
        const INSERT: &str = "INSERT INTO staunch_raw_instances VALUES ($1, 1, $2)";
        match self {
            Self::Postgres(pool) => {
                sqlx::query(INSERT).bind(&burst.instance).bind(&STATE[..]).execute(pool).await?;
            }
            Self::Sqlite(pool) => {
                sqlx::query(INSERT).bind(&burst.instance).bind(&STATE[..]).execute(pool).await?;
            }
        }
        Ok(())
    }

    /// Writes one burst in each transaction, one after the other; on PostgreSQL in several
    /// sessions.
    pub(crate) async fn one_by_one(&self, length: Duration) -> anyhow::Result<Bound> {
        let lanes = self.sessions();
        let clock = Stopwatch::start(length)?;
        race((0..lanes).map(|_| Commit(self.clone())).collect(), &clock).await?;
        let what = format!("{}: one burst's rows, a transaction each", self.name());
        Ok(clock.bound("commit", &what, lanes))
    }
}

struct Insert(Database);

impl Lane for Insert {
    async fn step(&mut self) -> anyhow::Result<()> {
        self.0.insert(&Burst::new()).await
    }
}

struct Commit(Database);

impl Lane for Commit {
    async fn step(&mut self) -> anyhow::Result<()> {
        self.0.commit(&[Burst::new()]).await
    }
}

/// One statement is one transaction and one round trip.
async fn commit_postgres(pool: &PgPool, bursts: &[Burst]) -> anyhow::Result<()> {
    let (mut instances, mut states, mut bookmarks) = (Vec::new(), Vec::new(), Vec::new());
    for burst in bursts {
        instances.push(burst.instance.as_str());
        states.push(STATE.as_slice());
        bookmarks.push(burst.bookmark.as_str());
    }
    sqlx::query::<Postgres>(
        "WITH written AS (INSERT INTO staunch_raw_instances SELECT id, 1, state \
         FROM unnest($1::text[], $2::bytea[]) AS new (id, state)) \
         INSERT INTO staunch_raw_bookmarks SELECT bookmark, id, bookmark \
         FROM unnest($1::text[], $3::text[]) AS new (id, bookmark)",
    )
    .bind(instances)
    .bind(states)
    .bind(bookmarks)
    .execute(pool)
    .await?;
    Ok(())
}

async fn commit_sqlite(pool: &SqlitePool, bursts: &[Burst]) -> anyhow::Result<()> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let mut instances: QueryBuilder<Sqlite> =
        QueryBuilder::new("INSERT INTO staunch_raw_instances ");
    instances.push_values(bursts, |mut row, burst| {
        row.push_bind(&burst.instance).push_bind(1_i64).push_bind(STATE.as_slice());
    });
    instances.build().execute(&mut *tx).await?;
    let mut bookmarks: QueryBuilder<Sqlite> =
        QueryBuilder::new("INSERT INTO staunch_raw_bookmarks ");
    bookmarks.push_values(bursts, |mut row, burst| {
        row.push_bind(&burst.bookmark).push_bind(&burst.instance).push_bind(&burst.bookmark);
    });
    bookmarks.build().execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_committed_is_there() {
        let database = Database::connect("sqlite::memory:").await.unwrap();
        let bursts: Vec<_> = (0..64).map(|_| Burst::new()).collect();
        database.commit(&bursts).await.unwrap();
        database.commit(&[Burst::new()]).await.unwrap();
        database.insert(&Burst::new()).await.unwrap();
        let Database::Sqlite(pool) = &database else { panic!("no SQLite") };
        for (table, rows) in [("staunch_raw_instances", 66), ("staunch_raw_bookmarks", 65)] {
            let count = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            let count: i64 = sqlx::query_scalar(count).fetch_one(pool).await.unwrap();
            assert_eq!(count, rows, "{table}");
        }
        database.close().await.unwrap();
    }
}
