//! The history of instances: variables as they were, migrations, loops, chains of executions.

use model::{Timestamp, Token, TokenTarget};
use serde_json::{Value, json};
use store::{Instances as _, Page, Tokens as _};

use super::world::{BOUND, World, waits_for};

const API: &str = "/elsa/api";
const INSTANCES: &str = "/elsa/api/workflow-instances";

#[tokio::test]
async fn variables_are_shown_as_they_were() {
    let world = World::new().await;
    let definition = json!({"definitionId": "counts", "variables": [
            {"id": "v1", "name": "Count", "typeName": "Int32", "value": 1}],
        "root": {"type": "Elsa.Sequence", "id": "root",
            "variables": [{"id": "w1", "name": "Word", "typeName": "String", "value": "a"}],
            "activities": [
                {"type": "Elsa.Event", "id": "first", "eventName": "go"},
                {"type": "Elsa.SetVariable", "id": "set", "variable": {"id": "v1", "name": "Count"},
                    "value": 2},
                {"type": "Elsa.SetVariable", "id": "word", "variable": {"id": "w1", "name": "Word"},
                    "value": "b"},
                {"type": "Elsa.Event", "id": "second", "eventName": "on"}]}});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let id = world.begin("counts").await;
    let path = format!("{API}/workflow-instances/{id}/state");
    let before = world.get(&path).await.expect(200);
    let container = |word: &str| {
        json!([{"activityInstanceId": format!("{id}:1"), "activityId": "root",
            "activityNodeId": "Workflow1:root", "variables": {"Word": word}}])
    };
    assert_eq!(before["variables"], json!({"Count": 1}));
    let as_of = before["variablesAt"].as_u64().expect("a line");
    assert!(as_of <= before["at"].as_u64().expect("a line"), "{before:?}");
    assert_eq!(before["containers"], container("a"));
    world.post(&format!("{API}/events/go/trigger"), &json!({})).await.expect(200);
    testkit::eventually("it waits again", BOUND, async || {
        let bookmarks = world.get(&format!("{API}/workflow-instances/{id}/bookmarks")).await;
        bookmarks.body["items"][0]["activityId"] == "second"
    })
    .await;
    let after = world.get(&path).await.expect(200);
    assert_eq!(
        (&after["variables"], &after["containers"]),
        (&json!({"Count": 2}), &container("b"))
    );
    let as_of_after = after["variablesAt"].as_u64().expect("a line");
    assert!(as_of < as_of_after, "{as_of} and {as_of_after}");
    let earlier = world.get(&format!("{path}?at={}", as_of_after - 1)).await.expect(200);
    assert!(earlier["variablesAt"].as_u64() < Some(as_of_after), "{}", earlier["variablesAt"]);
    let then = world.get(&format!("{path}?at={}", before["at"])).await.expect(200);
    assert_eq!(then, before);
    for (wrong, status) in [("0", 400), ("1000", 404), ("x", 400)] {
        world.get(&format!("{path}?at={wrong}")).await.problem(status);
    }
}

