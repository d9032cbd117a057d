use serde_json::{Value, json};
use store::Instances as _;

use super::world::{BOUND, World, waits_for};

const API: &str = "/elsa/api";
const INSTANCES: &str = "/elsa/api/workflow-instances";

fn fails() -> Value {
    json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.If", "id": "check",
            "condition": {"js": "if (!variables.Good) throw new Error('bad'); return true"},
            "then": {"type": "Elsa.WriteLine", "id": "good", "text": "good"}}]})
}

pub(super) async fn publish_with_variable(world: &World, id: &str, root: Value) {
    let definition = json!({"definitionId": id, "name": id, "root": root,
        "variables": [{"id": "good", "name": "Good", "typeName": "Boolean", "value": false}]});
    let answer = world.post(&format!("{API}/workflow-definitions"), &definition).await;
    assert!(answer.status.is_success(), "{:#}", answer.body);
}

async fn status(world: &World, id: &str) -> Value {
    world.get(&format!("{INSTANCES}/{id}/execution-state")).await.expect(200)["subStatus"].clone()
}

async fn journal(world: &World, id: &str) -> Vec<String> {
    let journal = world.get(&format!("{INSTANCES}/{id}/journal")).await.expect(200);
    let items = journal["items"].as_array().unwrap().clone();
    let altered = items.iter().filter(|item| item["eventName"] == "Altered");
    altered.map(|item| item["message"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_faulted_instance_is_corrected_and_retried() {
    let world = World::new().await;
    publish_with_variable(&world, "f", fails()).await;
    let id = world.begin("f").await;
    assert_eq!(status(&world, &id).await, "Faulted");
    let retry = json!({"workflowInstanceIds": [id, "nope"]});
    let got = world.post(&format!("{API}/alterations/workflows/retry"), &retry).await.expect(200);
    let results = got["results"].as_array().unwrap();
    assert_eq!(
        (&results[0]["isSuccessful"], &results[1]["isSuccessful"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(status(&world, &id).await, "Faulted", "it is as bad as before");
    let values = json!({"variables": [{"id": "good", "value": true}]});
    let set = world.post(&format!("{INSTANCES}/{id}/variables"), &values).await.expect(200);
    assert_eq!(set["items"], json!([{"id": "good", "name": "Good", "value": true}]));
    let run = json!({"workflowInstanceIds": [id], "alterations": [{"type": "Retry"}]});
    let got = world.post(&format!("{API}/alterations/run"), &run).await.expect(200);
    assert_eq!(got["results"][0]["isSuccessful"], true, "{got:#}");
    assert_eq!(status(&world, &id).await, "Finished");
    assert_eq!(journal(&world, &id).await, ["Retry", "ModifyVariable", "Retry"]);
    let again = json!({"alterations": [{"type": "Retry"}]});
    let detail = world.post(&format!("{INSTANCES}/{id}/alter"), &again).await.problem(409);
    assert!(detail.contains("restart it instead"), "{detail}");
    let audit = world.get(&format!("{API}/audit")).await.expect(200);
    let entries = audit["items"].as_array().unwrap();
    let altered = entries.iter().filter(|entry| entry["what"] == "instance.alter");
    let ends: Vec<_> = altered.map(|entry| &entry["outcome"]).collect();
    assert_eq!(ends, ["refused", "done", "done", "done"], "{audit:#}");
}

#[tokio::test]
async fn what_cannot_be_read_or_does_not_fit_is_refused() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let alter = format!("{INSTANCES}/{id}/alter");
    for body in [
        json!({}),
        json!({"alterations": []}),
        json!({"alterations": [{"type": "Nothing"}]}),
        json!({"alterations": [{"type": "Migrate"}]}),
        json!({"alterations": [{"type": "Unpause"}], "more": 1}),
    ] {
        world.post(&alter, &body).await.problem(400);
    }
    let unfit = json!({"alterations": [{"type": "Migrate", "targetVersion": 7}]});
    assert!(world.post(&alter, &unfit).await.problem(409).contains("has no version 7"));
    let unfit =
        json!({"alterations": [{"type": "CancelActivity", "activityId": "done"}], "dryRun": true});
    let dry = world.post(&alter, &unfit).await.expect(200);
    assert_eq!(dry["fits"], false, "{dry:#}");
    let nope = format!("{INSTANCES}/nope/alter");
    world.post(&nope, &json!({"alterations": [{"type": "Unpause"}]})).await.problem(404);
}

#[tokio::test]
async fn a_paused_instance_keeps_what_arrives() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let alter = format!("{INSTANCES}/{id}/alter");
    world.post(&alter, &json!({"alterations": [{"type": "Pause"}]})).await.expect(200);
    let bookmarks = world.get(&format!("{INSTANCES}/{id}/bookmarks")).await.expect(200);
    assert_eq!(bookmarks["count"], 0);
    let event = format!("{API}/events/go/trigger");
    world.post(&event, &json!({"workflowInstanceId": id})).await;
    let shown = world.get(&format!("{INSTANCES}/{id}")).await.expect(200);
    assert_eq!(shown["workflowState"]["isPaused"], true);
    assert_eq!(status(&world, &id).await, "Suspended");
    world.post(&alter, &json!({"alterations": [{"type": "Unpause"}]})).await.expect(200);
    world.until(&id, "Finished").await;
}

fn second(event: &str) -> Value {
    json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.WriteLine", "id": "first", "text": "first"},
        {"type": "Elsa.Event", "id": "wait", "eventName": event},
        {"type": "Elsa.WriteLine", "id": "done", "text": "second"}]})
}

#[tokio::test]
async fn an_instance_migrates_after_a_dry_run() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    world.publish("w", second("go")).await;
    world.publish("w", json!({"type": "Elsa.Event", "id": "other", "eventName": "go"})).await;
    let alter = format!("{INSTANCES}/{id}/alter");
    let to = |version: u32, dry: bool| json!({"alterations": [{"type": "Migrate", "targetVersion": version}], "dryRun": dry});
    let dry = world.post(&alter, &to(3, true)).await.expect(200);
    assert!(dry["reasons"].to_string().contains("not there"), "{dry:#}");
    assert!(world.post(&alter, &to(3, false)).await.problem(409).contains("not there"));
    assert_eq!(world.post(&alter, &to(2, true)).await.expect(200)["fits"], true);
    world.post(&alter, &to(2, false)).await.expect(200);
    let shown = world.get(&format!("{INSTANCES}/{id}")).await.expect(200);
    assert_eq!(
        (&shown["version"], &shown["workflowState"]["definitionVersion"]),
        (&json!(2), &json!(2))
    );
    world.post(&format!("{INSTANCES}/{id}/resume"), &json!({})).await.expect(200);
    world.until(&id, "Finished").await;
    let journal = world.get(&format!("{INSTANCES}/{id}/journal")).await.expect(200);
    assert!(journal.to_string().contains("second"), "{journal:#}");
}

