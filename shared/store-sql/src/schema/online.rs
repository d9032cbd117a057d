//! Indexes of missing migrations, built before them while reads and writes go on.
//!
//! Within the transaction of the migrations an index would keep all writes of its table waiting until
//! it is built, which takes minutes for a large table.

use sea_orm::sqlx;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DbErr, Statement as Sql};
use store::Error;

use super::plan::beforehand;
use super::{known, pending};
use crate::access::Access;
use crate::database::Database;
use crate::failure::Failure;
use crate::pools::Pools;

/// Indexes with this name, and whether each is complete.
const KNOWN: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";

/// Builds the indexes of missing migrations on tables that exist, on PostgreSQL. What cannot be built
/// so is left to the migration.
///
/// # Errors
/// When the database does not answer, or the schema is too new.
pub(super) async fn build_indexes(database: &Database) -> Result<(), Error> {
    let writer = &database.writer;
    if writer.get_database_backend() != DatabaseBackend::Postgres {
        return Ok(());
    }
    let missing = pending(writer).await?;
    if missing.len() == known().len() {
        return Ok(());
    }
    for (name, sql) in beforehand(&missing) {
        if let Err(failure) = build(database, &name, &sql).await {
            let error = failure.into_error();
            tracing::warn!(%error, index = name, "the index is left to the migration");
            drop_broken(writer, &name).await.map_err(failed)?;
        }
    }
    Ok(())
}

fn failed(error: DbErr) -> Error {
    Failure::from(error).into_error()
}

async fn build(database: &Database, name: &str, sql: &str) -> Result<(), Failure> {
    let Pools::Postgres { writer, .. } = &database.pools else { return Ok(()) };
    drop_broken(&database.writer, name).await?;
    // Several statements in one text are one transaction, in which no index can be built
    // concurrently. So the time limit is lifted by a statement before it on the same connection.
    let mut session = writer.acquire().await?;
    let sql = sql.replacen(" INDEX ", " INDEX CONCURRENTLY ", 1);
    for statement in ["SET statement_timeout = 0", sql.as_str(), "RESET statement_timeout"] {
        // The statements are constants of the migrations.
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut *session).await?;
    }
    tracing::info!(index = name, "an index is built");
    Ok(())
}

/// A build that broke off leaves an index that nothing uses.
async fn drop_broken(writer: &Access, name: &str) -> Result<(), DbErr> {
    let known = Sql::from_sql_and_values(DatabaseBackend::Postgres, KNOWN, [name.into()]);
    let Some(row) = writer.query_one_raw(known).await? else { return Ok(()) };
    if !row.try_get_by_index::<bool>(0)? {
        writer.execute_unprepared(&format!("DROP INDEX {name}")).await?;
    }
    Ok(())
}
