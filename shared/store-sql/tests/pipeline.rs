//! The group-commit pipeline: a bad job fails alone, accepted work is finished, and the store
//! survives a restart of the database.
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use model::{Entry, Instance, SubStatus, Timestamp, What};
use protocol::Message;
use store::{
    Accepted, Burst, Commit, Definitions as _, Error, Expected, InstanceFilter, Instances as _,
    NewInstance, Outbox as _, OutboxRow, Page, Store as _, VersionOption,
};
use store_sql::{Options, SqlStore, connect};
use testkit::{eventually, sqlite_url};
use tokio::time::Instant;

const SOON: Duration = Duration::from_secs(20);

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

fn instance(id: &str, version: i64) -> Instance {
    let status = if version == 0 { SubStatus::Pending } else { SubStatus::Suspended };
    let new = Instance::new(id.into(), "order".into(), "order-1".into(), 1, at(0));
    Instance { version, status, updated_at: at(version), state: vec![7; 100], ..new }
}

/// A burst after that version; 0 inserts.
fn burst(id: &str, loaded: i64) -> Burst {
    let sequence = u64::try_from(loaded).unwrap() + 1;
    let entry = Entry {
        sequence,
        timestamp: at(0),
        activity_id: None,
        activity_instance_id: None,
        activity_type: None,
        activity_name: None,
        what: What::Workflow,
        message: None,
        payload: None,
        node: None,
        owner: None,
        recorded: None,
    };
    let outbox = OutboxRow {
        id: format!("{id}-{sequence}"),
        instance_id: id.into(),
        message: Message::default(),
        created_at: at(0),
    };
    let expected = if loaded > 0 { Expected::Version(loaded) } else { Expected::Absent };
    Burst {
        journal: vec![entry],
        outbox: vec![outbox],
        ..Burst::new(instance(id, loaded + 1), expected)
    }
}

fn done() -> Commit {
    Commit::Done { waiting: Vec::new() }
}

async fn sqlite(folder: &tempfile::TempDir) -> SqlStore {
    let options = Options { migrate: true, ..Options::default() };
    connect(&sqlite_url(folder.path()), options).await.unwrap()
}

/// Every seventh burst writes a journal row that exists already: the database refuses it.
async fn fails_alone(store: SqlStore) {
    for number in 0..60 {
        assert_eq!(store.commit(burst(&format!("i{number}"), 0)).await.unwrap(), done());
    }
    let running: Vec<_> = (0..60)
        .map(|number| {
            let store = store.clone();
            let mut burst = burst(&format!("i{number}"), 1);
            if number % 7 == 0 {
                burst.journal[0].sequence = 1;
            }
            tokio::spawn(async move { store.commit(burst).await })
        })
        .collect();
    for (number, running) in running.into_iter().enumerate() {
        let result = running.await.unwrap();
        let instance = store.load(&format!("i{number}").into()).await.unwrap().unwrap().instance;
        if number % 7 == 0 {
            assert!(matches!(result, Err(Error::Refused(_))), "{number}: {result:?}");
            assert_eq!(instance.version, 1);
        } else {
            assert_eq!(result.unwrap(), done());
            assert_eq!(instance.version, 2);
        }
    }
    let stats = store.stats();
    assert!(stats.batches > 60 && stats.bursts >= 60 + 51, "{stats:?}");
    assert_eq!(stats.transaction_time.count, stats.batches);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poisonous_burst_fails_alone_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    fails_alone(sqlite(&folder).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poisonous_burst_fails_alone_on_postgres() {
    let Some(database) = testkit::postgres().await else { return };
    let options = Options { migrate: true, ..Options::default() };
    fails_alone(connect(&database.url(), options).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_at_the_same_moment_shares_a_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    let running: Vec<_> = (0..400)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(burst(&format!("i{number}"), 0)).await })
        })
        .collect();
    for running in running {
        assert_eq!(running.await.unwrap().unwrap(), done());
    }
    let stats = store.stats();
    assert_eq!(stats.bursts, 400);
    assert!(stats.batches < 400 && stats.batch_max > 1, "{stats:?}");
    assert!(stats.batch_max <= 64, "{stats:?}");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_finishes_what_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    store.commit(burst("a", 0)).await.unwrap();
    store.published(vec!["a-1".to_owned()]).await.unwrap();
    let running: Vec<_> = (0..100)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(burst(&format!("i{number}"), 0)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    store.close().await;
    let mut committed = 0;
    for running in running {
        match running.await.unwrap() {
            Ok(result) => {
                assert_eq!(result, done());
                committed += 1;
            }
            Err(error) => assert!(matches!(error, Error::Unavailable(_)), "{error}"),
        }
    }
    let late = store.commit(burst("late", 0)).await;
    assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");

    let store = sqlite(&folder).await;
    let listed = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    assert_eq!(listed.total, committed + 1);
    let unpublished = store.unpublished(at(1), 1_000).await.unwrap();
    assert!(unpublished.iter().all(|row| row.id != "a-1"));
    store.close().await;
}

