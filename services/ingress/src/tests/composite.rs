//! Workflows that are used as activities: published, pinned, run and deleted.

use serde_json::{Value, json};

use super::world::World;

const API: &str = "/elsa/api/workflow-definitions";

fn child(text: &str) -> Value {
    json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.SetOutput", "id": "o", "outputName": "Out", "outputValue": {"js": format!("'{text} ' + getWho()")}}]})
}

/// As Elsa writes it: with the version of another installation.
fn parent() -> Value {
    json!({"definitionId": "parent", "outputs": [{"type": "String", "name": "Result"}],
        "root": {"type": "Greeting", "id": "g", "version": 5,
            "workflowDefinitionId": "greeting", "workflowDefinitionVersionId": "elsewhere",
            "who": {"typeName": "String", "expression": {"type": "Literal", "value": "Ada"}},
            "out": {"typeName": "String", "memoryReference": {"id": "Result"}}}})
}

fn greeting(text: &str) -> Value {
    json!({"definitionId": "greeting", "name": "Greeting", "root": child(text),
        "inputs": [{"type": "String", "name": "Who"}], "outputs": [{"type": "String", "name": "Out"}],
        "options": {"usableAsActivity": true}})
}

async fn greets(world: &World) -> Value {
    let answer = world.post(&format!("{API}/parent/execute"), &json!({})).await.expect(200);
    answer["workflowState"]["output"]["Result"].clone()
}

