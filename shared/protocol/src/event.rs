//! The messages that Staunch publishes about itself, as JSON.

use model::{
    ActivityId, BookmarkId, CommandId, DefinitionId, Entry, InstanceId, Map, SubStatus, Timestamp,
    VersionId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `staunch.event.<definition>.<instance>.{started|suspended|finished|faulted|cancelled}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LifecycleEvent {
    /// The same on every delivery.
    pub id: String,
    /// The time of the commit.
    pub time: Timestamp,
    /// The definition.
    pub definition_id: DefinitionId,
    /// The number of the version that runs.
    pub definition_version: u32,
    /// The instance.
    pub workflow_instance_id: InstanceId,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// The status after the commit.
    pub sub_status: SubStatus,
    /// The instance's version after the commit. It grows with every burst.
    pub version: i64,
    /// The workflow's output, when the instance is over.
    pub output: Option<Map>,
    /// The output is left out because it is too large for a message: read the instance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The messages of its incidents.
    pub incidents: Vec<String>,
}

/// `staunch.event.audit.<change>`: an entry of the audit log, about a change that somebody made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// The time of the change.
    pub at: Timestamp,
    /// The caller.
    pub who: String,
    /// `api-key`, `token` or `password`; null for a caller without one.
    pub credential: Option<String>,
    /// The change, such as `definition.publish`.
    pub what: String,
    /// What it was done to.
    pub target: String,
    /// The address of the caller; null for what came from no network.
    pub address: Option<String>,
    /// `done`, `refused`, or `accepted` when the end was not known yet.
    pub outcome: String,
    /// What there is to know about it, without secrets.
    pub details: Value,
}

/// `staunch.journal.<definition>.<instance>`: the journal of one burst. It reaches those who
/// subscribe at that moment; no stream stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BurstJournal {
    /// The instance.
    pub workflow_instance_id: InstanceId,
    /// The instance's version after the commit. A gap shows that a message was lost.
    pub version: i64,
    /// The lines of the journal, in order.
    pub entries: Vec<Entry>,
}

/// `staunch.task.<type>.<version>`: an attempt of a task, for a worker. It answers on
/// `staunch.cmd.task.<type>.<version>.<taskId>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The id that the worker names in its result: the same in every attempt.
    pub task_id: String,
    /// The type of the task.
    pub task_type: String,
    /// The version of the type.
    pub task_version: u32,
    /// The value that comes with the task.
    pub input: Value,
    /// The instance that waits for the result.
    pub workflow_instance_id: InstanceId,
    /// Its definition.
    pub workflow_definition_id: DefinitionId,
    /// The name of the definition, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_name: Option<String>,
    /// The correlation id of the instance, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The activity that waits.
    pub activity_id: ActivityId,
    /// The number of the attempt: 1, 2, 3 …
    pub attempt: u32,
    /// The time after which a result is not used any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl TaskRequest {
    /// The id of the message of an attempt: its `Nats-Msg-Id`.
    #[must_use]
    pub fn message_id(task_id: &str, attempt: u32) -> String {
        format!("{task_id}.{attempt}")
    }
}

/// `staunch.task-cancel.<type>.<version>.<taskId>`: nobody wants the result of a task any more. It
/// reaches workers that listen at that moment; no stream stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskCancelled {
    /// The id of the task: the same in every attempt.
    pub task_id: String,
    /// The type of the task.
    pub task_type: String,
    /// The version of the type: 1, 2, 3 …
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub task_version: u32,
    /// The instance that waited for the result.
    pub workflow_instance_id: InstanceId,
}

/// A request to cache-notifier to announce a definition, and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Noticed {
    /// The definition that changed.
    pub definition_id: DefinitionId,
    /// The published version; none when the definition was retracted or deleted.
    pub version_id: Option<VersionId>,
    /// The number of that version.
    pub version: u32,
    /// In the answer: the revision of the pointer.
    #[serde(default)]
    pub revision: u64,
    /// In the answer: every live node has the pointer.
    #[serde(default)]
    pub everywhere: bool,
    /// In the answer: the live nodes that have not confirmed the pointer.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// The pointer of a definition that a node has, on `staunch.cache.applied.<node>`. On
/// `staunch.cache.ask` it is a question to all nodes: only the definition counts there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CachePosition {
    /// The definition.
    pub definition_id: DefinitionId,
    /// The revision of the pointer that the node has applied; 0 when it has none. Revisions start
    /// again at 1 in a bucket that was created anew.
    #[serde(default)]
    pub revision: u64,
    /// The version that the pointer names; none when the definition was retracted.
    #[serde(default)]
    pub version_id: Option<VersionId>,
}

/// `staunch.timer.armed`: a timer is due soon. The node that owns its shard fires it without a look
/// into the database. When this message is lost, the timer fires a few seconds late at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TimerArmed {
    /// The instance that waits.
    pub instance_id: InstanceId,
    /// The bookmark of the timer.
    pub bookmark_id: BookmarkId,
    /// The time when the timer is due.
    pub due_at: Timestamp,
    /// The shard of the timer.
    pub shard: i32,
}

/// The reason why a command is among the dead letters. `staunch dead show` shows it beside the
/// message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dead {
    /// The id of the command.
    pub command_id: CommandId,
    /// The subject that the command was published on.
    pub subject: String,
    /// The reason.
    pub reason: String,
    /// The number of deliveries.
    pub attempts: i64,
}