/// Another process that holds the database's only write lock.
async fn hold_the_lock(folder: &tempfile::TempDir) -> sea_orm::DatabaseTransaction {
    use sea_orm::{SqliteTransactionMode, TransactionOptions, TransactionTrait as _};
    let other = sea_orm::Database::connect(sqlite_url(folder.path())).await.unwrap();
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    other.begin_with_options(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_is_overload_and_a_locked_database_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(&folder).await.close().await;
    let options = Options {
        batch_max: 1,
        queue_max: 3,
        queue_wait: Duration::from_millis(50),
        ..Options::default()
    };
    let store = connect(&sqlite_url(folder.path()), options).await.unwrap();
    let lock = hold_the_lock(&folder).await;
    let running: Vec<_> = (0..10)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(burst(&format!("i{number}"), 0)).await })
        })
        .collect();
    // One job is being written, two wait, and there is no room for the others.
    eventually("seven find no place", SOON, async || store.stats().overloaded == 7).await;
    assert_eq!(store.stats().queued, 2);
    // Readers do not wait for the writer.
    assert_eq!(store.load(&"i0".into()).await.unwrap(), None);

    lock.rollback().await.unwrap();
    let mut committed = 0;
    for running in running {
        match running.await.unwrap() {
            Ok(result) => {
                assert_eq!(result, done());
                committed += 1;
            }
            Err(error) => assert!(matches!(error, Error::Overloaded(_)), "{error}"),
        }
    }
    assert_eq!(committed, 3);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_never_given_back_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(&folder).await.close().await;
    let options =
        Options { busy_timeout: Duration::from_millis(50), tries_max: 2, ..Options::default() };
    let store = connect(&sqlite_url(folder.path()), options).await.unwrap();
    let lock = hold_the_lock(&folder).await;
    let result = store.commit(burst("a", 0)).await;
    assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    assert!(store.stats().retries > 0);
    lock.rollback().await.unwrap();
    assert_eq!(store.commit(burst("a", 0)).await.unwrap(), done());
    store.close().await;
}

/// Answered bursts survive the crash; those without an answer may be loaded and repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_crashes_loses_nothing_that_was_answered() {
    let Some(mut server) = testkit::own_postgres(true).await else { return };
    server.create("crashes").await.unwrap();
    let options = Options {
        migrate: true,
        acquire_timeout: Duration::from_millis(500),
        ..Options::default()
    };
    let store = connect(&server.url("crashes"), options).await.unwrap();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let id = format!("i{writer}");
                let mut answered = 0;
                let mut failed = 0;
                while answered < 60 {
                    let loaded = store.load(&id.as_str().into()).await;
                    let Ok(loaded) = loaded else {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    };
                    let version = loaded.map_or(0, |loaded| loaded.instance.version);
                    assert!(version >= answered, "{version} {answered}");
                    match store.commit(burst(&id, version)).await {
                        Ok(result) => {
                            assert_eq!(result, done());
                            answered = version + 1;
                        }
                        Err(error) => {
                            assert!(matches!(error, Error::Unavailable(_)), "{error}");
                            failed += 1;
                        }
                    }
                }
                failed
            })
        })
        .collect();
    eventually("some are committed", SOON, async || store.stats().bursts > 40).await;
    server.kill().unwrap();
    server.restart().await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    for writer in 0..8 {
        let id = format!("i{writer}").as_str().into();
        let version = store.load(&id).await.unwrap().unwrap().instance.version;
        let journal = store.journal(&id, Page::first()).await.unwrap();
        assert_eq!(i64::try_from(journal.total).unwrap(), version);
        let numbers: Vec<u64> = journal.items.iter().map(|entry| entry.sequence).collect();
        assert_eq!(numbers, (1..=journal.total).collect::<Vec<_>>());
    }
    store.close().await;
}

