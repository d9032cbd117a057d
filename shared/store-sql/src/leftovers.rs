//! Rows that are of no use any more.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::{ConnectionTrait as _, Statement, Value};
use store::{Error, Leftover, Leftovers};

use crate::codec::count;
use crate::connect::SqlStore;

const TOKENS: &str = "DELETE FROM tokens WHERE hash IN (
    SELECT hash FROM tokens WHERE expires_at < $1 ORDER BY expires_at, hash LIMIT $2)";

/// Reads the bookmarks that are overdue by the index of due ones: there are few.
const TIMERS: &str = "DELETE FROM bookmarks WHERE (id, instance_id) IN (
    SELECT b.id, b.instance_id FROM bookmarks AS b
    WHERE b.due_at IS NOT NULL AND b.due_at < $1
    AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.id = b.instance_id)
    ORDER BY b.due_at, b.instance_id, b.id LIMIT $2)";

/// A publication may take a row into use again meanwhile: it stays then.
const SCHEDULES: &str = "DELETE FROM schedules WHERE retired AND id IN (
    SELECT s.id FROM schedules AS s WHERE s.retired
    AND NOT EXISTS (SELECT 1 FROM definitions AS d WHERE d.definition_id = s.definition_id)
    AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.definition_id = s.definition_id)
    ORDER BY s.id LIMIT $1)";

#[async_trait]
impl Leftovers for SqlStore {
    async fn clear(&self, what: Leftover, before: Timestamp, limit: u64) -> Result<u64, Error> {
        let (before, limit) = (Value::from(before.as_millis()), Value::from(count(limit)));
        let (text, values) = match what {
            Leftover::Tokens => (TOKENS, vec![before, limit]),
            Leftover::Timers => (TIMERS, vec![before, limit]),
            Leftover::Schedules => (SCHEDULES, vec![limit]),
        };
        let database = &self.database.writer;
        let statement =
            Statement::from_sql_and_values(database.get_database_backend(), text, values);
        self.tried(|| async { Ok(database.execute_raw(statement.clone()).await?.rows_affected()) })
            .await
    }
}
