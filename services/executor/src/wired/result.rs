//! Results of tasks that no message carries: objects that a header of the result names.

use std::time::Duration;

use bus::{Outside as _, Queue as _, Stream, Wire as _};
use futures::StreamExt as _;
use model::{PayloadHash, SubStatus, TaskStatus, limits};
use protocol::{
    Body, Command, Letter, Message, Outcome, Refusal, ReplyWhen, TaskCompleted, header,
};
use serde_json::{Value, json};
use store::Payloads as _;

use crate::Point;
use crate::wired::crash::CrashAt;
use crate::wired::large::whole;
use crate::wired::world::{World, resume, sequence};

const STORE: &str = "staunch_payloads";
const OBJECT: &str = "tasks/t/1/o";
const MANY: usize = 700_000;

/// A workflow that keeps the result of a task in a variable, and looks into it.
async fn looks_into_results(world: &World, more: Value) {
    let mut task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship",
        "result": {"typeName": "Object", "memoryReference": {"id": "got"}}});
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    let said = json!({"type": "SetOutput", "outputName": "Length",
        "outputValue": {"js": "variables.Got.lines[0].length"}});
    let more = json!({"variables": [{"id": "got", "name": "Got", "typeName": "Object"}],
        "outputs": [{"name": "Length"}]});
    world.publish("ship", sequence(vec![task, said]), more).await;
}

async fn begin(world: &World) -> String {
    world.start("ship", "i", json!({})).await;
    let (_, task) = world.bus.stored(Stream::Tasks).remove(0);
    let body: Value = serde_json::from_slice(&task.payload).unwrap();
    body["taskId"].as_str().unwrap().to_owned()
}

async fn begun(more: Value) -> (World, super::world::Node, String) {
    let world = World::new();
    looks_into_results(&world, more).await;
    let node = world.node("a").await;
    let task = begin(&world).await;
    (world, node, task)
}

async fn put(world: &World, bytes: Vec<u8>) {
    put_as(world, OBJECT, bytes).await;
}

async fn put_as(world: &World, name: &str, bytes: Vec<u8>) {
    world.bus.set_object(STORE, name, bytes.into()).await.unwrap();
}

/// A result, as JSON.
fn lines(length: usize) -> Vec<u8> {
    json!({"lines": ["y".repeat(length)]}).to_string().into_bytes()
}

/// The report about an attempt, whose result is the object.
fn report(id: &str, task: &str, attempt: u32) -> Command {
    let report = TaskCompleted {
        task_id: task.to_owned(),
        kind: Some(("Ship".to_owned(), 1)),
        attempt: Some(attempt),
        ..TaskCompleted::default()
    };
    Command::new(id.into(), Body::Task(report))
}

fn naming(command: &Command, objects: &str) -> Message {
    let mut message = command.encode().unwrap();
    message.headers.insert(header::PAYLOAD.to_owned(), objects.to_owned());
    message
}

async fn send(world: &World, command: &Command) {
    world.bus.publish(naming(command, &format!("$payload={OBJECT}"))).await.unwrap();
}

async fn ask(world: &World, mut command: Command) -> Outcome {
    let inbox = world.bus.inbox();
    let mut replies = world.bus.subscribe(&inbox).await.unwrap();
    command.reply_to = Some(inbox);
    send(world, &command).await;
    let reply = tokio::time::timeout(Duration::from_secs(60), replies.next()).await;
    serde_json::from_slice(&reply.expect("an outcome").unwrap().message.payload).unwrap()
}

/// Waits for a dead letter: what may come later is tried for some minutes.
async fn dead(world: &World, count: usize) -> Message {
    world.until("a dead letter", async || world.dead().len() >= count).await;
    let mut dead = world.dead();
    assert_eq!(dead.len(), count);
    dead.remove(count - 1)
}

