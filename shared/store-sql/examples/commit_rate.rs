//! How many bursts a database commits per second, one by one and grouped:
//! `cargo run --release -p store-sql --example commit_rate -- postgres://… [bursts] [at once]`,
//! or without arguments on SQLite in a new folder.
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for people")]

use std::time::Instant;

use model::{Bookmark, Entry, Instance, SubStatus, Timestamp, What};
use protocol::Message;
use store::{
    Burst, Commit, Expected, Instances as _, Outbox as _, OutboxRow, Store as _, StoredBookmark,
};
use store_sql::{Options, SqlStore, connect};

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .unwrap_or_else(|| format!("sqlite://{}", folder.path().join("a.db").display()));
    let bursts: usize = arguments.next().map_or(20_000, |text| text.parse().unwrap());
    let at_once: usize = arguments.next().map_or(256, |text| text.parse().unwrap());

    let options = Options { migrate: true, ..Options::default() };
    let store = connect(&url, options).await.unwrap();
    for (name, tasks, bursts) in [("one by one", 1, bursts / 10), ("grouped", at_once, bursts)] {
        let began = Instant::now();
        let running: Vec<_> = (0..tasks)
            .map(|task| tokio::spawn(run(store.clone(), format!("{tasks}-{task}"), bursts / tasks)))
            .collect();
        for task in running {
            task.await.unwrap();
        }
        let rate = bursts as f64 / began.elapsed().as_secs_f64();
        println!("{name}: {bursts} bursts, {rate:.0} per second");
    }
    println!("{:#?}", store.stats());
    store.close().await;
}

/// Instances that are made and burst twice: bookmark in, bookmark out, with an event each time.
async fn run(store: SqlStore, task: String, bursts: usize) {
    for number in 0..bursts / 2 {
        let id = format!("i{task}-{number}");
        for version in [1, 2] {
            let burst = burst(&id, version);
            let published = burst.outbox.iter().map(|row| row.id.clone()).collect();
            let result = store.commit(burst).await.unwrap();
            assert_eq!(result, Commit::Done { waiting: Vec::new() });
            store.published(published).await.unwrap();
        }
    }
}

fn burst(id: &str, version: i64) -> Burst {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let stored = StoredBookmark {
        instance_id: id.into(),
        definition_id: "order".into(),
        correlation_id: None,
        shard: store::shard_of(id),
        bookmark: Bookmark {
            id: format!("b-{id}").into(),
            name: "Elsa.Event".to_owned(),
            hash: model::derived(&[id]),
            activity_id: "wait".into(),
            activity_node_id: "flow:wait".to_owned(),
            activity_instance_id: format!("{id}-wait"),
            payload: serde_json::json!({"EventName": id}),
            created_at: now,
            due_at: None,
        },
    };
    let entry = |number| Entry {
        sequence: number,
        timestamp: now,
        activity_id: Some("write".into()),
        activity_instance_id: Some(format!("{id}-write")),
        activity_type: Some("Elsa.WriteLine".to_owned()),
        activity_name: None,
        what: What::Completed,
        message: Some("a line that was written".to_owned()),
        payload: None,
        node: None,
        owner: None,
        recorded: None,
    };
    let first = u64::try_from(version * 4 - 3).unwrap();
    let outbox_id = format!("{id}-{version}");
    let message = Message {
        subject: format!("staunch.event.order.{id}.suspended"),
        payload: vec![7; 200],
        ..Message::default()
    };
    let instance = Instance {
        version,
        status: if version == 1 { SubStatus::Suspended } else { SubStatus::Finished },
        state: vec![42; 700],
        ..Instance::new(id.into(), "order".into(), "order-1".into(), 1, now)
    };
    let expected = if version > 1 { Expected::Version(version - 1) } else { Expected::Absent };
    Burst {
        burned: if version == 1 { Vec::new() } else { vec![stored.bookmark.id.clone()] },
        created: if version == 1 { vec![stored] } else { Vec::new() },
        journal: (first..first + 4).map(entry).collect(),
        outbox: vec![OutboxRow { id: outbox_id, instance_id: id.into(), message, created_at: now }],
        ..Burst::new(instance, expected)
    }
}
