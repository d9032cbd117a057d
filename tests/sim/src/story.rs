//! The stories of a world (sequences of requests), each with its required end.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{BookmarkId, SubStatus};
use store::{BookmarkFilter, Bookmarks as _, Definitions as _, Instances as _, Payloads as _};

use crate::client::{Client, file, triggered_id};
use crate::definitions::{BUSY, FILE, KEEPER, KEPT, LISTENING, LONG, OUTER_STREAM, line};
use crate::expect::{Expect, Expectations};
use crate::world::World;
use crate::{operator, publisher, requests};

/// One of this many instances with a payload waits for a long time.
const RESTS_OF: u64 = 8;

/// The stories that have not come to their end.
pub(crate) type Open = Arc<Mutex<BTreeSet<String>>>;

/// Runs all stories of a world.
pub(crate) async fn tell(world: &Arc<World>, open: &Open) -> Expectations {
    let mut tasks = tokio::task::JoinSet::new();
    let mut spawn = |label: u64, story: Story| {
        let (world, open) = (Arc::clone(world), Arc::clone(open));
        let id = story.id(label);
        open.lock().unwrap().insert(id.clone());
        tasks.spawn(async move {
            let client = world.client(label);
            tokio::time::sleep(client.dice.millis(14_000)).await;
            let told = story.tell(&world, &client, label).await;
            open.lock().unwrap().remove(&id);
            told
        });
    };
    let dice = world.dice.fork(7);
    let mut label = 0;
    for story in Story::ALL {
        // An event reaches the instances of all stories, and a version is published only once.
        let most = match story {
            Story::Teller | Story::Republished | Story::Migrated => 1,
            Story::Contended => 5,
            Story::Tasker => 3,
            _ => 2,
        };
        for _ in 0..=dice.below(most) {
            label += 1;
            spawn(label, story);
        }
    }
    let mut expectations = Expectations::default();
    while let Some(told) = tasks.join_next().await {
        expectations.extend(told.unwrap());
    }
    expectations
}

#[derive(Clone, Copy, Debug)]
enum Story {
    WithoutRow,
    WithKey,
    Hello,
    HelloByStream,
    EarlyResume,
    ThirtyResumes,
    Cancelled,
    Sleeper,
    Parent,
    Rounds,
    Collector,
    InOrder,
    Fanned,
    Caller,
    Stubborn,
    Teller,
    Republished,
    Contended,
    Garbled,
    Forgotten,
    Retried,
    Scheduled,
    Paused,
    Migrated,
    Tasker,
    Listened,
    Kept,
}

impl Story {
    const ALL: [Self; 27] = [
        Self::WithoutRow,
        Self::WithKey,
        Self::Hello,
        Self::HelloByStream,
        Self::EarlyResume,
        Self::ThirtyResumes,
        Self::Cancelled,
        Self::Sleeper,
        Self::Parent,
        Self::Rounds,
        Self::Collector,
        Self::InOrder,
        Self::Fanned,
        Self::Caller,
        Self::Stubborn,
        Self::Teller,
        Self::Republished,
        Self::Contended,
        Self::Garbled,
        Self::Forgotten,
        Self::Retried,
        Self::Scheduled,
        Self::Paused,
        Self::Migrated,
        Self::Tasker,
        Self::Listened,
        Self::Kept,
    ];

    fn id(self, label: u64) -> String {
        format!("{self:?}-{label}")
    }

