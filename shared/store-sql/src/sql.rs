//! Statements for one row or many, in one spelling for both databases.
//!
//! One row binds its cells. Many rows are arrays on PostgreSQL (`unnest`) and one JSON text on
//! SQLite (`json_each`), so that the text of a statement never depends on how many rows there are
//! and stays prepared.

use std::sync::LazyLock;

use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sea_orm::sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sea_orm::sqlx::{self, Arguments as _, Postgres, Row as _, Sqlite, Transaction};

use crate::failure::Failure;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Small,
    Flag,
    Bytes,
}

/// One value. Which variant a column has is fixed by its [`Kind`]; [`Kind::Small`] is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Text(Option<String>),
    Number(Option<i64>),
    Flag(bool),
    Bytes(Option<Vec<u8>>),
}

/// One row of cells, in the order of the statement's columns.
pub(crate) type Row = Vec<Cell>;

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Some(text.into()))
    }

    pub(crate) fn number(number: impl Into<i64>) -> Self {
        Self::Number(Some(number.into()))
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.as_ref().map_or(0, String::len),
            Self::Bytes(bytes) => bytes.as_ref().map_or(0, Vec::len),
            Self::Number(_) | Self::Flag(_) => 8,
        }
    }

    fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { text.as_deref() } else { None }
    }

    fn as_number(&self) -> Option<i64> {
        if let Self::Number(number) = self { *number } else { None }
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { bytes.as_deref() } else { None }
    }

    fn as_flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }
}

