//! Objects that a header of a command names.

use bus::{Outside as _, Queue as _};
use model::{PayloadHash, SubStatus};
use protocol::{Command, header};
use serde_json::{Value, json};
use store::Payloads as _;

use crate::Point;
use crate::wired::crash::CrashAt;
use crate::wired::world::{Peculiar, World, cancel, event, resume, start};

const STORE: &str = "staunch_payloads";
const MANY: usize = 700_000;

async fn send(world: &World, command: &Command, objects: &str) {
    let mut message = command.encode().unwrap();
    message.headers.insert(header::PAYLOAD.to_owned(), objects.to_owned());
    world.bus.publish(message).await.unwrap();
}

async fn put(world: &World, name: &str, bytes: Vec<u8>) -> PayloadHash {
    let hash = PayloadHash::of(&bytes);
    world.bus.set_object(STORE, name, bytes.into()).await.unwrap();
    hash
}

fn sequence(activities: Value) -> Value {
    json!({"type": "Elsa.Sequence", "id": "all", "activities": activities})
}

/// Ends with what it was given.
async fn tells(world: &World) {
    let given = "({n: getInput('n'), Doc: getInput('Doc'), Rest: getInput('Rest')})";
    let said = json!({"type": "SetOutput", "outputName": "Got", "outputValue": {
        "typeName": "Object", "expression": {"type": "JavaScript", "value": given}}});
    world.publish("tells", said, json!({"outputs": [{"name": "Got"}]})).await;
}

fn file_of(name: &str, size: usize, hash: &PayloadHash) -> Value {
    model::file::large(name, "application/octet-stream", size as u64, hash)
}

#[tokio::test(start_paused = true)]
async fn a_start_gets_the_files_that_its_header_names() {
    let world = World::new();
    tells(&world).await;
    let _node = world.node("a").await;
    let large = put(&world, "in/a.bin", vec![7; MANY]).await;
    let empty = put(&world, "b", Vec::new()).await;
    send(&world, &start("tells", "i", json!({"n": 1})), "Doc=in/a.bin, Rest=b").await;
    world.until_status("i", SubStatus::Finished).await;
    let got = world.record("i").await.state.output["Got"].clone();
    let expected =
        json!({"n": 1, "Doc": file_of("a.bin", MANY, &large), "Rest": file_of("b", 0, &empty)});
    assert_eq!(got, expected);
    assert_eq!(world.store.payload_users(&large, 9).await.unwrap(), ["i".into()]);
}

