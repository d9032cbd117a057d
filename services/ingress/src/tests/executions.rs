//! What clients read of the history of an instance: each member of an answer, with its type.

use serde_json::{Value, json};

use super::world::{World, waits_for};

const API: &str = "/elsa/api";

/// A workflow that evaluates an input, sets a variable, keeps a password to itself, and waits.
fn order() -> Value {
    json!({"definitionId": "order", "name": "Order", "variables": [
            {"id": "v1", "name": "Count", "typeName": "Int32", "value": 3},
            {"id": "v2", "name": "Pin", "typeName": "String", "value": "pin:1234",
                "storageDriverTypeName": "MemoryStorageDriver"}],
        "root": {"type": "Elsa.Sequence", "id": "root", "name": "Main", "activities": [
            {"type": "Elsa.WriteLine", "id": "say", "name": "Say",
                "customProperties": {"source": "Order.cs:12"},
                "text": {"js": "'count ' + variables.Count"}},
            {"type": "Elsa.SetVariable", "id": "count", "variable": {"id": "v1", "name": "Count"},
                "value": {"js": "variables.Count + 1"}},
            {"type": "Elsa.SetVariable", "id": "pin", "variable": {"id": "v2", "name": "Pin"},
                "value": "pin:4321"},
            {"type": "Elsa.WriteLine", "id": "whisper", "text": {"js": "'x' + variables.Pin.length"}},
            {"type": "Elsa.WriteLine", "id": "quiet",
                "customProperties": {"logPersistenceMode": {"default": "Exclude"}},
                "text": {"js": "'not kept: ' + variables.Count"}},
            {"type": "Elsa.Event", "id": "wait", "eventName": {"js": "'go'"}},
            {"type": "Elsa.Fault", "id": "fault", "code": "E1", "category": "Test",
                "faultType": "Weather", "message": "it rained"}]}})
}

async fn begun(world: &World) -> String {
    let saved = world.post(&format!("{API}/workflow-definitions"), &order()).await.expect(201);
    assert_eq!(saved["validationWarnings"], json!([]), "{saved:#}");
    world.begin("order").await
}

/// Checks each member of an object by its kind.
#[track_caller]
pub(super) fn must_have(object: &Value, members: &[(&str, &str)]) {
    for (name, kind) in members {
        let value = object.get(name);
        let found = match value {
            None => "absent",
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "bool",
            Some(Value::Number(number)) if number.is_u64() => "int",
            Some(Value::Number(_)) => "number",
            Some(Value::String(text)) if model::Timestamp::parse(text).is_ok() => "time",
            Some(Value::String(_)) => "text",
            Some(Value::Array(_)) => "list",
            Some(Value::Object(_)) => "object",
        };
        assert!(kind.split('|').any(|kind| kind == found), "{name} is {found}: {object:#}");
    }
}

const LINE: &[(&str, &str)] = &[
    ("id", "text"),
    ("workflowInstanceId", "text"),
    ("activityInstanceId", "text"),
    ("parentActivityInstanceId", "text|null"),
    ("activityId", "text"),
    ("activityType", "text"),
    ("activityTypeVersion", "int"),
    ("activityName", "text|null"),
    ("nodeId", "text"),
    ("timestamp", "time"),
    ("sequence", "int"),
    ("eventName", "text"),
    ("message", "text|null"),
    ("source", "text|null"),
    ("activityState", "object|null"),
    ("payload", "object|null"),
];

const RECORD: &[(&str, &str)] = &[
    ("id", "text"),
    ("workflowInstanceId", "text"),
    ("activityId", "text"),
    ("activityNodeId", "text"),
    ("activityType", "text"),
    ("activityTypeVersion", "int"),
    ("activityName", "text|null"),
    ("startedAt", "time"),
    ("hasBookmarks", "bool"),
    ("status", "text"),
    ("metadata", "object"),
    ("aggregateFaultCount", "int"),
    ("completedAt", "time|null"),
];

