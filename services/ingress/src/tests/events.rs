use serde_json::json;

use super::world::{World, waits_for};

const API: &str = "/elsa/api";

#[tokio::test]
async fn an_event_resumes_those_who_wait_for_it() {
    let world = World::new().await;
    world.publish("waits", waits_for("order.paid")).await;
    let (one, two) = (world.begin("waits").await, world.begin("waits").await);
    let path = format!("{API}/events/order.paid/trigger");
    let only = json!({"workflowInstanceId": one, "input": {"n": 1}, "workflowExecutionMode": "Synchronous"});
    let body = world.post(&path, &only).await.expect(200);
    assert_eq!((&body["accepted"], &body["affected"]), (&json!(true), &json!(1)));
    world.until(&one, "Finished").await;
    let body = world.post(&path, &json!({})).await.expect(200);
    assert_eq!(body["accepted"], true);
    world.until(&two, "Finished").await;
}

#[tokio::test]
async fn an_event_that_comes_too_early_is_kept() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    world
        .post(&format!("{API}/events/go/trigger"), &json!({"workflowExecutionMode": "Synchronous"}))
        .await
        .expect(200);
    let body = json!({"definitionId": "waits"});
    let started = world.post(&format!("{API}/workflow-instances"), &body).await.expect(200);
    world.until(started["workflowInstanceId"].as_str().unwrap(), "Finished").await;
}

#[tokio::test]
async fn an_event_of_the_same_key_is_raised_once() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.Event", "id": "a", "eventName": "go"},
        {"type": "Elsa.Event", "id": "b", "eventName": "go"}]});
    world.publish("twice", root).await;
    let id = world.begin("twice").await;
    let path = format!("{API}/events/go/trigger");
    let body = json!({"workflowExecutionMode": "Synchronous"});
    for _ in 0..3 {
        world.post_with(&path, &[("idempotency-key", "e1")], &body).await.expect(200);
    }
    let bookmarks = format!("{API}/workflow-instances/{id}/bookmarks");
    testkit::eventually("the first is resumed", super::world::BOUND, async || {
        world.get(&bookmarks).await.body["items"][0]["activityId"] == "b"
    })
    .await;
    world.post_with(&path, &[("idempotency-key", "e2")], &body).await.expect(200);
    world.until(&id, "Finished").await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test]
async fn a_task_is_completed_once() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.RunTask", "id": "t", "taskName": "approve"});
    world.publish("task", root).await;
    let id = world.begin("task").await;
    let bookmarks =
        world.get(&format!("{API}/workflow-instances/{id}/bookmarks")).await.expect(200);
    let payload = &bookmarks["items"][0]["payload"];
    let task_id = payload["TaskId"].as_str().unwrap().to_owned();
    let path = format!("{API}/tasks/{task_id}/complete");
    let result = json!({"result": {"ok": true}});
    let completions = (0..5).map(|_| world.post(&path, &result));
    let answers = futures::future::join_all(completions).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    world.until(&id, "Finished").await;
    world.post(&format!("{API}/tasks/unknown/complete"), &json!({})).await.expect(202);
}
