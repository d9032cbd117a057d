//! A process without a free file descriptor cannot open connections. The store reports that, and
//! recovers when descriptors are free. This test uses up the descriptors of its process, so it has
//! the process to itself.

use std::fs::File;
use std::time::Duration;

use store::conformance::{first, next};
use store::{Commit, Error, Instances as _, Store as _};
use store_sql::{Options, connect};
use testkit::{eventually, sqlite_url};

const SOON: Duration = Duration::from_secs(20);

/// Opens files until there is no descriptor left.
fn take_all() -> Vec<File> {
    let mut held = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        held.push(file);
    }
    held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_opened_again_when_descriptors_are_free() {
    let Some(database) = testkit::postgres().await else { return };
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&database.url(), options.clone()).await.unwrap();
    let done = Commit::Done { waiting: Vec::new() };
    assert_eq!(store.commit(first("a")).await.unwrap(), done);
    let folder = tempfile::tempdir().unwrap();
    let urls = [database.url(), sqlite_url(folder.path())];

    let held = take_all();
    for url in &urls {
        let result = connect(url, options.clone()).await.map(drop);
        assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    }
    // Connections that are open already still work.
    assert_eq!(store.commit(next("a", 1)).await.unwrap(), done);

    drop(held);
    for url in &urls {
        let open = async || connect(url, options.clone()).await.is_ok();
        eventually("the database is open", SOON, open).await;
    }
    store.close().await;
}
