//! The number of things that are not done: one statement, whose parts each read an index up to the
//! limit.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{DefinitionId, Timestamp};
use sea_orm::{ConnectionTrait as _, DbErr, QueryResult, Statement};
use store::{Census, Counts, Error, Unfinished};

use crate::connect::SqlStore;

/// The figures, in the order of [`Census`].
const PARTS: [&str; 8] = [
    "instances WHERE status = 'Pending'",
    "instances WHERE status = 'Executing'",
    "instances WHERE status = 'Suspended'",
    "bookmarks WHERE due_at IS NOT NULL",
    "bookmarks WHERE due_at IS NOT NULL AND due_at < $1",
    "schedules WHERE next_at IS NOT NULL AND NOT retired AND paused_at IS NULL",
    "outbox",
    "pending_resumes",
];

/// The states of instances that have not ended.
const UNFINISHED: [&str; 3] = ["Pending", "Executing", "Suspended"];

/// The definition, the state and the number of instances.
fn counted(row: &QueryResult) -> Result<(DefinitionId, String, u64), DbErr> {
    let definition: String = row.try_get_by_index(0)?;
    let count: i64 = row.try_get_by_index(2)?;
    Ok((definition.into(), row.try_get_by_index(1)?, u64::try_from(count).unwrap_or_default()))
}

#[async_trait]
impl Counts for SqlStore {
    async fn census(&self, overdue: Timestamp, at_most: u64) -> Result<Census, Error> {
        let database = &self.database.reader;
        let part = |(place, from): (usize, &&str)| {
            format!("(SELECT count(*) FROM (SELECT 1 FROM {from} LIMIT {at_most}) AS p{place})")
        };
        let parts: Vec<_> = PARTS.iter().enumerate().map(part).collect();
        let statement = Statement::from_sql_and_values(
            database.get_database_backend(),
            format!("SELECT {}", parts.join(", ")),
            [overdue.as_millis().into()],
        );
        let row = self.tried(|| async { Ok(database.query_one_raw(statement.clone()).await?) });
        let row = row.await?;
        let none = || Error::Unavailable("the database did not answer with its counts".to_owned());
        let row = row.ok_or_else(none)?;
        let figure = |place: usize| {
            let found: Result<i64, _> = row.try_get_by_index(place);
            found
                .map(|found| u64::try_from(found).unwrap_or_default())
                .map_err(|error| Error::Corrupt(format!("a count cannot be read: {error}")))
        };
        Ok(Census {
            pending: figure(0)?,
            executing: figure(1)?,
            suspended: figure(2)?,
            timers: figure(3)?,
            timers_overdue: figure(4)?,
            schedules: figure(5)?,
            outbox: figure(6)?,
            commands: figure(7)?,
        })
    }

    async fn unfinished_by_definition(&self, at_most: u64) -> Result<Vec<Unfinished>, Error> {
        let database = &self.database.reader;
        // The order is that of the index on the state and the last change: it alone is read.
        let part = |(place, status): (usize, &&str)| {
            format!(
                "SELECT * FROM (SELECT definition_id, status FROM instances
                 WHERE status = '{status}' ORDER BY updated_at DESC LIMIT {at_most}) AS p{place}"
            )
        };
        let parts: Vec<_> = UNFINISHED.iter().enumerate().map(part).collect();
        let statement = Statement::from_string(
            database.get_database_backend(),
            format!(
                "SELECT definition_id, status, count(*) FROM ({}) AS unfinished
                 GROUP BY definition_id, status",
                parts.join(" UNION ALL ")
            ),
        );
        let rows = self.tried(|| async { Ok(database.query_all_raw(statement.clone()).await?) });
        let mut counts = BTreeMap::new();
        for row in rows.await? {
            let (id, status, count) = counted(&row)
                .map_err(|error| Error::Corrupt(format!("a count cannot be read: {error}")))?;
            let entry = counts.entry(id.clone()).or_insert_with(|| Unfinished::none_of(id));
            match status.as_str() {
                "Pending" => entry.pending = count,
                "Executing" => entry.executing = count,
                _ => entry.suspended = count,
            }
        }
        Ok(counts.into_values().collect())
    }

    async fn faulted_by_definition(
        &self,
        since: Timestamp,
        at_most: u64,
    ) -> Result<Vec<(DefinitionId, u64)>, Error> {
        let database = &self.database.reader;
        let statement = Statement::from_sql_and_values(
            database.get_database_backend(),
            format!(
                "SELECT definition_id, status, count(*) FROM (
                     SELECT definition_id, status FROM instances
                     WHERE status = 'Faulted' AND updated_at >= $1
                     ORDER BY updated_at DESC LIMIT {at_most}) AS faulted
                 GROUP BY definition_id, status"
            ),
            [since.as_millis().into()],
        );
        let rows = self.tried(|| async { Ok(database.query_all_raw(statement.clone()).await?) });
        let mut counts = BTreeMap::new();
        for row in rows.await? {
            let (id, _, count) = counted(&row)
                .map_err(|error| Error::Corrupt(format!("a count cannot be read: {error}")))?;
            counts.insert(id, count);
        }
        Ok(counts.into_iter().collect())
    }
}
