#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::{Bucket, Bus as _, Faults, Member, MemoryBus, Pointer, Pointers, Presence, Wire as _};
use chassis::{Clock as _, TokioClock};
use model::{Definition, DefinitionId, Timestamp};
use protocol::{CachePosition, ContentType, Headers, Message, decode_body, encode_body};
use store::memory::MemoryStore;
use store::{Base, Definitions as _, Publication, Published};
use tokio::sync::broadcast;

use super::*;
use crate::{Config, ROLE, reconcile};

struct World {
    clock: TokioClock,
    store: MemoryStore,
    bus: MemoryBus,
    chance: Arc<AtomicU64>,
}

/// A node that caches pointers and reports its position.
struct Node {
    pointers: Pointers,
    _presence: Presence,
    _answering: tokio_util::sync::DropGuard,
}

impl World {
    fn new() -> Self {
        let clock = TokioClock::starting_at(Timestamp::from_millis(1_800_000_000_000));
        let now: bus::ServerClock = Arc::new(move || clock.now());
        Self {
            clock,
            store: MemoryStore::new(now.clone()),
            bus: MemoryBus::new(now),
            chance: Arc::default(),
        }
    }

    fn with_faults(faults: Arc<dyn Faults>) -> Self {
        let world = Self::new();
        let clock = world.clock;
        Self { bus: MemoryBus::with_faults(Arc::new(move || clock.now()), faults), ..world }
    }

    fn nonces(&self) -> bus::Nonces {
        let chance = Arc::clone(&self.chance);
        Arc::new(move || format!("n{}", chance.fetch_add(1, Ordering::Relaxed)))
    }

    async fn join(&self, node: &str, role: &str) -> Presence {
        let me = Member {
            node: node.to_owned(),
            roles: vec![role.to_owned()],
            started_at: self.clock.now(),
            address: None,
            version: None,
        };
        let nodes = self.bus.as_node(node).kv(Bucket::Nodes);
        Presence::join(nodes, me, Duration::from_secs(5), self.nonces()).await.unwrap()
    }

    async fn notifier(&self, node: &str) -> Context {
        let presence = self.join(node, ROLE).await;
        let bus = Arc::new(self.bus.as_node(node));
        let store = Arc::new(self.store.clone());
        Context::start(node, store, bus, presence, self.nonces(), Config::default()).await.unwrap()
    }

    async fn serving(&self, node: &str) -> CancellationToken {
        let cx = self.notifier(node).await;
        let notifier = Notifier::start(cx).await.unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tokio::spawn(async move { notifier.serve(&stopped).await });
        stop
    }

    async fn node(&self, node: &str) -> Node {
        let presence = self.join(node, "executor").await;
        let bus = self.bus.as_node(node);
        let pointers = Pointers::start(bus.kv(Bucket::Definitions), self.nonces()).await.unwrap();
        let mut asked = bus.subscribe(subject::CACHE_ASK).await.unwrap();
        let mut changes = pointers.changed();
        let stop = CancellationToken::new();
        let (known, name, stopped) = (pointers.clone(), node.to_owned(), stop.clone());
        tokio::spawn(stopped.run_until_cancelled_owned(async move {
            loop {
                let definition_id = tokio::select! {
                    Ok((id, _)) = changes.recv() => id,
                    Some(question) = asked.next() => {
                        let question: CachePosition =
                            decode_body(ContentType::Json, &question.message.payload).unwrap();
                        question.definition_id
                    }
                };
                let pointer = known.get(&definition_id);
                let revision = pointer.as_ref().map_or(0, |pointer| pointer.revision);
                let version_id = pointer.and_then(|pointer| pointer.version_id);
                let position = CachePosition { definition_id, revision, version_id };
                let payload = encode_body(ContentType::Json, &position).unwrap();
                let subject = subject::cache_applied(&name);
                bus.send(Message { subject, headers: Headers::new(), payload }).await.unwrap();
            }
        }));
        Node { pointers, _presence: presence, _answering: stop.drop_guard() }
    }

    async fn publish(&self, version: u32) -> Definition {
        self.publish_as("order", version).await
    }

