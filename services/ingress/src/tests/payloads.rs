//! Bodies and files of any size: they rest in payloads, beside the instances that use them.

use axum::body::Body;
use axum::http::Request;
use model::PayloadHash;
use serde_json::{Value, json};
use store::{Instances as _, Payloads as _};

use super::world::World;
use crate::Config;

const MIB: usize = 1024 * 1024;
/// The most that the row of an instance may have, in bytes.
const ROW_BYTES_MAX: usize = 16 * 1024;

/// An endpoint at this path that answers with this activity.
fn answers(path: &str, answer: Value) -> Value {
    json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.HttpEndpoint", "id": "http", "path": path, "supportedMethods": ["POST"],
            "canStartWorkflow": true, "parsedContent": "Content", "files": "Files"},
        answer],
        "variables": [{"id": "1", "name": "Content", "typeName": "Object"},
            {"id": "2", "name": "Files", "typeName": "Object"}]})
}

fn text(bytes: usize) -> String {
    "0123456789abcdef".repeat(bytes / 16)
}

fn post(path: &str, content_type: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::post(path).header("content-type", content_type);
    request.body(body.into()).unwrap()
}

#[tokio::test]
async fn a_large_body_rests_once_and_is_sent_as_it_came() {
    let world = World::new().await;
    let file = json!({"type": "Elsa.WriteFileHttpResponse", "id": "say", "filename": "back.bin",
        "content": {"js": "variables.Content /* its content stays where it is */"}});
    world.publish("mirror", answers("mirror", file)).await;
    let body = text(3 * MIB);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let sent = post("/workflows/mirror", "application/octet-stream", body.clone());
        let answer = world.send(sent).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.header("content-length"), Some(body.len().to_string().as_str()));
        assert!(answer.body.as_str() == Some(body.as_str()), "the same bytes");
        ids.push(answer.header("x-elsa-workflow-instance-id").unwrap().to_owned());
    }
    let hash = PayloadHash::of(body.as_bytes());
    let users = world.store.payload_users(&hash, 9).await.unwrap();
    assert_eq!(users.len(), 2);
    for id in ids {
        let row = world.store.load(&id.as_str().into()).await.unwrap().unwrap().instance;
        assert!(row.state.len() < ROW_BYTES_MAX, "{} bytes", row.state.len());
    }
}

#[tokio::test]
async fn files_of_a_form_are_read_by_scripts_that_name_their_content() {
    let world = World::new().await;
    let said = "variables.Files.map(file => \
                [file.fileName, file.size, file.content ? file.content.length : file.payload])";
    let says = json!({"type": "Elsa.WriteHttpResponse", "id": "say", "content": {"js": said}});
    world.publish("form", answers("form", says)).await;
    let send = async |sizes: &[usize]| {
        let part = |size: &usize| {
            format!(
                "--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{size}.bin\"\r\n\r\n{}\r\n",
                text(*size)
            )
        };
        let body = sizes.iter().map(part).collect::<String>() + "--X--\r\n";
        world.send(post("/workflows/form", "multipart/form-data; boundary=X", body)).await
    };
    let answer = send(&[1024, 2 * MIB, 16]).await.expect(200);
    let base64 = |bytes: usize| bytes.div_ceil(3) * 4;
    let expected = json!([
        ["1024.bin", 1024, base64(1024)],
        [format!("{}.bin", 2 * MIB), 2 * MIB, base64(2 * MIB)],
        ["16.bin", 16, base64(16)]
    ]);
    assert_eq!(answer, expected);
    // What is too large for a script stays in its payload.
    let hash = PayloadHash::of(text(9 * MIB).as_bytes());
    let answer = send(&[9 * MIB]).await.expect(200);
    assert_eq!(answer, json!([[format!("{}.bin", 9 * MIB), 9 * MIB, hash]]));
    // A field is no file, and has to fit into memory.
    let field = format!(
        "--X\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n{}\r\n--X--\r\n",
        text(MIB)
    );
    let sent = post("/workflows/form", "multipart/form-data; boundary=X", field);
    let refused = world.send(sent).await.problem(413);
    assert!(refused.contains("send \"note\" as a file"), "{refused}");
}

