//! A small cluster over the memory twins: one database, one bus, any number of executors, and a clock
//! that advances only when every task waits.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::{Config, Context, Points, Record};
use bus::{Bucket, Bus as _, Member, MemoryBus, Presence, Queue as _, Stream, Wire as _};
use catalog::Catalog;
use chassis::{Clock as _, Life, SeededChance, TokioClock};
use connectors::MemoryCalls;
use engine::{Engine, Env};
use futures::StreamExt as _;
use model::{CommandId, Definition, Entry, Instance, InstanceId, Map, SubStatus, Timestamp, What};
use protocol::{Body, Command, Message, Outcome, Perform, ReplyWhen, Start};
use serde_json::{Value, json};
use store::memory::MemoryStore;
use store::{
    Base, Bookmarks as _, Definitions as _, Inbox as _, Instances as _, Outbox as _, Page,
    Publication,
};
use tokio::task::JoinHandle;

/// The virtual time that a condition may take.
const PATIENCE: Duration = Duration::from_secs(3_600);

pub(crate) struct World {
    pub(crate) store: MemoryStore,
    pub(crate) bus: MemoryBus,
    pub(crate) calls: MemoryCalls,
    pub(crate) engine: Arc<Engine>,
    pub(crate) chance: Arc<SeededChance>,
    pub(crate) clock: TokioClock,
}

pub(crate) struct Node {
    pub(crate) life: Life,
    task: JoinHandle<()>,
}

impl Node {
    /// Stops it in order.
    pub(crate) async fn stop(self) {
        self.life.begin_stop();
        self.task.await.unwrap();
    }

    /// Drops everything at once, like a crash.
    pub(crate) async fn kill(self) {
        self.life.begin_kill();
        self.task.await.unwrap();
    }
}