#[tokio::test]
async fn a_migration_goes_on_at_activities_that_its_map_names() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let mut renamed = second("go");
    renamed["activities"][1]["id"] = json!("approve");
    world.publish("w", renamed).await;
    let alter = format!("{INSTANCES}/{id}/alter");
    let to = |map: Value| json!([{"type": "Migrate", "targetVersion": 2, "activities": map}]);
    let dry =
        async |map| world.post(&alter, &json!({"alterations": to(map), "dryRun": true})).await;
    let misfits = [
        (json!({}), "map it to an activity of version 2"),
        (json!({"nope": "approve"}), "version 1 has no activity nope"),
        (json!({"wait": "done"}), "name an activity of the same type"),
    ];
    for (map, why) in misfits {
        let answer = dry(map).await.expect(200);
        assert!(answer["reasons"].to_string().contains(why), "{answer:#}");
    }
    let many: Value = (0..10_001).map(|at| (format!("a{at}"), json!("b"))).collect();
    for wrong in [json!({"wait": 1}), json!({"wait": "x".repeat(1_025)}), many] {
        dry(wrong).await.problem(400);
    }
    let run = json!({"alterations": to(json!({"wait": "approve"})), "workflowInstanceIds": [id]});
    let ran = world.post(&format!("{API}/alterations/run"), &run).await.expect(200);
    assert_eq!(ran["results"][0]["isSuccessful"], true, "{ran:#}");
}

pub(super) async fn finished(world: &World, plan: &str) -> Value {
    let path = format!("{API}/alterations/{plan}");
    testkit::eventually("the plan is completed", BOUND, async || {
        world.get(&path).await.body["plan"]["status"] == "Completed"
    })
    .await;
    world.get(&path).await.expect(200)
}