const VALUES: &[(&str, &str)] = &[
    ("activityState", "object"),
    ("payload", "object|null"),
    ("outputs", "object"),
    ("properties", "object"),
    ("exception", "object|null"),
    ("schedulingActivityExecutionId", "text|null"),
    ("schedulingActivityId", "text|null"),
    ("schedulingWorkflowInstanceId", "text|null"),
    ("callStackDepth", "int"),
];

#[tokio::test]
async fn lines_of_the_journal_have_what_studio_reads() {
    let world = World::new().await;
    let id = begun(&world).await;
    let path = format!("{API}/workflow-instances/{id}/journal");
    // As Elsa's client asks: the page is in the query of the POST, and absent members are null.
    let filter = json!({"filter": {"activityIds": null, "activityNodeIds": null,
        "excludedActivityTypes": [], "eventNames": null}});
    let all = world.post(&format!("{path}?skip=0&take=100"), &filter).await.expect(200);
    let lines = all["items"].as_array().unwrap();
    assert_eq!(all["totalCount"], lines.len());
    for line in lines {
        must_have(line, LINE);
    }
    assert!(lines.is_sorted_by_key(|line| line["sequence"].as_u64()));
    let first = &lines[0];
    assert_eq!(
        [&first["activityId"], &first["nodeId"], &first["activityType"], &first["eventName"]],
        ["Workflow1", "Workflow1", "Elsa.Workflow", "Workflow"]
    );
    let of = |activity: &str, event: &str| {
        let is_it = |line: &&Value| line["activityId"] == activity && line["eventName"] == event;
        lines.iter().find(is_it).unwrap_or_else(|| panic!("{event} of {activity} in {lines:#?}"))
    };
    let started = of("say", "Started");
    assert_eq!(started["activityState"], json!({"Text": "count 3"}));
    assert_eq!(started["nodeId"], "Workflow1:root:say");
    assert_eq!(started["source"], "Order.cs:12");
    assert_eq!(started["parentActivityInstanceId"], of("root", "Started")["activityInstanceId"]);
    assert_eq!(of("root", "Started")["parentActivityInstanceId"], first["activityInstanceId"]);
    assert_eq!(of("say", "Completed")["activityState"], json!({"Text": "count 3"}));
    assert_eq!(of("quiet", "Started")["activityState"], json!({}));
    assert_eq!(of("whisper", "Started")["activityState"], json!({}), "it reads a hidden variable");
    assert_eq!(of("pin", "Started")["activityState"], json!({}), "it sets a hidden variable");
    assert_eq!(of("wait", "Started")["activityState"], json!({"EventName": "go"}));
    let text = all.to_string();
    assert!(!text.contains("pin:1234") && !text.contains("pin:4321"), "{all:#}");

    let second = world.post(&format!("{path}?Skip=1&Take=1"), &filter).await.expect(200);
    assert_eq!(second["items"], json!([lines[1]]));
    assert_eq!(second["totalCount"], lines.len());
    // A page on which an execution only ends has its inputs, too.
    let end = of("say", "Completed")["sequence"].as_u64().unwrap();
    let page = world.get(&format!("{path}?skip={}&take=1", end - 1)).await.expect(200);
    assert_eq!(page["items"], json!([of("say", "Completed")]));
    let check = async |filter: Value, expected: usize| {
        let found = world.post(&path, &json!({ "filter": filter })).await.expect(200);
        assert_eq!(found["totalCount"], expected, "{filter}: {found:#}");
    };
    let without = lines.iter().filter(|line| line["activityType"] != "Elsa.Workflow").count();
    check(json!({"excludedActivityTypes": ["Elsa.Workflow"]}), without).await;
    check(json!({"activityNodeIds": ["Workflow1:root:say"]}), 3).await;
    check(json!({"activityIds": ["say"], "eventNames": ["Line"]}), 1).await;
    check(json!({"activityNodeIds": ["say"]}), 0).await;

    let newest = world.get(&format!("{path}/say")).await.expect(200);
    assert_eq!(
        (&newest["eventName"], &newest["activityState"]["Text"]),
        (&json!("Completed"), &json!("count 3"))
    );
    world.get(&format!("{path}/nothing")).await.problem(404);
}

