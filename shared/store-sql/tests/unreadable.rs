//! One row that cannot be read stops nothing else: the sweep handles the others, and moves the bad
//! row to the dead letters with its reason.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use bus::{Bucket, Bus as _, Member, MemoryBus, Presence, Stream};
use chassis::{Chance as _, SystemChance};
use model::{
    Bookmark, CommandId, Definition, Instance, InstanceId, Misfire, Recurrence, Schedule,
    SubStatus, Timestamp,
};
use protocol::{Body, Command, Message, Resume, Start, header};
use sea_orm::sqlx::{self, Connection as _, SqliteConnection};
use store::{
    Base, Burst, Definitions as _, Error, Expected, Inbox as _, InstanceFilter, Instances as _,
    NewInstance, OutboxRow, Page, PendingCommand, Publication, Salvage as _, Store as _,
    StoredBookmark, Timers, VersionOption, shard_of,
};
use store_sql::{Options, SqlStore, connect};
use testkit::sqlite_url;
use timer::{Config, Context, Mended, Sweep, Timer};

const HOUR: Duration = Duration::from_secs(3_600);

fn instance(id: &str, version: i64, status: SubStatus, at: Timestamp) -> Instance {
    let new = Instance::new(id.into(), "d".into(), "d-1".into(), 1, at);
    Instance { version, status, ..new }
}

fn start(id: &str, at: Timestamp) -> NewInstance {
    let body = Start { definition_id: "d".into(), ..Start::default() };
    let command = Command::new(CommandId::new(id), Body::Start(body)).encode().unwrap();
    NewInstance { instance: instance(id, 0, SubStatus::Pending, at), command, activation_key: None }
}

fn resume(id: &str, target: &str, at: Timestamp, waiting: bool) -> PendingCommand {
    let resume = Resume { instance_id: target.into(), ..Resume::default() };
    PendingCommand {
        id: id.into(),
        instance_id: Some(target.into()),
        bookmark_id: None,
        hash: None,
        correlation_id: None,
        command: Command::new(id.into(), Body::Resume(resume)).encode().unwrap(),
        accepted_at: at,
        expires_at: Some(at.after(2 * HOUR)),
        waiting,
    }
}

fn outbox(id: &str, at: Timestamp) -> OutboxRow {
    let headers = [(header::MESSAGE_ID.to_owned(), id.to_owned())].into();
    let subject = "staunch.event.d.i.started".to_owned();
    let message = Message { subject, headers, payload: Vec::new() };
    OutboxRow { id: id.into(), instance_id: "i".into(), message, created_at: at }
}

fn bookmark(id: &str, at: Timestamp) -> StoredBookmark {
    let bookmark = Bookmark {
        id: id.into(),
        name: "Elsa.Delay".to_owned(),
        hash: format!("hash-{id}"),
        activity_id: "delay".into(),
        activity_node_id: "delay".to_owned(),
        activity_instance_id: "delay-1".to_owned(),
        payload: serde_json::Value::Null,
        created_at: at,
        due_at: Some(at),
    };
    StoredBookmark {
        instance_id: id.into(),
        definition_id: "d".into(),
        correlation_id: None,
        shard: shard_of(id),
        bookmark,
    }
}

fn schedule(id: &str, at: Timestamp) -> Schedule {
    Schedule {
        id: id.into(),
        definition_id: "d".into(),
        version_id: "d-1".into(),
        activity_id: "timer".into(),
        recurrence: Recurrence::Once { at },
        misfire: Misfire::FireOnce,
        next_at: Some(at),
        occurrence: 0,
        shard: shard_of(id),
    }
}

/// Two rows of every kind: `good-…`, and `bad-…`, which will be damaged.
async fn fill(store: &SqlStore, at: Timestamp) {
    for of in ["good", "bad"] {
        let id = |kind: &str| format!("{of}-{kind}");
        store.accept(start(&id("start"), at)).await.unwrap();
        store.accept_command(resume(&id("command"), "elsewhere", at, false)).await.unwrap();
        let suspended = instance(&id("waits"), 1, SubStatus::Suspended, at);
        let created = vec![bookmark(&id("waits"), at)];
        let burst = Burst { created, ..Burst::new(suspended, Expected::Absent) };
        store.commit(burst).await.unwrap();
        store.wait(resume(&id("early"), &id("waits"), at, true)).await.unwrap();
        let mut late = resume(&id("late"), "nowhere", at, true);
        late.expires_at = Some(at.after(HOUR / 2));
        store.wait(late).await.unwrap();
        let stopped = instance(&id("stopped"), 4, SubStatus::Executing, at);
        let outbox = vec![outbox(&id("outbox"), at)];
        let burst = Burst { outbox, ..Burst::new(stopped, Expected::Absent) };
        store.commit(burst).await.unwrap();
    }
    let definition = Definition {
        id: "d-1".into(),
        definition_id: "d".into(),
        version: 1,
        is_latest: true,
        is_published: true,
        published_at: Some(at),
        ..Definition::default()
    };
    let schedules = vec![schedule("good-schedule", at), schedule("bad-schedule", at)];
    let publication = Publication { definition, base: Base::Any, triggers: Vec::new(), schedules };
    store.publish(publication).await.unwrap();
}

