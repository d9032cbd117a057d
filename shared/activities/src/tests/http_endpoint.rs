//! What an HttpEndpoint asks of the server that receives its requests, and what it makes of one.

use engine::Library;
use engine::testing::{env, parsed};
use serde_json::{Value, json};

use super::{causes, engine, player, trigger_problems};

const REQUEST: &str = "__HttpRequest";

/// An endpoint with these settings, which starts the workflow.
fn endpoint(settings: &Value) -> Value {
    let mut node =
        json!({"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"});
    node.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    node
}

/// Each setting, and what the server is told. What a row does not name is as in the first.
#[test]
fn every_setting_reaches_the_server() {
    let usual = json!({"Path": "/x", "Method": "get", "authorize": false, "policy": null,
        "requestTimeout": null, "requestSizeLimit": null});
    let check = |settings: Value, expected: Value| {
        let mut whole = usual.clone();
        whole.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
        let found = causes(json!({
            "variables": [
                {"id": "1", "name": "Any", "typeName": "Object"},
                {"id": "2", "name": "Text", "typeName": "String"},
                {"id": "3", "name": "Number", "typeName": "Int32"}],
            "outputs": [{"name": "Members", "type": "ObjectDictionary"}],
            "root": {"type": "Sequence", "activities": [endpoint(&settings)]}
        }));
        assert_eq!(found.stimuli[0].payload, whole, "{settings}");
    };
    check(json!({}), json!({}));
    check(json!({"path": "/Orders/{Id}/"}), json!({"Path": "/orders/{id}"}));
    check(json!({"supportedMethods": ["PUT"]}), json!({"Method": "put"}));
    check(json!({"authorize": true}), json!({"authorize": true}));
    check(json!({"policy": "orders:write"}), json!({"policy": "orders:write"}));
    check(json!({"requestTimeout": "00:00:05"}), json!({"requestTimeout": "00:00:05"}));
    check(json!({"requestSizeLimit": 9}), json!({"requestSizeLimit": 9}));
    check(json!({"fileSizeLimit": {"js": "3 * 3"}}), json!({"fileSizeLimit": 9}));
    for list in ["allowedFileExtensions", "blockedFileExtensions", "allowedMimeTypes"] {
        check(json!({list: ["a", " ", "b"]}), json!({list: ["a", "b"]}));
        check(json!({list: []}), json!({}));
        check(json!({list: null}), json!({}));
    }
    for (input, outcome) in [
        ("exposeRequestTooLargeOutcome", "Request too large"),
        ("exposeFileTooLargeOutcome", "File too large"),
        ("exposeInvalidFileExtensionOutcome", "Invalid file extension"),
        ("exposeInvalidFileMimeTypeOutcome", "Invalid file MIME type"),
    ] {
        check(json!({input: true}), json!({"exposedOutcomes": [outcome]}));
        check(json!({input: false}), json!({}));
    }
    check(json!({"parsedContent": "Any"}), json!({"readsXml": true}));
    check(json!({"parsedContent": "Members"}), json!({"readsXml": true}));
    check(json!({"parsedContent": "Text"}), json!({}));
    check(json!({"parsedContent": "Number"}), json!({}));
    check(json!({"result": "Any"}), json!({}));
}

#[test]
fn settings_that_make_no_sense_are_problems() {
    let check = |settings: Value, expected: &str| {
        let found = trigger_problems(endpoint(&settings));
        assert_eq!(found, [format!("activity h: {expected}")], "{settings}");
    };
    check(json!({"path": " "}), "path: there is no value: give one");
    check(
        json!({"supportedMethods": []}),
        "supportedMethods: there is no method: give at least one",
    );
    for limit in ["requestSizeLimit", "fileSizeLimit"] {
        let expected = format!("{limit}: -1 is no number of bytes: give 0 or more");
        check(json!({limit: {"js": "-1"}}), &expected);
    }
}

