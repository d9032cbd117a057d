//! A background task that panics leaves no key busy and no caller waiting, and is started again.
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use model::InstanceId;
use store::conformance::{bookmark, next};
use store::{Commit, Error, Expected, Instances as _, Loaded, Store as _};
use store_sql::{Options, SqlStore, connect};
use testkit::{eventually, sqlite_url};

const SOON: Duration = Duration::from_secs(30);

/// Commits the next burst of an instance until that succeeds. If the outcome is unknown it loads
/// again, as an executor does.
async fn advance(store: &SqlStore, id: &InstanceId, to: i64) {
    loop {
        let Ok(loaded) = store.load(id).await else { continue };
        let version = loaded.as_ref().map_or(0, |Loaded { instance, .. }| instance.version);
        if version >= to {
            return;
        }
        let mut burst = next(id.as_str(), version);
        if version == 0 {
            burst.expected = Expected::Absent;
        }
        burst.created = vec![bookmark(id.as_str(), &format!("{id}-{version}"))];
        match store.commit(burst).await {
            Ok(Commit::Done { .. } | Commit::Conflict) | Err(Error::Unavailable(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Under load a committer, a lookup and a reader panic again and again: nothing hangs, every burst
/// is committed in the end, and the panics are counted.
async fn panics_leave_nothing_behind(store: SqlStore) {
    const TASKS: [&str; 3] = ["committer", "lookup", "reader"];
    const TIMES: u64 = 3;
    const BURSTS: i64 = 10;
    let before = TASKS.map(panics);
    let ids: Vec<InstanceId> = (0..20).map(|number| format!("i{number}").into()).collect();
    let running: Vec<_> = ids
        .iter()
        .map(|id| {
            let (store, id) = (store.clone(), id.clone());
            tokio::spawn(async move { advance(&store, &id, BURSTS).await })
        })
        .collect();
    for (task, before) in TASKS.into_iter().zip(before) {
        for time in 1..=TIMES {
            tasks::plant(task, 5);
            let what = format!("{task} panics");
            eventually(&what, SOON, async || {
                // The planted panic happens only when the task runs.
                advance(&store, &"poke".into(), version(&store, "poke").await + 1).await;
                panics(task) >= before + time
            })
            .await;
        }
    }
    for running in running {
        tokio::time::timeout(SOON, running).await.expect("nothing hangs").unwrap();
    }
    for id in &ids {
        assert_eq!(version(&store, id.as_str()).await, BURSTS);
    }
    assert_eq!(store.stats().queued, 0);
    tokio::time::timeout(SOON, store.close()).await.expect("it closes");
}

async fn version(store: &SqlStore, id: &str) -> i64 {
    loop {
        if let Ok(loaded) = store.load(&id.into()).await {
            return loaded.map_or(0, |loaded| loaded.instance.version);
        }
    }
}

fn panics(task: &str) -> u64 {
    tasks::figures().iter().find(|figure| figure.task == task).map_or(0, |figure| figure.panics)
}

/// One test for both databases, because the names of tasks are global in the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_leaves_nothing_busy_and_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    // Long timeouts: this test is not about a slow disk.
    let options =
        Options { migrate: true, acquire_timeout: SOON, busy_timeout: SOON, ..Options::default() };
    let store = connect(&sqlite_url(folder.path()), options.clone()).await.unwrap();
    panics_leave_nothing_behind(store).await;
    let Some(database) = testkit::postgres().await else { return };
    panics_leave_nothing_behind(connect(&database.url(), options).await.unwrap()).await;
}
