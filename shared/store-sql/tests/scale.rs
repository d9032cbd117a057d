//! Hot queries read as few rows of a large database as of a small one: each is tried on many rows,
//! and PostgreSQL says how many it has read. 200,000 instances, or `SCALE_ROWS`: `just scale`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

use std::time::{Duration, Instant};

use model::{CommandId, Instance, InstanceId, SubStatus, Timestamp, limits};
use protocol::Message;
use sea_orm::sqlx::{self, Connection as _, PgConnection};
use store::{
    Bookmarks as _, Burst, Counts as _, EndedFilter, Expected, Inbox as _, InstanceFilter,
    Instances as _, NewInstance, Outbox as _, Owned, Page, Store as _, Timers as _, Upkeep as _,
};
use store_sql::{Options, SqlStore, connect};

/// Rows that one call may read, of all tables and indexes: a few pages or a batch of 500.
const ROWS_MAX: i64 = 6_000;
/// The same for a call about one row. Opening the store reads the list of migrations, too.
const FEW: i64 = 200;
/// As many instances of a state as ingress counts by definition.
const UNFINISHED: u64 = 5_000;
/// The time of the oldest instance.
const BEGAN: i64 = 1_700_000_000_000;

/// One instance in ten waits for a timer, one has faulted, the others have finished; there are 50
/// definitions. Every other instance has a child. At the end comes what autovacuum does.
const FILL: [&str; 7] = [
    "INSERT INTO instances (id, definition_id, version_id, definition_version, version, status,
        correlation_id, parent_instance_id, incidents, created_at, updated_at, finished_at, search,
        state)
     SELECT 'i' || lpad(n::text, 9, '0'), 'd' || n % 50, 'v' || n % 50, 1, 3,
        CASE n % 10 WHEN 0 THEN 'Suspended' WHEN 1 THEN 'Faulted' ELSE 'Finished' END,
        'c' || n, CASE WHEN n % 2 = 0 THEN 'i' || lpad((n - 1)::text, 9, '0') END, 0,
        1700000000000 + n, 1700000000000 + n,
        CASE n % 10 WHEN 0 THEN NULL ELSE 1700000000000 + n END, 'i' || n,
        decode(repeat(md5(n::text), 8), 'hex')
     FROM generate_series(1, $1) AS n",
    "INSERT INTO journal SELECT 'i' || lpad(n::text, 9, '0'), 1, 3, decode('90', 'hex')
     FROM generate_series(1, $1) AS n",
    "INSERT INTO bookmarks (id, instance_id, definition_id, shard, name, hash, activity_id,
        activity_node_id, activity_instance_id, payload, created_at, due_at)
     SELECT 'b' || n, 'i' || lpad(n::text, 9, '0'), 'd' || n % 50, n % 64, 'Elsa.Delay', 'h' || n,
        'a', 'a', 'a' || n, 'null', 1700000000000, 1900000000000 + n
     FROM generate_series(10, $1, 10) AS n",
    "INSERT INTO tokens SELECT 't' || n, 'i' || lpad(n::text, 9, '0'), '{}', 1700000000000,
        1900000000000 + n FROM generate_series(10, $1, 10) AS n",
    "INSERT INTO pending_resumes (id, instance_id, hash, accepted_at, expires_at, waiting, command)
     SELECT 'p' || n, NULL, 'e' || n, 1700000000000 + n, 1900000000000 + n, true, ''
     FROM generate_series(100, $1, 100) AS n",
    "INSERT INTO audit (at, who, what, target, details)
     SELECT 1700000000000 + n, 'w', 'x', 't', 'null' FROM generate_series(10, $1, 10) AS n",
    "VACUUM ANALYZE",
];

const READ: &str = "SELECT ((SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables)
    + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes))::bigint";

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(BEGAN + millis)
}

