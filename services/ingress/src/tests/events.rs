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
    // A mistyped name would end the task without its result.
    let typo = world.post(&path, &json!({"resultt": 1})).await.problem(400);
    assert!(typo.contains("unknown field `resultt`"), "{typo}");
    let deep = (0..70).fold(json!(1), |inner, _| json!([inner]));
    let deep = world.post(&path, &json!({"result": deep})).await.problem(400);
    assert!(deep.contains("the result has lists and objects nested"), "{deep}");
    // Clients of .NET may write names with a capital.
    let result = json!({"Result": {"ok": true}});
    let completions = (0..5).map(|_| world.post(&path, &result));
    let answers = futures::future::join_all(completions).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    world.until(&id, "Finished").await;
    // Nobody can tell a task that is over from one that is still to come: both are kept, for some days.
    world.post(&path, &result).await.expect(202);
    world.post(&format!("{API}/tasks/unknown/complete"), &json!({})).await.expect(202);
}

#[tokio::test]
async fn a_failed_task_is_handed_out_again_and_its_first_attempt_is_over() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.RunTask", "id": "t", "taskName": "approve",
        "customProperties": {"retry": {"attempts": 2, "delay": "0s"}}});
    world.publish("task", root).await;
    let id = world.begin("task").await;
    let bookmarks =
        world.get(&format!("{API}/workflow-instances/{id}/bookmarks")).await.expect(200);
    let task_id = bookmarks["items"][0]["payload"]["TaskId"].as_str().unwrap().to_owned();
    let fail = format!("{API}/tasks/{task_id}/fail");
    let failure = json!({"attempt": 1, "error": {"type": "busy", "title": "busy"}});
    world.post(&fail, &failure).await.expect(200);
    let over = world.post(&fail, &failure).await.expect(409);
    let detail = over["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("attempt 1") && detail.contains("is 2"), "{over}");
    world.post(&fail, &json!({"attempts": 1})).await.expect(400);
    for wrong in [json!({"attempt": 0}), json!({"attempt": 1001}), json!({"retryAfter": 2_592_001})]
    {
        world.post(&fail, &wrong).await.problem(400);
    }
    for (member, wrong) in
        [("type", json!(["busy"])), ("title", json!(5)), ("status", json!("503"))]
    {
        let error = json!({member: wrong});
        let refused = world.post(&fail, &json!({"error": error})).await.problem(400);
        assert!(refused.contains(&format!("error.{member} is {wrong}")), "{refused}");
    }
    let complete = format!("{API}/tasks/{task_id}/complete");
    world.post(&complete, &json!({"attempt": 1})).await.expect(409);
    world.post(&complete, &json!({"attempt": 2, "result": 7})).await.expect(200);
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn the_last_failure_of_a_task_is_an_incident() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.RunTask", "id": "t", "taskName": "approve"});
    world.publish("task", root).await;
    let id = world.begin("task").await;
    let bookmarks =
        world.get(&format!("{API}/workflow-instances/{id}/bookmarks")).await.expect(200);
    let task_id = bookmarks["items"][0]["payload"]["TaskId"].as_str().unwrap().to_owned();
    let failure = json!({"error": {"type": "busy", "title": "busy", "detail": "all day"}});
    world.post(&format!("{API}/tasks/{task_id}/fail"), &failure).await.expect(200);
    world.until(&id, "Faulted").await;
    let instance = world.get(&format!("{API}/workflow-instances/{id}")).await.expect(200);
    assert!(instance.to_string().contains("busy: all day"), "{instance}");
}
