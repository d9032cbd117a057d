//! Publishing a definition with everything wrong in it names every mistake at once.

use serde_json::{Value, json};

use super::world::{World, writes_line};

const API: &str = "/elsa/api/workflow-definitions";

/// A definition with one of every mistake.
fn everything_wrong() -> Value {
    let computed = json!({"evaluationMode": "Expression", "expression": {"type": "JavaScript"}});
    let mut wrong = json!({
        "definitionId": "wrong", "name": "Wrong",
        "inputs": [{"name": "Amount", "type": "Int32"}, {"name": "amount"}],
        "outputs": [{"name": "Total"}, {"name": "Total"}, {"name": ""}],
        "variables": [
            {"id": "1", "name": "Count", "typeName": "Int32", "value": "many"},
            {"id": "2", "name": "Count"},
            {"id": "3", "name": "Odd", "typeName": "Acme.Odd",
                "storageDriverTypeName": "Acme.BlobStorageDriver, Acme"}],
        "options": {"activationStrategyType": "Sometimes", "incidentStrategyType": "Panic",
            "commitStrategyName": "Often"},
        "customProperties": {"retention": {"finished": "soon"}},
        "root": {"type": "Elsa.Flowchart", "id": "flow",
            "activities": [
                {"type": "Elsa.HttpEndpoint", "id": "taken", "canStartWorkflow": true, "path": "taken"},
                {"type": "Elsa.HttpEndpoint", "id": "one", "canStartWorkflow": true, "path": "same"},
                {"type": "Elsa.HttpEndpoint", "id": "two", "canStartWorkflow": true, "path": "/same"},
                {"type": "Elsa.HttpEndpoint", "id": "bare", "canStartWorkflow": true},
                {"type": "Elsa.Cron", "id": "cron", "canStartWorkflow": true, "cronExpression": "soon"},
                {"type": "Elsa.Cron", "id": "never", "canStartWorkflow": true,
                    "cronExpression": "0 0 30 2 *"},
                {"type": "Elsa.WriteLine", "id": "twice"},
                {"type": "Elsa.WriteLine", "id": "twice"},
                {"type": "Elsa.WriteLin", "id": "typo"},
                {"type": "Acme.Unheard", "id": "unheard"},
                {"type": "SendInvoice", "id": "workflow"},
                {"type": "Elsa.RunCSharp", "id": "code"},
                {"type": "Elsa.Kafka.MessageReceived", "id": "kafka"},
                {"type": "Slack.SendMessage", "id": "slack"},
                {"type": "Elsa.NotFoundActivity", "id": "lost", "missingTypeName": "Acme.SendFax"},
                {"id": "typeless"},
                {"type": "Elsa.WriteLine", "id": "sharp",
                    "text": {"expression": {"type": "CSharp", "value": "1"}}},
                {"type": "Elsa.WriteLine", "id": "cobol",
                    "text": {"expression": {"type": "Cobol", "value": "1"}}},
                {"type": "Elsa.WriteLine", "id": "script", "text": {"js": "1 +\n  * 2"}},
                {"type": "Elsa.WriteLine", "id": "template", "text": {"liquid": "{% if %}"}},
                {"type": "Elsa.Delay", "id": "delay", "timeSpan": "soon"},
                {"type": "Elsa.SetVariable", "id": "set", "variable": {"id": "gone", "name": "Gone"},
                    "value": {"expression": {"type": "Variable", "value": {"id": "9", "name": "Coun"}}}},
                {"type": "Elsa.WriteLine", "id": "asks", "runAsynchronously": true,
                    "text": {"expression": {"type": "Input", "value": {"name": "Amout"}}},
                    "customProperties": {"commitStrategyName": "X", "logPersistenceMode": "Perhaps",
                        "logPersistenceConfig": {"default": computed}}},
                {"type": "Elsa.WriteLine", "id": "reads",
                    "text": {"js": "variables.Cuont + getInput('Nothing')"}},
                {"type": "Elsa.RunJavaScript", "id": "bound",
                    "result": {"memoryReference": {"id": "Nowhere"},
                        "converter": {"id": "sample.number-to-text.v1"}}},
                {"type": "Elsa.WriteLine", "id": "alone"},
                {"type": "Elsa.Sequence", "id": "sequence", "activities": [
                    {"type": "Elsa.End", "id": "end"},
                    {"type": "Elsa.WriteLine", "id": "late"},
                    {"type": "Elsa.WriteLine", "id": "alone"}]}],
            "connections": [
                {"source": {"activity": "taken"}, "target": {"activity": "twice"}},
                {"source": {"activity": "twice"}, "target": {"activity": "gone"}},
                {"source": {"activity": "taken"}, "target": {"activity": "sharp"}},
                {"source": {"activity": "taken"}, "target": {"activity": "cobol"}},
                {"source": {"activity": "taken"}, "target": {"activity": "script"}},
                {"source": {"activity": "taken"}, "target": {"activity": "template"}},
                {"source": {"activity": "taken"}, "target": {"activity": "delay"}},
                {"source": {"activity": "taken"}, "target": {"activity": "set"}},
                {"source": {"activity": "taken"}, "target": {"activity": "asks"}},
                {"source": {"activity": "taken"}, "target": {"activity": "reads"}},
                {"source": {"activity": "taken"}, "target": {"activity": "bound"}},
                {"source": {"activity": "taken"}, "target": {"activity": "sequence"}}]}
    });
    let more = [
        json!({"type": "Elsa.HttpEndpoint", "id": "braces", "canStartWorkflow": true, "path": "a/{b"}),
        json!({"type": "Elsa.HttpEndpoint", "id": "limits", "canStartWorkflow": true,
            "path": "a/{b:min(1)}"}),
        json!({"type": "Elsa.FlowSwitch", "id": "switch", "cases": "x"}),
        json!({"type": "Elsa.SetOutput", "id": "gives", "outputName": "Totl", "outputValue": 1}),
    ];
    wrong["activities"] = json!([]);
    wrong["optoins"] = json!({});
    let root = &mut wrong["root"];
    root["conections"] = json!([]);
    root["activities"][16]["txt"] = json!("?");
    root["activities"][16]["strategy"] = json!({"expression": {"type": "Literal", "value": 1}});
    root["activities"][16]["nothing"] = json!(null);
    root["activities"][16]["canStartWorkfow"] = json!(true);
    root["activities"].as_array_mut().unwrap().extend(more);
    let never = json!({"source": {"activity": "twice", "port": "Faild"},
        "target": {"activity": "sequence"}});
    root["connections"].as_array_mut().unwrap().push(never);
    for target in ["switch", "gives"] {
        let connection = json!({"source": {"activity": "taken"}, "target": {"activity": target}});
        root["connections"].as_array_mut().unwrap().push(connection);
    }
    wrong
}

