//! Due bookmarks and schedules.

use async_trait::async_trait;
use model::{Schedule, Timestamp};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, DatabaseBackend, EntityTrait as _, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, Statement,
};
use store::{DueTimer, Error, Firing, Table, Timers, check};

use crate::connect::SqlStore;
use crate::entity::schedule::Model;
use crate::entity::{bookmark, schedule};
use crate::pipeline::{Work, WorkEnd};
use crate::search::bounded;

#[async_trait]
impl Timers for SqlStore {
    async fn clock(&self) -> Result<Timestamp, Error> {
        let database = &self.database.reader;
        let backend = database.get_database_backend();
        let now = match backend {
            DatabaseBackend::Postgres => {
                "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
            }
            _ => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        };
        let statement = Statement::from_string(backend, now);
        self.tried(|| async {
            let row = database.query_one_raw(statement.clone()).await?;
            let none =
                || Error::Unavailable("the database did not answer with its time".to_owned());
            let millis = row.ok_or_else(none)?.try_get_by_index(0)?;
            Ok(Timestamp::from_millis(millis))
        })
        .await
    }

    async fn due_timers(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<DueTimer>, Error> {
        use bookmark::Column::{DueAt, Id, InstanceId, Shard};
        let query = bookmark::Entity::find()
            .select_only()
            .columns([DueAt, InstanceId, Id, Shard])
            .filter(DueAt.is_not_null())
            .filter(DueAt.lt(before.as_millis()))
            .filter(Shard.is_in(shards.to_vec()))
            .order_by_asc(DueAt)
            .order_by_asc(InstanceId)
            .order_by_asc(Id)
            .limit(bounded(limit));
        let found: Vec<(i64, String, String, i32)> = self
            .tried(|| async { Ok(query.clone().into_tuple().all(&self.database.reader).await?) })
            .await?;
        let timers = found.into_iter().map(|(due_at, instance_id, bookmark_id, shard)| DueTimer {
            due_at: Timestamp::from_millis(due_at),
            instance_id: instance_id.into(),
            bookmark_id: bookmark_id.into(),
            shard,
        });
        Ok(timers.collect())
    }

    async fn due_schedules(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Schedule>, Error> {
        use schedule::Column::{Id, NextAt, PausedAt, Shard};
        let query = schedule::Entity::find()
            .filter(NextAt.is_not_null())
            .filter(Expr::cust("NOT retired"))
            .filter(PausedAt.is_null())
            .filter(NextAt.lt(before.as_millis()))
            .filter(Shard.is_in(shards.to_vec()))
            .order_by_asc(NextAt)
            .order_by_asc(Id)
            .limit(bounded(limit));
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        let name =
            |row: &Model| (row.id.clone(), format!("{} {}", row.recurrence, row.misfire).into());
        Ok(self.readable(Table::Schedules, found, name, Model::schedule))
    }

    async fn fire(&self, firing: Firing) -> Result<bool, Error> {
        firing.starts.iter().try_for_each(check::start)?;
        Ok(self.run(Work::fire(&firing)?).await? == WorkEnd::Done)
    }
}
