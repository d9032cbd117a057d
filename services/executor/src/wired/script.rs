//! Definitions with scripts, whose turns run on threads of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::{Engine, Flaw, Language, Languages, Scope};
use model::SubStatus;
use serde_json::{Value, json};

use crate::Config;
use crate::executor::cores;
use crate::wired::world::{Peculiar, World, start};

/// Scripts that run now, and the most there were.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A language whose scripts take a moment.
struct Slow(Arc<Running>);

impl Language for Slow {
    fn name(&self) -> &'static str {
        "JavaScript"
    }

    fn check(&self, _source: &str) -> Result<(), Flaw> {
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "this is what a script does to its thread")]
    fn evaluate(&self, _source: &str, _scope: &mut dyn Scope) -> Result<Value, Flaw> {
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        // Long enough for others to come, if they may.
        std::thread::sleep(Duration::from_millis(20));
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        Ok(json!("slow"))
    }
}

#[tokio::test]
async fn no_more_scripts_run_than_there_are_cores_and_the_others_wait_g12() {
    let running = Arc::new(Running::default());
    let languages = Languages::new(vec![Box::new(Slow(Arc::clone(&running)))]);
    let world = World::with_engine(Engine::new(activities::all(), languages));
    world.publish("slow", json!({"type": "WriteLine", "text": {"js": "slow()"}}), json!({})).await;
    let config = Config { offload_scripts: true, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Default::default() }).await;
    let ids: Vec<String> = (0..cores() * 8).map(|number| format!("i-{number}")).collect();
    for id in &ids {
        world.send(&start("slow", id, json!({}))).await;
    }
    for id in &ids {
        world.until_status(id, SubStatus::Finished).await;
        assert_eq!(world.lines(id).await, ["slow"]);
    }
    let most = running.most.load(Ordering::SeqCst);
    println!("G12: {} scripts, {most} at most at the same time, {} cores", ids.len(), cores());
    assert!(most <= cores(), "{most} scripts ran at the same time");
}