#[tokio::test]
async fn a_line_shows_what_its_own_version_says() {
    let world = World::new().await;
    let version = |text: &str, name: &str| {
        json!({"definitionId": "moves", "name": "moves", "variables": [
                {"id": name, "name": name, "typeName": "String", "value": text}],
            "root": {"type": "Elsa.Sequence", "id": "root", "activities": [
                {"type": "Elsa.WriteLine", "id": "say", "text": text},
                {"type": "Elsa.Event", "id": "wait", "eventName": "go"},
                {"type": "Elsa.WriteLine", "id": "bye", "text": text}]}})
    };
    let definitions = format!("{API}/workflow-definitions");
    world.post(&definitions, &version("one", "Old")).await.expect(201);
    let id = world.begin("moves").await;
    world.post(&definitions, &version("two", "New")).await.expect(200);
    let alter = json!({"alterations": [{"type": "Migrate", "targetVersion": 2}]});
    world.post(&format!("{INSTANCES}/{id}/alter"), &alter).await.expect(200);
    world.post(&format!("{API}/events/go/trigger"), &json!({})).await.expect(200);
    world.until(&id, "Finished").await;
    let journal = world.get(&format!("{INSTANCES}/{id}/journal")).await.expect(200);
    let lines = journal["items"].as_array().unwrap();
    let of = |activity: &str| {
        let line = lines.iter().find(|line| line["activityId"] == activity).unwrap();
        (line["activityState"]["Text"].clone(), line["workflowVersion"].clone())
    };
    assert_eq!(of("say"), (json!("one"), json!(1)));
    assert_eq!(of("bye"), (json!("two"), json!(2)));
    let migrated = lines.iter().find(|line| line["message"] == "Migrate").unwrap();
    let at = async |sequence: u64| {
        let path = format!("{INSTANCES}/{id}/state?at={sequence}");
        world.get(&path).await.expect(200)["variables"].clone()
    };
    let sequence = migrated["sequence"].as_u64().unwrap();
    assert_eq!(at(sequence - 1).await, json!({"Old": "one"}));
    assert_eq!(at(lines.len() as u64).await, json!({"New": "two"}));
    for wrong in ["0", "-1", "x"] {
        let path = format!("{INSTANCES}/{id}/state?at={wrong}");
        let detail = world.get(&path).await.problem(400);
        assert!(detail.contains("has to be a whole number from 1 on"), "{wrong}: {detail}");
    }
}

#[tokio::test]
async fn an_execution_and_its_link_go_on_under_the_id_that_a_migration_gave() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let token = Token {
        hash: crate::auth::hash_of("link"),
        instance_id: id.as_str().into(),
        target: TokenTarget::Activity("Workflow1:seq:wait".to_owned()),
        created_at: Timestamp::from_millis(1),
        expires_at: world.app.now().after(BOUND),
    };
    world.store.grant(token).await.unwrap();
    let mut renamed = waits_for("go");
    renamed["activities"][0]["id"] = json!("approve");
    world.publish("w", renamed).await;
    let records = async || {
        let path = format!("{API}/activity-executions/list?workflowInstanceId={id}");
        let list = world.get(&path).await.expect(200);
        let items = list["items"].as_array().unwrap().clone();
        let waits = items.into_iter().filter(|item| item["activityType"] == "Elsa.Event");
        let told = ["id", "activityId", "activityNodeId", "status"];
        waits.map(|item| told.map(|member| item[member].clone())).collect::<Vec<_>>()
    };
    let before = records().await;
    let own = before[0][0].clone();
    let record = |activity: &str, status: &str| {
        let path = format!("Workflow1:seq:{activity}");
        vec![[own.clone(), json!(activity), json!(path), json!(status)]]
    };
    assert_eq!(before, record("wait", "Running"));
    let map = json!({"wait": "approve"});
    let to = json!({"alterations": [{"type": "Migrate", "targetVersion": 2, "activities": map}]});
    world.post(&format!("{INSTANCES}/{id}/alter"), &to).await.expect(200);
    assert_eq!(records().await, record("approve", "Running"));
    world.get("/bookmarks/resume?t=link").await.expect(200);
    world.until(&id, "Finished").await;
    assert_eq!(records().await, record("approve", "Completed"));
}

