//! What an operator asks about the database, whatever its schema is. Changes nothing.

use std::time::Duration;

use model::Timestamp;
use sea_orm::ConnectionTrait as _;
use sea_orm::{DatabaseBackend, DbErr, QueryResult, Statement};
use store::Error;
use tokio::time::Instant;

use crate::access::Access;
use crate::database::Database;
use crate::failure::Failure;
use crate::options::Options;
use crate::schema;

/// Queries whose times are measured.
const SAMPLES: usize = 5;

const POSTGRES: &str = "SELECT current_setting('server_version'),
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    pg_database_size(current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    current_setting('max_connections')::bigint,
    pg_is_in_recovery()::int::bigint,
    (current_setting('transaction_read_only') = 'on')::int::bigint";
const SQLITE: &str = "SELECT sqlite_version(), CAST(unixepoch('subsec') * 1000 AS INTEGER),
    (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()), 0, 0, 0, 0";

/// The database at one moment.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// `SQLite` or `PostgreSQL`.
    pub kind: &'static str,
    /// Its version.
    pub version: String,
    /// Its time, and half of the round trip of the question.
    pub time: (Timestamp, Duration),
    /// When that answer arrived.
    pub time_at: Instant,
    /// The times of queries, shortest first.
    pub round_trips: Vec<Duration>,
    /// The bytes of the database.
    pub bytes: u64,
    /// Connections of all clients, and how many the server allows; 0 of 0 for SQLite.
    pub connections: (u64, u64),
    /// It takes no writes: a replica, or switched to reading.
    pub is_read_only: bool,
    /// Migrations of this program that it has not.
    pub missing: Vec<String>,
    /// Migrations that it has and this program does not know.
    pub newer: Vec<String>,
    /// The number of migrations that it has.
    pub applied: u64,
    /// The id of its cluster; none before its first node.
    pub cluster_id: Option<String>,
}

/// Looks at the database at this URL; `pooled` as in [`Options`].
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached; [`Error::Denied`] when its user lacks a right.
pub async fn inspect(url: &str, pooled: bool) -> Result<Inspection, Error> {
    let database = Database::open(url, Options { pooled, ..Options::default() }).await?;
    let found = look(&database.reader).await;
    database.pools.close().await;
    found.map_err(|error| Failure::from(error).into_error())
}

async fn look(database: &Access) -> Result<Inspection, DbErr> {
    let backend = database.get_database_backend();
    let is_postgres = backend == DatabaseBackend::Postgres;
    let (kind, question) = if is_postgres { ("PostgreSQL", POSTGRES) } else { ("SQLite", SQLITE) };
    let mut round_trips = Vec::new();
    for _ in 0..SAMPLES {
        let asked = Instant::now();
        database.query_one_raw(Statement::from_string(backend, "SELECT 1")).await?;
        round_trips.push(asked.elapsed());
    }
    round_trips.sort_unstable();
    let asked = Instant::now();
    let row = database.query_one_raw(Statement::from_string(backend, question)).await?;
    let (half, time_at) = (asked.elapsed() / 2, Instant::now());
    let row = row.ok_or_else(|| DbErr::RecordNotFound("the server's settings".to_owned()))?;
    let number = |row: &QueryResult, at: usize| -> Result<u64, DbErr> {
        let number: i64 = row.try_get_by_index(at)?;
        Ok(u64::try_from(number).unwrap_or_default())
    };
    // The table is younger than others: without it there is no id.
    let cluster = Statement::from_string(backend, "SELECT id FROM cluster");
    let cluster = database.query_one_raw(cluster).await.ok().flatten();
    let cluster_id = cluster.map(|row| row.try_get_by_index(0)).transpose()?;
    let (applied, known) = (schema::applied(database).await?, schema::known());
    let lacks = |names: &[String], name: &String| !names.contains(name);
    Ok(Inspection {
        kind,
        version: row.try_get_by_index(0)?,
        time: (Timestamp::from_millis(row.try_get_by_index(1)?), half),
        time_at,
        round_trips,
        bytes: number(&row, 2)?,
        connections: (number(&row, 3)?, number(&row, 4)?),
        is_read_only: number(&row, 5)? + number(&row, 6)? > 0,
        missing: known.iter().filter(|name| lacks(&applied, name)).cloned().collect(),
        newer: applied.iter().filter(|name| lacks(&known, name)).cloned().collect(),
        applied: applied.len() as u64,
        cluster_id,
    })
}
