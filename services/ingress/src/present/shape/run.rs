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
    /// The instances that have it; absent if that is not known yet.
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

/// The answer to a link.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum LinkFollowed {
    /// Of a bookmark.
    Resumed(InstanceStatus),
    /// Of an event.
    Raised(EventAccepted),
}
