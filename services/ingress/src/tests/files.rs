//! Definitions as files and zips.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::world::{World, json_request, writes_line};
use crate::archive::{Packed, pack, unpack};

const API: &str = "/elsa/api/workflow-definitions";
const EXPORT: &str = "/elsa/api/bulk-actions/export/workflow-definitions";

fn definition(id: &str) -> Value {
    json!({"definitionId": id, "name": id, "root": writes_line()})
}

/// A form with these files.
fn form(files: &[(&str, Vec<u8>)]) -> Request<Body> {
    let mut body = Vec::new();
    for (name, bytes) in files {
        let head = format!(
            "--X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend(b"--X--\r\n");
    Request::builder()
        .method("POST")
        .uri(format!("{API}/import-files"))
        .header("content-type", "multipart/form-data; boundary=X")
        .body(Body::from(body))
        .unwrap()
}

/// The bytes of an answer, and its file's name.
async fn fetched(world: &World, mut request: Request<Body>) -> (Vec<u8>, String) {
    request.headers_mut().insert("host", "127.0.0.1:5001".parse().unwrap());
    let answer = world.another().await.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    let name = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    (to_bytes(answer.into_body(), 1 << 20).await.unwrap().to_vec(), name)
}

#[tokio::test]
async fn files_and_zips_are_imported_and_come_back_as_a_zip() {
    let world = World::new().await;
    let bytes = |id: &str| definition(id).to_string().into_bytes();
    let zip = pack(vec![
        Packed { name: "b.json".to_owned(), bytes: bytes("b") },
        Packed { name: "notes.txt".to_owned(), bytes: b"not meant".to_vec() },
        Packed { name: "sub/c.json".to_owned(), bytes: bytes("c") },
    ]);
    let zip = zip.unwrap();
    let answer = world.send(form(&[("a.json", bytes("a")), ("more.zip", zip)])).await.expect(200);
    assert_eq!(answer, json!({"count": 3}));
    let one = json_request("POST", EXPORT, &[], &json!({"definitionIds": ["a"]}));
    let (file, name) = fetched(&world, one).await;
    assert!(name.contains("workflow-definition-a.json"), "{name}");
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap()["isPublished"], false);
    let all = json_request("GET", &format!("{EXPORT}?definitionIds=a,b,c"), &[], &json!({}));
    let (file, name) = fetched(&world, all).await;
    assert!(name.contains("workflow-definitions.zip"), "{name}");
    let names: Vec<_> = unpack(&file).unwrap().into_iter().map(|file| file.name).collect();
    let expected = ["a", "b", "c"].map(|id| format!("workflow-definition-{id}.json"));
    assert_eq!(names, expected);
    let again = world.send(form(&[("all.zip", file)])).await.expect(200);
    assert_eq!(again["count"], 3);
    world.post(EXPORT, &json!({})).await.expect(204);
    world.post(EXPORT, &json!({"ids": ["gone"]})).await.problem(404);
}

#[tokio::test]
async fn the_workflows_that_use_one_are_exported_with_it() {
    let world = World::new().await;
    let child = world.publish("child", writes_line()).await;
    assert_eq!(child["workflowDefinition"]["version"], 1);
    world
        .publish("parent", json!({"type": "Child", "id": "c", "workflowDefinitionId": "child"}))
        .await;
    let path = format!("{API}/child/export");
    let request = json_request("POST", &path, &[], &json!({"includeConsumingWorkflows": true}));
    let (file, _) = fetched(&world, request).await;
    assert_eq!(unpack(&file).unwrap().len(), 2);
    for method in ["GET", "POST"] {
        let asked = format!("{path}?includeConsumingWorkflows=true");
        let request = json_request(method, &asked, &[], &json!({}));
        let (file, _) = fetched(&world, request).await;
        assert_eq!(unpack(&file).unwrap().len(), 2, "{method}");
    }
    let request = json_request("POST", &path, &[], &json!({}));
    let (file, _) = fetched(&world, request).await;
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap()["definitionId"], "child");
}

#[tokio::test]
async fn one_wrong_file_stores_nothing() {
    let world = World::new().await;
    let good = definition("a").to_string().into_bytes();
    let refused = |files: Vec<(&'static str, Vec<u8>)>| {
        let world = &world;
        async move { world.send(form(&files)).await.problem(400) }
    };
    let detail = refused(vec![("a.json", good.clone()), ("b.json", b"{}".to_vec())]).await;
    assert!(detail.contains("b.json is not a workflow definition: there is no root"), "{detail}");
    let files =
        vec![("c.json", b"[".to_vec()), ("a.json", good.clone()), ("b.json", b"{}".to_vec())];
    let detail = refused(files).await;
    assert!(detail.contains("c.json is not") && detail.contains("; b.json is not"), "{detail}");
    let detail = refused(vec![("a.json", good.clone()), ("b.json", good)]).await;
    assert!(detail.contains("another file has the id a"), "{detail}");
    let misread = json!({"definitionId": "m", "root": {"type": "Elsa.End"}, "name": 7,
        "variables": [{"name": "A"}, {"name": []}]});
    let body = world.post(API, &misread).await.problem(400);
    let file = refused(vec![("m.json", misread.to_string().into_bytes())]).await;
    for detail in [body, file] {
        let has_both = detail.contains("name: ") && detail.contains("variables[1].name: ");
        assert!(has_both && !detail.contains("at line"), "{detail}");
    }
    assert!(refused(vec![("x.zip", b"PK".to_vec())]).await.contains("the zip cannot be read"));
    refused(Vec::new()).await;
    world.get(&format!("{API}/a")).await.problem(404);
    let detail = world.post(&format!("{API}/import-files"), &json!({})).await.problem(400);
    assert!(detail.contains("multipart"), "{detail}");
}

/// Tools of Windows begin JSON with a byte order mark.
#[tokio::test]
async fn json_may_begin_with_a_byte_order_mark() {
    let world = World::new().await;
    let marked = |value: &Value| format!("\u{feff}{value}");
    let post = |path: &str, body: String| {
        let request = Request::post(path).header("content-type", "application/json");
        request.body(Body::from(body)).unwrap()
    };
    let sent = json!({"definitionId": "a", "root": writes_line()});
    world.send(post(API, marked(&sent))).await.expect(201);
    let files = [("b.json", marked(&definition("b")).into_bytes())];
    assert_eq!(world.send(form(&files)).await.expect(200), json!({"count": 1}));
    let start = "/elsa/api/workflow-definitions/a/execute";
    world.send(post(start, "\u{feff}".to_owned())).await.expect(200);
    let twice = marked(&sent).replacen('\u{feff}', "\u{feff}\u{feff}", 1);
    world.send(post(API, twice)).await.problem(400);
}
