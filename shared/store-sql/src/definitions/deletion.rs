//! What a deletion looks at, and how it keeps starts out meanwhile.

use model::SubStatus;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DatabaseBackend, DatabaseTransaction, EntityTrait as _,
    PaginatorTrait as _, QueryFilter as _, Statement,
};
use store::Deleted;

use crate::entity::instance;
use crate::failure::Failure;

/// The instances that a deletion examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Ever,
    /// Those accepted within the last hour, by the database's clock. An hour is more than clocks
    /// differ.
    Lately,
}

/// The unfinished instances of this kind, if there are any.
pub(super) async fn unfinished(
    database: &impl ConnectionTrait,
    used: Expr,
    made: Made,
) -> Result<Option<Deleted>, Failure> {
    let statuses = [SubStatus::Pending, SubStatus::Executing, SubStatus::Suspended];
    let mut query = instance::Entity::find()
        .filter(used)
        .filter(instance::Column::Status.is_in(statuses.map(|status| status.to_string())));
    if made == Made::Lately {
        let hour_ago = match database.get_database_backend() {
            DatabaseBackend::Postgres => {
                "created_at >= floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 3600000"
            }
            _ => "created_at >= unixepoch() * 1000 - 3600000",
        };
        query = query.filter(Expr::cust(hour_ago));
    }
    let instances = query.count(database).await?;
    Ok((instances > 0).then_some(Deleted::InUse { instances }))
}

/// From here to the end of the transaction no start is written. If one was written since the caller
/// looked, returns [`Deleted::InUse`]. A start that waits meanwhile sees the deleted versions. Only
/// instances accepted recently can be new since then, so this takes no longer for a large table.
///
/// A start may hold a schedule that the deletion is about to retire: then one of them waits for the
/// other, and this side gives up soon and tries again.
pub(super) async fn hold_starts(
    tx: &DatabaseTransaction,
    used: Expr,
) -> Result<Option<Deleted>, Failure> {
    if tx.get_database_backend() == DatabaseBackend::Postgres {
        tx.execute_unprepared("SET LOCAL lock_timeout = '300ms'").await?;
        tx.execute_unprepared("LOCK TABLE instances IN SHARE MODE").await?;
    }
    unfinished(tx, used, Made::Lately).await
}

/// Records the versions that are about to be deleted: those with this value in the column.
pub(super) async fn mark_deleted(
    tx: &DatabaseTransaction,
    column: &'static str,
    value: &str,
) -> Result<(), Failure> {
    let text = format!(
        "INSERT INTO deleted_versions (version_id, definition_id)
         SELECT id, definition_id FROM definitions WHERE {column} = $1 ON CONFLICT DO NOTHING"
    );
    let statement = Statement::from_sql_and_values(tx.get_database_backend(), text, [value.into()]);
    tx.execute_raw(statement).await?;
    Ok(())
}
