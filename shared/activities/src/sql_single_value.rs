//! SqlSingleValue: runs an SQL query and gives its first value.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Resumed, Step, Type, Wanted};

use crate::{called, sql};

/// `Elsa.SqlSingleValue`
pub(crate) struct SqlSingleValue;

impl Activity for SqlSingleValue {
    fn descriptor(&self) -> Descriptor {
        let what =
            "Runs an SQL query and gives the first column of its first row. A crash may repeat it.";
        sql::descriptor("Elsa.SqlSingleValue", "SQL Single Value", what, "query").output(
            "result",
            Type::Object,
            "The value; null if there is no row.",
        )
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        sql::plan(node, "query");
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        sql::run(step, "query", Wanted::Value)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "Sql") {
            return Err(failure);
        }
        let result = resumed.input.remove("value").unwrap_or_default();
        step.set_output("result", result)?;
        Ok(Next::done())
    }
}
