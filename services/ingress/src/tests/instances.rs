use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chassis::Clock as _;
use serde_json::{Value, json};
use store::memory::{MemoryStore, Operation};

use super::world::{BOUND, World, waits_for, writes_line};
use crate::Config;

const LIST: &str = "/elsa/api/workflow-instances";

#[tokio::test]
async fn instances_are_listed_by_filter_with_get_and_post() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    world.begin("line").await;
    let waiting = world.begin("waits").await;
    let check = async |query: &str, body: Value, expected: u64| {
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

/// Elsa Studio sends the page of a POST in the query.
#[tokio::test]
async fn a_post_with_the_query_of_a_list_starts_nothing() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    world.publish("waits", waits_for("go")).await;
    for definition in ["line", "line", "waits"] {
        world.begin(definition).await;
    }
    let of_line = json!({"definitionId": "line"});
    let page = world.post(&format!("{LIST}?page=0&pageSize=1"), &of_line).await.expect(200);
    assert_eq!((&page["totalCount"], page["items"].as_array().unwrap().len()), (&json!(2), 1));
    for query in ["Take=5", "skip=0", "OrderBy=Name", "orderDirection=Ascending", "IsSystem=False"]
    {
        let list = world.post(&format!("{LIST}?{query}"), &of_line).await.expect(200);
        assert_eq!(list["totalCount"], 2, "{query}: {list}");
    }
    // What the query names is read instead of what the body says.
    let body = json!({"status": "Finished", "subStatus": "Finished", "definitionId": "line"});
    for (query, expected) in [
        ("page=0", 2),
        ("page=0&status=Running", 0),
        ("definitionId=waits&status=Running&subStatuses=Suspended", 1),
        ("definitionIds=waits", 2),
        ("searchTerm=wait", 0),
    ] {
        for path in [LIST.to_owned(), format!("{LIST}/query")] {
            let list = world.post(&format!("{path}?{query}"), &body).await.expect(200);
            assert_eq!(list["totalCount"], expected, "{path}?{query}: {list}");
        }
    }
    let detail = world.post(&format!("{LIST}?bogus=1"), &of_line).await.problem(400);
    assert!(detail.contains("no query parameter \"bogus\""), "{detail}");
    let mixed = json!({"definitionId": "line", "input": {"a": 1}});
    let detail = world.post(&format!("{LIST}?page=0"), &mixed).await.problem(400);
    assert!(detail.contains("mixes a start with a list"), "{detail}");
    let detail = world.post(&format!("{LIST}?page=0&bogus=1"), &of_line).await.problem(400);
    assert!(detail.contains("no query parameter \"bogus\""), "{detail}");
    assert_eq!(world.get(LIST).await.expect(200)["totalCount"], 3, "nothing was started");
    let started = world.post(&format!("{LIST}/start"), &of_line).await.expect(200);
    assert!(started["workflowInstanceId"].is_string(), "{started}");
}

#[tokio::test]
async fn a_page_of_none_has_the_total_alone() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let id = world.begin("line").await;
    let definitions = "/elsa/api/workflow-definitions";
    for list in [LIST.to_owned(), format!("{LIST}/{id}/journal"), definitions.to_owned()] {
        let all = world.get(&list).await.expect(200);
        assert_ne!(all["totalCount"], 0, "{list}");
        for query in ["pageSize=0", "take=0", "page=3&pageSize=0"] {
            let none = world.get(&format!("{list}?{query}")).await.expect(200);
            let expected = (&json!([]), &all["totalCount"]);
            assert_eq!((&none["items"], &none["totalCount"]), expected, "{list}?{query}");
        }
    }
    for list in ["activity-executions", "activity-execution-summaries"] {
        let list = format!("/elsa/api/{list}/list?workflowInstanceId={id}");
        let all = world.get(&list).await.expect(200);
        let total = all["items"].as_array().unwrap().len();
        assert_ne!(total, 0, "{list}");
        for query in ["&pageSize=0", "&take=0", "&take=1", ""] {
            let page = world.get(&format!("{list}{query}")).await.expect(200);
            let said = (&page["totalCount"], &page["count"]);
            assert_eq!(said, (&json!(total), &json!(total)), "{list}{query}");
        }
        let none = world.get(&format!("{list}&pageSize=0")).await.expect(200);
        assert_eq!(none["items"], json!([]), "{list}");
    }
    let posted = world.post(LIST, &json!({"pageSize": 0})).await.expect(200);
    assert_eq!((&posted["items"], &posted["totalCount"]), (&json!([]), &json!(1)));
    let versions = world.get(&format!("{definitions}/line/versions?pageSize=0")).await;
    assert_eq!((versions.header("link"), &versions.body), (None, &json!([])));
}

