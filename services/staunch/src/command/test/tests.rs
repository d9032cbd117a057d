//! The test kit tests definitions, and is tested here.

use std::path::Path;

use super::*;

/// The blocks of YAML in a page.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// Runs one test file; returns its outcomes and the coverage.
fn played(file: &Path) -> (Vec<Outcome>, Coverage) {
    let mut coverages = BTreeMap::new();
    let installation =
        installation(&chassis::Args::default()).map_err(|it| it.to_string()).unwrap();
    let outcomes = run_file(file, &installation, &mut coverages, Format::Json);
    let outcomes = outcomes.map_err(|it| it.to_string()).unwrap();
    (outcomes, coverages.into_values().next().unwrap())
}

fn written(definition: &str, tests: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it.yaml"), definition).unwrap();
    std::fs::write(folder.path().join("it.test.yaml"), tests).unwrap();
    folder
}

/// The differences that one test finds.
fn differences(definition: &str, test: &str) -> Vec<String> {
    let indented: String = test.lines().map(|line| format!("    {line}\n")).collect();
    let folder = written(definition, &format!("tests:\n  it:\n{indented}"));
    let (outcomes, _) = played(&folder.path().join("it.test.yaml"));
    outcomes.into_iter().flat_map(|outcome| outcome.differences).collect()
}

#[track_caller]
fn passes(definition: &str, test: &str) {
    assert_eq!(differences(definition, test), Vec::<String>::new());
}

#[test]
fn an_input_that_a_server_refuses_is_refused() {
    let definition =
        "inputs: {N: {type: Int32, isRequired: true}}\nroot: {type: WriteLine, text: x}\n";
    passes(definition, "input: {N: 1}\nexpect: {lines: [x]}");
    for (test, flaw) in [
        ("expect: {lines: [x]}", "N: it is required"),
        ("input: {N: abc}\nexpect: {lines: [x]}", "N: "),
    ] {
        let told = differences(definition, test).join("; ");
        assert!(
            told.contains("a server refuses this start") && told.contains(flaw),
            "{test}: {told}"
        );
    }
}

#[test]
fn a_start_may_have_properties() {
    let definition = "root:\n  type: Flowchart\n  id: f\n  activities:\n  \
        - {type: FlowDecision, id: d, condition: true}\n  \
        - {type: WriteLine, id: a, text: x}\n  \
        - {type: WriteLine, id: b, text: x}\n  \
        - {type: WriteLine, id: j, text: joined, customProperties: {mergeMode: Merge}}\n  \
        connections:\n  \
        - {source: {activity: d, port: 'True'}, target: {activity: a}}\n  \
        - {source: {activity: d, port: 'False'}, target: {activity: b}}\n  \
        - {source: {activity: a}, target: {activity: j}}\n  \
        - {source: {activity: b}, target: {activity: j}}\n";
    passes(definition, "expect: {status: Finished, lines: [x, joined]}");
    let with = |mode: &str| format!("properties: {{'Flowchart:ExecutionMode': {mode}}}\n");
    passes(definition, &(with("TokenBased") + "expect: {status: Faulted, lines: [x]}"));
    let told = differences(definition, &(with("Banana") + "expect: {lines: []}")).join("; ");
    assert!(told.contains("a server refuses this start: properties: there is no"), "{told}");
}

#[test]
fn the_example_of_the_page_passes() {
    let page = include_str!("../../../../../docs/testing.md");
    let blocks = blocks(page);
    let folder = written(blocks[0], blocks[1]);
    let (outcomes, coverage) = played(&folder.path().join("it.test.yaml"));
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes {
        assert_eq!(outcome.differences, Vec::<String>::new(), "{}", outcome.name);
    }
    let report = coverage::as_json(&[coverage]);
    assert_eq!(report[0]["activities"]["missed"], json!([]));
    assert_eq!(report[0]["connections"], json!({"run": 6, "all": 6, "missed": []}));
}

#[test]
fn the_tests_of_the_demo_pass() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/order-approval.test.yaml");
    let (outcomes, coverage) = played(&file);
    for outcome in &outcomes {
        assert_eq!(outcome.differences, Vec::<String>::new(), "{}", outcome.name);
    }
    assert_eq!(outcomes.len(), 3);
    let report = coverage::as_json(&[coverage]);
    assert_eq!(report[0]["connections"]["missed"], json!([]), "{report}");
}

