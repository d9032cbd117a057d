//! Plans that alter many instances, and their jobs, in memory.

use std::ops::Bound;

use async_trait::async_trait;
use model::{InstanceId, Timestamp};

use super::tables::PlanRow;
use super::{MemoryStore, Operation};
use crate::{
    AlterationJob, AlterationPlan, Error, JobStatus, Listed, Page, PlanStatus, Plans, Progress,
    check,
};

fn is_open(job: &AlterationJob) -> bool {
    matches!(job.status, JobStatus::Pending | JobStatus::Running)
}

#[async_trait]
impl Plans for MemoryStore {
    async fn submit_plan(&self, plan: &AlterationPlan) -> Result<bool, Error> {
        self.run(Operation::SubmitPlan, |tables| {
            check::keys([Some(plan.id.as_str())])?;
            if tables.plans.contains_key(&plan.id) {
                return Ok(false);
            }
            let row = PlanRow { plan: plan.clone(), owner: None, held_until: Timestamp::default() };
            tables.plans.insert(plan.id.clone(), row);
            Ok(true)
        })
        .await
    }

    async fn plan(&self, id: &str) -> Result<Option<AlterationPlan>, Error> {
        self.run(Operation::Plan, |tables| Ok(tables.plans.get(id).map(|row| row.plan.clone())))
            .await
    }

    async fn claim_plan(
        &self,
        owner: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<AlterationPlan>, Error> {
        self.run(Operation::ClaimPlan, |tables| {
            let free = tables.plans.values_mut().filter(|row| {
                let is_free = row.held_until <= now || row.owner.as_deref() == Some(owner);
                !row.plan.status.is_final() && is_free
            });
            let first = free.min_by_key(|row| (row.plan.created_at, row.plan.id.clone()));
            Ok(first.map(|row| {
                row.owner = Some(owner.to_owned());
                row.held_until = until;
                row.plan.clone()
            }))
        })
        .await
    }

    async fn add_jobs(
        &self,
        id: &str,
        instances: &[InstanceId],
        next: PlanStatus,
        cursor: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.run(Operation::AddJobs, |tables| {
            for instance in instances {
                let key = (id.to_owned(), instance.clone());
                tables.jobs.entry(key).or_insert_with(|| AlterationJob {
                    instance_id: instance.clone(),
                    status: JobStatus::Pending,
                    message: None,
                    created_at: now,
                    started_at: None,
                    completed_at: None,
                });
            }
            if let Some(row) = tables.plans.get_mut(id)
                && !row.plan.status.is_final()
            {
                row.plan.status = next;
                row.plan.cursor = cursor;
                row.plan.started_at.get_or_insert(now);
            }
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
        self.run(Operation::BeginJobs, |tables| {
            let from = match after {
                Some(after) => Bound::Excluded((id.to_owned(), after.clone())),
                None => Bound::Included((id.to_owned(), InstanceId::default())),
            };
            let jobs = tables.jobs.range_mut((from, Bound::Unbounded));
            let own = jobs.take_while(|((plan, _), _)| plan == id);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut begun = Vec::new();
            for (_, job) in own.filter(|(_, job)| is_open(job)).take(limit) {
                if job.status == JobStatus::Pending {
                    job.status = JobStatus::Running;
                    job.started_at = Some(now);
                }
                begun.push(job.instance_id.clone());
            }
            Ok(begun)
        })
        .await
    }

    async fn end_job(
        &self,
        id: &str,
        instance: &InstanceId,
        status: JobStatus,
        message: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.run(Operation::EndJob, |tables| {
            let job = tables.jobs.get_mut(&(id.to_owned(), instance.clone()));
            if let Some(job) = job.filter(|job| is_open(job)) {
                job.status = status;
                job.message = message;
                job.completed_at = Some(now);
            }
            Ok(())
        })
        .await
    }

    async fn end_plan(&self, id: &str, status: PlanStatus, now: Timestamp) -> Result<(), Error> {
        self.run(Operation::EndPlan, |tables| {
            if let Some(row) = tables.plans.get_mut(id)
                && !row.plan.status.is_final()
            {
                row.plan.status = status;
                row.plan.completed_at = Some(now);
            }
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
        self.run(Operation::Jobs, |tables| {
            let is_asked = |job: &AlterationJob| status.is_none_or(|status| job.status == status);
            let own = tables.jobs.iter().filter(|((plan, _), job)| plan == id && is_asked(job));
            Ok(page.of(own.map(|(_, job)| job.clone())))
        })
        .await
    }

    async fn progress(&self, id: &str) -> Result<Progress, Error> {
        self.run(Operation::Progress, |tables| {
            let mut progress = Progress::default();
            for (_, job) in tables.jobs.iter().filter(|((plan, _), _)| plan == id) {
                progress.add(job.status, 1);
            }
            Ok(progress)
        })
        .await
    }
}
