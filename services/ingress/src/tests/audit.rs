//! The outcome of each command in the audit log.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::world::{BOUND, World, json_request, waits_for};
use crate::Config;

const API: &str = "/elsa/api";

/// The ends of one kind of change, such as `refused alreadyDone`, in the order of their words.
async fn ends(world: &World, what: &str) -> Vec<String> {
    let audit = world.get(&format!("{API}/audit?pageSize=1000&what={what}")).await.expect(200);
    let end = |entry: &Value| {
        let refusal = entry["details"]["refusal"].as_str().unwrap_or_default();
        format!("{} {refusal}", entry["outcome"].as_str().unwrap()).trim().to_owned()
    };
    let mut ends: Vec<_> = audit["items"].as_array().unwrap().iter().map(end).collect();
    ends.sort();
    ends
}

async fn are(world: &World, what: &str, expected: &[&str]) {
    testkit::eventually(&format!("{what} has {expected:?}"), BOUND, async || {
        ends(world, what).await == expected
    })
    .await;
}

/// A cluster whose executor gets no commands for now.
async fn stalled(world: &World) {
    world.broken.stall(true);
    // The pulls that are under way end.
    tokio::time::sleep(Duration::from_secs(2)).await;
}

async fn accepted(world: &World, count: usize) {
    let all = async || world.store.sizes().pending == count;
    testkit::eventually("the commands are accepted", BOUND, all).await;
}

#[tokio::test(start_paused = true)]
async fn of_commands_that_race_the_audit_log_has_which_one_took_effect() {
    let world = World::with(Config::default()).await;
    world.publish("waits", waits_for("go")).await;
    world.publish("task", json!({"type": "Elsa.RunTask", "id": "t", "taskName": "ship"})).await;
    let (resumed, cancelled) = (world.begin("waits").await, world.begin("waits").await);
    let (raised, worked) = (world.begin("waits").await, world.begin("task").await);
    let waiting = async |id: &str| {
        let path = format!("{API}/workflow-instances/{id}/bookmarks");
        world.get(&path).await.expect(200)["items"][0].clone()
    };
    let (event, task) = (waiting(&raised).await, waiting(&worked).await);
    let task_id = task["payload"]["TaskId"].as_str().unwrap();
    let only = json!({"activityInstanceId": event["activityInstanceId"],
        "workflowExecutionMode": "Synchronous"});
    let calls = [
        (format!("{API}/workflow-instances/{resumed}/resume"), json!({})),
        (format!("{API}/cancel/workflow-instances/{cancelled}"), json!({})),
        (format!("{API}/events/go/trigger"), only),
        (format!("{API}/tasks/{task_id}/complete"), json!({})),
    ];
    stalled(&world).await;
    let all = calls.iter().chain(&calls).map(|(path, body)| world.post(path, body));
    let going_on = async {
        accepted(&world, 2 * calls.len()).await;
        world.broken.stall(false);
    };
    let (answers, ()) = tokio::join!(join_all(all), going_on);
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 409, 409, 409], "both cancels have an answer");
    for what in ["instance.resume", "instance.cancel", "event.raise", "task.complete"] {
        are(&world, what, &["done", "refused alreadyDone"]).await;
    }
    let done = world.get(&format!("{API}/audit?what=instance.resume&outcome=done")).await;
    assert_eq!(done.expect(200)["totalCount"], 1);
}

#[tokio::test]
async fn what_is_not_known_yet_is_accepted_in_the_audit_log() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("{API}/workflow-instances/{id}/resume");
    world.post_with(&path, &[("prefer", "respond-async")], &json!({})).await.expect(202);
    world.begin("waits").await;
    world.post(&format!("{API}/events/later/trigger"), &json!({})).await.expect(200);
    let waits = json!({"workflowExecutionMode": "Synchronous"});
    world.post(&format!("{API}/events/never/trigger"), &waits).await.expect(200);
    world.post(&format!("{API}/events/go/trigger"), &waits).await.expect(200);
    world.post(&format!("{API}/tasks/to-come/complete"), &json!({})).await.expect(202);
    are(&world, "instance.resume", &["accepted"]).await;
    are(&world, "event.raise", &["accepted", "accepted", "done"]).await;
    are(&world, "task.complete", &["accepted"]).await;
    let open = world.get(&format!("{API}/audit?outcome=accepted")).await.expect(200);
    assert_eq!(open["totalCount"], 4, "{open:#}");
    let wrong = world.get(&format!("{API}/audit?outcome=lost")).await.problem(400);
    assert_eq!(wrong, "query parameter outcome is \"lost\": use one of done, refused, accepted");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_hangs_up_is_in_the_audit_log() {
    let world = World::with(Config::default()).await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    stalled(&world).await;
    let path = format!("{API}/workflow-instances/{id}/resume");
    tokio::select! {
        answer = world.send(json_request("POST", &path, &[], &json!({}))) => {
            panic!("nothing carries it out: {answer:?}");
        }
        () = accepted(&world, 1) => {}
    }
    world.broken.stall(false);
    world.until(&id, "Finished").await;
    are(&world, "instance.resume", &["accepted"]).await;
}

#[tokio::test]
async fn an_instance_that_is_cancelled_to_be_deleted_has_its_cancellation_in_the_audit_log() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    world.delete(&format!("{API}/workflow-instances/{id}")).await.expect(204);
    are(&world, "instance.cancel", &["done"]).await;
    are(&world, "instance.delete", &["done"]).await;
}
