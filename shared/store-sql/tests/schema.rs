//! The schema is created once, and a database without it is refused.
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use sea_orm::sqlx::{self, Connection as _, PgConnection};
use store::{Error, Store as _};
use store_sql::{Options, connect, migrate, pending_migrations, plan};
use testkit::sqlite_url;

async fn comes_once(url: &str) {
    let all = pending_migrations(url).await.unwrap();
    assert!(all.len() >= 10, "{all:?}");

    let refused = connect(url, Options::default()).await;
    let Err(error @ Error::Schema(_)) = refused else { panic!("an empty database is refused") };
    assert!(error.to_string().contains("run `staunch migrate`"), "{error}");
    assert!(error.to_string().contains("m0001_definitions"), "{error}");

    assert_eq!(migrate(url).await.unwrap(), all);
    assert_eq!(pending_migrations(url).await.unwrap(), Vec::<String>::new());
    assert_eq!(migrate(url).await.unwrap(), Vec::<String>::new());

    let store = connect(url, Options::default()).await.unwrap();
    store.ping().await.unwrap();
    store.close().await;
    assert!(matches!(store.ping().await, Err(Error::Unavailable(_))));
}

async fn may_come_from_many_at_once(url: &str) {
    let running: Vec<_> = (0..4)
        .map(|_| {
            let url = url.to_owned();
            tokio::spawn(async move {
                let options = Options { migrate: true, ..Options::default() };
                connect(&url, options).await.unwrap().close().await;
            })
        })
        .collect();
    for one in running {
        one.await.unwrap();
    }
    assert_eq!(pending_migrations(url).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn sqlite_is_migrated_once() {
    let folder = tempfile::tempdir().unwrap();
    comes_once(&sqlite_url(&folder.path().join("new/folder"))).await;
}

#[tokio::test]
async fn postgres_is_migrated_once() {
    let Some(database) = testkit::postgres().await else { return };
    comes_once(&database.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_migrate_sqlite_at_once() {
    let folder = tempfile::tempdir().unwrap();
    may_come_from_many_at_once(&sqlite_url(folder.path())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_migrate_postgres_at_once() {
    let Some(database) = testkit::postgres().await else { return };
    may_come_from_many_at_once(&database.url()).await;
}

/// A migration may take as long as it needs, and so may the wait of another process for it.
#[tokio::test]
async fn a_migration_is_not_bound_by_the_time_of_other_statements() {
    const STATEMENT_MAX: Duration = Duration::from_millis(250);
    let Some(database) = testkit::postgres().await else { return };
    let mut other = PgConnection::connect(&database.url()).await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(7815629410)").execute(&mut other).await.unwrap();
    let url = database.url();
    let migrating = tokio::spawn(async move {
        let options =
            Options { migrate: true, statement_timeout: STATEMENT_MAX, ..Options::default() };
        connect(&url, options).await.map(drop)
    });
    let waits = "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
    testkit::eventually("someone waits for the lock", Duration::from_secs(20), async || {
        let mut looking = PgConnection::connect(&database.url()).await.unwrap();
        sqlx::query(waits).fetch_optional(&mut looking).await.unwrap().is_some()
    })
    .await;
    tokio::time::sleep(STATEMENT_MAX * 3).await;
    other.close().await.unwrap();
    migrating.await.unwrap().unwrap();
}

/// A newer program that only adds does no harm; one that has taken something away keeps this one out.
async fn a_newer_schema_is_judged_by_its_migrations(url: &str, run: impl AsyncFn(&str)) {
    migrate(url).await.unwrap();
    run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9998_more', 0)").await;
    connect(url, Options::default()).await.unwrap().close().await;
    run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_less_contract', 0)")
        .await;
    for options in [Options::default(), Options { migrate: true, ..Options::default() }] {
        let Err(error) = connect(url, options).await else { panic!("it is too new") };
        assert!(matches!(error, Error::TooNew(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("m9999_less_contract") && text.contains("newer version"), "{text}");
    }
}

#[tokio::test]
async fn an_sqlite_file_that_is_too_new_keeps_a_node_out() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(folder.path());
    a_newer_schema_is_judged_by_its_migrations(&url, async |sql| {
        let mut other = sqlx::SqliteConnection::connect(&url).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut other).await.unwrap();
        other.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_postgres_that_is_too_new_keeps_a_node_out() {
    let Some(database) = testkit::postgres().await else { return };
    a_newer_schema_is_judged_by_its_migrations(&database.url(), async |sql| {
        let mut other = PgConnection::connect(&database.url()).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut other).await.unwrap();
    })
    .await;
}

/// As somebody leaves it who has run the output of `staunch migrate --plan` by hand.
#[tokio::test]
async fn a_migration_that_fails_does_not_advise_itself() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(folder.path());
    let mut other = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("CREATE TABLE labels (id TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let Err(error @ Error::Schema(_)) = migrate(&url).await else { panic!("a table is there") };
    let text = error.to_string();
    assert!(text.contains("m0026_labels") && text.contains("already exists"), "{text}");
    assert!(!text.contains("run `staunch migrate`"), "{text}");
    assert!(!pending_migrations(&url).await.unwrap().is_empty());
}

/// The indexes of a missing migration are built before it, while somebody writes and does not commit
/// for a while; what a build has left broken is replaced.
#[tokio::test]
async fn missing_indexes_are_built_while_writes_go_on() {
    let Some(database) = testkit::postgres().await else { return };
    let url = database.url();
    migrate(&url).await.unwrap();
    let mut other = PgConnection::connect(&url).await.unwrap();
    let mut run = async |sql: &'static str| sqlx::raw_sql(sql).execute(&mut other).await.map(drop);
    run("DELETE FROM seaql_migrations WHERE version = 'm0020_upkeep'").await.unwrap();
    run("DROP INDEX instances_ended").await.unwrap();
    run("DROP INDEX instances_parent").await.unwrap();
    // Two equal values: a unique index over them cannot be built, and stays behind, broken.
    run("INSERT INTO instances (id, definition_id, version_id, definition_version, version, status,
            parent_instance_id, incidents, created_at, updated_at, search, state)
         SELECT n::text, 'd', 'v', 1, 1, 'Finished', 'p', 0, 0, 0, '', '' FROM generate_series(1, 2) n")
    .await
    .unwrap();
    let broken = "CREATE UNIQUE INDEX CONCURRENTLY instances_parent
        ON instances (parent_instance_id) WHERE parent_instance_id IS NOT NULL";
    run(broken).await.unwrap_err();

    let planned = plan(&url).await.unwrap();
    assert_eq!(planned.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["m0020_upkeep"]);
    assert!(
        planned[0].statements.iter().all(|one| one.lock.contains("writes go on")),
        "{planned:?}"
    );
    assert_eq!(migrate(&url).await.unwrap(), ["m0020_upkeep"]);
    let indexes: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_index WHERE indisvalid AND indexrelid IN (
            to_regclass('instances_ended'), to_regclass('instances_parent'))",
    )
    .fetch_one(&mut other)
    .await
    .unwrap();
    assert_eq!(indexes, 2);
    assert_eq!(plan(&url).await.unwrap(), []);
}

#[tokio::test]
async fn what_cannot_be_reached_is_said() {
    let unknown = connect("mysql://localhost/a", Options::default()).await;
    let Err(Error::Unavailable(text)) = unknown else { panic!("there is no such driver") };
    assert!(text.contains("sqlite://") && text.contains("mysql"), "{text}");

    let pairs = connect("host=db user=u password=hunter2", Options::default()).await;
    let Err(Error::Unavailable(text)) = pairs else { panic!("this is no URL") };
    assert!(text.contains("postgres://user") && !text.contains("hunter2"), "{text}");

    let url = format!("postgres://postgres@127.0.0.1:{}/a", testkit::free_port());
    let nobody = connect(&url, Options::default()).await;
    assert!(matches!(nobody, Err(Error::Unavailable(_))));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a database, but long enough to be looked at as one").unwrap();
    let text = connect(&format!("sqlite://{}", file.display()), Options::default()).await;
    assert!(matches!(text, Err(Error::Unavailable(_) | Error::Corrupt(_))));
    let below = connect(&format!("sqlite://{}/a.db", file.display()), Options::default()).await;
    let Err(Error::Unavailable(text)) = below else { panic!("a file is no folder") };
    assert!(text.contains("cannot be made"), "{text}");
}
