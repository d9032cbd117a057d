//! Log: writes into the log of the process, and into the journal.

use engine::{
    Activity, Decision, Descriptor, Effect, LogLevel, LogLine, Next, Plan, Planning, Step, Type,
};
use serde_json::Value;

/// `Elsa.Log`
pub(crate) struct Log;

const LEVELS: [&str; 7] = ["Trace", "Debug", "Information", "Warning", "Error", "Critical", "None"];

impl Activity for Log {
    fn descriptor(&self) -> Descriptor {
        let what = "Writes into the log of the executor, and into the journal.";
        Descriptor::new("Elsa.Log", "Logging", what)
            .input("message", Type::String, "The text; {Name} stands for an argument.")
            .input("arguments", Type::Object, "A list of arguments, or an object with their names.")
            .input("attributes", Type::Dictionary, "Further data of the line.")
            .input("level", Type::Enum(&LEVELS), "The level.")
            .default("Information")
            .input("category", Type::String, "The category.")
            .default("Process")
            .input("sinkNames", Type::texts(), "Not used; kept for exports.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        node.warn_of_unused("sinkNames", "the line goes to the log of the executor");
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let name = step.text("level")?.unwrap_or_else(|| "Information".to_owned());
        let Some(level) = level(&name) else { return Ok(Next::done()) };
        let template = step.text("message")?.unwrap_or_default();
        let message = filled(&template, &step.value("arguments")?);
        let category = step.text("category")?.unwrap_or_else(|| "Process".to_owned());
        let attributes = step.object("attributes")?;
        step.line("message", format!("{name} {category}: {message}"));
        step.emit(Effect::Log(LogLine { level, category, message, attributes }));
        Ok(Next::done())
    }
}

fn level(name: &str) -> Option<LogLevel> {
    match name {
        "Trace" => Some(LogLevel::Trace),
        "Debug" => Some(LogLevel::Debug),
        "Warning" => Some(LogLevel::Warning),
        "Error" | "Critical" => Some(LogLevel::Error),
        "None" => None,
        _ => Some(LogLevel::Information),
    }
}

/// The template with its arguments: by name from an object, in order from a list.
fn filled(template: &str, arguments: &Value) -> String {
    let mut text = String::new();
    let mut rest = template;
    let mut position = 0;
    while let Some((before, opened)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = opened.split_once('}') else {
            text.push('{');
            rest = opened;
            continue;
        };
        let found = match arguments {
            Value::Object(map) => map.get(name.trim()),
            Value::Array(items) => items.get(position),
            Value::Null => None,
            single => (position == 0).then_some(single),
        };
        position += 1;
        match found {
            Some(Value::String(value)) => text.push_str(value),
            Some(value) => text.push_str(&value.to_string()),
            None => text.push_str(&format!("{{{name}}}")),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::{oversights, player, warnings};

    #[test]
    fn the_line_is_an_effect_and_in_the_journal() {
        let mut player = player(json!({"type": "Elsa.Log", "message": "order {Id} of {Who}",
            "arguments": {"expression": {"type": "Object", "value": "[7, \"Ann\"]"}},
            "attributes": {"a": 1}, "level": "Warning"}));
        player.start(json!({}));
        let Effect::Log(line) = player.effects[0].clone() else { panic!("no line") };
        assert_eq!((line.level, line.category.as_str()), (LogLevel::Warning, "Process"));
        assert_eq!(line.message, "order 7 of Ann");
        assert_eq!(line.attributes["a"], 1);
        assert_eq!(player.lines(), ["Warning Process: order 7 of Ann"]);
    }

    #[test]
    fn arguments_have_names_or_an_order() {
        let check = |template: &str, arguments: Value, expected: &str| {
            assert_eq!(filled(template, &arguments), expected);
        };
        check("{A}-{B}", json!({"B": 2, "A": "x"}), "x-2");
        check("{A}-{B}", json!(["x"]), "x-{B}");
        check("{A", json!(["x"]), "{A");
        check("{0}", json!("one"), "one");
        check("none", Value::Null, "none");
    }

    #[test]
    fn a_sink_has_no_effect_and_publishing_says_so() {
        let node = |sinks: Value| json!({"type": "Elsa.Log", "message": "x", "sinkNames": sinks});
        let wrapped = |value: &str| json!({"typeName": "String[]", "expression": {"type": "Object", "value": value}});
        for sinks in [json!(["file"]), wrapped("[\"file\"]")] {
            assert_eq!(oversights(node(sinks.clone())), [""; 0]);
            let found = warnings(node(sinks));
            let expected = "sinkNames: has no effect: the line goes to the log of the executor";
            assert!(found.len() == 1 && found[0].ends_with(expected), "{found:?}");
        }
        for nothing in [Value::Null, json!([]), json!(""), wrapped("[]"), wrapped("")] {
            assert_eq!(warnings(node(nothing.clone())), [""; 0], "{nothing}");
        }
    }
}
