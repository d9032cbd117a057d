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
        let required = match input.required_unless {
            None => String::new(),
            Some([]) => ", required".to_owned(),
            Some(others) => format!(", required without `{}`", others.join("` or `")),
        };
        let ty = named(&input.ty);
        lines.push(format!(
            "- `{}` ({ty}{plain}{required}{default}): {}",
            input.name, input.description
        ));
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

/// The incident of an activity that runs with these inputs, if it says that one has no value.
fn missing(engine: &Engine, node: &Value) -> Option<String> {
    let mut player = engine::testing::Player::new(engine, node.clone()).ok()?;
    player.start(json!({}));
    let said = player.incident()?.strip_suffix(": there is no value: give one")?;
    Some(said.to_owned())
}

/// What the descriptors say is what activities do, and what a publication refuses.
#[test]
fn a_required_input_without_a_value_is_named_at_publish() {
    let engine = Engine::new(activities::all(), expressions::all());
    let mut required = 0;
    for descriptor in engine.descriptors() {
        let name = descriptor.type_name;
        let inputs = descriptor.inputs.iter().filter(|input| input.required_unless.is_some());
        let needed: Vec<_> = inputs.collect();
        let bare = json!({"type": name, "id": "a"});
        let mut whole = bare.clone();
        for input in &needed {
            whole[input.name] = match &input.ty {
                Type::DateTime => json!("2030-01-31T08:00:00Z"),
                Type::Script(_) => json!("select 1"),
                _ if input.name == "cronExpression" => json!("0 8 * * *"),
                _ => json!("text"),
            };
        }
        assert_eq!(missing(&engine, &whole), None, "{name}: it needs more");
        if let Some(input) = missing(&engine, &bare) {
            let is_said = needed.iter().any(|needed| needed.name == input);
            assert!(is_said, "{name} needs {input}: mark it as required");
        }
        for input in needed {
            required += 1;
            let mut without = vec![whole.clone(), whole.clone()];
            without[0].as_object_mut().unwrap().remove(input.name);
            without[1][input.name] = json!(" ");
            if input.ty == Type::DateTime {
                without.pop();
            }
            for node in without {
                let definition = engine::testing::parsed(node.clone()).unwrap();
                let found = engine.validate(&definition, &engine::Library::default());
                let found = found.err().unwrap_or_default();
                let named: Vec<_> = found.iter().map(|one| one.property.as_deref()).collect();
                assert_eq!(named, [Some(input.name)], "{node}: {found:?}");
                let said = &found[0].message;
                assert!(said.starts_with("there is no value: give one"), "{node}: {said}");
            }
        }
    }
    assert!(required > 15, "many inputs are required: {required}");
}