#[tokio::test]
async fn a_token_in_a_query_is_for_the_hub_alone() {
    let world = World::without_executor(Config::default()).await;
    let detail = world.get(&format!("{LIST}?access_token=x")).await.problem(400);
    let advice = detail.split("use ").nth(1).unwrap();
    assert!(advice.contains("pageSize") && !advice.contains("access_token"), "{detail}");
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
    let waiting = world.begin("waits").await;
    let ids = json!({"ids": [waiting, "nope", waiting]});
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

/// A database that has room for so many removals more.
struct Crowded {
    room: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl store::memory::Faults for Crowded {
    async fn before(&self, operation: Operation) -> Result<(), store::Error> {
        if operation != Operation::DeleteInstance {
            return Ok(());
        }
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let one_less = |room: usize| room.checked_sub(1);
        match self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Ok(_) => Ok(()),
            Err(_) => Err(store::Error::Overloaded("injected fault".to_owned())),
        }
    }
}

/// Few removals are under way together, and what was removed is said although the database has no room
/// for the rest.
#[tokio::test]
async fn removals_that_end_early_say_what_was_removed() {
    let bulk = "/elsa/api/bulk-actions/delete/workflow-instances";
    let by_filter = format!("{bulk}/by-filter");
    let crowded = Arc::new(Crowded {
        room: AtomicUsize::new(7),
        under_way: AtomicUsize::default(),
        most: AtomicUsize::default(),
    });
    let store = MemoryStore::new(Arc::new(|| chassis::SystemClock.now()));
    let store = store.with_faults(Arc::clone(&crowded) as _);
    let config = Config { removals_at_once: 2, ..Config::default() };
    let world = World::over(config, Arc::new(store)).await;
    world.start_executor().await;
    world.publish("line", writes_line()).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(world.begin("line").await);
    }
    for id in &ids {
        world.until(id, "Finished").await;
    }
    let filter = json!({"definitionIds": ["line"]});
    let got = world.post(&by_filter, &filter).await.expect(200);
    assert_eq!((&got["deleted"], &got["remaining"]), (&json!(7), &json!(13)), "{got:#}");
    let why = got["stoppedBy"].as_str().unwrap();
    assert!(why.contains("the database has too much to do"), "{why}");
    assert_eq!(crowded.most.load(Ordering::SeqCst), 2);
    let detail = world.post(&by_filter, &filter).await.problem(503);
    assert!(detail.contains("the database has too much to do"), "{detail}");

    crowded.room.store(3, Ordering::SeqCst);
    let answer = world.post(bulk, &json!({ "ids": ids })).await;
    assert_eq!((answer.status.as_u16(), &answer.body["deleted"]), (503, &json!(3)));
    assert!(answer.problem(503).starts_with("3 of 20 instances are removed: the database"));
    crowded.room.store(100, Ordering::SeqCst);
    let got = world.post(&by_filter, &filter).await.expect(200);
    assert_eq!(got, json!({"deleted": 10, "remaining": 0}));
}

/// As on Elsa. The description says it, and how they are selected.
#[tokio::test]
async fn children_of_a_removed_instance_stay_and_a_filter_selects_them() {
    let by_filter = "/bulk-actions/delete/workflow-instances/by-filter";
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let root = json!({"type": "Elsa.DispatchWorkflow", "id": "child",
        "workflowDefinitionId": "waits", "waitForCompletion": true});
    world.publish("parent", root).await;
    for is_filtered in [false, true] {
        let parent = world.begin("parent").await;
        let children = format!("{LIST}?parentWorkflowInstanceId={parent}&subStatus=Suspended");
        let count = async || world.get(&children).await.body["totalCount"].clone();
        testkit::eventually("the child waits", BOUND, async || count().await == 1).await;
        let remove =
            async |filter: Value| world.post(&format!("/elsa/api{by_filter}"), &filter).await;
        match is_filtered {
            true => drop(remove(json!({"workflowInstanceIds": [parent]})).await.expect(200)),
            false => assert_eq!(world.delete(&format!("{LIST}/{parent}")).await.status, 204),
        }
        world.get(&format!("{LIST}/{parent}")).await.problem(404);
        assert_eq!(count().await, 1);
        let got = remove(json!({"parentWorkflowInstanceIds": [parent]})).await.expect(200);
        assert_eq!(got, json!({"deleted": 1, "remaining": 0}));
        assert_eq!(count().await, 0);
    }
    let document = &super::answers::CONTRACT.document["paths"];
    for (path, method) in [(by_filter, "post"), ("/workflow-instances/{id}", "delete")] {
        let operation = &document[format!("/elsa/api{path}")][method];
        let said = format!("{} {}", operation["summary"], operation["description"]);
        assert!(said.contains("stay"), "{path}: {said}");
        assert!(said.contains("parentWorkflowInstanceIds"), "{path}: {said}");
    }
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
    let of = |counts: &Value, state: &str| {
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

#[tokio::test(start_paused = true)]
async fn what_runs_is_counted_by_definition() {
    let world = World::new().await;
    let path = format!("{LIST}/counts/by-definition");
    let nothing = world.get(&path).await.expect(200);
    assert_eq!((&nothing["items"], &nothing["totalCount"]), (&json!([]), &json!(0)));
    world.publish("line", writes_line()).await;
    for (id, count) in [("few", 1), ("many", 2)] {
        world.publish(id, waits_for(id)).await;
        for _ in 0..count {
            let instance = world.begin(id).await;
            world.until(&instance, "Suspended").await;
        }
    }
    let ended = world.begin("line").await;
    world.until(&ended, "Finished").await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    let counts = world.get(&path).await.expect(200);
    let of = |id: &str, count: u64| json!({"definitionId": id, "pending": 0, "executing": 0, "suspended": count, "count": count});
    assert_eq!(counts["items"], json!([of("many", 2), of("few", 1)]), "{counts:#}");
    assert_eq!(
        (&counts["totalCount"], &counts["isCutShort"], &counts["countedMax"]),
        (&json!(2), &json!(false), &json!(5_000))
    );
    let refused = world.get(&format!("{path}?definitionId=few")).await.problem(400);
    assert!(refused.contains("definitionId"), "{refused}");
}
