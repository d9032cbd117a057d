//! `docs/activities.md` is what the registry says, not what someone remembers.

use std::fmt::Write as _;
use std::path::Path;

use engine::{Descriptor, Engine};

const PREFACE: &str = "# Activities

Generated from the registry; `UPDATE_EXPECT=1 cargo test -p activities --test catalogue` writes it
anew. An input may be an expression unless it is marked *plain*. Anything else in a definition is
named when it is published, as a problem.
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
            write!(page, "\n## {category}\n").unwrap();
        }
        describe(&mut page, descriptor);
    }
    compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/activities.md"), &page);
}

fn describe(page: &mut String, descriptor: &Descriptor) {
    write!(page, "\n**{}**. {}\n", descriptor.type_name, descriptor.description).unwrap();
    for input in &descriptor.inputs {
        let plain = if input.is_wrapped { "" } else { " (plain)" };
        writeln!(page, "- `{}`{plain}: {}", input.name, input.description).unwrap();
    }
    for output in &descriptor.outputs {
        writeln!(page, "- gives `{}`: {}", output.name, output.description).unwrap();
    }
}

fn compare(path: &Path, expected: &str) {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    let updates = std::env::var("UPDATE_EXPECT").is_ok();
    if updates {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "docs/activities.md is stale: run with UPDATE_EXPECT=1");
}
