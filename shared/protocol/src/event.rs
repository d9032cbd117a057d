//! What the system tells those who listen. JSON on the wire.

use model::{
    BookmarkId, CommandId, DefinitionId, Entry, InstanceId, Map, SubStatus, Timestamp, VersionId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `staunch.event.<definition>.<instance>.{started|suspended|finished|faulted|cancelled}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleEvent {
    /// The same on every delivery.
    pub id: String,
    /// When it was committed.
    pub time: Timestamp,
    /// What runs.
    pub definition_id: DefinitionId,
    /// That version.
    pub definition_version: u32,
    /// Which instance.
    pub workflow_instance_id: InstanceId,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// Where it is now.
    pub sub_status: SubStatus,
    /// The instance's version after the commit: grows with every burst.
    pub version: i64,
    /// Workflow output, when it is over.
    pub output: Option<Map>,
    /// The messages of its incidents, when there are any.
    pub incidents: Vec<String>,
}

/// `staunch.journal.<definition>.<instance>`: what one burst did, best effort, for those who listen
/// at that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BurstJournal {
    /// Which instance.
    pub workflow_instance_id: InstanceId,
    /// The instance's version after the commit; a gap shows a lost message.
    pub version: i64,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// `staunch.task.<type>`: work for a worker, who answers on `staunch.cmd.task.<taskId>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// What the completion names.
    pub task_id: String,
    /// Its type.
    pub task_name: String,
    /// Who asks.
    pub workflow_instance_id: InstanceId,
    /// What comes with it.
    pub payload: Value,
}

/// What cache-notifier is asked to announce, and what it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Noticed {
    /// The definition that changed.
    pub definition_id: DefinitionId,
    /// The published version; none when it was retracted or deleted.
    pub version_id: Option<VersionId>,
    /// Its number.
    pub version: u32,
    /// In the answer: the pointer's revision.
    #[serde(default)]
    pub revision: u64,
    /// In the answer: every live node has it.
    #[serde(default)]
    pub everywhere: bool,
    /// In the answer: the nodes that have not said so.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// What a node's pointer cache shows: on `staunch.cache.applied.<node>`; as a question, about
/// nothing but the definition, on `staunch.cache.ask`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CachePosition {
    /// Which definition.
    pub definition_id: DefinitionId,
    /// The pointer's revision that the node has applied; 0 when it knows none. Revisions start
    /// again in a bucket that was made anew.
    #[serde(default)]
    pub revision: u64,
    /// The version that it points to; none when it was retracted.
    #[serde(default)]
    pub version_id: Option<VersionId>,
}

/// `staunch.timer.armed`: a timer is due soon. A hint that saves its owner a look into the
/// database; without it the timer fires a few seconds late at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimerArmed {
    /// Whose.
    pub instance_id: InstanceId,
    /// Which.
    pub bookmark_id: BookmarkId,
    /// When.
    pub due_at: Timestamp,
    /// Its shard.
    pub shard: i32,
}

/// Why a command is among the dead: the body of `staunch dead show`, beside the message itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dead {
    /// Its id.
    pub command_id: CommandId,
    /// The subject it came on.
    pub subject: String,
    /// Why.
    pub reason: String,
    /// How often it was tried.
    pub attempts: i64,
}
