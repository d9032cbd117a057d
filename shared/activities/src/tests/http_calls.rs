//! The activities that make HTTP calls: what they ask for, and what they make of its result.

use std::time::Duration;

use engine::testing::Player;
use engine::{Operation, Request};
use model::SubStatus;
use serde_json::{Value, json};

use super::{oversights, player};

/// Each activity, with the names of its inputs for the content.
const CALLS: [(&str, &str, &str); 3] = [
    ("SendHttpRequest", "content", "contentType"),
    ("FlowSendHttpRequest", "content", "contentType"),
    ("DownloadHttpFile", "requestContent", "requestContentType"),
];

fn call(kind: &str, inputs: &Value) -> Value {
    let mut node = json!({"type": kind, "id": "call", "url": "http://example.test/x"});
    node.as_object_mut().unwrap().extend(inputs.as_object().unwrap().clone());
    node
}

fn called(kind: &str, inputs: &Value) -> Player<'static> {
    let mut player = player(call(kind, inputs));
    player.start(json!({}));
    player
}

fn request(kind: &str, inputs: &Value) -> (Request, Option<Duration>) {
    let player = called(kind, inputs);
    assert_eq!((player.incident(), player.status()), (None, SubStatus::Executing), "{inputs}");
    let call = player.state().calls.values().next().unwrap();
    assert_eq!(player.state().bookmarks[&call.bookmark_id].name, "Call");
    let Operation::Http(request) = &call.operation else { panic!("{call:?}") };
    (request.clone(), call.timeout)
}

/// Each input, and the request that is made. What a row does not name is as in the first.
#[test]
fn every_input_is_a_part_of_the_request() {
    for (kind, content, content_type) in CALLS {
        let usual = || Request {
            url: "http://example.test/x".to_owned(),
            method: "GET".to_owned(),
            as_file: kind == "DownloadHttpFile",
            ..Request::default()
        };
        let check = |inputs: Value, expected: Request| {
            assert_eq!(request(kind, &inputs), (expected, None), "{kind} {inputs}");
        };
        let with = |name: &str, value: &str| Request {
            headers: [(name.to_owned(), value.to_owned())].into(),
            ..usual()
        };
        check(json!({}), usual());
        check(
            json!({"url": "https://a.test"}),
            Request { url: "https://a.test".into(), ..usual() },
        );
        check(json!({"method": " post "}), Request { method: "POST".into(), ..usual() });
        check(json!({content: "text"}), Request { content: json!("text"), ..usual() });
        check(
            json!({content: {"js": "({a: 1})"}}),
            Request { content: json!({"a": 1}), ..usual() },
        );
        check(
            json!({content_type: "x/y"}),
            Request { content_type: Some("x/y".into()), ..usual() },
        );
        check(json!({"authorization": "Bearer t"}), with("Authorization", "Bearer t"));
        let headers = json!({"expression": {"type": "Object", "value": {"X-A": [1, 2]}}});
        check(json!({"requestHeaders": headers}), with("X-A", "1, 2"));
        check(json!({"disableAuthorizationHeaderValidation": true}), usual());
        let (_, timeout) = request(kind, &json!({"requestTimeout": "00:00:05"}));
        assert_eq!(timeout, Some(Duration::from_secs(5)), "{kind}");
    }
}

#[test]
fn a_request_that_cannot_be_made_is_an_incident() {
    for (kind, ..) in CALLS {
        let check = |inputs: Value, expected: &str| {
            let player = called(kind, &inputs);
            assert!(player.state().calls.is_empty());
            assert_eq!(player.incident(), Some(expected), "{kind} {inputs}");
            assert_eq!(player.state().incidents[0].code, "InvalidInput");
        };
        check(json!({"url": null}), "url: there is no value: give one");
        check(json!({"url": "/x"}), "url: \"/x\" is not an absolute http(s) URL");
        check(json!({"url": "ftp://x"}), "url: \"ftp://x\" is not an absolute http(s) URL");
        check(json!({"method": "GET /"}), "method: \"GET /\" is not an HTTP method");
        check(
            json!({"requestTimeout": {"js": "'soon'"}}),
            "requestTimeout: \"soon\" is not a duration: write 00:00:05, PT5S or 5s",
        );
    }
}

