//! The traits of the port that no planted bug changes.

use async_trait::async_trait;
use model::{
    Definition, DefinitionId, InstanceId, Schedule, ScheduleId, Timestamp, Token, Trigger,
    VersionId,
};
use store::{
    AlterationJob, AlterationPlan, ApiKey, Audit, AuditFilter, Awaited, Base, BookmarkFilter,
    Bookmarks, Census, Claim, Counts, DefinitionFilter, Definitions, Deleted, Ended, EndedFilter,
    Error, JobStatus, KeyedRequest, Keys, Leftover, Leftovers, Listed, Owned, Page, PendingCommand,
    PlanStatus, Plans, Progress, Publication, Published, Requests, Retracted, Salvage, Saved,
    ScheduleFilter, SchedulePause, ScheduleStatus, Schedules, SearchableFilter, SearchableNames,
    Store, StoredBookmark, Tokens, Unfinished, Upkeep, VersionOption, Walked,
};

use super::BrokenStore;

impl Salvage for BrokenStore {}

#[async_trait]
impl Leftovers for BrokenStore {
    async fn clear(&self, what: Leftover, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.twin.clear(what, before, limit).await
    }
}

#[async_trait]
impl Upkeep for BrokenStore {
    async fn ended_definition(
        &self,
        after: Option<&DefinitionId>,
    ) -> Result<Option<DefinitionId>, Error> {
        self.twin.ended_definition(after).await
    }

    async fn ended(
        &self,
        filter: &EndedFilter,
        after: Option<&Ended>,
        limit: u64,
    ) -> Result<Vec<Ended>, Error> {
        self.twin.ended(filter, after, limit).await
    }

    async fn remove_ended(
        &self,
        ids: &[InstanceId],
        before: Timestamp,
    ) -> Result<Vec<InstanceId>, Error> {
        self.twin.remove_ended(ids, before).await
    }

    async fn orphans(
        &self,
        table: Owned,
        after: Option<&InstanceId>,
        limit: u64,
    ) -> Result<Walked, Error> {
        self.twin.orphans(table, after, limit).await
    }

    async fn remove_orphans(&self, table: Owned, ids: &[InstanceId]) -> Result<u64, Error> {
        self.twin.remove_orphans(table, ids).await
    }

    async fn forget_audit(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.twin.forget_audit(before, limit).await
    }
}

#[async_trait]
impl Counts for BrokenStore {
    async fn census(&self, overdue: Timestamp, at_most: u64) -> Result<Census, Error> {
        self.twin.census(overdue, at_most).await
    }

    async fn unfinished_by_definition(&self, at_most: u64) -> Result<Vec<Unfinished>, Error> {
        self.twin.unfinished_by_definition(at_most).await
    }

    async fn faulted_by_definition(
        &self,
        since: Timestamp,
        at_most: u64,
    ) -> Result<Vec<(DefinitionId, u64)>, Error> {
        self.twin.faulted_by_definition(since, at_most).await
    }
}

#[async_trait]
impl Store for BrokenStore {
    async fn ping(&self) -> Result<(), Error> {
        self.twin.ping().await
    }

    fn figures(&self) -> store::Figures {
        self.twin.figures()
    }

    fn statements(&self) -> Vec<store::StatementFigures> {
        self.twin.statements()
    }

    async fn close(&self) {
        self.twin.close().await;
    }
}

#[async_trait]
impl Definitions for BrokenStore {
    async fn save(&self, definition: &Definition, base: &Base) -> Result<Saved, Error> {
        self.twin.save(definition, base).await
    }

    async fn publish_all(&self, publications: Vec<Publication>) -> Result<Published, Error> {
        self.twin.publish_all(publications).await
    }

    async fn retract(&self, id: &DefinitionId, base: &Base) -> Result<Retracted, Error> {
        self.twin.retract(id, base).await
    }

    async fn delete_definition(&self, id: &DefinitionId, base: &Base) -> Result<Deleted, Error> {
        self.twin.delete_definition(id, base).await
    }

    async fn delete_version(&self, id: &VersionId) -> Result<Deleted, Error> {
        self.twin.delete_version(id).await
    }

    async fn version(&self, id: &VersionId) -> Result<Option<Definition>, Error> {
        self.twin.version(id).await
    }

    async fn definition(
        &self,
        id: &DefinitionId,
        version: VersionOption,
    ) -> Result<Option<Definition>, Error> {
        self.twin.definition(id, version).await
    }

    async fn definitions(
        &self,
        filter: &DefinitionFilter,
        page: Page,
    ) -> Result<Listed<Definition>, Error> {
        self.twin.definitions(filter, page).await
    }

    async fn searchable(&self, filter: &SearchableFilter) -> Result<SearchableNames, Error> {
        self.twin.searchable(filter).await
    }

    async fn triggers(&self, hash: &str) -> Result<Vec<Trigger>, Error> {
        self.twin.triggers(hash).await
    }

    async fn triggers_named(&self, name: &str) -> Result<Vec<Trigger>, Error> {
        self.twin.triggers_named(name).await
    }

