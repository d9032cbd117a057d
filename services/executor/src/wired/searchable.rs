//! Searchable values: they equal the state whatever crashes, and follow migrations, alterations and
//! the bursts of programs that do not know them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use model::{Alteration, SearchKey, Searchable, SubStatus};
use protocol::ReplyWhen;
use serde_json::{Value, json};
use store::memory::{Faults, Written};
use store::{Burst, Commit, Expected, Instances as _, ValueChanges};

use super::alter::alter;
use super::crash::CrashAt;
use super::world::{Peculiar, World, cancel, event, line, sequence, start, wait_for};
use crate::{Point, Record};

fn variables() -> Value {
    json!({"variables": [
        {"id": "a", "name": "Amount", "typeName": "Double", "value": 1, "searchable": "number"},
        {"id": "c", "name": "Customer", "typeName": "String", "searchable": "text"},
        {"id": "d", "name": "Due", "typeName": "DateTime", "searchable": "time"},
        {"id": "o", "name": "Open", "typeName": "Boolean", "value": true, "searchable": "boolean"},
        {"id": "x", "name": "Any", "typeName": "Object", "searchable": "number"},
        {"id": "p", "name": "Plain", "typeName": "String", "value": "not searched"}]})
}

fn set(script: &str) -> Value {
    json!({"type": "RunJavaScript", "script": script})
}

fn keys(values: &[(&str, Searchable, Value)]) -> BTreeMap<String, SearchKey> {
    let key = |(name, kind, value): &(&str, Searchable, Value)| {
        ((*name).to_owned(), kind.key(value).unwrap())
    };
    values.iter().map(key).collect()
}

impl World {
    async fn values(&self, id: &str) -> BTreeMap<String, SearchKey> {
        self.store.values(&id.into()).await.unwrap()
    }

    /// The values in the database are those of the state.
    async fn must_agree(&self, id: &str, version: &str, context: &str) {
        let (record, values) = (self.record(id).await, self.values(id).await);
        let definition = store::Definitions::version(&self.store, &version.into()).await.unwrap();
        let program = self.engine.compile(&definition.unwrap(), &engine::Library::default());
        assert_eq!(program.unwrap().search_keys(&record.state), values, "{context}");
        assert_eq!(record.indexed.unwrap_or_default(), values, "{context}");
    }
}