/// The result of the call with this output bound to a variable of this type.
fn output(kind: &str, output: &str, type_name: &str, result: &Value) -> Player<'static> {
    let mut player = player(json!({
        "variables": [{"id": "v", "name": "Got", "typeName": type_name}],
        "outputs": [{"name": "Seen"}],
        "root": {"type": "Sequence", "activities": [
            call(kind, &json!({output: "Got"})),
            {"type": "SetOutput", "outputName": "Seen", "outputValue": {"js": "variables.Got"}}]}
    }));
    player.start(json!({}));
    assert!(player.resume("Call", result.clone()));
    player
}

#[test]
fn every_part_of_an_answer_is_an_output() {
    let json = || {
        json!({"statusCode": 201, "content": {"a": 1},
        "headers": {"content-type": "application/json", "x-a": "1"}})
    };
    let headers = json!({"content-type": "application/json", "x-a": "1"});
    let whole = json!({"statusCode": 201, "headers": headers, "content": {"a": 1}});
    let file = json!({"fileName": "a", "contentType": "x/y", "size": 2, "content": "aGk="});
    let download = || json!({"statusCode": 201, "content": file, "headers": {"content-type": "x/y", "x-a": "1"}});
    let send = [
        ("statusCode", json!(201)),
        ("parsedContent", json!({"a": 1})),
        ("responseHeaders", headers),
        ("result", whole),
    ];
    let check = |kind: &str, name: &str, result: &Value, expected: &Value| {
        let player = output(kind, name, "Object", result);
        assert_eq!(player.incident(), None);
        assert_eq!(player.state().output["Seen"], *expected, "{kind} {name}");
    };
    for (name, expected) in &send {
        check("SendHttpRequest", name, &json(), expected);
        check("FlowSendHttpRequest", name, &json(), expected);
    }
    let got = |member: &str| download()[member].clone();
    for (name, expected) in [
        ("statusCode", json!(201)),
        ("response", download()),
        ("responseHeaders", got("headers")),
        ("responseContentHeaders", json!({"content-type": "x/y"})),
        ("responseContentStream", got("content")),
        ("responseContentBytes", json!("aGk=")),
        ("result", got("content")),
    ] {
        check("DownloadHttpFile", name, &download(), &expected);
    }
    check("SendHttpRequest", "parsedContent", &json!({"statusCode": 204}), &Value::Null);
    check("DownloadHttpFile", "responseContentBytes", &json!({"statusCode": 204}), &Value::Null);
    let empty = json!({"fileName": "e.bin", "contentType": "x/y", "size": 0, "content": ""});
    let answer = json!({"statusCode": 200, "content": empty});
    for (name, expected) in [
        ("result", &empty),
        ("responseContentStream", &empty),
        ("responseContentBytes", &json!("")),
    ] {
        check("DownloadHttpFile", name, &answer, expected);
    }
}

/// XML as Elsa gives it: its text for a text variable, an object for one that wants values.
#[test]
fn xml_is_text_or_a_value_as_the_variable_says() {
    let xml = |content: &str, kind: &str| json!({"statusCode": 200, "content": content, "headers": {"content-type": kind}});
    const TEXT: &str = "<a b=\"1\"><c>2</c></a>";
    let value = json!({"a": {"@b": "1", "c": "2"}});
    for kind in ["SendHttpRequest", "FlowSendHttpRequest"] {
        let check = |type_name: &str, media_type: &str, expected: &Value| {
            let player = output(kind, "parsedContent", type_name, &xml(TEXT, media_type));
            assert_eq!(player.incident(), None);
            assert_eq!(player.state().output["Seen"], *expected, "{type_name} {media_type}");
        };
        check("Object", "application/xml", &value);
        check("ObjectDictionary", "Text/XML; charset=utf-8", &value);
        check("Object", "application/problem+xml", &value);
        check("String", "application/xml", &json!(TEXT));
        check("Object", "text/plain", &json!(TEXT));
        let player = output(kind, "parsedContent", "Object", &xml("<a>", "text/xml"));
        assert_eq!(player.state().incidents[0].code, "InvalidXml");
        assert!(player.incident().unwrap().contains("a variable of type String gets the text"));
        let player = output(kind, "parsedContent", "String", &xml("<a>", "text/xml"));
        assert_eq!((player.incident(), &player.state().output["Seen"]), (None, &json!("<a>")));
        let player = output(kind, "result", "Object", &xml(TEXT, "text/xml"));
        assert_eq!(player.state().output["Seen"]["content"], TEXT, "nothing gets the content");
    }
}

const ENDS: [(&str, &str, &str); 4] = [
    ("timeout", "HttpTimeout", "late"),
    ("connect", "HttpConnect", "unreachable"),
    ("refused", "HttpRefused", "unreachable"),
    ("anything", "HttpConnect", "unreachable"),
];

