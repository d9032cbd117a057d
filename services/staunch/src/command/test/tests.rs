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
fn a_definition_may_have_its_tests_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("greet.json");
    let tests = json!({"tests": {
        "it greets": {"expect": {"lines": ["hello"]}},
        "it does not": {"expect": {"lines": []}}}});
    let root = json!({"type": "Elsa.WriteLine", "id": "say", "text": "hello"});
    let with = |custom: Value| {
        let definition = json!({"definitionId": "greet", "customProperties": custom, "root": root});
        std::fs::write(&file, serde_json::to_string_pretty(&definition).unwrap()).unwrap();
    };
    with(json!({"Staunch.Tests": tests}));
    let (outcomes, _) = played(&file);
    let passed: Vec<_> = outcomes.iter().map(|outcome| outcome.differences.is_empty()).collect();
    assert_eq!(passed, [true, false]);
    let told = &outcomes[1].differences[0];
    let lines = std::fs::read_to_string(&file).unwrap();
    let at = lines.lines().position(|line| line.contains("\"lines\": []")).unwrap() + 1;
    assert!(told.starts_with(&format!("line {at}: lines differs")), "{told}");

    let refusal = || read(&file).map(drop).unwrap_err().to_string();
    with(json!({}));
    assert!(refusal().contains("definition without tests"), "{}", refusal());
    with(json!({"Staunch.Tests": {"tests": {"it": {}}}}));
    assert!(refusal().contains("cannot use"), "{}", refusal());
    std::fs::write(&file, "{\"tests\": {\"it\": {\"expect\": {}}}}").unwrap();
    assert!(refusal().contains("there is no definition beside"), "{}", refusal());
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    let definition = "\u{feff}root: {type: WriteLine, text: x}\n";
    let folder = written(definition, "\u{feff}tests: {it: {expect: {lines: [x]}}}\n");
    let (outcomes, _) = played(&folder.path().join("it.test.yaml"));
    let found: Vec<_> = outcomes.iter().map(|outcome| outcome.differences.as_slice()).collect();
    assert_eq!(found, [&[] as &[String]]);
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
    let report = rehearsal::as_json(&[coverage]);
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
    let report = rehearsal::as_json(&[coverage]);
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
fn an_activity_with_a_pinned_result_does_nothing_and_has_it() {
    let definition = "variables: {Rate: {type: Object}}\nflow:\n  \
        rate: {type: FlowSendHttpRequest, name: Rate, url: 'https://rates.example.com/', \
          expectedStatusCodes: [200, 404], parsedContent: Rate, next: {\"200\": say, \"404\": none}}\n  \
        say: {type: WriteLine, text: {js: '`costs ${variables.Rate.price}`'}, next: wait}\n  \
        wait: {type: Event, eventName: Paid, next: last}\n  \
        last: {type: WriteLine, text: done}\n  none: {type: WriteLine, text: none}\n";
    passes(
        definition,
        "pins:\n  rate: {outcome: '200', outputs: {ParsedContent: {price: 7}}}\n  wait: {}\n\
         expect: {status: Finished, lines: [costs 7, done], calls: [], \
           path: [rate, say, wait, last]}",
    );
    passes(definition, "pins: {Rate: {outcomes: ['404']}}\nexpect: {lines: [none], calls: []}");
    for (pins, told) in [
        ("{gone: {}}", "there is no activity \"gone\" to pin"),
        (
            "{rate: {outcome: '500'}}",
            "activity rate: it has no outcome \"500\" to pin: use 200, 404",
        ),
        ("{rate: {outcome: '200', outputs: {Body: 1}}}", "it has no output \"Body\" to pin: use"),
        (
            "{say: {outputs: {Text: x}}}",
            "activity say: it has no output \"Text\" to pin: it has none",
        ),
    ] {
        let found = differences(definition, &format!("pins: {pins}\nexpect: {{lines: []}}"));
        assert!(found.len() == 1 && found[0].contains(told), "{found:?}");
    }
}

