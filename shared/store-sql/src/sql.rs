//! Statements for one row or many, written once for both databases.
//!
//! One row binds its cells. Many rows are arrays on PostgreSQL (`unnest`) and one JSON text on
//! SQLite (`json_each`), so the text of a statement does not depend on the number of rows and stays
//! prepared.

use crate::columns::{Columns, Kind};

/// A statement in its four forms, and the text from which [`crate::joined`] makes a fifth.
#[derive(Debug)]
pub(crate) struct Sql {
    pub(crate) columns: Columns,
    /// With `{rows}` in the place of the table expression `n`.
    pub(crate) text: String,
    pub(crate) sqlite_one: String,
    pub(crate) sqlite_many: String,
    pub(crate) postgres_one: String,
    pub(crate) postgres_many: String,
}

impl Sql {
    /// Inserts rows; `tail` is the clause for conflicts.
    pub(crate) fn insert(table: &str, columns: Columns, tail: &str) -> Self {
        let names = columns.names();
        let head = format!("INSERT INTO {table} ({names})");
        let one = format!("{head} VALUES ({}) {tail}", placeholders(&columns));
        // Without a WHERE the parser of SQLite takes ON CONFLICT for a join condition.
        let many = format!("{head} SELECT {names} FROM {{rows}} WHERE true {tail}");
        let over = Self::over(columns, &many);
        Self { sqlite_one: one.clone(), postgres_one: one, ..over }
    }

    /// Inserts those rows `n` for which the condition holds.
    pub(crate) fn insert_where(table: &str, columns: Columns, condition: &str, tail: &str) -> Self {
        let names = columns.names();
        let text = format!(
            "INSERT INTO {table} ({names}) SELECT {names} FROM {{rows}} WHERE {condition} {tail}"
        );
        Self::over(columns, &text)
    }

    /// Any other statement: `{rows}` in the text is a table expression `n` with these columns.
    pub(crate) fn over(columns: Columns, text: &str) -> Self {
        let one = numbered(&columns, |number, name, _| format!("${number} AS {name}"));
        let typed = numbered(&columns, |number, name, kind| {
            format!("${number}::{} AS {name}", kind.postgres())
        });
        let with = |rows: String| text.replace("{rows}", &rows);
        Self {
            sqlite_one: with(format!("(SELECT {one}) AS n")),
            sqlite_many: with(sqlite_rows(&columns)),
            postgres_one: with(format!("(SELECT {typed}) AS n")),
            postgres_many: with(postgres_rows(&columns, 1)),
            text: text.to_owned(),
            columns,
        }
    }

    /// Deletes by key: the simple form for one row, the general one for many.
    pub(crate) fn delete(table: &str, columns: Columns) -> Self {
        let names = columns.names();
        let same: Vec<String> = (1..)
            .zip(columns.iter())
            .map(|(number, c)| format!("{} = ${number}", c.name))
            .collect();
        let one = format!("DELETE FROM {table} WHERE {}", same.join(" AND "));
        let many = format!("DELETE FROM {table} WHERE ({names}) IN (SELECT {names} FROM {{rows}})");
        let over = Self::over(columns, &many);
        Self { sqlite_one: one.clone(), postgres_one: one, ..over }
    }
}

fn numbered(columns: &Columns, one: impl Fn(usize, &str, Kind) -> String) -> String {
    let all: Vec<String> =
        (1..).zip(columns.iter()).map(|(number, c)| one(number, c.name, c.kind)).collect();
    all.join(", ")
}

fn placeholders(columns: &Columns) -> String {
    numbered(columns, |number, _, _| format!("${number}"))
}

fn sqlite_rows(columns: &Columns) -> String {
    let cells = numbered(columns, |number, name, kind| match kind {
        Kind::Bytes => format!("unhex(value ->> {}) AS {name}", number - 1),
        _ => format!("value ->> {} AS {name}", number - 1),
    });
    format!("(SELECT {cells} FROM json_each($1)) AS n")
}

/// Rows as arrays, one for each column; the first is parameter number `first`.
pub(crate) fn postgres_rows(columns: &Columns, first: usize) -> String {
    let arrays: Vec<String> = columns
        .iter()
        .zip(first..)
        .map(|(column, number)| format!("${number}::{}[]", column.kind.postgres()))
        .collect();
    format!("unnest({}) AS n({})", arrays.join(", "), columns.names())
}
