//! Data that is too large for a state or a message: it rests in payloads, is delivered another way, or
//! refused with the reason.

use model::{SubStatus, limits};
use protocol::{Body, ReplyWhen};
use serde_json::{Value, json};
use store::Payloads as _;

use crate::Point;
use crate::wired::crash::CrashAt;
use crate::wired::request::keep;
use crate::wired::world::{World, event, sequence, start, wait_for};

/// The size of a MessagePack string of `n` characters is a few bytes more.
fn text(n: usize) -> Value {
    json!({"js": format!("'x'.repeat({n})")})
}

/// A child that sets outputs of these sizes, and its parent.
async fn world_with_child(sizes: &[usize], kind: &str) -> World {
    let world = World::new();
    world.publish("child", sets(sizes), declared(sizes)).await;
    let parent = json!({"type": kind, "workflowDefinitionId": "child", "waitForCompletion": true,
        "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    let told = json!({"type": "WriteLine", "text": {"js": "JSON.stringify(variables.Got).length"}});
    let more = json!({"variables": [{"id": "Got", "name": "Got", "typeName": "Object"}]});
    world.publish("parent", sequence(vec![parent, told]), more).await;
    world
}

fn sets(sizes: &[usize]) -> Value {
    let set = |(at, bytes): (usize, &usize)| json!({"type": "SetOutput", "outputName": format!("Blob{at}"), "outputValue": text(*bytes)});
    sequence(sizes.iter().enumerate().map(set).collect())
}

fn declared(sizes: &[usize]) -> Value {
    let declare = |at: usize| json!({"name": format!("Blob{at}")});
    json!({"outputs": (0..sizes.len()).map(declare).collect::<Vec<_>>()})
}

/// The value that rests where an object stands for it; the value itself where none does.
pub(crate) async fn whole(world: &World, value: &Value) -> Value {
    let Some(hash) = model::large::payload(value) else { return value.clone() };
    let found = world.store.payload(&hash).await.unwrap().unwrap();
    let mut bytes = Vec::new();
    for number in 0.. {
        let Some(part) = world.store.payload_part(&found.id, number).await.unwrap() else { break };
        bytes.extend(part);
    }
    model::large::read(&bytes).unwrap()
}

/// A workflow that makes a large value, waits, and uses it.
async fn uses_a_large_value(world: &World) {
    let computed = |script: &str| json!({"js": script});
    let variable = json!({"typeName": "String",
        "expression": {"type": "Variable", "value": {"id": "big", "name": "Big"}}});
    let output = |name: &str, value: Value| json!({"type": "SetOutput", "outputName": name, "outputValue": value});
    let root = sequence(vec![
        json!({"type": "SetVariable", "variable": {"id": "big", "name": "Big"},
            "value": text(300_000)}),
        wait_for("Go"),
        output("Length", computed("variables.Big.length + getInput('Doc').lines[0].length")),
        output("Small", computed("getInput('Small')")),
        output("Copy", variable),
    ]);
    let more = json!({
        "variables": [{"id": "big", "name": "Big", "typeName": "String"}],
        "inputs": [{"name": "Doc", "type": "Object"}, {"name": "Small", "type": "Int32"}],
        "outputs": [{"name": "Length"}, {"name": "Small"}, {"name": "Copy"}]});
    world.publish("uses", root, more).await;
}

/// G1, G2: large values rest beside the state, also where the process ends between their keeping and the
/// commit, and are there where an expression wants them.
#[tokio::test(start_paused = true)]
async fn large_values_rest_in_payloads_until_something_wants_them() {
    for point in [None, Some(Point::Ran), Some(Point::BeforeCommit), Some(Point::Committed)] {
        let world = World::new();
        uses_a_large_value(&world).await;
        let crash = point.map(CrashAt::new);
        let peculiar = crash.as_ref().map(CrashAt::peculiar).unwrap_or_default();
        let node = world.peculiar("a", peculiar).await;
        let doc = json!({"lines": ["y".repeat(270_000)]});
        world.send(&start("uses", "i", json!({"Doc": doc, "Small": 7}))).await;
        if let Some(crash) = crash {
            crash.happened().await;
            node.kill().await;
            let _other = world.node("b").await;
            ends_well(&world, &doc).await;
        } else {
            ends_well(&world, &doc).await;
        }
    }
}

async fn ends_well(world: &World, doc: &Value) {
    world.until_status("i", SubStatus::Suspended).await;
    let row = world.instance("i").await.unwrap();
    assert!(row.state.len() < 10_000, "{} bytes", row.state.len());
    let state = serde_json::to_value(&world.record("i").await.state).unwrap();
    let (big, input) = (&state["variables"]["big"], &state["input"]);
    let hash = model::large::payload(big).unwrap();
    assert_eq!(whole(world, big).await, "x".repeat(300_000));
    assert_eq!((whole(world, &input["Doc"]).await, &input["Small"]), (doc.clone(), &json!(7)));
    assert_eq!(world.store.payload_users(&hash, 9).await.unwrap(), ["i".into()]);

    world.send(&event("go", "Go", Value::Null)).await;
    world.until_status("i", SubStatus::Finished).await;
    let output = world.record("i").await.state.output;
    assert_eq!((&output["Length"], &output["Small"]), (&json!(570_000), &json!(7)));
    assert_eq!(output["Copy"], *big, "the same value rests once");
    assert!(world.dead().is_empty());
}

/// What rests in a payload can be read by its name, and stays there for days.
#[tokio::test(start_paused = true)]
async fn a_large_value_of_the_memory_driver_stays_in_the_state() {
    let world = World::new();
    let inner = json!({"type": "Sequence", "activities": [
        {"type": "SetVariable", "id": "hide", "variable": {"id": "own", "name": "Own"},
            "value": text(300_000)},
        wait_for("Go")],
        "variables": [{"id": "own", "name": "Own", "typeName": "String",
            "storageDriverTypeName": "MemoryStorageDriver"}]});
    let set = json!({"type": "SetVariable", "variable": {"id": "hidden", "name": "Hidden"},
        "value": text(400_000)});
    let more = json!({"variables": [{"id": "hidden", "name": "Hidden", "typeName": "String",
        "storageDriverTypeName": "MemoryStorageDriver"}]});
    world.publish("hides", sequence(vec![set, inner]), more).await;
    let _node = world.node("a").await;
    world.start("hides", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    assert!(world.instance("i").await.unwrap().state.len() > 700_000);
    let (late, now) = (model::Timestamp::from_millis(i64::MAX), world.now());
    assert_eq!(world.store.clear_payloads(late, now, 9).await.unwrap().seen, 0);
}

#[tokio::test(start_paused = true)]
async fn a_large_value_that_is_gone_is_an_incident_that_names_it() {
    let world = World::new();
    uses_a_large_value(&world).await;
    let _node = world.node("a").await;
    let hash = model::PayloadHash::of(b"nobody kept this");
    let input = json!({"Doc": model::large::stand_in(&hash, 16)});
    world.send(&start("uses", "i", input)).await;
    world.until_status("i", SubStatus::Suspended).await;
    world.send(&event("go", "Go", Value::Null)).await;
    world.until_status("i", SubStatus::Faulted).await;
    let message = world.record("i").await.state.incidents[0].message.clone();
    assert!(
        message.contains("there is no payload") && message.contains(hash.as_str()),
        "{message}"
    );
}

/// A script never finds a file without content where the content cannot be had.
#[tokio::test(start_paused = true)]
async fn a_content_that_cannot_be_had_is_an_incident_with_the_reason() {
    let world = World::new();
    let copes = "(doc => [doc.contentType, doc.content ?? doc.payload])(getInput('Doc'))";
    for (id, script) in [
        ("looks", "getInput('Doc').content ? 'has content' : 'is empty'"),
        ("passes", "getInput('Doc').contentType"),
        ("copes", copes),
    ] {
        let said =
            json!({"type": "SetOutput", "outputName": "Said", "outputValue": {"js": script}});
        let more =
            json!({"inputs": [{"name": "Doc", "type": "Object"}], "outputs": [{"name": "Said"}]});
        world.publish(id, sequence(vec![said]), more).await;
    }
    let _node = world.node("a").await;
    let large = vec![0; 9 * 1024 * 1024];
    let [absent, damaged, elsewhere, large_hash] =
        [&b"absent"[..], b"damaged", b"elsewhere", &large[..]].map(model::PayloadHash::of);
    keep(&world, &damaged, b"another", None).await;
    keep(&world, &elsewhere, b"elsewhere", Some("s3://a/b")).await;
    keep(&world, &large_hash, &large, None).await;
    for (hash, reason) in [
        (&absent, "there is no payload"),
        (&damaged, "is damaged"),
        (&elsewhere, "is in \"s3://a/b\": add this place"),
        (&large_hash, "more than the 8388608 bytes"),
    ] {
        let doc = json!({"Doc": model::file::large("a", "x/y", 7, hash)});
        let id = |definition: &str| format!("{definition}-{hash}");
        for definition in ["looks", "passes", "copes"] {
            world.send(&start(definition, &id(definition), doc.clone())).await;
        }
        world.until_status(&id("looks"), SubStatus::Faulted).await;
        let message = world.record(&id("looks")).await.state.incidents[0].message.clone();
        assert!(message.contains("the content of the file"), "{message}");
        assert!(message.contains(reason) && message.contains(hash.as_str()), "{message}");
        for (definition, said) in [("passes", json!("x/y")), ("copes", json!(["x/y", hash]))] {
            world.until_status(&id(definition), SubStatus::Finished).await;
            assert_eq!(world.record(&id(definition)).await.state.output["Said"], said);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_parent_gets_the_whole_output_of_its_child() {
    for bytes in [1_000, 300_000, 600_000, 2 * 1024 * 1024] {
        // {"Blob0":"xxx"}, in an envelope with the child's status.
        for (kind, around) in [("ExecuteWorkflow", None), ("DispatchWorkflow", Some(12))] {
            let world = world_with_child(&[bytes], kind).await;
            let _node = world.node("a").await;
            world.send(&start("parent", "i", json!({}))).await;
            world.until_status("i", SubStatus::Finished).await;
            let lines = world.lines("i").await;
            let length: usize = lines.last().unwrap().parse().unwrap();
            match around {
                Some(around) => assert_eq!(length, bytes + around, "nothing but the output"),
                None => assert!((bytes + 12..bytes + 300).contains(&length), "{length}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn outputs_that_are_too_many_for_the_parent_are_an_incident_of_the_parent() {
    for kind in ["ExecuteWorkflow", "DispatchWorkflow"] {
        let world = world_with_child(&[200_000, 250_000, 200_000], kind).await;
        let _node = world.node("a").await;
        world.send(&start("parent", "i", json!({}))).await;
        world.until_status("i", SubStatus::Faulted).await;
        let incidents = world.record("i").await.state.incidents;
        assert_eq!(incidents[0].code, "ChildRefused");
        let message = &incidents[0].message;
        let limit = limits::CHILD_OUTPUT_BYTES_MAX.to_string();
        assert!(message.contains("Blob1 (250005 bytes)"), "{message}");
        assert!(message.contains(&limit), "{message}");
        world.until_quiet().await;
        assert!(world.dead().is_empty(), "{:?}", world.dead());
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_too_large_says_that_the_instance_has_the_rest() {
    let cases: [(&[usize], bool); 4] = [
        (&[200_000], false),
        (&[400_000], false),
        (&[2 * 1024 * 1024], false),
        (&[250_000; 5], true),
    ];
    for (sizes, is_cut) in cases {
        let world = World::new();
        world.publish("large", sets(sizes), declared(sizes)).await;
        let _node = world.node("a").await;
        let outcome = world.start("large", "i", json!({})).await;
        assert_eq!((outcome.sub_status, outcome.is_cut), (Some(SubStatus::Finished), is_cut));
        assert_eq!(outcome.output.is_empty(), is_cut);
        if let [bytes @ ..=400_000] = sizes {
            assert_eq!(outcome.output["Blob0"].as_str().map(str::len), Some(*bytes), "it fits");
        }
        let output = world.record("i").await.state.output;
        for (at, bytes) in sizes.iter().enumerate() {
            let kept = whole(&world, &output[&format!("Blob{at}")]).await;
            assert_eq!(kept.as_str().map(str::len), Some(*bytes));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_too_large_for_the_outcome_is_kept_with_the_instance() {
    for (bytes, is_in_row) in [(300_000, false), (600_000, false), (2 * 1024 * 1024, true)] {
        let world = World::new();
        let said = json!({"type": "WriteHttpResponse", "content": text(bytes)});
        world.publish("says", said, json!({})).await;
        let _node = world.node("a").await;
        let mut command = start("says", "i", json!({}));
        let Body::Start(body) = &mut command.body else { panic!("{command:?}") };
        body.responds = true;
        let id = command.id.clone();
        let outcome = world.ask(command, ReplyWhen::Settled).await;
        assert_eq!((outcome.is_cut, outcome.response.is_none()), (is_in_row, is_in_row));
        let record = world.record("i").await;
        let answer = record.answer_for(&id).cloned().or(outcome.response);
        assert_eq!(answer.unwrap().content.as_str().map(str::len), Some(bytes));
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_too_large_to_keep_is_an_error_at_once() {
    let world = World::new();
    let bytes = limits::RESPONSE_BYTES_MAX + 1;
    let said = json!({"type": "WriteHttpResponse", "content": text(bytes)});
    world.publish("says", said, json!({})).await;
    let _node = world.node("a").await;
    let mut command = start("says", "i", json!({}));
    let Body::Start(body) = &mut command.body else { panic!("{command:?}") };
    body.responds = true;
    let response = world.ask(command, ReplyWhen::Settled).await.response.unwrap();
    assert_eq!(response.status_code, 500);
    let detail = response.content["detail"].as_str().unwrap();
    assert!(detail.contains(&limits::RESPONSE_BYTES_MAX.to_string()), "{detail}");
}
