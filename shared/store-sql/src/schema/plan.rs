//! What `staunch migrate` would do: the statements, and the locks that they take.

use std::collections::BTreeSet;

use migration::Step;
use sea_orm::{ConnectionTrait as _, DatabaseBackend};
use store::Error;

use super::pending;
use crate::database::Database;
use crate::options::Options;

/// A migration that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// Its statements, in order.
    pub statements: Vec<PlannedStatement>,
}

/// A statement of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStatement {
    /// The statement.
    pub sql: String,
    /// The lock that it takes, and what waits for it.
    pub lock: String,
}

/// The migrations that the database at this URL lacks, with statements and locks. Changes nothing.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be reached; [`Error::Denied`] when its user lacks a right.
pub async fn plan(url: &str) -> Result<Vec<Planned>, Error> {
    let database = Database::open(url, Options::default()).await?;
    let backend = database.writer.get_database_backend();
    let missing = pending(&database.reader).await;
    database.pools.close().await;
    Ok(planned(&missing?, backend))
}

fn planned(missing: &[String], backend: DatabaseBackend) -> Vec<Planned> {
    let mut touched = Touched::default();
    let mut planned = Vec::new();
    for Step { name, statements } in missing_steps(missing, backend) {
        let mut of_step = Vec::new();
        for sql in statements {
            let lock = match backend {
                DatabaseBackend::Postgres => touched.lock(&Statement::read(&sql)),
                _ => "the whole file: writes wait until all migrations are done".to_owned(),
            };
            let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            of_step.push(PlannedStatement { sql, lock });
        }
        planned.push(Planned { name: name.to_owned(), statements: of_step });
    }
    planned
}

