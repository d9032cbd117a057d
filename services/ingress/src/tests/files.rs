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
    let draft = |file: &str, id: &str| {
        json!({"file": file, "definitionId": id, "name": id, "version": 1,
            "isNew": true})
    };
    let files = [draft("a.json", "a"), draft("b.json", "b"), draft("sub/c.json", "c")];
    assert_eq!(answer, json!({"count": 3, "files": files, "leftOut": ["notes.txt"]}));
    let one = json_request("POST", EXPORT, &[], &json!({"definitionIds": ["a"]}));
    let (file, name) = fetched(&world, one).await;
    assert!(name.contains("workflow-definition-a.json"), "{name}");
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap()["isPublished"], false);
    let all = json_request("GET", &format!("{EXPORT}?definitionIds=a,b,c"), &[], &json!({}));
    let (file, name) = fetched(&world, all).await;
    assert!(name.contains("workflow-definitions.zip"), "{name}");
    let names: Vec<_> = unpack(&file).unwrap().files.into_iter().map(|file| file.name).collect();
    let expected = ["a", "b", "c"].map(|id| format!("workflow-definition-{id}.json"));
    assert_eq!(names, expected);
    let again = world.send(form(&[("all.zip", file)])).await.expect(200);
    assert_eq!((&again["count"], &again["files"][0]["isNew"]), (&json!(3), &json!(false)));
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
    assert_eq!(unpack(&file).unwrap().files.len(), 2);
    for method in ["GET", "POST"] {
        let asked = format!("{path}?includeConsumingWorkflows=true");
        let request = json_request(method, &asked, &[], &json!({}));
        let (file, _) = fetched(&world, request).await;
        assert_eq!(unpack(&file).unwrap().files.len(), 2, "{method}");
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
    assert_eq!(detail, "b.json: a.json has the same id, a");
    let misread = json!({"definitionId": "m", "root": {"type": "Elsa.End"}, "name": 7,
        "variables": [{"name": "A"}, {"name": []}]});
    let body = world.post(API, &misread).await.problem(400);
    let file = refused(vec![("m.json", misread.to_string().into_bytes())]).await;
    for detail in [body, file] {
        let has_both = detail.contains("name: ") && detail.contains("variables[1].name: ");
        assert!(has_both && !detail.contains("at line"), "{detail}");
    }
    let detail = refused(vec![("x.zip", b"PK".to_vec())]).await;
    assert!(detail.starts_with("x.zip: the zip cannot be read"), "{detail}");
    refused(Vec::new()).await;
    world.get(&format!("{API}/a")).await.problem(404);
    let detail = world.post(&format!("{API}/import-files"), &json!({})).await.problem(400);
    assert!(detail.contains("multipart"), "{detail}");
}

#[tokio::test]
async fn the_short_form_is_imported_alone_and_in_zips() {
    let world = World::new().await;
    let yaml = |id: &str| format!("definitionId: {id}\nroot:\n  - type: WriteLine\n    text: hi\n");
    let zip = pack(vec![
        Packed { name: "flows/b.yaml".to_owned(), bytes: yaml("b").into_bytes() },
        Packed { name: "__MACOSX/flows/._b.yaml".to_owned(), bytes: vec![0, 5, 22, 7] },
        Packed { name: "c.json".to_owned(), bytes: definition("c").to_string().into_bytes() },
    ]);
    let alone = "\u{feff}- type: WriteLine\n  text: hi\n".as_bytes().to_vec();
    let answer = world.send(form(&[("a.YML", alone), ("more.zip", zip.unwrap())])).await;
    let answer = answer.expect(200);
    let names: Vec<_> = answer["files"].as_array().unwrap().iter().map(|it| &it["file"]).collect();
    assert_eq!(names, ["a.YML", "flows/b.yaml", "c.json"]);
    assert_eq!(answer["leftOut"], json!([]));
    for id in ["a", "b"] {
        let stored = world.get(&format!("{API}/by-definition-id/{id}")).await.expect(200);
        assert_eq!(stored["root"]["activities"][0]["type"], "Elsa.WriteLine", "{stored:#}");
    }
}

#[tokio::test]
async fn a_wrong_text_in_the_short_form_is_named_with_its_file_and_its_line() {
    let world = World::new().await;
    let zip = pack(vec![
        Packed { name: "good.json".to_owned(), bytes: definition("good").to_string().into_bytes() },
        Packed { name: "broken.yaml".to_owned(), bytes: b"root: [".to_vec() },
        Packed { name: "latin.yml".to_owned(), bytes: b"name: \xe9".to_vec() },
    ]);
    let refused = world.send(form(&[("all.zip", zip.unwrap())])).await.expect(400);
    let failed = refused["failed"].as_array().unwrap();
    let of = |at: usize| (failed[at]["file"].as_str(), failed[at]["detail"].as_str().unwrap());
    let (file, detail) = of(0);
    assert_eq!(file, Some("broken.yaml"));
    assert!(detail.starts_with("broken.yaml: ") && detail.contains(", column "), "{detail}");
    let (file, detail) = of(1);
    assert_eq!(file, Some("latin.yml"));
    assert!(detail.contains("byte 6 is not UTF-8"), "{detail}");
    assert_eq!(failed.len(), 2);
    world.get(&format!("{API}/good")).await.problem(404);
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
    assert_eq!(world.send(form(&files)).await.expect(200)["count"], 1);
    let start = "/elsa/api/workflow-definitions/a/execute";
    world.send(post(start, "\u{feff}".to_owned())).await.expect(200);
    let twice = marked(&sent).replacen('\u{feff}', "\u{feff}\u{feff}", 1);
    world.send(post(API, twice)).await.problem(400);
}
