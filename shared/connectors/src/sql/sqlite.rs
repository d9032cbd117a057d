//! Statements on SQLite. They stay in their file: statements that open or write other files are
//! refused.

use engine::{Statement, Wanted};
use futures::TryStreamExt as _;
use model::Map;
use serde_json::Value;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{
    Arguments as _, AssertSqlSafe, Column as _, Executor as _, Row as _, TypeInfo as _,
    ValueRef as _,
};

use super::bounded::{self, Rows};
use super::failure::Fault;
use super::statement::{result, text, values};

/// The words of statements that reach other files or change the connection.
const REFUSED: [&str; 5] = ["ATTACH", "DETACH", "VACUUM", "PRAGMA", "LOAD_EXTENSION"];

pub(super) async fn run(
    connection: &mut SqliteConnection,
    statement: &Statement,
    key: &str,
) -> Result<Map, Fault> {
    let sql = text(statement, |position| format!("?{position}"));
    if let Some(word) = refused(&sql) {
        return Err(Fault::Refused(format!(
            "{word} is not run on SQLite: it reaches beyond the database that was configured"
        )));
    }
    let query = sqlx::query_with(AssertSqlSafe(sql), arguments(values(statement, key))?);
    match statement.wanted {
        Wanted::Affected => {
            Ok(result("affected", connection.execute(query).await?.rows_affected()))
        }
        Wanted::Value => {
            let found = connection.fetch_optional(query).await?;
            let row = found.map(|found| row(&found)).transpose()?;
            Ok(result("value", bounded::first(row)?))
        }
        Wanted::Rows => {
            let mut rows = Rows::default();
            let mut found = connection.fetch(query);
            while let Some(next) = found.try_next().await? {
                rows.add(row(&next)?)?;
            }
            Ok(result("rows", rows.into_value()))
        }
    }
}

fn arguments(values: Vec<Value>) -> Result<SqliteArguments, Fault> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        let added = match value {
            Value::Null => arguments.add(None::<String>),
            Value::Bool(value) => arguments.add(value),
            Value::String(text) => arguments.add(text),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => arguments.add(whole),
                None => arguments.add(number.as_f64()),
            },
            nested @ (Value::Array(_) | Value::Object(_)) => arguments.add(nested.to_string()),
        };
        added.map_err(|error| Fault::Refused(error.to_string()))?;
    }
    Ok(arguments)
}

fn row(row: &SqliteRow) -> Result<Map, Fault> {
    let mut map = Map::new();
    for column in row.columns() {
        let at = column.ordinal();
        let raw = row.try_get_raw(at)?;
        // The type of a null is that of its column.
        let ty = if raw.is_null() { "NULL".to_owned() } else { raw.type_info().name().to_owned() };
        let value = match ty.as_str() {
            "NULL" => Value::Null,
            "BOOLEAN" => Value::from(row.try_get_unchecked::<bool, _>(at)?),
            "INTEGER" => Value::from(row.try_get_unchecked::<i64, _>(at)?),
            "REAL" => bounded::float(row.try_get_unchecked(at)?),
            "BLOB" => bounded::bytes(row.try_get_unchecked(at)?),
            _ => Value::from(row.try_get_unchecked::<String, _>(at)?),
        };
        map.insert(column.name().to_owned(), value);
    }
    Ok(map)
}

/// The first refused word outside of quotes and comments.
fn refused(sql: &str) -> Option<&'static str> {
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '"' | '`' => closed(rest, 1, &first.to_string()),
            '[' => closed(rest, 1, "]"),
            '-' if rest.starts_with("--") => closed(rest, 2, "\n"),
            '/' if rest.starts_with("/*") => closed(rest, 2, "*/"),
            _ if first.is_alphanumeric() || first == '_' => {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default();
                let known = REFUSED.into_iter().find(|known| known.eq_ignore_ascii_case(word));
                if known.is_some() {
                    return known;
                }
                end
            }
            other => other.len_utf8(),
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    None
}

/// The end of a text that is closed by this mark, after its first bytes.
fn closed(text: &str, from: usize, mark: &str) -> usize {
    let inside = text.get(from..).unwrap_or_default();
    inside.find(mark).map_or(text.len(), |at| from + at + mark.len())
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn other_files_are_out_of_reach() {
        for sql in [
            "attach database '/etc/x' as x",
            "select 1; /* it's */ ATTACH 'x' as y",
            "-- don't\nattach 'x' as y",
            "vacuum into '/tmp/x'",
            "select load_extension('x')",
        ] {
            assert!(refused(sql).is_some(), "{sql}");
        }
        for sql in ["select 'attach'", "select \"attach\", [vacuum] from attached -- attach", "'"] {
            assert_eq!(refused(sql), None, "{sql}");
        }
    }
}
