//! The schema of the database: compared with this program's, and brought up to it.

use migration::{CONTRACT, Migrator, MigratorTrait as _};
use sea_orm::{
    ConnectionTrait, DatabaseBackend, DbErr, SqliteTransactionMode, Statement, TransactionOptions,
};
use store::Error;

mod online;
mod plan;

use crate::access::Access;
use crate::database::Database;
use crate::failure::{Failure, said_of};
use crate::options::Options;

pub use plan::{Planned, PlannedStatement, plan};

/// A process that migrates a PostgreSQL database holds this advisory lock. Building an index on a
/// large table may exceed the time limit of other statements, and so may the wait for another
/// process.
const LOCK: [&str; 2] =
    ["SET LOCAL statement_timeout = '10min'", "SELECT pg_advisory_xact_lock(7815629410)"];

/// Brings the database at this URL up to date; returns the migrations that were applied.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached; [`Error::Denied`] when its user lacks a right;
/// [`Error::Schema`] when a migration fails.
pub async fn migrate(url: &str) -> Result<Vec<String>, Error> {
    let database = Database::open(url, Options::default()).await?;
    let result = async {
        online::build_indexes(&database).await?;
        bring_up(&database.writer).await
    };
    let result = result.await;
    database.pools.close().await;
    result
}

/// The migrations that the database at this URL lacks. Changes nothing.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached; [`Error::Denied`] when its user lacks a right.
pub async fn pending_migrations(url: &str) -> Result<Vec<String>, Error> {
    let database = Database::open(url, Options::default()).await?;
    let result = pending(&database.reader).await;
    database.pools.close().await;
    result
}

/// The migrations of this program.
pub(crate) fn known() -> Vec<String> {
    Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect()
}

/// The missing migrations. Migrations of a newer program do no harm while they only add tables and
/// columns; one that takes something away says so by its name.
pub(crate) async fn pending(database: &impl ConnectionTrait) -> Result<Vec<String>, Error> {
    let applied = applied(database).await.map_err(|error| Failure::from(error).into_error())?;
    let known = known();
    let newer: Vec<&String> = applied.iter().filter(|name| !known.contains(name)).collect();
    if let Some(contract) = newer.iter().find(|name| name.ends_with(CONTRACT)) {
        return Err(Error::TooNew(format!(
            "migration {contract} has removed what this program still reads"
        )));
    }
    if !newer.is_empty() {
        let newer = newer.len();
        tracing::warn!(newer, "the database schema is newer than this program");
    }
    Ok(known.into_iter().filter(|name| !applied.contains(name)).collect())
}

/// Applies the missing migrations in one transaction, one process at a time.
pub(crate) async fn bring_up(database: &Access) -> Result<Vec<String>, Error> {
    let failed = |error: DbErr| Failure::from(error).into_error();
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let tx = database.begin(options).await.map_err(failed)?;
    if tx.get_database_backend() == DatabaseBackend::Postgres {
        for statement in LOCK {
            tx.execute_unprepared(statement).await.map_err(failed)?;
        }
    }
    let missing = pending(&tx).await?;
    if !missing.is_empty() {
        let up = Migrator::up(&tx, None).await;
        up.map_err(|error| {
            let missing = missing.join(", ");
            let what = format!("a migration failed, and none of {missing} is applied");
            let text = said_of(&error);
            match failed(error) {
                Error::Denied(reason) => Error::Denied(format!("{what}: {reason}")),
                _ => Error::Schema(format!(
                    "{what}: {text}; correct what it names, such as a table that somebody has made by \
                     hand, before you migrate again"
                )),
            }
        })?;
    }
    tx.commit().await.map_err(failed)?;
    Ok(missing)
}

pub(crate) async fn applied(database: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
    let backend = database.get_database_backend();
    let exists = match backend {
        DatabaseBackend::Postgres => "SELECT 1 WHERE to_regclass('seaql_migrations') IS NOT NULL",
        _ => "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'seaql_migrations'",
    };
    if database.query_one_raw(Statement::from_string(backend, exists)).await?.is_none() {
        return Ok(Vec::new());
    }
    let names = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    let rows = database.query_all_raw(names).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}
