//! The connections to one database.

use std::str::FromStr as _;
use std::time::Duration;

use engine::Statement;
use model::{Map, limits};
use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Database, MySql, Postgres, Sqlite};

use super::failure::Fault;
use super::{mysql, postgres, sqlite};

/// Connections to one database.
const CONNECTIONS_MAX: u32 = 8;
/// The wait for a free connection, or for a new one.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Connections that are not used are closed after this time.
const IDLE_TIME_MAX: Duration = Duration::from_secs(5 * 60);

#[derive(Clone)]
pub(super) enum Pool {
    Postgres(PgPool),
    MySql(MySqlPool),
    Sqlite(SqlitePool),
}

/// A connection in use. It goes back to its pool only when its statement has ended: a connection
/// whose statement was given up is closed.
struct Busy<DB: Database> {
    connection: PoolConnection<DB>,
    is_done: bool,
}

impl<DB: Database> Busy<DB> {
    fn new(connection: PoolConnection<DB>) -> Self {
        Self { connection, is_done: false }
    }
}

impl<DB: Database> Drop for Busy<DB> {
    fn drop(&mut self) {
        if !self.is_done {
            self.connection.close_on_drop();
        }
    }
}

impl Pool {
    /// A pool without connections yet.
    pub(super) fn open(url: &str) -> Result<Self, Fault> {
        let (scheme, _) = url.split_once(':').unwrap_or((url, ""));
        match scheme {
            "postgres" | "postgresql" => {
                // The server gives a statement up that nobody waits for.
                let limit = limits::CALL_TIME_MAX.as_millis().to_string();
                let options = PgConnectOptions::from_str(url)?
                    .application_name("staunch connector")
                    .options([("statement_timeout", limit)]);
                let pool = PgPoolOptions::new()
                    .max_connections(CONNECTIONS_MAX)
                    .acquire_timeout(CONNECT_TIME_MAX)
                    .idle_timeout(IDLE_TIME_MAX);
                Ok(Self::Postgres(pool.connect_lazy_with(options)))
            }
            "mysql" | "mariadb" => {
                let options = MySqlConnectOptions::from_str(url)?;
                let pool = MySqlPoolOptions::new()
                    .max_connections(CONNECTIONS_MAX)
                    .acquire_timeout(CONNECT_TIME_MAX)
                    .idle_timeout(IDLE_TIME_MAX);
                Ok(Self::MySql(pool.connect_lazy_with(options)))
            }
            "sqlite" => {
                let options = SqliteConnectOptions::from_str(url)?.busy_timeout(CONNECT_TIME_MAX);
                let pool = SqlitePoolOptions::new()
                    .max_connections(CONNECTIONS_MAX)
                    .acquire_timeout(CONNECT_TIME_MAX)
                    .idle_timeout(IDLE_TIME_MAX);
                Ok(Self::Sqlite(pool.connect_lazy_with(options)))
            }
            _ => Err(Fault::Refused(format!(
                "{scheme} is no database that can be called: use postgres://, mysql:// or sqlite://"
            ))),
        }
    }

    /// Runs a statement on one connection.
    pub(super) async fn run(&self, statement: &Statement, key: &str) -> Result<Map, Fault> {
        match self {
            Self::Postgres(pool) => {
                let mut busy: Busy<Postgres> = Busy::new(pool.acquire().await?);
                let end = postgres::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
            Self::MySql(pool) => {
                let mut busy: Busy<MySql> = Busy::new(pool.acquire().await?);
                let end = mysql::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
            Self::Sqlite(pool) => {
                let mut busy: Busy<Sqlite> = Busy::new(pool.acquire().await?);
                let end = sqlite::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
        }
    }
}

/// Whether the statement has ended on the server.
fn is_done(end: &Result<Map, Fault>) -> bool {
    matches!(end, Ok(_) | Err(Fault::Sql(sqlx::Error::Database(_))))
}
