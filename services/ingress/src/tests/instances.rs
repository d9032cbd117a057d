use std::time::Duration;

use serde_json::json;

use super::world::{World, waits_for, writes_line};

const LIST: &str = "/elsa/api/workflow-instances";

#[tokio::test]
async fn instances_are_listed_by_filter_with_get_and_post() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    world.begin("line").await;
    let waiting = world.begin("waits").await;
    let check = async |query: &str, body: serde_json::Value, expected: u64| {
        let got = world.get(&format!("{LIST}?{query}")).await.expect(200);
        assert_eq!(got["totalCount"], expected, "{query}");
        let posted = world.post(LIST, &body).await.expect(200);
        assert_eq!(posted["totalCount"], expected, "{body}");
    };
    check("", json!({}), 2).await;
    check("status=Running", json!({"status": "Running"}), 1).await;
    check("subStatus=Finished", json!({"subStatuses": ["Finished"]}), 1).await;
    check(
        "status=Finished&subStatus=Suspended",
        json!({"status": "Finished", "subStatus": "Suspended"}),
        0,
    )
    .await;
    check("definitionId=waits", json!({"page": 0, "definitionId": "waits"}), 1).await;
    check("definitionIds=waits,line", json!({"definitionIds": ["waits", "line"]}), 2).await;
    check("searchTerm=wai", json!({"searchTerm": "wai"}), 1).await;
    check("hasIncidents=true", json!({"hasIncidents": true}), 0).await;
    let since = |operator: &str| {
        json!({"timestampFilters": [
        {"column": "CreatedAt", "operator": operator, "timestamp": "2020-01-01T00:00:00Z"}]})
    };
    assert_eq!(world.post(LIST, &since("GreaterThan")).await.expect(200)["totalCount"], 2);
    assert_eq!(world.post(LIST, &since("LessThan")).await.expect(200)["totalCount"], 0);
    let page = world
        .post(
            LIST,
            &json!({"page": 1, "pageSize": 1, "orderBy": "Created", "orderDirection": "Ascending"}),
        )
        .await;
    let page = page.expect(200);
    assert_eq!(page["items"][0]["id"], json!(waiting));
    assert_eq!(page["items"][0]["status"], "Running");
    assert_eq!(page["items"][0]["incidentCount"], 0);
}

#[tokio::test]
async fn an_instance_shows_its_state_journal_variables_and_bookmarks() {
    let world = World::new().await;
    let definition = json!({"definitionId": "v", "root": waits_for("go"),
        "variables": [{"id": "v1", "name": "Count", "typeName": "Int32", "value": 3}]});
    world.post("/elsa/api/workflow-definitions", &definition).await.expect(201);
    let id = world.begin("v").await;
    let shown = world.get(&format!("{LIST}/{id}")).await.expect(200);
    assert_eq!(shown["workflowState"]["variables"]["Count"], 3);
    assert_eq!(shown["definitionVersionId"], shown["workflowState"]["definitionVersionId"]);
    let state = world.get(&format!("{LIST}/{id}/execution-state")).await.expect(200);
    assert_eq!((&state["status"], &state["subStatus"]), (&json!("Running"), &json!("Suspended")));
    let variables = world.get(&format!("{LIST}/{id}/variables")).await.expect(200);
    assert_eq!(variables["items"], json!([{"id": "v1", "name": "Count", "value": 3}]));
    let bookmarks = world.get(&format!("{LIST}/{id}/bookmarks")).await.expect(200);
    assert_eq!(bookmarks["items"][0]["activityId"], "wait");
    let journal = world.get(&format!("{LIST}/{id}/journal?take=2")).await.expect(200);
    assert_eq!(journal["items"].as_array().unwrap().len(), 2);
    assert_eq!(journal["items"][0]["workflowInstanceId"], json!(id));
    let filter = json!({"filter": {"activityIds": ["wait"], "eventNames": ["Suspended"]}});
    let filtered = world.post(&format!("{LIST}/{id}/journal"), &filter).await.expect(200);
    assert_eq!(filtered["totalCount"], 1, "{filtered:#}");
    for path in ["", "/execution-state", "/journal", "/variables", "/bookmarks"] {
        world.get(&format!("{LIST}/nope{path}")).await.problem(404);
    }
}

#[tokio::test]
async fn a_removed_instance_is_cancelled_and_gone() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    assert_eq!(world.delete(&format!("{LIST}/{id}")).await.status, 204);
    world.get(&format!("{LIST}/{id}")).await.problem(404);
    world.delete(&format!("{LIST}/{id}")).await.problem(404);
    let ids = json!({"ids": [world.begin("waits").await, "nope"]});
    let bulk = "/elsa/api/bulk-actions/delete/workflow-instances";
    assert_eq!(world.post(bulk, &ids).await.expect(200)["deleted"], 1);
}

