//! The activities of definitions, as answers have them.

use serde_json::{Value, json};

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

#[tokio::test]
async fn the_variable_that_an_activity_sets_is_read_in_any_case() {
    let world = World::new().await;
    let read = json!({"TypeName": "Int32",
        "Expression": {"Type": "Variable", "Value": {"Id": "v", "Name": "V"}}});
    let root = json!({"Id": "s", "Type": "Elsa.Sequence", "Activities": [
        {"Id": "set", "Type": "Elsa.SetVariable",
            "Variable": {"Id": "v", "Name": "V", "TypeName": "Int32", "Value": null},
            "Value": {"TypeName": "Int32", "Expression": {"Type": "Literal", "Value": 4}}},
        {"Id": "o", "Type": "Elsa.SetOutput", "OutputName": "Out", "OutputValue": read}]});
    let model = json!({"DefinitionId": "set", "Root": root,
        "Variables": [{"Id": "v", "Name": "V", "TypeName": "Int32"}],
        "Outputs": [{"Name": "Out", "Type": "Int32"}]});
    let saved = world.post(API, &json!({"Model": model, "Publish": true})).await.expect(201);
    let activities = &saved["workflowDefinition"]["root"]["activities"];
    let variable = json!({"id": "v", "name": "V", "typeName": "Int32", "value": null});
    assert_eq!(activities[0]["variable"], variable);
    let named = &activities[1]["outputValue"]["expression"]["value"];
    assert_eq!(*named, json!({"id": "v", "name": "V"}));
    let ran = world.post(&format!("{API}/set/execute"), &json!({})).await.expect(200);
    assert_eq!(ran["workflowState"]["output"]["Out"], 4, "{ran:#}");
}

#[tokio::test]
async fn members_whose_names_differ_in_case_only_are_not_published() {
    let world = World::new().await;
    let refused = async |root: Value| {
        let answer = world.post(API, &json!({"definitionId": "twice", "root": root})).await;
        let errors = answer.body["validationErrors"].as_array().cloned().unwrap_or_default();
        answer.problem(400);
        let told = errors.iter().map(|one| {
            let message = one["message"].as_str().unwrap();
            let (first, _) = message.split_once(" once more").unwrap_or((message, ""));
            json!([one["activityId"], one["property"], first])
        });
        told.collect::<Value>()
    };
    let line = json!({"type": "Elsa.WriteLine", "id": "w", "text": "a", "Type": "Elsa.If",
        "TEXT": "b", "Other": 1, "other": 2});
    let expected = json!([["w", "TEXT", "this is \"text\""], ["w", "Type", "this is \"type\""]]);
    assert_eq!(refused(line).await, expected);
    // The inputs of a workflow have any names, such as that of a member of all activities.
    let child = json!({"definitionId": "child", "root": writes_line(), "inputs":
        [{"name": "Name", "type": "String"}, {"name": "Amount", "type": "Int32"}]});
    world.post(API, &child).await.expect(201);
    let child = |more: Value| {
        let mut root = json!({"type": "Child", "id": "c", "workflowDefinitionId": "child",
            "name": "c1", "Name": "Ada"});
        root.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        root
    };
    world.publish("parent", child(json!({}))).await;
    let id = refused(child(json!({"Id": "d"}))).await;
    assert_eq!(id, json!([["c", "Id", "this is \"id\""]]));
    let amount = refused(child(json!({"Amount": 1, "amount": 2}))).await;
    assert_eq!(amount, json!([["c", "amount", "this is \"Amount\""]]));
}

#[tokio::test]
async fn exports_have_the_node_ids_of_other_answers() {
    let world = World::new().await;
    let root = |node_id: &str| {
        json!({"type": "Elsa.Sequence", "activities": [
            {"type": "Elsa.WriteLine", "id": "w", "nodeId": node_id, "text": "hello"},
            {"type": "Elsa.PublishEvent", "id": "e", "eventName": "e",
                "payload": {"type": "t", "id": "w", "nodeId": ":w"}}]})
    };
    world.publish("line", root("Workflow1::w")).await;
    let shown = world.get(&format!("{API}/line")).await;
    let place = shown.body["root"]["activities"][0]["nodeId"].as_str().unwrap();
    assert_eq!(place, "Workflow1:Sequence1:w");
    let named = json!({"definitionIds": ["line"]});
    for exported in [
        world.get(&format!("{API}/line/export")).await,
        world.post(&format!("{API}/line/export"), &json!({})).await,
        world.post("/elsa/api/bulk-actions/export/workflow-definitions", &named).await,
    ] {
        assert_eq!(exported.header("etag"), shown.header("etag"));
        // The others have none, as before, and data stays.
        assert_eq!(exported.expect(200)["root"], root(place));
    }
    // Either is the same content.
    for node_id in ["Workflow1::w", place] {
        let again = json!({"definitionId": "line", "name": "line", "root": root(node_id)});
        let again = world.post(&format!("{API}/import?publish=true"), &again).await.expect(200);
        assert_eq!((&again["alreadyPublished"], &again["version"]), (&json!(true), &json!(1)));
    }
}
