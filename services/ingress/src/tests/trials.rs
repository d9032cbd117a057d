//! Test runs of whole workflows, which are sent and not saved.

use std::sync::Arc;

use serde_json::{Value, json};

use super::world::World;
use crate::app::TEST_RUNS_MAX;

const RUN: &str = "/elsa/api/tests/workflows";
const CASES: &str = "/elsa/api/tests/cases";
const CHECK: &str = "/elsa/api/tests/cases/check";
const MAKE: &str = "/elsa/api/tests/cases/make";
const INSTANCES: &str = "/elsa/api/workflow-instances";

/// Asks for a price, says it, waits for an event, and says that it is over.
fn shipping() -> Value {
    json!({
        "definitionId": "shipping",
        "inputs": [{"name": "Order", "type": "String"}],
        "outputs": [{"name": "Price", "type": "Object"}],
        "variables": [{"id": "v1", "name": "Rate", "typeName": "Object"}],
        "root": {"type": "Elsa.Sequence", "id": "all", "activities": [
            {"type": "Elsa.SendHttpRequest", "id": "rate",
                "url": {"js": "`https://rates.example.com/${getInput('Order')}?key=1`"},
                "parsedContent": {"typeName": "Object", "memoryReference": {"id": "v1"}}},
            {"type": "Elsa.WriteLine", "id": "say", "text": {"js": "`costs ${variables.Rate.price}`"}},
            {"type": "Elsa.Delay", "id": "later", "timeSpan": "01:00:00"},
            {"type": "Elsa.Event", "id": "wait", "eventName": "Paid"},
            {"type": "Elsa.SetOutput", "id": "price", "outputName": "Price",
                "outputValue": {"js": "variables.Rate.price"}}]}})
}

fn with(more: Value) -> Value {
    let mut body = json!({"model": shipping(), "input": {"Order": "7"}});
    let Value::Object(more) = more else { return body };
    body.as_object_mut().unwrap().extend(more);
    body
}

