//! The problems that the compiler finds in definitions, and the oddities that it accepts.

use engine::Engine;
use engine::testing::{Player, parsed};
use serde_json::{Value, json};

/// Everything that keeps a definition from being published.
fn oversights(document: Value) -> Vec<String> {
    let engine = Engine::new(activities::all(), expressions::all());
    let definition = match parsed(document) {
        Ok(definition) => definition,
        Err(problems) => return problems.iter().map(ToString::to_string).collect(),
    };
    let found = engine.validate(&definition, &engine::Library::default()).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

fn problems(document: Value) -> Vec<String> {
    let engine = Engine::new(activities::all(), expressions::all());
    match Player::new(&engine, document) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

/// Everything that its author should know of a definition that runs.
fn warnings(document: Value) -> Vec<String> {
    let engine = Engine::new(activities::all(), expressions::all());
    let env = engine::Env {
        now: model::Timestamp::from_millis(0),
        seed: [0; 32],
        command_id: "c".into(),
        installation: std::sync::Arc::default(),
        contents: engine::Contents::default(),
    };
    let Ok(definition) = parsed(document) else { return vec!["it cannot be read".to_owned()] };
    let problems = engine.examine(&definition, &engine::Library::default(), &env).problems;
    problems.iter().filter(|one| !one.is_error()).map(ToString::to_string).collect()
}

#[test]
fn every_problem_is_found_at_once() {
    let found = problems(json!({
        "inputs": [{"name": "A"}, {"name": "a"}],
        "outputs": [{"name": "B"}, {"name": "B"}],
        "variables": [{"name": "N", "typeName": "Int32", "value": "many"}],
        "options": {"activationStrategyType": "SometimesStrategy",
            "incidentStrategyType": "PanicStrategy"},
        "root": {"type": "Sequence", "id": "s", "activities": [
            {"type": "Elsa.WriteLin", "id": "a"},
            {"type": "Acme.Unheard", "id": "b"},
            {"id": "c"},
            {"type": "WriteLine", "id": "d", "text": {"expression": {"type": "CSharp", "value": "1"}}},
            {"type": "WriteLine", "id": "e", "text": {"expression": {"type": "Cobol", "value": "1"}}},
            {"type": "WriteLine", "id": "f", "text": {"js": "1 +"}},
            {"type": "Delay", "id": "g", "timeSpan": "soon"},
            {"type": "FlowFork", "id": "h",
                "branches": {"expression": {"type": "Object", "value": "[1"}}},
            "nonsense"
        ]}
    }));
    let expected = [
        "inputs[1].name: the name a is used twice",
        "outputs[1].name: the name B is used twice",
        "options.activationStrategyType: there is no activation strategy Sometimes",
        "options.incidentStrategyType: there is no incident strategy PanicStrategy",
        "variables[0].value: the default of N is no Int32: \"many\" is not a whole number",
        "activity a: type: there is no activity type Elsa.WriteLin: did you mean Elsa.WriteLine?",
        "activity b: type: there is no activity type Acme.Unheard",
        "activity c: type: there is no type: write one, such as Elsa.WriteLine",
        "activity d: text: Staunch does not run CSharp expressions: use JavaScript, or Elsa.RunTask",
        "activity e: text: there is no expression type Cobol: use one of Literal, Object",
        "activity f: text: line 1",
        "activity g: timeSpan: \"soon\" is not a duration",
        "activity h: branches: the Object expression is not JSON",
        "activity s: activities[8]: \"nonsense\" is not an activity: write an object with a type",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

/// A definition that runs only without one of its parts is refused when it is published, and goes
/// on running if it was published before.
#[test]
fn what_would_be_ignored_is_a_problem_for_a_publication() {
    let runs = json!({
        "variables": [{"name": "A", "typeName": "Bogus.Type"}, {"name": "A"}],
        "root": {"type": "Flowchart", "id": "f", "activities": [{"type": "WriteLine", "id": "one"}],
            "connections": [{"source": "one", "target": "gone"}]}});
    assert_eq!(problems(runs.clone()), Vec::<String>::new());
    assert_eq!(oversights(runs).len(), 3);
    let never = json!({"type": "Cron", "id": "c", "cronExpression": "0 0 30 2 *"});
    assert_eq!(oversights(never).len(), 1);
    let found = oversights(json!({
        "inputs": [{"name": "I", "type": "Bogus.Type"}],
        "variables": [
            {"id": "1", "name": "A", "typeName": "Bogus.Type"},
            {"id": "2", "name": "B"},
            {"id": "2", "name": "C"},
            {"id": "3", "name": "B"}],
        "root": {"type": "Flowchart", "id": "f",
            "activities": [
                {"type": "WriteLine", "id": "one"},
                {"type": "Acme.Unheard", "id": "two"},
                {"type": "Sequence", "id": "s", "activities": "x", "variables": {"name": "V"}},
                {"type": "Switch", "id": "w", "cases": "x"},
                {"type": "RunJavaScript", "id": "j", "script": "1", "result": {"variable": "B"}}],
            "connections": [
                {"source": {"activity": "one"}, "target": {"activity": "two"}},
                {"source": {"activity": "one"}, "target": {"activity": "gone"}},
                {"source": "nowhere", "target": "one"},
                {"source": "one"}]}
    }));
    let expected = [
        "inputs[0].type: the type of I is Bogus.Type, which is not known here: use Object",
        "variables[0].typeName: the type of A is Bogus.Type, which is not known here",
        "variables[2].id: two variables have the id 2: give each its own",
        "variables[3].name: two variables have the name B: rename one of them",
        "activity two: type: there is no activity type Acme.Unheard",
        "activity s: variables: {\"name\":\"V\"} is not a list: write [ … ]",
        "activity s: activities: \"x\" is not a list: write [ … ]",
        "activity w: cases: \"x\" is not a list: write [ … ]",
        "activity j: result: an output names the variable, or the output of the workflow, that gets",
        "activity f: connections[1]: this connection (one to gone) names activity gone, which is not",
        "activity f: connections[2]: this connection (nowhere to one) names activity nowhere",
        "activity f: connections[3]: this connection does not name a source and a target activity",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

/// What Elsa writes in place of an activity whose type it does not know.
#[test]
fn a_placeholder_is_named_for_what_it_stands_for() {
    let check = |members: Value, expected: &[&str]| {
        let mut node = json!({"type": "Elsa.NotFoundActivity", "id": "n"});
        node.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let found = problems(node);
        let expected: Vec<_> =
            expected.iter().map(|message| format!("activity n: type: {message}")).collect();
        assert_eq!(found, expected, "{members}");
    };
    let original = |type_name: &str| {
        let text = json!({"type": type_name, "id": "before"}).to_string();
        json!({"missingTypeName": type_name, "originalActivityJson": text})
    };
    const NOR: &str = " (the server that exported this definition did not know it either)";
    check(original("Elsa.WriteLine"), &[]);
    let said = format!("there is no activity type Acme.Unheard{NOR}");
    check(original("Acme.Unheard"), &[&said]);
    let said =
        format!("there is no activity type Acme.WriteLin: did you mean Elsa.WriteLine?{NOR}");
    check(original("Acme.WriteLin"), &[&said]);
    let advice = "use Elsa.RunTask, and a worker that does it";
    let said = format!("there is no activity type Slack.SendMessage here: {advice}{NOR}");
    check(original("Slack.SendMessage"), &[&said]);
    let anew = "write this activity anew, as its placeholder has no original \
                (originalActivityJson): ";
    let said = format!("{anew}there is no activity type Acme.Unheard");
    for lost in [json!(null), json!("{"), json!("[]"), json!("{\"a\": 1}")] {
        let members = json!({"missingTypeName": "Acme.Unheard", "originalActivityJson": lost});
        check(members, &[&said]);
    }
    let said = format!("{anew}its type Elsa.WriteLine exists here");
    check(json!({"missingTypeName": "Elsa.WriteLine"}), &[&said]);
    let said = "write this activity anew: its placeholder has neither a type (missingTypeName) \
                nor the original (originalActivityJson)";
    check(json!({}), &[said]);
    check(
        original("Elsa.NotFoundActivity"),
        &[&format!("{anew}there is no activity type Elsa.NotFoundActivity")],
    );
}

#[test]
fn all_mistakes_of_retries_are_named_at_once() {
    let retry = json!({"attempts": 0, "on": [600], "tries": 5});
    let found = oversights(json!({"type": "SendHttpRequest", "id": "a", "url": "http://a.test",
        "customProperties": {"retry": retry}}));
    assert_eq!(found.len(), 1);
    for part in ["attempts: 0 is not", "on: 600 is not", "tries: there is no such member"] {
        assert!(found[0].contains(part), "{found:?}");
    }
}

#[test]
fn a_definition_needs_a_root() {
    assert_eq!(problems(json!({"root": null})), ["root: there is no root activity: add one"]);
}

#[test]
fn nesting_and_size_are_bounded() {
    let mut deep = json!({"type": "WriteLine"});
    for _ in 0..70 {
        deep = json!({"type": "If", "then": deep});
    }
    let found = problems(deep);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("nested deeper than 64"), "{found:?}");
    let many = vec![json!({"type": "WriteLine"}); model::limits::ACTIVITIES_MAX + 5];
    let found = problems(json!({"type": "Sequence", "activities": many}));
    assert_eq!(found, ["there are more than 10000 activities"]);
}

#[test]
fn missing_ids_are_made_up_around_those_that_are_there() {
    let engine = Engine::new(activities::all(), expressions::all());
    let document = json!({"type": "Sequence", "activities": [
        {"type": "WriteLine"}, {"type": "WriteLine", "id": "WriteLine1"}, {"type": "WriteLine"}
    ]});
    let program = engine.compile(&parsed(document).unwrap(), &engine::Library::default()).unwrap();
    let ids: Vec<&str> = program.activities().map(|(id, _, _)| id.as_str()).collect();
    assert_eq!(ids, ["WriteLine2", "WriteLine1", "WriteLine3", "Sequence1"]);
}

#[test]
fn the_same_id_in_different_containers_is_two_activities() {
    let engine = Engine::new(activities::all(), expressions::all());
    let part = |id: &str, text: &str| {
        json!({"type": "Sequence", "id": id, "activities": [
            {"type": "Event", "id": "wait", "eventName": text},
            {"type": "WriteLine", "id": "line", "text": text}
        ]})
    };
    let document = json!({"type": "Sequence", "activities": [part("x", "1"), part("y", "2")]});
    let mut player = Player::new(&engine, document).unwrap().recoding();
    player.start(json!({})).play(|_| Some(json!({})));
    assert_eq!(player.lines(), ["1", "2"]);
}

#[test]
fn activation_strategies_are_read_in_every_spelling() {
    use engine::Activation;
    let engine = Engine::new(activities::all(), expressions::all());
    let check = |name: Value, expected: Activation| {
        let document = json!({"root": {"type": "WriteLine"},
            "options": {"activationStrategyType": name}});
        let program =
            engine.compile(&parsed(document).unwrap(), &engine::Library::default()).unwrap();
        assert_eq!(program.activation(), expected);
    };
    let long = "Elsa.Workflows.Runtime.ActivationValidators.CorrelatedSingletonStrategy, \
                Elsa.Workflows.Runtime";
    check(Value::Null, Activation::AllowAlways);
    check(json!(long), Activation::CorrelatedSingleton);
    check(json!("SingletonStrategy"), Activation::Singleton);
    check(json!("Correlation"), Activation::Correlation);
    check(json!("Always"), Activation::AllowAlways);
}

/// The names that people use, and those that Elsa writes.
#[test]
fn incident_strategies_are_read_in_every_spelling() {
    let check = |name: &str| {
        let found = oversights(json!({"root": {"type": "WriteLine"},
            "options": {"incidentStrategyType": name}}));
        assert_eq!(found, Vec::<String>::new(), "{name}");
    };
    check("Fault");
    check("FaultStrategy");
    check("ContinueWithIncidents");
    check("Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core");
}

#[test]
fn what_is_not_built_has_advice_by_its_short_name_too() {
    let check = |type_name: &str, expected: &str| {
        let found = oversights(json!({"type": type_name, "id": "a"}));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains(expected), "{found:?}");
    };
    for name in ["RunCSharp", "Elsa.RunCSharp", "RunPython", "Elsa.RunPython"] {
        check(name, "here: use Elsa.RunJavaScript, or");
    }
    check("BpmnProcess", "here: use Elsa.Flowchart");
    for name in ["Elsa.Kafka.MessageReceived", "Elsa.AzureServiceBus.MessageReceived"] {
        check(name, "here: use Staunch.MessageReceived, with");
    }
    for name in ["Elsa.ServiceBus.Kafka.ProduceMessage", "Elsa.AzureServiceBus.Send.SendMessage"] {
        check(name, "here: use Staunch.PublishMessage, with");
    }
    for name in ["Elsa.MassTransit.OrderPlaced", "MassTransit.PublishOrderPlaced"] {
        check(name, "here: use Staunch.MessageReceived to receive and Staunch.PublishMessage to");
    }
    for name in ["Inline", "Elsa.Inline", "Elsa.Inline<String>"] {
        check(name, "here: C# code is no part of a definition: use Elsa.RunJavaScript");
    }
}

/// A file that was exported from a C# workflow may have types with type arguments.
#[test]
fn a_type_with_arguments_is_the_one_without() {
    for node in [
        json!({"type": "Elsa.ForEach<String>", "items": ["a"], "body": {"type": "WriteLine"}}),
        json!({"type": "ParallelForEach<Int32>", "items": [1], "body": {"type": "WriteLine"}}),
        json!({"type": "Elsa.SetVariable<Int32>", "variable": {"id": "v", "name": "V"}, "value": 1}),
    ] {
        let found = oversights(json!({"root": node, "variables": [{"id": "v", "name": "V"}]}));
        assert_eq!(found, [""; 0], "{node}");
    }
    let found = oversights(json!({"type": "Elsa.Unheard<String>", "id": "a"}));
    assert!(found[0].contains("there is no activity type Elsa.Unheard<String>"), "{found:?}");
}

/// A start is compared with the types of all inputs.
#[test]
fn an_input_that_does_not_fit_its_type_is_named() {
    let engine = Engine::new(activities::all(), expressions::all());
    let check = |ty: &str, wrong: Value, right: Value| {
        let definition = parsed(json!({"root": {"type": "WriteLine"},
            "inputs": [{"name": "A", "type": ty}]}));
        let program = engine.compile(&definition.unwrap(), &engine::Library::default()).unwrap();
        let flaws = |value: &Value| {
            let input = model::Map::from_iter([("A".to_owned(), value.clone())]);
            program.input_flaws(&input).len()
        };
        assert_eq!((flaws(&wrong), flaws(&right)), (1, 0), "{ty}");
    };
    let guid = "123e4567-e89b-12d3-a456-426614174000";
    check("Guid", json!("zz"), json!(guid));
    check("Byte", json!(300), json!(255));
    check("SByte", json!(128), json!(-128));
    check("UInt16", json!(-1), json!(65_535));
    check("UInt64", json!(-1), json!(u64::MAX));
    check("DateOnly", json!("2026-13-01"), json!("2026-12-01"));
    check("TimeOnly", json!("25:00"), json!("23:59"));
    check("Uri", json!(7), json!("https://example.com"));
    check("ByteArray", json!("***"), json!("AQI="));
    check("StringDictionary", json!({"a": 1}), json!({"a": "1"}));
    check("Char", json!("ab"), json!("a"));
    check("Guid[]", json!(["zz"]), json!([guid]));
}

/// A text of a form is searched as the text that it is, and every number as a number.
#[test]
fn a_variable_is_searched_as_its_type_allows() {
    let check = |ty: &str, kind: &str, is_allowed: bool| {
        let variable = json!({"name": "A", "typeName": ty, "searchable": kind});
        let found = oversights(json!({"variables": [variable], "root": {"type": "WriteLine"}}));
        assert_eq!(found.is_empty(), is_allowed, "{ty} as {kind}: {found:?}");
    };
    for ty in ["String", "Guid", "Uri", "DateOnly"] {
        check(ty, "text", true);
        check(ty, "number", false);
    }
    for ty in ["Int32", "Byte", "UInt64", "Decimal"] {
        check(ty, "number", true);
        check(ty, "text", false);
    }
    check("StringDictionary", "text", false);
}

/// The default of an input has its type.
#[test]
fn a_default_that_does_not_fit_is_named() {
    let found = oversights(json!({"root": {"type": "WriteLine"},
        "inputs": [{"name": "Day", "type": "DateOnly", "defaultValue": "2026-13-01"}]}));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("inputs[0].defaultValue: the default of Day is"), "{found:?}");
}

/// `{sql: …}` and its like are expressions, and a language that is not run here is named.
#[test]
fn a_single_member_that_names_a_language_is_an_expression() {
    let check = |text: Value, expected: &[&str]| {
        let found = oversights(json!({"type": "WriteLine", "id": "a", "text": text}));
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    };
    check(json!({"JS": "1 + 1"}), &[]);
    check(json!({"JS": "1 +"}), &["text: line 1"]);
    check(json!({"sql": "select 1"}), &[]);
    check(json!({"python": "1"}), &["Staunch does not run Python expressions: use JavaScript"]);
    check(json!({"CSharp": "1"}), &["Staunch does not run CSharp expressions: use JavaScript"]);
    let lone = |kind: &str| json!({"type": kind, "value": "pay.token"});
    check(lone("Secret"), &["not evaluated: write {\"expression\": {\"type\": \"Secret\", "]);
    check(lone("JavaScript"), &["or {js: …} in the short form"]);
    check(lone("Parcel"), &[]);
    for (kind, expected) in [("Secret", 1), ("JavaScript", 0)] {
        let found = warnings(json!({"type": "SendHttpRequest", "url": "https://a.example",
            "content": lone(kind)}));
        let found = found.iter().filter(|one| one.contains("not evaluated")).count();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn inputs_are_read_as_elsa_and_people_write_them() {
    let engine = Engine::new(activities::all(), expressions::all());
    let check = |text: Value, expected: &str| {
        let mut player = Player::new(
            &engine,
            json!({
                "variables": [{"id": "v1", "name": "V", "typeName": "Int32", "value": 7}],
                "inputs": [{"name": "In", "type": "String"}],
                "root": {"type": "Elsa.WriteLine", "Text": text}
            }),
        )
        .unwrap();
        player.start(json!({"In": 5}));
        assert_eq!(player.lines(), [expected], "{text}");
    };
    let wrapped = |kind: &str, value: Value| json!({"typeName": "String", "expression": {"type": kind, "value": value}});
    check(json!("plain"), "plain");
    check(json!(5), "5");
    check(wrapped("Literal", json!("x")), "x");
    check(wrapped("Literal", Value::Null), "");
    check(wrapped("Object", json!("{\"a\":1}")), "{\"a\":1}");
    check(wrapped("Variable", json!({"id": "v1", "name": "V", "typeName": "Int32"})), "7");
    check(wrapped("Variable", json!({"id": "gone", "name": "V"})), "7");
    check(wrapped("Input", json!({"name": "In", "type": "String"})), "5");
    check(wrapped("JavaScript", json!("variables.V + 1")), "8");
    check(json!({"js": "getInput('In')"}), "5");
    check(json!({"typeName": "String"}), "");
}

/// An activity that does not compile hides nothing that can be said about it and those around it.
#[test]
fn one_mistake_hides_no_other() {
    let found = oversights(json!({"root": {"type": "Flowchart", "id": "f", "activities": [
        {"type": "WriteLin", "id": "a"},
        {"id": "a"},
        {"type": "WriteLine", "id": "a", "canStartWorkflow": "often"},
        {"text": "no id and no type"},
        {"type": "If", "id": "i", "then": 1},
        {"type": "Fork", "id": "k", "branches": [["x"]]},
        {"type": "FlowSendHttpRequest", "id": "h", "url": "example.org"}],
        "connections": [{"source": {"activity": "a"}}, {"source": "h", "target": "zz"}]}}));
    let expected = [
        "activity a: type: there is no activity type WriteLin",
        "activity a: id: the id a is used twice here",
        "activity a: type: there is no type",
        "activity a: id: the id a is used twice here",
        "activity a: canStartWorkflow: \"often\" is neither true nor false",
        "activity Activity1: type: there is no type",
        "activity i: then: 1 is not an activity",
        "activity k: branches[0]: [\"x\"] is not an activity",
        "activity h: url: \"example.org\" is not an absolute http(s) URL",
        "activity f: connections[0]: this connection does not name a source and a target activity",
        "activity f: connections[1]: this connection (h to zz) names activity zz, which is not in this \
         flowchart: remove it, or add the activity; there are: a, h, i, k",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

/// Outcomes that inputs name are known where they are written out.
#[test]
fn a_connection_from_an_outcome_that_no_input_names_is_warned_of() {
    let check = |activity: Value, expected: &[&str]| {
        let mut activity = activity;
        activity["id"] = json!("a");
        let link = |port: &str| {
            json!({"source": {"activity": "a", "port": port},
            "target": {"activity": "b"}})
        };
        let ports = ["A", "Default", "Done", "201", "Timeout"];
        let found = warnings(json!({"root": {"type": "Flowchart", "activities": [activity,
            {"type": "WriteLine", "id": "b"}], "connections": ports.map(link)}}));
        let never = |line: &&String| line.contains("this connection is never followed");
        let named = found.iter().filter(never).map(|line| {
            let (_, rest) = line.split_once("has no outcome ").unwrap();
            rest.split(':').next().unwrap().to_owned()
        });
        assert_eq!(named.collect::<Vec<_>>(), expected, "{found:#?}");
    };
    let case = json!({"label": "A", "condition": {"type": "JavaScript", "value": "true"}});
    check(json!({"type": "FlowSwitch", "cases": [case]}), &["Done", "201", "Timeout"]);
    check(json!({"type": "FlowFork", "branches": ["A"]}), &["Default", "Done", "201", "Timeout"]);
    check(json!({"type": "FlowFork"}), &["A", "Default", "201", "Timeout"]);
    check(json!({"type": "FlowFork", "branches": {"js": "['A']"}}), &[]);
    for kind in ["FlowSendHttpRequest", "DownloadHttpFile"] {
        let call = json!({"type": kind, "url": "http://a.test/", "expectedStatusCodes": [201]});
        check(call, &["A", "Default"]);
        check(json!({"type": kind, "url": "http://a.test/"}), &["A", "Default", "201"]);
    }
}

/// What only a mistake leads to may run once it is corrected.
#[test]
fn what_is_behind_a_mistake_is_not_said_to_be_unreachable() {
    let found = warnings(json!({"root": {"type": "Flowchart", "activities": [
        {"type": "WriteLine", "id": "a"}, {"type": "Elsa.Pythn", "id": "p"},
        {"type": "WriteLine", "id": "b"}, {"type": "WriteLine", "id": "alone"}],
        "connections": [{"source": "a", "target": "p"}, {"source": "p", "target": "b"}]}}));
    let never = |line: &&String| line.contains("never runs");
    let never: Vec<_> = found.iter().filter(never).collect();
    assert_eq!(never.len(), 1, "{found:#?}");
    assert!(never[0].contains("alone"), "{found:#?}");
}