/// G1, G2: the result rests once, beside the state, also where the process ends between its keeping and the
/// acknowledgement, and its object is gone then.
#[tokio::test(start_paused = true)]
async fn a_large_result_is_an_object_that_rests_in_a_payload() {
    for point in [None, Some(Point::FannedOut), Some(Point::BeforeAck)] {
        let world = World::new();
        looks_into_results(&world, json!({})).await;
        let first = world.node("first").await;
        let task = begin(&world).await;
        world.until_quiet().await;
        first.stop().await;
        let crash = point.map(CrashAt::new);
        let peculiar = crash.as_ref().map(CrashAt::peculiar).unwrap_or_default();
        let node = world.peculiar("a", peculiar).await;
        put(&world, lines(MANY)).await;
        send(&world, &report("r", &task, 1)).await;
        if let Some(crash) = crash {
            crash.happened().await;
            node.kill().await;
            world.bus.remove_object(STORE, OBJECT).await.unwrap();
            let _other = world.node("b").await;
            world.settle("i", SubStatus::Finished).await;
            rests(&world).await;
        } else {
            rests(&world).await;
            // Another report of the attempt, and the same one again, change nothing.
            let version = world.instance("i").await.unwrap().version;
            send(&world, &report("another", &task, 1)).await;
            let mut again = naming(&report("r", &task, 1), "$payload=nothing");
            again.headers.insert(header::COMMAND_ID.to_owned(), "r".to_owned());
            again.headers.insert(header::MESSAGE_ID.to_owned(), "r.again".to_owned());
            world.bus.publish(again).await.unwrap();
            world.until_quiet().await;
            assert_eq!(world.instance("i").await.unwrap().version, version);
            assert!(world.dead().is_empty());
        }
    }
}

async fn rests(world: &World) {
    rests_alone(world).await;
    assert!(world.dead().is_empty());
}