#[tokio::test]
async fn a_plan_alters_every_instance_that_its_filter_selects() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    world.publish("x", waits_for("go")).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.begin("w").await);
    }
    let other = world.begin("x").await;
    world.post(&format!("{INSTANCES}/{}/resume", ids[0]), &json!({})).await.expect(200);
    world.until(&ids[0], "Finished").await;
    world.publish("w", second("go")).await;
    let alterations = json!([{"type": "Migrate", "targetVersion": 2}]);
    let filter = json!({"definitionIds": ["w"]});
    let mut dry = filter.clone();
    dry["alterations"] = alterations.clone();
    let dry = world.post(&format!("{API}/alterations/dry-run"), &dry).await.expect(200);
    assert_eq!(dry["workflowInstanceIds"].as_array().unwrap().len(), 5);
    assert_eq!(dry["misfits"][0]["workflowInstanceId"], json!(ids[0]), "{dry:#}");
    let submit = format!("{API}/alterations/submit");
    let plan = json!({"id": "plan-1", "alterations": alterations, "filter": filter});
    for _ in 0..2 {
        assert_eq!(world.post(&submit, &plan).await.expect(200)["planId"], "plan-1");
    }
    let another = json!({"id": "plan-1", "alterations": alterations, "filter": {}});
    world.post(&submit, &another).await.problem(409);
    let done = finished(&world, "plan-1").await;
    let progress = json!({"pending": 0, "running": 0, "completed": 4, "failed": 1});
    assert_eq!(done["progress"], progress, "{done:#}");
    for id in &ids[1..] {
        let instance = world.store.load(&id.as_str().into()).await.unwrap().unwrap().instance;
        assert_eq!((instance.definition_version, instance.version), (2, 2), "altered once");
    }
    let untouched = world.store.load(&other.as_str().into()).await.unwrap().unwrap().instance;
    assert_eq!(untouched.version, 1);
    world.get(&format!("{API}/alterations/nope")).await.problem(404);
}

#[tokio::test]
async fn a_plan_with_an_empty_filter_selects_nothing_unless_it_says_so() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let pause = json!([{"type": "Pause"}]);
    let submit = format!("{API}/alterations/submit");
    let nothing = json!({"alterations": pause, "filter": {}});
    let plan = world.post(&submit, &nothing).await.expect(200)["planId"].clone();
    let done = finished(&world, plan.as_str().unwrap()).await;
    assert_eq!(done["totalCount"], 0);
    let all = json!({"alterations": pause, "filter": {"emptyFilterSelectsAll": true}});
    let plan = world.post(&submit, &all).await.expect(200)["planId"].clone();
    let done = finished(&world, plan.as_str().unwrap()).await;
    assert_eq!(done["jobs"][0]["workflowInstanceId"], json!(id), "{done:#}");
    assert_eq!(done["jobs"][0]["status"], "Completed");
    let bad = json!({"alterations": pause, "filter": {"correlationIds": ["a", "b"]}});
    world.post(&submit, &bad).await.problem(400);
}

/// The instances that a dry run of this filter selects.
async fn selected(world: &World, filter: Value) -> Vec<String> {
    let got = world.post(&format!("{API}/alterations/dry-run"), &filter).await.expect(200);
    let mut ids: Vec<String> = serde_json::from_value(got["workflowInstanceIds"].clone()).unwrap();
    ids.sort();
    assert_eq!(got["totalCount"], ids.len(), "{got:#}");
    ids
}