/// A statement of a migration, as far as its lock depends on it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement<'s> {
    /// Makes a table.
    Table {
        /// Its name.
        name: &'s str,
        /// The table whose rows its rows refer to.
        refers_to: Option<&'s str>,
    },
    /// Makes an index on a table.
    Index {
        /// Its name.
        name: &'s str,
        /// The table.
        table: &'s str,
    },
    /// Adds a column to a table.
    Column(&'s str),
    /// Removes an index.
    DropIndex(&'s str),
    /// Anything else.
    Other,
}

impl<'s> Statement<'s> {
    pub(super) fn read(sql: &'s str) -> Self {
        let words: Vec<&str> = sql.split_whitespace().collect();
        let name = |word: &'s str| word.split('(').next().unwrap_or(word);
        match *words.as_slice() {
            ["CREATE", "TABLE", table, ..] => {
                let at = words.iter().position(|word| *word == "REFERENCES");
                let refers_to = at.and_then(|at| words.get(at + 1)).map(|table| name(table));
                Self::Table { name: name(table), refers_to }
            }
            ["CREATE", "INDEX", "IF", "NOT", "EXISTS", index, "ON", table, ..]
            | ["CREATE", "UNIQUE", "INDEX", "IF", "NOT", "EXISTS", index, "ON", table, ..] => {
                Self::Index { name: name(index), table: name(table) }
            }
            ["ALTER", "TABLE", table, "ADD", "COLUMN", ..] => Self::Column(name(table)),
            ["DROP", "INDEX", index, ..] => Self::DropIndex(name(index)),
            _ => Self::Other,
        }
    }
}

/// The migrations of these names, in order.
fn missing_steps(missing: &[String], backend: DatabaseBackend) -> impl Iterator<Item = Step> {
    let steps = migration::steps(backend).into_iter();
    steps.filter(|step| missing.iter().any(|name| name == step.name))
}

/// The indexes of missing migrations that can be built before them: their tables are there, with the
/// columns that they have now. Their names and statements.
pub(super) fn beforehand(missing: &[String]) -> Vec<(String, String)> {
    let mut touched = Touched::default();
    let mut indexes = Vec::new();
    for step in missing_steps(missing, DatabaseBackend::Postgres) {
        for sql in &step.statements {
            match Statement::read(sql) {
                Statement::Index { name, table } if !touched.is(table) => {
                    indexes.push((name.to_owned(), sql.clone()));
                }
                statement => touched.note(&statement),
            }
        }
    }
    indexes
}

/// The tables that the missing migrations make, and those to which they add columns.
#[derive(Debug, Default)]
struct Touched {
    new: BTreeSet<String>,
    wider: BTreeSet<String>,
}

impl Touched {
    fn is(&self, table: &str) -> bool {
        self.new.contains(table) || self.wider.contains(table)
    }

    fn note(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::Table { name, .. } => {
                self.new.insert((*name).to_owned());
            }
            Statement::Column(table) => {
                self.wider.insert((*table).to_owned());
            }
            Statement::Index { .. } | Statement::DropIndex(_) | Statement::Other => {}
        }
    }

    /// The lock of the next statement on PostgreSQL.
    fn lock(&mut self, statement: &Statement<'_>) -> String {
        let lock = self.lock_of(statement);
        self.note(statement);
        lock
    }

    fn lock_of(&self, statement: &Statement<'_>) -> String {
        const UNTIL: &str = "until the migrations are done";
        match statement {
            Statement::Table { refers_to: Some(table), .. } if !self.new.contains(*table) => {
                format!("SHARE ROW EXCLUSIVE on {table}: writes wait {UNTIL}")
            }
            Statement::Table { .. } => "none: the table is new".to_owned(),
            Statement::Index { table, .. } | Statement::Column(table)
                if self.new.contains(*table) =>
            {
                "none: the table is new".to_owned()
            }
            Statement::Index { table, .. } if self.wider.contains(*table) => {
                format!("SHARE on {table}: writes wait {UNTIL}")
            }
            Statement::Index { table, .. } => format!(
                "SHARE UPDATE EXCLUSIVE on {table}: `staunch migrate` builds it beforehand, and reads \
                 and writes go on; SHARE, for which writes wait, where a node with --provision \
                 builds it"
            ),
            Statement::Column(table) => format!(
                "ACCESS EXCLUSIVE on {table}: reads and writes wait {UNTIL}; no row is rewritten"
            ),
            Statement::DropIndex(index) => {
                format!("ACCESS EXCLUSIVE on the table of {index}: reads and writes wait {UNTIL}")
            }
            Statement::Other => {
                format!("ACCESS EXCLUSIVE on what it names: reads and writes wait {UNTIL}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_of_every_migration_is_known() {
        for backend in [DatabaseBackend::Postgres, DatabaseBackend::Sqlite] {
            for step in migration::steps(backend) {
                for sql in &step.statements {
                    assert_ne!(Statement::read(sql), Statement::Other, "{}: {sql}", step.name);
                }
            }
        }
    }

    #[test]
    fn locks_are_those_of_tables_that_exist() {
        let of = |missing: &[&str]| {
            let missing: Vec<String> = missing.iter().map(|name| (*name).to_owned()).collect();
            let planned = planned(&missing, DatabaseBackend::Postgres);
            planned.into_iter().flat_map(|step| step.statements).collect::<Vec<_>>()
        };
        let fresh = of(&["m0018_searchable_values", "m0020_upkeep"]);
        let about = |statements: &[PlannedStatement], part: &str| {
            let found = statements.iter().find(|statement| statement.sql.contains(part));
            found.unwrap().lock.clone()
        };
        assert!(about(&fresh, "searchable_values_sort_key").starts_with("none"));
        assert!(about(&fresh, "CREATE TABLE").starts_with("SHARE ROW EXCLUSIVE on instances"));
        assert!(about(&fresh, "definitions_searchable").starts_with("SHARE on definitions"));
        assert!(about(&fresh, "instances_ended").contains("UPDATE EXCLUSIVE on instances"));
        let column = of(&["m0017_secrets"]);
        assert!(about(&column, "ADD COLUMN address").starts_with("ACCESS EXCLUSIVE on audit"));
    }
}
