//! Rows that cannot be read: noted by the reads that find them, moved to the dead letters.

use async_trait::async_trait;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait as _, EntityTrait as _, IntoActiveModel as _, Statement, Value};
use store::{Error, OutboxRow, Salvage, Table, Unreadable};

use crate::connect::{SqlStore, commit};
use crate::entity::outbox;
use crate::failure::Failure;

/// The id of a row, and the value in it that may be unreadable.
pub(crate) type Named = (String, Vec<u8>);

impl SqlStore {
    /// Reads rows one by one. A row that cannot be read is noted and left out.
    pub(crate) fn readable<R, T>(
        &self,
        table: Table,
        rows: impl IntoIterator<Item = R>,
        name: impl Fn(&R) -> Named,
        read: impl Fn(R) -> Result<T, Error>,
    ) -> Vec<T> {
        let read = |row: R| {
            let (id, bytes) = name(&row);
            let noted = |error: Error| {
                self.notes.note(Unreadable { table, id, reason: error.to_string(), bytes });
            };
            read(row).map_err(noted).ok()
        };
        rows.into_iter().filter_map(read).collect()
    }

    async fn bury_once(&self, row: &Unreadable, dead: &OutboxRow) -> Result<bool, Failure> {
        let Some(burial) = burial(row.table) else { return Ok(false) };
        let tx = self.begin().await?;
        let value = match row.table {
            Table::Schedules => Value::from(String::from_utf8_lossy(&row.bytes).into_owned()),
            _ => Value::from(row.bytes.clone()),
        };
        let values = [Value::from(row.id.clone()), value];
        let buried = Statement::from_sql_and_values(tx.get_database_backend(), burial, values);
        let is_there = tx.execute_raw(buried).await?.rows_affected() > 0;
        if is_there {
            let letter = outbox::Model::of(dead)?.into_active_model();
            let known = OnConflict::column(outbox::Column::Id).do_nothing().to_owned();
            let insert = outbox::Entity::insert(letter).on_conflict(known);
            insert.exec_without_returning(&tx).await?;
        }
        commit(tx).await?;
        Ok(is_there)
    }
}

#[async_trait]
impl Salvage for SqlStore {
    fn unreadable(&self) -> Vec<Unreadable> {
        self.notes.take()
    }

    async fn bury_unreadable(&self, row: &Unreadable, dead: OutboxRow) -> Result<bool, Error> {
        self.tried(|| self.bury_once(row, &dead)).await
    }
}

/// The statement that removes the value; it compares the value, because the row may have been
/// rewritten meanwhile. A row that only lists read stays: nothing waits for it.
fn burial(table: Table) -> Option<&'static str> {
    match table {
        Table::Starts => {
            Some("UPDATE instances SET start_command = NULL WHERE id = $1 AND start_command = $2")
        }
        Table::Commands => Some("DELETE FROM pending_resumes WHERE id = $1 AND command = $2"),
        Table::Outbox => Some("DELETE FROM outbox WHERE id = $1 AND message = $2"),
        Table::Schedules => Some(
            "UPDATE schedules SET next_at = NULL \
             WHERE id = $1 AND $2 = recurrence || ' ' || misfire",
        ),
        Table::Instances => None,
    }
}
