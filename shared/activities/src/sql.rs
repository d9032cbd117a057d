//! What the SQL activities share: their inputs, and the statement that they ask for.

use engine::{Descriptor, Failure, Kind, Planning, Statement, Step, Type, Wanted};
use serde_json::Value;

const CONNECTION: &str = "The name of a connection that the executor's setting `sql-connections` \
                          has.";
const URL: &str = "The name of a connection as well; a URL only if the setting `sql-urls` allows \
                   it.";
const TIMEOUT: &str = "The longest wait for the result of one try.";

/// A descriptor with the inputs that every SQL activity has; `statement` is the name of the text.
pub(crate) fn descriptor(
    type_name: &'static str,
    called: &'static str,
    what: &'static str,
    statement: &'static str,
) -> Descriptor {
    Descriptor::new(type_name, "SQL", what)
        .called(called)
        .kind(Kind::Task)
        .calls()
        .input("client", Type::String, CONNECTION)
        .required_unless(&["connectionString"])
        .input("connectionString", Type::String, URL)
        .input(
            statement,
            Type::Script("Sql"),
            "The statement. {{Variable.Name}} and {{Input.Name}} are bound as parameters.",
        )
        .required()
        .input("timeout", Type::TimeSpan, TIMEOUT)
        .outcomes(&["Done"])
}

/// Refuses a statement that is made when the workflow runs.
pub(crate) fn plan(node: &mut Planning<'_>, statement: &str) {
    if node.has(statement) && node.literal(statement).is_none() {
        let message = "write the statement as Sql, with {{Variable.Name}} for a value: a text \
                       that is made when the workflow runs would paste values into SQL";
        node.problem(statement, message);
    }
}

/// Asks for the statement.
pub(crate) fn run(step: &mut Step<'_, '_>, statement: &str, wanted: Wanted) -> Result<(), Failure> {
    let named = step.text("connectionString")?;
    let connection = match named {
        Some(named) => named,
        None => step.required("client")?,
    };
    let source = step.required(statement)?;
    let mut found = step.scripted(statement, "Sql", &source)?;
    let mut list = |name: &str| match found.get_mut(name).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let position = |value: Value| usize::try_from(value.as_u64()?).ok();
    let statement = Statement {
        connection,
        parts: list("parts").into_iter().map(text).collect(),
        values: list("values"),
        keys: list("keys").into_iter().filter_map(position).collect(),
        wanted,
    };
    let timeout = step.span("timeout")?;
    step.call(statement, timeout)
}
