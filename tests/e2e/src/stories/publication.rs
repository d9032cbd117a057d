//! A new version of a definition is published while several nodes have the old one in their caches.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

/// G10: once a publication is answered with `everywhere`, no node starts the version before.
pub(crate) async fn a_new_version_runs_everywhere_at_once_g10(world: World) {
    const VERSIONS: u32 = 8;
    let (one, two) = (world.node("one", "all").await, world.node("two", "all").await);
    let (first, second) = (Api::new(&one.url()), Api::new(&two.url()));
    let mut slowest = Duration::ZERO;
    for version in 1..=VERSIONS {
        let script = format!("{version}");
        let output = workflow::set_output("tell", "Result", &script);
        let began = Instant::now();
        let answer = first.publish(&workflow::sequence("changing", &[output])).await;
        slowest = slowest.max(began.elapsed());
        assert_eq!(answer["everywhere"], true, "{answer}");
        for _ in 0..3 {
            let id = second.start("changing", json!({})).await;
            let instance = second.reaches(&id, "Finished", Duration::from_secs(20)).await;
            assert_eq!(instance["workflowState"]["output"]["Result"], version, "{instance}");
        }
        for node in [&one, &two] {
            let said = node.said();
            let is_line = |line: &str| {
                line.contains("cache invalidation received")
                    && line.contains("definition=changing ")
                    && line.contains(&format!("version={version} "))
            };
            assert!(said.lines().any(is_line), "{version}: {said}");
        }
    }
    println!("G10: {VERSIONS} versions, no start on an old one; slowest publication {slowest:?}");
}
