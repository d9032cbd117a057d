//! Instances with their state, and as files.

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// Instances by state.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceCounts {
    /// Each state once, also those of no instance.
    counts: Vec<StateCount>,
    /// The sum.
    total_count: u64,
    /// Those of them that have incidents.
    with_incidents: u64,
    /// A state has more instances than are counted.
    is_cut_short: bool,
}

/// The instances in one state.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateCount {
    /// `Running` or `Finished`.
    status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    sub_status: String,
    /// At most 100000.
    count: u64,
}

use crate::present::InstanceSummary;

/// An instance, with its state.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceDetail {
    #[serde(flatten)]
    summary: InstanceSummary,
    /// Its definition is a system definition.
    is_system: bool,
    workflow_state: WorkflowState,
}

/// The state of an instance.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowState {
    id: String,
    definition_id: String,
    definition_version_id: String,
    definition_version: u32,
    /// `Running` or `Finished`.
    status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    sub_status: String,
    /// It runs now.
    is_executing: bool,
    is_system: bool,
    correlation_id: Option<String>,
    name: Option<String>,
    is_paused: Option<bool>,
    parent_workflow_instance_id: Option<String>,
    trigger_activity_id: Option<String>,
    #[schema(value_type = Object)]
    input: Map,
    #[schema(value_type = Object)]
    output: Map,
    #[schema(value_type = Object)]
    properties: Map,
    /// Values by name. Absent if its version was deleted.
    #[schema(value_type = Option<Object>)]
    variables: Option<Map>,
    incidents: Vec<Incident>,
    bookmarks: Vec<OpenBookmark>,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    completion_callbacks: Vec<Map>,
    /// Outgoing calls whose result it waits for.
    calls: Option<Vec<OpenCall>>,
    /// The workflow itself, and the activities that run or wait.
    activity_execution_contexts: Vec<ActivityContext>,
    /// The activities that come next.
    scheduled_activities: Vec<ScheduledActivity>,
    turns: Option<u64>,
    steps: Option<u64>,
    /// The number of lines of its journal.
    execution_log_sequence: u64,
    created_at: String,
    updated_at: String,
    finished_at: Option<String>,
}

/// A failure of an activity.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Incident {
    activity_id: String,
    activity_node_id: String,
    activity_instance_id: Option<String>,
    activity_type: String,
    /// A short, stable code.
    code: String,
    message: String,
    exception: Exception,
    timestamp: String,
}

/// A failure as an exception.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exception {
    /// A short, stable code.
    r#type: String,
    message: String,
    /// Always null.
    stack_trace: Option<String>,
    /// Always null.
    inner_exception: Option<String>,
    #[schema(value_type = Object)]
    metadata: Map,
}

/// A place where an instance waits.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenBookmark {
    id: String,
    /// The name of the stimulus, such as `Elsa.Event`.
    name: String,
    /// The hash of the name and the payload.
    hash: String,
    payload: Value,
    activity_id: String,
    activity_node_id: String,
    activity_instance_id: String,
    created_at: String,
    /// Always true.
    auto_burn: bool,
    /// Always null.
    callback_method_name: Option<String>,
    /// Always false.
    auto_complete: bool,
    /// Always empty.
    #[schema(value_type = Object)]
    metadata: Map,
    /// The time when a timer resumes it.
    due_at: Option<String>,
}

/// An outgoing call, without its values.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenCall {
    /// The same for every attempt.
    key: String,
    bookmark_id: String,
    activity_id: String,
    kind: String,
    /// The call in words.
    summary: String,
    /// Only for HTTP.
    method: Option<String>,
    /// Only for HTTP.
    url: Option<String>,
}

/// An execution of an activity that runs or waits.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityContext {
    id: String,
    /// Null for the workflow itself.
    parent_context_id: Option<String>,
    scheduled_activity_node_id: String,
    owner_activity_node_id: Option<String>,
    /// `Variables`: values by the id of the variable.
    #[schema(value_type = Object)]
    properties: Map,
    #[schema(value_type = Object)]
    metadata: Map,
    /// Inputs that the definition has as they are.
    #[schema(value_type = Object)]
    activity_state: Map,
    /// What the activity around it gives to it.
    dynamic_variables: Vec<DynamicVariable>,
    /// `Pending`, `Running`, `Completed`, `Canceled` or `Faulted`.
    status: String,
    is_executing: bool,
    fault_count: u32,
    started_at: Option<String>,
    completed_at: Option<String>,
    tag: Value,
    /// The number of executions around it.
    call_stack_depth: u32,
    activity_id: String,
    activity_node_id: String,
    activity_type: String,
    activity_name: Option<String>,
    /// Values by name.
    #[schema(value_type = Object)]
    variables: Map,
}