#[tokio::test]
async fn a_plan_selects_instances_by_what_their_activities_did() {
    let world = World::new().await;
    world.publish("w", second("go")).await;
    world.publish("x", second("go")).await;
    let (done, waiting, other) =
        (world.begin("w").await, world.begin("w").await, world.begin("x").await);
    world.post(&format!("{INSTANCES}/{done}/resume"), &json!({})).await.expect(200);
    world.until(&done, "Finished").await;
    let path = format!("{API}/activity-executions/list?workflowInstanceId={waiting}");
    let executions = world.get(&path).await.expect(200);
    let executions = executions["items"].as_array().unwrap();
    let wait = executions.iter().find(|one| one["activityId"] == "wait").unwrap();
    let all = [other.as_str(), &waiting, &done];
    let check = async |filters: Value, expected: &[&str]| {
        let ids = selected(&world, json!({"activityFilters": filters})).await;
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(ids, expected, "{filters}");
    };
    check(json!([{"activityId": "wait"}]), &all).await;
    check(json!([{"activityId": "wait", "status": "running"}]), &all[..2]).await;
    check(json!([{"activityId": "wait", "status": "Completed"}]), &[&done]).await;
    check(json!([{"activityId": "done"}]), &[&done]).await;
    check(
        json!([{"activityId": "first"}, {"ActivityType": "Elsa.Event", "Status": "Running"}]),
        &all[..2],
    )
    .await;
    check(json!([{"activityId": "done"}, {"activityId": "wait", "status": "Running"}]), &[]).await;
    check(json!([{"activityInstanceId": wait["id"]}, {}]), &[&waiting]).await;
    check(
        json!([{"nodeId": wait["activityNodeId"], "status": "Running", "name": null}]),
        &all[..2],
    )
    .await;
    check(json!([{"name": "nobody"}]), &[]).await;
    check(json!([{}]), &[]).await;
    check(json!([{"activityId": null, "status": null}]), &[]).await;
    let filter = json!({"definitionIds": ["w"],
        "activityFilters": [{"activityId": "wait", "status": "Running"}]});
    assert_eq!(selected(&world, filter.clone()).await, [waiting.as_str()]);

    let submit = format!("{API}/alterations/submit");
    let cancel = json!([{"type": "Cancel"}]);
    for (filters, part) in [
        (json!([{"activityId": "wait", "state": "Running"}]), "state"),
        (
            json!([{"status": "Running"}, {"status": "Waiting"}]),
            "activityFilters[1]: status \"Waiting\" is not valid: use one of Pending, Running, \
             Completed, Canceled, Faulted",
        ),
        (json!([{"activityId": "a".repeat(2_000)}]), "activityFilters[0].activityId has 2000"),
        (json!(vec![json!({"name": "n"}); 9]), "use at most 8"),
    ] {
        let bad = json!({"activityFilters": filters});
        for (path, body) in [
            (format!("{API}/alterations/dry-run"), bad.clone()),
            (submit.clone(), json!({"alterations": cancel, "filter": bad})),
        ] {
            let detail = world.post(&path, &body).await.problem(400);
            assert!(detail.contains(part), "{part}: {detail}");
        }
    }
    let plan = json!({"id": "by-activity", "alterations": cancel, "filter": filter});
    world.post(&submit, &plan).await.expect(200);
    let ended = finished(&world, "by-activity").await;
    assert_eq!(
        (&ended["totalCount"], &ended["jobs"][0]["workflowInstanceId"]),
        (&json!(1), &json!(waiting)),
        "{ended:#}"
    );
    assert_eq!(ended["plan"]["workflowInstanceFilter"]["activityFilters"][0]["status"], "Running");
    assert_eq!(status(&world, &waiting).await, "Cancelled");
    assert_eq!(status(&world, &other).await, "Suspended");
}

#[tokio::test]
async fn a_plan_selects_the_children_of_an_instance() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let root = json!({"type": "Elsa.DispatchWorkflow", "id": "child",
        "workflowDefinitionId": "w", "waitForCompletion": true});
    world.publish("parent", root).await;
    let (parent, other) = (world.begin("parent").await, world.begin("parent").await);
    let child = async |of: &str| {
        let path = format!("{INSTANCES}?parentWorkflowInstanceId={of}&subStatus=Suspended");
        testkit::eventually("the child waits", BOUND, async || {
            world.get(&path).await.body["totalCount"] == 1
        })
        .await;
        let children = world.get(&path).await.expect(200);
        children["items"][0]["id"].as_str().unwrap().to_owned()
    };
    let (own, another) = (child(&parent).await, child(&other).await);
    let filter = json!({"parentWorkflowInstanceIds": [parent]});
    assert_eq!(selected(&world, filter.clone()).await, [own.as_str()]);
    assert!(selected(&world, json!({"parentWorkflowInstanceIds": ["nobody"]})).await.is_empty());
    let two = json!({"parentWorkflowInstanceIds": [parent, other]});
    let detail = world.post(&format!("{API}/alterations/dry-run"), &two).await.problem(400);
    assert!(detail.contains("parentWorkflowInstanceIds has 2 members"), "{detail}");
    let cancel = json!([{"type": "Cancel"}]);
    let plan = json!({"id": "by-parent", "alterations": cancel, "filter": filter});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let done = finished(&world, "by-parent").await;
    assert_eq!(done["jobs"][0]["workflowInstanceId"], json!(own), "{done:#}");
    assert_eq!(done["totalCount"], 1);
    assert_eq!(
        (status(&world, &own).await, status(&world, &another).await),
        (json!("Cancelled"), json!("Suspended"))
    );
}

