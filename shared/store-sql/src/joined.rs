//! Several statements that PostgreSQL runs as one.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sea_orm::sqlx::postgres::PgArguments;

use crate::cell::Row;
use crate::failure::Failure;
use crate::sql::{Sql, postgres_rows};
use crate::tx::add_array;

/// One statement among several that PostgreSQL runs as one.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name of its result in the other parts.
    pub(crate) name: &'static str,
    pub(crate) sql: &'static LazyLock<Sql>,
    /// Has a column `instance_id`, and runs only for the instances whose heads have succeeded.
    pub(crate) follows: bool,
}

/// A part and its rows.
pub(crate) type PartRows<'a> = (&'static Part, Vec<&'a Row>);

/// The texts that were needed so far, by the names of their parts.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<BTreeMap<Vec<&'static str>, Arc<str>>>);

impl Texts {
    pub(crate) fn of(&self, heads: &[PartRows<'_>], rest: &[PartRows<'_>]) -> Arc<str> {
        let parts = |of: &[PartRows<'_>]| of.iter().map(|(part, _)| *part).collect::<Vec<_>>();
        let names = heads.iter().chain(rest).map(|(part, _)| part.name).collect();
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry(names).or_insert_with(|| joined(&parts(heads), &parts(rest)).into());
        Arc::clone(text)
    }
}

/// The text of several statements as one. The heads return the ids that have won; the whole
/// statement returns these ids, too.
fn joined(heads: &[&'static Part], rest: &[&'static Part]) -> String {
    let mut first = 1;
    let mut clause = |part: &Part| {
        let mut rows = postgres_rows(&part.sql.columns, first);
        first += part.sql.columns.len();
        if part.follows {
            // An array value and not a condition: PostgreSQL then hashes the winners once, instead
            // of joining them with every row.
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

/// The arguments of the joined text.
pub(crate) fn joined_call<'a>(
    parts: impl Iterator<Item = PartRows<'a>>,
) -> Result<PgArguments, Failure> {
    let mut arguments = PgArguments::default();
    for (part, rows) in parts {
        for column in part.sql.columns.iter() {
            add_array(&mut arguments, *column, &rows)?;
        }
    }
    Ok(arguments)
}