#[test]
fn what_differs_is_shown() {
    let found = differences(
        "[{type: WriteLine, text: a}, {type: WriteLine, text: b}]",
        "expect:\n  status: Faulted\n  lines: [a, c]\n  path: [WriteLine1, WriteLine2]",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("line 4: status differs (- expected, + happened)\n"),
        "{found:#?}"
    );
    assert!(found[0].contains("-status: Faulted\n+status: Finished"), "{found:#?}");
    assert!(found[1].contains("   - a\n-  - c\n+  - b"), "{found:#?}");
}

#[test]
fn http_starts_and_answers() {
    let definition = "variables: {Body: {type: Object}, Route: {type: Object}}\nroot:\n\
        - {type: HttpEndpoint, id: h, canStartWorkflow: true, path: 'orders/{id}', \
           supportedMethods: [POST], parsedContent: Body, routeData: Route}\n\
        - {type: WriteHttpResponse, statusCode: 201, \
           content: {js: 'variables.Body.n + variables.Route.id'}}\n";
    passes(
        definition,
        "start: {http: {method: POST, path: orders/7, body: {n: x}}}\n\
         expect:\n  status: Finished\n  responses: [{status: 201, body: x7}]",
    );
    let found = differences(definition, "start: {event: E}\nexpect: {status: Finished}");
    assert_eq!(found, ["the event E starts no instance of this definition"]);
}

#[test]
fn children_end_as_the_test_says() {
    let definition = "variables: {End: {type: Object}}\noutputs: {N: Object}\nroot:\n\
        - {type: ExecuteWorkflow, workflowDefinitionId: child, waitForCompletion: true, input: {a: 1}, result: End}\n\
        - {type: SetOutput, outputName: N, outputValue: {js: 'variables.End.output.n'}}\n";
    passes(
        definition,
        "workflows: {child: {output: {n: 5}}}\nexpect:\n  output: {N: 5}\n  workflows: [{workflow: child, input: {a: 1}}]",
    );
    passes(definition, "expect: {status: Suspended, waits: [ExecuteWorkflow1]}");
}

#[test]
fn secrets_have_the_values_of_the_test() {
    passes(
        "[{type: SendHttpRequest, id: call, url: 'http://a.test/x', method: GET, \
         authorization: {js: \"'Bearer ' + await getSecret('Pay.Key')\"}}]",
        "secrets: {pay.key: abc}\n\
         calls: {GET http://a.test/x: {status: 200}}\n\
         expect: {calls: [{call: GET http://a.test/x, headers: {Authorization: Bearer abc}}]}",
    );
}

#[test]
fn a_call_without_an_answer_fails_the_test_and_says_which() {
    let definition = "{type: SendHttpRequest, id: s, url: 'https://x.example/a'}";
    let found = differences(definition, "calls: {'POST *': {}}\nexpect: {status: Finished}");
    assert_eq!(
        found,
        ["activity s calls GET https://x.example/a, and no answer fits: add one to calls (there \
          are: POST *)"]
    );
    passes(
        definition,
        "calls: {'GET https://*/a': {error: refused}}\nexpect: {status: Faulted, incident: refused}",
    );
}

#[test]
fn steps_have_their_time_and_their_limits() {
    let event = "[{type: Event, eventName: E}, {type: WriteLine, text: got}]";
    passes(event, "steps: [{event: E, after: 3m}]\nexpect: {took: 00:03:00, lines: [got]}");
    passes(event, "steps: [{cancel: enough}]\nexpect: {status: Cancelled, lines: []}");
    let found = differences(event, "steps: [{event: F}]\nexpect: {lines: []}");
    assert!(
        found[0].contains("line 3: nothing waits for the event F; Event1 waits for"),
        "{found:?}"
    );
    let found = differences(event, "steps: [{event: E}, {event: E}]\nexpect: {lines: []}");
    assert!(found[0].contains("the event E comes too late: the instance is Finished"), "{found:?}");
    let faulty = "[{type: Fault, id: f, message: no stock}]";
    let found = differences(faulty, "steps: [{event: E}]\nexpect: {lines: []}");
    assert!(found[0].ends_with("the instance is Faulted: activity f: no stock"), "{found:?}");
    let found = differences(event, "steps: [{event: E, after: 3m}]\nexpect: {took: 1h}");
    assert!(found[0].ends_with("-took: \"01:00:00\"\n+took: \"00:03:00\""), "{found:?}");
    let endless = "{type: While, condition: true, body: {type: Delay, timeSpan: 1h}}";
    let found = differences(endless, "expect: {status: Suspended}");
    assert!(found[0].contains("more than 1000 timers fired"), "{found:?}");
    passes(endless, "time: 10h\nexpect: {status: Suspended, took: 10h}");
}

