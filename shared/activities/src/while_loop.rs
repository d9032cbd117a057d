//! While: repeats its body as long as a condition holds.

use engine::{Activity, Child, Decision, Descriptor, Next, PortKind, Step, Type};

/// `Elsa.While`
pub(crate) struct WhileLoop;

impl Activity for WhileLoop {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.While", "Looping", "Repeats its body as long as a condition holds.")
            .input("condition", Type::Boolean, "Evaluated before every round.")
            .default(false)
            .port("body", PortKind::Embedded)
            .loops()
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        if !step.flag("condition")? {
            return Ok(Next::done());
        }
        step.schedule(step.child("body"), None);
        Ok(Next::Wait)
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, _child: Child) -> Decision {
        self.start(step)
    }
}

#[cfg(test)]
mod tests {
    use engine::Rest;
    use serde_json::json;

    use crate::tests::{check_lines, engine};

    #[test]
    fn the_body_repeats_while_the_condition_holds() {
        let body = json!({"type": "Sequence", "activities": [
            {"type": "WriteLine", "text": {"js": "`round ${variables.N}`"}},
            {"type": "SetVariable", "variable": "N", "value": {"js": "variables.N + 1"}}
        ]});
        let document = |condition: &str| {
            json!({"variables": [{"name": "N", "typeName": "Int32", "value": "0"}],
                "root": {"type": "While", "condition": {"js": condition}, "body": body}})
        };
        check_lines(document("variables.N < 2"), &["round 0", "round 1"]);
        check_lines(document("false"), &[]);
    }

    #[test]
    fn a_loop_without_end_yields_and_can_be_continued() {
        let definition = engine::testing::parsed(json!({"type": "While", "condition": true}));
        let program = engine().compile(&definition.unwrap(), &engine::Library::default()).unwrap();
        let env = engine::testing::env(0);
        let start = engine::Start {
            instance_id: "i".into(),
            trigger: None,
            input: model::Map::new(),
            properties: model::Map::new(),
            correlation_id: None,
            name: None,
            restart: None,
            parent: None,
            responds: false,
        };
        let state = engine::State::default();
        let turn = engine().turn(&program, state, engine::Input::Start(Box::new(start)), &env);
        assert_eq!(turn.rest, Rest::OutOfBudget);
        let steps = turn.state.steps;
        let turn = engine().turn(&program, turn.state, engine::Input::Continue, &env);
        assert_eq!(turn.rest, Rest::OutOfBudget);
        assert!(turn.state.steps > steps);
        let cancel = engine::Input::Cancel { reason: None };
        let turn = engine().turn(&program, turn.state, cancel, &env);
        assert_eq!(turn.rest, Rest::Finished);
    }
}
