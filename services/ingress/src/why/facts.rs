//! What is known about an instance and about those who could move it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::{Holding, Member, Pause, Scope};
use engine::outside::NatsConfig;
use model::{
    ActivityId, Bookmark, BookmarkId, CommandId, Entry, Incident, Instance, InstanceId, SubStatus,
    Timestamp,
};
use protocol::Runtime;

/// What is known.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The database's time.
    pub(super) now: Timestamp,
    /// The row, without its state.
    pub(super) instance: Instance,
    pub(super) definition: Version,
    /// An operator has paused the instance.
    pub(super) is_paused: bool,
    /// It has ended with an incident, and a retry can run it again.
    pub(super) can_be_retried: bool,
    /// Open bookmarks, without those of calls.
    pub(super) waits: Vec<Bookmark>,
    /// What workflows may use of NATS, by the configuration of this node.
    pub(super) nats: NatsConfig,
    /// Streams for whose messages it waits and which do not exist.
    pub(super) missing_streams: BTreeSet<String>,
    pub(super) tasks: Tasks,
    pub(super) calls: Vec<CallFact>,
    pub(super) incidents: Vec<Incident>,
    pub(super) commands: Vec<CommandFact>,
    pub(super) letters: Vec<LetterFact>,
    /// The last lines.
    pub(super) journal: Vec<Entry>,
    pub(super) parent: Option<Relative>,
    pub(super) children: Vec<Relative>,
    pub(super) cluster: Cluster,
    /// What could not be asked, and why.
    pub(super) unknown: Vec<String>,
    pub(super) server: Server,
}

/// The version of the definition that an instance runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// It is there; the number of the published version, if there is one.
    There(Option<u32>),
    /// No database row has it; the number of the published version, if there is one.
    Gone(Option<u32>),
    /// This node cannot run it.
    Broken(String),
}

/// The tasks for which an instance waits, and what their consumers say.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    /// By the bookmark that waits.
    pub(super) open: BTreeMap<BookmarkId, TaskFact>,
    /// By type and version.
    pub(super) pools: BTreeMap<(String, u32), PoolFact>,
}

/// A task for which an instance waits.
#[derive(Clone, Debug)]
pub(super) struct TaskFact {
    /// The type and its version.
    pub(super) kind: (String, u32),
    /// The number of the current attempt: 1, 2, 3 …
    pub(super) attempt: u32,
    /// The id of its message.
    pub(super) message_id: String,
    /// When the current attempt was handed out: its message is stored after that.
    pub(super) handed_out_at: Timestamp,
    /// The message has left the outbox. False also where nobody has looked.
    pub(super) is_published: bool,
}

/// The consumer of a type and version of tasks.
#[derive(Clone, Debug)]
pub(super) struct PoolFact {
    /// Tasks that it has not handed out yet.
    pub(super) waiting: u64,
    /// Tasks that workers have.
    pub(super) in_progress: u64,
    /// When the first of those was stored that it has not handed out yet.
    pub(super) oldest_waiting: Option<Timestamp>,
    /// The ids of the messages of some of those that nobody has handed out yet, the first ones. What was
    /// stored before the consumer was made is not among them: one before it may have handed it out.
    pub(super) first_waiting: BTreeSet<String>,
    /// When the consumer was made.
    pub(super) made_at: Option<Timestamp>,
    /// The time without a sign of life after which it hands a task to another worker.
    pub(super) ack_wait: Duration,
}

/// A call whose result is not recorded yet.
#[derive(Clone, Debug)]
pub(super) struct CallFact {
    pub(super) bookmark_id: BookmarkId,
    pub(super) activity_id: ActivityId,
    /// The id of the execution of the activity.
    pub(super) activity_instance_id: String,
    /// Such as `GET https://…`.
    pub(super) what: String,
    /// 1, 2, 3 …
    pub(super) attempt: u32,
    pub(super) attempts_max: u32,
    pub(super) since: Timestamp,
    pub(super) not_before: Option<Timestamp>,
    /// The last attempt failed; the next one comes at this time.
    pub(super) again_at: Option<Timestamp>,
}

