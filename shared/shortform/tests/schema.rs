//! `schema/workflow` holds the schemas that the registry gives.

use std::path::Path;

use engine::Engine;
use serde_json::Value;
use shortform::{Vocabulary, full_schema, short_schema};

#[test]
fn the_schemas_are_those_of_the_registered_activities() {
    let engine = Engine::new(activities::all(), expressions::all());
    let vocabulary = Vocabulary::new(engine.descriptors());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/workflow");
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    let is_update = std::env::var("UPDATE_EXPECT").is_ok();
    let check = |name: &str, schema: &Value| {
        let (path, text) = (folder.join(name), format!("{schema:#}\n"));
        if is_update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{name} is stale: run with UPDATE_EXPECT=1");
    };
    check("full.json", &full_schema(&vocabulary));
    check("short.json", &short_schema(&vocabulary));
}
