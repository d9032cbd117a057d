//! The answer to why an instance is where it is, as clients get it.

use serde::Serialize;
use utoipa::ToSchema;

/// Why an instance is where it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Why {
    /// The instance.
    #[schema(example = "6b1f4f0e7a534c539a5e57a09c48a11e")]
    pub(crate) workflow_instance_id: String,
    #[schema(example = "order")]
    pub(crate) definition_id: String,
    /// The number of the version that it runs.
    #[schema(example = 3)]
    pub(crate) definition_version: u32,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    #[schema(example = "Suspended")]
    pub(crate) sub_status: String,
    /// When it last changed, RFC 3339.
    #[schema(example = "2026-11-21T09:00:00.250Z")]
    pub(crate) updated_at: String,
    /// The time of the answer, by the database's clock, RFC 3339.
    #[schema(example = "2026-11-21T09:03:00.250Z")]
    pub(crate) asked_at: String,
    /// The answer in one sentence.
    #[schema(
        example = "It waits for the event \"paid\" at activity pay, since 2026-11-21T09:00:00.250Z (3 min)."
    )]
    pub(crate) answer: String,
    /// Everything that explains it: first what is in its way, then what it waits for, then the rest.
    pub(crate) findings: Vec<Finding>,
    /// Accepted commands that are not applied, oldest first; at most 20.
    pub(crate) commands: Vec<Accepted>,
    /// Calls whose result is not recorded yet; at most 20.
    pub(crate) calls: Vec<Call>,
    /// The newest incidents; at most 10.
    pub(crate) incidents: Vec<Failure>,
    /// The newest dead letters; at most 10.
    pub(crate) dead_letters: Vec<DeadLetter>,
    /// The last lines of the journal; at most 10.
    pub(crate) journal: Vec<Line>,
    /// The instance that started it.
    pub(crate) parent: Option<Related>,
    /// Instances whose end it waits for; at most 20.
    pub(crate) children: Vec<Related>,
    /// The nodes that could move it.
    pub(crate) cluster: Nodes,
    /// What could not be asked, and why.
    pub(crate) unknown: Vec<String>,
}

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FindingWeight)]
pub(crate) enum Weight {
    /// It is in the way: nothing moves until somebody does something, or until it passes.
    Blocks,
    /// It is what the instance waits for.
    Waits,
    /// Worth knowing.
    Note,
}

/// One cause.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    /// A stable name.
    #[schema(example = "event")]
    pub(crate) cause: String,
    /// How much it matters.
    pub(crate) weight: Weight,
    /// One sentence.
    #[schema(
        example = "It waits for the event \"paid\" at activity pay, since 2026-11-21T09:00:00.250Z (3 min)."
    )]
    pub(crate) says: String,
    /// Since when, RFC 3339.
    #[schema(example = "2026-11-21T09:00:00.250Z")]
    pub(crate) since: Option<String>,
    /// When it ends by itself, RFC 3339.
    pub(crate) until: Option<String>,
    /// What would move the instance.
    pub(crate) actions: Vec<Action>,
}

/// Something to do, with lines to copy.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FindingAction)]
pub(crate) struct Action {
    /// What it does.
    #[schema(example = "raise the event for this instance")]
    pub(crate) what: String,
    /// As a command of `staunch`.
    #[schema(example = "staunch instance resume 6b1f4f0e --bookmark 77a0")]
    pub(crate) staunch: Option<String>,
    /// As a command of `nats`.
    #[schema(example = "nats req staunch.api.event.paid '{\"instanceId\":\"6b1f4f0e\"}'")]
    pub(crate) nats: Option<String>,
    /// As a command of `curl`.
    #[schema(
        example = "curl -X POST http://127.0.0.1:5001/elsa/api/events/paid/trigger -H 'Content-Type: application/json' -d '{\"workflowInstanceId\":\"6b1f4f0e\"}'"
    )]
    pub(crate) curl: Option<String>,
}

