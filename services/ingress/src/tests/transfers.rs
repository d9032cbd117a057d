//! Several instances as files and zips, and removals by id.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::live::Reader;
use super::world::{World, json_request, waits_for, writes_line};
use crate::archive::unpack;

const EXPORT: &str = "/elsa/api/bulk-actions/export/workflow-instances";
const IMPORT: &str = "/elsa/api/bulk-actions/import/workflow-instances";
const DELETE: &str = "/elsa/api/bulk-actions/delete";

fn form(files: &[(&str, Vec<u8>)]) -> Request<Body> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        let head = format!(
            "--X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend(b"--X--\r\n");
    let request = Request::post(IMPORT).header("content-type", "multipart/form-data; boundary=X");
    request.body(Body::from(body)).unwrap()
}

/// The bytes of an answer, and its file's name.
async fn fetched(world: &World, mut request: Request<Body>) -> (Vec<u8>, String) {
    request.headers_mut().insert("host", "127.0.0.1:5001".parse().unwrap());
    let answer = world.router().clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    let name = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    (to_bytes(answer.into_body(), 1 << 24).await.unwrap().to_vec(), name)
}

/// Two worlds with the same definition, and two instances that wait in the first.
async fn worlds() -> (World, World, Vec<String>) {
    let (here, there) = (World::new().await, World::new().await);
    here.publish("waits", waits_for("go")).await;
    there.publish("waits", waits_for("go")).await;
    let ids = vec![here.begin("waits").await, here.begin("waits").await];
    (here, there, ids)
}

#[tokio::test]
async fn instances_travel_in_a_zip_and_go_on_elsewhere() {
    let (here, there, ids) = worlds().await;
    let request = json_request("POST", EXPORT, &[], &json!({"ids": ids}));
    let (zip, name) = fetched(&here, request).await;
    assert!(name.contains("workflow-instances.zip"), "{name}");
    assert_eq!(unpack(&zip).unwrap().files.len(), 2);
    let taken = there.send(form(&[("all.zip", zip.clone())])).await.expect(200);
    assert_eq!((&taken["imported"], &taken["count"]), (&json!(2), &json!(2)), "{taken}");
    there.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    for id in &ids {
        there.until(id, "Finished").await;
        here.until(id, "Suspended").await;
    }
    let again = there.send(form(&[("all.zip", zip)])).await.expect(200);
    assert_eq!((&again["imported"], again["failed"].as_array().unwrap().len()), (&json!(0), 2));
    let query = format!("{EXPORT}?ids={}", ids.join(","));
    let (zip, _) = fetched(&here, Request::get(query).body(Body::empty()).unwrap()).await;
    assert_eq!(unpack(&zip).unwrap().files.len(), 2);
    assert_eq!(here.post(EXPORT, &json!({})).await.status, 204);
    here.post(EXPORT, &json!({"ids": ["nope"]})).await.problem(404);
    let many: Vec<_> = (0..1_001).map(|number| number.to_string()).collect();
    here.post(EXPORT, &json!({"ids": many})).await.problem(400);
}