/// Each end of a call, and the activity that runs for it; without one, an incident.
#[test]
fn the_end_of_a_call_runs_the_activity_for_it() {
    let line = |text: &str| json!({"type": "WriteLine", "text": text});
    let codes = json!([{"statusCode": 200, "activity": line("good")}, {"statusCode": 204},
        {"statusCode": "201", "activity": line("made")}]);
    let all = json!({"expectedStatusCodes": codes, "unmatchedStatusCode": line("unmatched"),
        "failedToConnect": line("unreachable"), "timeout": line("late")});
    let check = |inputs: &Value, result: Value, lines: &[&str], code: Option<&str>| {
        let mut player = called("SendHttpRequest", inputs);
        assert!(player.resume("Call", result.clone()));
        let incident = player.state().incidents.first().map(|incident| incident.code.as_str());
        assert_eq!((player.lines(), incident), (lines.to_vec(), code), "{result}");
        assert!(player.status().is_final() && player.state().calls.is_empty());
    };
    check(&all, json!({"statusCode": 200}), &["good"], None);
    check(&all, json!({"statusCode": 201}), &["made"], None);
    check(&all, json!({"statusCode": 204}), &[], None);
    check(&all, json!({"statusCode": 500}), &["unmatched"], None);
    check(&json!({}), json!({"statusCode": 500}), &[], None);
    for (error, code, said) in ENDS {
        let result = || json!({"error": error, "message": "why"});
        check(&all, result(), &[said], None);
        check(&json!({}), result(), &[], Some(code));
    }
}

/// A case for a status that no answer has would never run: who publishes it is told.
#[test]
fn a_case_has_a_status_code() {
    let found = |code: Value| {
        let codes = json!([{"statusCode": code}]);
        oversights(call("SendHttpRequest", &json!({"expectedStatusCodes": codes})))
    };
    for code in [json!(100), json!(599), json!(" 404 ")] {
        assert_eq!(found(code.clone()), [""; 0], "{code}");
    }
    for code in [json!(99), json!(600), json!(-5), json!("2xx"), json!(null)] {
        let said = format!("{code} is not an HTTP status code: use 100 to 599");
        let found = found(code);
        assert!(found.len() == 1 && found[0].contains(&said), "{said}: {found:?}");
    }
}

/// Each end of a call, and the outcomes through which it leaves.
#[test]
fn the_end_of_a_call_is_its_outcome() {
    let chart = |kind: &str, inputs: &Value, ports: &[&str]| {
        let lines =
            ["late", "unreachable"].map(|id| json!({"type": "WriteLine", "id": id, "text": id}));
        let [late, unreachable] = lines;
        let connections: Vec<_> = ports
            .iter()
            .map(|port| {
                let target = if *port == "Timeout" { "late" } else { "unreachable" };
                json!({"source": "call", "sourcePort": port, "target": target})
            })
            .collect();
        let mut player = player(json!({"type": "Flowchart", "start": "call",
            "activities": [call(kind, inputs), late, unreachable], "connections": connections}));
        player.start(json!({}));
        player
    };
    for kind in ["FlowSendHttpRequest", "DownloadHttpFile"] {
        let check = |codes: Value, status: u16, expected: &[&str]| {
            let mut player = chart(kind, &json!({"expectedStatusCodes": codes}), &[]);
            assert!(player.resume("Call", json!({"statusCode": status})));
            assert_eq!(player.outcomes("call"), expected, "{kind} {codes} {status}");
            assert_eq!(player.incident(), None);
        };
        check(json!(null), 200, &["200", "Done"]);
        check(json!(null), 404, &["Unmatched status code", "Done"]);
        check(json!([201, 404]), 404, &["404", "Done"]);
        check(json!(["NotFound"]), 404, &["404", "Done"]);
        check(json!([]), 404, &["Done"]);
        for (error, code, said) in ENDS {
            let result = || json!({"error": error, "message": "why"});
            let mut connected = chart(kind, &json!({}), &["Timeout", "Failed to connect"]);
            assert!(connected.resume("Call", result()));
            assert_eq!((connected.incident(), connected.lines()), (None, vec![said]), "{error}");
            let mut alone = chart(kind, &json!({}), &[]);
            assert!(alone.resume("Call", result()));
            let incident = &alone.state().incidents[0];
            assert_eq!((incident.code.as_str(), incident.message.as_str()), (code, "why"));
        }
    }
}
