//! The state of an instance between turns. It holds everything that later turns need to know, so an
//! instance behaves the same whether or not it was suspended in between.
//!
//! Serialized with named fields; activities are referred to by their stable keys, never by index.

use std::collections::{BTreeMap, VecDeque};

use model::{
    Bookmark, BookmarkId, Incident, InstanceId, Map, Parent, SubStatus, Timestamp, VersionId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Call;

/// The state of one instance. The default is an instance that was accepted and has not run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The status; `Pending` before the first turn.
    pub status: SubStatus,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// Set by the start or by `SetName`.
    pub name: Option<String>,
    /// The instance that started it as a child.
    pub parent: Option<Parent>,
    /// Workflow input by name.
    pub input: Map,
    /// The trace of its start. What a timer or a sweep brings about belongs to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Properties that its start set.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub properties: Map,
    /// Workflow output by name.
    pub output: Map,
    /// The newest incidents, at most `limits::INCIDENTS_MAX`.
    pub incidents: Vec<Incident>,
    /// All incidents, including those no longer kept.
    pub incident_count: u32,
    /// Every open bookmark, including those of calls.
    pub bookmarks: BTreeMap<BookmarkId, Bookmark>,
    /// Calls whose result is not recorded yet.
    pub calls: BTreeMap<BookmarkId, Call>,
    /// Calls that failed and are made again, by the bookmarks of the pauses before that.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) paused_calls: BTreeMap<BookmarkId, Call>,
    /// Turns that changed something.
    pub turns: u64,
    /// Activity executions so far.
    pub steps: u64,
    /// Activity executions since the instance last waited; 0 while it waits.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_without_wait: u64,
    /// Sequence number of the newest journal entry.
    pub journal_sequence: u64,
    /// Nothing runs, and nothing can resume it, until it is told to go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_paused: bool,

    /// The instance's id, known from its start.
    pub(crate) instance_id: InstanceId,
    /// The trigger that started it, at which flowcharts begin.
    pub(crate) trigger: Option<String>,
    /// The input of the trigger, until the trigger has completed.
    pub(crate) trigger_input: Option<Map>,
    /// An HTTP client waits; kept only while a turn is continued.
    pub(crate) responds: bool,
    /// Workflow variables by id.
    pub(crate) variables: Map,
    /// Activities that are running, waiting or faulted, by number.
    #[serde(with = "as_list")]
    pub(crate) executions: BTreeMap<u64, Execution>,
    /// The number of the newest execution.
    pub(crate) last_number: u64,
    /// Scheduled work, first in, first out.
    pub(crate) work: VecDeque<Work>,
    /// Outputs of completed activities, the oldest first.
    pub(crate) outputs: Vec<Output>,
    /// The result of the activity that completed last; null when there was none.
    pub(crate) last_result: Value,
    /// What the instance held when an incident ended it, for a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) halted: Option<Box<Halted>>,
    /// The versions that the instance ran before, the first one first: at most
    /// `limits::MIGRATIONS_MAX`, the newest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) migrations: Vec<Migrated>,
}

impl State {
    /// Calls that failed and are made again after a pause, each with the bookmark of its pause.
    pub fn paused_calls(&self) -> impl Iterator<Item = (&BookmarkId, &Call)> {
        self.paused_calls.iter()
    }

    /// The instance has ended with an incident, and a retry can run it again.
    #[must_use]
    pub fn can_be_retried(&self) -> bool {
        self.status == SubStatus::Faulted && self.halted.is_some()
    }

    /// The outputs of open executions that their lines in the journal do not have yet: the id of the
    /// execution, the key of its activity, and the outputs by name.
    pub fn unwritten_outputs(&self) -> impl Iterator<Item = (&str, &str, &Map)> {
        let open = self.executions.values().filter(|one| !one.unwritten.is_empty());
        open.map(|one| (one.id.as_str(), one.node.as_str(), &one.unwritten))
    }

    /// What the activity of this execution remembers, while it runs or waits.
    #[must_use]
    pub fn memory_of(&self, activity_instance_id: &str) -> Option<&Value> {
        let found = self.executions.values().find(|one| one.id == activity_instance_id);
        found.map(|execution| &execution.memory)
    }
}

/// A migration of the instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Migrated {
    /// The sequence number of its journal entry; earlier entries are those of the version.
    pub at: u64,
    /// The version before.
    pub from: VersionId,
    /// The activities that had another node id before; none where all went on with theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<Renamed>,
}

/// The activities that have another node id since a migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Renamed {
    /// The time of the migration.
    pub time: Timestamp,
    /// Node ids, and what they became. What begins with one of them changed with it.
    pub paths: BTreeMap<String, String>,
}

/// What an instance held when an incident ended it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Halted {
    pub bookmarks: BTreeMap<BookmarkId, Bookmark>,
    pub calls: BTreeMap<BookmarkId, Call>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paused_calls: BTreeMap<BookmarkId, Call>,
    #[serde(with = "as_list")]
    pub executions: BTreeMap<u64, Execution>,
    pub work: VecDeque<Work>,
    pub outputs: Vec<Output>,
    pub last_result: Value,
    /// Children that were over, whose owners had not been informed yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedChild>,
}

/// A child that is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EndedChild {
    pub owner: u64,
    /// The node's key; none for an empty port.
    pub node: Option<String>,
    pub tag: Option<Value>,
    pub outcomes: Vec<String>,
}

/// One execution of an activity (Elsa's activity execution context), kept until it is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Execution {
    /// Greater than its owner's.
    pub number: u64,
    /// The activity instance id.
    pub id: String,
    /// The node's key.
    pub node: String,
    /// The execution that scheduled it.
    pub owner: Option<u64>,
    /// The time of its start; none for one that an earlier version started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// A value that its owner gets back with its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Value>,
    /// It failed. It stays, so that its owner does not complete.
    pub faulted: bool,
    /// Direct children scheduled or not over.
    pub children: u64,
    /// Its open bookmarks.
    pub bookmarks: u64,
    /// Its own variables by id.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map,
    /// Variables its owner gave it, by name, such as `CurrentValue`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub given: Map,
    /// The memory of the activity.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    /// The inputs of the workflow that it runs as an activity, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub input: Map,
    /// The outputs of that workflow so far, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub output: Map,
    /// Outputs of this activity for its next line in the journal: such as the value of a loop, which
    /// has no line of its own in the turn of a round.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub unwritten: Map,
}

/// One piece of scheduled work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Work {
    /// The node to run; none to return to the owner at once.
    pub node: Option<String>,
    /// The execution that is informed of its end; none for the root.
    pub owner: Option<u64>,
    /// A value that the owner gets back with its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Value>,
    /// Variables for it and everything below, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub given: Map,
}

/// A recorded output of an activity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Output {
    /// The node's key.
    pub node: String,
    /// The output's name.
    pub name: String,
    /// Its newest value.
    pub value: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Executions as a list: some formats allow only text as keys of maps.
mod as_list {
    use std::collections::BTreeMap;

    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Execution;

    pub(super) fn serialize<S: Serializer>(
        executions: &BTreeMap<u64, Execution>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(executions.values())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<u64, Execution>, D::Error> {
        let executions = Vec::<Execution>::deserialize(deserializer)?;
        Ok(executions.into_iter().map(|execution| (execution.number, execution)).collect())
    }
}