/// The ids of the activities that began, in order.
fn path(ran: &Value) -> Vec<&str> {
    let activities = ran["activities"].as_array().unwrap();
    activities.iter().map(|one| one["activityId"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_workflow_is_tried_out_as_it_is_sent_and_nothing_leaves() {
    let world = World::new().await;
    let calls = json!({"GET https://rates.example.com/*": {"body": {"price": 12}}});
    let sent = with(json!({"calls": calls, "steps": [{"event": "Paid"}]}));
    let ran = world.post(RUN, &sent).await.expect(200);
    assert_eq!((&ran["status"], &ran["stopped"]), (&json!("Finished"), &Value::Null), "{ran:#}");
    assert_eq!(path(&ran), ["all", "rate", "say", "later", "wait", "price"]);
    assert_eq!(ran["outputs"], json!({"Price": 12}));
    assert_eq!(ran["lines"], json!(["costs 12"]));
    assert_eq!(ran["took"], "01:00:00");
    assert_eq!(ran["notSent"], json!(["GET https://rates.example.com/7?…"]));
    let rate = &ran["activities"][1];
    assert_eq!(rate["inputs"]["Url"], "https://rates.example.com/7?key=1", "{rate:#}");
    assert_eq!(rate["outputs"]["ParsedContent"], json!({"price": 12}), "{rate:#}");
    assert_eq!((&rate["status"], &rate["isPinned"]), (&json!("Completed"), &json!(false)));
    assert_eq!(rate["activityNodeId"], "Workflow1:all:rate");
    assert_eq!(ran["activities"][2]["inputs"]["Text"], "costs 12");

    let waits = world.post(RUN, &with(json!({"calls": calls}))).await.expect(200);
    assert_eq!(waits["status"], "Suspended");
    assert_eq!(waits["waits"][0]["activityId"], "wait", "{waits:#}");
    assert_eq!(waits["activities"][4]["status"], "Suspended");

    assert_eq!(world.get(INSTANCES).await.expect(200)["totalCount"], 0, "nothing is stored");
    let saved = world.get("/elsa/api/workflow-definitions").await.expect(200);
    assert_eq!(saved["totalCount"], 0, "the definition neither");
    let audit = world.get("/elsa/api/audit").await.expect(200);
    assert_eq!(audit["items"][0]["what"], "workflow.test", "{audit:#}");
}

#[tokio::test]
async fn a_pinned_activity_does_nothing_and_the_run_goes_on_from_its_result() {
    let world = World::new().await;
    let pins = json!({"rate": {"outputs": {"parsedContent": {"price": 3}}}, "wait": {}});
    let ran = world.post(RUN, &with(json!({"pins": pins}))).await.expect(200);
    assert_eq!(ran["status"], "Finished", "{ran:#}");
    assert_eq!((&ran["outputs"], &ran["notSent"]), (&json!({"Price": 3}), &json!([])));
    let rate = &ran["activities"][1];
    assert_eq!((&rate["isPinned"], &rate["inputs"]), (&json!(true), &json!({})), "{rate:#}");
    assert_eq!(rate["outputs"], json!({"ParsedContent": {"price": 3}}));
    assert_eq!(ran["activities"][4]["isPinned"], true);
    assert_eq!(ran["activities"][2]["isPinned"], false);

    let until = with(json!({"pins": pins, "until": "Workflow1:all:say"}));
    let ran = world.post(RUN, &until).await.expect(200);
    assert_eq!(path(&ran), ["all", "rate", "say"]);
    assert_eq!(ran["stopped"]["reason"], "Asked");
    assert_eq!(ran["stopped"]["activityId"], "say");

    for (pins, told) in [
        (json!({"gone": {}}), "no activity \"gone\""),
        (json!({"say": {"outcome": "Maybe"}}), "no outcome \"Maybe\""),
        (json!({"rate": {"outputs": {"Colour": 1}}}), "no output \"Colour\""),
        (json!({"rate": {"result": 1}}), "member pins: result means nothing here"),
        (json!([]), "member pins: write an object"),
    ] {
        let refused = world.post(RUN, &with(json!({"pins": pins}))).await.problem(400);
        assert!(refused.contains(told), "{refused}");
    }
    let many: serde_json::Map<_, _> = (0..1001).map(|at| (format!("a{at}"), json!({}))).collect();
    let refused = world.post(RUN, &with(json!({"pins": many}))).await.problem(400);
    assert!(refused.contains("1001 pins: use 1000 at most"), "{refused}");
}

#[tokio::test]
async fn a_call_that_no_answer_fits_stops_the_run_and_secrets_are_those_that_are_sent() {
    let world = World::new().await;
    let ran = world.post(RUN, &with(json!({}))).await.expect(200);
    assert_eq!(ran["stopped"]["reason"], "Unanswered", "{ran:#}");
    assert_eq!(ran["stopped"]["activityId"], "rate");
    let message = ran["stopped"]["message"].as_str().unwrap();
    assert!(message.contains("calls GET https://rates.example.com/7"), "{message}");

    let secretive = json!({"root": {"type": "Elsa.WriteLine", "id": "line",
        "text": {"js": "typeof (await getSecret('Key'))"}}});
    let ran = world.post(RUN, &json!({"model": secretive})).await.expect(200);
    assert_eq!(ran["status"], "Faulted", "{ran:#}");
    let fault = ran["activities"][0]["fault"].as_str().unwrap();
    assert!(fault.contains("there is no secret \"Key\": add it to secrets"), "{fault}");
    assert_eq!(ran["incidents"][0]["activityId"], "line");
    let sent = json!({"model": secretive, "secrets": {"Key": "abc"}});
    let ran = world.post(RUN, &sent).await.expect(200);
    assert_eq!(ran["status"], "Finished", "{ran:#}");
    assert_eq!(ran["lines"], json!(["***"]), "what is made of a secret is not shown");
}

#[tokio::test]
async fn a_run_that_does_not_end_is_stopped_and_what_cannot_run_is_refused() {
    let world = World::new().await;
    let endless = |body: Value| {
        json!({"model": {"root": {"type": "Elsa.While", "id": "w", "condition": true,
            "body": body}}})
    };
    let line = json!({"type": "Elsa.WriteLine", "id": "l", "text": "x"});
    let ran = world.post(RUN, &endless(line)).await.expect(200);
    let told = ran["stopped"]["message"].as_str().or(ran["activities"][0]["fault"].as_str());
    assert!(told.unwrap().contains("5000 activities"), "{}", ran["stopped"]);
    let delay = json!({"type": "Elsa.Delay", "id": "d", "timeSpan": "01:00:00"});
    let ran = world.post(RUN, &endless(delay)).await.expect(200);
    assert!(ran["stopped"]["message"].as_str().unwrap().contains("1000 timers"), "{ran:#}");
    let long = "'x'.repeat(3000000)";
    let grows = json!({"model": {"variables": [{"id": "v", "name": "V", "typeName": "String"}],
        "root": {"type": "Elsa.While", "id": "w", "condition": true, "body": {
            "type": "Elsa.SetVariable", "id": "s", "variable": {"id": "v", "name": "V"},
            "value": {"js": long}}}}});
    let ran = world.post(RUN, &grows).await.expect(200);
    assert!(ran["stopped"]["message"].as_str().unwrap().contains("bytes"), "{}", ran["stopped"]);

    let refused = world.post(RUN, &json!({"input": {}})).await.problem(400);
    assert!(refused.contains("not a workflow definition"), "{refused}");
    let unknown = json!({"model": {"root": {"type": "Elsa.Nothing", "id": "n"}}});
    let answer = world.post(RUN, &unknown).await.expect(400);
    assert_eq!(answer["validationErrors"][0]["activityId"], "n", "{answer:#}");
    for (more, told) in [
        (json!({"until": "gone"}), "member until: there is no activity \"gone\""),
        (json!({"until": 5}), "member until is no text"),
        (json!({"colour": 5}), "member colour: colour means nothing here"),
        (json!({"calls": {"x": {}}}), "member calls: \"x\" names no call"),
        (json!({"start": {"event": "E"}}), "the event E starts no instance"),
    ] {
        let refused = world.post(RUN, &with(more)).await.problem(400);
        assert!(refused.contains(told), "{refused}");
    }
    let needs = json!({"model": {"inputs": [{"name": "N", "type": "Int32", "isRequired": true}],
        "root": {"type": "Elsa.WriteLine", "id": "l", "text": "x"}}});
    let refused = world.post(RUN, &needs).await.problem(400);
    assert!(refused.contains("N: it is required"), "{refused}");
}

#[tokio::test]
async fn the_tests_of_a_file_run_with_the_definition_that_is_sent() {
    let world = World::new().await;
    let cases = "pins: {rate: {outputs: {ParsedContent: {price: 3}}}, wait: {}}\ntests:\n  \
        it says it: {expect: {lines: [costs 3]}}\n  \
        it says something else: {expect: {lines: [costs 4]}}\n";
    let sent = json!({"model": shipping(), "cases": cases});
    let ran = world.post(CASES, &sent).await.expect(200);
    assert_eq!(ran["passed"], false);
    assert_eq!(
        ran["cases"][0],
        json!({"name": "it says it", "line": 3, "passed": true,
        "differences": []})
    );
    let difference = ran["cases"][1]["differences"][0].as_str().unwrap();
    assert!(difference.starts_with("line 4: lines differs"), "{difference}");
    let in_json = json!({"pins": {"wait": {}, "rate": {"outputs": {"ParsedContent": {"price": 3}}}},
        "tests": {"it": {"expect": {"lines": ["costs 3"]}}}});
    for cases in [cases.to_owned(), in_json.to_string()] {
        let sent = json!({"model": shipping(), "cases": format!("\u{feff}{cases}")});
        let ran = world.post(CASES, &sent).await.expect(200);
        assert_eq!(ran["cases"][0]["passed"], true, "after a byte order mark: {ran:#}");
    }
    for (cases, told) in [
        (json!(null), "member cases is missing"),
        (json!("tests: {a: {}}"), "member cases: 1:9: the test expects nothing"),
        (json!("{\"tests\": "), "member cases: "),
    ] {
        let sent = json!({"model": shipping(), "cases": cases});
        let refused = world.post(CASES, &sent).await.problem(400);
        assert!(refused.contains(told), "{refused}");
    }
    let many: String = (0..101).map(|at| format!("  t{at}: {{expect: {{}}}}\n")).collect();
    let sent = json!({"model": shipping(), "cases": format!("tests:\n{many}")});
    assert!(world.post(CASES, &sent).await.problem(400).contains("at most 100 at once"));
}

#[tokio::test]
async fn a_test_that_is_made_of_a_run_passes_until_the_workflow_does_something_else() {
    let world = World::new().await;
    let pins = json!({"rate": {"outputs": {"ParsedContent": {"price": 3}}}});
    let sent = with(json!({"pins": pins, "calls": {}, "secrets": {"Key": "abc"}}));
    let case = world.post(MAKE, &sent).await.expect(200)["case"].clone();
    let expected = json!({"input": {"Order": "7"}, "pins": pins, "secrets": {"Key": "made-up"},
        "expect": {"status": "Suspended", "lines": ["costs 3"], "waits": ["wait"]}});
    assert_eq!(case, expected, "{case:#}");
    let cases = json!({"tests": {"it": case}}).to_string();
    let run = async |model: Value| {
        let sent = json!({"model": model, "cases": cases});
        world.post(CASES, &sent).await.expect(200)["cases"][0].clone()
    };
    assert_eq!(run(shipping()).await["differences"], json!([]));
    let mut other = shipping();
    other["root"]["activities"][1]["text"] = json!("something else");
    let told = run(other).await["differences"][0].as_str().unwrap().to_owned();
    assert!(told.contains("lines differs") && told.contains("something else"), "{told}");

    let ends = with(json!({"pins": {"rate": {"outputs": {"ParsedContent": {"price": 3}}},
        "wait": {}}}));
    let made = world.post(MAKE, &ends).await.expect(200);
    assert_eq!(
        made["case"]["expect"],
        json!({"status": "Finished", "output": {"Price": 3}, "lines": ["costs 3"]})
    );
    let audit = world.get("/elsa/api/audit").await.expect(200);
    assert_eq!(audit["items"][0]["what"], "workflow.test", "{audit:#}");
    for (more, told) in [
        (json!({}), "activity rate calls GET https://rates.example.com/7"),
        (json!({"until": "say"}), "member until: a test runs to its end"),
        (json!({"pins": {"gone": {}}}), "pins: "),
        (json!({"colour": 5}), "member colour: colour means nothing here"),
        (json!({"expect": {}, "colour": 5}), "member colour"),
        (json!({"time": {}}), "member time: "),
    ] {
        let refused = world.post(MAKE, &with(more)).await.problem(400);
        assert!(refused.contains(told), "{refused}");
    }
}

#[tokio::test]
async fn a_test_file_is_read_and_written_and_its_flaws_have_places() {
    let world = World::new().await;
    let cases = json!({"pins": {"wait": {}}, "tests": {
        "7 is sent": {"input": {"Order": "7"}, "expect": {"lines": ["costs: 3"]}}}});
    let written = world.post(CHECK, &json!({"cases": cases})).await.expect(200);
    assert_eq!((&written["cases"], &written["flaws"]), (&cases, &json!([])), "{written:#}");
    let text = written["text"].as_str().unwrap();
    assert!(text.starts_with("pins:"), "{text}");
    let read = world.post(CHECK, &json!({"cases": text})).await.expect(200);
    assert_eq!(read, written);

    let flawed = world.post(CHECK, &json!({"cases": "tests:\n  a: {}\n"})).await.expect(200);
    assert_eq!(flawed["cases"], json!({"tests": {"a": {}}}));
    let flaw = &flawed["flaws"][0];
    assert_eq!((&flaw["line"], &flaw["column"]), (&json!(2), &json!(3)));
    assert!(flaw["message"].as_str().unwrap().contains("write expect"), "{flaw}");
    for text in ["tests: [", "5"] {
        let unread = world.post(CHECK, &json!({"cases": text})).await.expect(200);
        assert_eq!(unread["cases"], Value::Null, "{unread:#}");
        assert!(!unread["flaws"].as_array().unwrap().is_empty(), "{unread:#}");
    }
    let many: String = (0..101).map(|at| format!("  t{at}: {{expect: {{}}}}\n")).collect();
    let many = json!({"cases": format!("tests:\n{many}")});
    let flaws = world.post(CHECK, &many).await.expect(200)["flaws"].clone();
    assert!(flaws[0]["message"].as_str().unwrap().contains("at most 100"), "{flaws}");

    for (body, told) in [
        (json!({}), "member cases is missing"),
        (json!({"cases": 5}), "member cases is neither a text nor an object"),
        (json!({"cases": {}, "model": {}}), "member model means nothing here"),
        (json!({"cases": "x".repeat(1024 * 1024 + 1)}), "use at most 1048576"),
    ] {
        let refused = world.post(CHECK, &body).await.problem(400);
        assert!(refused.contains(told), "{refused}");
    }
    let audit = world.get("/elsa/api/audit").await.expect(200);
    assert_eq!(audit["totalCount"], 0, "a look at a text is nobody's deed: {audit:#}");
}

#[tokio::test]
async fn the_tests_of_a_definition_are_kept_with_it_as_they_are() {
    let world = World::new().await;
    let tests = json!({"tests": {"b": {"expect": {"lines": ["x"]}}, "a": {"expect": {}}}});
    let mut model = shipping();
    model["customProperties"] = json!({"Staunch.Tests": tests, "Other": 1});
    let sent = json!({"model": model, "publish": true});
    world.post("/elsa/api/workflow-definitions", &sent).await.expect(201);
    let path = "/elsa/api/workflow-definitions/shipping/export";
    let exported = world.get(path).await.expect(200);
    let kept = &exported["customProperties"];
    assert_eq!(kept["Staunch.Tests"].to_string(), tests.to_string(), "in their order");
    assert_eq!(kept["Other"], 1);
}

#[tokio::test]
async fn more_test_runs_than_may_be_at_once_are_refused() {
    let world = World::new().await;
    let all = u32::try_from(TEST_RUNS_MAX).unwrap();
    let room = Arc::clone(&world.app.test_runs).try_acquire_many_owned(all).unwrap();
    let refused = world.post(RUN, &with(json!({}))).await.problem(503);
    assert!(refused.contains("as many test runs as may be are at work"), "{refused}");
    drop(room);
    world.post(RUN, &with(json!({}))).await.expect(200);
}