/// An accepted command that is not applied.
#[derive(Clone, Debug)]
pub(super) struct CommandFact {
    pub(super) id: CommandId,
    /// `start`, `resume`, `cancel` …
    pub(super) kind: String,
    pub(super) accepted_at: Timestamp,
    /// It came too early and waits for a bookmark.
    pub(super) is_waiting: bool,
    pub(super) expires_at: Option<Timestamp>,
}

/// A dead letter of the instance.
#[derive(Clone, Debug)]
pub(super) struct LetterFact {
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) subject: String,
    pub(super) reason: String,
    pub(super) can_be_replayed: bool,
}

/// The parent, or a child that the instance waits for.
#[derive(Clone, Debug)]
pub(super) struct Relative {
    pub(super) id: InstanceId,
    /// None if there is no such instance.
    pub(super) status: Option<SubStatus>,
    pub(super) finished_at: Option<Timestamp>,
    /// The bookmark at which the parent waits for the child.
    pub(super) bookmark_id: Option<BookmarkId>,
}

/// The nodes, and what they are about to do. What could not be asked is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Cluster {
    pub(super) nodes: Vec<Member>,
    /// The node that answers is cut off from the others.
    pub(super) is_cut_off: bool,
    /// The lease on the instance; none if no node holds it.
    pub(super) lease: Option<Holding>,
    pub(super) pauses: Vec<(Scope, Pause)>,
    /// The live executors with their answers.
    pub(super) executors: Vec<(String, Option<Runtime>)>,
    /// Commands in the stream.
    pub(super) backlog: Option<u64>,
    /// NATS has no consumer from which executors could pull.
    pub(super) has_no_consumer: bool,
}

/// How lines to copy address this server.
#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    /// The URL of the server.
    pub(super) url: String,
    /// Callers need credentials.
    pub(super) wants_key: bool,
}

impl Facts {
    /// The id of the instance.
    pub(super) fn id(&self) -> &InstanceId {
        &self.instance.id
    }

    /// The instance's status.
    pub(super) fn status(&self) -> SubStatus {
        self.instance.status
    }
}

impl Tasks {
    /// Whether a worker has taken the current attempt of a task; none where that is not sure.
    ///
    /// A consumer hands tasks out in the order of the stream. So one that was stored after the first of
    /// those that wait, waits as well.
    pub(super) fn is_taken(&self, task: &TaskFact) -> Option<bool> {
        let pool = self.pools.get(&task.kind)?;
        let is_by = |time: Option<Timestamp>| time.is_some_and(|time| time <= task.handed_out_at);
        let is_behind = is_by(pool.oldest_waiting) && is_by(pool.made_at);
        if is_behind || pool.first_waiting.contains(&task.message_id) {
            return Some(false);
        }
        (task.is_published && pool.waiting == 0 && pool.in_progress > 0).then_some(true)
    }
}

impl Cluster {
    /// The live nodes with this role.
    pub(super) fn with_role(&self, role: &str) -> Vec<&str> {
        let has_role = |member: &&Member| member.roles.iter().any(|own| own == role);
        self.nodes.iter().filter(has_role).map(|member| member.node.as_str()).collect()
    }

    /// The live timer node that owns the shard of an instance, and so fires its timers.
    pub(super) fn timer_of(&self, id: &InstanceId) -> Option<String> {
        let timers: Vec<_> = self.with_role("timer").into_iter().map(str::to_owned).collect();
        bus::owner_of(store::shard_of(id.as_str()), &timers).map(str::to_owned)
    }

    /// Whether a node lives.
    pub(super) fn lives(&self, node: &str) -> bool {
        self.nodes.iter().any(|member| member.node == node)
    }

    /// The pause of the whole cluster.
    pub(super) fn pause(&self) -> Option<&Pause> {
        let found = self.pauses.iter().find(|(scope, _)| *scope == Scope::Cluster);
        found.map(|(_, pause)| pause)
    }

    /// The live executors that are paused by themselves.
    pub(super) fn paused(&self) -> Vec<&str> {
        let is_paused = |node: &str| {
            self.pauses.iter().any(|(scope, _)| *scope == Scope::Node(node.to_owned()))
        };
        let mut paused = self.with_role("executor");
        paused.retain(|node| is_paused(node));
        paused
    }
}