#[tokio::test]
async fn executions_whose_lines_were_folded_are_counted() {
    let world = World::new().await;
    let loops = json!({"type": "Elsa.For", "id": "for", "start": 1, "end": 3000, "step": 1,
        "body": {"type": "Elsa.WriteLine", "id": "say", "text": "x"}});
    world.publish("loops", loops).await;
    let id = world.begin("loops").await;
    world.until(&id, "Finished").await;
    let asked = json!({"workflowInstanceId": id, "activityNodeIds": ["Workflow1:for:say"]});
    let report = world.post(&format!("{API}/activity-executions/report"), &asked).await.expect(200);
    let stats = &report["stats"][0];
    assert_eq!((&stats["startedCount"], &stats["completedCount"]), (&json!(3000), &json!(3000)));
    let list = format!("{API}/activity-executions/list?workflowInstanceId={id}&take=5");
    let list = world.get(&list).await.expect(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 5);
    let all = format!("{API}/activity-execution-summaries/list?workflowInstanceId={id}");
    let all = world.get(&all).await.expect(200);
    let open = all["items"].as_array().unwrap().iter().find(|one| one["status"] != "Completed");
    assert_eq!(open, None, "every execution has ended");
    assert!(list["count"].as_u64().unwrap() < 3000, "only lines that were written have records");
    let of = async |what: &str, node: &str| {
        let node = format!("Workflow1:{node}");
        let path = format!("{API}/{what}?workflowInstanceId={id}&activityNodeId={node}");
        let body = world.get(&path).await.expect(200);
        (body["count"].clone(), body["isCut"] == true)
    };
    for what in ["activity-executions/list", "activity-execution-summaries/list"] {
        assert!(of(what, "for:say").await.1, "{what} says that executions have no record");
        assert_eq!(of(what, "for").await, (json!(1), false), "{what}");
    }
    // The count needs no records.
    let count = async |query: &str| of("activity-executions/count", query).await;
    assert_eq!(count("for:say").await, (json!(3000), false));
    assert_eq!(count("for:say&completed=true").await, (json!(3000), false));
    assert_eq!(count("for:say&completed=false").await, (json!(0), false));
    assert_eq!(count("for").await, (json!(1), false));
}

/// The lines that start and end executions are folded; the lines that they write differ, so each
/// execution has a record.
#[tokio::test]
async fn a_list_in_which_every_execution_has_a_record_lacks_none() {
    let world = World::new().await;
    let loops = json!({"type": "Elsa.For", "id": "for", "start": 1, "end": 900, "step": 1,
        "body": {"type": "Elsa.WriteLine", "id": "say",
            "text": {"js": "getVariable('CurrentValue')"}}});
    world.publish("loops", loops).await;
    let id = world.begin("loops").await;
    world.until(&id, "Finished").await;
    let filter = json!({"filter": {"activityIds": ["say"], "eventNames": ["Completed"]}});
    let ends = world.post(&format!("{INSTANCES}/{id}/journal"), &filter).await.expect(200);
    assert!(
        ends["totalCount"].as_u64().unwrap() < 900,
        "lines were folded: {}",
        ends["totalCount"]
    );
    for what in [
        "activity-executions/list",
        "activity-execution-summaries/list",
        "activity-executions/count",
    ] {
        let path = format!("{API}/{what}?workflowInstanceId={id}&activityId=say");
        let found = world.get(&path).await.expect(200);
        assert_eq!((&found["count"], found.get("isCut")), (&json!(900), None), "{what}");
    }
    // However a part of them is asked for.
    let list = format!("{API}/activity-executions/list?workflowInstanceId={id}&activityId=say");
    for part in ["take=2", "skip=0&take=2", "skip=898", "page=1&pageSize=2", "skip=900"] {
        let found = world.get(&format!("{list}&{part}")).await.expect(200);
        assert_eq!((&found["count"], &found["isCut"]), (&json!(900), &json!(true)), "{part}");
    }
    let whole = world.get(&format!("{list}&skip=0&take=900")).await.expect(200);
    assert_eq!(whole.get("isCut"), None);
}

