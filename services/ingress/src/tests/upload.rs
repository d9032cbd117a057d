//! Requests that exceed the limits of an endpoint, XML, and downloads in parts.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::world::World;

/// An endpoint with these settings, and what follows each of its outcomes.
fn endpoint(path: &str, settings: &Value) -> Value {
    let mut endpoint = json!({"type": "Elsa.HttpEndpoint", "id": "http", "path": path,
        "supportedMethods": ["POST"], "canStartWorkflow": true, "result": "Request",
        "parsedContent": "Content", "files": "Files"});
    for (name, value) in settings.as_object().unwrap() {
        endpoint[name] = value.clone();
    }
    let outcomes = [
        "Done",
        "Request too large",
        "File too large",
        "Invalid file extension",
        "Invalid file MIME type",
    ];
    let mut activities = vec![endpoint];
    let mut connections = Vec::new();
    for (number, outcome) in outcomes.iter().enumerate() {
        let said = format!(
            "({{outcome: '{outcome}', refusal: variables.Request.refusal?.message, \
             content: variables.Content, files: variables.Files.map(file => file.fileName)}})"
        );
        activities.push(json!({"type": "Elsa.WriteHttpResponse", "id": format!("say{number}"),
            "content": {"js": said}}));
        connections.push(json!({"source": {"activity": "http", "port": outcome},
            "target": {"activity": format!("say{number}"), "port": "In"}}));
    }
    json!({"type": "Elsa.Flowchart", "id": "flow", "activities": activities,
        "connections": connections, "variables": [
            {"id": "1", "name": "Request", "typeName": "Object"},
            {"id": "2", "name": "Content", "typeName": "Object"},
            {"id": "3", "name": "Files", "typeName": "Object"}]})
}

/// A form with a field and a file.
fn form(path: &str, file_name: &str, content_type: &str, content: &str) -> Request<Body> {
    let body = format!(
        "--X\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nPlan\r\n--X\r\n\
         Content-Disposition: form-data; name=\"doc\"; filename=\"{file_name}\"\r\n\
         Content-Type: {content_type}\r\n\r\n{content}\r\n--X--\r\n"
    );
    Request::post(format!("/workflows/{path}"))
        .header("content-type", "multipart/form-data; boundary=X")
        .body(Body::from(body))
        .unwrap()
}

/// What the workflow says of an upload that exceeds a limit when the outcome is exposed, and what
/// the server says when it is not.
#[tokio::test]
async fn an_upload_beyond_a_limit_goes_on_with_its_outcome_or_is_refused() {
    let world = World::new().await;
    let rows = [
        (
            json!({"requestSizeLimit": 50}),
            "exposeRequestTooLargeOutcome",
            ("Request too large", 413, "the 50 bytes that are allowed"),
            Value::Null,
        ),
        (
            json!({"fileSizeLimit": 4}),
            "exposeFileTooLargeOutcome",
            ("File too large", 413, "\"plan.exe\" has 5 bytes, more than the 4"),
            json!({"title": "Plan"}),
        ),
        (
            json!({"allowedFileExtensions": [".pdf"]}),
            "exposeInvalidFileExtensionOutcome",
            ("Invalid file extension", 415, "has the extension .exe, and only .pdf are allowed"),
            json!({"title": "Plan"}),
        ),
        (
            json!({"blockedFileExtensions": ["exe"]}),
            "exposeInvalidFileExtensionOutcome",
            ("Invalid file extension", 415, "has the extension .exe, which is not allowed"),
            json!({"title": "Plan"}),
        ),
        (
            json!({"allowedMimeTypes": ["image/*"]}),
            "exposeInvalidFileMimeTypeOutcome",
            ("Invalid file MIME type", 415, "has application/pdf, and only image/* are allowed"),
            json!({"title": "Plan"}),
        ),
    ];
    for (number, (limit, exposing, (outcome, status, said), content)) in
        rows.into_iter().enumerate()
    {
        let (hidden, shown) = (format!("hidden{number}"), format!("shown{number}"));
        let mut exposed = limit.clone();
        exposed[exposing] = json!(true);
        world.publish(&hidden, endpoint(&hidden, &limit)).await;
        world.publish(&shown, endpoint(&shown, &exposed)).await;
        let upload = |path: &str| form(path, "plan.exe", "application/pdf", "12345");
        let answer = world.send(upload(&hidden)).await;
        assert!(answer.header("x-elsa-workflow-instance-id").is_none(), "{limit}: it ran");
        let refused = answer.problem(status);
        assert!(refused.contains(said), "{limit}: {refused}");
        let seen = world.send(upload(&shown)).await.expect(200);
        assert_eq!((&seen["outcome"], &seen["files"]), (&json!(outcome), &json!([])), "{limit}");
        assert_eq!(seen["content"], content, "{limit}");
        let reason = seen["refusal"].as_str().unwrap();
        assert!(reason.contains(said), "{limit}: {reason}");
    }
}

