//! What WriteHttpResponse and WriteFileHttpResponse answer, for each of their inputs.

use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::testing::{Player, env, parsed};
use engine::{Effect, Library, Response};
use serde_json::{Value, json};
use zip::ZipArchive;

use super::{engine, player};

/// The activity with these inputs, after a request, and its player.
fn answered(kind: &str, inputs: &Value) -> Player<'static> {
    let mut node = json!({"type": kind, "id": "w"});
    node.as_object_mut().unwrap().extend(inputs.as_object().unwrap().clone());
    let mut player = player(json!({"type": "Sequence", "activities": [
        {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"}, node
    ]}));
    player.start_at(Some("h"), json!({}));
    player
}

fn answer(kind: &str, inputs: &Value) -> Response {
    let player = answered(kind, inputs);
    assert_eq!(player.incident(), None, "{inputs}");
    assert_eq!(player.outcomes("w"), ["Done"], "{inputs}");
    let [Effect::Respond(response)] = player.effects.as_slice() else {
        panic!("{inputs}: {:?}", player.effects)
    };
    response.clone()
}

fn incident(kind: &str, inputs: &Value) -> (String, String) {
    let player = answered(kind, inputs);
    assert!(player.effects.is_empty(), "{inputs}: {:?}", player.effects);
    let incident = player.state().incidents.last().unwrap();
    (incident.code.clone(), incident.message.clone())
}

/// A value that is no expression.
fn object(value: Value) -> Value {
    json!({"expression": {"type": "Object", "value": value}})
}

fn file(name: &str, kind: Option<&str>, content: &str) -> Value {
    json!({"fileName": name, "contentType": kind, "content": STANDARD.encode(content)})
}

const PLAIN: &str = "WriteHttpResponse";
const FILE: &str = "WriteFileHttpResponse";

#[test]
fn an_answer_has_the_status_that_is_given() {
    for (status, expected) in [
        (json!(null), 200),
        (json!(404), 404),
        (json!("404"), 404),
        (json!("NotFound"), 404),
        (json!({"js": "200 + 1"}), 201),
    ] {
        assert_eq!(answer(PLAIN, &json!({"statusCode": status})).status_code, expected, "{status}");
    }
    for wrong in [json!({"js": "'Sometimes'"}), json!({"js": "99"}), json!({"js": "600"})] {
        let (code, message) = incident(PLAIN, &json!({"statusCode": wrong}));
        assert_eq!(code, "InvalidInput", "{wrong}: {message}");
        assert!(message.starts_with("statusCode: "), "{message}");
    }
}

/// Content and its type: text as it is, a file as its bytes, anything else as JSON.
#[test]
fn an_answer_has_the_content_that_is_given() {
    let check = |inputs: Value, content: Value, content_type: Option<&str>, is_base64: bool| {
        let said = answer(PLAIN, &inputs);
        let found = (said.content, said.content_type.as_deref(), said.is_base64);
        assert_eq!(found, (content, content_type, is_base64), "{inputs}");
    };
    check(json!({}), Value::Null, None, false);
    check(json!({"content": "hi"}), json!("hi"), None, false);
    check(json!({"content": ""}), json!(""), None, false);
    check(json!({"content": {"js": "7"}}), json!(7), None, false);
    check(json!({"content": object(json!([1, null]))}), json!([1, null]), None, false);
    check(
        json!({"content": "<p>", "contentType": "text/html"}),
        json!("<p>"),
        Some("text/html"),
        false,
    );
    let png = || object(file("a", Some("image/png"), "hi"));
    check(json!({"content": png()}), json!("aGk="), Some("image/png"), true);
    check(
        json!({"content": png(), "contentType": "image/x"}),
        json!("aGk="),
        Some("image/x"),
        true,
    );
    let (code, message) =
        incident(PLAIN, &json!({"content": object(json!({"fileName": "a", "content": "?"}))}));
    assert_eq!(code, "InvalidInput");
    assert!(message.contains("the content of a file is not base64"), "{message}");
}

#[test]
fn an_answer_is_written_in_the_charset_that_it_names() {
    let said = |content: Value, kind: &str| {
        let said = answer(PLAIN, &json!({"content": content, "contentType": kind}));
        (said.content, said.is_base64)
    };
    assert_eq!(said(json!("é"), "text/plain; charset=iso-8859-1"), (json!("6Q=="), true));
    assert_eq!(said(json!("é"), "text/plain; charset=utf-8"), (json!("é"), false));
    let wrong = json!({"content": "日", "contentType": "text/plain; charset=latin1"});
    let (code, message) = incident(PLAIN, &wrong);
    assert_eq!(code, "InvalidInput");
    assert!(message.contains("a character is not in windows-1252: use UTF-8"), "{message}");
}

