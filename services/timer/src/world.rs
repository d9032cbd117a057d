//! A small world for tests: a database and a bus in memory on one paused clock, replicas that come
//! and go, and instances that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::{Bucket, Bus as _, Faults, Member, MemoryBus, Presence, Stream};
use chassis::{Chance as _, Clock as _, SeededChance, TokioClock};
use model::{
    Bookmark, BookmarkId, Definition, Instance, InstanceId, Recurrence, Schedule, Stimulus,
    SubStatus, Timestamp,
};
use protocol::{Body, Command, Message};
use serde_json::json;
use store::memory::MemoryStore;
use store::{
    Base, Burst, Commit, Definitions as _, Expected, Instances as _, LISTED, OutboxRow,
    Publication, StoredBookmark, shard_of,
};

use crate::{Config, Context, ROLE};

pub(crate) struct World {
    pub(crate) clock: TokioClock,
    pub(crate) store: MemoryStore,
    pub(crate) bus: MemoryBus,
    chance: Arc<SeededChance>,
    instances: AtomicU64,
}

pub(crate) fn start() -> Timestamp {
    Timestamp::parse("2026-11-21T10:00:00Z").unwrap()
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_database_clock(|now| now)
    }

    /// A world whose database has its own clock.
    pub(crate) fn with_database_clock(
        database: impl Fn(Timestamp) -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        let clock = TokioClock::starting_at(start());
        Self {
            clock,
            store: MemoryStore::new(Arc::new(move || database(clock.now()))),
            bus: MemoryBus::new(Arc::new(move || clock.now())),
            chance: Arc::new(SeededChance::new(1)),
            instances: AtomicU64::new(0),
        }
    }

    /// A world with these faults of the bus.
    pub(crate) fn with_bus_faults(faults: Arc<dyn Faults>) -> Self {
        let world = Self::new();
        let clock = world.clock;
        let bus = MemoryBus::with_faults(Arc::new(move || clock.now()), faults);
        Self { bus, ..world }
    }

    pub(crate) fn nonces(&self) -> bus::Nonces {
        let chance = Arc::clone(&self.chance);
        Arc::new(move || chance.new_id())
    }

    pub(crate) async fn join(&self, node: &str) -> Presence {
        let me = Member {
            node: node.to_owned(),
            roles: vec![ROLE.to_owned()],
            started_at: self.clock.now(),
            address: None,
            version: None,
        };
        let nodes = self.bus.as_node(node).kv(Bucket::Nodes);
        Presence::join(nodes, me, Duration::from_secs(5), self.nonces()).await.unwrap()
    }

    pub(crate) async fn replica(&self, node: &str) -> Context {
        let presence = self.join(node).await;
        self.replica_with(node, presence, Config::default())
    }

    pub(crate) fn replica_with(&self, node: &str, presence: Presence, config: Config) -> Context {
        let bus = Arc::new(self.bus.as_node(node));
        Context::new(node, Arc::new(self.store.clone()), bus, presence, self.nonces(), config)
    }

    pub(crate) fn instance(&self, id: &InstanceId, version: i64, status: SubStatus) -> Instance {
        let now = self.clock.now();
        let new = Instance::new(id.clone(), "wait".into(), "wait-1".into(), 1, now);
        Instance { version, status, ..new }
    }

    /// An instance that waits for a timer; its bookmark has the same id.
    pub(crate) async fn waiting_until(&self, due_at: Timestamp) -> StoredBookmark {
        let number = self.instances.fetch_add(1, Ordering::Relaxed);
        self.waits(&InstanceId::new(format!("i{number}")), Some(due_at)).await
    }

    /// An instance that waits for the report of a task; its outbox has this message.
    pub(crate) async fn waits_for_task(&self, task: &str, message: Option<Message>) {
        let instance = self.instance(&task.into(), 1, SubStatus::Suspended);
        let mut burst = Burst::new(instance, Expected::Absent);
        let mut waiting = self.bookmark(&task.into());
        waiting.bookmark.name = LISTED[0].to_owned();
        waiting.bookmark.hash = Stimulus::task(task).hash();
        waiting.bookmark.payload = json!({"TaskId": task, "TaskName": "Ship"});
        burst.created.push(waiting);
        burst.outbox.extend(message.map(|message| OutboxRow {
            id: format!("{task}.1"),
            instance_id: task.into(),
            message,
            created_at: self.clock.now(),
        }));
        self.store.commit(burst).await.unwrap();
    }

    /// A bookmark of this instance, with the same id.
    pub(crate) fn bookmark(&self, id: &InstanceId) -> StoredBookmark {
        let bookmark = Bookmark {
            id: BookmarkId::new(id.as_str()),
            name: "Elsa.Delay".to_owned(),
            hash: format!("hash-{id}"),
            activity_id: "delay".into(),
            activity_node_id: "delay".to_owned(),
            activity_instance_id: "delay-1".to_owned(),
            payload: serde_json::Value::Null,
            created_at: self.clock.now(),
            due_at: None,
        };
        StoredBookmark {
            instance_id: id.clone(),
            definition_id: "wait".into(),
            correlation_id: None,
            shard: shard_of(id.as_str()),
            bookmark,
        }
    }

    pub(crate) async fn waits(&self, id: &InstanceId, due_at: Option<Timestamp>) -> StoredBookmark {
        let mut created = self.bookmark(id);
        created.bookmark.due_at = due_at;
        let burst = Burst {
            created: vec![created.clone()],
            ..Burst::new(self.instance(id, 1, SubStatus::Suspended), Expected::Absent)
        };
        self.commit(burst).await;
        created
    }

    /// The instance goes on: its bookmark burns.
    pub(crate) async fn resumes(&self, bookmark: &StoredBookmark) {
        let finished = self.instance(&bookmark.instance_id, 2, SubStatus::Finished);
        let burned = vec![bookmark.bookmark.id.clone()];
        self.commit(Burst { burned, ..Burst::new(finished, Expected::Version(1)) }).await;
    }

    pub(crate) async fn commit(&self, burst: Burst) {
        let commit = self.store.commit(burst).await.unwrap();
        assert!(matches!(commit, Commit::Done { .. }));
    }

    /// Publishes a definition that this schedule starts.
    pub(crate) async fn schedules(&self, recurrence: Recurrence, next_at: Timestamp) -> Schedule {
        self.schedules_with(recurrence, next_at, model::Misfire::FireOnce).await
    }

    pub(crate) async fn schedules_with(
        &self,
        recurrence: Recurrence,
        next_at: Timestamp,
        misfire: model::Misfire,
    ) -> Schedule {
        let definition = Definition {
            id: "nightly-3".into(),
            definition_id: "nightly".into(),
            version: 3,
            is_latest: true,
            is_published: true,
            published_at: Some(Timestamp::from_millis(1)),
            ..Definition::default()
        };
        let schedule = Schedule {
            id: "nightly-timer".into(),
            definition_id: definition.definition_id.clone(),
            version_id: definition.id.clone(),
            activity_id: "timer".into(),
            recurrence,
            misfire,
            next_at: Some(next_at),
            occurrence: 0,
            shard: shard_of("nightly-timer"),
        };
        let schedules = vec![schedule.clone()];
        let publication =
            Publication { definition, base: Base::Any, triggers: Vec::new(), schedules };
        self.store.publish(publication).await.unwrap();
        schedule
    }

    /// Commands that were published, with the time.
    pub(crate) async fn commands(&self) -> Vec<(Timestamp, Command)> {
        use bus::Queue as _;
        let stored = self.bus.read(Stream::Commands, 1, usize::MAX).await.unwrap();
        let read = |message: &Message| Command::decode(message, "none").unwrap();
        stored.iter().map(|(_, at, message)| (*at, read(message))).collect()
    }

    /// Bookmarks that were resumed, with the time of each.
    pub(crate) async fn resumed(&self) -> Vec<(Timestamp, BookmarkId)> {
        let commands = self.commands().await.into_iter();
        let resumes = commands.filter_map(|(at, command)| match command.body {
            Body::Resume(resume) => Some((at, resume.bookmark_id?)),
            _ => None,
        });
        resumes.collect()
    }
}

pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}
