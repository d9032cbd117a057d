//! The connections to one database.

use std::future::pending;
use std::io::{Error, ErrorKind};
use std::str::FromStr as _;
use std::time::Duration;

use engine::Statement;
use model::{Map, limits};
use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Database, MySql, Postgres, Sqlite};
use tokio::net::TcpStream;

use super::failure::Fault;
use super::{mysql, postgres, sqlite};
use crate::files_left;

/// Connections to one database.
const CONNECTIONS_MAX: u32 = 8;
/// The wait for a free connection, or for a new one.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// The wait for a connection, before its server is asked whether it takes any.
const PROBE_AFTER: Duration = Duration::from_millis(200);
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

/// The address of a database.
struct Server {
    host: String,
    port: u16,
}

impl Server {
    fn new(host: &str, port: u16) -> Self {
        Self { host: host.trim_matches(['[', ']']).to_owned(), port }
    }

    fn unreachable(&self, error: &Error) -> Fault {
        let Self { host, port } = self;
        Fault::Unreachable(format!("the database at {host}, port {port}, is not reached: {error}"))
    }
}

/// Refuses a URL with which no database could be reached. Nothing is connected.
///
/// # Errors
/// The reason, without the URL.
pub(super) fn check(url: &str) -> Result<(), String> {
    let read = match scheme_of(url) {
        "postgres" | "postgresql" => PgConnectOptions::from_str(url).map(drop),
        "mysql" | "mariadb" => MySqlConnectOptions::from_str(url).map(drop),
        "sqlite" => SqliteConnectOptions::from_str(url).map(drop),
        scheme => return Err(unknown(scheme)),
    };
    read.map_err(|error| error.to_string())
}

fn scheme_of(url: &str) -> &str {
    url.split_once(':').map_or(url, |(scheme, _)| scheme)
}

fn unknown(scheme: &str) -> String {
    format!("{scheme} is no database that can be called: use postgres://, mysql:// or sqlite://")
}

impl Pool {
    /// A pool without connections yet.
    pub(super) fn open(url: &str) -> Result<Self, Fault> {
        match scheme_of(url) {
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
            scheme => Err(Fault::Refused(unknown(scheme))),
        }
    }

    /// Runs a statement on one connection.
    pub(super) async fn run(&self, statement: &Statement, key: &str) -> Result<Map, Fault> {
        match self {
            Self::Postgres(pool) => {
                let options = pool.connect_options();
                let socket = options.get_socket().is_some() || options.get_host().starts_with('/');
                let server = (!socket).then(|| Server::new(options.get_host(), options.get_port()));
                let mut busy: Busy<Postgres> = acquired(pool, server.as_ref()).await?;
                let end = postgres::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
            Self::MySql(pool) => {
                let options = pool.connect_options();
                let socket = options.get_socket().is_some();
                let server = (!socket).then(|| Server::new(options.get_host(), options.get_port()));
                let mut busy: Busy<MySql> = acquired(pool, server.as_ref()).await?;
                let end = mysql::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
            Self::Sqlite(pool) => {
                let mut busy: Busy<Sqlite> = acquired(pool, None).await?;
                let end = sqlite::run(&mut busy.connection, statement, key).await;
                busy.is_done = is_done(&end);
                end
            }
        }
    }
}

/// A connection of the pool. The pool tries a server that refuses connections again and again, until
/// its time is over: it may be starting. A workflow is to learn it at once, and may try again.
async fn acquired<DB: Database>(
    pool: &sqlx::Pool<DB>,
    server: Option<&Server>,
) -> Result<Busy<DB>, Fault> {
    tokio::select! {
        connection = pool.acquire() => match (connection, server) {
            (Ok(connection), _) => Ok(Busy::new(connection)),
            (Err(sqlx::Error::Io(error)), Some(server)) if !files_left::is_lack(&error) => {
                Err(server.unreachable(&error))
            }
            (Err(error), _) => Err(error.into()),
        },
        fault = refusal(server) => Err(fault),
    }
}

/// Ends if the server refuses connections, a moment after the pool was asked for one.
async fn refusal(server: Option<&Server>) -> Fault {
    tokio::time::sleep(PROBE_AFTER).await;
    if let Some(server) = server
        && let Err(error) = TcpStream::connect((server.host.as_str(), server.port)).await
        && error.kind() == ErrorKind::ConnectionRefused
    {
        return server.unreachable(&error);
    }
    pending().await
}

/// Whether the statement has ended on the server.
fn is_done(end: &Result<Map, Fault>) -> bool {
    matches!(end, Ok(_) | Err(Fault::Sql(sqlx::Error::Database(_))))
}
