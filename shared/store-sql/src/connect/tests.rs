//! A database that accepts no writes is reported, recovers, and can be closed.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::time::Duration;

use sea_orm::ConnectionTrait as _;
use store::conformance::first;
use store::{Burst, Commit, Error, Instances as _, Store as _};
use testkit::{eventually, sqlite_url};

use crate::pools::{Pools, sqlite_settings};
use crate::{Options, SqlStore, connect};

const SOON: Duration = Duration::from_secs(20);

fn options() -> Options {
    Options { migrate: true, ..Options::default() }
}

/// Bytes of state that a burst writes in the tests of full disks.
const STATE_BYTES: usize = 20_000;

fn large(id: &str) -> Burst {
    let mut burst = first(id);
    burst.instance.state = vec![7; STATE_BYTES];
    burst
}

/// Commits until the database is full; returns the number of commits.
async fn fill(store: &SqlStore) -> usize {
    for number in 0..1_000 {
        match store.commit(large(&format!("fill-{number}"))).await {
            Ok(done) => assert_eq!(done, Commit::Done { waiting: Vec::new() }),
            Err(error) => {
                assert!(matches!(error, Error::Unavailable(_)), "{error}");
                return number;
            }
        }
    }
    panic!("the database is never full");
}

/// The store reports that it cannot write, and why; reading still works.
async fn is_full(store: &SqlStore, there: &str, because: &str) {
    let error = store.ping().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("no write has succeeded"), "{error}");
    assert!(error.to_string().contains(because), "{error}");
    assert!(store.load(&there.into()).await.unwrap().is_some());
    for number in 0..3 {
        let result = store.commit(large(&format!("full-{number}"))).await;
        assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    }
}

/// There is room again: the store notices by itself, with and without work.
async fn goes_on(store: &SqlStore) {
    eventually("the store is ready again", SOON, async || store.ping().await.is_ok()).await;
    let done = Commit::Done { waiting: Vec::new() };
    assert_eq!(store.commit(large("room")).await.unwrap(), done);
    store.ping().await.unwrap();
}

/// Limits the database of this store to this many pages, on each connection.
async fn limit_pages(store: &SqlStore, url: &str, pages: &str) {
    let Pools::Sqlite { writer, .. } = &store.database.pools else { panic!("this is SQLite") };
    let settings = sqlite_settings(url, &options()).unwrap();
    writer.set_connect_options(settings.pragma("max_page_count", pages.to_owned()));
    let pragma = format!("PRAGMA max_page_count = {pages}");
    store.database.writer.execute_unprepared(&pragma).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_goes_on_after_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(folder.path());
    let store = connect(&url, options()).await.unwrap();
    store.ping().await.unwrap();
    limit_pages(&store, &url, "200").await;
    assert!(fill(&store).await > 3);
    is_full(&store, "fill-0", "full").await;
    limit_pages(&store, &url, "100000").await;
    goes_on(&store).await;
    store.close().await;
}

/// All commits that may be in progress wait for a full database when the store closes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_with_a_full_disk_closes() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(folder.path());
    let store = connect(&url, Options { batch_max: 1, ..options() }).await.unwrap();
    limit_pages(&store, &url, "200").await;
    fill(&store).await;
    let running: Vec<_> = (0..100)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(large(&format!("late-{number}"))).await })
        })
        .collect();
    eventually("they wait", SOON, async || store.stats().queued > 50).await;
    tokio::time::timeout(SOON, store.close()).await.expect("the store closes");
    for running in running {
        let result = running.await.unwrap();
        assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    }
}

/// PostgreSQL reports a full disk as 53100; here a trigger does so for as long as it exists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_goes_on_after_a_full_disk() {
    let Some(database) = testkit::postgres().await else { return };
    let store = connect(&database.url(), options()).await.unwrap();
    let done = Commit::Done { waiting: Vec::new() };
    assert_eq!(store.commit(large("there")).await.unwrap(), done);
    let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$";
    let run = async |statement: &str| {
        store.database.writer.execute_unprepared(statement).await.unwrap();
    };
    run(full).await;
    for table in ["instances", "outbox"] {
        run(&format!(
            "CREATE TRIGGER no_room BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION no_room()"
        ))
        .await;
    }
    let retries = store.stats().retries;
    assert_eq!(fill(&store).await, 0);
    assert!(store.stats().retries > retries);
    is_full(&store, "there", "no space left").await;
    for table in ["instances", "outbox"] {
        run(&format!("DROP TRIGGER no_room ON {table}")).await;
    }
    goes_on(&store).await;
    store.close().await;
}
