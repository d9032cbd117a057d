//! Both databases pass the conformance suite of stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::{Store, conformance};
use store_sql::{Options, connect};

fn options() -> Options {
    Options { migrate: true, ..Options::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicUsize::new(0);
    conformance::exercise(async || {
        let file = folder.path().join(format!("{}/a.db", number.fetch_add(1, Ordering::Relaxed)));
        let url = format!("sqlite://{}", file.display());
        Arc::new(connect(&url, options()).await.unwrap()) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_in_memory_conforms() {
    conformance::exercise(async || {
        Arc::new(connect("sqlite::memory:", options()).await.unwrap()) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_conforms() {
    if testkit::postgres().await.is_none() {
        return;
    }
    conformance::exercise(async || {
        let database = testkit::postgres().await.unwrap();
        Arc::new(connect(&database.url(), options()).await.unwrap()) as Arc<dyn Store>
    })
    .await;
}