#[tokio::test]
async fn a_published_workflow_runs_the_version_that_was_published_when_it_was() {
    let world = World::new().await;
    let lost = world.post(API, &parent()).await.expect(400);
    let errors = lost["validationErrors"].to_string();
    assert!(errors.contains("no workflow greeting, which Greeting is to run"), "{errors}");
    let first = world.post(API, &greeting("Hello")).await.expect(201);
    let published = world.post(API, &parent()).await.expect(201);
    let root = &published["workflowDefinition"]["root"];
    assert_eq!(root["workflowDefinitionVersionId"], first["workflowDefinition"]["id"]);
    assert_eq!(
        (&root["version"], &root["latestAvailablePublishedVersion"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(greets(&world).await, "Hello Ada");

    // The same file again is no change; another version of the child is one.
    let again = world.post(API, &parent()).await.expect(200);
    assert_eq!(again["alreadyPublished"], true);
    let second = world.post(API, &greeting("Good day")).await.expect(200);
    assert_eq!(greets(&world).await, "Hello Ada");
    let again = world.post(API, &parent()).await.expect(200);
    assert_eq!(again["workflowDefinition"]["version"], 2);
    assert_eq!(
        again["workflowDefinition"]["root"]["workflowDefinitionVersionId"],
        second["workflowDefinition"]["id"]
    );
    assert_eq!(greets(&world).await, "Good day Ada");
}

#[tokio::test]
async fn a_workflow_that_others_use_is_not_deleted() {
    let world = World::new().await;
    let first = world.post(API, &greeting("Hello")).await.expect(201);
    world.post(API, &parent()).await.expect(201);
    world.post(API, &greeting("Good day")).await.expect(200);
    let id = first["workflowDefinition"]["id"].as_str().unwrap();
    let expected = "version 1 of workflow definition parent uses it as an activity";
    for path in [format!("{API}/greeting"), format!("/api/workflow-definition-versions/{id}")] {
        let detail = world.delete(&path).await.problem(409);
        assert!(detail.contains(expected), "{detail}");
    }
    assert_eq!(world.delete(&format!("{API}/greeting/version/2")).await.status, 204);
    assert_eq!(world.delete(&format!("{API}/parent")).await.status, 204);
    assert_eq!(world.delete(&format!("{API}/greeting")).await.status, 204);
}

#[tokio::test]
async fn a_workflow_that_was_never_published_is_not_used() {
    let world = World::new().await;
    let draft = json!({"model": greeting("Hello"), "publish": false});
    world.post(API, &draft).await.expect(201);
    let answer = world.post(API, &parent()).await;
    let errors = answer.body["validationErrors"].to_string();
    answer.problem(400);
    let said = "(greeting) is used as an activity and was never published: publish it first";
    assert!(errors.contains("Greeting") && errors.contains(said), "{errors}");
    world.post(&format!("{API}/greeting/publish"), &json!({})).await.expect(200);
    world.post(API, &parent()).await.expect(201);
    assert_eq!(greets(&world).await, "Hello Ada");
}

/// A definition that greets through another one.
fn through(id: &str, used: &str, updates: bool) -> Value {
    let mut definition = parent();
    definition["definitionId"] = json!(id);
    definition["name"] = json!(id);
    definition["options"] = json!({"autoUpdateConsumingWorkflows": updates});
    definition["root"]["workflowDefinitionId"] = json!(used);
    if used != "greeting" {
        definition["root"].as_object_mut().unwrap().remove("who");
        definition["root"]["result"] = json!({"memoryReference": {"id": "Result"}});
    }
    definition
}

#[tokio::test]
async fn a_publication_takes_those_along_that_use_it() {
    let world = World::new().await;
    let greeting = |text: &str, updates: bool| {
        let mut greeting = greeting(text);
        greeting["options"]["autoUpdateConsumingWorkflows"] = json!(updates);
        greeting
    };
    world.post(API, &greeting("Hello", true)).await.expect(201);
    // b uses a and greeting; c uses b, which does not ask for updates; d is a draft.
    world.post(API, &through("a", "greeting", true)).await.expect(201);
    let mut both = through("b", "a", false);
    let (a, direct) = (both["root"].clone(), through("b", "greeting", false)["root"].clone());
    both["root"] = json!({"type": "Elsa.Sequence", "id": "s", "activities": [direct, a]});
    both["root"]["activities"][0]["id"] = json!("direct");
    world.post(API, &both).await.expect(201);
    world.post(API, &through("c", "b", true)).await.expect(201);
    let draft = json!({"model": through("d", "greeting", true), "publish": false});
    world.post(API, &draft).await.expect(201);
    let consumers = world.get(&format!("{API}/greeting/consumers")).await.expect(200);
    let mut ids = consumers["consumingWorkflowDefinitionIds"].as_array().unwrap().clone();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["a", "b", "c", "d"], "c through b");

    let second = world.post(API, &greeting("Good day", true)).await.expect(200);
    assert_eq!(
        (&second["consumingWorkflowCount"], &second["everywhere"]),
        (&json!(2), &json!(true))
    );
    let runs = async |id: &str| {
        let answer = world.post(&format!("{API}/{id}/execute"), &json!({})).await.expect(200);
        answer["workflowState"]["output"]["Result"].clone()
    };
    for (id, greets) in [("a", "Good day Ada"), ("b", "Good day Ada"), ("c", "Hello Ada")] {
        assert_eq!(runs(id).await, greets, "{id}");
    }
    let version =
        async |id: &str| world.get(&format!("{API}/{id}")).await.expect(200)["version"].clone();
    let versions = [version("a").await, version("b").await, version("c").await, version("d").await];
    assert_eq!(versions, [2, 2, 1, 1]);

    // Without the option, they are updated when that is asked for.
    let third = world.post(API, &greeting("Good night", false)).await.expect(200);
    assert_eq!(third["consumingWorkflowCount"], 0);
    assert_eq!(runs("a").await, "Good day Ada");
    let path = format!("{API}/greeting/update-references");
    let updated = world.post(&path, &json!({})).await.expect(200);
    assert_eq!(updated, json!({"affectedWorkflows": ["a", "b"]}));
    assert_eq!(
        (runs("a").await, runs("b").await),
        (json!("Good night Ada"), json!("Good night Ada"))
    );
    assert_eq!(world.post(&path, &json!({})).await.expect(200), json!({"affectedWorkflows": []}));
    world.get(&format!("{API}/nothing/consumers")).await.problem(404);
}

/// Who runs or starts a workflow by its id uses it as well, in whatever form the id is written out.
#[tokio::test]
async fn workflows_that_call_one_are_among_its_users() {
    let world = World::new().await;
    world.post(API, &greeting("Hello")).await.expect(201);
    let input = |kind: &str| json!({"expression": {"type": kind, "value": "greeting"}});
    let (wrapped, computed) = (input("Literal"), input("JavaScript"));
    let calls = [
        ("runs", "Elsa.ExecuteWorkflow", wrapped.clone()),
        ("starts", "Elsa.DispatchWorkflow", json!("greeting")),
        ("many", "Elsa.BulkDispatchWorkflows", wrapped),
        ("other", "Elsa.ExecuteWorkflow", json!("parent")),
        ("computed", "Elsa.ExecuteWorkflow", computed),
    ];
    for (id, activity, child) in calls {
        let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
            {"type": activity, "id": "call", "workflowDefinitionId": child}]});
        let draft = json!({"model": {"definitionId": id, "root": root}, "publish": false});
        world.post(API, &draft).await.expect(201);
    }
    world.post(API, &parent()).await.expect(201);
    let users = world.get(&format!("{API}/greeting/consumers")).await.expect(200);
    assert_eq!(users["consumingWorkflowDefinitionIds"], json!(["parent"]));
    let mut callers = users["callingWorkflowDefinitionIds"].as_array().unwrap().clone();
    callers.sort_by_key(ToString::to_string);
    assert_eq!(callers, ["many", "runs", "starts"]);
}