const ERRORS: &[(&str, &str, &str)] = &[
    ("", "inputs[1].name", "the name amount is used twice"),
    ("", "outputs[1].name", "the name Total is used twice"),
    ("", "outputs[2].name", "one has no name: give each its own"),
    ("", "options.activationStrategyType", "there is no activation strategy Sometimes: use "),
    ("", "options.incidentStrategyType", "there is no incident strategy Panic: use "),
    ("", "variables[0].value", "the default of Count is no Int32: \"many\" is not a whole number"),
    ("", "variables[1].name", "two variables have the name Count: rename one of them"),
    (
        "",
        "variables[2].typeName",
        "the type of Odd is Acme.Odd, which is not known here: use Object",
    ),
    ("bare", "path", "there is no value: give one"),
    ("taken", "path", "The /taken path and get method are already in use by another workflow!"),
    ("two", "path", "activity one receives the same requests: give one of them another path"),
    ("braces", "path", "{b is no parameter: write {name}"),
    ("switch", "cases", "\"x\" is not a list: write [ … ]"),
    ("cron", "cronExpression", "\"soon\" is not a cron expression of 5 or 6 fields"),
    ("never", "cronExpression", "\"0 0 30 2 *\" never occurs: use a date that exists"),
    ("twice", "id", "the id twice is used twice here: give each activity its own"),
    ("typo", "type", "there is no activity type Elsa.WriteLin: did you mean Elsa.WriteLine?"),
    ("unheard", "type", "there is no activity type Acme.Unheard"),
    ("workflow", "type", "SendInvoice, and 2 published workflows have this name: rename some"),
    ("code", "type", "no activity type Elsa.RunCSharp here: use Elsa.RunJavaScript, or"),
    ("kafka", "type", "Elsa.Kafka.MessageReceived here: use Staunch.MessageReceived"),
    ("slack", "type", "Slack.SendMessage here: use Elsa.RunTask, and a worker that does it"),
    (
        "lost",
        "type",
        "write this activity anew, as its placeholder has no original \
        (originalActivityJson): there is no activity type Acme.SendFax",
    ),
    ("typeless", "type", "there is no type: write one, such as Elsa.WriteLine"),
    ("sharp", "text", "Staunch does not run CSharp expressions: use JavaScript, or"),
    ("cobol", "text", "there is no expression type Cobol: use one of Literal, Object"),
    ("script", "text", "line 2, column 3: unexpected token in expression: '*'"),
    ("template", "text", "line 1, column 6: Value expected."),
    ("delay", "timeSpan", "\"soon\" is not a duration: write 00:00:05, PT5S or 5s"),
    ("bound", "result", "there is no output converter sample.number-to-text.v1: "),
    ("", "customProperties", "finished of retention is \"soon\": use keep or a time such as"),
    (
        "flow",
        "connections[1]",
        "this connection (twice to gone) names activity gone, which is not in",
    ),
];

