//! Runs, events, tasks and links.

use serde_json::Value;
use utoipa::ToSchema;

use super::instance::WorkflowState;
use crate::present::InstanceStatus;

/// The end of a run, or its rest.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    workflow_state: WorkflowState,
}

/// The answer to a run.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum RanOrSaid {
    /// The state of the instance.
    Ran(Box<Ran>),
    /// What the workflow wrote with `WriteHttpResponse`.
    Said(Value),
}

/// An instance that was started.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dispatched {
    workflow_instance_id: String,
}

/// Instances that were started.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DispatchedTogether {
    workflow_instance_ids: Vec<String>,
}

/// An event that was accepted.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventAccepted {
    event_name: String,
    /// Always true.
    accepted: bool,
    /// The number of instances for which it is durably kept, whether or not they have done their work;
    /// absent if that is not known yet.
    affected: Option<u64>,
}

/// A result that was accepted.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskAccepted {
    task_id: String,
    /// Always true.
    accepted: bool,
}

/// The answer to the result of a task.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum TaskCompletion {
    /// The instance that waited for it.
    Resumed(InstanceStatus),
    /// No instance waited for it yet.
    Kept(TaskAccepted),
}

/// A task that a worker took.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeasedTask {
    /// The same in every attempt.
    task_id: String,
    task_type: String,
    task_version: u32,
    input: Value,
    workflow_instance_id: String,
    workflow_definition_id: String,
    /// The name of the definition; left out where it has none.
    workflow_name: Option<String>,
    /// The correlation id of the instance; left out where it has none.
    correlation_id: Option<String>,
    activity_id: String,
    /// 1, 2, 3 …
    attempt: u32,
    /// The time after which a result is not used any more.
    deadline: Option<String>,
    /// How often this attempt was handed out, this time included: more than once when a worker has
    /// lost it.
    deliveries: u32,
    /// The same each time this attempt is handed out: a key for what the worker calls.
    idempotency_key: Option<String>,
    /// The trace of the instance.
    traceparent: Option<String>,
    /// To be sent with heartbeats and with the result.
    lease: String,
    /// When the lease ends, without a heartbeat.
    lease_expires_at: String,
}

/// Tasks that workflows wait for.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenTasks {
    /// The oldest first.
    items: Vec<OpenTask>,
    total_count: u64,
    /// The tasks, of all types, that were looked at.
    tasks_read: u64,
    /// There may be more than were looked at.
    is_cut_short: bool,
}

/// A task that a workflow has handed out and waits for.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenTask {
    /// The same in every attempt.
    task_id: String,
    task_type: String,
    /// Null where the state of the instance cannot be read, as in other members.
    version: Option<u32>,
    /// The current attempt: 1, 2, 3 …
    attempt: Option<u32>,
    /// It pauses before this attempt.
    is_paused: Option<bool>,
    /// When the workflow began to wait for it.
    since: String,
    /// When the current attempt was handed out; in a pause, when the task began.
    handed_out_at: Option<String>,
    /// The time after which a result is not used any more.
    deadline: Option<String>,
    workflow_instance_id: String,
    definition_id: String,
    correlation_id: Option<String>,
    activity_id: String,
    /// Where the instance waits.
    bookmark_id: String,
}

/// A lease that goes on.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaseRenewed {
    task_id: String,
    /// Takes the place of the lease before it.
    lease: String,
    /// When it ends, without another heartbeat.
    lease_expires_at: String,
}

/// The answer to a link.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum LinkFollowed {
    /// Of a bookmark.
    Resumed(InstanceStatus),
    /// Of an event.
    Raised(EventAccepted),
}
