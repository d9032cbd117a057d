use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::{Fault, Faults, MemoryBus, Operation};
use engine::{Activity, Decision, Descriptor, Languages, Next, Registry, Step};
use model::Timestamp;
use serde_json::json;
use store::memory::MemoryStore;
use store::{Base, Definitions as _, Publication};

use super::*;

const NODE: &str = "node";

/// The view that the node has of the pointers lags.
struct Late;

impl Faults for Late {
    fn on(&self, _node: &str, _operation: &Operation<'_>) -> Fault {
        Fault::None
    }

    fn lag(&self, node: &str, bucket: Bucket) -> Duration {
        let is_late = node == NODE && bucket == Bucket::Definitions;
        if is_late { Duration::from_millis(300) } else { Duration::ZERO }
    }
}

struct Nothing;

impl Activity for Nothing {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Test.Nothing", "Test", "Does nothing.")
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::done())
    }
}

fn nonces() -> bus::Nonces {
    let count = AtomicU64::new(0);
    Arc::new(move || format!("n{}", count.fetch_add(1, Ordering::Relaxed)))
}

/// Publishes a version, and points to it; the revision of the pointer.
async fn publish(store: &MemoryStore, pointers: &Pointers, version: u32) -> u64 {
    let definition = Definition {
        id: format!("order-{version}").into(),
        definition_id: "order".into(),
        version,
        is_latest: true,
        is_published: true,
        published_at: Some(Timestamp::from_millis(i64::from(version))),
        root: json!({"type": "Test.Nothing", "id": "a"}),
        ..Definition::default()
    };
    let id = definition.id.clone();
    let (triggers, schedules) = (Vec::new(), Vec::new());
    let publication = Publication { definition, base: Base::Any, triggers, schedules };
    store.publish(publication).await.unwrap();
    pointers.put(&"order".into(), Some(&id), version).await.unwrap().revision
}

#[tokio::test(start_paused = true)]
async fn a_higher_revision_of_a_bucket_that_was_lost_is_not_the_pointer_that_was_seen() {
    let now: bus::ServerClock = Arc::new(|| Timestamp::from_millis(1_800_000_000_000));
    let bus = MemoryBus::with_faults(Arc::clone(&now), Arc::new(Late));
    let store = MemoryStore::new(now);
    let pointers = bus.as_node("other").kv(Bucket::Definitions);
    let pointers = Pointers::start(pointers, nonces()).await.unwrap();
    for version in 1..=3 {
        publish(&store, &pointers, version).await;
    }
    let registry = Registry::new(vec![Box::new(Nothing)]);
    let engine = Arc::new(Engine::new(registry, Languages::new(Vec::new())));
    let (of, over) = (Arc::new(store.clone()), Arc::new(bus.as_node(NODE)));
    let catalog = Catalog::start(of, over, engine, nonces(), NODE).await.unwrap();
    let id = DefinitionId::new("order");
    let version = async |seen: Option<u64>| {
        let program = catalog.published(&id, seen).await.unwrap();
        program.map(|program| program.version())
    };
    assert_eq!(version(None).await, Some(3));

    bus.wipe();
    let seen = publish(&store, &pointers, 4).await;
    assert!(catalog.is_trusted() && catalog.revision(&id) > seen, "the view is of the lost bucket");
    assert_eq!(version(Some(seen)).await, Some(4));
    while catalog.revision(&id) != seen {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(version(None).await, Some(4));
    catalog.close().await;
}
