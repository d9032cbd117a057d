//! Schedules for people.

use async_trait::async_trait;
use model::{Schedule, ScheduleId, Timestamp};
use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{Error, Listed, Page, ScheduleFilter, SchedulePause, ScheduleStatus, Schedules, check};

use crate::connect::SqlStore;
use crate::entity::schedule::{Column, Entity, Model};

#[async_trait]
impl Schedules for SqlStore {
    async fn schedule_page(
        &self,
        filter: &ScheduleFilter,
        page: Page,
    ) -> Result<Listed<ScheduleStatus>, Error> {
        let query = Entity::find().filter(wanted(filter));
        let (total, found) = self
            .tried(|| async {
                let total = query.clone().count(&self.database.reader).await?;
                let found = query
                    .clone()
                    .order_by_asc(Column::NextAt.is_null())
                    .order_by_asc(Column::NextAt)
                    .order_by_asc(Column::Id)
                    .offset(page.skip())
                    .limit(page.take())
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(Model::status).collect::<Result<_, _>>()?;
        Ok(Listed { items, total })
    }

    async fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleStatus>, Error> {
        let query = Entity::find_by_id(id.as_str()).filter(Column::Retired.eq(false));
        let found =
            self.tried(|| async { Ok(query.clone().one(&self.database.reader).await?) }).await?;
        found.map(Model::status).transpose()
    }

    async fn pause_schedule(&self, id: &ScheduleId, pause: &SchedulePause) -> Result<bool, Error> {
        check::texts([Some(pause.by.as_str())])?;
        let change = Entity::update_many()
            .col_expr(Column::PausedAt, Expr::value(pause.since.as_millis()))
            .col_expr(Column::PausedBy, Expr::value(pause.by.as_str()))
            .filter(Column::Id.eq(id.as_str()))
            .filter(Column::Retired.eq(false))
            .filter(Column::PausedAt.is_null());
        self.tried(|| async {
            let changed = change.clone().exec(&self.database.writer).await?;
            Ok(changed.rows_affected > 0)
        })
        .await
    }

    async fn resume_schedule(
        &self,
        read: &Schedule,
        next_at: Option<Timestamp>,
    ) -> Result<bool, Error> {
        let change = Entity::update_many()
            .col_expr(Column::PausedAt, Expr::value(None::<i64>))
            .col_expr(Column::PausedBy, Expr::value(None::<String>))
            .col_expr(Column::NextAt, Expr::value(next_at.map(Timestamp::as_millis)))
            // A timer that still holds the time of before the pause must not fire it.
            .col_expr(Column::Occurrence, Expr::value(read.occurrence + 1))
            .filter(Column::Id.eq(read.id.as_str()))
            .filter(Column::Occurrence.eq(read.occurrence))
            .filter(Column::VersionId.eq(read.version_id.as_str()))
            .filter(Column::Retired.eq(false))
            .filter(Column::PausedAt.is_not_null());
        self.tried(|| async {
            let changed = change.clone().exec(&self.database.writer).await?;
            Ok(changed.rows_affected > 0)
        })
        .await
    }
}

fn wanted(filter: &ScheduleFilter) -> Condition {
    let ScheduleFilter { definition_id, is_paused } = filter;
    let of = definition_id.as_ref().map(|id| Column::DefinitionId.eq(id.as_str()));
    let paused = is_paused.map(|is_paused| match is_paused {
        true => Column::PausedAt.is_not_null(),
        false => Column::PausedAt.is_null(),
    });
    Condition::all().add(Column::Retired.eq(false)).add_option(of).add_option(paused)
}