#[test]
fn an_answer_has_the_headers_that_are_given() {
    let check = |value: Value, expected: &str| {
        let headers = object(json!({"X-A": value}));
        let said = answer(PLAIN, &json!({"responseHeaders": headers}));
        assert_eq!(said.headers["X-A"], expected, "{value}");
    };
    check(json!("1"), "1");
    check(json!(1), "1");
    check(json!(true), "true");
    check(json!(null), "");
    check(json!(["first", "second"]), "first\nsecond");
    let none = object(json!({"X-A": []}));
    assert!(answer(PLAIN, &json!({"responseHeaders": none})).headers.is_empty());
    assert!(answer(PLAIN, &json!({})).headers.is_empty());
}

#[test]
fn nobody_is_answered_twice_and_nobody_is_no_one() {
    for kind in [PLAIN, FILE] {
        let node = json!({"type": kind, "content": "x"});
        let mut alone = player(node.clone());
        alone.start(json!({}));
        assert_eq!(alone.state().incidents[0].code, "NoHttpContext");
        let mut twice = player(json!({"type": "Sequence", "activities": [
            {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"}, node, node
        ]}));
        twice.start_at(Some("h"), json!({}));
        assert_eq!(twice.effects.len(), 1);
        assert_eq!(twice.state().incidents[0].code, "NoHttpContext");
    }
}

/// A file's name and type: those that are given, else its own, else those that its name suggests.
#[test]
fn a_download_has_a_name_and_a_type() {
    let check = |inputs: Value, content_type: &str, name: &str| {
        let said = answer(FILE, &inputs);
        assert_eq!((said.status_code, said.is_base64), (200, true), "{inputs}");
        assert_eq!(said.content_type.as_deref(), Some(content_type), "{inputs}");
        let expected = format!("attachment; filename={name}");
        assert_eq!(said.headers["Content-Disposition"], expected, "{inputs}");
    };
    let octets = "application/octet-stream";
    check(json!({"content": "x"}), octets, "\"file.bin\"");
    check(json!({"content": "x", "filename": "a.csv"}), "text/csv", "\"a.csv\"");
    check(json!({"content": "x", "filename": "a.unheard"}), octets, "\"a.unheard\"");
    check(json!({"content": "x", "filename": "a.csv", "contentType": "x/y"}), "x/y", "\"a.csv\"");
    let own = || object(file("own.pdf", Some("x/own"), "x"));
    check(json!({"content": own()}), "x/own", "\"own.pdf\"");
    check(json!({"content": own(), "filename": "b.csv"}), "x/own", "\"b.csv\"");
    check(json!({"content": object(file("own.pdf", None, "x"))}), "application/pdf", "\"own.pdf\"");
    let exact = "\"__.zip\"; filename*=UTF-8''%C3%A9%22.zip";
    check(json!({"content": "x", "filename": "é\".zip"}), "application/zip", exact);
}

/// What is in a download: text, JSON, a file's bytes, or nothing.
#[test]
fn a_download_has_the_bytes_that_are_given() {
    let check = |content: Value, expected: &str| {
        let said = answer(FILE, &json!({"content": content}));
        assert_eq!(said.content, json!(STANDARD.encode(expected)), "{content}");
    };
    check(json!("é"), "é");
    check(json!("aGk="), "aGk=");
    check(json!("data:text/plain;base64,aGk="), "data:text/plain;base64,aGk=");
    check(object(json!({"a": 1})), "{\"a\":1}");
    check(object(file("a", None, "hi")), "hi");
    check(object(json!([file("a", None, "hi")])), "hi");
    let said = answer(FILE, &json!({"content": null, "filename": "a"}));
    assert_eq!(said, Response { status_code: 204, ..Response::default() });
    let said = answer(FILE, &json!({"content": "hi"}));
    assert_eq!(said.headers["Content-Disposition"], "attachment; filename=\"file.bin\"");
    let check = |content: Value, said: &str| {
        let (code, message) = incident(FILE, &json!({"content": content}));
        assert!(code == "InvalidInput" && message.contains(said), "{content}: {code} {message}");
    };
    check(object(json!({"fileName": "a", "content": "?"})), "not base64");
    check(json!({"js": "'https://example.test/a.pdf'"}), "get it with DownloadHttpFile");
    check(object(json!(["a", " http://example.test/b "])), "http://example.test/b is the URL");
}

/// Bytes of a script are the content, and not the text that they are in base64.
#[test]
fn bytes_that_a_script_computes_are_the_content() {
    let script = |text: &str| json!({"content": {"js": text}});
    for kind in ["WriteFileHttpResponse", "WriteHttpResponse"] {
        let response = answer(kind, &script("bytesFromString('h\u{e9}')"));
        assert!(response.is_base64, "{kind}");
        assert_eq!(
            STANDARD.decode(response.content.as_str().unwrap()).unwrap(),
            "h\u{e9}".as_bytes()
        );
    }
    let response = answer("WriteFileHttpResponse", &script("bytesFromString('')"));
    assert_eq!((response.status_code, &response.content), (200, &json!("")));
    let response = answer(
        "WriteFileHttpResponse",
        &script("[bytesFromString('one'), new Uint8Array([0, 255])]"),
    );
    let bytes = STANDARD.decode(response.content.as_str().unwrap()).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut found = Vec::new();
    for at in 0..archive.len() {
        let mut bytes = Vec::new();
        archive.by_index(at).unwrap().read_to_end(&mut bytes).unwrap();
        found.push(bytes);
    }
    assert_eq!(found, [b"one".to_vec(), vec![0, 255]]);
}

#[test]
fn several_files_are_an_archive() {
    let files = json!([file("a.txt", None, "one"), "two", file("a.txt", None, "three"),
        {"entryName": "x/y.json", "content": {"n": 4}}]);
    let said = answer(FILE, &json!({"content": object(files.clone())}));
    assert_eq!(said.content_type.as_deref(), Some("application/zip"));
    assert_eq!(said.headers["Content-Disposition"], "attachment; filename=\"download.zip\"");
    let bytes = STANDARD.decode(said.content.as_str().unwrap()).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let expected =
        [("a.txt", "one"), ("file2", "two"), ("a (2).txt", "three"), ("x/y.json", "{\"n\":4}")];
    assert_eq!(archive.len(), expected.len());
    for (name, expected) in expected {
        let mut text = String::new();
        archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, expected, "{name}");
    }
    let empty = answer(FILE, &json!({"content": object(json!([]))}));
    let bytes = STANDARD.decode(empty.content.as_str().unwrap()).unwrap();
    assert_eq!(ZipArchive::new(Cursor::new(bytes)).unwrap().len(), 0);
    let again = answer(FILE, &json!({"content": object(files)}));
    assert_eq!(again.content, said.content, "so that its download can be resumed");
    let wrong = json!([file("../a", None, "x"), "two"]);
    let (_, message) = incident(FILE, &json!({"content": object(wrong)}));
    assert!(message.contains("\"../a\" is not a name for a file in an archive"), "{message}");
}

