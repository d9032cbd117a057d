//! SqlCommand: runs an SQL statement that changes data.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Resumed, Step, Type, Wanted};

use crate::{called, sql};

/// `Elsa.SqlCommand`
pub(crate) struct SqlCommand;

impl Activity for SqlCommand {
    fn descriptor(&self) -> Descriptor {
        let what = "Runs an SQL statement that changes data, at least once: a crash may repeat it. Write it so that it may (insert … on conflict do nothing), or keep {{IdempotencyKey}}, the same on each try.";
        sql::descriptor("Elsa.SqlCommand", "SQL Command", what, "command").output(
            "result",
            Type::Integer(64),
            "The number of changed rows.",
        )
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        sql::plan(node, "command");
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        sql::run(step, "command", Wanted::Affected)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "Sql") {
            return Err(failure);
        }
        let result = resumed.input.remove("affected").unwrap_or_default();
        step.set_output("result", result)?;
        Ok(Next::done())
    }
}