/// The oldest 250 of those that a filter selects go in one call, also those that wait; the rest is counted.
#[tokio::test]
async fn instances_are_removed_by_a_filter_some_at_a_time() {
    let by_filter = "/elsa/api/bulk-actions/delete/workflow-instances/by-filter";
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    let kept = world.begin("line").await;
    let waiting = world.begin("waits").await;
    world.until(&waiting, "Suspended").await;
    let filter = json!({"definitionIds": ["waits"]});
    let got = world.post(by_filter, &filter).await.expect(200);
    assert_eq!(got, json!({"deleted": 1, "remaining": 0}));
    world.get(&format!("{LIST}/{waiting}")).await.problem(404);

    let mut newest = String::new();
    for _ in 0..252 {
        newest = world.begin("waits").await;
    }
    let got = world.post(by_filter, &filter).await.expect(200);
    assert_eq!(got, json!({"deleted": 250, "remaining": 2}));
    world.get(&format!("{LIST}/{newest}")).await.expect(200);
    let got = world.post(by_filter, &filter).await.expect(200);
    assert_eq!(got, json!({"deleted": 2, "remaining": 0}));

    let nothing = world.post(by_filter, &json!({})).await.expect(200);
    assert_eq!(nothing, json!({"deleted": 0, "remaining": 0}));
    let reads = json!({"activityFilters": [{"activityId": "line"}]});
    let detail = world.post(by_filter, &reads).await.problem(400);
    assert!(detail.contains("activityFilters"), "{detail}");
    world.post(by_filter, &json!({"definitionId": "line"})).await.problem(400);
    world.get(&format!("{LIST}/{kept}")).await.expect(200);
}

#[tokio::test]
async fn a_list_is_paged_by_a_cursor() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    for _ in 0..7 {
        world.begin("line").await;
    }
    let list = "/elsa/api/workflow-instances?pageSize=3";
    let whole = world.get("/elsa/api/workflow-instances").await.expect(200);
    let order: Vec<_> = whole["items"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(whole["nextCursor"], json!(null));
    let mut found = Vec::new();
    let mut page = world.get(list).await.expect(200);
    loop {
        found.extend(page["items"].as_array().unwrap().iter().map(|one| one["id"].clone()));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        // One that comes meanwhile does not move the others.
        world.begin("line").await;
        page = world.get(&format!("{list}&cursor={cursor}")).await.expect(200);
    }
    assert_eq!(found.iter().collect::<Vec<_>>(), order);
    let first = world.get(list).await.expect(200);
    let whole = world.get("/elsa/api/workflow-instances").await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let by_post = json!({"pageSize": 3, "cursor": cursor});
    let second = world.post("/elsa/api/workflow-instances/query", &by_post).await.expect(200);
    assert_eq!(second["items"][0]["id"], whole["items"][3]["id"]);
    for bad in [
        "cursor=x".to_owned(),
        format!("cursor={cursor}&page=1"),
        format!("cursor={cursor}&orderBy=Name"),
    ] {
        world.get(&format!("{list}&{bad}")).await.problem(400);
    }
}

#[tokio::test]
async fn instances_are_counted_by_state_and_found_by_parent() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    world.publish("line", writes_line()).await;
    let root = json!({"type": "Elsa.DispatchWorkflow", "id": "child",
        "workflowDefinitionId": "line", "waitForCompletion": true});
    world.publish("parent", root).await;
    world.begin("waits").await;
    let parent = world.begin("parent").await;
    world.until(&parent, "Finished").await;
    let counts = world.get("/elsa/api/workflow-instances/counts").await.expect(200);
    let of = |counts: &serde_json::Value, state: &str| {
        let all = counts["counts"].as_array().unwrap();
        all.iter().find(|one| one["subStatus"] == state).unwrap()["count"].as_u64().unwrap()
    };
    assert_eq!(
        (of(&counts, "Suspended"), of(&counts, "Finished"), of(&counts, "Faulted")),
        (1, 2, 0)
    );
    assert_eq!((&counts["totalCount"], &counts["withIncidents"]), (&json!(3), &json!(0)));
    assert_eq!(counts["isCutShort"], false);
    let filter = json!({"definitionIds": ["waits", "line"], "status": "Running"});
    let counts = world.post("/elsa/api/workflow-instances/counts", &filter).await.expect(200);
    assert_eq!((of(&counts, "Suspended"), of(&counts, "Finished")), (1, 0));
    let children = format!("/elsa/api/workflow-instances?parentWorkflowInstanceId={parent}");
    let children = world.get(&children).await.expect(200);
    assert_eq!(children["totalCount"], 1, "{children:#}");
    assert_eq!(children["items"][0]["definitionId"], "line");
    let none = world.get("/elsa/api/workflow-instances/counts?subStatus=Interrupted").await;
    assert_eq!(none.expect(200)["totalCount"], 0);
    world.get("/elsa/api/workflow-instances/counts?subStatus=Odd").await.problem(400);
}

#[tokio::test(start_paused = true)]
async fn the_last_hour_is_counted_in_parts() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    let fails = json!({"type": "Elsa.Fault", "id": "fails", "code": "Declined", "message": "no"});
    world.publish("fails", fails).await;
    let line = world.begin("line").await;
    world.until(&line, "Finished").await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    world.begin("waits").await;
    let failed = world.begin("fails").await;
    world.until(&failed, "Faulted").await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let hour = async || {
        let hour = world.get(&format!("{LIST}/last-hour")).await.expect(200);
        let parts = |name: &str| -> Vec<u64> {
            let parts = serde_json::from_value(hour[name].clone()).unwrap();
            assert_eq!(hour["isCutShort"], json!(false), "{hour}");
            parts
        };
        ["started", "finished", "faulted"].map(parts)
    };
    // Ten and a half minutes ago, and half a minute ago.
    let [mut started, mut finished, mut faulted] = [[0; 12]; 3];
    (started[9], started[11], finished[9], faulted[11]) = (1, 2, 1, 1);
    assert_eq!(hour().await, [started, finished, faulted]);
    world.begin("waits").await;
    assert_eq!(hour().await[0], started, "counted once in 15 seconds");
    tokio::time::sleep(Duration::from_secs(16)).await;
    started[11] = 3;
    assert_eq!(hour().await[0], started);
}
