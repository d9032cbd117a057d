//! A password of the database that is replaced while a process runs.

use std::time::Duration;

use store::Store as _;
use store_sql::{Options, connect};
use testkit::eventually;

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