/// A variable that an activity gives to those in it, such as `CurrentValue`.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DynamicVariable {
    id: String,
    name: String,
    /// Always `Object`.
    type_name: String,
    is_array: bool,
    value: Value,
    /// Always null.
    storage_driver_type_name: Option<String>,
}

/// An activity that comes next.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduledActivity {
    activity_node_id: Option<String>,
    owner_context_id: String,
    tag: Value,
    variables: Vec<DynamicVariable>,
    /// Always null.
    existing_activity_execution_context_id: Option<String>,
    /// Always empty.
    #[schema(value_type = Object)]
    input: Map,
    activity_id: Option<String>,
}

/// The status of an instance, and the time of its last change.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionState {
    /// `Running` or `Finished`.
    status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    sub_status: String,
    updated_at: String,
}

/// The value of a variable.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariableSeen {
    id: String,
    name: String,
    value: Value,
    /// What it is compared as, if instances can be found by it: `text`, `number`, `time` or `boolean`.
    searchable: Option<String>,
    /// Whether a filter finds this value: one of another type is not found.
    is_indexed: Option<bool>,
}

/// An instance as a file.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceFile {
    /// The format: 1.
    staunch_instance: u32,
    instance: InstanceRow,
    /// What the executor keeps about it, for servers alone.
    #[schema(value_type = Object)]
    record: Map,
    /// The places where it waits, for servers alone.
    #[schema(value_type = Vec<Object>)]
    bookmarks: Vec<Map>,
    /// The lines of its journal, for servers alone.
    #[schema(value_type = Vec<Object>)]
    journal: Vec<Map>,
}

/// The row of an instance.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceRow {
    id: String,
    definition_id: String,
    version_id: String,
    #[schema(maximum = 4_294_967_295_u64)]
    definition_version: u64,
    /// The number of its bursts.
    version: i64,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    status: String,
    correlation_id: Option<String>,
    name: Option<String>,
    parent: Option<ParentInstance>,
    /// The number of its incidents.
    #[schema(maximum = 4_294_967_295_u64)]
    incidents: u64,
    created_at: String,
    updated_at: String,
    finished_at: Option<String>,
    /// Empty, and not read: see `record`.
    state: Vec<u32>,
}

/// What instances did in the last hour, in parts of the same length, the oldest first.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LastHour {
    since: String,
    /// When it was counted.
    until: String,
    /// The length of a part.
    part_seconds: u64,
    /// The instances that were started in each part.
    started: Vec<u64>,
    /// Those that finished.
    finished: Vec<u64>,
    /// Those that faulted, and are still so.
    faulted: Vec<u64>,
    /// Some part has more than was counted.
    is_cut_short: bool,
}

/// Definitions with instances that have not ended, those with the most first.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnfinishedInstances {
    counted_at: String,
    items: Vec<UnfinishedOfDefinition>,
    /// The number of all definitions with such instances.
    total_count: u64,
    /// The most that were counted in each state.
    counted_max: u64,
    /// A state has as many as are counted: there may be more.
    is_cut_short: bool,
    /// The time from which faulted instances are counted.
    faulted_since: String,
    /// The faulted instances of the definitions that are asked for; a definition without any is not there.
    faulted: Vec<FaultedOfDefinition>,
    /// As many are faulted as are counted: there may be more.
    is_faulted_cut_short: bool,
}

/// The instances of a definition that faulted.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FaultedOfDefinition {
    definition_id: String,
    count: u64,
}

/// The instances of a definition that have not ended.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnfinishedOfDefinition {
    definition_id: String,
    /// Those that were accepted and have not run.
    pending: u64,
    /// Those with work to do.
    executing: u64,
    /// Those that wait.
    suspended: u64,
    /// The sum.
    count: u64,
}

/// The instance that started another one.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParentInstance {
    instance_id: String,
    /// Where it waits for the end of the other one.
    bookmark_id: Option<String>,
}