/// An accepted command that is not applied.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CommandWaiting)]
pub(crate) struct Accepted {
    pub(crate) id: String,
    /// `start`, `resume`, `cancel`, `alter`, `event` or `task`.
    #[schema(example = "resume")]
    pub(crate) kind: String,
    /// RFC 3339.
    pub(crate) accepted_at: String,
    /// It came too early and waits for a bookmark.
    pub(crate) is_waiting: bool,
    /// Until when it waits, RFC 3339; for ever if not set.
    pub(crate) expires_at: Option<String>,
}

/// A call whose result is not recorded yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CallInProgress)]
pub(crate) struct Call {
    #[schema(example = "charge")]
    pub(crate) activity_id: String,
    pub(crate) bookmark_id: String,
    #[schema(example = "POST https://pay.example/charges")]
    pub(crate) what: String,
    /// The number of the attempt: 1, 2, 3 …
    pub(crate) attempt: u32,
    /// The largest number of attempts.
    pub(crate) attempts_max: u32,
    /// RFC 3339.
    pub(crate) since: String,
    /// It is not made before this time, RFC 3339.
    pub(crate) not_before: Option<String>,
}

/// A failure of an activity.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IncidentSeen)]
pub(crate) struct Failure {
    #[schema(example = "charge")]
    pub(crate) activity_id: String,
    #[schema(example = "HttpStatus")]
    pub(crate) code: String,
    pub(crate) message: String,
    /// RFC 3339.
    pub(crate) timestamp: String,
}

/// A dead letter of the instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetterSeen)]
pub(crate) struct DeadLetter {
    /// Its number, as the list of dead letters has it.
    #[schema(example = "7")]
    pub(crate) id: String,
    /// RFC 3339.
    pub(crate) at: String,
    #[schema(example = "staunch.cmd.resume.6b1f4f0e")]
    pub(crate) subject: String,
    pub(crate) reason: String,
    pub(crate) can_be_replayed: bool,
}

/// A line of the journal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JournalLine)]
pub(crate) struct Line {
    pub(crate) sequence: u64,
    /// RFC 3339.
    pub(crate) timestamp: String,
    #[schema(example = "Suspended")]
    pub(crate) event_name: String,
    pub(crate) activity_id: Option<String>,
    pub(crate) message: Option<String>,
    /// The node that ran the burst; on its first line only.
    pub(crate) node: Option<String>,
}

/// The parent or a child.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RelatedInstance)]
pub(crate) struct Related {
    pub(crate) workflow_instance_id: String,
    /// Null if there is no such instance.
    #[schema(example = "Suspended")]
    pub(crate) sub_status: Option<String>,
}

/// The nodes that could move an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NodesSeen)]
pub(crate) struct Nodes {
    /// The node that holds the lease on the instance.
    #[schema(example = "node-b2")]
    pub(crate) lease_owner: Option<String>,
    /// Whether that node lives.
    pub(crate) is_lease_owner_alive: Option<bool>,
    /// The nodes that wait for the lease.
    pub(crate) lease_wanted_by: Vec<String>,
    /// The live executors.
    pub(crate) executors: Vec<Executor>,
    /// The live nodes that fire timers and sweep up after crashes.
    pub(crate) timers: Vec<String>,
    /// Pauses of the cluster and of nodes.
    pub(crate) pauses: Vec<Paused>,
    /// Commands in the queue.
    pub(crate) backlog: Option<u64>,
}

/// A live executor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExecutorSeen)]
pub(crate) struct Executor {
    #[schema(example = "node-b2")]
    pub(crate) node: String,
    /// `Running`, `Pausing` or `Paused`; null if it does not answer.
    #[schema(example = "Running")]
    pub(crate) state: Option<String>,
}

/// A pause.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PauseSeen)]
pub(crate) struct Paused {
    /// Null for the whole cluster.
    pub(crate) node: Option<String>,
    /// RFC 3339.
    pub(crate) since: String,
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
}
