//! SetVariable: gives a variable a value of its type.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Step, Type};
use serde_json::Value;

/// `Elsa.SetVariable`
pub(crate) struct SetVariable;

/// The variable, as the definition names it.
struct Target {
    id: String,
    name: String,
}

impl Activity for SetVariable {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.SetVariable", "Primitives", "Gives a variable a value.")
            .called("Set Variable")
            .input("variable", Type::Object, "The variable.")
            .required()
            .raw()
            .input("value", Type::Object, "The value; converted to the variable's type.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let text = |value: &Value, member: &str| {
            value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let target = match node.raw("variable") {
            Some(Value::String(name)) => Target { id: name.clone(), name: name.clone() },
            Some(variable) => Target { id: text(variable, "id"), name: text(variable, "name") },
            None => Target { id: String::new(), name: String::new() },
        };
        if !target.id.is_empty() || !target.name.is_empty() {
            node.names_variable("variable", &target.id, &target.name);
        } else if node.raw("variable").is_some_and(Value::is_object) {
            node.oversight("variable", "there is no variable: choose one");
        }
        Some(Box::new(target))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let value = step.value("value")?;
        if let Some(target) = step.plan::<Target>() {
            step.assign(&target.id, &target.name, value)?;
        }
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::{oversights, player};

    fn set(ty: &str, value: Value) -> (Value, Option<String>) {
        let mut player = player(json!({
            "variables": [{"id": "v1", "name": "V", "typeName": ty, "value": null}],
            "root": {"type": "SetVariable", "variable": {"id": "v1", "name": "V"}, "value": value}
        }));
        player.start(json!({}));
        let view = player.state().view(player.program());
        (view["variables"]["V"].clone(), player.incident().map(str::to_owned))
    }

    #[test]
    fn values_take_the_type_of_the_variable() {
        let check = |ty: &str, value: Value, expected: Value| {
            assert_eq!(set(ty, value), (expected, None), "{ty}");
        };
        check("Int32", json!("5"), json!(5));
        check("String", json!(5), json!("5"));
        check("Object", json!({"a": [1]}), json!({"a": [1]}));
        check("TimeSpan", json!("PT5S"), json!("00:00:05"));
        check("Int32", json!({"js": "1 + 1"}), json!(2));
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_incident() {
        let (_, incident) = set("Int32", json!("many"));
        assert_eq!(
            incident.as_deref(),
            Some("variable v1 is Int32: \"many\" is not a whole number")
        );
    }

    #[test]
    fn a_missing_variable_is_a_problem() {
        let check = |variable: Value, said: &str| {
            let node = json!({"type": "SetVariable", "id": "s", "variable": variable, "value": 1});
            assert_eq!(oversights(node), [format!("activity s: variable: {said}")]);
        };
        check(json!(null), "there is no value: give one");
        check(json!(""), "there is no value: give one");
        check(json!({"id": ""}), "there is no variable: choose one");
    }

    #[test]
    fn a_warning_names_an_unknown_variable_by_its_id_where_it_has_no_name() {
        let check = |variable: Value, shown: &str| {
            let node = json!({"type": "SetVariable", "id": "s", "variable": variable, "value": 1});
            let expected =
                format!("activity s: variable: there is no variable {shown} here: declare it");
            assert_eq!(crate::tests::warnings(node), [expected]);
        };
        check(json!({"id": "zz"}), "zz");
        check(json!({"id": "zz", "name": "Gone"}), "Gone");
        check(json!({"name": "Gone"}), "Gone");
    }

    fn hiding(driver: &str, root: Value) -> Value {
        json!({
            "variables": [
                {"id": "s", "name": "Hidden", "typeName": "Int32", "value": 1,
                    "storageDriverTypeName": driver},
                {"id": "o", "name": "Open", "typeName": "Int32", "value": 2}],
            "root": root
        })
    }

    /// Sets the secret, gives it to an inner one as an output, waits, and writes both.
    fn keeps_a_secret() -> Value {
        json!({"type": "Sequence", "variables": [
                {"id": "i", "name": "Inner", "storageDriverTypeName": MEMORY}],
            "activities": [
                {"type": "SetVariable", "variable": {"id": "s"}, "value": 4711},
                {"type": "RunJavaScript", "id": "script", "script": "getHidden() + 1",
                    "result": {"memoryReference": {"id": "i"}}},
                {"type": "Event", "eventName": "go"},
                {"type": "WriteLine", "text": {"js": "getHidden() + ' ' + getInner()"}},
                {"type": "If", "condition": {"js": "getHidden() === 4711 && getInner() === 4712"},
                    "then": {"type": "WriteLine", "text": "right"}}]})
    }

    const MEMORY: &str = "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core";

    #[test]
    fn a_variable_of_the_memory_driver_survives_a_wait_and_is_never_shown() {
        for (driver, is_hidden) in [
            (MEMORY, true),
            ("Elsa.Workflows.Services.MemoryStorageDriver, Elsa.Workflows.Core", true),
            ("Elsa.Workflows.Core.Services.MemoryStorageDriver, Elsa.Workflows.Core", true),
            ("MemoryStorageDriver", true),
            ("Memory", true),
            ("Elsa.Workflows.Services.WorkflowStorageDriver, Elsa.Workflows.Core", false),
            ("Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core", false),
            ("Workflow Instance", false),
            ("", false),
            ("Acme.BlobStorageDriver", false),
        ] {
            let mut player = player(hiding(driver, keeps_a_secret()));
            player.start(json!({}));
            let view = player.state().view(player.program());
            let secret = if is_hidden { None } else { Some(&json!(4711)) };
            assert_eq!(view["variables"].get("Hidden"), secret, "{driver}");
            assert_eq!(view["variables"]["Open"], 2);
            assert!(!view.to_string().contains("4712"), "{view:#}");
            let shared = player.state().clone().without_hidden(player.program());
            let shared = serde_json::to_string(&shared).unwrap();
            assert_eq!(shared.contains("4711"), !is_hidden, "{driver}: {shared}");
            assert!(!shared.contains("4712"), "{shared}");
            let event = player.state().bookmarks.keys().next().cloned().unwrap();
            player.resume_at(event, json!({}));
            assert_eq!(player.lines(), ["***", "right"], "{driver}");
        }
    }

    #[test]
    fn an_incident_does_not_show_a_value_that_does_not_fit_a_hidden_variable() {
        let set = json!({"type": "SetVariable", "variable": {"id": "s"}, "value": "top secret"});
        for (driver, shown) in [("Memory", false), ("WorkflowInstanceStorageDriver", true)] {
            let mut player = player(hiding(driver, set.clone()));
            player.start(json!({}));
            let incident = player.incident().unwrap();
            assert_eq!(incident.contains("top secret"), shown, "{incident}");
        }
    }

    #[test]
    fn an_incident_does_not_show_what_is_made_of_a_hidden_variable() {
        let read = json!({"js": "'top ' + variables.Hidden"});
        for activity in [
            json!({"type": "Delay", "timeSpan": read}),
            json!({"type": "WriteLine", "text": {"js": "throw new Error('top ' + variables.Hidden)"}}),
            json!({"type": "SetOutput", "outputName": "Total", "outputValue": read}),
        ] {
            for (driver, is_shown) in [("Memory", false), ("WorkflowInstanceStorageDriver", true)] {
                let variable = json!({"id": "s", "name": "Hidden", "value": "secret",
                    "storageDriverTypeName": driver});
                let outputs = json!([{"name": "Total", "type": "Int32"}]);
                let mut player =
                    player(json!({"variables": [variable], "outputs": outputs, "root": activity}));
                player.start(json!({}));
                let incident = player.incident().unwrap().to_owned();
                assert_eq!(incident.contains("top secret"), is_shown, "{incident}");
                assert_eq!(player.story().concat().contains("top secret"), is_shown, "{incident}");
            }
        }
    }

    #[test]
    fn a_driver_that_is_not_known_is_a_warning() {
        let found =
            crate::tests::warnings(hiding("Acme.BlobStorageDriver", json!({"type": "End"})));
        assert!(
            found[0].contains("there is no storage driver Acme.BlobStorageDriver"),
            "{found:?}"
        );
        assert_eq!(crate::tests::warnings(hiding("Memory", json!({"type": "End"}))), [""; 0]);
    }
}