/// Each part of a request, and the output that has it.
#[test]
fn every_part_of_a_request_is_an_output() {
    let file =
        json!({"fileName": "a.txt", "contentType": "text/plain", "size": 2, "content": "aGk="});
    let other = json!({"fileName": "b.txt", "size": 0, "content": ""});
    let request = json!({"method": "POST", "body": {"n": 1}, "routeData": {"id": "7"},
        "query": {"a": ["1", "2"]}, "headers": {"X-A": "1"}, "files": [file, other]});
    let check = |output: &str, request: &Value, expected: Value| {
        let mut player = player(json!({
            "outputs": [{"name": "Got"}], "root": endpoint(&json!({output: "Got"}))
        }));
        player.start_at(Some("h"), json!({REQUEST: request}));
        assert_eq!(player.state().output["Got"], expected, "{output} of {request}");
        assert_eq!(player.outcomes("h"), ["Done"]);
    };
    check("parsedContent", &request, json!({"n": 1}));
    check("parsedContent", &json!({"body": "text"}), json!("text"));
    check("parsedContent", &json!({"body": null, "form": {"a": "1"}}), json!({"a": "1"}));
    check("parsedContent", &json!({"body": null, "form": {}}), Value::Null);
    check("files", &request, json!([file, other]));
    check("file", &request, file);
    check("file", &json!({"files": []}), Value::Null);
    check("routeData", &request, json!({"id": "7"}));
    check("queryStringData", &request, json!({"a": ["1", "2"]}));
    check("headers", &request, json!({"X-A": "1"}));
    check("result", &request, request.clone());
}

/// The reason why the server leaves the body or files out is the outcome.
#[test]
fn a_request_beyond_a_limit_leaves_through_its_outcome() {
    let check = |refusal: Value, outcome: &str| {
        let mut player = player(json!({
            "outputs": [{"name": "Got"}], "root": endpoint(&json!({"result": "Got"}))
        }));
        player.start_at(Some("h"), json!({REQUEST: {"refusal": refusal}}));
        assert_eq!(player.outcomes("h"), [outcome], "{refusal}");
        assert_eq!(player.state().output["Got"]["refusal"], refusal);
    };
    for outcome in
        ["Request too large", "File too large", "Invalid file extension", "Invalid file MIME type"]
    {
        check(json!({"outcome": outcome, "message": "why"}), outcome);
    }
    check(json!({"outcome": "Some other reason"}), "Done");
    check(Value::Null, "Done");
}

#[test]
fn a_connection_that_is_never_followed_is_named_when_it_is_published() {
    let check = |settings: Value, port: &str, expected: &[&str]| {
        let root = json!({"type": "Flowchart", "id": "f", "activities": [endpoint(&settings),
            {"type": "WriteLine", "id": "w"}],
            "connections": [{"source": {"activity": "h", "port": port}, "target": {"activity": "w"}}]});
        let found = engine().examine(&parsed(root).unwrap(), &Library::default(), &env(0));
        let found: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{settings} {port}");
    };
    check(json!({}), "Done", &[]);
    check(json!({"exposeFileTooLargeOutcome": true}), "File too large", &[]);
    let input = "exposeInvalidFileMimeTypeOutcome";
    let said = format!(
        "activity h: {input}: a connection follows the outcome Invalid file MIME type, which is \
         not exposed: set {input}"
    );
    check(json!({}), "Invalid file MIME type", &[&said]);
    check(json!({input: false}), "Invalid file MIME type", &[&said]);
}

/// A trigger inside of a workflow takes one request and then no other.
#[test]
fn a_request_for_any_of_its_methods_is_the_only_one() {
    let check = |method: usize| {
        let mut player = player(json!({"type": "HttpEndpoint", "id": "h", "path": "x",
            "supportedMethods": ["GET", "POST", "DELETE"]}));
        player.start(json!({}));
        let open: Vec<_> = player.state().bookmarks.keys().cloned().collect();
        assert_eq!(open.len(), 3);
        player.resume_at(open[method].clone(), json!({REQUEST: {}}));
        assert!(player.state().bookmarks.is_empty() && player.status().is_final());
    };
    (0..3).for_each(check);
}