/// A caller learns of it about as soon as readiness does, which waits for 2 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_is_reported_within_a_few_seconds() {
    let Some(mut server) = testkit::own_postgres(false).await else { return };
    server.create("gone").await.unwrap();
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&server.url("gone"), options).await.unwrap();
    assert_eq!(store.commit(burst("a", 0)).await.unwrap(), done());
    server.kill().unwrap();
    let began = Instant::now();
    let (instance, definition) = ("a".into(), "d".into());
    let (read, looked, wrote) = tokio::join!(
        store.load(&instance),
        store.definition(&definition, VersionOption::Latest),
        store.commit(burst("a", 1)),
    );
    let took = began.elapsed();
    assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
    assert!(matches!(looked, Err(Error::Unavailable(_))), "{looked:?}");
    assert!(matches!(wrote, Err(Error::Unavailable(_))), "{wrote:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    server.restart().await.unwrap();
    eventually("it works again", SOON, async || store.load(&"a".into()).await.is_ok()).await;
    store.close().await;
}

/// Two processes on one database: the version check decides between them as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_processes_wins() {
    let Some(database) = testkit::postgres().await else { return };
    let options = Options { migrate: true, ..Options::default() };
    let stores = [
        connect(&database.url(), options.clone()).await.unwrap(),
        connect(&database.url(), options).await.unwrap(),
    ];
    for number in 0..40 {
        let start = NewInstance {
            instance: instance(&format!("i{number}"), 0),
            command: Message::default(),
            activation_key: (number % 2 == 0).then(|| format!("key{}", number / 4)),
        };
        let [one, other] = stores.each_ref().map(|store| {
            let (store, start) = (store.clone(), start.clone());
            tokio::spawn(async move { store.accept(start).await.unwrap() })
        });
        let results = [one.await.unwrap(), other.await.unwrap()];
        let new = results.iter().filter(|result| **result == Accepted::New).count();
        let is_first_with_key = number % 4 != 2;
        assert_eq!(new, usize::from(is_first_with_key), "{number}: {results:?}");
    }
    let running: Vec<_> = (0..80)
        .map(|number| {
            let store = stores[number % 2].clone();
            let id = format!("i{}", number / 4 * 2 + 1);
            let mut burst = burst(&id, 1);
            burst.expected = Expected::Version(0);
            burst.instance.version = 1;
            tokio::spawn(async move { store.commit(burst).await.unwrap() })
        })
        .collect();
    let mut results = Vec::new();
    for running in running {
        results.push(running.await.unwrap());
    }
    for four in results.chunks(4) {
        assert_eq!(four.iter().filter(|result| **result == done()).count(), 1, "{four:?}");
    }
    for store in stores {
        store.close().await;
    }
}

/// The other process holds the key, but has not committed when this one looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_loses_its_key_to_another_process_is_told_who_has_it() {
    use sea_orm::{ConnectionTrait as _, TransactionTrait as _};
    let Some(database) = testkit::postgres().await else { return };
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&database.url(), options).await.unwrap();
    let other = sea_orm::Database::connect(database.url()).await.unwrap();
    let tx = other.begin().await.unwrap();
    let insert =
        "INSERT INTO instances (id, definition_id, version_id, definition_version, version,
        status, incidents, created_at, updated_at, activation_key, search, state)
        VALUES ('other', 'order', 'order-1', 1, 0, 'Pending', 0, 0, 0, 'key', '', '')";
    tx.execute_unprepared(insert).await.unwrap();

    let start = NewInstance {
        instance: instance("a", 0),
        command: Message::default(),
        activation_key: Some("key".to_owned()),
    };
    let accepting = {
        let store = store.clone();
        tokio::spawn(async move { store.accept(start).await })
    };
    let waits = "SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waits = sea_orm::Statement::from_string(sea_orm::DatabaseBackend::Postgres, waits);
    eventually("the start waits for the other", SOON, async || {
        other.query_one_raw(waits.clone()).await.unwrap().is_some()
    })
    .await;
    tx.commit().await.unwrap();
    let result = accepting.await.unwrap().unwrap();
    assert_eq!(result, Accepted::NotAllowed("other".into()));
    assert_eq!(store.stats().retries, 1);
    store.close().await;
}
