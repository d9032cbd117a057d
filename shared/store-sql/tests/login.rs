//! A password of the database that is replaced while a process runs, and a proxy without a database.

use std::time::Duration;

use store::Store as _;
use store_sql::{Options, connect};
use testkit::eventually;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

const BOUND: Duration = Duration::from_secs(30);
/// PostgreSQL asks this user for a password, and nobody else.
const ASKED: &str = "DO $$ BEGIN
    EXECUTE format('COPY (VALUES (''host all staunch all scram-sha-256''),
        (''host all all all trust''), (''local all all trust'')) TO %L',
        current_setting('hba_file'));
    PERFORM pg_reload_conf();
END $$";
const OUT: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'staunch'";

#[tokio::test]
async fn a_password_in_a_file_is_read_again_for_later_connections() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    server.run("CREATE ROLE staunch LOGIN SUPERUSER PASSWORD 'first hush'").await.unwrap();
    server.run(ASKED).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("url");
    let url = server.url("flow");
    let (scheme, rest) = url.split_once("://").unwrap();
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let tell = |password: &str, place: &str| {
        let url = format!("{scheme}://staunch:{password}@{place}");
        std::fs::write(&file, format!("{url}\n")).unwrap();
        url
    };
    let wrong = connect(&tell("wrong", place), Options::default()).await.map(drop).unwrap_err();
    assert!(wrong.to_string().contains("password authentication failed"), "{wrong}");
    let url = tell("first%20hush", place);
    let options = Options { migrate: true, url_file: Some(file.clone()), ..Options::default() };
    let store = connect(&url, options).await.unwrap();
    store.ping().await.unwrap();

    server.run("ALTER ROLE staunch PASSWORD 'second hush'").await.unwrap();
    server.run(OUT).await.unwrap();
    eventually("the old password is refused", BOUND, async || store.ping().await.is_err()).await;
    // What is no URL, and another database, change nothing; the password alone does.
    for (password, place) in [("second%20hush", "127.0.0.1:1/other"), ("", "%")] {
        tell(password, place);
        let error = store.ping().await.unwrap_err().to_string();
        assert!(!error.contains("hush"), "{error}");
    }
    tell("second%20hush", place);
    eventually("the new password is used", BOUND, async || store.ping().await.is_ok()).await;
    server.run(OUT).await.unwrap();
    eventually("it goes on", BOUND, async || store.ping().await.is_ok()).await;
    store.close().await;
}

#[tokio::test]
async fn a_proxy_that_reaches_no_database_is_named_as_what_closes_the_connection() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://staunch@{}/flow", proxy.local_addr().unwrap());
    let closing = async {
        for _ in 0..100 {
            let (mut socket, _) = proxy.accept().await.unwrap();
            // The request for TLS is read: the end of the connection is in order.
            socket.read_exact(&mut [0; 8]).await.unwrap();
        }
    };
    let found = tokio::select! {
        () = closing => panic!("it goes on connecting"),
        found = connect(&url, Options::default()) => found,
    };
    let error = found.map(drop).unwrap_err().to_string();
    assert!(error.contains("closed at once") && !error.contains("SSLRequest"), "{error}");
}