/// The settings in which one node differs from the others.
#[derive(Default)]
pub(crate) struct Peculiar {
    pub(crate) points: Option<Arc<dyn Points>>,
    pub(crate) store: Option<MemoryStore>,
    pub(crate) bus: Option<MemoryBus>,
    pub(crate) life: Option<Life>,
    pub(crate) config: Option<Config>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_engine(Engine::new(activities::all(), expressions::all()))
    }

    pub(crate) fn with_engine(engine: Engine) -> Self {
        Self::made(engine, None)
    }

    /// A world whose bus has these faults.
    pub(crate) fn with_faults(faults: Arc<dyn bus::Faults>) -> Self {
        Self::made(Engine::new(activities::all(), expressions::all()), Some(faults))
    }

    fn made(engine: Engine, faults: Option<Arc<dyn bus::Faults>>) -> Self {
        let clock = TokioClock::starting_at(Timestamp::from_millis(1_767_225_600_000));
        Self {
            store: MemoryStore::new(Arc::new(move || clock.now())),
            bus: match faults {
                Some(faults) => MemoryBus::with_faults(Arc::new(move || clock.now()), faults),
                None => MemoryBus::new(Arc::new(move || clock.now())),
            },
            calls: MemoryCalls::new(),
            engine: Arc::new(engine),
            chance: Arc::new(SeededChance::new(1)),
            clock,
        }
    }

    pub(crate) fn config() -> Config {
        Config { offload_turns: false, ..Config::default() }
    }

    pub(crate) async fn node(&self, name: &str) -> Node {
        self.peculiar(name, Peculiar::default()).await
    }

    pub(crate) async fn peculiar(&self, name: &str, peculiar: Peculiar) -> Node {
        let life = peculiar.life.unwrap_or_else(|| Life::new(Duration::from_secs(30)));
        let bus = Arc::new(peculiar.bus.unwrap_or_else(|| self.bus.as_node(name)));
        let store = Arc::new(peculiar.store.unwrap_or_else(|| self.store.clone()));
        let chance = Arc::clone(&self.chance);
        let nonces: bus::Nonces = Arc::new({
            let chance = Arc::clone(&chance);
            move || chassis::Chance::new_id(&*chance)
        });
        let me = Member {
            node: name.to_owned(),
            roles: vec!["executor".to_owned()],
            started_at: self.now(),
            address: None,
            version: None,
        };
        let ttl = Duration::from_secs(3);
        let presence =
            Presence::join(bus.kv(Bucket::Nodes), me, ttl, Arc::clone(&nonces)).await.unwrap();
        let engine = Arc::clone(&self.engine);
        let catalog = Catalog::start(store.clone(), bus.clone(), Arc::clone(&engine), nonces, name);
        let catalog = catalog.await.unwrap();
        let context = Context {
            node: name.to_owned(),
            store,
            bus,
            engine,
            catalog: catalog.clone(),
            clock: Arc::new(self.clock),
            chance,
            presence: presence.clone(),
            calls: Arc::new(self.calls.clone()),
            points: peculiar.points,
            config: peculiar.config.unwrap_or_else(Self::config),
        };
        let running = life.clone();
        let task = tokio::spawn(async move {
            crate::run(context, running.clone()).await.unwrap();
            if !running.kill().is_cancelled() {
                presence.leave().await;
                catalog.close().await;
            }
        });
        Node { life, task }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Publishes a definition with this root; `more` is merged into its document.
    pub(crate) async fn publish(&self, id: &str, root: Value, more: Value) {
        let mut document = json!({
            "id": format!("{id}-v1"), "definitionId": id, "version": 1,
            "isLatest": true, "isPublished": true, "publishedAt": self.now(), "root": root
        });
        for (name, value) in more.as_object().unwrap() {
            document[name] = value.clone();
        }
        let definition: Definition = serde_json::from_value(document).unwrap();
        let program = self.engine.compile(&definition, &engine::Library::default()).unwrap();
        let env = Env {
            now: self.now(),
            seed: [0; 32],
            command_id: "publish".into(),
            installation: Arc::default(),
            contents: engine::Contents::default(),
        };
        let triggers = self.engine.triggers(&program, &env).unwrap().stimuli;
        let (base, schedules) = (Base::Any, Vec::new());
        let publication = Publication { definition, base, triggers, schedules };
        self.store.publish(publication).await.unwrap();
    }

    pub(crate) async fn send(&self, command: &Command) {
        self.bus.publish(command.encode().unwrap()).await.unwrap();
    }

    /// Sends a command and waits for its outcome.
    pub(crate) async fn ask(&self, mut command: Command, when: ReplyWhen) -> Outcome {
        let inbox = self.bus.inbox();
        let mut replies = self.bus.subscribe(&inbox).await.unwrap();
        command.reply_to = Some(inbox);
        command.reply_when = when;
        self.send(&command).await;
        let reply = tokio::time::timeout(PATIENCE, replies.next()).await.expect("an outcome");
        serde_json::from_slice(&reply.unwrap().message.payload).unwrap()
    }

    /// Starts an instance of this id and waits until it rests.
    pub(crate) async fn start(&self, definition: &str, instance: &str, input: Value) -> Outcome {
        self.ask(start(definition, instance, input), ReplyWhen::Settled).await
    }

    pub(crate) async fn instance(&self, id: &str) -> Option<Instance> {
        let loaded = self.store.load(&id.into()).await.unwrap();
        loaded.map(|loaded| loaded.instance)
    }

    pub(crate) async fn record(&self, id: &str) -> Record {
        Record::decode(&self.instance(id).await.unwrap().state).unwrap()
    }

    pub(crate) async fn status(&self, id: &str) -> Option<SubStatus> {
        self.instance(id).await.map(|instance| instance.status)
    }

    /// The lines an instance has written.
    pub(crate) async fn lines(&self, id: &str) -> Vec<String> {
        let lines = self.journal(id).await.into_iter().filter(|entry| entry.what == What::Line);
        lines.filter_map(|entry| entry.message).collect()
    }

    pub(crate) async fn journal(&self, id: &str) -> Vec<Entry> {
        self.store.journal(&id.into(), Page::first()).await.unwrap().items
    }

    /// `started`, `finished` … in the order of the events stream, each once.
    pub(crate) fn events(&self, id: &str) -> Vec<String> {
        let stored = self.bus.stored(Stream::Events).into_iter();
        let of_it = stored.filter_map(|(_, message)| {
            let mut tokens = message.subject.rsplit('.');
            let (what, instance) = (tokens.next()?.to_owned(), tokens.next()?);
            (instance == id).then_some(what)
        });
        of_it.collect()
    }

    pub(crate) fn dead(&self) -> Vec<Message> {
        self.bus.stored(Stream::Dead).into_iter().map(|(_, message)| message).collect()
    }

    /// Waits until this holds.
    pub(crate) async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let give_up = tokio::time::Instant::now() + PATIENCE;
        while !holds().await {
            assert!(tokio::time::Instant::now() < give_up, "{what}: not within {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn until_status(&self, id: &str, status: SubStatus) {
        let what = format!("{id} is {status}");
        self.until(&what, async || self.status(id).await == Some(status)).await;
    }

    /// Waits until no command is left in the stream.
    pub(crate) async fn until_quiet(&self) {
        self.until("the stream is empty", async || self.bus.backlog().await.unwrap() == 0).await;
    }

    /// The work of the timer service's sweep: publishes messages that a crash left behind.
    pub(crate) async fn sweep(&self) {
        let late = Timestamp::from_millis(i64::MAX);
        let mut messages = self.store.unstarted(late, 1_000).await.unwrap();
        messages.extend(self.store.unapplied(late, 1_000).await.unwrap());
        for message in messages {
            self.bus.publish(message).await.unwrap();
        }
        for kept in self.store.wakeable(late, 1_000).await.unwrap() {
            let mut message = kept.command;
            let id = format!("{}.w{}", kept.id, chassis::Chance::new_id(&*self.chance));
            message.headers.insert(protocol::header::COMMAND_ID.into(), kept.id.to_string());
            message.headers.insert(protocol::header::MESSAGE_ID.into(), id);
            self.bus.publish(message).await.unwrap();
        }
        for row in self.store.unpublished(late, 1_000).await.unwrap() {
            self.bus.publish(row.message).await.unwrap();
            self.store.published(vec![row.id]).await.unwrap();
        }
        for instance_id in self.store.unfinished(late, 1_000).await.unwrap() {
            let id = CommandId::new(chassis::Chance::new_id(&*self.chance));
            let perform = Body::Perform(Perform { instance_id, lost: None });
            self.send(&Command::new(id, perform)).await;
        }
    }

    /// Sweeps until the instance has this status and no row or command is left.
    pub(crate) async fn settle(&self, id: &str, status: SubStatus) {
        let what = format!("{id} is {status} after sweeps");
        self.until(&what, async || {
            tokio::time::sleep(Duration::from_secs(10)).await;
            self.sweep().await;
            let sizes = self.store.sizes();
            self.status(id).await == Some(status)
                && self.bus.backlog().await.unwrap() == 0
                && (sizes.pending, sizes.outbox) == (0, 0)
        })
        .await;
    }

    /// The open bookmarks of an instance in the database, by name.
    pub(crate) async fn bookmarks(&self, id: &str) -> BTreeMap<String, model::BookmarkId> {
        let filter = store::BookmarkFilter { instance_id: Some(id.into()), ..Default::default() };
        let found = self.store.find(&filter, 100).await.unwrap();
        found.into_iter().map(|row| (row.bookmark.name, row.bookmark.id)).collect()
    }
}

pub(crate) fn start(definition: &str, instance: &str, input: Value) -> Command {
    let start = Start {
        definition_id: definition.into(),
        instance_id: Some(InstanceId::new(instance)),
        input: map(input),
        ..Start::default()
    };
    Command::new(CommandId::new(format!("start-{instance}")), Body::Start(start))
}

pub(crate) fn resume(id: &str, instance: &str, bookmark: Option<&str>, input: Value) -> Command {
    let resume = protocol::Resume {
        instance_id: instance.into(),
        bookmark_id: bookmark.map(Into::into),
        input: map(input),
        ..Default::default()
    };
    Command::new(id.into(), Body::Resume(resume))
}

pub(crate) fn cancel(id: &str, instance: &str) -> Command {
    let cancel = protocol::Cancel { instance_id: instance.into(), reason: None };
    Command::new(id.into(), Body::Cancel(cancel))
}

pub(crate) fn event(id: &str, name: &str, payload: Value) -> Command {
    let event = protocol::EventRaised { event_name: name.into(), payload, ..Default::default() };
    Command::new(id.into(), Body::Event(event))
}

pub(crate) fn map(value: Value) -> Map {
    value.as_object().cloned().unwrap()
}

/// A sequence of activities.
pub(crate) fn sequence(activities: Vec<Value>) -> Value {
    json!({"type": "Sequence", "activities": activities})
}

pub(crate) fn line(text: &str) -> Value {
    json!({"type": "WriteLine", "text": text})
}

pub(crate) fn wait_for(event: &str) -> Value {
    json!({"type": "Event", "eventName": event})
}