    async fn publish_as(&self, id: &str, version: u32) -> Definition {
        let definition = Definition {
            id: format!("{id}-{version}").into(),
            definition_id: id.into(),
            version,
            is_latest: true,
            is_published: true,
            published_at: Some(Timestamp::from_millis(i64::from(version))),
            ..Definition::default()
        };
        let publication = Publication {
            definition: definition.clone(),
            base: Base::Any,
            triggers: Vec::new(),
            schedules: Vec::new(),
        };
        assert_eq!(self.store.publish(publication).await.unwrap(), Published::Done);
        definition
    }

    async fn announce(&self, version: u32) -> Noticed {
        let noticed = Noticed {
            definition_id: "order".into(),
            version_id: None,
            version,
            revision: 0,
            everywhere: false,
            missing: Vec::new(),
        };
        let payload = encode_body(ContentType::Json, &noticed).unwrap();
        let subject = subject::CACHE_CHANGED.to_owned();
        let message = Message { subject, headers: Headers::new(), payload };
        let answer = self.bus.request(message, Duration::from_secs(6)).await.unwrap();
        decode_body(ContentType::Json, &answer.payload).unwrap()
    }
}

/// The versions that were pointed to since, in order.
fn versions(changes: &mut broadcast::Receiver<(DefinitionId, Pointer)>) -> Vec<Option<String>> {
    let told = std::iter::from_fn(|| changes.try_recv().ok());
    told.map(|(_, pointer)| pointer.version_id.map(|id| id.to_string())).collect()
}

fn points_to(node: &Node) -> Option<String> {
    node.pointers.get(&"order".into())?.version_id.map(|id| id.to_string())
}

#[tokio::test(start_paused = true)]
async fn the_answer_comes_when_every_live_node_has_the_pointer() {
    let world = World::new();
    let nodes = [world.node("executor-1").await, world.node("executor-2").await];
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    let noticed = world.announce(1).await;
    assert!(noticed.everywhere, "{noticed:?}");
    assert_eq!(noticed.version_id, Some("order-1".into()));
    assert!(noticed.revision > 0);
    for node in &nodes {
        assert_eq!(points_to(node), Some("order-1".to_owned()));
    }
    // A repeat changes nothing, and the answer is the same.
    assert_eq!(world.announce(1).await, noticed);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_does_not_answer_is_named() {
    let world = World::new();
    let _node = world.node("executor-1").await;
    let _mute = world.join("executor-mute", "executor").await;
    let _other = world.join("timer-1", "timer").await;
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    let began = Instant::now();
    let noticed = world.announce(1).await;
    assert!(!noticed.everywhere);
    assert_eq!(noticed.missing, ["executor-mute"]);
    assert!(began.elapsed() >= Duration::from_secs(5));
    assert!(began.elapsed() < Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_leaves_is_not_waited_for() {
    let world = World::new();
    let _node = world.node("executor-1").await;
    let mute = world.join("executor-mute", "executor").await;
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        mute.leave().await;
    });
    let noticed = world.announce(1).await;
    assert!(noticed.everywhere, "{noticed:?}");
}

#[tokio::test(start_paused = true)]
async fn many_publishers_of_one_definition_share_one_write() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    let mut changes = node.pointers.changed();
    world.publish(7).await;
    let answers = futures::future::join_all((0..20).map(|_| world.announce(7))).await;
    assert!(answers.iter().all(|noticed| noticed.everywhere && noticed.version == 7));
    assert!(changes.try_recv().is_ok());
    assert!(changes.try_recv().is_err(), "the pointer was written once");
}

