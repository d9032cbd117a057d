//! Activity types and the other things that workflows are made of, as designers read them.

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// An activity type.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityDescriptor {
    /// What definitions have as `type`.
    type_name: String,
    namespace: String,
    name: String,
    version: u32,
    category: String,
    display_name: String,
    description: Option<String>,
    /// `Action`, `Trigger` or `Task`.
    kind: String,
    run_asynchronously: bool,
    is_container: bool,
    /// A designer offers it.
    is_browsable: bool,
    is_start: bool,
    is_terminal: bool,
    inputs: Vec<InputDescriptor>,
    outputs: Vec<OutputDescriptor>,
    ports: Vec<PortDescriptor>,
    #[schema(value_type = Object)]
    custom_properties: Map,
    #[schema(value_type = Object)]
    construction_properties: Map,
}

/// An input of an activity type.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputDescriptor {
    name: String,
    /// Type alias, such as `String` or `Int32`.
    type_name: String,
    /// Only for a workflow as an activity.
    is_array: Option<bool>,
    display_name: String,
    description: Option<String>,
    /// Its place in the designer; not always a whole number.
    order: f64,
    is_browsable: bool,
    is_serializable: bool,
    is_synthetic: bool,
    /// It may be an expression.
    is_wrapped: bool,
    /// The editor, such as `singleline` or `dropdown`.
    ui_hint: String,
    /// The settings of the editor, by its name.
    #[schema(value_type = Object)]
    ui_specifications: Map,
    /// The tab of the designer; none for the first.
    category: Option<String>,
    /// Its value if none is given.
    default_value: Value,
    /// The expression language that the designer offers first.
    default_syntax: String,
    is_read_only: bool,
    /// Its value is a credential.
    is_sensitive: bool,
    auto_evaluate: bool,
    storage_driver_type: Option<String>,
    /// The words that it may be; not for a workflow as an activity.
    options: Option<Vec<String>>,
}

/// An output of an activity type.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputDescriptor {
    name: String,
    /// Type alias, such as `String` or `Int32`.
    type_name: String,
    display_name: String,
    description: Option<String>,
    /// Its place in the designer.
    order: u64,
    is_browsable: bool,
    is_serializable: Option<bool>,
    is_synthetic: bool,
}

/// A port of an activity type.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortDescriptor {
    name: String,
    display_name: String,
    /// `Flow` (an outcome to connect) or `Embedded` (a property that holds an activity).
    r#type: String,
    is_browsable: bool,
}

/// The choices of an input that the server computes.
#[derive(ToSchema)]
pub(crate) struct InputOptions {
    /// The settings of the editor, by its name.
    #[schema(value_type = Object)]
    items: Map,
}

/// A list that has no items.
#[derive(ToSchema)]
pub(crate) struct NoItems {
    #[schema(value_type = Vec<Object>, max_items = 0)]
    items: Vec<Map>,
    #[schema(maximum = 0)]
    count: u64,
}

/// A type that variables may have.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariableType {
    type_name: String,
    display_name: String,
    category: String,
    /// Always null.
    description: Option<String>,
}

/// A store of variables.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StorageDriver {
    type_name: String,
    display_name: String,
    /// A designer lists the highest first.
    priority: i32,
    deprecated: bool,
}

/// One way of doing something, for a definition to choose.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Strategy {
    /// What definitions name.
    type_name: String,
    display_name: String,
    description: String,
}

/// An expression language.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpressionDescriptor {
    /// What expressions have as `type`.
    r#type: String,
    display_name: String,
    is_serializable: bool,
    /// A designer offers it.
    is_browsable: bool,
    /// `MonacoLanguage` where its editor colours a language.
    #[schema(value_type = Object)]
    properties: Map,
}

/// A feature of this server.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feature {
    name: String,
    namespace: String,
    full_name: String,
    display_name: String,
    /// Always empty.
    description: String,
}

/// The version of this server.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackageVersion {
    package_version: String,
}

/// A way of making failed calls again.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RetryStrategy {
    /// Always `HttpResilienceStrategy`.
    #[serde(rename = "$type")]
    kind: String,
    /// The name that activities use.
    id: String,
    display_name: String,
    /// Without the first attempt.
    max_retry_attempts: u64,
    use_jitter: bool,
    /// The first pause, such as `00:00:02`.
    delay: String,
    /// `Constant`, `Linear` or `Exponential`.
    backoff_type: String,
}