#[test]
fn whatever_a_pinned_activity_is_it_only_completes() {
    let list = |activity: &str| {
        format!(
            "outputs: {{N: Object}}\nroot: [{activity}, {{type: WriteLine, id: last, text: over}}]"
        )
    };
    for (activity, pin) in [
        ("{type: RunTask, id: it, taskName: Print}", "{}"),
        ("{type: Delay, id: it, timeSpan: 1h}", "{}"),
        ("{type: Event, id: it, eventName: E, result: N}", "{outputs: {Result: 5}}"),
        ("{type: ExecuteWorkflow, id: it, workflowDefinitionId: c, waitForCompletion: true}", "{}"),
        ("{type: Fault, id: it, message: broken}", "{}"),
        ("{type: Sequence, id: it, activities: [{type: WriteLine, id: in, text: inside}]}", "{}"),
        ("{type: RunJavaScript, id: it, script: 'nothing.at.all'}", "{outcomes: [Done]}"),
    ] {
        passes(
            &list(activity),
            &format!(
                "pins: {{it: {pin}}}\nexpect: {{status: Finished, lines: [over], path: [it, last], \
                 took: 00:00:00, tasks: [], workflows: []}}"
            ),
        );
    }
    passes(
        &list("{type: Event, id: it, eventName: E, canStartWorkflow: true, result: N}"),
        "start: {event: E, payload: 1}\npins: {it: {outputs: {Result: 5}}}\n\
         expect: {lines: [over], output: {N: 5}}",
    );
}

#[test]
fn a_file_pins_for_all_its_tests_and_a_test_pins_otherwise() {
    let folder = written(
        "[{type: Delay, id: wait, timeSpan: 1h}, {type: FlowDecision, id: d, condition: true}]",
        "pins: {wait: {}, d: {outcome: 'False'}}\ntests:\n  \
         as the file: {expect: {took: 00:00:00, status: Finished}}\n  \
         otherwise: {pins: {d: {outcome: 'True'}}, expect: {took: 00:00:00}}\n",
    );
    let (outcomes, _) = played(&folder.path().join("it.test.yaml"));
    for outcome in outcomes {
        assert_eq!(outcome.differences, Vec::<String>::new(), "{}", outcome.name);
    }
}

#[test]
fn variables_have_the_values_of_the_test() {
    let definition = "variables: {N: {type: Int32, value: 1}}\nroot: {type: WriteLine, \
        text: {js: '`n is ${variables.N}`'}}\n";
    passes(definition, "variables: {N: 5}\nexpect: {lines: [n is 5]}");
    let found = differences(definition, "variables: {N: many}\nexpect: {lines: []}");
    assert!(found[0].starts_with("variables: ") && found[0].contains('N'), "{found:?}");
}

#[test]
fn mistakes_in_a_test_file_have_their_places() {
    let check = |tests: &str, expected: &str| {
        let folder = written("[]", tests);
        let failure = read(&folder.path().join("it.test.yaml")).unwrap_err();
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
    check("tests: {a: {pins: [], expect: {}}}", "1:19: write an object: results by id or name");
    check(
        "tests: {a: {pins: {b: {result: 1}}, expect: {}}}",
        "result means nothing here: use outc",
    );
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft7::new(&rehearsal::schema()).unwrap()
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
    let text = format!("{:#}\n", rehearsal::schema());
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
        pins: {a: {outcome: Done, outputs: {Result: 1}}, b: {outcomes: [x, y]}}\n    variables: {V: 1}\n    \
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
        "tests: {a: {pins: {b: {result: 1}}, expect: {}}}",
        "tests: {a: {pins: {b: {outcomes: Done}}, expect: {}}}",
    ] {
        assert_ne!(marked(text), Vec::<String>::new(), "{text}");
        let folder = written("[]", text);
        assert!(read(&folder.path().join("it.test.yaml")).is_err(), "{text}");
    }
}
