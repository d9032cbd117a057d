//! Plans that alter many instances, and their jobs.

use async_trait::async_trait;
use model::{InstanceId, Timestamp};
use sea_orm::sea_query::{Condition, Expr, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use store::{
    AlterationJob, AlterationPlan, Error, JobStatus, Listed, Page, PlanStatus, Plans, Progress,
    check,
};

use crate::connect::SqlStore;
use crate::entity::{alteration_job as job, alteration_plan as plan};

/// The number of tries of a claim when another one takes the plan a moment before.
const TRIES: u32 = 3;
/// The number of jobs in one statement.
const CHUNK: usize = 500;

#[async_trait]
impl Plans for SqlStore {
    async fn submit_plan(&self, submitted: &AlterationPlan) -> Result<bool, Error> {
        check::keys([Some(submitted.id.as_str())])?;
        let row = plan::Model::of(submitted)?;
        let once = OnConflict::column(plan::Column::Id).do_nothing().to_owned();
        self.tried(|| async {
            let insert = plan::Entity::insert(row.clone().into_active_model());
            let insert = insert.on_conflict(once.clone());
            Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
        })
        .await
    }

    async fn plan(&self, id: &str) -> Result<Option<AlterationPlan>, Error> {
        let find = plan::Entity::find_by_id(id);
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        found.map(plan::Model::plan).transpose()
    }

    async fn claim_plan(
        &self,
        owner: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<AlterationPlan>, Error> {
        let free =
            Condition::all().add(plan::Column::Status.is_not_in(["Completed", "Failed"])).add(
                Condition::any()
                    .add(plan::Column::HeldUntil.lte(now.as_millis()))
                    .add(plan::Column::Owner.eq(owner)),
            );
        let find = plan::Entity::find()
            .filter(free.clone())
            .order_by_asc(plan::Column::CreatedAt)
            .order_by_asc(plan::Column::Id)
            .limit(1);
        for _ in 0..TRIES {
            let found =
                self.tried(|| async { Ok(find.clone().one(&self.database.writer).await?) }).await?;
            let Some(found) = found else { return Ok(None) };
            let take = plan::Entity::update_many()
                .col_expr(plan::Column::Owner, Expr::value(owner))
                .col_expr(plan::Column::HeldUntil, Expr::value(until.as_millis()))
                .filter(plan::Column::Id.eq(found.id.as_str()))
                .filter(free.clone());
            let taken = self
                .tried(|| async { Ok(take.clone().exec(&self.database.writer).await?) })
                .await?;
            if taken.rows_affected > 0 {
                return found.plan().map(Some);
            }
        }
        Ok(None)
    }

    async fn add_jobs(
        &self,
        id: &str,
        instances: &[InstanceId],
        next: PlanStatus,
        cursor: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        for chunk in instances.chunks(CHUNK) {
            let row = |instance: &InstanceId| {
                let row = job::Model {
                    plan_id: id.to_owned(),
                    instance_id: instance.to_string(),
                    status: JobStatus::Pending.as_str().to_owned(),
                    message: None,
                    created_at: now.as_millis(),
                    started_at: None,
                    completed_at: None,
                };
                row.into_active_model()
            };
            let key = [job::Column::PlanId, job::Column::InstanceId];
            let once = OnConflict::columns(key).do_nothing().to_owned();
            self.tried(|| async {
                let insert = job::Entity::insert_many(chunk.iter().map(row));
                let insert = insert.on_conflict(once.clone());
                insert.exec_without_returning(&self.database.writer).await?;
                Ok(())
            })
            .await?;
        }
        let update = plan::Entity::update_many()
            .col_expr(plan::Column::Status, Expr::value(next.as_str()))
            .col_expr(plan::Column::Place, Expr::value(cursor))
            .filter(plan::Column::Id.eq(id))
            .filter(plan::Column::Status.is_not_in(["Completed", "Failed"]));
        let begin = plan::Entity::update_many()
            .col_expr(plan::Column::StartedAt, Expr::value(now.as_millis()))
            .filter(plan::Column::Id.eq(id))
            .filter(plan::Column::StartedAt.is_null());
        self.tried(|| async {
            begin.clone().exec(&self.database.writer).await?;
            update.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn begin_jobs(
        &self,
        id: &str,
        after: Option<&InstanceId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Vec<InstanceId>, Error> {
        let mut open = job::Entity::find()
            .select_only()
            .column(job::Column::InstanceId)
            .filter(job::Column::PlanId.eq(id))
            .filter(job::Column::Status.is_in(["Pending", "Running"]));
        if let Some(after) = after {
            open = open.filter(job::Column::InstanceId.gt(after.as_str()));
        }
        let open = open.order_by_asc(job::Column::InstanceId).limit(limit);
        let ids: Vec<String> = self
            .tried(|| async { Ok(open.clone().into_tuple().all(&self.database.writer).await?) })
            .await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let begin = job::Entity::update_many()
            .col_expr(job::Column::Status, Expr::value(JobStatus::Running.as_str()))
            .col_expr(job::Column::StartedAt, Expr::value(now.as_millis()))
            .filter(job::Column::PlanId.eq(id))
            .filter(job::Column::Status.eq(JobStatus::Pending.as_str()))
            .filter(job::Column::InstanceId.is_in(ids.clone()));
        self.tried(|| async {
            begin.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await?;
        Ok(ids.into_iter().map(InstanceId::new).collect())
    }

    async fn end_job(
        &self,
        id: &str,
        instance: &InstanceId,
        status: JobStatus,
        message: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let end = job::Entity::update_many()
            .col_expr(job::Column::Status, Expr::value(status.as_str()))
            .col_expr(job::Column::Message, Expr::value(message))
            .col_expr(job::Column::CompletedAt, Expr::value(now.as_millis()))
            .filter(job::Column::PlanId.eq(id))
            .filter(job::Column::InstanceId.eq(instance.as_str()))
            .filter(job::Column::Status.is_in(["Pending", "Running"]));
        self.tried(|| async {
            end.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn end_plan(&self, id: &str, status: PlanStatus, now: Timestamp) -> Result<(), Error> {
        let end = plan::Entity::update_many()
            .col_expr(plan::Column::Status, Expr::value(status.as_str()))
            .col_expr(plan::Column::CompletedAt, Expr::value(now.as_millis()))
            .filter(plan::Column::Id.eq(id))
            .filter(plan::Column::Status.is_not_in(["Completed", "Failed"]));
        self.tried(|| async {
            end.clone().exec(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn jobs(
        &self,
        id: &str,
        status: Option<JobStatus>,
        page: Page,
    ) -> Result<Listed<AlterationJob>, Error> {
        let mut query = job::Entity::find().filter(job::Column::PlanId.eq(id));
        if let Some(status) = status {
            query = query.filter(job::Column::Status.eq(status.as_str()));
        }
        let (total, found) = self
            .tried(|| async {
                let total = query.clone().count(&self.database.reader).await?;
                let found = query
                    .clone()
                    .order_by_asc(job::Column::InstanceId)
                    .offset(page.skip())
                    .limit(page.take())
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(job::Model::job);
        Ok(Listed { items: items.collect::<Result<_, Error>>()?, total })
    }

    async fn progress(&self, id: &str) -> Result<Progress, Error> {
        let query = job::Entity::find()
            .select_only()
            .column(job::Column::Status)
            .column_as(job::Column::InstanceId.count(), "jobs")
            .filter(job::Column::PlanId.eq(id))
            .group_by(job::Column::Status);
        let found: Vec<(String, i64)> = self
            .tried(|| async { Ok(query.clone().into_tuple().all(&self.database.reader).await?) })
            .await?;
        let mut progress = Progress::default();
        for (status, jobs) in found {
            let jobs = u64::try_from(jobs).unwrap_or_default();
            progress.add(status.parse().map_err(Error::Corrupt)?, jobs);
        }
        Ok(progress)
    }
}