fn start(id: &str) -> NewInstance {
    let instance = Instance::new(InstanceId::new(id), "d1".into(), "v1".into(), 1, at(0));
    NewInstance { instance, command: Message::default(), activation_key: Some(format!("k{id}")) }
}

fn filter(change: impl FnOnce(&mut InstanceFilter)) -> InstanceFilter {
    let mut filter = InstanceFilter::default();
    change(&mut filter);
    filter
}

/// The database, and the largest number of rows that an ordinary call has read.
struct Large {
    url: String,
    looking: PgConnection,
    most: i64,
}

impl Large {
    /// Runs a call on connections of its own, which report what they have read when they end.
    async fn reads<T>(
        &mut self,
        what: &str,
        rows_max: i64,
        call: impl AsyncFn(&SqlStore) -> T,
    ) -> (T, Duration) {
        let before = self.rows().await;
        let store = connect(&self.url, Options::default()).await.unwrap();
        let began = Instant::now();
        let done = call(&store).await;
        let took = began.elapsed();
        store.close().await;
        let read = self.rows().await - before;
        println!("scale: {what}: {read} rows, {took:.1?}");
        assert!(read <= rows_max, "{what} has read {read} rows, above {rows_max}");
        self.most = self.most.max(read);
        (done, took)
    }

    async fn rows(&mut self) -> i64 {
        let mut last = -1;
        // Sessions that have ended report a moment later.
        for _ in 0..200 {
            sqlx::query("SELECT pg_stat_clear_snapshot()")
                .execute(&mut self.looking)
                .await
                .unwrap();
            let sessions: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'staunch'",
            )
            .fetch_one(&mut self.looking)
            .await
            .unwrap();
            let rows: i64 = sqlx::query_scalar(READ).fetch_one(&mut self.looking).await.unwrap();
            if sessions == 0 && rows == last {
                break;
            }
            last = rows;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        last
    }
}

#[tokio::test]
async fn hot_queries_read_no_more_of_many_rows() {
    let Some(database) = testkit::postgres().await else { return };
    let rows: i64 = std::env::var("SCALE_ROWS").map_or(200_000, |rows| rows.parse().unwrap());
    let url = database.url();
    let options = Options { migrate: true, ..Options::default() };
    connect(&url, options).await.unwrap().close().await;
    let mut looking = PgConnection::connect(&url).await.unwrap();
    let began = Instant::now();
    for statement in FILL {
        let query = sqlx::query(statement);
        let query = if statement.contains("$1") { query.bind(rows) } else { query };
        query.execute(&mut looking).await.unwrap();
    }
    println!("scale: {rows} instances are there after {:.1?}", began.elapsed());
    let mut large = Large { url, looking, most: 0 };
    starts(&mut large).await;
    lists(&mut large).await;
    sweeps(&mut large).await;
    upkeep(&mut large, rows).await;
    println!("scale: {rows} instances, at most {} rows", large.most);
}

