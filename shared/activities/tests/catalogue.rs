//! `docs/activities.md` equals the page generated from the registry.

use std::path::Path;

use engine::{Descriptor, Engine};

const PREFACE: &str = "# Activities

Generated from the registry; `UPDATE_EXPECT=1 cargo test -p activities --test catalogue` writes it
anew. An input may be an expression unless it is marked *plain*. If a definition contains anything
that is not listed here, its publication reports that as a problem.
";

#[test]
fn the_documented_activities_are_the_registered_ones() {
    let engine = Engine::new(activities::all(), expressions::all());
    let mut descriptors = engine.descriptors();
    descriptors.sort_by_key(|descriptor| (descriptor.category, descriptor.type_name));
    let mut page = PREFACE.to_owned();
    let mut category = "";
    for descriptor in descriptors {
        if descriptor.category != category {
            category = descriptor.category;
            page += &format!("\n## {category}\n");
        }
        page += &described(descriptor);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/activities.md");
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/activities.md is stale: run with UPDATE_EXPECT=1");
}

fn described(descriptor: &Descriptor) -> String {
    let mut lines =
        vec![format!("\n**{}**. {}", descriptor.type_name, descriptor.description), String::new()];
    for input in &descriptor.inputs {
        let plain = if input.is_wrapped { "" } else { " (plain)" };
        lines.push(format!("- `{}`{plain}: {}", input.name, input.description));
    }
    for output in &descriptor.outputs {
        lines.push(format!("- gives `{}`: {}", output.name, output.description));
    }
    lines.join("\n") + "\n"
}
