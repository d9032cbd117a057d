use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Descriptor, Languages, Registry};
use model::Timestamp;
use serde_json::json;

use super::*;

/// An activity that counts how often its definitions are compiled.
struct Counted(Arc<AtomicU32>);

impl engine::Activity for Counted {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Test.Counted", "Test", "Counts compilations.")
    }

    #[expect(clippy::disallowed_methods, reason = "stands for a compilation that takes long")]
    fn plan(&self, node: &mut engine::Planning<'_>) -> engine::Plan {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Long enough for every caller to come while it compiles.
        std::thread::sleep(std::time::Duration::from_millis(50));
        if node.raw("broken").is_some() {
            node.problem("broken", "it is broken");
        }
        None
    }

    fn start(&self, _step: &mut engine::Step<'_, '_>) -> engine::Decision {
        Ok(engine::Next::done())
    }
}

fn counted() -> (Programs, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let registry = Registry::new(vec![Box::new(Counted(Arc::clone(&count)))]);
    (Programs::new(Arc::new(Engine::new(registry, Languages::new(Vec::new())))), count)
}

fn version(id: &str) -> Definition {
    let root = json!({"type": "Test.Counted", "id": "a"});
    Definition { id: id.into(), is_latest: true, root, ..Definition::default() }
}

fn source(version: &Definition) -> Source {
    Source { definition: version.clone(), library: Library::default() }
}

async fn ask(programs: &Programs, version: &Definition) -> Result<Option<Arc<Program>>, Error> {
    programs.get(&version.id, || async { Ok(Some(source(version))) }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_misses_of_one_version_compile_once() {
    let (programs, count) = counted();
    let published = Definition { is_published: true, ..version("v1") };
    let asked = (0..16).map(|_| ask(&programs, &published));
    for found in futures::future::join_all(asked).await {
        assert!(found.unwrap().is_some());
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
    ask(&programs, &published).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert!(programs.known().flights.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retracted_latest_version_compiles_once_and_a_draft_each_time() {
    let (programs, count) = counted();
    let published_at = Some(Timestamp::from_millis(1));
    let retracted = Definition { published_at, ..version("retracted") };
    for _ in 0..3 {
        ask(&programs, &retracted).await.unwrap();
    }
    assert_eq!(count.swap(0, Ordering::SeqCst), 1);
    for _ in 0..3 {
        ask(&programs, &version("draft")).await.unwrap();
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert!(programs.known().flights.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_version_compiles_once_and_a_failed_read_is_repeated() {
    let (programs, count) = counted();
    let root = json!({"type": "Test.Counted", "id": "a", "broken": true});
    let broken = Definition { is_published: true, root, ..version("broken") };
    for _ in 0..3 {
        assert!(matches!(ask(&programs, &broken).await, Err(Error::Broken { .. })));
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let fails = || async { Err(store::Error::Unavailable("injected fault".to_owned())) };
    let published = Definition { is_published: true, ..version("v1") };
    assert!(matches!(programs.get(&published.id, fails).await, Err(Error::Store(_))));
    assert!(ask(&programs, &published).await.unwrap().is_some());
    assert!(programs.get(&"none".into(), || async { Ok(None) }).await.unwrap().is_none());
}

/// The event loop runs while a definition compiles.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn compiling_leaves_the_event_loop() {
    let (programs, _) = counted();
    let published = Definition { is_published: true, ..version("v1") };
    let mut turns = 0;
    let mut asked = std::pin::pin!(ask(&programs, &published));
    loop {
        tokio::select! {
            biased;
            _ = &mut asked => break,
            () = tokio::task::yield_now() => turns += 1,
        }
    }
    assert!(turns > 10, "the loop turned {turns} times in 50 ms");
}