#[tokio::test(start_paused = true)]
async fn resumes_and_events_get_files_too() {
    let world = World::new();
    let waits =
        json!({"type": "Event", "eventName": "Go", "result": {"memoryReference": {"id": "Got"}}});
    world.publish("waits", sequence(json!([waits])), json!({"outputs": [{"name": "Got"}]})).await;
    let _node = world.node("a").await;
    let hash = put(&world, "a", vec![7; MANY]).await;
    for id in ["i", "j"] {
        world.start("waits", id, json!({})).await;
    }
    let bookmark = world.bookmarks("i").await.into_values().next().unwrap();
    send(&world, &resume("r", "i", Some(bookmark.as_str()), json!({})), "Doc=a").await;
    world.until_status("i", SubStatus::Finished).await;
    send(&world, &event("e", "Go", Value::Null), "Doc=a").await;
    world.until_status("j", SubStatus::Finished).await;
    let got = world.record("j").await.state.output["Got"].clone();
    assert_eq!(got, json!({"Doc": file_of("a", MANY, &hash)}));
    assert_eq!(world.store.payload_users(&hash, 9).await.unwrap(), ["j".into()]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_had_makes_a_dead_letter_that_says_so() {
    let world = World::new();
    tells(&world).await;
    let config = crate::Config { payload_bytes_max: 100, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await;
    put(&world, "large", vec![7; 101]).await;
    put(&world, "a", vec![7]).await;
    let cases = [
        (start("tells", "absent", json!({})), "Doc=nothing", "there is no object nothing in"),
        (start("tells", "large", json!({})), "Doc=large", "has 101 bytes, more than the 100"),
        (start("tells", "form", json!({})), "large", "use <member>=<object>"),
        (cancel("cancel", "i"), "Doc=a", "this command takes no values"),
        (event("number", "Go", json!(1)), "Doc=a", "is no object"),
    ];
    for (number, (command, objects, reason)) in cases.into_iter().enumerate() {
        send(&world, &command, objects).await;
        world.until_quiet().await;
        let dead = world.dead();
        assert_eq!(dead.len(), number + 1, "{objects}");
        let last = dead.last().unwrap();
        let said = last.header(header::REASON).unwrap();
        assert!(said.contains(reason), "{said}");
        assert_eq!(last.header(header::PAYLOAD), Some(objects), "a replay finds it again");
    }
    // What failed can be replayed once the object is there.
    put(&world, "nothing", vec![1]).await;
    send(&world, &start("tells", "absent2", json!({})), "Doc=nothing").await;
    world.until_status("absent2", SubStatus::Finished).await;
}

/// G1, G2: the process ends after the commit. The command comes again, its sender has removed the object
/// meanwhile or somebody has replaced it, and nothing changes.
#[tokio::test(start_paused = true)]
async fn a_redelivery_changes_nothing_also_without_the_object() {
    for meanwhile in ["nothing", "removed", "replaced"] {
        let world = World::new();
        tells(&world).await;
        let crash = CrashAt::new(Point::Committed);
        let node = world.peculiar("a", crash.peculiar()).await;
        let bytes = vec![7; MANY];
        let hash = PayloadHash::of(&bytes);
        let object = hash.as_str();
        put(&world, object, bytes).await;
        send(&world, &start("tells", "i", json!({})), &format!("Doc={object}")).await;
        crash.happened().await;
        node.kill().await;
        match meanwhile {
            "removed" => world.bus.remove_object(STORE, object).await.unwrap(),
            "replaced" => drop(put(&world, object, vec![8]).await),
            _ => {}
        }
        let _node = world.node("b").await;
        world.until_quiet().await;
        assert_eq!(world.status("i").await, Some(SubStatus::Finished));
        let got = world.record("i").await.state.output["Got"].clone();
        assert_eq!(got["Doc"], file_of(object, MANY, &hash));
        assert!(world.dead().is_empty());
        let (late, now) = (model::Timestamp::from_millis(i64::MAX), world.now());
        let seen = world.store.clear_payloads(late, now, 9).await.unwrap().seen;
        // What replaced it is compared once it is kept, and nothing refers to it.
        let rest = if meanwhile == "replaced" { 2 } else { 1 };
        assert_eq!(seen, rest, "{meanwhile}: the same bytes rest once");
    }
}

/// Whoever may put objects can replace those of others: the name may say which bytes are meant.
#[tokio::test(start_paused = true)]
async fn a_replaced_object_is_no_file_of_its_name() {
    let world = World::new();
    tells(&world).await;
    let _node = world.node("a").await;
    let meant = PayloadHash::of(&[7]);
    let name = format!("in/{}", meant.as_str());
    put(&world, &name, vec![8]).await;
    send(&world, &start("tells", "i", json!({})), &format!("Doc={name}")).await;
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    assert_eq!(world.status("i").await, None, "the right bytes may come");
    put(&world, &name, vec![7]).await;
    world.until_status("i", SubStatus::Finished).await;
    let got = world.record("i").await.state.output["Got"].clone();
    assert_eq!(got["Doc"], file_of(meant.as_str(), 1, &meant));
}

#[tokio::test(start_paused = true)]
async fn a_request_names_objects_as_a_command_does() {
    let world = World::new();
    tells(&world).await;
    let _node = world.node("a").await;
    let hash = put(&world, "a", vec![7]).await;
    let ask = async |objects: &str| {
        let mut message = protocol::Message {
            subject: "staunch.api.start.tells".to_owned(),
            payload: br#"{"instanceId": "i"}"#.to_vec(),
            ..protocol::Message::default()
        };
        message.headers.insert(header::PAYLOAD.to_owned(), objects.to_owned());
        let patience = std::time::Duration::from_secs(30);
        let answer = bus::Wire::request(&world.bus, message, patience).await.ok()?;
        serde_json::from_slice::<Value>(&answer.payload).ok()
    };
    world.until("it is answered", async || ask("nothing").await.is_some()).await;
    assert_eq!(ask("nothing").await.unwrap()["status"], 400);
    assert!(ask("Doc=a").await.is_some());
    world.until_status("i", SubStatus::Finished).await;
    let got = world.record("i").await.state.output["Got"].clone();
    assert_eq!(got["Doc"], file_of("a", 1, &hash));
}
