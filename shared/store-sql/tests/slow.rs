//! A server that is slow when a node starts is waited for. One that hangs is not, once the health check
//! has no answer.

use std::time::Duration;

use sea_orm::{ConnectionTrait as _, TransactionTrait as _};
use store::conformance::{first, next};
use store::{Commit, Definitions as _, Error, Instances as _, Store as _, VersionOption};
use store_sql::{Options, connect, migrate};
use testkit::{Proxy, eventually};
use tokio::time::{Instant, sleep, timeout};

#[tokio::test]
async fn a_server_that_is_slow_to_take_the_first_connection_is_waited_for() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    let url = server.url("flow");
    migrate(&url).await.unwrap();
    let address = url.split(['@', '/']).nth(3).unwrap();
    let proxy = Proxy::to(address).await;
    let through = url.replace(address, &proxy.address().to_string());
    proxy.cut();
    let wait = Duration::from_millis(200);
    let options = Options { acquire_timeout: wait, ..Options::default() };
    let healing = async {
        sleep(wait * 5).await;
        proxy.heal();
    };
    let (store, ()) = tokio::join!(connect(&through, options), healing);
    store.unwrap().close().await;
}

/// All processes of the server stand still: connections stay open, and nothing is answered. A check of
/// readiness waits for 2 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_server_that_hangs_is_given_up_when_the_health_check_has_no_answer() {
    const READY_MAX: Duration = Duration::from_secs(2);
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&server.url("flow"), options).await.unwrap();
    let done = Commit::Done { waiting: Vec::new() };
    assert_eq!(store.commit(first("a")).await.unwrap(), done);
    let is_away = |result: Result<(), Error>| matches!(result, Err(Error::Unavailable(_)));

    server.suspend().unwrap();
    let began = Instant::now();
    let id = "a".into();
    let asked = async {
        sleep(Duration::from_millis(200)).await;
        timeout(READY_MAX, store.ping()).await
    };
    let (read, wrote, ready) = tokio::join!(store.load(&id), store.commit(next("a", 1)), asked);
    let took = began.elapsed();
    assert!(is_away(read.map(drop)) && is_away(wrote.map(drop)));
    assert!(!matches!(ready, Ok(Ok(()))), "{ready:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    // What comes now fails at once.
    let began = Instant::now();
    let (read, wrote) = tokio::join!(store.load(&id), store.commit(next("a", 1)));
    let took = began.elapsed();
    assert!(is_away(read.map(drop)) && is_away(wrote.map(drop)));
    assert!(took < Duration::from_secs(1), "{took:?}");

    server.resume().unwrap();
    eventually("it answers", Duration::from_secs(30), async || store.ping().await.is_ok()).await;
    assert!(store.load(&id).await.unwrap().is_some());
    store.close().await;
}

/// Queries may take longer than the health check waits, and all connections that read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_that_are_slow_are_waited_for_although_the_health_check_finds_no_connection() {
    let Some(database) = testkit::postgres().await else { return };
    let options = Options { migrate: true, max_connections: 1, ..Options::default() };
    let store = connect(&database.url(), options).await.unwrap();
    let other = sea_orm::Database::connect(database.url()).await.unwrap();
    let lock = other.begin().await.unwrap();
    lock.execute_unprepared("LOCK TABLE definitions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let freed = async {
        sleep(Duration::from_millis(200)).await;
        // The only connection that reads waits for the lock, so the check has none.
        assert!(store.ping().await.is_err());
        lock.rollback().await.unwrap();
    };
    let id = "d".into();
    let (found, ()) = tokio::join!(store.definition(&id, VersionOption::Latest), freed);
    assert!(found.unwrap().is_none());
    store.close().await;
}
