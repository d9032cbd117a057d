//! The activities of definitions, as answers have them.

use serde_json::json;

use super::world::{World, writes_line};

const API: &str = "/elsa/api/workflow-definitions";

#[tokio::test]
async fn activities_in_pascal_case_come_back_as_clients_read_them() {
    let world = World::new().await;
    let data = json!({"Id": 1, "Type": "x"});
    let model = json!({"DefinitionId": "uc", "Root": {"Id": "r", "Type": "Elsa.Sequence",
        "Activities": [{"Id": "w", "Type": "Elsa.PublishEvent", "EventName": "e",
            "Payload": data, "Name": "Says", "CustomProperties": {"Mine": 1}}]}});
    let sent = json!({"Model": model, "Publish": true});
    let saved = world.post(API, &sent).await.expect(201)["workflowDefinition"].clone();
    let expected = json!({"id": "r", "nodeId": "Workflow1:r", "type": "Elsa.Sequence", "version": 1,
        "name": null, "customProperties": {}, "metadata": {}, "activities": [{"id": "w",
            "nodeId": "Workflow1:r:w", "type": "Elsa.PublishEvent", "version": 1, "eventName": "e",
            "payload": data, "name": "Says", "customProperties": {"Mine": 1}, "metadata": {}}]});
    assert_eq!(saved["root"], expected);
    assert_eq!(world.get(&format!("{API}/uc")).await.expect(200)["root"], expected);
    let draft = json!({"definitionId": "draft", "root": {"TYPE": "WriteLine", "ID": "w"}});
    let draft = world.put(&format!("{API}/draft/import"), &draft).await;
    assert_eq!(draft.body["root"]["type"], "WriteLine", "{:#}", draft.body);
    // Saved again as it was answered, it is the same content.
    world.post(API, &json!({"model": saved, "publish": true})).await.expect(200);
    let latest = world.get(&format!("{API}/uc")).await.expect(200);
    assert_eq!((&latest["version"], &latest["id"]), (&json!(1), &saved["id"]));
}

#[tokio::test]
async fn what_answers_add_to_activities_is_not_stored() {
    let world = World::new().await;
    let saved = world.publish("line", writes_line()).await["workflowDefinition"].clone();
    for member in ["nodeId", "version", "name", "customProperties", "metadata"] {
        assert!(saved["root"].get(member).is_some(), "{member} of {saved:#}");
    }
    let exported = world.get(&format!("{API}/line/export")).await.expect(200);
    assert_eq!(exported["root"], writes_line());
    let stored = world.app.cx.store.version(&saved["id"].as_str().unwrap().into()).await.unwrap();
    assert_eq!(stored.unwrap().root, writes_line());
    // A client that saves the whole answer again makes no new version.
    let again = json!({"model": saved, "publish": true});
    let again = world.post(API, &again).await.expect(200);
    assert_eq!(
        (&again["alreadyPublished"], &again["workflowDefinition"]["version"]),
        (&json!(true), &json!(1))
    );
}
