//! The server, the cluster and what operators look after.

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// The server, and where to go on.
#[derive(ToSchema)]
pub(crate) struct Front {
    name: String,
    about: String,
    version: String,
    links: Vec<FrontLink>,
}

/// A path of the server.
#[derive(ToSchema)]
pub(crate) struct FrontLink {
    path: String,
    about: String,
}

/// The process runs.
#[derive(ToSchema)]
pub(crate) struct Alive {
    /// Always `Healthy`.
    status: String,
}

/// The server can do its work.
#[derive(ToSchema)]
pub(crate) struct Ready {
    /// `Healthy`, or `Degraded` if something is missing without which it works.
    status: String,
    checks: Vec<HealthCheck>,
}

/// The result of one check.
#[derive(ToSchema)]
pub(crate) struct HealthCheck {
    /// What is checked, such as `nats`.
    name: String,
    /// `Healthy`, `Degraded` or `Unhealthy`.
    status: String,
    /// Why it failed.
    reason: Option<String>,
}

/// The messages on NATS, as AsyncAPI 3.
#[derive(ToSchema)]
pub(crate) struct Messages {
    asyncapi: String,
    #[schema(value_type = Object)]
    info: Map,
    #[schema(value_type = Object)]
    channels: Map,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    others: Map,
}

/// This description, as OpenAPI 3.1.
#[derive(ToSchema)]
pub(crate) struct Description {
    openapi: String,
    #[schema(value_type = Object)]
    info: Map,
    #[schema(value_type = Object)]
    paths: Map,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    others: Map,
}

/// The live nodes of the cluster.
#[derive(ToSchema)]
pub(crate) struct Nodes {
    /// The node that answers.
    node: String,
    items: Vec<NodeSeen>,
}

/// A live node.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeSeen {
    node: String,
    /// `ingress`, `executor`, `timer` or `cache-notifier`.
    roles: Vec<String>,
    started_at: String,
    /// The URL of its API, if it has one.
    address: Option<String>,
    /// The version of Staunch that it runs. A node of an early version does not say it.
    version: Option<String>,
}

/// The executors, and the pauses.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeStatus {
    state: RuntimeState,
    /// The executors, as sources of work.
    sources: Vec<WorkSource>,
    /// The number of commands that executors work on.
    active_execution_cycle_count: u64,
    pauses: Vec<PauseShown>,
    nodes: Vec<ExecutorShown>,
}

/// Whether work is taken.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeState {
    /// `None`, `AdministrativePause`, or `AdministrativePause, Drain`.
    reason: String,
    is_accepting_new_work: bool,
    paused_at: Option<String>,
    drain_started_at: Option<String>,
    pause_reason_text: Option<String>,
    pause_requested_by: Option<String>,
    /// A number that grows with each change of a pause, of the cluster or of any node.
    generation_id: String,
}

/// An executor, as a source of work.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkSource {
    /// The name of the node.
    name: String,
    /// `Running`, `Paused` …
    state: String,
    last_error: Option<String>,
    /// When its last pause began or ended; its start if it was not paused since.
    last_transition_at: String,
}

/// A pause of the cluster, or of a node.
#[derive(ToSchema)]
pub(crate) struct PauseShown {
    /// The node; null for the cluster.
    node: Option<String>,
    since: String,
    /// Who asked for it.
    by: String,
    reason: Option<String>,
}

/// An executor. One that does not answer has its name only.
#[derive(ToSchema)]
pub(crate) struct ExecutorShown {
    node: String,
    state: Option<String>,
    /// The commands that it works on.
    commands: Option<u64>,
    /// The instances that it holds.
    instances: Option<u64>,
    /// The version of Staunch that it runs. A node of an early version does not say it.
    version: Option<String>,
}

/// The end of a drain.
#[derive(ToSchema)]
pub(crate) struct Drained {
    outcome: DrainOutcome,
}

/// What a drain came to.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrainOutcome {
    /// `CompletedWithinDeadline` or `DeadlineExceeded`.
    overall_result: String,
    started_at: String,
    completed_at: String,
    /// Such as `00:00:00.0120000`.
    pause_phase_duration: String,
    /// Such as `00:00:00.0120000`.
    wait_phase_duration: String,
    sources: Vec<WorkSource>,
    /// The number of commands that executors still work on.
    active_execution_cycle_count: u64,
    /// Always 0: nothing is cancelled.
    execution_cycles_force_cancelled_count: u64,
    /// Always empty: nothing is cancelled.
    force_cancelled_instance_ids: Vec<String>,
}

/// A command that could not be applied, without its body, which may contain secrets.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetter {
    id: String,
    /// Always null.
    tenant_id: Option<String>,
    /// The id of the command.
    original_queue_item_id: Option<String>,
    workflow_instance_id: Option<String>,
    correlation_id: Option<String>,
    bookmark_id: Option<String>,
    stimulus_hash: Option<String>,
    /// Always null.
    activity_instance_id: Option<String>,
    /// Always null.
    activity_type_name: Option<String>,
    original_created_at: String,
    dead_lettered_at: String,
    reason: Option<String>,
    delivery_attempts: u64,
    last_attempted_at: Option<String>,
    /// Always null.
    last_error_type: Option<String>,
    last_error_message: Option<String>,
    /// It is a command, which can be published again.
    can_replay: bool,
    /// Always null.
    replayed_at: Option<String>,
    /// Always null.
    replayed_queue_item_id: Option<String>,
    /// The subject on which it was published.
    subject: Option<String>,
}

/// The body of a dead letter.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterBody {
    id: String,
    /// The subject on which it was published.
    subject: String,
    /// `application/json` or `application/msgpack`.
    content_type: String,
    /// The length of the body.
    bytes: u64,
    /// It is a command, which can be published again.
    can_replay: bool,
    /// `body` is what it contains.
    is_readable: bool,
    /// What it contains, in JSON; null if it is not readable.
    body: Value,
    /// Its beginning as text, if it is not readable.
    text: Option<String>,
}

/// A dead letter whose command was published again.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replayed {
    /// Always true.
    replayed: bool,
    /// The id of the command.
    queue_item_id: Option<String>,
    /// Always null.
    reason: Option<String>,
}

/// An entry of the audit log.
#[derive(ToSchema)]
pub(crate) struct AuditEntry {
    at: String,
    /// The caller.
    who: String,
    /// `api-key` or `token`; null for a caller without one.
    credential: Option<String>,
    /// The action, such as `definition.publish`.
    what: String,
    /// What it was done to.
    target: String,
    /// The address of the caller.
    address: Option<String>,
    /// `done`; `refused`; `accepted` when the end was not known yet.
    outcome: String,
    #[schema(value_type = Option<Object>)]
    details: Option<Map>,
}

/// The beginning of a connection to the hub.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Negotiated {
    negotiate_version: u32,
    connection_id: String,
    /// Only from version 1 on.
    connection_token: Option<String>,
    available_transports: Vec<Transport>,
}

/// A way to connect to the hub.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transport {
    /// Always `WebSockets`.
    transport: String,
    /// Always `Text`.
    transfer_formats: Vec<String>,
}

/// A file whose bytes are in a payload: a value for inputs and variables of workflows.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LargeFile {
    file_name: String,
    content_type: String,
    /// Bytes.
    size: u64,
    /// The name of the payload: `sha256-` and the digest of its bytes.
    payload: String,
}
