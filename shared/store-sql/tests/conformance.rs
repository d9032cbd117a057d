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

/// Few connections are shared by many, so that statements that need one for longer fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_conforms_behind_a_pooler_in_transaction_mode() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    let Some(pooler) = testkit::pgbouncer(server.port(), 3).await else { return };
    let number = AtomicUsize::new(0);
    conformance::exercise(async || {
        let name = format!("a{}", number.fetch_add(1, Ordering::Relaxed));
        server.create(&name).await.unwrap();
        let options = Options { pooled: true, ..options() };
        Arc::new(connect(&pooler.url(&name), options).await.unwrap()) as Arc<dyn Store>
    })
    .await;
}

/// A node that does not know of the pooler says what to do, whether the pooler refuses its settings
/// or ignores them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_that_is_not_named_is_noticed() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    for ignored in ["", "options,extra_float_digits"] {
        let pooler = testkit::pgbouncer_ignoring(server.port(), 3, ignored).await;
        let Some(pooler) = pooler else { return };
        let error = connect(&pooler.url("flow"), options()).await.map(drop).unwrap_err();
        assert!(error.to_string().contains("set database-pooler"), "{ignored:?}: {error}");
    }
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