#[tokio::test]
async fn what_is_declined_is_left_out_and_the_journal_goes_on_after_it() {
    let (here, there, ids) = worlds().await;
    let id = &ids[0];
    let path = format!("/elsa/api/workflow-instances/{id}/export");
    let whole = here.post(&path, &json!({})).await.expect(200);
    assert_eq!(whole, here.get(&path).await.expect(200));
    let read = Request::get(&path).body(Body::empty()).unwrap();
    assert!(fetched(&here, read).await.1.contains(&format!("workflow-instance-{id}.json")));
    let lines = whole["journal"].as_array().unwrap().len() as u64;
    assert!(lines > 0 && !whole["bookmarks"].as_array().unwrap().is_empty(), "{whole:#}");
    let declined = json!({"includeBookmarks": false, "includeActivityExecutionLog": false,
        "includeWorkflowExecutionLog": false});
    let request = json_request("POST", &path, &[], &declined);
    let (bytes, name) = fetched(&here, request).await;
    assert!(name.contains(&format!("workflow-instance-{id}.json")), "{name}");
    let short: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&short["journal"], &short["bookmarks"]), (&json!([]), &json!([])));
    let taken = there.send(form(&[("one.json", bytes)])).await.expect(200);
    assert_eq!(taken["workflowInstanceId"], json!(id));
    // Its journal has no first lines here: a reader begins with those that there are.
    let events = format!("/elsa/api/workflow-instances/{id}/events");
    let mut live = Reader::open(there.router(), &events, None).await;
    there.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    there.until(id, "Finished").await;
    let mut later = Reader::open(there.router(), &events, None).await;
    let (first, last) = (lines + 1, lines + 2);
    let mut resumed = Reader::open(there.router(), &events, Some(first)).await;
    assert_eq!(live.next().await.unwrap().id, Some(first));
    assert_eq!(live.next().await.unwrap().id, Some(last));
    assert_eq!(later.next().await.unwrap().id, Some(first));
    assert_eq!(resumed.next().await.unwrap().id, Some(last));
}

#[tokio::test]
async fn an_exported_instance_may_begin_with_a_byte_order_mark() {
    let (here, there, ids) = worlds().await;
    let exported = async |id: &str| {
        let path = format!("/elsa/api/workflow-instances/{id}/export");
        format!("\u{feff}{}", here.get(&path).await.expect(200))
    };
    let body = Request::post(IMPORT).header("content-type", "application/json");
    let body = body.body(Body::from(exported(&ids[0]).await)).unwrap();
    assert_eq!(there.send(body).await.expect(200)["imported"], 1);
    let file = [("i.json", exported(&ids[1]).await.into_bytes())];
    assert_eq!(there.send(form(&file)).await.expect(200)["imported"], 1);
}

#[tokio::test]
async fn a_copy_under_another_id_is_refused_where_its_original_waits() {
    let (here, there, ids) = worlds().await;
    let path = format!("/elsa/api/workflow-instances/{}/export", ids[0]);
    let mut copy = here.get(&path).await.expect(200);
    let bookmark = copy["bookmarks"][0]["id"].as_str().unwrap().to_owned();
    copy["instance"]["id"] = json!("copy");
    let detail = here.post(IMPORT, &copy).await.problem(409);
    assert!(detail.contains(&ids[0]) && detail.contains(&bookmark), "{detail}");
    here.get("/elsa/api/workflow-instances/copy").await.problem(404);
    // Elsewhere, and once the original has ended, it is an instance like any other.
    let taken = there.post(IMPORT, &copy).await.expect(200);
    assert_eq!(taken["workflowInstanceId"], "copy");
    here.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    here.until(&ids[0], "Finished").await;
    here.post(IMPORT, &copy).await.expect(200);
    here.post("/elsa/api/events/go/trigger", &json!({})).await.expect(200);
    here.until("copy", "Finished").await;
}

#[tokio::test]
async fn files_that_are_no_instances_store_nothing() {
    let (here, there, ids) = worlds().await;
    let path = format!("/elsa/api/workflow-instances/{}/export", ids[0]);
    let good = here.get(&path).await.expect(200).to_string().into_bytes();
    for bad in [&b"{"[..], b"[]", b"{}", b"{\"staunchInstance\": 99}"] {
        let files = [("good.json", good.clone()), ("bad.json", bad.to_vec())];
        there.send(form(&files)).await.problem(400);
    }
    there.send(form(&[])).await.problem(400);
    there.get(&format!("/elsa/api/workflow-instances/{}", ids[0])).await.problem(404);
    let text = Request::post(IMPORT).header("content-type", "text/plain");
    there.send(text.body(Body::from("x")).unwrap()).await.problem(415);
}

