//! The settings of the connections to PostgreSQL do what they say, and what fails is counted.
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use model::{Definition, Instance, SubStatus, Timestamp};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, TransactionTrait as _};
use store::{
    Burst, Commit, Definitions as _, Error, Expected, Instances as _, Store as _, VersionOption,
};
use store_sql::{Options, SqlStore, connect};
use testkit::eventually;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const SOON: Duration = Duration::from_secs(30);
const STATEMENT_TIME: Duration = Duration::from_secs(3);
const CALLERS: usize = 9;

/// The value of a series of this process.
fn counted(series: &str) -> u64 {
    let text = meter::text();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    value.unwrap().parse().unwrap()
}

fn errors(kind: &str) -> u64 {
    counted(&format!("staunch_database_errors_total{{kind=\"{kind}\"}}"))
}

/// The number of statements of other connections that wait for a lock on this table.
async fn waiting(observer: &DatabaseConnection, table: &str) -> i64 {
    let text = format!(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
    let row = observer
        .query_one_raw(sea_orm::Statement::from_string(sea_orm::DatabaseBackend::Postgres, text));
    row.await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

fn reads(store: &SqlStore) -> Vec<JoinHandle<Result<Option<Definition>, Error>>> {
    let read = |_| {
        let store = store.clone();
        tokio::spawn(async move { store.definition(&"d".into(), VersionOption::Latest).await })
    };
    (0..CALLERS).map(read).collect()
}

fn commits(store: &SqlStore) -> Vec<JoinHandle<Result<Commit, Error>>> {
    let commit = |number| {
        let store = store.clone();
        let at = Timestamp::from_millis(1_800_000_000_000);
        let id = format!("i{number}").as_str().into();
        let new = Instance::new(id, "order".into(), "order-1".into(), 1, at);
        let instance = Instance { version: 1, status: SubStatus::Suspended, ..new };
        tokio::spawn(async move { store.commit(Burst::new(instance, Expected::Absent)).await })
    };
    (0..CALLERS).map(commit).collect()
}

/// All statements of two stores wait for a lock. As many of them reach the server as each store has
/// connections and committers. In the store with short times the others give up waiting for a
/// connection, and the statements end; in the store with long times all of them go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pools_and_times_are_as_set_and_what_fails_is_counted() {
    let Some(database) = testkit::postgres().await else { return };
    let short = Options {
        migrate: true,
        max_connections: 3,
        acquire_timeout: Duration::from_millis(500),
        statement_timeout: STATEMENT_TIME,
        ..Options::default()
    };
    let long = Options {
        max_connections: 1,
        committers: 3,
        batch_max: 1,
        acquire_timeout: Duration::from_secs(60),
        statement_timeout: Duration::from_secs(60),
        ..Options::default()
    };
    let short = connect(&database.url(), short).await.unwrap();
    let long = connect(&database.url(), long).await.unwrap();
    let other = sea_orm::Database::connect(database.url()).await.unwrap();
    let observer = sea_orm::Database::connect(database.url()).await.unwrap();
    let lock = other.begin().await.unwrap();
    let exclusive = "LOCK TABLE definitions, instances IN ACCESS EXCLUSIVE MODE";
    lock.execute_unprepared(exclusive).await.unwrap();
    let before = (errors("pool"), errors("timeout"));

    let began = Instant::now();
    let (ending, going_on, committing) = (reads(&short), reads(&long), commits(&long));
    eventually("every connection and committer has a statement", SOON, async || {
        let reading = waiting(&observer, "definitions").await;
        let committing = waiting(&observer, "instances").await;
        assert!(reading <= 3 + 1 && committing <= 3, "{reading} {committing}");
        (reading, committing) == (3 + 1, 3)
    })
    .await;
    let (mut waits, mut times) = (0, 0);
    for read in ending {
        let Err(Error::Unavailable(reason)) = read.await.unwrap() else { panic!("it was locked") };
        match reason.contains("statement timeout") {
            true => times += 1,
            false => waits += 1,
        }
    }
    let took = began.elapsed();
    assert_eq!((times, waits), (3, CALLERS - 3));
    assert!(took >= STATEMENT_TIME, "{took:?}");
    assert!(errors("pool") > before.0, "those that waited for a connection");
    assert!(errors("timeout") >= before.1 + 3, "those that waited for the lock");

    assert!(going_on.iter().all(|read| !read.is_finished()));
    assert!(committing.iter().all(|commit| !commit.is_finished()));
    let acquired = counted("staunch_database_acquire_duration_seconds_count");
    lock.commit().await.unwrap();
    for read in going_on {
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
    for commit in committing {
        assert!(matches!(commit.await.unwrap().unwrap(), Commit::Done { .. }));
    }
    // A transaction for each burst, of which three had begun before.
    let later = counted("staunch_database_acquire_duration_seconds_count");
    assert!(later >= acquired + 6, "{acquired}, then {later}");
    short.close().await;
    long.close().await;
}
