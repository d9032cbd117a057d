//! The results of alterations, and plans.

use model::Map;
use utoipa::ToSchema;

/// The results of alterations, one for each instance.
#[derive(ToSchema)]
pub(crate) struct AlterationResults {
    results: Vec<AlterationResult>,
}

/// What alterations did to an instance.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlterationResult {
    workflow_instance_id: String,
    log: AlterationLog,
    /// It runs on.
    workflow_has_scheduled_work: bool,
    /// All alterations were applied, or will be; otherwise none of them was.
    is_successful: bool,
}

/// What happened to the alterations.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlterationLog {
    log_entries: Vec<AlterationLogEntry>,
}

/// A line about an alteration.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlterationLogEntry {
    message: String,
    /// `Information` or `Error`.
    log_level: String,
    timestamp: Option<String>,
    /// Always null.
    event_name: Option<String>,
}

/// The instances that a plan would alter.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DryRun {
    /// At most 1000 of them.
    workflow_instance_ids: Vec<String>,
    /// The number of all of them.
    total_count: u64,
    /// The number of those that were checked; none without alterations.
    checked_count: u64,
    /// The number of those that the alterations do not fit.
    misfit_count: u64,
    /// At most 1000 of them.
    misfits: Vec<Misfit>,
}

/// An instance that the alterations do not fit.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Misfit {
    workflow_instance_id: String,
    reasons: Vec<String>,
}

/// A plan that was submitted.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Submitted {
    plan_id: String,
}

/// A plan that was asked to stop.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stopped {
    plan_id: String,
    /// It was stopped by this call; false for one that was over already.
    stopped: bool,
    /// `Completed` or `Failed`.
    status: String,
    completed_at: Option<String>,
}

/// A plan, its progress, and one page of its jobs.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanSeen {
    plan: Plan,
    progress: PlanProgress,
    jobs: Vec<Job>,
    /// The number of all jobs.
    total_count: u64,
}

/// Alterations of all instances that a filter selects.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plan {
    id: String,
    #[schema(value_type = Vec<Object>)]
    alterations: Vec<Map>,
    /// The filter, as it was submitted.
    #[schema(value_type = Object)]
    workflow_instance_filter: Map,
    /// `Pending`, `Generating`, `Dispatching`, `Running` or `Completed`.
    status: String,
    created_at: String,
    started_at: Option<String>,
    completed_at: Option<String>,
}

/// The jobs of a plan, counted by their status.
#[derive(ToSchema)]
pub(crate) struct PlanProgress {
    pending: u64,
    running: u64,
    completed: u64,
    failed: u64,
}

/// The alterations of one instance.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    id: String,
    plan_id: String,
    workflow_instance_id: String,
    /// `Pending`, `Running`, `Completed` or `Failed`.
    status: String,
    log: Vec<JobLogEntry>,
    created_at: String,
    started_at: Option<String>,
    completed_at: Option<String>,
}

/// A line about a job.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobLogEntry {
    message: String,
    /// Always `Error`.
    log_level: String,
    timestamp: Option<String>,
}