#[test]
fn mistakes_in_a_test_file_have_their_places() {
    let check = |tests: &str, expected: &str| {
        let folder = written("[]", tests);
        let failure = Suite::read(&folder.path().join("it.test.yaml")).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        assert!(failure.to_string().contains(expected), "{failure}");
    };
    check("test: {}", "1:1: test means nothing here: use definition, uses");
    check("tests: {a: {}}", "1:9: the test expects nothing");
    check("tests: {a: {expect: {line: x}}}", "1:22: line means nothing here");
    check("tests: {a: {steps: [{x: 1}], expect: {}}}", "write what happens: event, http");
    check("tests: {a: {calls: {x: {}}, expect: {}}}", "names no call");
    check("tests: {a: {time: soon, expect: {}}}", "is not a duration");
    check("tests: {a: {expect: {took: soon}}}", "1:28: \"soon\" is not a duration");
    check("tests: {a: {expect: {status: Done}}}", "1:30: write Finished, Suspended, Faulted, Canc");
    check("tests: {a: {expect: {lines: hello}}}", "1:29: write a list");
}

#[test]
fn patterns_fit_any_characters_at_their_stars() {
    let check = |pattern: &str, text: &str, expected: bool| {
        assert_eq!(mock::matches(pattern, text), expected, "{pattern} {text}");
    };
    check("*", "", true);
    check("a*c", "abc", true);
    check("a*c", "ab", false);
    check("a*b*c", "a-b-b-c", true);
    check("abc", "abcd", false);
    check("a*a", "a", false);
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft7::new(&form::schema()).unwrap()
}

/// The flaws that an editor shows in this text.
fn marked(text: &str) -> Vec<String> {
    let tree = document::parsed(Path::new("it.test.yaml"), text).map_err(|it| it.to_string());
    let value = tree.unwrap().value();
    schema().iter_errors(&value).map(|flaw| flaw.to_string()).collect()
}

#[test]
fn the_schema_is_that_of_the_reader() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/workflow/test.json");
    let text = format!("{:#}\n", form::schema());
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, not configuration")]
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "schema/workflow/test.json is stale: run with UPDATE_EXPECT=1");
}

#[test]
fn the_schema_fits_the_examples() {
    let page = include_str!("../../../../../docs/testing.md");
    let demo = include_str!("../../../examples/order-approval.test.yaml");
    for text in [blocks(page)[1], demo] {
        assert_eq!(marked(text), Vec::<String>::new(), "{text}");
    }
    let all = "uses: [a.yaml]\nsecrets: {K: v}\nworkflows: {child: {output: {n: 5}, status: Faulted}}\n\
        tests:\n  it:\n    input:\n    now: 2026-01-31T08:00:00Z\n    time: 1h\n    \
        start: {http: {method: POST, path: orders/7, body: {n: x}}}\n    \
        calls: {'SQL on orders': [{result: {rows: []}}, {error: timeout, message: late}]}\n    \
        steps: [{event: E, payload: 1, after: 3m}, {activity: a, input: {b: 1}}, {cancel: null}]\n    \
        expect: {status: Finished, responses: [201, {status: 201, body: x}], incident: no, \
          calls: [GET x, {call: GET x, headers: {A: b}}], events: [E, {event: E, payload: {}}], \
          workflows: [{workflow: child, input: {a: 1}}], waits: [a], took: 00:03:00}\n";
    assert_eq!(marked(all), Vec::<String>::new());
}

/// What the schema marks, the reader refuses, at the same places.
#[test]
fn the_schema_marks_what_the_reader_refuses() {
    for text in [
        "test: {}",
        "tests: {a: {}}",
        "tests: {}",
        "tests: {a: {expect: {line: x}}}",
        "tests: {a: {steps: [{x: 1}], expect: {}}}",
        "tests: {a: {steps: [{event: E, when: 1m}], expect: {}}}",
        "tests: {a: {start: {event: E, after: 1m}, expect: {}}}",
        "tests: {a: {start: {http: {method: GET}}, expect: {}}}",
        "tests: {a: {calls: {x: {}}, expect: {}}}",
        "tests: {a: {calls: {GET x: {state: 200}}, expect: {}}}",
        "tests: {a: {calls: {GET x: {error: broken}}, expect: {}}}",
        "tests: {a: {workflows: {c: {end: 1}}, expect: {}}}",
        "tests: {a: {expect: {calls: [{url: x}]}}}",
        "tests: {a: {time: [1h], expect: {}}}",
        "tests: {a: {input: 5, expect: {}}}",
    ] {
        assert_ne!(marked(text), Vec::<String>::new(), "{text}");
        let folder = written("[]", text);
        assert!(Suite::read(&folder.path().join("it.test.yaml")).is_err(), "{text}");
    }
}