#[tokio::test(start_paused = true)]
async fn values_follow_the_variables() {
    let world = World::new();
    let root = sequence(vec![
        set("variables.Customer = 'Muster'; variables.Due = '2026-01-31T09:00:00+01:00'"),
        wait_for("go"),
        set("variables.Amount = 2.5; variables.Customer = null; variables.Any = 'no number'"),
        wait_for("on"),
        set("variables.Any = 7; variables.Open = false"),
    ]);
    world.publish("v", root, variables()).await;
    let _node = world.node("n").await;
    world.start("v", "i", json!({})).await;
    let due = ("Due", Searchable::Time, json!("2026-01-31T08:00:00Z"));
    let expected = keys(&[
        ("Amount", Searchable::Number, json!(1)),
        ("Customer", Searchable::Text, json!("Muster")),
        due.clone(),
        ("Open", Searchable::Boolean, json!(true)),
    ]);
    assert_eq!(world.values("i").await, expected);
    world.send(&event("e", "go", json!({}))).await;
    world.until("it waits again", async || world.instance("i").await.unwrap().version == 2).await;
    // A text where a number is asked for is not found, and neither is a value that is gone.
    let expected = keys(&[
        ("Amount", Searchable::Number, json!(2.5)),
        due.clone(),
        ("Open", Searchable::Boolean, json!(true)),
    ]);
    assert_eq!(world.values("i").await, expected);
    world.send(&event("f", "on", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    let expected = keys(&[
        ("Amount", Searchable::Number, json!(2.5)),
        ("Any", Searchable::Number, json!(7)),
        due,
        ("Open", Searchable::Boolean, json!(false)),
    ]);
    assert_eq!(world.values("i").await, expected);
    world.must_agree("i", "v-v1", "at the end").await;
}

/// Every change of values that a store was asked to write.
#[derive(Default)]
struct Asked(Mutex<Vec<ValueChanges>>);

#[async_trait]
impl Faults for Asked {
    fn witness(&self, written: &Written<'_>) {
        self.0.lock().unwrap().push(written.burst.values.clone());
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_changed_is_written_and_nothing_without_searchable_variables() {
    let asked = Arc::new(Asked::default());
    let world = World::new();
    let root = || {
        sequence(vec![
            wait_for("go"),
            set("setVariable('Amount', 2); setVariable('Customer', null)"),
            wait_for("on"),
            line("end"),
        ])
    };
    let with = json!({"variables": [
        {"id": "a", "name": "Amount", "typeName": "Int32", "value": 1, "searchable": "number"},
        {"id": "c", "name": "Customer", "typeName": "String", "value": "M", "searchable": "text"},
        {"id": "o", "name": "Open", "typeName": "Boolean", "value": true, "searchable": "boolean"}]});
    let mut without = with.clone();
    for variable in without["variables"].as_array_mut().unwrap() {
        variable.as_object_mut().unwrap().shift_remove("searchable");
    }
    world.publish("with", root(), with).await;
    world.publish("without", root(), without).await;
    let store = Some(world.store.with_faults(asked.clone()));
    let _node = world.peculiar("n", Peculiar { store, ..Peculiar::default() }).await;
    let play = async |definition: &str, id: &str| {
        asked.0.lock().unwrap().clear();
        world.start(definition, id, json!({})).await;
        for name in ["go", "on"] {
            let before = world.instance(id).await.unwrap().version;
            world.send(&event(&format!("{id}-{name}"), name, json!({}))).await;
            let has_moved = async || world.instance(id).await.unwrap().version > before;
            world.until("it goes on", has_moved).await;
        }
        world.until_status(id, SubStatus::Finished).await;
        std::mem::take(&mut *asked.0.lock().unwrap())
    };
    let changes = play("with", "i").await;
    let number = |value: i32| ("Amount", Searchable::Number, json!(value));
    let first = keys(&[
        number(1),
        ("Customer", Searchable::Text, json!("M")),
        ("Open", Searchable::Boolean, json!(true)),
    ]);
    let expected = [
        ValueChanges { set: first, ..ValueChanges::default() },
        ValueChanges {
            set: keys(&[number(2)]),
            removed: ["Customer".to_owned()].into(),
            replaces: false,
        },
        ValueChanges::default(),
    ];
    assert_eq!(changes, expected);
    let changes = play("without", "j").await;
    assert!(changes.len() >= 3 && changes.iter().all(ValueChanges::is_empty), "{changes:?}");
    assert_eq!(world.record("j").await.indexed, None);
}

/// Sets values in three bursts, with a call between them; a node crashes at this point.
async fn story(point: Point, nth: usize) -> bool {
    const URL: &str = "http://example.test/x";
    let world = World::new();
    world.calls.respond(URL, 200, json!({}));
    let call = json!({"type": "SendHttpRequest", "url": URL});
    let root = sequence(vec![
        set("variables.Amount = 10; variables.Customer = 'first'"),
        call,
        set("variables.Amount = 20; variables.Customer = null"),
        wait_for("go"),
        set("variables.Amount = 30; variables.Open = false"),
    ]);
    world.publish("v", root, variables()).await;
    let crash = CrashAt::nth(point, nth);
    let _first = world.peculiar("a", crash.peculiar()).await;
    let mut command = start("v", "i", json!({}));
    command.reply_to = Some("_INBOX.somebody".to_owned());
    world.send(&command).await;
    let _second = world.node("b").await;
    let context = format!("crash at {point:?} the {nth}. time");
    world
        .until(&context, async || {
            tokio::time::sleep(Duration::from_secs(5)).await;
            world.sweep().await;
            if world.instance("i").await.is_some_and(|row| row.version > 0) {
                world.must_agree("i", "v-v1", &context).await;
            }
            world.bookmarks("i").await.contains_key("Elsa.Event")
        })
        .await;
    world.send(&event("e", "go", json!({}))).await;
    world.settle("i", SubStatus::Finished).await;
    world.must_agree("i", "v-v1", &context).await;
    let expected = keys(&[
        ("Amount", Searchable::Number, json!(30)),
        ("Open", Searchable::Boolean, json!(false)),
    ]);
    assert_eq!(world.values("i").await, expected, "{context}");
    crash.is_over()
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_bursts_loses_no_value() {
    for point in [
        Point::BeforeRun,
        Point::Ran,
        Point::BeforeCommit,
        Point::Committed,
        Point::BeforeAck,
        Point::Acked,
    ] {
        let mut crashes = 0;
        for nth in 1..=3 {
            crashes += usize::from(story(point, nth).await);
        }
        assert!(crashes > 0, "{point:?} was never reached");
    }
}

#[tokio::test(start_paused = true)]
async fn values_follow_a_migration_and_an_edited_variable() {
    let world = World::new();
    let root = || sequence(vec![wait_for("x"), line("end")]);
    world.publish("m", root(), variables()).await;
    let _node = world.node("n").await;
    world.start("m", "i", json!({})).await;
    let modify = |id: &str, value: Value| {
        alter(id, "i", vec![Alteration::ModifyVariable { variable_id: "Amount".into(), value }])
    };
    let outcome = world.ask(modify("1", json!(5)), ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    assert_eq!(world.values("i").await["Amount"], Searchable::Number.key(&json!(5)).unwrap());

    // Another kind, another name, and one less.
    let second = json!({"id": "m-v2", "version": 2, "variables": [
        {"id": "a", "name": "Amount", "typeName": "String", "searchable": "text"},
        {"id": "o", "name": "IsOpen", "typeName": "Boolean", "searchable": "boolean"},
        {"id": "c", "name": "Customer", "typeName": "String"}]});
    world.publish("m", root(), second).await;
    world.publish("m", root(), json!({"id": "m-v3", "version": 3})).await;
    let migrate =
        |id: &str, target_version| alter(id, "i", vec![Alteration::migrate(target_version)]);
    let outcome = world.ask(migrate("2", 2), ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    let expected = keys(&[
        ("Amount", Searchable::Text, json!("5")),
        ("IsOpen", Searchable::Boolean, json!(true)),
    ]);
    assert_eq!(world.values("i").await, expected);
    world.must_agree("i", "m-v2", "in version 2").await;

    let outcome = world.ask(migrate("3", 3), ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    assert_eq!(world.values("i").await, BTreeMap::new());
    let outcome = world.ask(cancel("4", "i"), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Cancelled));
    assert_eq!(world.values("i").await, BTreeMap::new());
}

#[tokio::test(start_paused = true)]
async fn values_are_written_anew_after_a_burst_of_an_older_program() {
    let world = World::new();
    let root = sequence(vec![wait_for("x"), line("x"), wait_for("y")]);
    world.publish("o", root, variables()).await;
    let node = world.node("n").await;
    world.start("o", "i", json!({})).await;
    node.stop().await;
    // An older program runs a burst: it drops the member that it does not know, and changes a
    // variable without its row. Its rows may also have a name that is searchable no longer.
    let row = world.instance("i").await.unwrap();
    let mut record = Record::decode(&row.state).unwrap();
    assert!(record.indexed.take().is_some());
    let mut state = serde_json::to_value(&record.state).unwrap();
    state["variables"]["a"] = json!(77);
    record.state = serde_json::from_value(state).unwrap();
    let version = row.version;
    let state = record.encode().unwrap();
    let instance = model::Instance { version: version + 1, state, ..row };
    let set = keys(&[("Gone", Searchable::Boolean, json!(true))]);
    let values = ValueChanges { set, ..ValueChanges::default() };
    let burst = Burst { values, ..Burst::new(instance, Expected::Version(version)) };
    assert!(matches!(world.store.commit(burst).await.unwrap(), Commit::Done { .. }));
    let _node = world.node("n").await;
    world.send(&event("e", "x", json!({}))).await;
    world.until("it went on", async || world.lines("i").await == ["x"]).await;
    let expected = keys(&[
        ("Amount", Searchable::Number, json!(77)),
        ("Open", Searchable::Boolean, json!(true)),
    ]);
    assert_eq!(world.values("i").await, expected);
    world.must_agree("i", "o-v1", "after the burst").await;
}
