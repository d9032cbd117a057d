//! Runs the statements of `sql` on a transaction or a connection of either database.

use sea_orm::QueryResult;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::postgres::{PgArguments, PgConnection};
use sea_orm::sqlx::query::QueryScalar;
use sea_orm::sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sea_orm::sqlx::{self, Arguments as _, Postgres, Sqlite, Transaction};
use store::Error;

use crate::cell::{Cell, Row};
use crate::columns::{BoundColumn, Kind};
use crate::failure::Failure;
use crate::measure::Run;
use crate::sql::Sql;

/// A transaction on either database, or a connection that only reads.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    SqliteReader(PoolConnection<Sqlite>),
    Postgres(Transaction<'static, Postgres>),
    PostgresReader(PoolConnection<Postgres>),
}

impl Tx {
    /// Runs the statement for these rows in one round trip; does nothing if there are no rows.
    pub(crate) async fn run(&mut self, sql: &'static Sql, rows: &[&Row]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let run = Run::begin(&sql.text);
        let done = self.execute(sql, rows).await;
        run.over(done.as_ref().ok().copied());
        done.map(drop)
    }

    /// Runs the statement; returns the number of rows that it changed.
    async fn execute(&mut self, sql: &'static Sql, rows: &[&Row]) -> Result<u64, Failure> {
        Ok(match self.connection() {
            Connection::Sqlite(connection) => {
                let (text, arguments) = sqlite_call(sql, rows)?;
                sqlx::query_with(text, arguments).execute(connection).await?.rows_affected()
            }
            Connection::Postgres(connection) => {
                let (text, arguments) = postgres_call(sql, rows)?;
                sqlx::query_with(text, arguments).execute(connection).await?.rows_affected()
            }
        })
    }

    /// Runs the statement for these rows and returns its result rows.
    pub(crate) async fn fetch(
        &mut self,
        sql: &'static Sql,
        rows: &[&Row],
    ) -> Result<Vec<QueryResult>, Failure> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let run = Run::begin(&sql.text);
        let found = self.found(sql, rows).await;
        run.over(found.as_ref().ok().map(|found| found.len() as u64));
        found
    }

    async fn found(
        &mut self,
        sql: &'static Sql,
        rows: &[&Row],
    ) -> Result<Vec<QueryResult>, Failure> {
        match self.connection() {
            Connection::Sqlite(connection) => {
                let (text, arguments) = sqlite_call(sql, rows)?;
                let found = sqlx::query_with(text, arguments).fetch_all(connection).await?;
                Ok(found.into_iter().map(QueryResult::from).collect())
            }
            Connection::Postgres(connection) => {
                let (text, arguments) = postgres_call(sql, rows)?;
                let found = sqlx::query_with(text, arguments).fetch_all(connection).await?;
                Ok(found.into_iter().map(QueryResult::from).collect())
            }
        }
    }

    /// The ids that a statement of PostgreSQL returns.
    pub(crate) async fn ids(
        &mut self,
        query: QueryScalar<'_, Postgres, String, PgArguments>,
    ) -> Result<Vec<String>, Failure> {
        match self.connection() {
            Connection::Postgres(connection) => Ok(query.fetch_all(connection).await?),
            Connection::Sqlite(_) => {
                Err(Error::Unavailable("this is not PostgreSQL".to_owned()).into())
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

fn sqlite_call(
    sql: &'static Sql,
    rows: &[&Row],
) -> Result<(&'static str, SqliteArguments), Failure> {
    let mut arguments = SqliteArguments::default();
    let [row] = rows else {
        arguments.add(json(sql, rows)).map_err(sqlx::Error::Encode)?;
        return Ok((&sql.sqlite_many, arguments));
    };
    for cell in cells(sql, row) {
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
    for column in sql.columns.iter() {
        let [row] = rows else {
            add_array(&mut arguments, *column, rows)?;
            continue;
        };
        match (column.kind, row.get(column.at)) {
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

/// Adds one column of many rows as an array.
pub(crate) fn add_array(
    arguments: &mut PgArguments,
    column: BoundColumn,
    rows: &[&Row],
) -> Result<(), sqlx::Error> {
    let cells = rows.iter().filter_map(|row| row.get(column.at));
    match column.kind {
        Kind::Text => arguments.add(cells.map(Cell::as_text).collect::<Vec<_>>()),
        Kind::Number => arguments.add(cells.map(Cell::as_number).collect::<Vec<_>>()),
        Kind::Small => arguments.add(cells.map(|c| c.as_number().map(small)).collect::<Vec<_>>()),
        Kind::Flag => arguments.add(cells.map(Cell::as_flag).collect::<Vec<_>>()),
        Kind::Bytes => arguments.add(cells.map(Cell::as_bytes).collect::<Vec<_>>()),
    }
    .map_err(sqlx::Error::Encode)
}

/// The cells of a row that the statement binds, in its order.
fn cells<'a>(sql: &'a Sql, row: &'a Row) -> impl Iterator<Item = &'a Cell> {
    sql.columns.iter().filter_map(|column| row.get(column.at))
}

fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Rows as a JSON array of arrays; bytes in hexadecimal.
fn json(sql: &Sql, rows: &[&Row]) -> String {
    let bytes: usize =
        rows.iter().flat_map(|row| cells(sql, row)).map(|cell| cell.bytes() + 8).sum();
    let mut out = String::with_capacity(bytes * 2);
    for (index, row) in rows.iter().enumerate() {
        out.push_str(if index == 0 { "[[" } else { ",[" });
        for (index, cell) in cells(sql, row).enumerate() {
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
