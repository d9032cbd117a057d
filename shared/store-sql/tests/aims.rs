//! Many instances wait for the same event while a command addresses only one of them: its look-up
//! does not read the rows of the others.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use model::{Bookmark, CommandId, Instance, SubStatus, Timestamp};
use protocol::Message;
use sea_orm::sqlx::{self, Connection as _, PgConnection};
use store::{
    BookmarkFilter, Bookmarks as _, Burst, Commit, Expected, Inbox as _, Instances as _,
    PendingCommand, Store as _, StoredBookmark, shard_of,
};
use store_sql::{Options, SqlStore, connect};

/// The number of instances, and of early events for each of them.
const MANY: usize = 400;
/// The number of rows that one look-up may read on average: its own, and dead rows around it.
const ROWS_MAX: i64 = 8;
const HASH: &str = "the-same-for-all";

fn id(number: usize) -> String {
    format!("instance-{number:04}")
}

/// A command that comes too early, addressed to this instance alone, by its id or by its
/// correlation id.
fn early(number: usize) -> PendingCommand {
    let by_id = number.is_multiple_of(2);
    PendingCommand {
        id: CommandId::new(format!("event-{number:04}")),
        instance_id: by_id.then(|| id(number).into()),
        bookmark_id: None,
        hash: Some(HASH.to_owned()),
        correlation_id: (!by_id).then(|| format!("correlation-{number}")),
        command: Message { subject: id(number), ..Message::default() },
        accepted_at: Timestamp::from_millis(1),
        expires_at: None,
        waiting: true,
    }
}

/// The first burst of an instance, which then waits.
fn waits(number: usize) -> Burst {
    let correlation_id = Some(format!("correlation-{number}"));
    let bookmark = Bookmark {
        id: format!("bookmark-{number}").into(),
        name: "Event".to_owned(),
        hash: HASH.to_owned(),
        activity_id: "a".into(),
        activity_node_id: "a".to_owned(),
        activity_instance_id: format!("a-{number}"),
        payload: serde_json::Value::Null,
        created_at: Timestamp::from_millis(2),
        due_at: None,
    };
    let now = Timestamp::from_millis(2);
    let instance = Instance {
        version: 1,
        status: SubStatus::Suspended,
        correlation_id: correlation_id.clone(),
        state: vec![7; 100],
        ..Instance::new(id(number).into(), "order".into(), "order-1".into(), 1, now)
    };
    let created = StoredBookmark {
        instance_id: instance.id.clone(),
        definition_id: instance.definition_id.clone(),
        correlation_id,
        shard: shard_of(&id(number)),
        bookmark,
    };
    Burst { created: vec![created], ..Burst::new(instance, Expected::Absent) }
}

async fn each_finds_its_own(store: &SqlStore) {
    for number in 0..MANY {
        store.wait(early(number)).await.unwrap();
    }
    for number in 0..MANY {
        let committed = store.commit(waits(number)).await.unwrap();
        let Commit::Done { waiting } = committed else { panic!("{committed:?}") };
        let subjects: Vec<_> = waiting.iter().map(|message| message.subject.clone()).collect();
        assert_eq!(subjects, [id(number)]);
    }
    for number in 0..MANY {
        let filter = BookmarkFilter {
            hash: Some(HASH.to_owned()),
            instance_id: Some(id(number).into()),
            ..BookmarkFilter::default()
        };
        let found = store.find(&filter, 10).await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let wakeable = store.wakeable(Timestamp::from_millis(3), 10_000).await.unwrap();
    assert_eq!(wakeable.len(), MANY);
}

/// The number of rows that PostgreSQL has read of a table, with and without an index.
async fn rows_read(database: &mut PgConnection, table: &str) -> i64 {
    let statement = "SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = $1)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = $1)::bigint";
    sqlx::query_scalar(statement).bind(table).fetch_one(database).await.unwrap()
}

#[tokio::test]
async fn on_sqlite_each_finds_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { migrate: true, ..Options::default() };
    each_finds_its_own(&connect(&testkit::sqlite_url(folder.path()), options).await.unwrap()).await;
}

#[tokio::test]
async fn on_postgres_each_finds_its_own_and_reads_no_other() {
    let Some(server) = testkit::postgres().await else { return };
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&server.url(), options).await.unwrap();
    each_finds_its_own(&store).await;
    // A session reports its counters to PostgreSQL when it ends.
    store.close().await;
    let mut database = PgConnection::connect(&server.url()).await.unwrap();
    let rounds = i64::try_from(MANY).unwrap();
    for table in ["pending_resumes", "bookmarks"] {
        let read = rows_read(&mut database, table).await;
        println!("{table}: {read} rows read in {rounds} look-ups, of {rounds} of the same hash");
        assert!(read <= ROWS_MAX * rounds, "{table}: {read} rows read in {rounds} look-ups");
    }
}