#[tokio::test]
async fn every_execution_has_a_record() {
    let world = World::new().await;
    let id = begun(&world).await;
    let list =
        |query: &str| format!("{API}/activity-executions/list?WorkflowInstanceId={id}{query}");
    let all = world.get(&list("")).await.expect(200);
    let records = all["items"].as_array().unwrap();
    assert_eq!(all["count"], records.len());
    for record in records {
        must_have(record, RECORD);
        must_have(record, VALUES);
    }
    let ids: Vec<_> = records.iter().map(|record| record["activityId"].as_str().unwrap()).collect();
    let expected = ["Workflow1", "root", "say", "count", "pin", "whisper", "quiet", "wait"];
    assert_eq!(ids, expected);
    let statuses: Vec<_> =
        records.iter().map(|record| record["status"].as_str().unwrap()).collect();
    assert_eq!(statuses[..3], ["Running", "Running", "Completed"]);
    assert_eq!(records[3]["activityState"]["Value"], 4);
    assert_eq!(records[7]["hasBookmarks"], true);
    assert_eq!(records[7]["callStackDepth"], 2);
    assert_eq!(records[7]["schedulingActivityExecutionId"], records[1]["id"]);

    let one = world.get(&list("&ActivityNodeId=Workflow1%3Aroot%3Asay")).await.expect(200);
    assert_eq!(one["items"], json!([records[2]]));
    let open = world.get(&list("&Completed=False")).await.expect(200);
    assert_eq!(open["count"], 3, "the workflow, its root and the event: {open:#}");
    let counted = format!("{API}/activity-executions/count?workflowInstanceId={id}&activityId=say");
    assert_eq!(world.get(&counted).await.expect(200), json!({"count": 1}));
    let summaries = format!("{API}/activity-execution-summaries/list?WorkflowInstanceId={id}");
    let summaries = world.get(&summaries).await.expect(200);
    must_have(&summaries["items"][2], RECORD);
    assert!(summaries["items"][2].get("activityState").is_none());

    let say = records[2]["id"].as_str().unwrap();
    let by_id = world.get(&format!("{API}/activity-executions/by-id?id={say}")).await.expect(200);
    assert_eq!(by_id, records[2]);
    assert_eq!(world.get(&format!("{API}/activity-executions/{say}")).await.expect(200), by_id);
    for missing in ["nope", "nope:1", &format!("{id}:99"), "6b1f4f0e7a534c539a5e57a09c48a11e"] {
        world.get(&format!("{API}/activity-executions/{missing}")).await.problem(404);
    }
    world.get(&format!("{API}/activity-executions/list")).await.problem(400);
    let stack = format!(
        "{API}/activity-executions/{say}/call-stack?includeCrossWorkflowChain=True&skip=0&take=100"
    );
    let stack = world.get(&stack).await.expect(200);
    assert_eq!((&stack["activityExecutionId"], &stack["totalCount"]), (&json!(say), &json!(3)));
    assert_eq!(stack["items"], json!([records[0], records[1], records[2]]));

    let asked = json!({"workflowInstanceId": id, "activityNodeIds":
        ["Workflow1:root:wait", "Workflow1:root:fault", "Workflow1:root"]});
    let report = world.post(&format!("{API}/activity-executions/report"), &asked).await.expect(200);
    let stats = |node: &str, id: &str, blocked: bool| {
        json!({"activityId": id, "activityNodeId": node, "startedCount": 1, "completedCount": 0,
            "uncompletedCount": 1, "isBlocked": blocked, "isFaulted": false,
            "aggregateFaultCount": 0, "metadata": {}})
    };
    let expected =
        json!([stats("Workflow1:root", "root", false), stats("Workflow1:root:wait", "wait", true)]);
    assert_eq!(report["stats"], expected);
}