/// Values that no version of this program writes.
async fn spoil(url: &str) {
    let mut connection = SqliteConnection::connect(url).await.unwrap();
    for statement in [
        "UPDATE instances SET start_command = X'c1c1' WHERE id = 'bad-start'",
        "UPDATE instances SET definition_version = -5 WHERE id = 'bad-stopped'",
        "UPDATE pending_resumes SET command = X'c1c1' WHERE id LIKE 'bad-%'",
        "UPDATE outbox SET message = X'c1c1' WHERE id = 'bad-outbox'",
        "UPDATE schedules SET recurrence = '{' WHERE id = 'bad-schedule'",
        "UPDATE bookmarks SET payload = '{' WHERE id = 'bad-waits'",
    ] {
        let changed = sqlx::query(statement).execute(&mut connection).await.unwrap();
        assert!(changed.rows_affected() > 0, "{statement}");
    }
    connection.close().await.unwrap();
}

async fn replica(store: &SqlStore, bus: &MemoryBus) -> Context {
    let nonces: bus::Nonces = Arc::new(|| SystemChance.new_id());
    let started_at = store.clock().await.unwrap();
    let roles = vec![timer::ROLE.to_owned()];
    let node = "timer-1".to_owned();
    let me = Member { node, roles, started_at, address: None, version: None };
    let nodes = bus.kv(Bucket::Nodes);
    let presence = Presence::join(nodes, me, Duration::from_secs(5), nonces.clone()).await.unwrap();
    let (store, bus) = (Arc::new(store.clone()), Arc::new(bus.clone()));
    // The sweep publishes the letters at once, without leaving time to their publisher.
    let config = Config { outbox_after: Duration::ZERO, ..Config::default() };
    Context::new("timer-1", store, bus, presence, nonces, config)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_row_of_any_kind_goes_to_the_dead_letters_and_the_others_are_mended() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(&folder.path().join("staunch"));
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&url, options).await.unwrap();
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let at = store.clock().await.unwrap().before(HOUR);
    fill(&store, at).await;
    spoil(&url).await;
    let cx = replica(&store, &bus).await;

    let mut sweep = Sweep::new(cx.clone());
    let mended = sweep.run_once().await.unwrap();
    // Lists cannot show the head of `bad-stopped`, but the instance gets its command to go on. The
    // four bad values of starts, commands and outbox are moved; the good outbox row is published.
    let expected = Mended {
        published: 1,
        started: 1,
        applied: 1,
        woken: 1,
        performed: 2,
        expired: 1,
        unreadable: 5,
        ..Mended::default()
    };
    assert_eq!(mended, expected);
    // Both bookmarks and the good schedule fire.
    assert_eq!(Timer::new(cx.clone()).run_once().await, 3);
    assert_eq!(store.unreadable(), [], "the scan has moved the bad schedule");

    // Their letters are in the outbox, and go out with the next sweep; nothing bad is left to find.
    assert_eq!(sweep.run_once().await.unwrap().unreadable, 0);
    let (mut dead, mut reasons) = (Vec::new(), Vec::new());
    for (_, message) in bus.stored(Stream::Dead) {
        dead.push(message.subject.clone());
        reasons.push(message.header(header::REASON).unwrap_or_default().to_owned());
    }
    dead.sort();
    let row = |table: &str, id: &str| format!("staunch.dead.row.{table}.{id}");
    let wanted = [
        "staunch.dead.cmd.resume.nowhere".to_owned(),
        row("command", "bad-command"),
        row("command", "bad-early"),
        row("command", "bad-late"),
        row("outbox", "bad-outbox"),
        row("schedule", "bad-schedule"),
        row("start", "bad-start"),
    ];
    assert_eq!(dead, wanted);
    assert_eq!(reasons.iter().filter(|reason| reason.contains("unreadable")).count(), 6);

    // A list shows the rows that it can read.
    let listed = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    let ids: Vec<&InstanceId> = listed.items.iter().map(|instance| &instance.id).collect();
    assert!(!ids.contains(&&"bad-stopped".into()) && ids.contains(&&"good-stopped".into()));
    assert!(ids.contains(&&"bad-start".into()), "the instance is there, and can be cancelled");
    store.close().await;
}

#[tokio::test]
async fn a_definition_that_cannot_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(&folder.path().join("staunch"));
    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&url, options).await.unwrap();
    for id in ["bad", "good"] {
        let definition = Definition {
            definition_id: id.into(),
            id: format!("{id}-1").into(),
            version: 1,
            is_latest: true,
            is_published: true,
            published_at: Some(Timestamp::from_millis(1)),
            ..Definition::default()
        };
        let publication = Publication {
            definition,
            base: Base::Any,
            triggers: Vec::new(),
            schedules: Vec::new(),
        };
        store.publish(publication).await.unwrap();
    }
    let mut direct = SqliteConnection::connect(&url).await.unwrap();
    let spoiled = "UPDATE definitions SET document = 'nonsense' WHERE definition_id = 'bad'";
    sqlx::query(spoiled).execute(&mut direct).await.unwrap();
    let bad = store.definition(&"bad".into(), VersionOption::Published).await;
    assert!(matches!(bad, Err(Error::Corrupt(_))), "{bad:?}");
    let mut published = store.published_versions().await.unwrap();
    published.sort_by(|left, right| left.definition_id.cmp(&right.definition_id));
    let ids: Vec<_> = published.iter().map(|version| version.version_id.as_str()).collect();
    assert_eq!(ids, ["bad-1", "good-1"]);
    store.close().await;
}