async fn starts(large: &mut Large) {
    let number = std::sync::atomic::AtomicU32::new(0);
    let next = || format!("new-{}", number.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    large
        .reads("accept a start", FEW, async |store| store.accept(start(&next())).await.unwrap())
        .await;
    large
        .reads("first burst", FEW, async |store| {
            let start = start(&next());
            let instance = Instance { version: 1, status: SubStatus::Suspended, ..start.instance };
            store.commit(Burst::new(instance, Expected::Unstarted)).await.unwrap()
        })
        .await;
    let id = InstanceId::new("i000000010");
    large.reads("load", FEW, async |store| store.load(&id).await.unwrap().unwrap()).await;
    large
        .reads("journal", FEW, async |store| store.journal(&id, Page::first()).await.unwrap())
        .await;
}

async fn lists(large: &mut Large) {
    let count = i64::try_from(limits::LIST_COUNT_MAX).unwrap();
    let page = Page::new(0, 50);
    for (what, filter) in [
        ("list: newest", InstanceFilter::default()),
        ("list: a state", filter(|filter| filter.sub_statuses = vec![SubStatus::Suspended])),
        ("list: a definition", filter(|filter| filter.definition_ids = vec!["d7".into()])),
    ] {
        let max = count + ROWS_MAX;
        large.reads(what, max, async |store| store.list(&filter, page).await.unwrap()).await;
    }
    let (running, _) = large
        .reads("unfinished by definition", ROWS_MAX, async |store| {
            store.unfinished_by_definition(UNFINISHED).await.unwrap()
        })
        .await;
    let waiting: u64 = running.iter().map(|one| one.suspended).sum();
    assert_eq!(waiting, UNFINISHED);
    let one = filter(|filter| filter.correlation_id = Some("c70".to_owned()));
    let found = large
        .reads("list: a correlation id", FEW, async |store| store.list(&one, page).await.unwrap())
        .await;
    assert_eq!(found.0.total, 1);
}

async fn sweeps(large: &mut Large) {
    let late = at(1_000_000_000_000);
    let shards: Vec<i32> = (0..limits::TIMER_SHARDS).collect();
    large
        .reads("unstarted", ROWS_MAX, async |store| store.unstarted(late, 500).await.unwrap())
        .await;
    large
        .reads("unfinished", ROWS_MAX, async |store| store.unfinished(late, 500).await.unwrap())
        .await;
    large
        .reads("unpublished", ROWS_MAX, async |store| store.unpublished(late, 500).await.unwrap())
        .await;
    large
        .reads("unpublished: places", ROWS_MAX, async |store| {
            let first = store.unpublished_places(late, None, 1).await.unwrap();
            store.unpublished_places(late, first.first(), 499).await.unwrap()
        })
        .await;
    large
        .reads("unapplied", ROWS_MAX, async |store| store.unapplied(late, 500).await.unwrap())
        .await;
    large.reads("overdue", ROWS_MAX, async |store| store.overdue(at(0), 500).await.unwrap()).await;
    large
        .reads("due timers", ROWS_MAX, async |store| {
            store.due_timers(&shards, late, 500).await.unwrap()
        })
        .await;
    large
        .reads("a waiting bookmark", FEW, async |store| {
            let filter =
                store::BookmarkFilter { hash: Some("h70".to_owned()), ..Default::default() };
            store.find(&filter, 10).await.unwrap()
        })
        .await;
    large
        .reads("settle", FEW, async |store| {
            let id = CommandId::new("nobody");
            store.settle(&id, Vec::new(), Vec::new()).await.unwrap();
        })
        .await;
}

async fn upkeep(large: &mut Large, rows: i64) {
    let finished = |before| EndedFilter {
        definition_id: "d2".into(),
        status: SubStatus::Finished,
        before: at(before),
    };
    large
        .reads("a definition with ended instances", FEW, async |store| {
            store.ended_definition(Some(&"d2".into())).await.unwrap()
        })
        .await;
    large
        .reads("nothing has ended for long enough", FEW, async |store| {
            store.ended(&finished(0), None, 100).await.unwrap()
        })
        .await;
    let (found, _) = large
        .reads("ended instances", ROWS_MAX, async |store| {
            store.ended(&finished(rows), None, 100).await.unwrap()
        })
        .await;
    assert_eq!(found.len(), 100);
    let ids: Vec<InstanceId> = found.into_iter().map(|ended| ended.id).collect();
    large
        .reads("remove 100 instances", ROWS_MAX, async |store| {
            store.remove_ended(&ids, at(rows)).await.unwrap()
        })
        .await;
    for table in Owned::ALL {
        large
            .reads(&format!("orphans in {}", table.name()), ROWS_MAX, async |store| {
                store.orphans(table, Some(&"i0000001".into()), 500).await.unwrap()
            })
            .await;
    }
    large
        .reads("old audit entries", ROWS_MAX, async |store| {
            store.forget_audit(at(5_000), 500).await.unwrap()
        })
        .await;
}
