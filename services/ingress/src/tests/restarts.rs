//! Instances that begin with what another one knew.

use serde_json::{Value, json};

use super::alterations::publish_with_variable;
use super::world::{World, writes_line};

const API: &str = "/elsa/api";
const INSTANCES: &str = "/elsa/api/workflow-instances";

#[tokio::test]
async fn a_restart_begins_with_what_was_known() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Flowchart", "id": "flow", "activities": [
        {"type": "Elsa.WriteLine", "id": "a", "text": "a"},
        {"type": "Elsa.WriteLine", "id": "b", "text": {"js": "'good is ' + variables.Good"}}],
        "connections": [{"source": "a", "target": "b"}]});
    publish_with_variable(&world, "r", root).await;
    let id = world.begin("r").await;
    let body = json!({"activityId": "b", "variables": {"Good": true}});
    let got = world.post(&format!("{INSTANCES}/{id}/restart"), &body).await.expect(200);
    let new = got["workflowInstanceId"].as_str().unwrap();
    assert_ne!(new, id);
    world.until(new, "Finished").await;
    let journal = world.get(&format!("{INSTANCES}/{new}/journal")).await.expect(200).to_string();
    assert!(
        journal.contains("good is true") && !journal.contains("\"activityId\":\"a\""),
        "{journal}"
    );
}

/// A value under a name that no variable has would be lost, and the new instance would run without it.
#[tokio::test]
async fn a_restart_refuses_a_variable_that_the_workflow_does_not_have() {
    let world = World::new().await;
    publish_with_variable(&world, "r", writes_line()).await;
    let id = world.begin("r").await;
    world.until(&id, "Finished").await;
    let path = format!("{INSTANCES}/{id}/restart");
    for name in ["good", "Good"] {
        world.post(&path, &json!({"variables": {name: true}})).await.expect(200);
    }
    let before = world.get(INSTANCES).await.expect(200)["totalCount"].clone();
    let refused = world.post(&path, &json!({"variables": {"GOOD": true}})).await.problem(400);
    assert_eq!(refused, "variables: there is no variable GOOD: the workflow has Good");
    assert_eq!(world.get(INSTANCES).await.expect(200)["totalCount"], before);
}

/// The program of the version stays in the cache of the node: the refusal comes before a command is
/// published, which would be a dead letter.
#[tokio::test]
async fn a_restart_of_a_version_that_was_deleted_leaves_no_dead_letter() {
    let world = World::new().await;
    world.publish("gone", writes_line()).await;
    let id = world.begin("gone").await;
    world.until(&id, "Finished").await;
    assert_eq!(world.delete(&format!("{API}/workflow-definitions/gone")).await.status, 204);
    let path = format!("{INSTANCES}/{id}/restart");
    let is_refused = async || {
        let refused = world.post(&path, &json!({})).await.problem(404);
        let expected = "version 1 of workflow definition \"gone\" was deleted: name another one";
        assert!(refused.starts_with(expected), "{refused}");
    };
    is_refused().await;
    let letters = world.get(&format!("{API}/bookmark-queue/dead-letters")).await.expect(200);
    assert_eq!(letters, json!({"items": [], "totalCount": 0}));
    // Another version of this number is there: it runs if it is named.
    world.publish("gone", writes_line()).await;
    is_refused().await;
    world.post(&path, &json!({"version": 1})).await.expect(200);
}

/// Each activity changes the variable, all in one burst: a restart takes over what it was when the
/// activity began, not what it was at the end.
#[tokio::test]
async fn a_restart_takes_over_what_was_known_when_the_activity_began() {
    let world = World::new().await;
    let set = |id: &str, value: Value| json!({"type": "Elsa.SetVariable", "id": id, "variable": {"id": "word"}, "value": value});
    let add = |letter: &str| json!({"js": format!("variables.Word + '{letter}'")});
    let flow = |id: &str, activities: Vec<Value>, names: &[&str]| {
        let links = names.windows(2).map(|two| json!({"source": two[0], "target": two[1]}));
        json!({"definitionId": id, "name": id, "root": {"type": "Elsa.Flowchart", "id": "flow",
                "activities": activities, "connections": links.collect::<Vec<_>>()},
            "variables": [{"id": "word", "name": "Word", "typeName": "String", "value": "-"}]})
    };
    let activities = vec![set("a", add("a")), set("b", add("b")), set("c", add("c"))];
    let made = world
        .post(&format!("{API}/workflow-definitions"), &flow("r", activities, &["a", "b", "c"]))
        .await;
    made.expect(201);
    let id = world.begin("r").await;
    world.until(&id, "Finished").await;
    let word = async |id: &str, body: Value| {
        let got = world.post(&format!("{INSTANCES}/{id}/restart"), &body).await.expect(200);
        let new = got["workflowInstanceId"].as_str().unwrap().to_owned();
        world.until(&new, "Finished").await;
        world.get(&format!("{INSTANCES}/{new}/state")).await.expect(200)["variables"]["Word"]
            .clone()
    };
    assert_eq!(word(&id, json!({"activityId": "a"})).await, "-abc");
    assert_eq!(word(&id, json!({"activityId": "b"})).await, "-abc");
    assert_eq!(word(&id, json!({"activityId": "c"})).await, "-abc");
    let given = json!({"activityId": "c", "variables": {"Word": "x"}});
    assert_eq!(word(&id, given).await, "xc");

    // The journal has only the beginning of a long value.
    let long = json!({"js": "'x'.repeat(20000)"});
    let activities = vec![set("a", long), set("b", json!("short")), set("c", add("c"))];
    let made = world
        .post(&format!("{API}/workflow-definitions"), &flow("l", activities, &["a", "b", "c"]))
        .await;
    made.expect(201);
    let id = world.begin("l").await;
    world.until(&id, "Finished").await;
    let path = format!("{INSTANCES}/{id}/restart");
    let detail = world.post(&path, &json!({"activityId": "b"})).await.problem(409);
    assert!(detail.contains("the whole value of the variable Word"), "{detail}");
    assert_eq!(word(&id, json!({"activityId": "c"})).await, "shortc");
    let given = json!({"activityId": "b", "variables": {"Word": "x"}});
    assert_eq!(word(&id, given).await, "shortc");
}
