//! `docs/activities.md` equals the page generated from the registry.

use std::path::Path;

use engine::{Descriptor, Engine, PortKind, Type};
use serde_json::{Value, json};

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
    let calls =
        if descriptor.makes_calls { " Failed calls can be [made again](retries.md)." } else { "" };
    let what = format!("\n**{}**. {}{calls}", descriptor.type_name, descriptor.description);
    let mut lines = vec![what, String::new()];
    for input in &descriptor.inputs {
        let plain = if input.is_wrapped { "" } else { ", plain" };
        let default = match &input.default_value {
            Value::Null => String::new(),
            value => format!(", {value} if not given"),
        };
        let ty = named(&input.ty);
        lines.push(format!("- `{}` ({ty}{plain}{default}): {}", input.name, input.description));
    }
    for output in &descriptor.outputs {
        let (name, ty) = (output.name, named(&output.ty));
        lines.push(format!("- gives `{name}` ({ty}): {}", output.description));
    }
    for port in &descriptor.ports {
        let holds = match port.kind {
            PortKind::Flow => continue,
            PortKind::Embedded => "an activity".to_owned(),
            PortKind::List => "a list of activities".to_owned(),
            PortKind::Parts(members) => {
                format!("a list of objects, with activities in `{}`", members.join("`, `"))
            }
        };
        lines.push(format!("- holds `{}`: {holds}", port.name));
    }
    let flow = descriptor.ports.iter().filter(|port| port.kind == PortKind::Flow);
    let outcomes: Vec<_> = flow.map(|port| format!("`{}`", port.name)).collect();
    if !outcomes.is_empty() {
        lines.push(format!("- outcomes: {}", outcomes.join(", ")));
    }
    lines.push(String::new());
    lines.push(format!("  `{}`", example(descriptor)));
    lines.join("\n") + "\n"
}

fn named(ty: &Type) -> String {
    json!(ty).as_str().unwrap_or_default().to_owned()
}

/// The activity with some of its inputs.
fn example(descriptor: &Descriptor) -> Value {
    let mut example = json!({"type": descriptor.type_name});
    for input in descriptor.inputs.iter().take(3) {
        let given = match (input.name, &input.ty) {
            ("url", _) => json!("https://example.com/"),
            ("cronExpression", _) => json!("0 0 8 * * *"),
            ("variable", _) => json!("Order"),
            ("timeZone", _) => json!("Europe/Berlin"),
            (_, _) if !input.default_value.is_null() => input.default_value.clone(),
            (_, Type::Enum(words)) => json!(words[0]),
            (_, Type::String) => json!("text"),
            (_, Type::Script("JavaScript")) => json!("1 + 1"),
            (_, Type::Boolean) => json!(true),
            (_, Type::Integer(_) | Type::Double) => json!(1),
            (_, Type::TimeSpan) => json!("00:00:05"),
            (_, Type::DateTime) => json!("2030-01-31T08:00:00Z"),
            (_, Type::Object) => json!({"js": "variables.Order"}),
            _ => continue,
        };
        example[input.name] = given;
    }
    example
}

#[test]
fn every_example_can_be_compiled() {
    let engine = Engine::new(activities::all(), expressions::all());
    for descriptor in engine.descriptors() {
        let example = example(descriptor);
        let played = engine::testing::Player::new(&engine, example.clone());
        assert!(played.is_ok(), "{example}: {:?}", played.err());
    }
}