/// An activity type that workers perform, as they register it.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ActivityTypeDocument {
    /// Such as `Acme.ChargeCard`.
    r#type: String,
    /// From 1.
    #[schema(minimum = 1)]
    version: u32,
    display_name: Option<String>,
    description: Option<String>,
    category: Option<String>,
    /// The name or the address of its picture.
    icon: Option<String>,
    /// `task` (by default) or `request`.
    mode: Option<Mode>,
    /// The JSON Schema of the input: the properties of an object are the inputs of the activity.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    /// The JSON Schema of the result: the properties of an object are outputs of the activity, beside
    /// `result`.
    #[schema(value_type = Option<Object>)]
    output: Option<Map>,
    /// The outcomes that a result may name; without them there is `Done` alone.
    outcomes: Option<Vec<String>>,
    /// The retries, as in `customProperties.retry`, such as `{"attempts": 3, "delay": "10s"}`.
    #[schema(value_type = Option<Object>)]
    retry: Option<Value>,
    /// The longest wait for the result, such as `1h`.
    timeout: Option<String>,
}

/// How an activity reaches its worker.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Mode {
    Task,
    Request,
}

/// A registered activity type, and where its workers find their work.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityType {
    r#type: String,
    version: u32,
    display_name: Option<String>,
    description: Option<String>,
    category: Option<String>,
    icon: Option<String>,
    mode: Mode,
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
    #[schema(value_type = Option<Object>)]
    output: Option<Map>,
    outcomes: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    retry: Option<Value>,
    timeout: Option<String>,
    /// Its key in the bucket `staunch_activities`.
    key: String,
    /// The subject of its tasks; of mode `task`.
    task_subject: Option<String>,
    /// The subject of the results, with `{taskId}` for the id of the task.
    result_subject: Option<String>,
    /// The stream of the tasks.
    stream: Option<String>,
    /// The consumer from which its workers pull.
    consumer: Option<String>,
    /// The subject on which its responders listen; of mode `request`.
    request_subject: Option<String>,
}

/// A document that cannot be used.
#[derive(ToSchema)]
pub(crate) struct FaultyActivityType {
    /// Its key in the bucket.
    key: String,
    problems: Vec<String>,
}

/// The registered activity types.
#[derive(ToSchema)]
pub(crate) struct ActivityTypes {
    count: u64,
    items: Vec<ActivityType>,
    faulty: Vec<FaultyActivityType>,
}

/// A worker that is a service of NATS.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskWorker {
    /// The name of the service, such as `staunch-worker`.
    name: String,
    /// What tells it from others of the same name.
    id: String,
    /// The version of the service.
    version: String,
    /// The machine on which it runs, if it says so.
    host: Option<String>,
    /// The tasks that it takes.
    tasks: Vec<TaskWorkerTasks>,
    /// The activities whose requests it answers.
    requests: Vec<TaskWorkerRequests>,
}

/// The tasks of one type and version that a worker takes.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskWorkerTasks {
    task_type: String,
    version: u32,
    /// The number that it works on at the same time, if it says so.
    concurrency: Option<u32>,
}

/// The activities of one type and version that a worker answers.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskWorkerRequests {
    activity_type: String,
    version: u32,
}

/// The tasks of one type and version, and their workers.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskPool {
    task_type: String,
    version: u32,
    /// The consumer from which the workers pull.
    consumer: String,
    /// Tasks in the stream that no worker has taken yet. Those beyond the share of the type in the stream wait in the
    /// database, and are not among them.
    waiting: u64,
    /// Tasks that workers have.
    in_progress: u64,
    /// Tasks in progress that were delivered more than once.
    redelivered: u64,
    /// Workers that ask for a task right now; one that is at work does not.
    asking: u64,
    /// The time since which the oldest task is there.
    oldest: Option<String>,
    /// The time since which the oldest task is there that no worker has taken yet; null where none is. A
    /// task that comes back from a worker counts as taken.
    oldest_waiting: Option<String>,
}