#[tokio::test(start_paused = true)]
async fn what_a_request_claims_is_not_believed() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    world.publish(2).await;
    let noticed = world.announce(1).await;
    assert_eq!((noticed.version, noticed.everywhere), (2, true));
    assert_eq!(points_to(&node), Some("order-2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_retraction_reaches_everyone_and_a_new_version_follows_it() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    world.announce(1).await;
    world.store.retract(&"order".into(), &Base::Any).await.unwrap();
    let noticed = world.announce(1).await;
    assert!(noticed.everywhere && noticed.version_id.is_none(), "{noticed:?}");
    assert_eq!(points_to(&node), None);
    world.publish(2).await;
    assert!(world.announce(2).await.everywhere);
    assert_eq!(points_to(&node), Some("order-2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_older_version_that_is_published_again_is_pointed_to() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    world.publish(2).await;
    assert_eq!(world.announce(2).await.version, 2);
    let mut changes = node.pointers.changed();
    // While a newer version is published, an older one cannot be published.
    world.store.retract(&"order".into(), &Base::Any).await.unwrap();
    world.publish(1).await;
    let noticed = world.announce(1).await;
    assert_eq!((noticed.version, noticed.everywhere), (1, true));
    assert_eq!(points_to(&node), Some("order-1".to_owned()));
    // No node ever saw it without a version: it would have refused a start.
    assert_eq!(versions(&mut changes), [Some("order-1".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn reconciling_mends_what_a_dead_publisher_left() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let cx = world.notifier("notifier-1").await;
    world.publish(3).await;
    assert_eq!(reconcile::run_once(&cx).await.unwrap(), ["order".into()]);
    assert_eq!(reconcile::run_once(&cx).await.unwrap(), []);
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(points_to(&node), Some("order-3".to_owned()));
    world.store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(reconcile::run_once(&cx).await.unwrap(), ["order".into()]);
    assert_eq!(reconcile::run_once(&cx).await.unwrap(), []);
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(points_to(&node), None);
}

/// The database holds one definition that cannot be read: the first that is asked for.
#[derive(Default)]
struct FirstIsCorrupt(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl store::memory::Faults for FirstIsCorrupt {
    async fn before(&self, operation: store::memory::Operation) -> Result<(), store::Error> {
        let is_read = operation == store::memory::Operation::Definition;
        if is_read && !self.0.swap(true, Ordering::Relaxed) {
            return Err(store::Error::Corrupt("nonsense".to_owned()));
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_cannot_be_read_does_not_keep_the_others_from_being_mended() {
    let mut world = World::new();
    let _node = world.node("executor-1").await;
    world.publish_as("bad", 1).await;
    world.publish_as("order", 1).await;
    world.store = world.store.with_faults(Arc::new(FirstIsCorrupt::default()));
    let cx = world.notifier("notifier-1").await;
    assert_eq!(reconcile::run_once(&cx).await.unwrap(), ["order".into()]);
}

#[tokio::test(start_paused = true)]
async fn pointers_are_made_anew_after_the_broker_was_wiped() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let cx = world.notifier("notifier-1").await;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move { reconcile::serve(&cx, &stopped).await });
    world.publish(1).await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(points_to(&node), Some("order-1".to_owned()));
    world.bus.wipe();
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(points_to(&node), Some("order-1".to_owned()));
    stop.cancel();
}

/// The view of this node lags, or that of every node.
struct LatePointers(Option<&'static str>);

impl Faults for LatePointers {
    fn on(&self, _node: &str, _operation: &bus::Operation<'_>) -> bus::Fault {
        bus::Fault::None
    }

    fn lag(&self, node: &str, bucket: Bucket) -> Duration {
        let is_late = self.0.is_none_or(|late| late == node) && bucket == Bucket::Definitions;
        if is_late { Duration::from_millis(300) } else { Duration::ZERO }
    }
}

/// Every second read of a definition, the one after the pointer is written, takes until the lagging
/// view has seen that the bucket is empty, and has not seen yet what was written since.
#[derive(Default)]
struct SlowSecondRead(AtomicU64);

#[async_trait::async_trait]
impl store::memory::Faults for SlowSecondRead {
    async fn before(&self, operation: store::memory::Operation) -> Result<(), store::Error> {
        let is_read = operation == store::memory::Operation::Definition;
        if is_read && !self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_that_lags_behind_a_wipe_retracts_nothing() {
    let mut world = World::with_faults(Arc::new(LatePointers(Some("notifier-1"))));
    world.store = world.store.with_faults(Arc::new(SlowSecondRead::default()));
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    for version in 1..=3 {
        world.publish(version).await;
        world.announce(version).await;
    }
    let mut changes = node.pointers.changed();
    world.bus.wipe();
    world.announce(3).await;
    // A pointer that is gone has revision 0, and the database is asked in its place.
    while let Ok((_, pointer)) = changes.try_recv() {
        assert!(pointer.version_id.is_some() || pointer.revision == 0, "{pointer:?}");
    }
    assert_eq!(points_to(&node), Some("order-3".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn views_that_all_lag_behind_a_wipe_confirm_no_new_version_g10() {
    let world = World::with_faults(Arc::new(LatePointers(None)));
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    for version in 1..=3 {
        world.publish(version).await;
        world.announce(version).await;
    }
    world.bus.wipe();
    world.publish(4).await;
    let noticed = world.announce(4).await;
    assert!(noticed.everywhere, "{noticed:?}");
    assert_eq!(points_to(&node), Some("order-4".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_notifier_that_comes_after_a_wipe_waits_for_nodes_that_it_has_not_heard_of() {
    let world = World::with_faults(Arc::new(LatePointers(Some("executor-1"))));
    let node = world.node("executor-1").await;
    world.bus.wipe();
    let _stop = world.serving("notifier-1").await;
    world.publish(1).await;
    let noticed = world.announce(1).await;
    assert!(noticed.everywhere, "{noticed:?}");
    assert_eq!(points_to(&node), Some("order-1".to_owned()));
}

struct Lossy(AtomicU64);

impl Faults for Lossy {
    fn on(&self, _node: &str, operation: &bus::Operation<'_>) -> bus::Fault {
        let hit = matches!(operation, bus::Operation::Send { .. } | bus::Operation::PutIf { .. });
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        match count % 3 {
            0 if hit => bus::Fault::Lost,
            1 if hit => bus::Fault::AnswerLost,
            _ => bus::Fault::None,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn lost_messages_are_asked_for_again() {
    let world = World::with_faults(Arc::new(Lossy(AtomicU64::new(0))));
    let node = world.node("executor-1").await;
    let _stop = world.serving("notifier-1").await;
    let mut complete = 0;
    for version in 1..=10 {
        world.publish(version).await;
        let noticed = tokio::time::timeout(Duration::from_secs(7), async {
            let payload = encode_body(
                ContentType::Json,
                &Noticed {
                    definition_id: "order".into(),
                    version_id: None,
                    version,
                    revision: 0,
                    everywhere: false,
                    missing: Vec::new(),
                },
            )
            .unwrap();
            let subject = subject::CACHE_CHANGED.to_owned();
            let message = Message { subject, headers: Headers::new(), payload };
            world.bus.request(message, Duration::from_secs(6)).await
        });
        if let Ok(Ok(answer)) = noticed.await {
            let noticed: Noticed = decode_body(ContentType::Json, &answer.payload).unwrap();
            complete += u32::from(noticed.everywhere);
            assert!(!noticed.everywhere || points_to(&node) == Some(format!("order-{version}")));
        }
    }
    assert!(complete >= 3, "{complete} of 10");
}

#[tokio::test(start_paused = true)]
async fn a_stop_answers_those_who_wait() {
    let world = World::new();
    let _mute = world.join("executor-mute", "executor").await;
    let stop = world.serving("notifier-1").await;
    world.publish(1).await;
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    });
    let began = Instant::now();
    let noticed = world.announce(1).await;
    assert_eq!(noticed.missing, ["executor-mute"]);
    assert!(began.elapsed() < Duration::from_secs(2));
}

/// Panics at the first write of a pointer.
struct PanicOnce(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl chassis::Points for PanicOnce {
    async fn at(&self, _: &str, point: Point) {
        let is_first = point == Point::BeforeSwap && !self.0.swap(true, Ordering::Relaxed);
        assert!(!is_first, "a bug");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_panics_is_done_again_for_those_who_wait() {
    let world = World::new();
    let node = world.node("executor-1").await;
    let cx = world.notifier("notifier").await.watched(Some(Arc::new(PanicOnce(false.into()))));
    let notifier = Notifier::start(cx).await.unwrap();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move { notifier.serve(&stopped).await });
    world.publish(1).await;
    let noticed = world.announce(1).await;
    assert!(noticed.everywhere, "{noticed:?}");
    assert_eq!(points_to(&node), Some("order-1".to_owned()));
    stop.cancel();
}
