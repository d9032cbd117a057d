//! Fault: fails on purpose.

use engine::{Activity, Decision, Descriptor, Failure, Step, Type};

/// `Elsa.Fault`
pub(crate) struct Fault;

impl Activity for Fault {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Fault", "Primitives", "Fails on purpose, with an incident.")
            .input("code", Type::String, "A short, stable code.")
            .default("0")
            .input("category", Type::String, "Such as HTTP or Business.")
            .default("General")
            .input("faultType", Type::String, "Such as System or Business.")
            .default("System")
            .input("message", Type::String, "An explanation for people.")
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let mut text = |name: &str| {
            let text = step.text(name)?.unwrap_or_default();
            Ok(step.shown(text))
        };
        Err(Failure {
            code: text("code")?,
            category: text("category")?,
            kind: text("faultType")?,
            message: text("message")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use model::SubStatus;
    use serde_json::json;

    use crate::tests::player;

    fn document(strategy: &str) -> serde_json::Value {
        json!({"options": {"incidentStrategyType": strategy},
        "root": {"type": "Parallel", "activities": [
            {"type": "Fault", "id": "f", "code": "42", "message": "no stock"},
            {"type": "WriteLine", "text": "other branch"}
        ]}})
    }

    #[test]
    fn the_incident_says_what_was_given_and_nothing_else_runs() {
        let mut player = player(document("Elsa.Workflows.IncidentStrategies.FaultStrategy, Elsa"));
        player.start(json!({}));
        assert_eq!(player.status(), SubStatus::Faulted);
        let incident = player.state().incidents[0].clone();
        assert_eq!((incident.code.as_str(), incident.message.as_str()), ("42", "no stock"));
        assert_eq!(incident.activity_type, "Elsa.Fault");
        assert!(player.lines().is_empty());
    }

    #[test]
    fn the_configuration_has_the_strategy_of_definitions_that_name_none() {
        for (strategy, by_default, lines) in [
            (None, false, 0),
            (None, true, 1),
            (Some(""), true, 1),
            (Some("FaultStrategy"), true, 0),
            (Some("ContinueWithIncidentsStrategy"), false, 1),
        ] {
            let mut document = document("");
            document["options"] = json!({ "incidentStrategyType": strategy });
            let mut player = player(document);
            player.configure(|installation| installation.continues_with_incidents = by_default);
            player.start(json!({}));
            assert_eq!(player.lines().len(), lines, "{strategy:?}, {by_default}");
            assert_eq!(player.status(), SubStatus::Faulted);
        }
    }

    #[test]
    fn an_incident_does_not_show_what_is_made_of_a_hidden_variable() {
        for (driver, shown) in [("Memory", "***"), ("Workflow Instance", "no 4711")] {
            let secret =
                json!({"id": "s", "name": "S", "value": "4711", "storageDriverTypeName": driver});
            let mut player = player(json!({"variables": [secret], "root":
                {"type": "Fault", "code": "42", "message": {"js": "'no ' + variables.S"}}}));
            player.start(json!({}));
            let incident = &player.state().incidents[0];
            assert_eq!((incident.code.as_str(), incident.message.as_str()), ("42", shown));
            assert_eq!(player.story().concat().contains("4711"), driver != "Memory");
        }
    }

    #[test]
    fn other_branches_go_on_where_the_strategy_lets_them() {
        let mut player = player(document("ContinueWithIncidentsStrategy"));
        player.start(json!({}));
        assert_eq!(player.lines(), ["other branch"]);
        assert_eq!(player.status(), SubStatus::Faulted);
    }
}