/// A statement in its four forms, and as others can have it in theirs.
#[derive(Debug)]
pub(crate) struct Sql {
    columns: Vec<(&'static str, Kind)>,
    /// With `{rows}` for its table expression `n`.
    text: String,
    sqlite_one: String,
    sqlite_many: String,
    postgres_one: String,
    postgres_many: String,
}

impl Sql {
    /// Inserts rows; `tail` says what happens on a conflict.
    pub(crate) fn insert(table: &str, columns: &[(&'static str, Kind)], tail: &str) -> Self {
        let names = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let head = format!("INSERT INTO {table} ({names})");
        let one = format!("{head} VALUES ({}) {tail}", placeholders(columns));
        // Without a WHERE the parser of SQLite takes ON CONFLICT for a join condition.
        let many = format!("{head} SELECT {names} FROM {{rows}} WHERE true {tail}");
        let over = Self::over(columns, &many);
        Self { sqlite_one: one.clone(), postgres_one: one, ..over }
    }

    /// Anything else: `{rows}` in the text is a table expression `n` with these columns.
    pub(crate) fn over(columns: &[(&'static str, Kind)], text: &str) -> Self {
        let one: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(index, (name, _))| format!("${} AS {name}", index + 1))
            .collect();
        let typed: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(index, (name, kind))| format!("${}::{} AS {name}", index + 1, postgres(*kind)))
            .collect();
        let with = |rows: String| text.replace("{rows}", &rows);
        Self {
            columns: columns.to_vec(),
            text: text.to_owned(),
            sqlite_one: with(format!("(SELECT {}) AS n", one.join(", "))),
            sqlite_many: with(sqlite_rows(columns)),
            postgres_one: with(format!("(SELECT {}) AS n", typed.join(", "))),
            postgres_many: with(postgres_rows(columns, 1)),
        }
    }

    /// Deletes by key: the simple form for one row, the general one for many.
    pub(crate) fn delete(table: &str, columns: &[(&'static str, Kind)]) -> Self {
        let names = columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let same: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(index, (name, _))| format!("{name} = ${}", index + 1))
            .collect();
        let one = format!("DELETE FROM {table} WHERE {}", same.join(" AND "));
        let many = format!("DELETE FROM {table} WHERE ({names}) IN (SELECT {names} FROM {{rows}})");
        let over = Self::over(columns, &many);
        Self { sqlite_one: one.clone(), postgres_one: one, ..over }
    }
}

fn placeholders(columns: &[(&'static str, Kind)]) -> String {
    let all: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    all.join(", ")
}

fn sqlite_rows(columns: &[(&'static str, Kind)]) -> String {
    let cells: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(index, (name, kind))| match kind {
            Kind::Bytes => format!("unhex(value ->> {index}) AS {name}"),
            _ => format!("value ->> {index} AS {name}"),
        })
        .collect();
    format!("(SELECT {} FROM json_each($1)) AS n", cells.join(", "))
}

fn postgres_rows(columns: &[(&'static str, Kind)], first: usize) -> String {
    let arrays: Vec<String> = columns
        .iter()
        .zip(first..)
        .map(|((_, kind), number)| format!("${number}::{}[]", postgres(*kind)))
        .collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    format!("unnest({}) AS n({})", arrays.join(", "), names.join(", "))
}

fn postgres(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Number => "bigint",
        Kind::Small => "integer",
        Kind::Flag => "boolean",
        Kind::Bytes => "bytea",
    }
}

/// One statement among several that PostgreSQL runs as one.
#[derive(Debug)]
pub(crate) struct Part {
    /// What the others may call its answer.
    pub(crate) name: &'static str,
    pub(crate) sql: &'static LazyLock<Sql>,
    /// Has a column `instance_id`, and is run for those that the heads have let in.
    pub(crate) follows: bool,
}

/// The text of several statements as one. The heads answer the ids that have won, and they are the
/// answer of the whole.
pub(crate) fn joined(heads: &[&'static Part], rest: &[&'static Part]) -> String {
    let mut first = 1;
    let mut clause = |part: &Part| {
        let mut rows = postgres_rows(&part.sql.columns, first);
        first += part.sql.columns.len();
        if part.follows {
            // As a value, not as a condition: PostgreSQL hashes what has won once, instead of
            // joining it with every row.
            rows = format!(
                "(SELECT * FROM {rows} WHERE (n.instance_id IN (SELECT id FROM won)) IS TRUE) AS n"
            );
        }
        format!("{} AS ({})", part.name, part.sql.text.replace("{rows}", &rows))
    };
    let mut clauses: Vec<String> = heads.iter().map(|part| clause(part)).collect();
    let won: Vec<String> =
        heads.iter().map(|part| format!("SELECT id FROM {}", part.name)).collect();
    clauses.push(format!("won AS ({})", won.join(" UNION ALL ")));
    clauses.extend(rest.iter().map(|part| clause(part)));
    format!("WITH {} SELECT id FROM won", clauses.join(", "))
}

/// The arguments of [`joined`].
pub(crate) fn joined_call<'a>(
    parts: impl Iterator<Item = (&'static Part, Vec<&'a Row>)>,
) -> Result<PgArguments, Failure> {
    let mut arguments = PgArguments::default();
    for (part, rows) in parts {
        for (index, (_, kind)) in part.sql.columns.iter().enumerate() {
            let cells = rows.iter().filter_map(|row| row.get(index));
            add_many(&mut arguments, *kind, cells)?;
        }
    }
    Ok(arguments)
}

/// A transaction on either database, or a connection that only reads.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    SqliteReader(PoolConnection<Sqlite>),
    Postgres(Transaction<'static, Postgres>),
    PostgresReader(PoolConnection<Postgres>),
}

impl Tx {
    /// Runs the statement over these rows, with as few round trips as there can be; none when
    /// there are no rows.
    pub(crate) async fn run(&mut self, sql: &'static Sql, rows: &[&Row]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        match self.connection() {
            Connection::Sqlite(connection) => {
                let (text, arguments) = sqlite_call(sql, rows)?;
                sqlx::query_with(text, arguments).execute(connection).await?;
            }
            Connection::Postgres(connection) => {
                let (text, arguments) = postgres_call(sql, rows)?;
                sqlx::query_with(text, arguments).execute(connection).await?;
            }
        }
        Ok(())
    }

    /// Runs the statement over these rows and gives back what it answers.
    pub(crate) async fn fetch(
        &mut self,
        sql: &'static Sql,
        rows: &[&Row],
    ) -> Result<Vec<Fetched>, Failure> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        match self.connection() {
            Connection::Sqlite(connection) => {
                let (text, arguments) = sqlite_call(sql, rows)?;
                let found = sqlx::query_with(text, arguments).fetch_all(connection).await?;
                Ok(found.into_iter().map(Fetched::Sqlite).collect())
            }
            Connection::Postgres(connection) => {
                let (text, arguments) = postgres_call(sql, rows)?;
                let found = sqlx::query_with(text, arguments).fetch_all(connection).await?;
                Ok(found.into_iter().map(Fetched::Postgres).collect())
            }
        }
    }

    fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::Sqlite(tx) => Connection::Sqlite(tx),
            Self::SqliteReader(connection) => Connection::Sqlite(connection),
            Self::Postgres(tx) => Connection::Postgres(tx),
            Self::PostgresReader(connection) => Connection::Postgres(connection),
        }
    }

    pub(crate) async fn commit(self) -> Result<(), Failure> {
        let result = match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
            Self::SqliteReader(_) | Self::PostgresReader(_) => Ok(()),
        };
        result.map_err(|error| {
            let answered = matches!(error, sqlx::Error::Database(_));
            Failure::at_commit(error, answered)
        })
    }
}

enum Connection<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection),
}