#[tokio::test]
async fn an_upload_within_every_limit_arrives() {
    let world = World::new().await;
    let limits = json!({"requestSizeLimit": 1_000, "fileSizeLimit": 5,
        "allowedFileExtensions": [".pdf"], "blockedFileExtensions": [".exe"],
        "allowedMimeTypes": ["application/pdf"], "exposeFileTooLargeOutcome": true});
    world.publish("good", endpoint("good", &limits)).await;
    let upload = form("good", "Plan.PDF", "application/pdf", "12345");
    let seen = world.send(upload).await.expect(200);
    assert_eq!(
        seen,
        json!({"outcome": "Done", "content": {"title": "Plan"}, "files": ["Plan.PDF"]})
    );
}

/// A waiting instance is asked in the same way as a trigger, and goes on waiting when it refuses.
#[tokio::test]
async fn limits_hold_for_an_instance_that_waits() {
    let world = World::new().await;
    let mut flow = endpoint("later", &json!({"fileSizeLimit": 4}));
    flow["activities"][0]["canStartWorkflow"] = json!(false);
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [flow]});
    world.publish("later", root).await;
    let id = world.begin("later").await;
    world.until(&id, "Suspended").await;
    let upload = |content: &str| form("later", "plan.txt", "text/plain", content);
    assert!(world.send(upload("12345")).await.problem(413).contains("has 5 bytes"));
    let seen = world.send(upload("1234")).await.expect(200);
    assert_eq!(seen["outcome"], "Done");
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn an_impossible_limit_is_a_mistake_in_the_definition() {
    let world = World::new().await;
    let root = endpoint("wrong", &json!({"fileSizeLimit": -1}));
    let definition = json!({"definitionId": "wrong", "root": root});
    let answer = world.post("/elsa/api/workflow-definitions", &definition).await;
    let errors = answer.body["validationErrors"].to_string();
    answer.problem(400);
    assert!(errors.contains("-1 is no number of bytes: give 0 or more"), "{errors}");
}

/// XML as Elsa gives it: its text for a text variable, an object for one that wants values.
#[tokio::test]
async fn xml_is_text_or_a_value_as_the_variable_says() {
    let world = World::new().await;
    let xml = "<order id=\"7\"><item>a</item><item>b</item></order>";
    let sent = |path: &str, body: &str| {
        Request::post(format!("/workflows/{path}"))
            .header("content-type", "application/xml; charset=utf-8")
            .body(Body::from(body.to_owned()))
            .unwrap()
    };
    let expected = json!({"order": {"@id": "7", "item": ["a", "b"]}});
    for (path, type_name, content) in
        [("text", "String", json!(xml)), ("value", "Object", expected)]
    {
        let root = json!({"type": "Elsa.Sequence", "id": "seq",
            "variables": [{"id": "c", "name": "Content", "typeName": type_name}],
            "activities": [
                {"type": "Elsa.HttpEndpoint", "id": "h", "path": path, "canStartWorkflow": true,
                    "supportedMethods": ["POST"], "parsedContent": "Content"},
                {"type": "Elsa.WriteHttpResponse", "id": "w",
                    "content": {"js": "({content: variables.Content})"}}]});
        world.publish(path, root).await;
        let seen = world.send(sent(path, xml)).await.expect(200);
        assert_eq!(seen["content"], content, "{type_name}");
    }
    let refused = world.send(sent("value", "<order>")).await.problem(400);
    assert!(refused.contains("not XML that can be read"), "{refused}");
}

#[tokio::test]
async fn a_download_is_resumed_where_it_broke_off() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.HttpEndpoint", "id": "h", "path": "file", "canStartWorkflow": true},
        {"type": "Elsa.WriteFileHttpResponse", "id": "w", "content": "abcdefghij",
            "filename": "letters.txt", "enableResumableDownloads": true}]});
    world.publish("file", root).await;
    let ask = |headers: &[(&str, &str)]| {
        let mut request = Request::get("/workflows/file");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    };
    let whole = world.send(ask(&[])).await;
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("content-type"), Some("text/plain"));
    let tag = whole.header("etag").unwrap().to_owned();
    assert_eq!(whole.expect(200), "abcdefghij");
    let rest = world.send(ask(&[("range", "bytes=4-"), ("if-range", &tag)])).await;
    assert_eq!(rest.header("content-range"), Some("bytes 4-9/10"));
    assert_eq!(rest.expect(206), "efghij");
    let beyond = world.send(ask(&[("range", "bytes=10-")])).await;
    assert_eq!(beyond.header("content-range"), Some("bytes */10"));
    assert_eq!(beyond.expect(416), "");
    assert_eq!(world.send(ask(&[("if-none-match", &tag)])).await.expect(304), "");
}