#[tokio::test]
async fn a_text_that_is_too_large_for_a_command_is_a_file() {
    let world = World::new().await;
    let said = "({type: variables.Content.contentType, size: variables.Content.size, \
                 number: JSON.parse(bytesToString(bytesFromBase64(variables.Content.content))).n})";
    let says = json!({"type": "Elsa.WriteHttpResponse", "id": "say", "content": {"js": said}});
    world.publish("text", answers("text", says)).await;
    let body = json!({"n": 7, "filler": text(MIB)}).to_string();
    let size = body.len();
    let answer = world.send(post("/workflows/text", "application/json", body)).await.expect(200);
    assert_eq!(answer, json!({"type": "application/json", "size": size, "number": 7}));
}

#[tokio::test]
async fn a_large_value_of_an_input_travels_as_a_payload() {
    let world = World::with(Config { body_bytes_max: 2 * MIB, ..Config::default() }).await;
    let says = json!({"type": "Elsa.WriteHttpResponse", "id": "say",
        "content": {"js": "({lines: getInput('Doc').lines[0].length, n: getInput('Doc').n})"}});
    world.publish("large", says).await;
    let doc = json!({"lines": [text(MIB)], "n": 7});
    let (path, length) = ("/elsa/api/workflow-definitions/large/execute", json!(MIB));
    let answer = world.post(path, &json!({"input": {"Doc": doc}})).await;
    let id = answer.header("x-elsa-workflow-instance-id").unwrap().to_owned();
    assert_eq!(answer.expect(200), json!({"lines": length, "n": 7}));
    let row = world.store.load(&id.as_str().into()).await.unwrap().unwrap().instance;
    assert!(row.state.len() < ROW_BYTES_MAX, "{} bytes", row.state.len());

    // The same value by its name: it is larger than a body may be.
    let json = json!({"lines": [text(3 * MIB)], "n": 8}).to_string();
    let kept = world.send(post("/elsa/api/payloads", "application/json", json)).await.expect(201);
    let named = json!({"input": {"Doc": {"$payload": kept["payload"]}}});
    let answer = world.post(path, &named).await.expect(200);
    assert_eq!(answer, json!({"lines": 3 * MIB, "n": 8}));

    let events = json!({"input": {"lines": [text(MIB)]}});
    world.post("/elsa/api/events/Nobody/trigger", &events).await.expect(200);
    let many: Vec<String> = (0..4).map(|_| text(200 * 1024)).collect();
    let sum = json!({"input": {"A": many[0], "B": many[1], "C": many[2], "D": many[3]}});
    world.post(path, &sum).await.problem(413);
}

#[tokio::test]
async fn a_large_result_of_a_task_travels_as_a_payload() {
    let world = World::with(Config { body_bytes_max: 2 * MIB, ..Config::default() }).await;
    let said = "({lines: variables.Got.lines[0].length, text: variables.Got.text})";
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.RunTask", "id": "t", "taskName": "Ship",
            "result": {"typeName": "Object", "memoryReference": {"id": "1"}}},
        {"type": "Elsa.SetOutput", "id": "out", "outputName": "Got", "outputValue": {"js": said}}],
        "variables": [{"id": "1", "name": "Got", "typeName": "Object"}]});
    world.publish("task", root).await;
    let id = world.begin("task").await;
    let path = format!("/elsa/api/workflow-instances/{id}");
    let bookmarks = world.get(&format!("{path}/bookmarks")).await.expect(200);
    let task = bookmarks["items"][0]["payload"]["TaskId"].as_str().unwrap().to_owned();
    // The executor looks for such texts, and not into payloads.
    let sealed = format!("{{sealed:{}}}", "Ab-_".repeat(10));
    let result = json!({"lines": [text(MIB)], "text": sealed});
    let complete = format!("/elsa/api/tasks/{task}/complete");
    world.post(&complete, &json!({"result": {"lines": [text(3 * MIB)]}})).await.problem(413);
    world.post(&complete, &json!({"result": result})).await.expect(200);
    world.until(&id, "Finished").await;
    let row = world.store.load(&id.as_str().into()).await.unwrap().unwrap().instance;
    assert!(row.state.len() < ROW_BYTES_MAX, "{} bytes", row.state.len());
    let instance = world.get(&path).await.expect(200);
    let got = &instance["workflowState"]["output"]["Got"];
    let expected = json!({"lines": MIB, "text": sealed.replace("sealed", "sealed elsewhere")});
    assert_eq!(got, &expected, "{instance}");
}

