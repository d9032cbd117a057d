//! Data that is too large for a message: it is delivered another way, or refused with the reason.

use model::{SubStatus, limits};
use protocol::{Body, ReplyWhen};
use serde_json::{Value, json};

use crate::wired::world::{World, start};

/// The size of a MessagePack string of `n` characters is a few bytes more.
fn text(n: usize) -> Value {
    json!({"js": format!("'x'.repeat({n})")})
}

async fn world_with_child(bytes: usize, kind: &str) -> World {
    let world = World::new();
    let output = json!({"type": "SetOutput", "outputName": "Blob", "outputValue": text(bytes)});
    world.publish("child", output, json!({"outputs": [{"name": "Blob"}]})).await;
    let parent = json!({"type": kind, "workflowDefinitionId": "child", "waitForCompletion": true,
        "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    world.publish("parent", parent, json!({"outputs": [{"name": "Got"}]})).await;
    world
}

#[tokio::test(start_paused = true)]
async fn a_parent_gets_the_whole_output_of_its_child() {
    for bytes in [1_000, 300_000, 500_000] {
        let world = world_with_child(bytes, "ExecuteWorkflow").await;
        let _node = world.node("a").await;
        world.send(&start("parent", "i", json!({}))).await;
        world.until_status("i", SubStatus::Finished).await;
        let got = world.record("i").await.state.output["Got"].clone();
        assert_eq!(got["subStatus"], "Finished");
        let blob = got["output"]["Blob"].as_str().map(str::len);
        assert_eq!(blob, Some(bytes));

        let world = world_with_child(bytes, "DispatchWorkflow").await;
        let _node = world.node("a").await;
        world.send(&start("parent", "i", json!({}))).await;
        world.until_status("i", SubStatus::Finished).await;
        let got = world.record("i").await.state.output["Got"].clone();
        assert_eq!(got["Blob"].as_str().map(str::len), Some(bytes));
        assert_eq!(got.as_object().unwrap().len(), 1, "nothing but the output");
    }
}

#[tokio::test(start_paused = true)]
async fn an_output_that_is_too_large_for_the_parent_is_an_incident_of_the_parent() {
    for kind in ["ExecuteWorkflow", "DispatchWorkflow"] {
        for bytes in [600_000, 2 * 1024 * 1024] {
            let world = world_with_child(bytes, kind).await;
            let _node = world.node("a").await;
            world.send(&start("parent", "i", json!({}))).await;
            world.until_status("i", SubStatus::Faulted).await;
            let incidents = world.record("i").await.state.incidents;
            assert_eq!(incidents[0].code, "ChildRefused");
            let message = &incidents[0].message;
            let limit = limits::CHILD_OUTPUT_BYTES_MAX.to_string();
            assert!(message.contains(&format!("Blob ({} bytes)", bytes + 5)), "{message}");
            assert!(message.contains(&limit), "{message}");
            world.until_quiet().await;
            assert!(world.dead().is_empty(), "{:?}", world.dead());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_too_large_says_that_the_instance_has_the_rest() {
    for (bytes, is_cut) in [(300_000, false), (600_000, false), (2 * 1024 * 1024, true)] {
        let world = World::new();
        let output = json!({"type": "SetOutput", "outputName": "Blob", "outputValue": text(bytes)});
        world.publish("large", output, json!({"outputs": [{"name": "Blob"}]})).await;
        let _node = world.node("a").await;
        let outcome = world.start("large", "i", json!({})).await;
        assert_eq!((outcome.sub_status, outcome.is_cut), (Some(SubStatus::Finished), is_cut));
        assert_eq!(outcome.output.is_empty(), is_cut);
        let kept = world.record("i").await.state.output["Blob"].as_str().map(str::len);
        assert_eq!(kept, Some(bytes));
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
