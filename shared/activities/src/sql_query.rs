//! SqlQuery: runs an SQL query and gives its rows.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Resumed, Step, Type, Wanted};

use crate::{called, sql};

/// `Elsa.SqlQuery`
pub(crate) struct SqlQuery;

impl Activity for SqlQuery {
    fn descriptor(&self) -> Descriptor {
        let what = "Runs an SQL query and gives its rows. A crash may repeat it.";
        sql::descriptor("Elsa.SqlQuery", "SQL Query", what, "query").output(
            "results",
            Type::List(Box::new(Type::Object)),
            "The rows, each an object by column.",
        )
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        sql::plan(node, "query");
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        sql::run(step, "query", Wanted::Rows)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "Sql") {
            return Err(failure);
        }
        let result = resumed.input.remove("rows").unwrap_or_default();
        step.set_output("results", result)?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::Operation;
    use serde_json::{Value, json};

    use crate::tests::{player, problems};

    fn document(kind: &str, statement: &str, value: Value) -> Value {
        json!({
            "variables": [{"id": "v", "name": "Name", "typeName": "String", "value": "O'Hara"}],
            "outputs": [{"name": "Got"}],
            "root": {"type": kind, "client": "shop", statement: value, "timeout": "00:00:05",
                "results": "Got", "result": "Got"}
        })
    }

    #[test]
    fn values_are_parameters_of_the_call() {
        let query =
            json!("select * from a where name = {{Variable.Name}} or k = {{IdempotencyKey}}");
        let mut player = player(document("Elsa.SqlQuery", "query", query));
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        let Operation::Sql(statement) = &call.operation else { panic!("{call:?}") };
        assert_eq!(statement.connection, "shop");
        assert_eq!(statement.parts, ["select * from a where name = ", " or k = ", ""]);
        assert_eq!(
            (&statement.values, &statement.keys),
            (&vec![json!("O'Hara"), Value::Null], &vec![1])
        );
        assert_eq!(call.timeout, Some(std::time::Duration::from_secs(5)));
        assert!(player.resume("Call", json!({"rows": [{"id": 1}]})));
        assert_eq!(player.state().output["Got"], json!([{"id": 1}]));
    }

    #[test]
    fn each_activity_reads_its_own_result() {
        let check = |kind: &str, statement: &str, result: Value, expected: Value| {
            let mut player = player(document(kind, statement, json!("select 1")));
            player.start(json!({}));
            assert!(player.resume("Call", result));
            assert_eq!(player.state().output["Got"], expected, "{kind}");
        };
        check("Elsa.SqlCommand", "command", json!({"affected": 3}), json!(3));
        check("Elsa.SqlSingleValue", "query", json!({"value": "x"}), json!("x"));
    }

    #[test]
    fn a_failure_is_an_incident_with_its_code() {
        let mut player = player(document("Elsa.SqlCommand", "command", json!("insert")));
        player.start(json!({}));
        let failed = json!({"error": "failed", "code": "23505", "message": "duplicate key"});
        assert!(player.resume("Call", failed));
        assert_eq!(player.incident(), Some("23505: duplicate key"));
        assert_eq!(player.state().incidents[0].code, "SqlFailed");
    }

    #[test]
    fn text_that_is_made_at_run_time_is_refused() {
        let made = json!({"expression": {"type": "JavaScript", "value": "'select 1'"}});
        let found = problems(document("Elsa.SqlQuery", "query", made));
        assert!(found.iter().any(|problem| problem.contains("would paste values")), "{found:?}");
        let sql = json!({"expression": {"type": "Sql", "value": "select {{Nobody}}"}});
        let found = problems(document("Elsa.SqlQuery", "query", sql));
        assert!(
            found.iter().any(|problem| problem.contains("there is no {{Nobody}}")),
            "{found:?}"
        );
    }
}
