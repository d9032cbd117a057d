//! The number of things that are not done: one statement, whose parts each read an index up to the
//! limit.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::{ConnectionTrait as _, Statement};
use store::{Census, Counts, Error};

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
}