    async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        self.twin.schedules().await
    }
}

#[async_trait]
impl Schedules for BrokenStore {
    async fn schedule_page(
        &self,
        filter: &ScheduleFilter,
        page: Page,
    ) -> Result<Listed<ScheduleStatus>, Error> {
        self.twin.schedule_page(filter, page).await
    }

    async fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleStatus>, Error> {
        self.twin.schedule(id).await
    }

    async fn pause_schedule(&self, id: &ScheduleId, pause: &SchedulePause) -> Result<bool, Error> {
        self.twin.pause_schedule(id, pause).await
    }

    async fn resume_schedule(
        &self,
        read: &Schedule,
        next_at: Option<Timestamp>,
    ) -> Result<bool, Error> {
        self.twin.resume_schedule(read, next_at).await
    }
}

#[async_trait]
impl Bookmarks for BrokenStore {
    async fn find(
        &self,
        filter: &BookmarkFilter,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        self.twin.find(filter, limit).await
    }

    async fn listed(
        &self,
        name: &str,
        before: Timestamp,
        after: Option<&StoredBookmark>,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        self.twin.listed(name, before, after, limit).await
    }

    async fn awaited(
        &self,
        name: &str,
        after: Option<&Awaited>,
        limit: u64,
    ) -> Result<Vec<Awaited>, Error> {
        self.twin.awaited(name, after, limit).await
    }

    async fn route_templates(&self, limit: u64) -> Result<Vec<String>, Error> {
        self.twin.route_templates(limit).await
    }
}

#[async_trait]
impl Tokens for BrokenStore {
    async fn grant(&self, token: Token) -> Result<(), Error> {
        self.twin.grant(token).await
    }

    async fn token(&self, hash: &str, now: Timestamp) -> Result<Option<Token>, Error> {
        self.twin.token(hash, now).await
    }

    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error> {
        self.twin.redeem(hash, now, command).await
    }
}

#[async_trait]
impl Keys for BrokenStore {
    async fn save_key(&self, key: ApiKey) -> Result<(), Error> {
        self.twin.save_key(key).await
    }

    async fn key(&self, hash: &str) -> Result<Option<ApiKey>, Error> {
        self.twin.key(hash).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, Error> {
        self.twin.keys().await
    }

    async fn delete_key(&self, id: &str) -> Result<bool, Error> {
        self.twin.delete_key(id).await
    }

    async fn audit(&self, entry: Audit) -> Result<(), Error> {
        self.twin.audit(entry).await
    }

    async fn audit_all(&self, entries: Vec<Audit>) -> Result<(), Error> {
        self.twin.audit_all(entries).await
    }

    async fn audits(&self, filter: &AuditFilter, page: Page) -> Result<Listed<Audit>, Error> {
        self.twin.audits(filter, page).await
    }
}

#[async_trait]
impl Requests for BrokenStore {
    async fn claim(&self, request: &KeyedRequest, now: Timestamp) -> Result<Claim, Error> {
        self.twin.claim(request, now).await
    }

    async fn keep_answer(&self, request: &KeyedRequest, answer: Vec<u8>) -> Result<(), Error> {
        self.twin.keep_answer(request, answer).await
    }

    async fn release(&self, request: &KeyedRequest) -> Result<(), Error> {
        self.twin.release(request).await
    }

    async fn forget_requests(&self, now: Timestamp, limit: u64) -> Result<u64, Error> {
        self.twin.forget_requests(now, limit).await
    }
}

#[async_trait]
impl Plans for BrokenStore {
    async fn submit_plan(&self, plan: &AlterationPlan) -> Result<bool, Error> {
        self.twin.submit_plan(plan).await
    }

    async fn plan(&self, id: &str) -> Result<Option<AlterationPlan>, Error> {
        self.twin.plan(id).await
    }

    async fn claim_plan(
        &self,
        owner: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<AlterationPlan>, Error> {
        self.twin.claim_plan(owner, now, until).await
    }

    async fn add_jobs(
        &self,
        id: &str,
        instances: &[InstanceId],
        next: PlanStatus,
        cursor: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.twin.add_jobs(id, instances, next, cursor, now).await
    }

    async fn begin_jobs(
        &self,
        id: &str,
        after: Option<&InstanceId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Vec<InstanceId>, Error> {
        self.twin.begin_jobs(id, after, limit, now).await
    }

    async fn end_job(
        &self,
        id: &str,
        instance: &InstanceId,
        status: JobStatus,
        message: Option<String>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.twin.end_job(id, instance, status, message, now).await
    }

    async fn end_plan(&self, id: &str, status: PlanStatus, now: Timestamp) -> Result<(), Error> {
        self.twin.end_plan(id, status, now).await
    }

    async fn jobs(
        &self,
        id: &str,
        status: Option<JobStatus>,
        page: Page,
    ) -> Result<Listed<AlterationJob>, Error> {
        self.twin.jobs(id, status, page).await
    }

    async fn progress(&self, id: &str) -> Result<Progress, Error> {
        self.twin.progress(id).await
    }
}