#[tokio::test]
async fn usable_workflows_are_among_the_activity_types() {
    let world = World::new().await;
    let with = |options: Value| {
        let mut definition = greeting("Hello");
        definition["name"] = json!("my greeting");
        definition["outcomes"] = json!(["Yes", "No"]);
        definition["options"] = options;
        definition
    };
    let find = async || {
        let all = world.get("/api/descriptors/activities").await.expect(200);
        let items = all["items"].as_array().unwrap().clone();
        assert_eq!(all["count"], items.len());
        let found = items.into_iter().filter(|item| item["typeName"] == "MyGreeting");
        found.collect::<Vec<_>>()
    };
    world.post(API, &with(json!({}))).await.expect(201);
    assert_eq!(find().await, Vec::<Value>::new());
    let usable = json!({"usableAsActivity": true, "activityCategory": "Ours"});
    let saved = world.post(API, &with(usable)).await.expect(200);
    let found = find().await;
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (&one["category"], &one["version"], &one["isBrowsable"]),
        (&json!("Ours"), &json!(2), &json!(true))
    );
    assert_eq!(
        (&one["inputs"][0]["name"], &one["outputs"][0]["name"]),
        (&json!("Who"), &json!("Out"))
    );
    assert_eq!((&one["ports"][1]["name"], &one["ports"][2]["name"]), (&json!("Yes"), &json!("No")));
    let properties = &one["customProperties"];
    assert_eq!(properties["WorkflowDefinitionVersionId"], saved["workflowDefinition"]["id"]);
    assert_eq!(&world.get("/api/descriptors/activities/MyGreeting").await.expect(200), one);
    world.get("/api/descriptors/activities/Nothing").await.problem(404);
}

#[tokio::test]
async fn a_publication_that_a_user_of_it_cannot_follow_changes_nothing() {
    let world = World::new().await;
    let greeting = |ty: &str| {
        let mut greeting = greeting("Hello");
        greeting["inputs"][0]["type"] = json!(ty);
        greeting["options"]["autoUpdateConsumingWorkflows"] = json!(true);
        greeting
    };
    world.post(API, &greeting("String")).await.expect(201);
    world.post(API, &parent()).await.expect(201);
    let refused = world.post(API, &greeting("Int32")).await;
    let errors = refused.body["validationErrors"].to_string();
    let detail = refused.problem(400);
    assert!(
        detail.starts_with("workflow definition parent uses it and gets no new version"),
        "{detail}"
    );
    assert!(errors.contains("is not a whole number"), "{errors}");
    let latest = world.get(&format!("{API}/greeting")).await.expect(200);
    assert_eq!((&latest["version"], &latest["inputs"][0]["type"]), (&json!(1), &json!("String")));
    assert_eq!(greets(&world).await, "Hello Ada");
}

