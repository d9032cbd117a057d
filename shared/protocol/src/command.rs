//! A command: a message that asks for one change to one instance.
//!
//! Its form on the wire is in `wire.rs`. Every member has a default, and members that this version
//! does not know are ignored in MessagePack: nodes of two versions work side by side.

mod wire;

pub use wire::instance_of;

use model::{
    ActivityId, Alteration, BookmarkId, CommandId, DefinitionId, InstanceId, Map, MessageSource,
    Parent, TaskReport, TaskStatus, Timestamp, VersionId, whole,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::subject;

/// A request for one change.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The idempotency key: the same on every delivery and every retry.
    pub id: CommandId,
    /// The change.
    pub body: Body,
    /// The subject that the outcome is sent to; none when the sender wants no outcome.
    pub reply_to: Option<String>,
    /// When the outcome is sent.
    pub reply_when: ReplyWhen,
    /// The place among the sender's commands, when the sender asks for an order.
    pub sequence: Option<Sequence>,
    /// W3C trace context of the sender.
    pub traceparent: Option<String>,
    /// The descent of the instance that sends it.
    pub lineage: Lineage,
}

/// The descent of an instance: it limits workflows that start each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lineage {
    /// The number of instances above it, each of which waits for the next.
    pub depth: u32,
    /// The number of instances before it, each of which started the next without waiting for it.
    pub chain: u32,
}

/// The change that a command asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `staunch.cmd.start.<definitionId>`
    Start(Start),
    /// `staunch.cmd.resume.<instanceId>`
    Resume(Resume),
    /// `staunch.cmd.cancel.<instanceId>`
    Cancel(Cancel),
    /// `staunch.cmd.alter.<instanceId>`
    Alter(Alter),
    /// `staunch.cmd.event.<eventName>`
    Event(EventRaised),
    /// `staunch.cmd.task.<type>.<version>.<taskId>`, or `staunch.cmd.task.<taskId>`
    Task(TaskCompleted),
    /// `staunch.cmd.perform.<instanceId>`: carry out committed calls, go on, or hand a lost task out
    /// again. Only Staunch sends it.
    Perform(Perform),
}

/// When the outcome of a command is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyWhen {
    /// When the first burst is committed.
    #[default]
    Committed,
    /// When the instance waits for something outside, is over, or has answered the HTTP client.
    Settled,
}

/// The place of a command among the commands of one sender to one instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The name of the sender.
    pub sender: String,
    /// 1, 2, 3 …
    pub number: u64,
}

/// Starts an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Start {
    /// From the subject.
    #[serde(skip)]
    pub definition_id: DefinitionId,
    /// The id of the new instance; derived from the command's id when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
    /// The version to run; the published one when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_id: Option<VersionId>,
    /// Workflow input by name.
    pub input: Map,
    /// Properties of the instance, such as `Flowchart:ExecutionMode`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub properties: Map,
    /// Groups instances that belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The instance's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The trigger activity that received the stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_activity_id: Option<ActivityId>,
    /// The instance that this one repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Box<Restart>>,
    /// The instance that starts this one as its child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The revision of the definition's pointer that the sender has seen. The node that starts the
    /// instance asks the database for the published version then, because its own pointer may be older.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole::optional")]
    pub pointer_revision: Option<u64>,
    /// An HTTP client waits for the response of `WriteHttpResponse`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub responds: bool,
}

/// What an instance takes over from the one that it repeats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Restart {
    /// The activity to begin at, of a flowchart; at the start when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_id: Option<ActivityId>,
    /// The values of workflow variables, by id or name.
    pub variables: Map,
}

/// Resumes an instance at a bookmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Resume {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// The bookmark; may be left out when the instance has exactly one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_id: Option<BookmarkId>,
    /// The values that arrive, by name.
    pub input: Map,
    /// The due time of a timer: the bookmark is resumed only if it still has this due time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The event that causes the resume. An instance takes each event once, also when it waits for
    /// the same event again and the first one is delivered a second time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<CommandId>,
    /// An HTTP client waits for the response of `WriteHttpResponse`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub responds: bool,
}

/// Cancels an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Cancel {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// The reason, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Changes an instance from outside its workflow: all of it, or nothing when one alteration does
/// not fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Alter {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// The changes, in order.
    pub alterations: Vec<Alteration>,
}