    async fn tell(self, world: &World, client: &Client, label: u64) -> Vec<Expect> {
        let id = self.id(label);
        let finished = |lines: &[&str]| vec![Expect::lines(&id, lines)];
        match self {
            Self::WithoutRow => requests::start_without_row(world, client).await,
            Self::WithKey => requests::start_with_key(world, client, &id).await,
            Self::Hello => {
                client.start("hello", &id).await;
                finished(&["a", "b"])
            }
            Self::HelloByStream if world.loses_streams() => Vec::new(),
            Self::HelloByStream => {
                client.start_by_stream("hello", &id).await;
                finished(&["a", "b"])
            }
            Self::EarlyResume => {
                // The resume may come before or after the instance has a bookmark.
                client.start("waiter", &id).await;
                client.resume(&format!("early-{id}"), &id, None, None).await;
                world.until_lines(&id, 2).await;
                let bookmark = world.bookmark(&id).await;
                client.resume(&format!("late-{id}"), &id, Some(bookmark), None).await;
                finished(&["a", "b", "c"])
            }
            Self::ThirtyResumes => {
                client.start("waiter", &id).await;
                let bookmark = world.bookmark(&id).await;
                let resumes = (0..30).map(|number| {
                    let command = format!("{number}-{id}");
                    let (bookmark, id) = (Some(bookmark.clone()), id.clone());
                    async move { client.resume(&command, &id, bookmark, None).await }
                });
                futures::future::join_all(resumes).await;
                world.until_lines(&id, 2).await;
                let bookmark = world.bookmark(&id).await;
                client.resume(&format!("last-{id}"), &id, Some(bookmark), None).await;
                finished(&["a", "b", "c"])
            }
            Self::Cancelled => {
                client.start("waiter", &id).await;
                tokio::time::sleep(client.dice.millis(3_000)).await;
                client.cancel(&format!("cancel-{id}"), &id).await;
                vec![Expect::cancelled(&id)]
            }
            Self::Sleeper => {
                client.start("sleeper", &id).await;
                let gap = Duration::from_secs(3);
                vec![Expect { gap: Some(gap), ..Expect::lines(&id, &["a", "b"]) }]
            }
            Self::Parent => {
                client.start("parent", &id).await;
                vec![Expect { children: 1, ..Expect::lines(&id, &["a", "b"]) }]
            }
            Self::Rounds => {
                client.start("rounds", &id).await;
                finished(&["in", "out", "in", "out", "in", "out"])
            }
            Self::Collector => {
                client.start("collector", &id).await;
                for round in 0..3 {
                    world.until_lines(&id, round).await;
                    let bookmark = world.bookmark(&id).await;
                    for copy in 0..3 {
                        let command = format!("{round}-{copy}-{id}");
                        client.resume(&command, &id, Some(bookmark.clone()), None).await;
                    }
                }
                finished(&["item", "item", "item"])
            }
            Self::InOrder => {
                client.start("collector", &id).await;
                world.bookmark(&id).await;
                let mut numbers = vec![1, 2, 3];
                while !numbers.is_empty() {
                    let place = client.dice.below(numbers.len() as u64) as usize;
                    let number = numbers.swap_remove(place);
                    let (command, order) = (format!("{number}-{id}"), Some(("me", number)));
                    client.resume(&command, &id, None, order).await;
                }
                let order = (1..=3).map(|number| format!("{number}-{id}")).collect();
                vec![Expect { order, ..Expect::lines(&id, &["item", "item", "item"]) }]
            }
            Self::Fanned => {
                let ids: Vec<_> = (0..3).map(|number| format!("{id}-{number}")).collect();
                for id in &ids {
                    client.start("listener", id).await;
                }
                for id in &ids {
                    world.until_lines_or_bookmark(id).await;
                }
                let event = format!("tick-{id}");
                client.raise(&event, "tick").await;
                let mut expected: Vec<_> =
                    ids.iter().map(|id| Expect::lines(id, &["heard"])).collect();
                let hash = model::Stimulus::event("tick").hash();
                for trigger in world.cluster.store.triggers(&hash).await.unwrap() {
                    let id = triggered_id(&event, &trigger);
                    expected.push(Expect::lines(id.as_str(), &["triggered"]));
                }
                expected
            }
            Self::Caller => {
                client.start("caller", &id).await;
                let calls = &["first", "second"];
                vec![Expect { calls, ..Expect::lines(&id, &["called", "a", "again"]) }]
            }
            Self::Stubborn => {
                client.start("stubborn", &id).await;
                vec![Expect { calls: &[BUSY], ..Expect::lines(&id, &["a", "called", "b"]) }]
            }
            Self::Republished => republish(world, client, &id).await,
            Self::Contended => publisher::tell(world, client, &id).await,
            Self::Garbled if world.loses_streams() => Vec::new(),
            Self::Garbled => {
                client.send_garbled(&id).await;
                vec![Expect::dead(&id)]
            }
            Self::Forgotten => {
                let wait = Duration::from_secs(2) + client.dice.millis(4_000);
                client.keep_for(&id, "nobody waits for this", wait).await;
                vec![Expect::dead(&id)]
            }
            Self::Retried => operator::retry(world, client, &id).await,
            Self::Scheduled => operator::schedule(world, client, &id).await,
            Self::Paused => operator::pause(world, client, &id).await,
            Self::Migrated => operator::migrate(world, client, &id).await,
            // A task is lost when it is older than its stream, by the clock of the node that hands
            // it out.
            Self::Tasker if world.loses_tasks() && world.has_wrong_clocks() => Vec::new(),
            Self::Tasker => {
                client.start("tasker", &id).await;
                finished(&["shipped", "shipped", "shipped"])
            }
            Self::Listened => listen(world, client, &id).await,
            Self::Kept => keep(world, client, &id).await,
            Self::Teller => {
                let listener = format!("{id}-told");
                client.start("told", &listener).await;
                world.until_lines_or_bookmark(&listener).await;
                client.start("teller", &id).await;
                vec![Expect::lines(&id, &["a", "b"]), Expect::lines(&listener, &["heard"])]
            }
        }
    }
}

