//! Removal of what is no longer needed. Every statement finds its rows by an index and takes a
//! bounded number of them.

use async_trait::async_trait;
use model::{DefinitionId, InstanceId, Timestamp};
use sea_orm::{
    ConnectionTrait as _, DatabaseBackend, DatabaseTransaction, DbErr, QueryResult, Statement,
    Value,
};
use store::{Ended, EndedFilter, Error, Owned, Upkeep, Walked};

use crate::codec::count;
use crate::connect::{SqlStore, commit};
use crate::failure::Failure;
use crate::search::bounded;

/// In the order of the index of ended instances: by that of another, PostgreSQL would read all the
/// instances of a definition of which none has ended.
const DEFINITION: &str = "SELECT definition_id FROM instances
    WHERE finished_at IS NOT NULL AND definition_id > $1
    ORDER BY definition_id, status, updated_at, id LIMIT 1";

/// The parent or a child of the instance `i` has not ended.
const HELD: &str = "(EXISTS (SELECT 1 FROM instances AS p
        WHERE p.id = i.parent_instance_id AND p.finished_at IS NULL)
    OR EXISTS (SELECT 1 FROM instances AS c
        WHERE c.parent_instance_id = i.id AND c.finished_at IS NULL))";

/// The ids of a JSON list; `$1` on both databases.
fn ids_of(backend: DatabaseBackend) -> &'static str {
    match backend {
        DatabaseBackend::Postgres => "SELECT jsonb_array_elements_text($1::jsonb)",
        _ => "SELECT value FROM json_each($1)",
    }
}

fn list(ids: &[InstanceId]) -> Value {
    serde_json::json!(ids).to_string().into()
}

/// Ended instances. The part that finds them comes first: otherwise PostgreSQL would prepare the
/// look-ups of their families for all the instances of the definition.
fn ended_text() -> String {
    format!(
        "WITH i AS MATERIALIZED (
            SELECT id, updated_at, parent_instance_id FROM instances
            WHERE definition_id = $1 AND status = $2 AND finished_at IS NOT NULL
                AND updated_at < $3 AND (updated_at, id) > ($4, $5)
            ORDER BY updated_at, id LIMIT $6)
         SELECT i.id, i.updated_at, {HELD} AS held,
            (SELECT count(*) FROM journal AS j WHERE j.instance_id = i.id) AS journal_rows
         FROM i ORDER BY i.updated_at, i.id"
    )
}

#[async_trait]
impl Upkeep for SqlStore {
    async fn ended_definition(
        &self,
        after: Option<&DefinitionId>,
    ) -> Result<Option<DefinitionId>, Error> {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let found = self.rows(DEFINITION, vec![after.into()]).await?;
        let id = |row: &QueryResult| row.try_get_by_index::<String>(0);
        let id =
            found.first().map(id).transpose().map_err(|error| Failure::from(error).into_error());
        Ok(id?.map(DefinitionId::new))
    }

    async fn ended(
        &self,
        filter: &EndedFilter,
        after: Option<&Ended>,
        limit: u64,
    ) -> Result<Vec<Ended>, Error> {
        let (at, id) = match after {
            Some(after) => (after.updated_at.as_millis(), after.id.to_string()),
            None => (i64::MIN, String::new()),
        };
        let values = vec![
            filter.definition_id.as_str().into(),
            filter.status.as_str().into(),
            filter.before.as_millis().into(),
            at.into(),
            id.into(),
            count(bounded(limit)).into(),
        ];
        let found = self.rows(&ended_text(), values).await?;
        let read = |row: &QueryResult| -> Result<Ended, DbErr> {
            let rows: i64 = row.try_get("", "journal_rows")?;
            Ok(Ended {
                id: InstanceId::new(row.try_get::<String>("", "id")?),
                updated_at: Timestamp::from_millis(row.try_get("", "updated_at")?),
                journal_rows: rows.unsigned_abs(),
                is_held: row.try_get("", "held")?,
            })
        };
        let ended: Result<Vec<_>, DbErr> = found.iter().map(read).collect();
        ended.map_err(|error| Failure::from(error).into_error())
    }

