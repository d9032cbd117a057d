//! Definitions in full, as files, and in parts.

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

use crate::present::definition::{DefinitionSummary, Link};

/// A version of a definition, as a file. It has further members where its author has written some.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionFile {
    /// Id of this version.
    id: String,
    /// Id across versions.
    definition_id: String,
    name: Option<String>,
    description: Option<String>,
    /// The time of the first save of this version.
    created_at: Option<String>,
    /// The time of the last save that changed this version; absent where an earlier version of the server saved it.
    saved_at: Option<String>,
    /// The time of the first publication of this version.
    published_at: Option<String>,
    version: u32,
    variables: Vec<VariableDeclared>,
    inputs: Vec<ArgumentDeclared>,
    outputs: Vec<ArgumentDeclared>,
    /// Outcomes when it is used as an activity.
    outcomes: Vec<String>,
    /// Data that tools keep with it.
    #[schema(value_type = Object)]
    custom_properties: Map,
    /// No save or import can change it.
    is_readonly: bool,
    is_system: bool,
    /// The newest version.
    is_latest: bool,
    /// The version that starts.
    is_published: bool,
    options: DefinitionOptions,
    /// The root activity. In answers that are no files, each activity has `id`, `nodeId`, `version`,
    /// `name`, `customProperties` and `metadata`.
    #[schema(value_type = Option<Object>)]
    root: Option<Map>,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    extra: Map,
}

/// A workflow variable. It has further members where its author has written some.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariableDeclared {
    id: String,
    name: String,
    /// Type alias, such as `String` or `Int32`.
    type_name: Option<String>,
    is_array: bool,
    /// Its value at the start.
    value: Value,
    storage_driver_type_name: Option<String>,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    extra: Map,
}

/// A declared input or output. It has further members where its author has written some.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArgumentDeclared {
    name: String,
    /// Type alias, such as `String` or `Int32`.
    r#type: Option<String>,
    is_array: bool,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    extra: Map,
}

/// The rules for starting and failing. They have further members where their author has written some.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionOptions {
    /// The rule for instances that run at the same time; all may if it is null.
    activation_strategy_type: Option<String>,
    /// The effect of an incident; `FaultStrategy` if it is null.
    incident_strategy_type: Option<String>,
    usable_as_activity: Option<bool>,
    auto_update_consuming_workflows: Option<bool>,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    extra: Map,
}

/// A version of a definition in full, with its links.
#[derive(ToSchema)]
pub(crate) struct FullDefinition {
    #[serde(flatten)]
    definition: DefinitionFile,
    /// What can be done with it.
    links: Vec<Link>,
}

/// A definition that was retracted.
#[derive(ToSchema)]
pub(crate) struct RetractedDefinition {
    #[serde(flatten)]
    definition: FullDefinition,
    /// Every live node knows it.
    everywhere: Option<bool>,
    /// Nodes that have not confirmed it yet.
    missing: Option<Vec<String>>,
    /// Why it is not known which nodes have it: no cache-notifier has answered. Absent otherwise.
    unconfirmed: Option<String>,
}

/// A definition that was imported, with the members that tell what the import did.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportedDefinition {
    #[serde(flatten)]
    definition: FullDefinition,
    /// It was published before, with this content.
    already_published: bool,
    /// The workflows that use this one as an activity and that were published anew with it.
    consuming_workflow_count: u64,
    /// Always empty: with a problem, the answer is 400.
    #[schema(value_type = Vec<Object>)]
    validation_errors: Vec<Map>,
    /// What its author should know, though it runs: each with `message`, `activityId`, `property`.
    #[schema(value_type = Vec<Object>)]
    validation_warnings: Vec<Map>,
    /// Every live node has the new version. Absent for a draft.
    everywhere: Option<bool>,
    /// Nodes that have not confirmed it yet.
    missing: Option<Vec<String>>,
    /// Why it is not known which nodes have it: no cache-notifier has answered. Absent otherwise.
    unconfirmed: Option<String>,
    /// Revision of the published pointer; 0 if the cluster could not be reached yet.
    revision: Option<u64>,
}

