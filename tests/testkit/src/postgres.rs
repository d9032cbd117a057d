//! A database on a real PostgreSQL for tests, if its programs are installed: one server per test
//! process, without durability; or a separate server, for a test that kills it.

use postgres_server::{Options, Server, find};
use tokio::sync::OnceCell;

use crate::{skip, unique};

static SHARED: OnceCell<Option<Server>> = OnceCell::const_new();

/// A separate database.
#[derive(Clone, Debug)]
pub struct TestPostgres {
    url: String,
}

/// A new database on the server that the tests of this process share. `None`, and a line in the
/// output, if PostgreSQL is not installed.
///
/// # Panics
/// When it is installed and does not start, or when `STAUNCH_TEST_REQUIRE` names `pg`.
#[expect(clippy::expect_used, reason = "a test without its database cannot go on")]
pub async fn postgres() -> Option<TestPostgres> {
    let shared = SHARED.get_or_init(|| async {
        let options = Options::new(find()?, false);
        Some(Server::start(options).await.expect("PostgreSQL starts"))
    });
    let Some(server) = shared.await else { return skipped() };
    let database = unique("test").replace('-', "_");
    server.create(&database).await.expect("a database can be made");
    Some(TestPostgres { url: server.url(&database) })
}

/// A separate server without databases, durable (`fsync = on`) if asked: to kill and restart.
///
/// # Panics
/// As [`postgres`].
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub async fn own_postgres(durable: bool) -> Option<Server> {
    let Some(programs) = find() else { return skipped() };
    Some(Server::start(Options::new(programs, durable)).await.expect("PostgreSQL starts"))
}

/// A separate server, with this certificate and key in PEM for connections with TLS.
///
/// # Panics
/// As [`postgres`].
#[expect(clippy::expect_used, reason = "a test without its database cannot go on")]
pub async fn postgres_with_tls(cert: String, key: String) -> Option<Server> {
    let Some(programs) = find() else { return skipped() };
    let options = Options { tls: Some((cert, key)), ..Options::new(programs, false) };
    Some(Server::start(options).await.expect("PostgreSQL starts"))
}

fn skipped<T>() -> Option<T> {
    skip("pg", "postgres", "no initdb found; apt install postgresql");
    None
}

impl TestPostgres {
    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn exists(url: &str) -> bool {
        let sql = ["-q", "-t", "-c", "select 1"];
        Command::new("psql").arg(url).args(sql).output().is_ok_and(|ran| ran.status.success())
    }

    #[tokio::test]
    async fn each_test_has_a_database_of_its_own() {
        let (Some(one), Some(other)) = (postgres().await, postgres().await) else { return };
        assert_ne!(one.url(), other.url());
        assert!(exists(&one.url()));
        assert!(exists(&other.url()));
    }
}