const WARNINGS: &[(&str, &str, &str)] = &[
    (
        "",
        "variables[2].storageDriverTypeName",
        "there is no storage driver Acme.BlobStorageDriver, Acme: use ",
    ),
    ("", "activities", "a definition has no activities: write them into its root"),
    (
        "",
        "optoins",
        "a definition has no member optoins, so that member is ignored: did you mean options?",
    ),
    (
        "flow",
        "conections",
        "Flowchart has no member conections, so that member is ignored: did you mean connections?",
    ),
    ("sharp", "canStartWorkfow", "so that member is ignored: did you mean canStartWorkflow?"),
    ("sharp", "strategy", "WriteLine has no member strategy, so that member is ignored"),
    ("sharp", "txt", "WriteLine has no member txt, so that member is ignored: did you mean text?"),
    ("flow", "connections[12]", "never followed, as activity twice has no outcome Faild: use Done"),
    ("", "commitStrategyName", "has no effect: each burst, up to where the workflow waits"),
    ("limits", "path", "the constraint min(1) has no effect: use one of int, long"),
    ("asks", "runAsynchronously", "runAsynchronously has no effect"),
    ("asks", "commitStrategyName", "commitStrategyName has no effect"),
    ("asks", "logPersistenceMode", "there is no log persistence \"Perhaps\": use Include, Exclude"),
    ("asks", "logPersistenceConfig", "expressions are not evaluated here, so nothing is kept"),
    ("asks", "text", "the workflow declares no input Amout: did you mean Amount?"),
    ("set", "variable", "there is no variable Gone here: declare it"),
    ("set", "value", "there is no variable Coun here: did you mean Count?"),
    ("reads", "text", "there is no variable Cuont here: declare it"),
    ("reads", "text", "the workflow declares no input Nothing: declare it"),
    ("gives", "outputName", "the workflow declares no output Totl: did you mean Total?"),
    ("bound", "result", "no output of the workflow with the id or name Nowhere"),
    ("twice", "", "this activity never runs: no connection leads to it from the start"),
    ("alone", "", "this activity never runs: no connection leads to it from the start"),
    ("late", "", "this activity never runs: an activity before it ends the sequence"),
    ("alone", "", "this activity never runs: an activity before it ends the sequence"),
    ("alone", "id", "2 activities have the id alone"),
];

