//! Elsa's placeholder for activities of types that its server did not know.

use serde_json::{Value, json};

use super::world::World;

const API: &str = "/elsa/api/workflow-definitions";

/// A placeholder, as Elsa writes it.
fn placeholder(original: Option<&str>) -> Value {
    json!({"type": "Elsa.NotFoundActivity", "id": "lost", "nodeId": "Workflow1:lost", "version": 1,
        "missingTypeName": "Acme.SendFax", "missingTypeVersion": 2,
        "originalActivityJson": original})
}

#[tokio::test]
async fn a_placeholder_is_kept_as_it_is_and_named_when_it_is_published() {
    let world = World::new().await;
    let original = r#"{ "type": "Acme.SendFax", "id": "lost", "version": 2, "number": "1" }"#;
    let root = placeholder(Some(original));
    let file = json!({"definitionId": "fax", "name": "Fax", "root": root});
    world.post(&format!("{API}/import"), &file).await.expect(200);
    let exported = world.get(&format!("{API}/fax/export")).await.expect(200);
    assert_eq!(exported["root"], root);
    let answer = world.post(&format!("{API}/fax/publish"), &json!({})).await;
    let errors = answer.body["validationErrors"].clone();
    answer.problem(400);
    assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors:#}");
    let message = errors[0]["message"].as_str().unwrap();
    assert!(message.starts_with("there is no activity type Acme.SendFax"), "{message}");
    assert!(message.contains("exported this definition did not know it either"), "{message}");
    assert_eq!(
        (&errors[0]["activityId"], &errors[0]["property"]),
        (&json!("lost"), &json!("type"))
    );
}

#[tokio::test]
async fn a_placeholder_for_an_activity_that_exists_here_runs_as_the_activity() {
    let world = World::new().await;
    let original = json!({"type": "Elsa.WriteHttpResponse", "id": "old", "content": "it runs"});
    let root = json!({"type": "Elsa.Flowchart", "id": "flow", "activities": [
        {"type": "Elsa.HttpEndpoint", "id": "h", "path": "lost", "canStartWorkflow": true},
        placeholder(Some(&original.to_string()))],
        "connections": [{"source": {"activity": "h"}, "target": {"activity": "lost"}}]});
    world.publish("lost", root).await;
    assert_eq!(world.get("/workflows/lost").await.expect(200), "it runs");
}
