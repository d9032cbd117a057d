//! FlowJoin: joins paths. The flowchart reads the mode and does the joining.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

/// `Elsa.FlowJoin`
pub(crate) struct FlowJoin;

/// When a join goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With the first path that arrives; the others are cancelled.
    Any,
    /// When every path has arrived.
    All,
    /// When every path that is still alive has arrived.
    Active,
}

impl Mode {
    /// The mode of this name; `WaitAny` when there is none.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "WaitAll" => Self::All,
            "WaitAllActive" => Self::Active,
            _ => Self::Any,
        }
    }
}

impl Activity for FlowJoin {
    fn descriptor(&self) -> Descriptor {
        const MODES: Type = Type::Enum(&["WaitAny", "WaitAll", "WaitAllActive"]);
        Descriptor::new("Elsa.FlowJoin", "Branching", "Joins paths of a flowchart.")
            .called("Join")
            .input("mode", MODES, "The paths that it waits for.")
            .default("WaitAny")
            .outcomes(&["Done"])
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::{check_outcomes, problems};

    #[test]
    fn it_completes_at_once() {
        check_outcomes(json!({"type": "FlowJoin", "mode": "WaitAll"}), &["Done"]);
    }

    #[test]
    fn an_unknown_mode_is_a_problem() {
        let problems = problems(json!({"type": "FlowJoin", "id": "j", "mode": "WaitSome"}));
        assert_eq!(
            problems,
            ["activity j: mode: \"WaitSome\" is not one of WaitAny, WaitAll, WaitAllActive"]
        );
    }
}
