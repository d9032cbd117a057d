use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use archive::Archive;
use async_trait::async_trait;
use bus::Queue as _;
use chassis::Clock as _;
use model::{Definition, InstanceId, Map, Parent};
use serde_json::{Value, json};
use store::memory::{Faults, Operation};
use store::{
    Audit, AuditFilter, AuditOutcome, Base, BookmarkFilter, Bookmarks as _, Burst,
    Definitions as _, Expected, Instances as _, Keys as _, Page, Publication, Tokens as _,
};

use super::*;
use crate::world::{World, seconds};

const DAY: Duration = Duration::from_secs(86_400);

fn rules() -> Rules {
    let retention = model::Retention {
        finished: Some(30 * DAY),
        faulted: Some(90 * DAY),
        ..model::Retention::default()
    };
    Rules { retention, ..Rules::default() }
}

fn archiving(folder: &tempfile::TempDir) -> Rules {
    let archive = Some(Archive::open(folder.path().to_str().unwrap()).unwrap());
    let mut rules = Rules { archive, ..rules() };
    rules.retention.after = After::Archive;
    rules
}

fn retention(world: &World, rules: Rules) -> Retention {
    let bus = Arc::new(world.bus.as_node("timer-1"));
    Retention::new(Arc::new(world.store.clone()), Some(bus), rules, world.nonces())
}

/// An instance of the definition `wait` in this state since now.
async fn instance(world: &World, id: &str, status: SubStatus) {
    child(world, id, status, None).await;
}

async fn child(world: &World, id: &str, status: SubStatus, parent: Option<&str>) {
    let mut instance = world.instance(&id.into(), 1, status);
    instance.finished_at = status.is_final().then_some(instance.updated_at);
    instance.parent = parent.map(|parent| Parent {
        instance_id: parent.into(),
        bookmark_id: None,
        activity_instance_id: None,
    });
    world.commit(Burst::new(instance, Expected::Absent)).await;
}

async fn says(world: &World, retention: Value) {
    let custom = Map::from_iter([(RETENTION.to_owned(), retention)]);
    let definition = Definition {
        id: "wait-1".into(),
        definition_id: "wait".into(),
        version: 1,
        published_at: Some(Timestamp::from_millis(1)),
        custom_properties: custom,
        ..Definition::default()
    };
    let publication =
        Publication { definition, base: Base::Any, triggers: Vec::new(), schedules: Vec::new() };
    world.store.publish(publication).await.unwrap();
}

async fn left(world: &World) -> Vec<String> {
    let found = world.store.list(&store::InstanceFilter::default(), Page::first()).await.unwrap();
    let mut ids: Vec<_> = found.items.into_iter().map(|found| found.id.to_string()).collect();
    ids.sort();
    ids
}

async fn ran(retention: &Retention) -> Report {
    let report = retention.run_once().await;
    assert!(report.failed.is_none(), "{report:?}");
    report
}

const NONE: [&str; 0] = [];