/// Those who use it run on, and are told what they use no longer.
#[tokio::test]
async fn a_publication_warns_of_what_its_users_lose() {
    let world = World::new().await;
    let greeting = |input: &str| {
        let mut greeting = greeting("Hello");
        greeting["inputs"][0]["name"] = json!(input);
        greeting["options"]["autoUpdateConsumingWorkflows"] = json!(true);
        greeting
    };
    world.post(API, &greeting("Who")).await.expect(201);
    world.post(API, &parent()).await.expect(201);
    let warned = |body: &Value| {
        let all = body["validationWarnings"].as_array().unwrap().clone();
        let of_parent = all.into_iter().filter(|one| one["definitionId"] == "parent");
        of_parent.map(|one| one["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let together =
        |dry_run: bool| json!({"workflowDefinitions": [greeting("Whom")], "dryRun": dry_run});
    let path = "/elsa/api/bulk-actions/import/workflow-definitions";
    let dry = world.post(path, &together(true)).await.expect(200);
    let expected = "has no input or output who, so that value is ignored";
    let found = warned(&dry["workflowDefinitions"][0]);
    assert!(found.len() == 1 && found[0].contains(expected), "{dry:#}");
    let done = world.post(API, &greeting("Whom")).await.expect(200);
    assert_eq!(warned(&done), found, "{done:#}");
    assert_eq!(done["consumingWorkflowCount"], 1);
}

/// The last of the chain uses the first only through the others, which are not stored yet.
#[tokio::test]
async fn a_publication_takes_a_whole_chain_along() {
    let world = World::new().await;
    let greeting = |text: &str| {
        let mut greeting = greeting(text);
        greeting["options"]["autoUpdateConsumingWorkflows"] = json!(true);
        greeting
    };
    world.post(API, &greeting("Hello")).await.expect(201);
    for (id, used) in [("a", "greeting"), ("b", "a"), ("c", "b")] {
        world.post(API, &through(id, used, true)).await.expect(201);
    }
    let second = world.post(API, &greeting("Good day")).await.expect(200);
    assert_eq!(second["consumingWorkflowCount"], 3);
    let answer = world.post(&format!("{API}/c/execute"), &json!({})).await.expect(200);
    assert_eq!(answer["workflowState"]["output"]["Result"], "Good day Ada");
}

#[tokio::test]
async fn definitions_that_use_each_other_are_published_together() {
    const TOGETHER: &str = "/elsa/api/bulk-actions/import/workflow-definitions";
    let world = World::new().await;
    let send = async |definitions: &[Value]| {
        world.post(TOGETHER, &json!({"workflowDefinitions": definitions})).await
    };
    let both = |text: &str| [parent(), greeting(text)];
    let ids = |answer: &Value| -> Vec<Value> {
        let saved = answer["workflowDefinitions"].as_array().unwrap().iter();
        saved.map(|one| one["workflowDefinition"]["definitionId"].clone()).collect()
    };
    let first = send(&both("Hello")).await.expect(200);
    assert_eq!(ids(&first), ["greeting", "parent"]);
    assert_eq!(first["workflowDefinitions"][1]["everywhere"], true);
    assert_eq!(greets(&world).await, "Hello Ada");

    // The same again is no change; a change of the one that is used takes its user along.
    let again = send(&both("Hello")).await.expect(200);
    let known = |answer: &Value| {
        let saved = answer["workflowDefinitions"].as_array().unwrap().iter();
        saved.map(|one| one["alreadyPublished"] == true).collect::<Vec<_>>()
    };
    assert_eq!(known(&again), [true, true]);
    let second = send(&both("Good day")).await.expect(200);
    assert_eq!(known(&second), [false, false]);
    assert_eq!(greets(&world).await, "Good day Ada");

    // A dry run says what a publication would say, and publishes nothing.
    let dry = async |definitions: &[Value]| {
        let body = json!({"workflowDefinitions": definitions, "dryRun": true});
        world.post(TOGETHER, &body).await
    };
    assert_eq!(known(&dry(&both("Good day")).await.expect(200)), [true, true]);
    assert_eq!(known(&dry(&both("Good evening")).await.expect(200)), [false, false]);
    let mut mistaken = both("Good evening");
    mistaken[1]["root"]["activities"][0]["outputValue"] = json!({"js": "1 +"});
    dry(&mistaken).await.expect(400);
    assert_eq!(greets(&world).await, "Good day Ada");

    // One mistake, and none is published; each error names its definition.
    let mut wrong = both("Good night");
    wrong[0]["root"]["who"]["expression"] = json!({"type": "JavaScript", "value": "1 +"});
    wrong[1]["root"]["activities"][0]["outputValue"] = json!({"js": "1 +"});
    let answer = send(&wrong).await.expect(400);
    let errors = answer["validationErrors"].as_array().unwrap();
    let mut named: Vec<_> = errors.iter().map(|error| error["definitionId"].clone()).collect();
    // The user has its own, and those of what it uses.
    named.dedup();
    assert_eq!(named, ["greeting", "parent"], "{answer}");
    wrong[1] = greeting("Good night");
    send(&wrong).await.expect(400);
    assert_eq!(greets(&world).await, "Good day Ada");
    let used = world.get(&format!("{API}/greeting")).await.expect(200);
    assert_eq!(used["version"], 2);

    // Others that use one of them get a new version if it asks for that.
    world.post(API, &through("other", "greeting", false)).await.expect(201);
    let mut updating = both("Good night");
    updating[1]["options"]["autoUpdateConsumingWorkflows"] = json!(true);
    let third = send(&updating).await.expect(200);
    assert_eq!(third["workflowDefinitions"][1]["consumingWorkflowCount"], 1);
    let answer = world.post(&format!("{API}/other/execute"), &json!({})).await.expect(200);
    assert_eq!(answer["workflowState"]["output"]["Result"], "Good night Ada");

    let detail = send(&[greeting("a"), greeting("b")]).await.problem(400);
    assert!(detail.contains("greeting is there twice"), "{detail}");
    let circle = [through("one", "two", false), through("two", "one", false)];
    let detail = send(&circle).await.problem(400);
    assert!(detail.contains("use each other in a circle: one, two"), "{detail}");
    let detail = send(&[json!({"root": 1}), json!([])]).await.problem(400);
    assert!(detail.starts_with("item 0 of workflowDefinitions: "), "{detail}");
}