#[tokio::test]
async fn the_call_stack_goes_on_in_the_instance_that_waits() {
    let world = World::new().await;
    world.publish("child", waits_for("go")).await;
    let root = json!({"type": "Elsa.DispatchWorkflow", "id": "dispatch",
        "workflowDefinitionId": "child", "waitForCompletion": true});
    world.publish("parent", root).await;
    let parent = world.begin("parent").await;
    let mut child = String::new();
    testkit::eventually("the child waits", BOUND, async || {
        let found = world.get(&format!("{API}/workflow-instances?definitionId=child")).await;
        child = found.body["items"][0]["id"].as_str().unwrap_or_default().to_owned();
        found.body["items"][0]["subStatus"] == "Suspended"
    })
    .await;
    let path = |query: &str| format!("{API}/activity-executions/{child}:2/call-stack?{query}");
    let stack = world.get(&path("")).await.expect(200);
    let ids = |stack: &Value| -> Vec<String> {
        let items = stack["items"].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    let expected = [(&parent, 0), (&parent, 1), (&child, 0), (&child, 1), (&child, 2)];
    let expected = expected.map(|(instance, number)| format!("{instance}:{number}"));
    assert_eq!(ids(&stack), expected);
    assert_eq!(stack["items"][2]["schedulingWorkflowInstanceId"], json!(parent));
    assert_eq!(stack["items"][2]["schedulingActivityExecutionId"], json!(format!("{parent}:1")));
    let own = world.get(&path("includeCrossWorkflowChain=False")).await.expect(200);
    assert_eq!(own["totalCount"], 3);

    // It is the same when nobody waits any more.
    world.post(&format!("{API}/events/go/trigger"), &json!({})).await.expect(200);
    testkit::eventually("the parent is over", BOUND, async || {
        let found = world.get(&format!("{API}/workflow-instances/{parent}")).await;
        found.body["subStatus"] == "Finished"
    })
    .await;
    let stack = world.get(&path("")).await.expect(200);
    assert_eq!(ids(&stack), expected);
    assert_eq!(stack["items"][2]["schedulingActivityExecutionId"], json!(format!("{parent}:1")));
}

#[tokio::test]
async fn values_of_variables_that_are_credentials_are_in_no_journal() {
    const HIDDEN: &str = "hunter2-is-kept-by-nobody";
    let world = World::new().await;
    let set = |id: &str, name: &str| {
        json!({"type": "Elsa.SetVariable", "id": format!("set-{id}"),
            "variable": {"id": id, "name": name}, "value": HIDDEN})
    };
    let definition = json!({"definitionId": "credentials", "variables": [
            {"id": "v1", "name": "DbPassword", "typeName": "String", "value": HIDDEN},
            {"id": "v2", "name": "ApiKey", "typeName": "String"},
            {"id": "v3", "name": "Plain", "typeName": "String", "value": "a"}],
        "root": {"type": "Elsa.Sequence", "id": "root",
            "variables": [{"id": "w1", "name": "Secret", "typeName": "String"}],
            "activities": [
                set("v1", "DbPassword"), set("v2", "ApiKey"), set("w1", "Secret"),
                {"type": "Elsa.RunJavaScript", "id": "script", "script": format!("return '{HIDDEN}'"),
                    "result": {"memoryReference": {"id": "v2"}}},
                {"type": "Elsa.SetVariable", "id": "plain", "variable": {"id": "v3", "name": "Plain"},
                    "value": "b"},
                {"type": "Elsa.Event", "id": "wait", "eventName": "go"}]}});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let id = world.begin("credentials").await;
    let path = format!("{INSTANCES}/{id}");
    let state = world.get(&format!("{path}/state")).await.expect(200);
    let expected = json!({"DbPassword": "***", "ApiKey": "***", "Plain": "b"});
    assert_eq!(state["variables"], expected);
    assert_eq!(state["containers"][0]["variables"], json!({"Secret": "***"}));
    let then = world.get(&format!("{path}/state?at=1")).await.expect(200);
    let before = json!({"DbPassword": "***", "ApiKey": null, "Plain": "a"});
    assert_eq!(then["variables"], before);
    let kept = world.store.journal(&id.as_str().into(), Page::new(0, 1_000)).await.unwrap();
    let shown = world.get(&format!("{path}/journal?pageSize=1000")).await.expect(200);
    let records = format!("{API}/activity-executions/list?workflowInstanceId={id}");
    let records = world.get(&records).await.expect(200);
    for text in [json!(kept.items).to_string(), shown.to_string(), records.to_string()] {
        // The script itself is what its author wrote.
        let text = text.replace(&format!("return '{HIDDEN}'"), "");
        assert!(!text.contains(HIDDEN), "{text}");
    }
    // The workflow itself works with the value.
    let now = world.get(&format!("{path}/variables")).await.expect(200);
    assert!(now.to_string().contains(HIDDEN), "{now:#}");
}