async fn one_of_each(world: &World) {
    for status in ["Finished", "Cancelled", "Faulted", "Suspended", "Executing", "Pending"] {
        instance(world, status, status.parse().unwrap()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_setting_nothing_is_ever_removed() {
    let world = World::new();
    one_of_each(&world).await;
    let before = left(&world).await;
    tokio::time::advance(10_000 * DAY).await;
    let report = ran(&retention(&world, Rules::default())).await;
    assert_eq!(left(&world).await, before);
    assert!(report.groups.is_empty() && report.others.is_empty(), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn each_state_has_its_time_and_a_run_says_what_it_did() {
    let world = World::new();
    one_of_each(&world).await;
    let retention = retention(&world, rules());
    tokio::time::advance(30 * DAY - seconds(1)).await;
    assert!(ran(&retention).await.groups.is_empty());
    tokio::time::advance(seconds(2)).await;
    let dry = ran(&retention.clone().dry()).await;
    assert_eq!(
        (dry.groups[0].removed, &*dry.groups[0].ids),
        (1, &[InstanceId::new("Finished")][..])
    );
    assert_eq!(left(&world).await.len(), 6, "a dry run removes nothing");
    assert_eq!(ran(&retention).await.counts(), [("finished", 1)].into());
    assert_eq!(left(&world).await, ["Cancelled", "Executing", "Faulted", "Pending", "Suspended"]);
    tokio::time::advance(60 * DAY).await;
    assert_eq!(ran(&retention).await.counts(), [("faulted", 1)].into());
    assert_eq!(left(&world).await, ["Cancelled", "Executing", "Pending", "Suspended"]);
    let audits = world.store.audits(&AuditFilter::default(), Page::first()).await.unwrap().items;
    let shown: Vec<_> = audits.iter().map(|one| (&*one.what, &*one.target)).collect();
    assert_eq!(shown, [("instance.retention", "wait"), ("instance.retention", "wait")]);
}

#[tokio::test(start_paused = true)]
async fn a_definition_overrides_the_settings_for_its_instances() {
    let world = World::new();
    says(&world, json!({"finished": "keep", "cancelled": "2h"})).await;
    one_of_each(&world).await;
    tokio::time::advance(seconds(7_201)).await;
    assert_eq!(ran(&retention(&world, rules())).await.counts(), [("cancelled", 1)].into());
    tokio::time::advance(100 * DAY).await;
    assert_eq!(ran(&retention(&world, rules())).await.counts(), [("faulted", 1)].into());
    assert_eq!(left(&world).await, ["Executing", "Finished", "Pending", "Suspended"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_definition_says_badly_keeps_its_instances() {
    for (said, reason) in
        [(json!("soon"), "\"soon\""), (json!({"then": "archive"}), "archive-to is not set")]
    {
        let world = World::new();
        says(&world, said).await;
        instance(&world, "i", SubStatus::Finished).await;
        tokio::time::advance(100 * DAY).await;
        let report = ran(&retention(&world, rules())).await;
        assert_eq!(left(&world).await, ["i"]);
        let (id, found) = &report.unclear[0];
        assert!(id.as_str() == "wait" && found.contains(reason), "{found}");
    }
}

/// A parent waits for its children, and people follow both from one to the other.
#[tokio::test(start_paused = true)]
async fn a_family_stays_until_all_of_it_has_ended() {
    let world = World::new();
    instance(&world, "parent", SubStatus::Suspended).await;
    child(&world, "ended-child", SubStatus::Finished, Some("parent")).await;
    instance(&world, "ended-parent", SubStatus::Finished).await;
    child(&world, "child", SubStatus::Suspended, Some("ended-parent")).await;
    child(&world, "orphan", SubStatus::Finished, Some("gone")).await;
    tokio::time::advance(31 * DAY).await;
    let report = ran(&retention(&world, Rules { batch: 1, ..rules() })).await;
    assert_eq!((report.groups[0].removed, report.groups[0].held), (1, 2));
    assert_eq!(left(&world).await, ["child", "ended-child", "ended-parent", "parent"]);
    for (id, parent) in [("parent", None), ("child", Some("ended-parent"))] {
        let mut end = world.instance(&id.into(), 2, SubStatus::Finished);
        end.finished_at = Some(end.updated_at);
        end.parent = parent.map(|parent| Parent {
            instance_id: parent.into(),
            bookmark_id: None,
            activity_instance_id: None,
        });
        world.commit(Burst::new(end, Expected::Version(1))).await;
    }
    ran(&retention(&world, rules())).await;
    assert_eq!(left(&world).await, ["child", "parent"], "their own time has just begun");
}

#[tokio::test(start_paused = true)]
async fn many_go_in_small_parts() {
    let world = World::new();
    for number in 0..25 {
        instance(&world, &format!("i{number:02}"), SubStatus::Finished).await;
    }
    tokio::time::advance(31 * DAY).await;
    let report = ran(&retention(&world, Rules { batch: 10, ..rules() })).await;
    assert_eq!(report.groups[0].removed, 25);
    assert_eq!(left(&world).await, NONE);
}

/// Asks for a stop when the second part is to be removed.
struct Stopping {
    stop: CancellationToken,
    parts: AtomicUsize,
}

#[async_trait]
impl Faults for Stopping {
    async fn before(&self, operation: Operation) -> Result<(), store::Error> {
        if operation == Operation::RemoveEnded && self.parts.fetch_add(1, Ordering::Relaxed) == 1 {
            self.stop.cancel();
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_has_what_it_removed_in_the_audit_log() {
    let world = World::new();
    for number in 0..25 {
        instance(&world, &format!("i{number:02}"), SubStatus::Finished).await;
    }
    tokio::time::advance(31 * DAY).await;
    let stop = CancellationToken::new();
    let faults = Arc::new(Stopping { stop: stop.clone(), parts: AtomicUsize::new(0) });
    let store = Arc::new(world.store.with_faults(faults));
    let rules = Rules { batch: 10, ..rules() };
    let report = Retention::new(store, None, rules, world.nonces()).until(stop).run_once().await;
    assert!(report.is_cut_short && report.failed.is_none(), "{report:?}");
    assert_eq!((report.groups[0].removed, left(&world).await.len()), (20, 5));
    let audits = world.store.audits(&AuditFilter::default(), Page::first()).await.unwrap().items;
    let removed: Vec<_> = audits.iter().map(|one| one.details["removed"].clone()).collect();
    assert_eq!(removed, [20]);
}

#[tokio::test(start_paused = true)]
async fn archived_instances_are_read_back_and_then_gone() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    instance(&world, "i", SubStatus::Finished).await;
    let rules = archiving(&folder);
    tokio::time::advance(31 * DAY).await;
    let report = ran(&retention(&world, rules.clone())).await;
    assert_eq!((report.groups[0].removed, report.groups[0].archived), (1, 1));
    assert_eq!(left(&world).await, NONE);
    let line = rules.archive.unwrap().instance(&"i".into()).await.unwrap();
    assert_eq!((line.instance.id.as_str(), line.staunch_instance), ("i", 1));
}

/// Fails one operation as often as it is told.
#[derive(Default)]
struct Failing {
    is_on: AtomicBool,
    /// The operations that have failed.
    at: Mutex<Vec<Operation>>,
}

#[async_trait]
impl Faults for Failing {
    async fn before(&self, operation: Operation) -> Result<(), store::Error> {
        if operation == Operation::RemoveEnded && self.is_on.load(Ordering::Relaxed) {
            self.at.lock().unwrap().push(operation);
            return Err(store::Error::Unavailable("injected fault".to_owned()));
        }
        Ok(())
    }
}

/// The node dies between the archive and the removal: the next one archives again, and nothing is
/// lost.
#[tokio::test(start_paused = true)]
async fn a_crash_between_the_archive_and_the_removal_leaves_a_second_copy() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    instance(&world, "i", SubStatus::Finished).await;
    let rules = archiving(&folder);
    tokio::time::advance(31 * DAY).await;
    let faults = Arc::new(Failing::default());
    faults.is_on.store(true, Ordering::Relaxed);
    let store = Arc::new(world.store.with_faults(Arc::clone(&faults) as Arc<dyn Faults>));
    let failing = Retention::new(store, None, rules.clone(), world.nonces());
    let report = failing.run_once().await;
    assert!(report.failed.is_some() && faults.at.lock().unwrap().len() == 1, "{report:?}");
    assert_eq!(left(&world).await, ["i"]);
    faults.is_on.store(false, Ordering::Relaxed);
    assert_eq!(ran(&failing).await.groups[0].removed, 1);
    assert_eq!(left(&world).await, NONE);
    let archive = rules.archive.unwrap();
    assert_eq!(archive.list(None).await.unwrap().len(), 2);
    assert_eq!(archive.instance(&"i".into()).await.unwrap().instance.id.as_str(), "i");
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_cannot_be_written_keeps_the_instances() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    instance(&world, "i", SubStatus::Finished).await;
    let rules = archiving(&folder);
    tokio::time::advance(31 * DAY).await;
    // A file is in the place of the folder.
    std::fs::write(folder.path().join("wait"), "in the way").unwrap();
    let report = retention(&world, rules).run_once().await;
    assert!(matches!(report.failed, Some(Error::Archive(_))), "{report:?}");
    assert_eq!(left(&world).await, ["i"]);
}

#[tokio::test(start_paused = true)]
async fn orphans_audit_entries_and_dead_letters_go_after_their_time() {
    let world = World::new();
    let token = model::Token {
        hash: "h".to_owned(),
        instance_id: "nobody".into(),
        target: model::TokenTarget::Event("E".to_owned()),
        created_at: world.clock.now(),
        expires_at: world.clock.now().after(seconds(60)),
    };
    world.store.grant(token.clone()).await.unwrap();
    instance(&world, "i", SubStatus::Suspended).await;
    let mine = model::Token { hash: "mine".to_owned(), instance_id: "i".into(), ..token };
    world.store.grant(mine).await.unwrap();
    // Two bookmarks without a time: one of nobody, and one of an instance that is there.
    let mine = world.waits(&"waits".into(), None).await;
    let mut orphan = mine.clone();
    orphan.instance_id = "nobody".into();
    orphan.bookmark.id = "orphan".into();
    let waits = world.instance(&"other".into(), 1, SubStatus::Suspended);
    let mut burst = Burst::new(waits, Expected::Absent);
    burst.created = vec![orphan];
    world.commit(burst).await;
    let entry = Audit {
        at: world.clock.now(),
        who: "somebody".to_owned(),
        what: "instance.cancel".to_owned(),
        target: "i".to_owned(),
        details: Value::Null,
        address: None,
        outcome: AuditOutcome::Done,
    };
    world.store.audit(entry).await.unwrap();
    for number in 0..3 {
        let message = protocol::Message {
            subject: protocol::subject::dead("cmd.x"),
            headers: [(protocol::header::MESSAGE_ID.to_owned(), number.to_string())].into(),
            payload: Vec::new(),
        };
        world.bus.publish(message).await.unwrap();
        if number == 1 {
            tokio::time::advance(2 * DAY).await;
        }
    }
    let all = Rules { audit: Some(DAY), dead: Some(DAY), ..Rules::default() };
    let report = ran(&retention(&world, all)).await;
    let expected = [("audit", 1), ("bookmarks", 1), ("letters", 2), ("tokens", 1)];
    assert_eq!(report.others, expected.into());
    let left = BookmarkFilter { instance_id: Some(mine.instance_id.clone()), ..Default::default() };
    assert_eq!(world.store.find(&left, 9).await.unwrap().len(), 1);
    assert_eq!(world.bus.stored(Stream::Dead).len(), 1);
}
