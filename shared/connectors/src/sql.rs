//! SQL statements on the databases that the configuration names: PostgreSQL, MySQL or MariaDB, and
//! SQLite. Values are bound as parameters; a result has a limit of rows and of bytes.
//!
//! A statement runs by itself, without a transaction around several. A crash may repeat it.

mod bounded;
mod failure;
mod mysql;
mod pool;
mod postgres;
mod sqlite;
mod statement;
#[cfg(test)]
mod tests;
mod time;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::calls::CallEnd;
use crate::unfit::Unfit;
use engine::Statement;
use failure::Fault;
use pool::Pool;

/// Databases that were named by their URL and stay connected.
const BY_URL_MAX: usize = 16;

/// Refuses a named database that could never be reached. Nothing is connected.
///
/// # Errors
/// The setting and the reason, with the name and without the URL.
pub(crate) fn check(named: &[(String, String)]) -> Result<(), Unfit> {
    let wrong = Unfit::of("sql-connections");
    named.iter().try_for_each(|(name, url)| {
        pool::check(url).map_err(|why| wrong(format!("the URL of {name:?}: {why}")))
    })
}

/// Runs SQL statements.
pub(crate) struct Sql {
    /// The URL of each connection, by name.
    named: BTreeMap<String, String>,
    /// A statement may name a database by its URL.
    by_url: bool,
    pools: Mutex<BTreeMap<String, Pool>>,
}

impl Sql {
    /// Runs statements on these databases. Nothing is connected before the first statement.
    pub(crate) fn new(named: &[(String, String)], by_url: bool) -> Self {
        Self { named: named.iter().cloned().collect(), by_url, pools: Mutex::default() }
    }

    /// Runs the statement, once.
    pub(crate) async fn run(&self, statement: &Statement, key: &str) -> CallEnd {
        let end = match self.pool(&statement.connection) {
            Ok(pool) => pool.run(statement, key).await,
            Err(fault) => Err(fault),
        };
        match end {
            Ok(result) => CallEnd::Done(result),
            Err(fault) => fault.into_end(),
        }
    }

    fn pool(&self, name: &str) -> Result<Pool, Fault> {
        let url = match self.named.get(name) {
            Some(url) => url.as_str(),
            None if !name.contains("://") => return Err(self.unknown(name)),
            None if self.by_url => name,
            None => {
                return Err(Fault::Refused(
                    "databases are not named by URL here: name a connection of the setting \
                     `sql-connections`, or an operator can allow URLs with `sql-urls`"
                        .to_owned(),
                ));
            }
        };
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(name) {
            return Ok(pool.clone());
        }
        if pools.len() >= self.named.len() + BY_URL_MAX {
            return Err(Fault::Refused(format!(
                "more than {BY_URL_MAX} databases are named by URL: configure them"
            )));
        }
        let pool = Pool::open(url)?;
        pools.insert(name.to_owned(), pool.clone());
        Ok(pool)
    }

    fn unknown(&self, name: &str) -> Fault {
        let known: Vec<_> = self.named.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "it has none".into() } else { known.join(", ") };
        Fault::Refused(format!(
            "there is no SQL connection {name:?}: the setting `sql-connections` names them \
             ({known})"
        ))
    }
}