/// A download that can be resumed has the tag that is given, or the hash of its bytes.
#[test]
fn a_download_can_be_resumed_if_that_is_allowed() {
    let check = |inputs: Value, tag: Option<&str>, ranges: Option<&str>| {
        let mut inputs = inputs;
        inputs["content"] = json!("hi");
        let said = answer(FILE, &inputs);
        let header = |name: &str| said.headers.get(name).map(String::as_str);
        assert_eq!((header("ETag"), header("Accept-Ranges")), (tag, ranges), "{inputs}");
    };
    let hash = "\"j0NDRmSPa5bfid2pAcUXaxCm2Dlh3TwayItZstwyeqQ=\"";
    check(json!({}), None, None);
    check(json!({"entityTag": "7"}), None, None);
    for tag in ["\"7\"", "W/\"7\""] {
        let inputs = json!({"enableResumableDownloads": true, "entityTag": tag});
        check(inputs, Some(tag), Some("bytes"));
    }
    check(json!({"enableResumableDownloads": true}), Some(hash), Some("bytes"));
    check(
        json!({"enableResumableDownloads": true, "entityTag": "7"}),
        Some("\"7\""),
        Some("bytes"),
    );
}

#[test]
fn mistakes_of_a_download_are_named_when_it_is_published() {
    let check = |inputs: Value, expected: &[&str]| {
        let mut node = json!({"type": FILE, "id": "w"});
        node.as_object_mut().unwrap().extend(inputs.as_object().unwrap().clone());
        let found = engine().examine(&parsed(node).unwrap(), &Library::default(), &env(0));
        let found: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    };
    check(json!({"content": "text", "enableResumableDownloads": true}), &[]);
    check(json!({"content": "https://example.test/a"}), &["get it with DownloadHttpFile"]);
    let literal = json!({"typeName": "String", "expression": {"type": "Literal", "value": ""}});
    check(json!({"content": "text", "downloadCorrelationId": literal}), &[]);
    check(
        json!({"content": "text", "downloadCorrelationId": "7"}),
        &["has no effect: a download is resumed by its ETag"],
    );
}