#[tokio::test]
async fn instances_and_versions_are_removed_by_id() {
    let world = World::new().await;
    let first = world.publish("line", writes_line()).await;
    let root = json!({"type": "Elsa.WriteLine", "id": "line", "text": "other"});
    world.publish("line", root).await;
    let id = world.begin("line").await;
    let path = format!("{DELETE}/workflow-instances/by-id");
    let removed = world.post(&path, &json!({"ids": [id, "nope"]})).await.expect(200);
    assert_eq!(removed, json!({"deleted": 1}));
    let version = first["workflowDefinition"]["id"].as_str().or(first["id"].as_str()).unwrap();
    let path = format!("{DELETE}/workflow-definitions/by-id");
    let removed = world.post(&path, &json!({"ids": [version, "nope"]})).await.expect(200);
    assert_eq!(removed, json!({"deleted": 1}));
    let by_id = format!("/elsa/api/workflow-definitions/by-id/{version}");
    world.get(&by_id).await.problem(404);
    world.get("/elsa/api/workflow-definitions/line").await.expect(200);
    assert_eq!(world.post(&path, &json!({})).await.expect(200), json!({"deleted": 0}));
}

#[tokio::test]
async fn a_removal_of_many_leaves_those_in_use_and_says_which() {
    let world = World::new().await;
    for id in ["idle-a", "busy", "idle-b"] {
        world.publish(id, waits_for("go")).await;
    }
    let instance = world.begin("busy").await;
    world.until(&instance, "Suspended").await;
    let path = format!("{DELETE}/workflow-definitions/by-definition-id");
    // One that is named again counts once, and is told once.
    let ids = json!({"definitionIds": ["idle-a", "busy", "gone", "busy", "idle-b", "busy"]});
    let answer = world.post(&path, &ids).await;
    let body = answer.body.clone();
    let detail = answer.problem(409);
    assert!(detail.starts_with("2 of 4 definitions are removed; \"busy\": 1 "), "{detail}");
    assert_eq!(body["type"], "urn:staunch:problem:still-running");
    assert_eq!((&body["deleted"], &body["failed"]), (&json!(2), &json!(["busy"])));
    let reasons = body["problems"].as_object().unwrap();
    assert!(reasons.len() == 1 && detail.ends_with(reasons["busy"][0].as_str().unwrap()));
    assert_eq!(body["errors"]["generalErrors"], json!([detail]), "what Studio shows");
    let definition =
        async |id: &str| world.get(&format!("/elsa/api/workflow-definitions/{id}")).await;
    for id in ["idle-a", "idle-b"] {
        definition(id).await.problem(404);
    }

    let busy = definition("busy").await.expect(200)["id"].clone();
    let idle = world.publish("idle", writes_line()).await["workflowDefinition"]["id"].clone();
    let versions = format!("{DELETE}/workflow-definitions/by-id");
    let answer = world.post(&versions, &json!({"ids": [busy, idle, busy]})).await;
    assert_eq!((&answer.body["deleted"], &answer.body["failed"]), (&json!(1), &json!([busy])));
    assert!(answer.problem(409).starts_with("1 of 2 versions are removed; "));
    definition("idle").await.problem(404);
    definition("busy").await.expect(200);

    // What another one of them used goes, too, whatever their order.
    world.publish("used", writes_line()).await;
    let user = json!({"type": "Used", "id": "u", "workflowDefinitionId": "used"});
    world.publish("user", user).await;
    let ids = json!({"definitionIds": ["used", "user"]});
    assert_eq!(world.post(&path, &ids).await.expect(200), json!({"deleted": 2}));

    world.broken.lose_database(true);
    let ids = json!({"definitionIds": ["busy", "other"]});
    let answer = world.post(&path, &ids).await;
    assert_eq!((&answer.body["deleted"], &answer.body["failed"]), (&json!(0), &json!(["busy"])));
    let detail = answer.problem(503);
    assert!(detail.contains("0 of 2 definitions are removed; \"busy\": the database"), "{detail}");
}
