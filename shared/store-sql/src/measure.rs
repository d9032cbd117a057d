//! The metrics of the database: statements, errors, waits.

use std::time::Instant;

use sea_orm::{DatabaseConnection, sqlx};

use crate::slowest;

/// Measures every statement of this connection.
pub(crate) fn statements(connection: &mut DatabaseConnection) {
    connection.set_metric_callback(|info| {
        let (operation, table) = kind(&info.statement.sql);
        meter::DATABASE_QUERY_DURATION.record(&[operation, table], info.elapsed);
        slowest::add(&info.statement.sql, info.elapsed);
    });
}

/// The operation and the table of a statement. Both are labels, so there is a limited number of
/// them: the tables are those that the code names.
fn kind(sql: &str) -> (&'static str, &str) {
    let mut words = sql.split_whitespace();
    let operation = match words.next().unwrap_or_default() {
        "SELECT" => "select",
        "INSERT" => "insert",
        "UPDATE" => "update",
        "DELETE" => "delete",
        _ => "other",
    };
    let mut before = operation;
    for word in words {
        let is_next = matches!(before, "FROM" | "INTO" | "update");
        before = word;
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        if is_next && !name.is_empty() && name.bytes().all(is_name) {
            return (operation, name);
        }
    }
    (operation, "-")
}

/// Counts an error of the database by its kind.
pub(crate) fn error(error: &sqlx::Error) {
    meter::DATABASE_ERRORS.inc(&[kind_of(error)]);
}

fn kind_of(error: &sqlx::Error) -> &'static str {
    let database = match error {
        sqlx::Error::Database(database) => database,
        sqlx::Error::PoolTimedOut => return "pool",
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolClosed => return "connection",
        sqlx::Error::RowNotFound
        | sqlx::Error::TypeNotFound { .. }
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_) => return "corrupt",
        _ => return "other",
    };
    let code = database.code().unwrap_or_default();
    // SQLite's codes are numbers; PostgreSQL's have five characters.
    if let Some(number) = code.parse::<u32>().ok().filter(|_| code.len() < 5) {
        return match number & 0xff {
            5 | 6 => "busy",
            7 | 14 => "resources",
            8 => "read only",
            10 | 13 => "full",
            11 | 26 => "corrupt",
            18..=20 => "constraint",
            _ => "other",
        };
    }
    match (code.get(..2).unwrap_or_default(), &*code) {
        (_, "40P01") => "deadlock",
        (_, "57014") => "timeout",
        (_, "25006") => "read only",
        (_, "53100") => "full",
        (_, "42P01" | "42703") => "schema",
        ("40", _) => "serialization",
        ("55", _) => "lock",
        ("08" | "57", _) => "connection",
        ("53", _) => "resources",
        ("22" | "23" | "54", _) => "constraint",
        ("XX", _) => "corrupt",
        _ => "other",
    }
}

/// The time of the wait for a connection, which begins now.
pub(crate) struct Wait(Instant);

impl Wait {
    pub(crate) fn begin() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn over(self) {
        meter::DATABASE_ACQUIRE_DURATION.record(&[], self.0.elapsed());
    }
}

/// A run of a statement of the pipeline, which begins now.
pub(crate) struct Run<'a> {
    text: &'a str,
    began: Instant,
}

impl<'a> Run<'a> {
    pub(crate) fn begin(text: &'a str) -> Self {
        Self { text, began: Instant::now() }
    }

    /// It has read or written this many rows; none if it has failed.
    pub(crate) fn over(self, rows: Option<u64>) {
        slowest::add_constant(self.text, self.began.elapsed(), rows);
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn statements_are_known_by_operation_and_table() {
        for (sql, expected) in [
            (r#"SELECT "a"."b" FROM "instances" WHERE 1"#, ("select", "instances")),
            (r#"INSERT INTO "audit" ("id") VALUES ($1)"#, ("insert", "audit")),
            (r#"INSERT INTO api_keys(id) VALUES ($1)"#, ("insert", "-")),
            (r#"UPDATE "alteration_plans" SET "owner" = $1"#, ("update", "alteration_plans")),
            (r#"DELETE FROM "tokens" WHERE 1"#, ("delete", "tokens")),
            ("SELECT COUNT(*) AS n FROM (SELECT 1 FROM x) AS s", ("select", "x")),
            ("SELECT 1", ("select", "-")),
            ("BEGIN IMMEDIATE", ("other", "-")),
            ("", ("other", "-")),
        ] {
            assert_eq!(kind(sql), expected, "{sql}");
        }
    }
}