/// Several versions in full.
#[derive(ToSchema)]
pub(crate) struct FullDefinitions {
    items: Vec<FullDefinition>,
}

/// Whether a name is free.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NameChecked {
    is_unique: bool,
}

/// The versions of a definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Versions {
    items: Vec<DefinitionSummary>,
    /// The number of items.
    count: u64,
    /// The number of all versions.
    total_count: u64,
    /// There are more versions after these.
    is_cut: bool,
}

/// The workflows that use a definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Consumers {
    /// They have it as an activity, directly or through others.
    consuming_workflow_definition_ids: Vec<String>,
    /// An activity of theirs runs or starts it, by its id.
    calling_workflow_definition_ids: Vec<String>,
}

/// The names of the workflows that have a new version.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferencesUpdated {
    affected_workflows: Vec<String>,
}

/// The definitions that were imported.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilesImported {
    /// The number of definitions.
    count: u64,
    files: Vec<FileImported>,
    /// The names of the files in zips that are neither JSON nor YAML.
    left_out: Vec<String>,
}

/// The draft that a file has become.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileImported {
    /// The name of the file; in a zip, with its folders.
    file: String,
    definition_id: String,
    name: Option<String>,
    version: u32,
    /// The definition had no version before.
    is_new: bool,
}

/// An activity in the graph of a workflow.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphNode {
    /// Ids from the workflow down to it.
    node_id: String,
    /// The port of the activity around it; empty for the workflow.
    port: String,
    /// The activity with all that it holds.
    #[schema(value_type = Option<Object>)]
    activity: Option<Map>,
}

/// The way from a designer's canvas to an activity.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GraphPath {
    child_node: GraphNode,
    /// What is drawn.
    container: GraphNode,
    /// What is opened on the way, from the outside in.
    path_segments: Vec<PathSegment>,
}

/// An activity that is opened on the way to another one.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PathSegment {
    activity_node_id: String,
    activity_id: String,
    activity_type: String,
    port_name: String,
    activity_name: Option<String>,
}

/// The problems of a definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    /// It can be published.
    is_valid: bool,
    /// Errors, then warnings.
    problems: Vec<CheckedProblem>,
    /// There are more problems than these.
    is_cut_short: bool,
}

/// A problem of a definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedProblem {
    /// `error` or `warning`.
    severity: String,
    message: String,
    activity_id: Option<String>,
    /// A property of the activity, or a place in the definition.
    property: Option<String>,
    /// The place in the body, as a JSON pointer; null if it is not known.
    pointer: Option<String>,
}

/// A definition in Elsa's form, with the members that the short form of it has.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpandedDefinition {
    /// Id across versions; absent if the text has none.
    definition_id: Option<String>,
    name: Option<String>,
    /// The root activity; absent if the text has none.
    #[schema(value_type = Option<Object>)]
    root: Option<Map>,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    extra: Map,
}

/// What the activities of a definition did lately.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityFigures {
    definition_id: String,
    since: String,
    until: String,
    items: Vec<FiguresOfActivity>,
    /// The number of instances that were read for it.
    instances_read: u64,
    /// The number of instances that changed in this time.
    instances_changed: u64,
    /// There are more instances, or more lines in a journal, than were read.
    is_cut_short: bool,
}

/// What one activity did.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FiguresOfActivity {
    activity_id: String,
    /// Ids from the workflow down to the activity.
    activity_node_id: String,
    activity_type: String,
    /// Executions that began in this time.
    started: u64,
    /// Executions that completed in this time.
    completed: u64,
    /// Executions that failed in this time.
    faulted: u64,
    /// Executions that run or wait now.
    running: u64,
    /// Half of those that completed took at most this long, in milliseconds.
    p50_ms: Option<i64>,
    /// 95 percent of them took at most this long, in milliseconds.
    p95_ms: Option<i64>,
    /// The starts of each sixtieth of the time, the oldest first.
    started_parts: Vec<u64>,
}