/// Every finding is expected, and every expected finding is there.
fn check(found: &Value, expected: &[(&str, &str, &str)]) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = found.as_array().unwrap().iter().collect();
    let shown: Vec<_> = found
        .iter()
        .map(|one| (text(&one["activityId"]), text(&one["property"]), text(&one["message"])))
        .collect();
    for (activity, property, part) in expected {
        let is_there = shown.iter().any(|(at, name, message)| {
            at == activity && name == property && message.contains(part)
        });
        assert!(is_there, "({activity}, {property}, {part}) is not in {shown:#?}");
    }
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
}

#[tokio::test]
async fn every_mistake_is_named_at_once() {
    let world = World::new().await;
    let endpoint =
        json!({"type": "Elsa.HttpEndpoint", "id": "e", "canStartWorkflow": true, "path": "taken"});
    world.publish("other", endpoint).await;
    for name in ["invoice-1", "invoice-2"] {
        let document = json!({"definitionId": name, "name": "Send invoice", "root": writes_line(),
            "options": {"usableAsActivity": true}});
        world.post(API, &document).await.expect(201);
    }
    let answer = world.post(API, &everything_wrong()).await.expect(400);
    check(&answer["validationErrors"], ERRORS);
    check(&answer["validationWarnings"], WARNINGS);
}

/// A part that cannot be read hides no other mistake, and the places are those of what was sent.
#[tokio::test]
async fn what_cannot_be_read_is_named_with_all_the_rest() {
    let world = World::new().await;
    let wrong = |id: &str| {
        json!({"definitionId": id, "name": 7,
            "variables": ["x", {"name": "N", "typeName": "Int32", "value": "many"}],
            "root": {"type": "Elsa.WriteLin", "id": "w"}})
    };
    let text = "this is 7, and has to be a text";
    let expected = [
        ("", "name", text),
        ("", "variables[0]", "this is \"x\", and has to be an object"),
        ("", "variables[1].value", "the default of N is no Int32"),
        ("w", "type", "there is no activity type Elsa.WriteLin: did you mean Elsa.WriteLine?"),
    ];
    let wrapped = json!({"model": wrong("a"), "publish": true});
    for (path, body) in [
        (API.to_owned(), wrong("a")),
        (API.to_owned(), wrapped.clone()),
        (format!("{API}/import?publish=true"), wrong("a")),
        (format!("{API}/a/import"), wrapped),
    ] {
        let answer = world.post(&path, &body).await;
        check(&answer.body["validationErrors"], &expected);
        let general = answer.body["errors"]["generalErrors"].to_string();
        assert!(general.contains(&format!("name: {text}")), "{general}");
        let detail = answer.problem(400);
        assert!(
            detail.starts_with(&format!("the body is not a workflow definition: name: {text}"))
        );
    }
    // A draft is not validated, so only what cannot be read is in its way.
    let draft = world.post(&format!("{API}/import"), &wrong("a")).await.expect(400);
    check(&draft["validationErrors"], &expected[..2]);
    let together = json!({"workflowDefinitions": [
        {"definitionId": "b", "root": {"type": "Elsa.WriteLin", "id": "w"}}, wrong("c")]});
    let path = "/elsa/api/bulk-actions/import/workflow-definitions";
    let answer = world.post(path, &together).await.expect(400);
    let errors = answer["validationErrors"].as_array().unwrap();
    let of =
        |id: &str| errors.iter().filter(|error| error["definitionId"] == id).cloned().collect();
    check(&of("b"), &expected[3..]);
    check(&of("c"), &expected);
}

