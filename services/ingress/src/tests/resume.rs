use std::collections::BTreeMap;

use serde_json::json;

use super::world::{World, json_request, send_to, waits_for};
use crate::Config;

const API: &str = "/elsa/api";

#[tokio::test]
async fn of_thirty_simultaneous_resumes_on_two_nodes_exactly_one_takes_effect() {
    let world = World::new().await;
    let other = world.another().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("{API}/workflow-instances/{id}/resume");
    let calls = (0..30).map(|number| {
        let request = json_request("POST", &path, &[], &json!({"input": {"n": number}}));
        let (world, other) = (&world, &other);
        async move {
            if number % 2 == 0 { world.send(request).await } else { send_to(other, request).await }
        }
    });
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    for answer in futures::future::join_all(calls).await {
        *counts.entry(answer.status.as_u16()).or_default() += 1;
        match answer.status.as_u16() {
            200 => assert_eq!(answer.body["subStatus"], "Finished"),
            202 => assert!(answer.body["subStatus"].is_string()),
            _ => assert!(answer.problem(409).contains("already resumed")),
        }
    }
    assert_eq!(counts.get(&200), Some(&1), "{counts:?}");
    let journal = world.get(&format!("{API}/workflow-instances/{id}/journal")).await.expect(200);
    let resumed = journal["items"].as_array().unwrap().iter();
    assert_eq!(resumed.filter(|entry| entry["eventName"] == "Resumed").count(), 1);
    let late = world.post(&path, &json!({})).await;
    assert!(late.problem(409).contains("it is over (it is Finished)"));
}

#[tokio::test]
async fn several_open_bookmarks_have_to_be_chosen_from() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Parallel", "id": "p", "activities": [
        {"type": "Elsa.Event", "id": "a", "eventName": "A"},
        {"type": "Elsa.Event", "id": "b", "eventName": "B"}]});
    world.publish("two", root).await;
    let id = world.begin("two").await;
    let path = format!("{API}/workflow-instances/{id}/resume");
    let answer = world.post(&path, &json!({})).await;
    let choices = answer.body["bookmarks"].as_array().unwrap().clone();
    assert_eq!(choices.len(), 2);
    assert!(choices.iter().all(|c| c["name"] == "Elsa.Event" && c["activityId"].is_string()));
    assert!(answer.problem(400).contains("waits at 2 bookmarks"));
    let chosen = json!({"bookmarkId": choices[0]["id"]});
    assert_eq!(world.post(&path, &chosen).await.expect(200)["subStatus"], "Suspended");
    for bookmark in [choices[0]["id"].as_str().unwrap(), "never-was"] {
        let detail = world.post(&path, &json!({"bookmarkId": bookmark})).await.problem(409);
        assert!(detail.contains("resumed or removed before, or instance"), "{detail}");
        assert!(!detail.contains("was already resumed"), "{detail}");
    }
    // Only one is left, so it need not be named.
    assert_eq!(
        world.post(&path, &json!({"bookmarkId": null})).await.expect(200)["subStatus"],
        "Finished"
    );
}

#[tokio::test]
async fn a_resume_that_comes_before_the_first_burst_is_kept() {
    let world = World::without_executor(Config::default()).await;
    world.publish("waits", waits_for("go")).await;
    let started = world
        .post_with(
            &format!("{API}/workflow-instances"),
            &[("prefer", "respond-async")],
            &json!({"definitionId": "waits"}),
        )
        .await;
    let id = started.expect(202)["workflowInstanceId"].as_str().unwrap().to_owned();
    let path = format!("{API}/workflow-instances/{id}/resume");
    let early = world.post_with(&path, &[("prefer", "respond-async")], &json!({})).await;
    assert_eq!(early.expect(202)["subStatus"], "Pending");
    world.start_executor().await;
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn what_is_not_there_cannot_be_resumed() {
    let world = World::new().await;
    let detail =
        world.post(&format!("{API}/workflow-instances/nope/resume"), &json!({})).await.problem(404);
    assert_eq!(detail, "there is no workflow instance nope");
    world.post(&format!("{API}/workflow-instances/n%20o/resume"), &json!({})).await.problem(400);
    let bad = json!({"bookmark": "x"});
    let detail =
        world.post(&format!("{API}/workflow-instances/nope/resume"), &bad).await.problem(400);
    assert!(detail.contains("unknown field `bookmark`"), "{detail}");
}

#[tokio::test]
async fn a_repeated_resume_of_the_same_key_is_not_a_second_one() {
    let world = World::new().await;
    let other = world.another().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.Event", "id": "a", "eventName": "A"},
        {"type": "Elsa.Event", "id": "b", "eventName": "B"}]});
    world.publish("two", root).await;
    let id = world.begin("two").await;
    let path = format!("{API}/workflow-instances/{id}/resume");
    let key = [("idempotency-key", "r1")];
    world.post_with(&path, &key, &json!({})).await.expect(200);
    let again = send_to(&other, json_request("POST", &path, &key, &json!({}))).await;
    assert_eq!(again.expect(200)["subStatus"], "Suspended");
    assert_eq!(world.post(&path, &json!({})).await.expect(200)["subStatus"], "Finished");
}

#[tokio::test]
async fn an_instance_is_cancelled_once_and_then_stays_as_it_is() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("{API}/cancel/workflow-instances/{id}");
    let body = world.post(&path, &json!({"reason": "enough"})).await.expect(200);
    assert_eq!((&body["cancelled"], &body["subStatus"]), (&json!(true), &json!("Cancelled")));
    let again = world.post(&path, &json!({})).await.expect(200);
    assert_eq!((&again["cancelled"], &again["subStatus"]), (&json!(false), &json!("Cancelled")));
    world.post(&format!("{API}/cancel/workflow-instances/nope"), &json!({})).await.problem(404);
    let ids = [world.begin("waits").await, world.begin("waits").await, "nope".to_owned()];
    let bulk = format!("{API}/bulk-actions/cancel/workflow-instances");
    assert_eq!(world.post(&bulk, &json!({"ids": ids})).await.expect(200)["cancelled"], 2);
    world.begin("waits").await;
    assert_eq!(
        world.post(&bulk, &json!({"definitionId": "waits"})).await.expect(200)["cancelled"],
        1
    );
    assert_eq!(world.post(&bulk, &json!({})).await.expect(200)["cancelled"], 0);
}