/// A row of an answer.
pub(crate) enum Fetched {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Fetched {
    pub(crate) fn text(&self, column: usize) -> Result<Option<String>, Failure> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn number(&self, column: usize) -> Result<Option<i64>, Failure> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Failure> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }
}

fn sqlite_call(
    sql: &'static Sql,
    rows: &[&Row],
) -> Result<(&'static str, SqliteArguments), Failure> {
    let mut arguments = SqliteArguments::default();
    let [row] = rows else {
        arguments.add(json(rows)).map_err(sqlx::Error::Encode)?;
        return Ok((&sql.sqlite_many, arguments));
    };
    for cell in *row {
        match cell {
            Cell::Text(text) => arguments.add(text.clone()),
            Cell::Number(number) => arguments.add(*number),
            Cell::Flag(flag) => arguments.add(*flag),
            Cell::Bytes(bytes) => arguments.add(bytes.clone()),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok((&sql.sqlite_one, arguments))
}

fn postgres_call(sql: &'static Sql, rows: &[&Row]) -> Result<(&'static str, PgArguments), Failure> {
    let mut arguments = PgArguments::default();
    for (index, (_, kind)) in sql.columns.iter().enumerate() {
        let [row] = rows else {
            let cells = rows.iter().filter_map(|row| row.get(index));
            add_many(&mut arguments, *kind, cells)?;
            continue;
        };
        match (kind, row.get(index)) {
            (_, None) => Ok(()),
            (Kind::Text, Some(cell)) => arguments.add(cell.as_text()),
            (Kind::Number, Some(cell)) => arguments.add(cell.as_number()),
            (Kind::Small, Some(cell)) => arguments.add(cell.as_number().map(small)),
            (Kind::Flag, Some(cell)) => arguments.add(cell.as_flag()),
            (Kind::Bytes, Some(cell)) => arguments.add(cell.as_bytes()),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    let text = if rows.len() == 1 { &sql.postgres_one } else { &sql.postgres_many };
    Ok((text, arguments))
}

/// One column of many rows as an array.
fn add_many<'a>(
    arguments: &mut PgArguments,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<(), sqlx::Error> {
    match kind {
        Kind::Text => arguments.add(cells.map(Cell::as_text).collect::<Vec<_>>()),
        Kind::Number => arguments.add(cells.map(Cell::as_number).collect::<Vec<_>>()),
        Kind::Small => arguments.add(cells.map(|c| c.as_number().map(small)).collect::<Vec<_>>()),
        Kind::Flag => arguments.add(cells.map(Cell::as_flag).collect::<Vec<_>>()),
        Kind::Bytes => arguments.add(cells.map(Cell::as_bytes).collect::<Vec<_>>()),
    }
    .map_err(sqlx::Error::Encode)
}

fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Rows as a JSON array of arrays; bytes in hexadecimal.
fn json(rows: &[&Row]) -> String {
    let bytes: usize = rows.iter().flat_map(|row| row.iter()).map(|cell| cell.bytes() + 8).sum();
    let mut out = String::with_capacity(bytes * 2);
    for (index, row) in rows.iter().enumerate() {
        out.push_str(if index == 0 { "[[" } else { ",[" });
        for (index, cell) in row.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            json_cell(&mut out, cell);
        }
        out.push(']');
    }
    out.push(']');
    out
}

fn json_cell(out: &mut String, cell: &Cell) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match cell {
        Cell::Text(None) | Cell::Number(None) | Cell::Bytes(None) => out.push_str("null"),
        Cell::Text(Some(text)) => out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
        Cell::Number(Some(number)) => out.push_str(&number.to_string()),
        Cell::Flag(flag) => out.push(if *flag { '1' } else { '0' }),
        Cell::Bytes(Some(bytes)) => {
            out.push('"');
            for byte in bytes {
                for nibble in [byte >> 4, byte & 15] {
                    out.push(char::from(DIGITS[usize::from(nibble)]));
                }
            }
            out.push('"');
        }
    }
}