/// Raises an event: resumes the bookmarks that wait for it, and starts its triggers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EventRaised {
    /// From the subject.
    #[serde(skip)]
    pub event_name: String,
    /// Resumes only instances with this correlation id; all of them when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Resumes only this instance, and starts nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
    /// The value that comes with the event.
    #[serde(alias = "input")]
    pub payload: Value,
    /// It is a message on a subject that workflows listen to, not an event: where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listened: Option<MessageSource>,
}

/// Ends an attempt of a task that `RunTask` handed out. Without a status, the task is completed. What
/// cannot be read as this fails the attempt with `ResultUnfit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskCompleted {
    /// From the subject.
    #[serde(skip)]
    pub task_id: String,
    /// The type and its version, from the subject; none when it names the task alone.
    #[serde(skip)]
    pub kind: Option<(String, u32)>,
    /// The result of the task.
    #[serde(alias = "output")]
    pub result: Value,
    /// The outcome by which the activity ends, if its type has others than `Done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How the attempt ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// The attempt; the current one when there is none. The header `Staunch-Attempt` counts as well.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole::optional_ordinal")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub attempt: Option<u32>,
    /// Problem details (RFC 9457) of a failure: the texts `type`, `title` and `detail`, and the number
    /// `status`. With a value of another type the result cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Map>,
    /// Whether another attempt may succeed; yes when it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// The least number of seconds before the next attempt, at most 30 days: more counts as 30 days.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole::optional")]
    pub retry_after: Option<u64>,
}

impl TaskCompleted {
    /// The input of the instance that waits for the task.
    #[must_use]
    pub fn input(&self) -> Map {
        let (task_type, task_version) = self.kind.clone().unzip();
        let report = TaskReport {
            status: self.status.unwrap_or_default(),
            attempt: self.attempt,
            task_type,
            task_version,
            outcome: self.outcome.clone(),
            error: self.error.clone().unwrap_or_default(),
            retryable: self.retryable,
            retry_after: self.retry_after,
        };
        report.into_input(self.result.clone())
    }
}

/// Carries out the calls that an instance has committed, or hands out a task again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Perform {
    /// From the subject.
    #[serde(skip)]
    pub instance_id: InstanceId,
    /// A task whose message the broker has lost. A version that does not know this member carries out
    /// the calls, which changes nothing where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostTask>,
}

/// A task whose message the broker has lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LostTask {
    /// The bookmark that waits for its report.
    pub bookmark_id: BookmarkId,
    /// Attempts that were handed out before this time are lost.
    pub before: Timestamp,
}

impl Start {
    /// The id of the new instance: the given one, or one that derives from the command's id.
    #[must_use]
    pub fn instance_id(&self, command_id: &CommandId) -> InstanceId {
        self.instance_id.clone().unwrap_or_else(|| {
            let parts = ["start", self.definition_id.as_str(), command_id.as_str()];
            InstanceId::new(model::derived(&parts))
        })
    }
}

impl Command {
    /// A command whose sender wants no outcome.
    #[must_use]
    pub fn new(id: CommandId, body: Body) -> Self {
        Self {
            id,
            body,
            reply_to: None,
            reply_when: ReplyWhen::Committed,
            sequence: None,
            traceparent: None,
            lineage: Lineage::default(),
        }
    }

    /// The one instance that it changes; none for events and tasks, whose instances are looked up.
    #[must_use]
    pub fn instance_id(&self) -> Option<InstanceId> {
        match &self.body {
            Body::Start(start) => Some(start.instance_id(&self.id)),
            Body::Resume(resume) => Some(resume.instance_id.clone()),
            Body::Cancel(cancel) => Some(cancel.instance_id.clone()),
            Body::Alter(alter) => Some(alter.instance_id.clone()),
            Body::Perform(perform) => Some(perform.instance_id.clone()),
            Body::Event(event) => event.instance_id.clone(),
            Body::Task(_) => None,
        }
    }

    /// The subject that it is published on.
    #[must_use]
    pub fn subject(&self) -> String {
        match &self.body {
            Body::Start(start) => subject::start(&start.definition_id),
            Body::Resume(resume) => subject::resume(&resume.instance_id),
            Body::Cancel(cancel) => subject::cancel(&cancel.instance_id),
            Body::Alter(alter) => subject::alter(&alter.instance_id),
            Body::Event(event) => subject::event(&event.event_name),
            Body::Task(TaskCompleted { task_id, kind: Some((task_type, version)), .. }) => {
                subject::task_result(task_type, *version, task_id)
            }
            Body::Task(task) => subject::task_completed(&task.task_id),
            Body::Perform(perform) => subject::perform(&perform.instance_id),
        }
    }
}

#[cfg(test)]
mod tests;