#[tokio::test]
async fn a_bare_definition_says_whether_it_is_published() {
    let world = World::new().await;
    let with = |publish: Value| {
        let root = json!({"type": "Elsa.WriteLin", "id": "w"});
        json!({"definitionId": "bare", "root": root, "publish": publish})
    };
    let body = world.post(API, &with(json!(false))).await.expect(201);
    assert_eq!(body["workflowDefinition"]["isPublished"], false, "{body:#}");
    for publish in [json!(true), Value::Null] {
        world.post(API, &with(publish)).await.expect(400);
    }
    let detail = world.post(API, &with(json!("no"))).await.problem(400);
    assert!(detail.contains("publish is \"no\": write true or false"), "{detail}");
}

#[tokio::test]
async fn an_import_that_says_so_is_published() {
    let world = World::new().await;
    let path = format!("{API}/import");
    for (said, is_published) in [(Value::Null, false), (json!(false), false), (json!(true), true)] {
        let model = json!({"definitionId": format!("i-{said}"), "root": writes_line()});
        let body = world.post(&path, &json!({"model": model, "publish": said})).await.expect(200);
        assert_eq!(body["isPublished"], is_published, "{said}: {body:#}");
    }
    let rootless = json!({"model": {"definitionId": "none"}, "publish": true});
    world.post(&path, &rootless).await.expect(400);
}

#[tokio::test]
async fn warnings_come_with_a_publication_that_succeeds() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.Event", "id": "e", "eventName": "Paid"},
        {"type": "Elsa.WriteLine", "id": "w", "text": {"liquid": "{{ Variables.Sum }}"}}]});
    let body = world.post(API, &json!({"definitionId": "odd", "root": root})).await.expect(201);
    assert_eq!(body["validationErrors"], json!([]));
    check(
        &body["validationWarnings"],
        &[
            ("e", "canStartWorkflow", "nothing starts the workflow here: set canStartWorkflow"),
            ("w", "text", "there is no variable Sum here: declare it"),
        ],
    );
}