#[tokio::test]
async fn a_plan_reads_the_journals_of_more_instances_than_one_round_does() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let mut ids = Vec::new();
    for _ in 0..70 {
        ids.push(world.begin("w").await);
    }
    let pause = json!([{"type": "Pause"}]);
    let filter = json!({"activityFilters": [{"status": "Running", "activityType": "Elsa.Event"}]});
    let plan = json!({"id": "all", "alterations": pause, "filter": filter});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let done = finished(&world, "all").await;
    assert_eq!(done["progress"]["completed"], 70, "{:#}", done["progress"]);
}

#[tokio::test]
async fn a_dry_run_checks_more_instances_than_one_page_has() {
    let world = World::new().await;
    world.publish("old", waits_for("go")).await;
    let first = world.begin("old").await;
    let first = world.store.load(&first.as_str().into()).await.unwrap().unwrap().instance;
    // More of them than one page has, without running each.
    for number in 0..1_100 {
        let mut copy = first.clone();
        (copy.id, copy.version) = (format!("copy-{number}").as_str().into(), 1);
        let burst = store::Burst::new(copy, store::Expected::Absent);
        assert!(matches!(world.store.commit(burst).await.unwrap(), store::Commit::Done { .. }));
    }
    let migrate = json!({"definitionIds": ["old"],
        "alterations": [{"type": "Migrate", "targetVersion": 7}]});
    let dry = world.post(&format!("{API}/alterations/dry-run"), &migrate).await.expect(200);
    for count in ["totalCount", "checkedCount", "misfitCount"] {
        assert_eq!(dry[count], 1_101, "{count}: {}", dry["misfits"][0]);
    }
    assert_eq!(dry["misfits"].as_array().unwrap().len(), 1_000);
}

#[tokio::test]
async fn an_instance_that_cannot_be_searched_is_a_failed_job_with_the_reason() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let (good, bad) = (world.begin("w").await, world.begin("w").await);
    let loaded = world.store.load(&bad.as_str().into()).await.unwrap().unwrap();
    let mut instance = loaded.instance;
    let version = instance.version;
    (instance.state, instance.version) = (vec![0xc1], version + 1);
    let burst = store::Burst::new(instance, store::Expected::Version(version));
    assert!(matches!(world.store.commit(burst).await.unwrap(), store::Commit::Done { .. }));
    let filter = json!({"activityFilters": [{"status": "Running", "activityType": "Elsa.Event"}]});
    let dry = world.post(&format!("{API}/alterations/dry-run"), &filter).await.expect(200);
    assert_eq!(dry["workflowInstanceIds"], json!([good]));
    assert_eq!(dry["misfits"][0]["workflowInstanceId"], json!(bad), "{dry:#}");
    let plan = json!({"id": "some", "alterations": [{"type": "Pause"}], "filter": filter});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let done = finished(&world, "some").await;
    let jobs = done["jobs"].as_array().unwrap();
    let job = jobs.iter().find(|job| job["workflowInstanceId"] == json!(bad)).unwrap();
    assert_eq!((jobs.len(), &job["status"]), (2, &json!("Failed")), "{done:#}");
    assert!(job["log"].to_string().contains("its activities are not known"), "{job:#}");
}