#[tokio::test]
async fn a_payload_is_kept_first_and_named_by_a_start() {
    let config = Config { payload_bytes_max: MIB as u64, ..Config::default() };
    let world = World::with(config).await;
    let said = json!({"type": "Elsa.WriteFileHttpResponse", "id": "say",
        "content": {"js": "getInput('Doc')"}});
    world.publish("doc", said).await;
    let body = text(MIB);
    let hash = PayloadHash::of(body.as_bytes());
    let named = world.send(post("/elsa/api/payloads?fileName=a.txt", "text/x", "a")).await;
    assert!(named.problem(400).contains("Content-Disposition"));
    let request = Request::post("/elsa/api/payloads")
        .header("content-type", "text/x")
        .header("content-disposition", "attachment; filename=\"a.txt\"")
        .header("x-staunch-payload", hash.as_str());
    let kept = world.send(request.body(body.clone().into()).unwrap()).await.expect(201);
    let expected =
        json!({"fileName": "a.txt", "contentType": "text/x", "size": MIB, "payload": hash});
    assert_eq!(kept, expected);
    let read = world.get(&format!("/elsa/api/payloads/{hash}")).await;
    assert!(read.status == 200 && read.body.as_str() == Some(body.as_str()));
    let started = json!({"input": {"Doc": kept}});
    let answer = world.post("/elsa/api/workflow-definitions/doc/execute", &started).await;
    assert!(answer.status == 200 && answer.body.as_str() == Some(body.as_str()));
    assert!(answer.header("content-disposition").unwrap().contains("a.txt"));

    let large = world.send(post("/elsa/api/payloads", "x/y", text(MIB + 16))).await;
    let refused = large.problem(413);
    assert!(refused.contains("1048576 bytes that the setting payload-bytes"), "{refused}");
    assert!(!refused.contains("POST"), "{refused}");
    let request = Request::post("/elsa/api/payloads").header("x-staunch-payload", hash.as_str());
    let other = world.send(request.body("other".into()).unwrap()).await;
    assert!(other.problem(400).contains("send them again"));
    let absent = world.get(&format!("/elsa/api/payloads/{}", PayloadHash::of(b"?"))).await;
    assert!(absent.problem(404).contains("there is no payload"));
    let wrong = world.get("/elsa/api/payloads/sha256-1").await;
    assert!(wrong.problem(400).contains("64 hexadecimal digits"));
    let gone = json!({"input": {"Doc": {"fileName": "x", "payload": PayloadHash::of(b"?")}}});
    let answer = world.post("/elsa/api/workflow-definitions/doc/execute", &gone).await;
    assert!(answer.problem(404).contains("there is no payload"));
}

#[tokio::test]
async fn a_payload_whose_place_is_away_is_a_problem_before_the_answer_begins() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap().to_owned();
    let places = payloads::Places::open(&[place]).unwrap();
    let world = World::with(Config { payload_places: places, ..Config::default() }).await;
    let body = text(3 * MIB);
    let hash = PayloadHash::of(body.as_bytes());
    world.send(post("/elsa/api/payloads", "x/y", body.clone())).await.expect(201);
    let path = format!("/elsa/api/payloads/{hash}");
    let read = world.get(&path).await;
    assert!(read.status == 200 && read.body.as_str() == Some(body.as_str()));

    let id = world.store.payload(&hash).await.unwrap().unwrap().id;
    let parts = folder.path().join(&id);
    std::fs::remove_dir_all(&parts).unwrap();
    let missing = world.get(&path).await.problem(500);
    assert!(missing.contains("is damaged"), "{missing}");
    // What is below a file cannot be opened.
    std::fs::write(&parts, "").unwrap();
    let away = world.get(&path).await.problem(503);
    assert!(away.contains("the place where payloads rest does not answer"), "{away}");
    // The whole folder is gone, as when it is not mounted.
    std::fs::remove_dir_all(folder.path()).unwrap();
    let away = world.get(&path).await.problem(503);
    assert!(away.contains("the place where payloads rest does not answer"), "{away}");
    world.send(post("/elsa/api/payloads", "x/y", text(2 * MIB))).await.problem(503);
}