    async fn remove_ended(
        &self,
        ids: &[InstanceId],
        before: Timestamp,
    ) -> Result<Vec<InstanceId>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.tried(|| async {
            let tx = self.begin().await?;
            let gone = removed(&tx, ids, before).await?;
            commit(tx).await?;
            Ok(gone)
        })
        .await
    }

    async fn orphans(
        &self,
        table: Owned,
        after: Option<&InstanceId>,
        limit: u64,
    ) -> Result<Walked, Error> {
        let limit = bounded(limit);
        let name = table.name();
        let text = format!(
            "WITH owners AS (SELECT DISTINCT instance_id FROM {name}
                WHERE instance_id > $1 ORDER BY instance_id LIMIT $2)
             SELECT o.instance_id, i.id IS NULL FROM owners AS o
             LEFT JOIN instances AS i ON i.id = o.instance_id ORDER BY o.instance_id"
        );
        let after = after.map(ToString::to_string).unwrap_or_default();
        let found = self.rows(&text, vec![after.into(), count(limit).into()]).await?;
        let read = |row: &QueryResult| -> Result<(InstanceId, bool), DbErr> {
            let id = InstanceId::new(row.try_get_by_index::<String>(0)?);
            Ok((id, row.try_get_by_index::<bool>(1)?))
        };
        let seen: Result<Vec<_>, DbErr> = found.iter().map(read).collect();
        let seen = seen.map_err(|error| Failure::from(error).into_error())?;
        let is_full = u64::try_from(seen.len()).is_ok_and(|seen| seen == limit);
        let last = seen.last().filter(|_| is_full).map(|(id, _)| id.clone());
        let orphans = seen.into_iter().filter(|(_, is_missing)| *is_missing).map(|(id, _)| id);
        Ok(Walked { orphans: orphans.collect(), last })
    }

    async fn remove_orphans(&self, table: Owned, ids: &[InstanceId]) -> Result<u64, Error> {
        let (name, backend) = (table.name(), self.backend());
        let text = format!(
            "DELETE FROM {name} WHERE instance_id IN ({})
             AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.id = {name}.instance_id)",
            ids_of(backend)
        );
        self.deleted(&text, vec![list(ids)]).await
    }

    async fn forget_audit(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        let text = "DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE at < $1 ORDER BY at, id LIMIT $2)";
        let limit = count(bounded(limit));
        self.deleted(text, vec![before.as_millis().into(), limit.into()]).await
    }
}

impl SqlStore {
    fn backend(&self) -> DatabaseBackend {
        self.database.writer.get_database_backend()
    }

    async fn rows(&self, text: &str, values: Vec<Value>) -> Result<Vec<QueryResult>, Error> {
        let statement = Statement::from_sql_and_values(self.backend(), text, values);
        let reader = &self.database.reader;
        self.tried(|| async { Ok(reader.query_all_raw(statement.clone()).await?) }).await
    }

    async fn deleted(&self, text: &str, values: Vec<Value>) -> Result<u64, Error> {
        let statement = Statement::from_sql_and_values(self.backend(), text, values);
        self.tried(|| async {
            let done = self.database.writer.execute_raw(statement.clone()).await?;
            Ok(done.rows_affected())
        })
        .await
    }
}

/// Removes instances and their rows. Where a change of an instance was faster, the condition on its
/// time no longer holds, so it stays.
async fn removed(
    tx: &DatabaseTransaction,
    ids: &[InstanceId],
    before: Timestamp,
) -> Result<Vec<InstanceId>, Failure> {
    let backend = tx.get_database_backend();
    let of = ids_of(backend);
    let text = format!(
        "DELETE FROM instances AS i WHERE i.id IN ({of}) AND i.updated_at < $2
         AND i.finished_at IS NOT NULL AND NOT {HELD} RETURNING id"
    );
    let values = [list(ids), before.as_millis().into()];
    let found = tx.query_all_raw(Statement::from_sql_and_values(backend, text, values)).await?;
    let id = |row: &QueryResult| row.try_get_by_index::<String>(0).map(InstanceId::new);
    let gone: Vec<InstanceId> = found.iter().map(id).collect::<Result<_, _>>()?;
    if !gone.is_empty() {
        for table in ["bookmarks", "journal", "tokens", "pending_resumes"] {
            let text = format!("DELETE FROM {table} WHERE instance_id IN ({of})");
            let statement = Statement::from_sql_and_values(backend, text, [list(&gone)]);
            tx.execute_raw(statement).await?;
        }
    }
    Ok(gone)
}