#[tokio::test]
async fn the_record_of_a_loop_has_the_value_of_its_newest_round() {
    let world = World::new().await;
    let wait = json!({"type": "Elsa.Event", "id": "wait", "eventName": "go"});
    let each = json!({"type": "Elsa.ForEach", "id": "each", "items": [1, 2, 3], "body": wait});
    world.publish("each", json!({"type": "Elsa.Sequence", "activities": [each]})).await;
    let id = world.begin("each").await;
    let path = format!("{API}/activity-executions/list?workflowInstanceId={id}");
    let value = async || {
        let records = world.get(&path).await.expect(200);
        let items = records["items"].as_array().unwrap().clone();
        let each = items.iter().find(|record| record["activityId"] == "each").unwrap().clone();
        (each["outputs"]["CurrentValue"].clone(), each["status"].clone())
    };
    for round in 1..=3 {
        let is_there = async || value().await == (json!(round), json!("Running"));
        testkit::eventually("the round", super::world::BOUND, is_there).await;
        world.post(&format!("{API}/events/go/trigger"), &json!({})).await.expect(200);
    }
    world.until(&id, "Finished").await;
    assert_eq!(value().await, (json!(3), json!("Completed")));
}

#[tokio::test]
async fn a_failure_is_in_the_record_and_the_state() {
    let world = World::new().await;
    let id = begun(&world).await;
    world.post(&format!("{API}/events/go/trigger"), &json!({})).await.expect(200);
    world.until(&id, "Faulted").await;
    let list = format!("{API}/activity-executions/list?workflowInstanceId={id}");
    let records = world.get(&list).await.expect(200);
    let records = records["items"].as_array().unwrap();
    let failed = records.last().unwrap();
    assert_eq!((&failed["activityId"], &failed["status"]), (&json!("fault"), &json!("Faulted")));
    let exception = &failed["exception"];
    assert_eq!(exception["message"], "it rained");
    must_have(
        exception,
        &[
            ("type", "text"),
            ("stackTrace", "null"),
            ("innerException", "null"),
            ("metadata", "object"),
        ],
    );
    let faults: Vec<_> = records.iter().map(|record| &record["aggregateFaultCount"]).collect();
    assert_eq!((faults[0], faults[1], faults[2]), (&json!(1), &json!(1), &json!(0)));
    let shown = world.get(&format!("{API}/workflow-instances/{id}")).await.expect(200);
    let incident = &shown["workflowState"]["incidents"][0];
    assert_eq!(&incident["exception"], exception);
    assert_eq!(exception["type"], "E1");
    assert_eq!(exception["metadata"], json!({"code": "E1"}));
    assert_eq!(incident["activityInstanceId"], failed["id"]);
    must_have(
        incident,
        &[
            ("activityId", "text"),
            ("activityNodeId", "text"),
            ("activityType", "text"),
            ("message", "text"),
            ("timestamp", "time"),
        ],
    );
}