/// Stores messages in a stream that others own: each starts one instance, at once or later.
async fn listen(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    let mut expected = Vec::new();
    let hash = world.cluster.store.triggers_named(model::Stimulus::MESSAGE).await.unwrap();
    let trigger = hash.into_iter().find(|found| found.definition_id.as_str() == LISTENING).unwrap();
    for number in 0..6 {
        let message = protocol::Message {
            subject: format!("outer.{id}"),
            headers: [(protocol::header::MESSAGE_ID.to_owned(), format!("{id}.{number}"))].into(),
            ..protocol::Message::default()
        };
        let stored = client.store_outside(message).await;
        let stored_nanos = world.cluster.bus.stored_nanos(OUTER_STREAM, stored.sequence).unwrap();
        let (sequence, stored_at) = (stored.sequence.to_string(), stored_nanos.to_string());
        let parts = ["message", &trigger.hash, OUTER_STREAM, &sequence, &stored_at];
        let started = triggered_id(&model::derived(&parts), &trigger);
        let started = Expect::lines(started.as_str(), &["took"]);
        expected.push(Expect { stored_nanos: Some(stored_nanos), ..started });
        tokio::time::sleep(client.dice.millis(1_500)).await;
    }
    // What is in the stream of commands goes with it.
    if world.loses_streams() { Vec::new() } else { expected }
}

/// Keeps a payload, which an instance reads, and reads again later, with a large value of its own. In some worlds it waits for longer
/// than payloads are kept that nobody uses: it has its content all the same, and what nobody uses is
/// gone.
async fn keep(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    let (text, unused) = (format!("The content of {id}"), format!("Nobody reads {id}"));
    let hash = client.keep(&text).await;
    let input = [(FILE.to_owned(), file(&text, &hash))].into_iter().collect();
    client.start_with(KEEPER, id, input).await;
    world.until_lines(id, 1).await;
    let bookmark = world.bookmark(id).await;
    if client.dice.below(RESTS_OF) == 0 {
        let unused = client.keep(&unused).await;
        tokio::time::sleep(2 * KEPT + Duration::from_secs(20)).await;
        if world.cluster.store.payload(&unused).await.unwrap().is_some() {
            let witness = &world.cluster.nemesis.witness;
            witness.complain(format!("{unused}: a payload that nobody uses is still there"));
        }
    }
    client.resume(&format!("go-{id}"), id, Some(bookmark), None).await;
    let length = text.len().div_ceil(3) * 4;
    let long = format!("long {}", id.len() * LONG);
    vec![Expect::lines(id, &[&length.to_string(), &format!("again {length}"), &long])]
}

/// Publishes one version after the other. A start after a confirmed publication runs that version
/// or a later one.
async fn republish(world: &World, client: &Client, id: &str) -> Vec<Expect> {
    let mut expected = Vec::new();
    for version in 2..=4 {
        let before = format!("{id}-before-{version}");
        client.start_published("versioned", &before).await;
        expected.push(Expect { ..Expect::finished(&before) });
        world.publish_version("versioned", version, line("another")).await;
        let is_everywhere = client.announce("versioned", version).await;
        let after = format!("{id}-after-{version}");
        let version_min = if is_everywhere { version } else { 1 };
        client.start_published("versioned", &after).await;
        expected.push(Expect { version_min, ..Expect::finished(&after) });
        if !world.loses_streams() {
            let sent = format!("{id}-sent-{version}");
            client.start_by_stream("versioned", &sent).await;
            expected.push(Expect { version_min, ..Expect::finished(&sent) });
        }
        tokio::time::sleep(client.dice.millis(4_000)).await;
    }
    expected
}

impl World {
    /// Waits for the bookmark of an instance.
    pub(crate) async fn bookmark(&self, id: &str) -> BookmarkId {
        loop {
            let filter =
                BookmarkFilter { instance_id: Some(id.into()), ..BookmarkFilter::default() };
            let open = self.cluster.store.find(&filter, 10).await.unwrap();
            if let [bookmark] = open.as_slice() {
                return bookmark.bookmark.id.clone();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) async fn until_lines(&self, id: &str, count: usize) {
        while self.lines(id).await.len() < count {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until an instance waits, or has received an event of another story.
    async fn until_lines_or_bookmark(&self, id: &str) {
        loop {
            let loaded = self.cluster.store.load(&id.into()).await.unwrap();
            let status = loaded.map(|loaded| loaded.instance.status);
            if status.is_some_and(|is| is == SubStatus::Suspended || is.is_final()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
