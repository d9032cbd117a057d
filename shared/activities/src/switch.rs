//! Switch: runs the activity of the first case that holds, or of every case that holds.

use engine::{
    Activity, Child, Decision, Descriptor, Expression, Failure, Next, NodeRef, Plan, Planning,
    PortKind, Step, Type,
};
use serde_json::Value;

use crate::parallel::end_with_last;

/// `Elsa.Switch`
pub(crate) struct Switch;

/// A case: its label, its condition, and its activity if it has one.
pub(crate) struct Case {
    pub(crate) label: String,
    condition: Option<Expression>,
    node: Option<NodeRef>,
}

/// The modes: run the first case that holds, or all of them.
pub(crate) const MODES: Type = Type::Enum(&["MatchFirst", "MatchAny"]);

impl Activity for Switch {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Switch", "Branching", "Runs the activities of the cases that hold.")
            .input("mode", MODES, "The first case that holds, or every one.")
            .default("MatchFirst")
            .output("output", Type::Object, "Not used.")
            .port("cases", PortKind::Parts(&["activity"]))
            .port("default", PortKind::Embedded)
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let cases = node.cases("cases");
        Some(Box::new(planned(node, cases)))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let matches = matching(step)?;
        let chosen: Vec<NodeRef> = if matches.is_empty() {
            step.child("default").into_iter().collect()
        } else {
            matches.iter().filter_map(|case| case.node).collect()
        };
        for node in chosen {
            step.schedule(Some(node), None);
        }
        Ok(end_with_last(step))
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(if step.has_open_children() { Next::Wait } else { Next::done() })
    }
}

/// Parses cases: `{"label": …, "condition": …}`.
pub(crate) fn planned(node: &mut Planning<'_>, cases: Vec<(Value, Option<NodeRef>)>) -> Vec<Case> {
    let planned = cases.into_iter().enumerate().map(|(at, (case, child))| {
        let property = format!("cases[{at}].condition");
        let condition = case.get("condition").filter(|condition| !condition.is_null());
        Case {
            label: case.get("label").and_then(Value::as_str).unwrap_or_default().to_owned(),
            condition: condition
                .and_then(|condition| node.expression(&property, condition, &Type::Boolean)),
            node: child,
        }
    });
    planned.collect()
}

/// The cases that hold: the first, or all where the mode says so.
pub(crate) fn matching<'a>(step: &mut Step<'_, 'a>) -> Result<Vec<&'a Case>, Failure> {
    let Some(cases) = step.plan::<Vec<Case>>() else { return Ok(Vec::new()) };
    let all = step.value("mode")? == "MatchAny";
    let mut found = Vec::new();
    for case in cases {
        let Some(condition) = &case.condition else { continue };
        if step.evaluate("condition", condition, &Type::Boolean)? == true {
            found.push(case);
            if !all {
                break;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn the_mode_says_how_many_cases_run() {
        let check = |mode: &str, values: [bool; 2], expected: &[&str]| {
            let case = |label: &str, holds: bool| {
                json!({"label": label,
                    "condition": {"type": "JavaScript", "value": holds.to_string()},
                    "activity": {"type": "WriteLine", "text": label}})
            };
            check_lines(
                json!({"type": "Switch", "mode": mode,
                    "cases": [case("a", values[0]), case("b", values[1])],
                    "default": {"type": "WriteLine", "text": "neither"}}),
                expected,
            );
        };
        check("MatchFirst", [true, true], &["a"]);
        check("MatchFirst", [false, true], &["b"]);
        check("MatchAny", [true, true], &["a", "b"]);
        check("MatchAny", [false, false], &["neither"]);
        check_lines(json!({"type": "Switch"}), &[]);
    }
}