#[tokio::test]
async fn an_exported_instance_goes_on_in_another_installation() {
    let (here, there) = (World::new().await, World::new().await);
    here.publish("w", waits_for("go")).await;
    there.publish("w", waits_for("go")).await;
    let id = here.begin("w").await;
    let exported = here.get(&format!("{INSTANCES}/{id}/export")).await.expect(200);
    let import = format!("{API}/bulk-actions/import/workflow-instances");
    assert_eq!(there.post(&import, &exported).await.expect(200)["imported"], 1);
    there.post(&import, &exported).await.problem(409);
    there.post(&import, &json!({"staunchInstance": 1})).await.problem(400);
    let mut empty = exported.clone();
    (empty["record"], empty["instance"]["id"]) = (json!({}), json!("empty"));
    let detail = there.post(&import, &empty).await.problem(400);
    assert!(detail.contains("its record has no state"), "{detail}");
    let (one, two) = (
        here.get(&format!("{INSTANCES}/{id}/bookmarks")).await.expect(200),
        there.get(&format!("{INSTANCES}/{id}/bookmarks")).await.expect(200),
    );
    assert_eq!(one, two);
    there.post(&format!("{INSTANCES}/{id}/resume"), &json!({})).await.expect(200);
    there.until(&id, "Finished").await;
    assert_eq!(status(&here, &id).await, "Suspended");
    let journal = there.get(&format!("{INSTANCES}/{id}/journal")).await.expect(200);
    let sequences: Vec<_> =
        journal["items"].as_array().unwrap().iter().map(|item| item["sequence"].clone()).collect();
    let expected: Vec<_> = (1..=sequences.len()).map(|number| json!(number)).collect();
    assert_eq!(sequences, expected);
}

#[tokio::test]
async fn a_variable_of_the_memory_driver_leaves_through_no_door() {
    const SECRET: &str = "81-secret-26";
    let (here, there) = (World::new().await, World::new().await);
    let root = json!({"type": "Elsa.Flowchart", "id": "flow", "activities": [
        {"type": "Elsa.SetVariable", "id": "set", "variable": {"id": "m"},
            "value": {"js": "getInput('A') + '-secret-' + getInput('B')"}},
        {"type": "Elsa.Event", "id": "wait", "eventName": "go"},
        {"type": "Elsa.If", "id": "end", "condition": {"js": "getHidden().length === 12"},
            "then": {"type": "Elsa.WriteLine", "text": "length 12"},
            "else": {"type": "Elsa.WriteLine", "text": "length 4"}}],
        "connections": [{"source": "set", "target": "wait"}, {"source": "wait", "target": "end"}]});
    let definition = json!({"definitionId": "m", "root": root, "variables": [
        {"id": "m", "name": "Hidden", "typeName": "String", "value": "none",
            "storageDriverTypeName": "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core"},
        {"id": "v", "name": "Shown", "typeName": "String", "value": "yes"}]});
    for world in [&here, &there] {
        world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    }
    let start = json!({"definitionId": "m", "input": {"A": "81", "B": "26"}});
    let started = here.post(INSTANCES, &start).await.expect(200);
    assert!(!started.to_string().contains(SECRET), "{started:#}");
    let id = started["workflowInstanceId"].as_str().unwrap();
    here.until(id, "Suspended").await;
    for path in ["", "/variables", "/export", "/journal", "/bookmarks", "/execution-state"] {
        let shown = here.get(&format!("{INSTANCES}/{id}{path}")).await.expect(200);
        assert!(!shown.to_string().contains(SECRET), "{path}: {shown:#}");
    }
    let shown = here.get(&format!("{INSTANCES}/{id}/variables")).await.expect(200);
    assert_eq!(shown["items"], json!([{"id": "v", "name": "Shown", "value": "yes"}]));
    let exported = here.get(&format!("{INSTANCES}/{id}/export")).await.expect(200);
    let import = format!("{API}/bulk-actions/import/workflow-instances");
    there.post(&import, &exported).await.expect(200);
    let begin = json!({"activityId": "end"});
    let again = here.post(&format!("{INSTANCES}/{id}/restart"), &begin).await.expect(200);
    let again = again["workflowInstanceId"].as_str().unwrap();
    for (world, id, written) in
        [(&here, id, "length 12"), (&there, id, "length 4"), (&here, again, "length 4")]
    {
        if id != again {
            world.post(&format!("{INSTANCES}/{id}/resume"), &json!({})).await.expect(200);
        }
        world.until(id, "Finished").await;
        let journal = world.get(&format!("{INSTANCES}/{id}/journal")).await.expect(200);
        assert!(journal.to_string().contains(written), "{written}: {journal:#}");
    }
}