#[tokio::test]
async fn an_instance_has_what_studio_reads() {
    let world = World::new().await;
    let id = begun(&world).await;
    let shown = world.get(&format!("{API}/workflow-instances/{id}")).await.expect(200);
    must_have(
        &shown,
        &[
            ("id", "text"),
            ("definitionId", "text"),
            ("definitionVersionId", "text"),
            ("version", "int"),
            ("workflowState", "object"),
            ("status", "text"),
            ("subStatus", "text"),
            ("isExecuting", "bool"),
            ("incidentCount", "int"),
            ("isSystem", "bool"),
            ("createdAt", "time"),
            ("updatedAt", "time"),
            ("finishedAt", "null"),
            ("correlationId", "null"),
            ("name", "null"),
            ("parentWorkflowInstanceId", "null"),
        ],
    );
    let state = &shown["workflowState"];
    must_have(
        state,
        &[
            ("id", "text"),
            ("definitionId", "text"),
            ("definitionVersionId", "text"),
            ("definitionVersion", "int"),
            ("status", "text"),
            ("subStatus", "text"),
            ("bookmarks", "list"),
            ("incidents", "list"),
            ("isSystem", "bool"),
            ("isExecuting", "bool"),
            ("completionCallbacks", "list"),
            ("activityExecutionContexts", "list"),
            ("scheduledActivities", "list"),
            ("executionLogSequence", "int"),
            ("input", "object"),
            ("output", "object"),
            ("properties", "object"),
            ("createdAt", "time"),
            ("updatedAt", "time"),
            ("finishedAt", "null"),
        ],
    );
    must_have(
        &state["bookmarks"][0],
        &[
            ("id", "text"),
            ("name", "text"),
            ("hash", "text"),
            ("payload", "object"),
            ("activityId", "text"),
            ("activityNodeId", "text"),
            ("activityInstanceId", "text"),
            ("createdAt", "time"),
            ("autoBurn", "bool"),
            ("callbackMethodName", "null"),
            ("autoComplete", "bool"),
            ("metadata", "object"),
        ],
    );
    let contexts = state["activityExecutionContexts"].as_array().unwrap();
    for context in contexts {
        must_have(
            context,
            &[
                ("id", "text"),
                ("parentContextId", "text|null"),
                ("scheduledActivityNodeId", "text"),
                ("ownerActivityNodeId", "text|null"),
                ("properties", "object"),
                ("metadata", "object"),
                ("activityState", "object"),
                ("dynamicVariables", "list"),
                ("status", "text"),
                ("isExecuting", "bool"),
                ("faultCount", "int"),
                ("startedAt", "time"),
                ("completedAt", "null"),
                ("callStackDepth", "int"),
            ],
        );
    }
    let outermost = &contexts[0];
    assert_eq!(outermost["parentContextId"], Value::Null);
    assert_eq!(outermost["scheduledActivityNodeId"], "Workflow1");
    assert_eq!(outermost["properties"]["Variables"], json!({"v1": 4}));
    assert_eq!(contexts[1]["parentContextId"], outermost["id"]);
    assert!(!shown.to_string().contains("pin:4321"), "{shown:#}");
}

#[tokio::test]
async fn instances_of_system_definitions_can_be_left_out() {
    let world = World::new().await;
    world.publish("plain", waits_for("go")).await;
    let system = json!({"definitionId": "system", "isSystem": true, "root": waits_for("on")});
    world.post(&format!("{API}/workflow-definitions"), &system).await.expect(201);
    let plain = world.begin("plain").await;
    let own = world.begin("system").await;
    let check = async |is_system: Value, expected: &[&str]| {
        // As Elsa Studio asks.
        let body = json!({"page": 0, "pageSize": 25, "searchTerm": "", "definitionId": null,
            "definitionIds": [], "correlationId": null, "version": null, "hasIncidents": null,
            "isSystem": is_system, "status": null, "statuses": [], "subStatus": null,
            "subStatuses": [], "orderBy": "LastExecuted", "orderDirection": "Ascending",
            "timestampFilters": []});
        let found = world.post(&format!("{API}/workflow-instances"), &body).await.expect(200);
        let ids: Vec<_> = found["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ids, expected, "{is_system}");
        assert_eq!(found["totalCount"], expected.len());
    };
    check(json!(false), &[&plain]).await;
    check(json!(true), &[&own]).await;
    check(Value::Null, &[&plain, &own]).await;
    let shown = world.get(&format!("{API}/workflow-instances/{own}")).await.expect(200);
    assert_eq!(shown["isSystem"], true);
}