#[tokio::test]
async fn a_workflow_that_is_started_and_not_there_is_warned_of() {
    let world = World::new().await;
    world.publish("there", writes_line()).await;
    let starts = |kind: &str, child: Value| json!({"type": kind, "id": format!("of-{child}"), "workflowDefinitionId": child});
    let root = json!({"type": "Sequence", "id": "s", "activities": [
        starts("ExecuteWorkflow", json!("gone")), starts("DispatchWorkflow", json!("there")),
        starts("DispatchWorkflow", json!("parent")),
        starts("BulkDispatchWorkflows", json!("lost")),
        starts("ExecuteWorkflow", json!({"js": "'computed'"}))]});
    let parent = json!({"definitionId": "parent", "root": root});
    let body = world.post(API, &parent).await.expect(201);
    let fails = "is published: this activity fails until there is one";
    check(
        &body["validationWarnings"],
        &[
            (r#"of-"gone""#, "workflowDefinitionId", &format!("no workflow \"gone\" {fails}")),
            (r#"of-"lost""#, "workflowDefinitionId", &format!("no workflow \"lost\" {fails}")),
        ],
    );
    assert_eq!(body["validationWarnings"][0]["workflowDefinitionId"], "gone");
}

#[tokio::test]
async fn workflows_published_together_may_start_each_other() {
    let world = World::new().await;
    let of = |id: &str, child: &str| {
        let root = json!({"type": "DispatchWorkflow", "id": "d", "workflowDefinitionId": child});
        json!({"definitionId": id, "root": root})
    };
    let all = json!({"workflowDefinitions": [of("a", "b"), of("b", "a")]});
    let path = "/elsa/api/bulk-actions/import/workflow-definitions";
    let body = world.post(path, &all).await.expect(200);
    for saved in body["workflowDefinitions"].as_array().unwrap() {
        assert_eq!(saved["validationWarnings"], json!([]), "{body:#}");
    }
}

#[tokio::test]
async fn workflows_published_together_may_not_have_one_route() {
    let world = World::new().await;
    let of = |id: &str, path: &str| {
        let root = json!({"type": "HttpEndpoint", "id": "h", "path": path,
            "supportedMethods": ["GET", "POST"], "canStartWorkflow": true});
        json!({"definitionId": id, "root": root})
    };
    let path = "/elsa/api/bulk-actions/import/workflow-definitions";
    for dry_run in [true, false] {
        let all = json!({"workflowDefinitions": [of("a", "orders/{id}"), of("b", "/Orders/{no}")],
            "dryRun": dry_run});
        let body = world.post(path, &all).await.expect(400);
        let message =
            "workflow a receives the same requests: give one of them another path or method";
        let error = json!({"definitionId": "b", "activityId": "h", "property": "path",
            "message": message});
        assert_eq!(body["validationErrors"], json!([error]), "{body:#}");
    }
    let apart = json!({"workflowDefinitions": [of("a", "orders"), of("b", "bills")]});
    world.post(path, &apart).await.expect(200);
}

/// A mistake in one of them hides no warning about any.
#[tokio::test]
async fn warnings_are_shown_beside_errors() {
    let world = World::new().await;
    let shows = |id: &str, more: Value| {
        let line = json!({"type": "WriteLine", "id": "w", "text": {"js": "variables.Nope"}});
        json!({"definitionId": id, "root": {"type": "Sequence", "activities": [line, more]}})
    };
    let all = json!({"workflowDefinitions": [shows("good", writes_line()),
        shows("bad", json!({"type": "WriteLin", "id": "x"}))]});
    let path = "/elsa/api/bulk-actions/import/workflow-definitions";
    let body = world.post(path, &all).await.expect(400);
    let warned = body["validationWarnings"].as_array().unwrap();
    let mut of: Vec<_> = warned.iter().map(|it| it["definitionId"].as_str().unwrap()).collect();
    of.sort_unstable();
    assert_eq!(of, ["bad", "good"], "{body:#}");
    assert!(warned.iter().all(|it| it["severity"] == "Warning"), "{body:#}");
}

#[tokio::test]
async fn a_workflow_is_found_by_its_name_as_an_activity() {
    let world = World::new().await;
    let child = json!({"definitionId": "invoice", "name": "send invoice", "root": writes_line(),
        "options": {"usableAsActivity": true}});
    world.post(API, &child).await.expect(201);
    let body = world.publish("user", json!({"type": "SendInvoice", "id": "a"})).await;
    assert_eq!(body["workflowDefinition"]["root"]["workflowDefinitionId"], "invoice");
    assert_eq!(body["workflowDefinition"]["root"]["version"], 1);
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_refused_with_all_its_flaws() {
    let world = World::new().await;
    let document = json!({"definitionId": "picky", "root": writes_line(), "inputs": [
        {"name": "Amount", "type": "Int32"},
        {"name": "Name", "type": "String", "isRequired": true},
        {"name": "Lines", "type": "Int32", "isArray": true},
        {"name": "Rest", "type": "String", "isRequired": true, "defaultValue": "x"}]});
    world.post(API, &document).await.expect(201);
    let start = |input: Value| json!({"definitionId": "picky", "input": input});
    let path = "/elsa/api/workflow-instances";
    let refused = world.post(path, &start(json!({"amount": "many", "Lines": [1, "x"]}))).await;
    let body = refused.expect(400);
    assert_eq!(body["type"], "urn:staunch:problem:invalid-input");
    let flaws = body["inputErrors"].as_object().unwrap();
    let names: Vec<_> = flaws.keys().collect();
    assert_eq!(names, ["Amount", "Lines", "Name"], "{flaws:?}");
    assert_eq!(flaws["Name"], "it is required: give it a value");
    let fits = json!({"amount": "12", "name": "Ada", "Lines": [1, "2"], "Undeclared": 1});
    world.post(path, &start(fits)).await.expect(200);
}
