//! FlowSwitch: leaves through the labels of the cases that hold.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Step, Type};
use serde_json::Value;

use crate::switch::{MODES, matching, planned};

/// `Elsa.FlowSwitch`
pub(crate) struct FlowSwitch;

impl Activity for FlowSwitch {
    fn descriptor(&self) -> Descriptor {
        let what = "Leaves through the labels of the cases that hold, or through Default.";
        Descriptor::new("Elsa.FlowSwitch", "Branching", what)
            .called("Switch (flow)")
            .input("cases", Type::List(Box::new(Type::Object)), "Labels and conditions.")
            .raw()
            .input("mode", MODES, "The first case that holds, or every one.")
            .default("MatchFirst")
            .outcomes(&["Default"])
            .more_outcomes()
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let cases = match node.raw("cases") {
            Some(Value::Array(cases)) => cases.clone(),
            None | Some(Value::Null) => Vec::new(),
            Some(other) => {
                let message = format!("{other} is not a list: write [ … ]");
                node.oversight("cases", message);
                Vec::new()
            }
        };
        let label = |case: &Value| case.get("label").and_then(Value::as_str).map(str::to_owned);
        node.leaves_by(cases.iter().filter_map(label).collect::<Vec<_>>());
        Some(Box::new(planned(node, cases.into_iter().map(|case| (case, None)).collect())))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let matches = matching(step)?;
        if matches.is_empty() {
            return Ok(Next::outcome("Default"));
        }
        Ok(Next::Complete(matches.into_iter().map(|case| case.label.clone()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_outcomes;

    #[test]
    fn labels_of_cases_that_hold_are_the_outcomes() {
        let check = |mode: &str, values: [bool; 2], expected: &[&str]| {
            let case = |label: &str, holds: bool| {
                json!({"label": label,
                    "condition": {"type": "JavaScript", "value": holds.to_string()}})
            };
            let cases = [case("A", values[0]), case("B", values[1])];
            check_outcomes(json!({"type": "FlowSwitch", "mode": mode, "cases": cases}), expected);
        };
        check("MatchFirst", [true, true], &["A"]);
        check("MatchAny", [true, true], &["A", "B"]);
        check("MatchFirst", [false, false], &["Default"]);
    }
}
