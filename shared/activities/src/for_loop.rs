//! For: counts from one number to another and runs its body for each.

use engine::{
    Activity, Child, Decision, Descriptor, Failure, Next, Plan, Planning, PortKind, Step, Type,
};
use model::Map;
use serde_json::{Value, json};

/// `Elsa.For`
pub(crate) struct ForLoop;

impl Activity for ForLoop {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.For", "Looping", "Counts, and runs its body for each number.")
            .input("start", Type::Integer(32), "The first number.")
            .default(0)
            .input("end", Type::Integer(32), "The last number.")
            .default(0)
            .input("step", Type::Integer(32), "What is added each time; not 0.")
            .default(1)
            .input("outerBoundInclusive", Type::Boolean, "The body runs for the last number too.")
            .default(true)
            .output("currentValue", Type::Integer(32), "The number of this round.")
            .port("body", PortKind::Embedded)
            .loops()
            .gives(&["CurrentValue"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        if node.literal("step").and_then(Value::as_i64) == Some(0) {
            node.problem("step", "0 never gets to the end: write another number");
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let by = step.integer("step")?.unwrap_or(1);
        if by == 0 {
            return Err(Failure::input("step", "0 never gets to the end"));
        }
        let first = step.integer("start")?.unwrap_or_default();
        let last = step.integer("end")?.unwrap_or_default();
        let last = if step.flag("outerBoundInclusive")? { last } else { last - by.signum() };
        round(step, first, last, by)
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let tag = child.tag.unwrap_or_default();
        let number = |name: &str| tag[name].as_i64().unwrap_or_default();
        let by = number("by");
        round(step, number("at") + by, number("last"), by)
    }
}

fn round(step: &mut Step<'_, '_>, at: i64, last: i64, by: i64) -> Decision {
    if (by > 0 && at > last) || (by < 0 && at < last) || by == 0 {
        return Ok(Next::done());
    }
    step.set_output("currentValue", at.into())?;
    let given = Map::from_iter([("CurrentValue".to_owned(), Value::from(at))]);
    let tag = json!({"at": at, "last": last, "by": by});
    step.schedule_with(step.child("body"), Some(tag), given);
    Ok(Next::Wait)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::{check_lines, player, problems};

    fn counted(inputs: Value) -> Value {
        let mut node = json!({"type": "For", "body":
            {"type": "WriteLine", "text": {"js": "getVariable('CurrentValue')"}}});
        for (name, value) in inputs.as_object().unwrap() {
            node[name] = value.clone();
        }
        node
    }

    #[test]
    fn numbers_run_from_start_to_end() {
        check_lines(counted(json!({"start": 1, "end": 3})), &["1", "2", "3"]);
        check_lines(
            counted(json!({"start": 1, "end": 3, "outerBoundInclusive": false})),
            &["1", "2"],
        );
        check_lines(counted(json!({"start": 5, "end": 0, "step": -2})), &["5", "3", "1"]);
        check_lines(counted(json!({"start": 1, "end": 0})), &[]);
        check_lines(json!({"type": "For", "start": 1, "end": 2}), &[]);
    }

    #[test]
    fn a_step_of_zero_is_a_mistake_written_out_and_an_incident_computed() {
        let found = problems(counted(json!({"end": 3, "step": 0})));
        assert!(found[0].contains("0 never gets to the end"), "{found:?}");
        let mut player = player(counted(json!({"end": 3, "step": {"js": "0"}})));
        player.start(json!({}));
        assert_eq!(player.incident(), Some("step: 0 never gets to the end"));
    }
}