async fn rests_alone(world: &World) {
    world.until_status("i", SubStatus::Finished).await;
    world.until_quiet().await;
    let row = world.instance("i").await.unwrap();
    assert!(row.state.len() < 10_000, "{} bytes", row.state.len());
    let state = world.record("i").await.state;
    assert_eq!(state.output["Length"], MANY);
    let got = serde_json::to_value(&state).unwrap()["variables"]["got"].clone();
    let hash = PayloadHash::of(&lines(MANY));
    assert_eq!(got, json!({"$payload": hash, "bytes": lines(MANY).len()}));
    assert_eq!(world.store.payload_users(&hash, 9).await.unwrap(), ["i".into()]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_comes_later_is_waited_for() {
    for damage in [false, true] {
        let (world, _node, task) = begun(json!({})).await;
        if damage {
            put(&world, lines(1)).await;
            world.bus.damage_object(STORE, OBJECT);
        }
        send(&world, &report("r", &task, 1)).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(world.status("i").await, Some(SubStatus::Suspended));
        assert!(world.dead().is_empty(), "it may come");
        put(&world, lines(MANY)).await;
        world.until_status("i", SubStatus::Finished).await;
        assert_eq!(world.record("i").await.state.output["Length"], MANY);
    }
}

/// Whoever may put objects can replace those of others: the name says which bytes were meant.
#[tokio::test(start_paused = true)]
async fn a_replaced_object_is_damage_and_no_other_result() {
    let meant = lines(MANY);
    let name = format!("tasks/t/1/{}", PayloadHash::of(&meant).as_str());
    let objects = format!("$payload={name}");
    let (world, _node, task) = begun(json!({})).await;
    put_as(&world, &name, lines(7)).await;
    world.bus.publish(naming(&report("r", &task, 1), &objects)).await.unwrap();
    let letter = dead(&world, 1).await;
    let said = letter.header(header::REASON).unwrap();
    assert!(said.contains("was replaced: its bytes are sha256-"), "{said}");
    is_unfit(&world, "was replaced").await;

    // Until the last delivery, the right bytes may come.
    let (world, _node, task) = begun(json!({})).await;
    put_as(&world, &name, lines(7)).await;
    world.bus.publish(naming(&report("r", &task, 1), &objects)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.status("i").await, Some(SubStatus::Suspended));
    put_as(&world, &name, meant).await;
    rests(&world).await;
}

/// The attempt has failed, with this in its reason.
async fn is_unfit(world: &World, reason: &str) {
    world.until_status("i", SubStatus::Faulted).await;
    let incident = world.record("i").await.state.incidents.remove(0);
    assert_eq!(incident.code, "ResultUnfit");
    assert!(incident.message.contains(reason), "{}", incident.message);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_had_is_a_dead_letter_that_says_so() {
    let large = usize::try_from(limits::PAYLOADS_LOADED_BYTES_MAX).unwrap();
    let deep = "[".repeat(65) + &"]".repeat(65);
    let cases: [(Option<Vec<u8>>, bool, &str); 5] = [
        (None, false, "there is no object tasks/t/1/o in the object store"),
        (Some(lines(1)), true, "wrong digest"),
        (Some(lines(large)), false, "more than the 8388608 that the result of a task may have"),
        (Some(b"{\"lines\": [".to_vec()), false, "it is no JSON"),
        (Some(deep.into_bytes()), false, "nested more than 64 deep"),
    ];
    for (bytes, is_damaged, reason) in cases {
        let (world, _node, task) = begun(json!({})).await;
        if let Some(bytes) = bytes {
            put(&world, bytes).await;
        }
        if is_damaged {
            world.bus.damage_object(STORE, OBJECT);
        }
        send(&world, &report("r", &task, 1)).await;
        let letter = dead(&world, 1).await;
        let said = letter.header(header::REASON).unwrap();
        assert!(said.contains(reason), "{said}");
        is_unfit(&world, reason).await;
        // A replay comes too late, though the object is there.
        let again = format!("$payload={OBJECT}");
        assert_eq!(letter.header(header::PAYLOAD), Some(again.as_str()));
        put(&world, lines(7)).await;
        let letter = Letter { number: 1, at: world.now(), message: letter };
        world.bus.publish(letter.again()).await.unwrap();
        world.until_quiet().await;
        assert_eq!(world.status("i").await, Some(SubStatus::Faulted));
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_another_result_too_is_a_dead_letter() {
    let (world, _node, task) = begun(json!({})).await;
    put(&world, lines(7)).await;
    let with = |change: fn(&mut TaskCompleted)| {
        let mut command = report("r", &task, 1);
        let Body::Task(report) = &mut command.body else { panic!("a task") };
        change(report);
        command
    };
    let named = format!("$payload={OBJECT}");
    let both = format!("{named}, Doc={OBJECT}");
    let cases = [
        (with(|report| report.result = json!(1)), &named, "is the whole result"),
        (with(|_| {}), &both, "is the whole result"),
        (with(|report| report.status = Some(TaskStatus::Failed)), &named, "is not completed"),
    ];
    for (number, (mut command, objects, reason)) in cases.into_iter().enumerate() {
        command.id = format!("r{number}").as_str().into();
        world.bus.publish(naming(&command, objects)).await.unwrap();
        let letter = dead(&world, number + 1).await;
        let said = letter.header(header::REASON).unwrap();
        assert!(said.contains(reason), "{said}");
    }
    is_unfit(&world, "is the whole result").await;
}

#[tokio::test(start_paused = true)]
async fn the_object_of_an_earlier_attempt_is_not_looked_at() {
    let retry = json!({"customProperties": {"retry": {"attempts": 2, "delay": "1m"}}});
    let (world, _node, task) = begun(retry).await;
    let mut failed = report("failed", &task, 1);
    let Body::Task(failure) = &mut failed.body else { panic!("a task") };
    failure.status = Some(TaskStatus::Failed);
    world.ask(failed, ReplyWhen::Committed).await;
    let pause = world.bookmarks("i").await["TaskRetry"].to_string();
    world.ask(resume("fired", "i", Some(&pause), json!({})), ReplyWhen::Committed).await;
    let before = world.instance("i").await.unwrap().version;
    // There is no object, and nobody waits for one.
    let outcome = ask(&world, report("late", &task, 1)).await;
    assert_eq!(outcome.refusal, Some(Refusal::AlreadyDone), "{outcome:?}");
    let said = outcome.message.unwrap_or_default();
    assert!(said.contains(&format!("attempt 1 of task {task}")), "{said}");
    assert_eq!(world.instance("i").await.unwrap().version, before);

    put(&world, lines(MANY)).await;
    let outcome = ask(&world, report("early", &task, 3)).await;
    assert_eq!(outcome.refusal, Some(Refusal::AlreadyDone), "{outcome:?}");
    let outcome = ask(&world, report("now", &task, 2)).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.record("i").await.state.output["Length"], MANY);
}

#[tokio::test(start_paused = true)]
async fn a_large_result_that_comes_early_waits_as_a_payload() {
    // The id of a task depends on its instance alone.
    let (_, _, task) = begun(json!({})).await;
    let world = World::new();
    looks_into_results(&world, json!({})).await;
    let _node = world.node("a").await;
    put(&world, lines(MANY)).await;
    let outcome = ask(&world, report("early", &task, 1)).await;
    assert_eq!(outcome.refusal, Some(Refusal::Waiting), "{outcome:?}");
    let reason = outcome.message.unwrap_or_default();
    assert!(reason.contains("not yet or not any more: it is kept for 7 days"), "{reason}");
    world.bus.remove_object(STORE, OBJECT).await.unwrap();
    world.start("ship", "i", json!({})).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.record("i").await.state.output["Length"], MANY);
}

/// An activity of a worker's type looks into the result: at its schema, and for the members that are outputs.
#[tokio::test(start_paused = true)]
async fn a_large_result_fits_the_type_of_its_worker() {
    let receipt = |lines: Value| json!({"receipt": "R-1", "lines": lines}).to_string();
    let good = receipt(json!(["y".repeat(MANY)]));
    let wrong = receipt(json!("y".repeat(MANY)));
    for (json, fits) in [(good, true), (wrong, false)] {
        let world = World::new();
        let kind = json!({"type": "Ship", "version": 1, "output": {"type": "object", "properties":
            {"receipt": {"type": "string"}, "lines": {"type": "array"}}}});
        let bound = |to: &str| json!({"typeName": "Object", "memoryReference": {"id": to}});
        let root = sequence(vec![json!({"type": "Ship", "id": "ship",
            "receipt": bound("Receipt"), "lines": bound("Lines"), "result": bound("All")})]);
        let outputs = json!([{"name": "Receipt"}, {"name": "Lines"}, {"name": "All"}]);
        world.publish("ship", root, json!({"activityTypes": [kind], "outputs": outputs})).await;
        let _node = world.node("a").await;
        let task = begin(&world).await;
        put(&world, json.clone().into_bytes()).await;
        send(&world, &report("r", &task, 1)).await;
        if !fits {
            world.until_status("i", SubStatus::Faulted).await;
            let said = world.record("i").await.state.incidents[0].message.clone();
            assert!(said.contains("does not fit the type Ship@1: /lines"), "{said}");
            continue;
        }
        world.until_status("i", SubStatus::Finished).await;
        let output = world.record("i").await.state.output;
        assert_eq!(output["Receipt"], "R-1");
        assert_eq!(whole(&world, &output["Lines"]).await, json!(["y".repeat(MANY)]));
        assert!(model::large::payload(&output["Lines"]).is_some(), "it rests, too");
        let hash = PayloadHash::of(json.as_bytes());
        assert_eq!(model::large::payload(&output["All"]), Some(hash));
    }
}

/// A worker may send back what the instance has sealed.
#[tokio::test(start_paused = true)]
async fn a_sealed_text_in_an_object_is_not_opened() {
    let (world, _node, task) = begun(json!({})).await;
    // The escape is one that a quick look does not see through.
    let text = format!("\\u007bsealed:{}}}", "Ab-_".repeat(10));
    put(&world, format!("{{\"lines\": [\"{text}\"]}}").into_bytes()).await;
    send(&world, &report("r", &task, 1)).await;
    world.until_status("i", SubStatus::Finished).await;
    let state = serde_json::to_value(&world.record("i").await.state).unwrap();
    let kept = whole(&world, &state["variables"]["got"]).await;
    let said = kept["lines"][0].as_str().unwrap();
    assert!(said.starts_with("{sealed elsewhere:Ab-_"), "{said}");
}
