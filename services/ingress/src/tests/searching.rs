//! Instances are found by the values of their searchable variables.

use serde_json::{Value, json};

use super::world::World;

const API: &str = "/elsa/api";
const DEFINITIONS: &str = "/elsa/api/workflow-definitions";
const LIST: &str = "/elsa/api/workflow-instances";

fn order() -> Value {
    json!({"definitionId": "order", "name": "order", "variables": [
            {"id": "a", "name": "Amount", "typeName": "Double", "searchable": "number"},
            {"id": "c", "name": "Customer", "typeName": "String", "searchable": "text"},
            {"id": "d", "name": "Due", "typeName": "DateTime", "searchable": "time"},
            {"id": "p", "name": "Paid", "typeName": "Boolean", "value": false, "searchable": "boolean"},
            {"id": "x", "name": "Any", "searchable": "number"},
            {"id": "n", "name": "Note", "typeName": "String", "value": "hello"}],
        "root": {"type": "Elsa.Flowchart", "id": "flow", "activities": [
            {"type": "Elsa.RunJavaScript", "id": "set", "script": "variables.Amount = getInput('Amount'); \
                variables.Customer = getInput('Customer'); variables.Due = getInput('Due'); \
                variables.Any = getInput('Customer')"},
            {"type": "Elsa.Event", "id": "wait", "eventName": "go"}],
            "connections": [{"source": "set", "target": "wait"}]}})
}

async fn begin(world: &World, input: Value) -> String {
    let body = json!({"definitionId": "order", "input": input});
    let body = world.post(LIST, &body).await.expect(200);
    body["workflowInstanceId"].as_str().unwrap().to_owned()
}

/// A world with two orders.
async fn orders() -> (World, [String; 2]) {
    let world = World::new().await;
    world.post(DEFINITIONS, &order()).await.expect(201);
    let small =
        json!({"Amount": 99.5, "Customer": "Muster, A: Söhne", "Due": "2026-01-31T08:00:00Z"});
    let large = json!({"Amount": 100, "Customer": "Doe", "Due": "2026-02-01T08:00:00Z"});
    let ids = [begin(&world, small).await, begin(&world, large).await];
    for id in &ids {
        world.until(id, "Suspended").await;
    }
    (world, ids)
}

fn compares(name: &str, operator: &str, value: Value) -> Value {
    json!({"variableFilters": [{"name": name, "operator": operator, "value": value}]})
}

#[tokio::test]
async fn instances_are_found_by_their_values_with_get_and_post() {
    let (world, [small, large]) = orders().await;
    let check = async |query: &str, body: Value, expected: &[&String]| {
        let got = world.get(&format!("{LIST}?{query}&orderDirection=Ascending")).await.expect(200);
        let mut asked = body;
        asked["orderDirection"] = json!("Ascending");
        let posted = world.post(LIST, &asked).await.expect(200);
        let queried = world.post(&format!("{LIST}/query"), &asked).await.expect(200);
        for answer in [got, posted, queried] {
            let items = answer["items"].as_array().unwrap().iter();
            let ids: Vec<_> = items.map(|item| item["id"].as_str().unwrap()).collect();
            assert_eq!(ids, expected, "{query} {asked}");
            assert_eq!(answer["totalCount"], expected.len(), "{query}");
        }
    };
    check("variable=Amount:gte:100", compares("Amount", "gte", json!(100)), &[&large]).await;
    check("variable=Amount:lt:1e2", compares("Amount", "lt", json!("100.0")), &[&small]).await;
    check("variable=Amount:ne:7", compares("Amount", "ne", json!(7)), &[&small, &large]).await;
    let name = "Muster, A: Söhne";
    let query = "variable=Customer:eq:Muster,%20A:%20S%C3%B6hne";
    check(query, compares("Customer", "eq", json!(name)), &[&small]).await;
    check("variable=Customer:prefix:Mu", compares("Customer", "PREFIX", json!("Mu")), &[&small])
        .await;
    let due = compares("Due", "gt", json!("2026-02-01"));
    check("variable=Due:gt:2026-02-01", due, &[&large]).await;
    let due = compares("Due", "lte", json!("2026-01-31T09:00:00+01:00"));
    check("variable=Due:lte:2026-01-31T08:00:00Z", due, &[&small]).await;
    check("variable=Paid:eq:false", compares("Paid", "eq", json!(false)), &[&small, &large]).await;
    check("variable=Paid:eq:true", compares("Paid", "eq", json!("true")), &[]).await;
    // A text where a number is asked for is not found.
    check("variable=Any:gt:-1e300", compares("Any", "gt", json!(-1e300)), &[]).await;
    let both = json!({"definitionId": "order", "variableFilters": [
        {"name": "Amount", "operator": "gt", "value": 1},
        {"name": "Customer", "operator": "eq", "value": "Doe"}]});
    let query = "definitionId=order&variable=Amount:gt:1&variable=Customer:eq:Doe";
    check(query, both, &[&large]).await;
    let shown = world.get(&format!("{LIST}/{large}/variables")).await.expect(200);
    let items = shown["items"].as_array().unwrap();
    let item = |name: &str| items.iter().find(|item| item["name"] == name).unwrap().clone();
    let amount = json!({"id": "a", "name": "Amount", "value": 100, "searchable": "number",
        "isIndexed": true});
    assert_eq!(item("Amount"), amount);
    assert_eq!(item("Any")["isIndexed"], false);
    assert_eq!(item("Note"), json!({"id": "n", "name": "Note", "value": "hello"}));
}

#[tokio::test]
async fn any_other_variable_is_refused_with_the_way_to_make_it_searchable() {
    let (world, _) = orders().await;
    let check = async |query: &str, parts: &[&str]| {
        let detail = world.get(&format!("{LIST}?{query}")).await.problem(400);
        for part in parts {
            assert!(detail.contains(part), "{query}: {detail}");
        }
    };
    let how = "add \"searchable\": \"text\" (or number, time, boolean) to this variable";
    check("variable=Note:eq:hello", &["\"Note\"", how, "publish", "Amount, Any, Customer"]).await;
    check("variable=amount:eq:1", &["\"amount\"", how]).await;
    check("definitionId=other&variable=Amount:eq:1", &["\"Amount\"", how]).await;
    check("version=2&variable=Amount:eq:1", &["\"Amount\"", how]).await;
    check("variable=Amount", &["name:operator:value", "Amount:gte:100", "prefix"]).await;
    check("variable=Amount:like:1", &["name:operator:value", "\"Amount:like:1\""]).await;
    check(
        "variable=Amount:eq:many",
        &["searchable as number", "many", "is not: write a number such as 2.5"],
    )
    .await;
    check(
        "variable=Due:eq:31.1.2026",
        &["searchable as time", "write a time such as 2026-01-31T08:00:00Z"],
    )
    .await;
    check("variable=Amount:prefix:1", &["prefix is for texts"]).await;
    check("variable=Paid:gt:false", &["booleans have eq and ne"]).await;
    check(&format!("variable=Customer:prefix:{}", "a".repeat(251)), &["251", "250"]).await;
    check(&"variable=Amount:eq:1&".repeat(9), &["at most 8"]).await;
    let unknown =
        json!({"variableFilters": [{"name": "Amount", "operator": "gte", "values": [1]}]});
    let detail = world.post(LIST, &unknown).await.problem(400);
    assert!(detail.contains("values"), "{detail}");
    let null = world.post(LIST, &compares("Amount", "eq", json!(null))).await.problem(400);
    assert!(null.contains("variable Amount has no value, or null: write a text"), "{null}");
    let list = compares("Amount", "eq", json!([1]));
    assert!(world.post(LIST, &list).await.problem(400).contains("searchable as number"));
}

#[tokio::test]
async fn a_comparison_that_lacks_a_member_is_named_with_what_it_may_have() {
    let (world, _) = orders().await;
    let good = json!({"name": "Amount", "operator": "gte", "value": 1});
    let operators = "use one of eq, ne, gt, gte, lt, lte, prefix";
    let time =
        json!({"column": "CreatedAt", "operator": "Is", "timestamp": "2026-01-31T08:00:00Z"});
    for (list, whole, member, [what, instead]) in [
        ("variableFilters", &good, "operator", ["of variable Amount, has no operator", operators]),
        ("variableFilters", &good, "name", ["has no name", "a searchable variable"]),
        ("timestampFilters", &time, "column", ["has no column", "use CreatedAt, UpdatedAt or"]),
        ("timestampFilters", &time, "operator", ["has no operator", "use Is, IsNot, LessThan,"]),
        ("timestampFilters", &time, "timestamp", ["has no timestamp", "2026-01-31T08:00:00Z"]),
    ] {
        let place = format!("{list}[1]");
        let mut lacking = whole.clone();
        lacking.as_object_mut().unwrap().remove(member);
        let mut empty = whole.clone();
        empty[member] = json!("");
        for second in [lacking, empty] {
            // No instance fits the status, too: what is wrong is said all the same.
            let filter = json!({"status": "Running", "subStatus": "Finished",
                list: [whole, second]});
            let plan_filter = json!({list: [whole, second]});
            let plan = json!({"alterations": [{"type": "Cancel"}], "filter": plan_filter});
            for (path, body) in [
                (format!("{LIST}/query"), &filter),
                (LIST.to_owned(), &filter),
                (format!("{LIST}/counts"), &filter),
                (format!("{API}/alterations/dry-run"), &plan_filter),
                (format!("{API}/alterations/submit"), &plan),
            ] {
                let detail = world.post(&path, body).await.problem(400);
                for part in [place.as_str(), what, instead] {
                    assert!(detail.contains(part), "{path} {body}: {detail}");
                }
                assert!(!detail.contains("missing field"), "{detail}");
            }
        }
    }
    // So is one that has what no comparison has.
    for (list, whole, member, said) in [
        ("variableFilters", &good, "operator", "operator \"like\" of variable Amount is not valid"),
        ("timestampFilters", &time, "operator", "operator \"like\" is not valid: use Is, IsNot"),
        ("timestampFilters", &time, "column", "column \"like\" is not valid: use CreatedAt"),
        ("timestampFilters", &time, "timestamp", "\"like\" is not an RFC 3339 date"),
    ] {
        let mut wrong = whole.clone();
        wrong[member] = json!("like");
        let filter = json!({list: [whole, wrong]});
        for path in [format!("{LIST}/query"), format!("{API}/alterations/dry-run")] {
            let detail = world.post(&path, &filter).await.problem(400);
            assert!(detail.contains(&format!("{list}[1]: {said}")), "{path}: {detail}");
        }
    }
    let nameless = world.get(&format!("{LIST}?variable=:eq:1")).await.problem(400);
    assert!(nameless.contains("write name:operator:value"), "{nameless}");
}

#[tokio::test]
async fn definitions_may_differ_about_a_name() {
    let (world, [_, large]) = orders().await;
    let other = json!({"definitionId": "other", "name": "other", "variables": [
            {"id": "a", "name": "Amount", "typeName": "String", "value": "100", "searchable": "text"}],
        "root": {"type": "Elsa.Event", "id": "wait", "eventName": "go"}});
    world.post(DEFINITIONS, &other).await.expect(201);
    let text = world.begin("other").await;
    world.until(&text, "Suspended").await;
    let found = async |query: &str| {
        let answer =
            world.get(&format!("{LIST}?{query}&orderDirection=Ascending")).await.expect(200);
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("variable=Amount:eq:100").await, [large.clone(), text.clone()]);
    assert_eq!(
        found("definitionId=other&variable=Amount:eq:100").await,
        std::slice::from_ref(&text)
    );
    assert_eq!(found("variable=Amount:prefix:1").await, [text]);
    assert_eq!(found("definitionId=order&variable=Amount:eq:100").await, [large]);
}

#[tokio::test]
async fn a_plan_selects_by_values_and_an_edited_variable_is_found_by_its_new_value() {
    let (world, [small, large]) = orders().await;
    let filter = compares("Amount", "lt", json!(100));
    let dry = world.post(&format!("{API}/alterations/dry-run"), &filter).await.expect(200);
    assert_eq!(dry["workflowInstanceIds"], json!([small]));
    let alteration = json!({"type": "ModifyVariable", "variableId": "Amount", "value": 500});
    let plan = json!({"id": "p", "alterations": [alteration], "filter": filter});
    world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    testkit::eventually("the plan is completed", super::world::BOUND, async || {
        let plan = world.get(&format!("{API}/alterations/p")).await.expect(200);
        plan["plan"]["status"] == "Completed"
    })
    .await;
    let found = world.get(&format!("{LIST}?variable=Amount:eq:500")).await.expect(200);
    assert_eq!((&found["items"][0]["id"], &found["totalCount"]), (&json!(small), &json!(1)));
    let unsearchable =
        json!({"alterations": plan["alterations"], "filter": compares("Note", "eq", json!("x"))});
    world.post(&format!("{API}/alterations/submit"), &unsearchable).await.problem(400);

    let again = json!({"variables": {"Amount": 700}});
    let path = format!("{LIST}/{large}/restart");
    let again = world.post(&path, &again).await.expect(200);
    let again = again["workflowInstanceId"].as_str().unwrap();
    // The script sets it to the amount of the input.
    world.until(again, "Suspended").await;
    let found = world.get(&format!("{LIST}?variable=Amount:eq:100")).await.expect(200);
    assert_eq!(found["totalCount"], 2);
    let begin = json!({"activityId": "wait", "variables": {"Amount": 700}});
    world.post(&path, &begin).await.expect(200);
    let found = world.get(&format!("{LIST}?variable=Amount:eq:700")).await.expect(200);
    assert_eq!(found["totalCount"], 1, "{found:#}");
}

#[tokio::test]
async fn an_imported_instance_is_found_by_what_its_state_says() {
    let (here, [small, _]) = orders().await;
    let there = World::new().await;
    there.post(DEFINITIONS, &order()).await.expect(201);
    let mut exported = here.get(&format!("{LIST}/{small}/export")).await.expect(200);
    // What the file says about the index does not count.
    exported["record"]["indexed"] = json!({"Amount": "n", "Other": "t"});
    there
        .post(&format!("{API}/bulk-actions/import/workflow-instances"), &exported)
        .await
        .expect(200);
    let found = there.get(&format!("{LIST}?variable=Amount:eq:99.5")).await.expect(200);
    assert_eq!(found["items"][0]["id"], json!(small));
    let modify = json!({"workflowInstanceIds": [small], "alterations":
        [{"type": "ModifyVariable", "variableId": "Amount", "value": 3}]});
    there.post(&format!("{API}/alterations/run"), &modify).await.expect(200);
    let found = async |query: &str| {
        there.get(&format!("{LIST}?variable={query}")).await.expect(200)["totalCount"].clone()
    };
    assert_eq!(found("Amount:eq:3").await, 1);
    assert_eq!(found("Amount:eq:99.5").await, 0);
    assert_eq!(found("Customer:prefix:Muster").await, 1);
    assert_eq!(there.delete(&format!("{LIST}/{small}")).await.status, 204);
    assert_eq!(found("Amount:eq:3").await, 0);
}

#[tokio::test]
async fn a_variable_that_cannot_be_searchable_is_not_published() {
    let world = World::new().await;
    let variable = |name: &str, kind: &str, more: Value| {
        let mut variable = json!({"id": name, "name": name, "searchable": kind});
        variable.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        variable
    };
    let of = |type_name: &str| json!({ "typeName": type_name });
    let line = json!({"type": "Elsa.WriteLine", "id": "line"});
    let check = async |variables: Vec<Value>, root: Value, parts: &[&str]| {
        let definition = json!({"definitionId": "d", "variables": variables, "root": root});
        let answer = world.post(DEFINITIONS, &definition).await.expect(400);
        let errors = answer["validationErrors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{answer:#}");
        for part in parts {
            assert!(errors[0].to_string().contains(part), "{part}: {answer:#}");
        }
    };
    let amount = |kind: &str, more: Value| vec![variable("Amount", kind, more)];
    for (kind, type_name, part) in [
        ("number", "String", "not searched as number: use text"),
        ("text", "Int32", "not searched as text: use number"),
        ("boolean", "DateTime", "use time"),
        ("text", "Boolean", "use boolean"),
        ("text", "String[]", "no searchable form"),
        ("text", "TimeSpan", "no searchable form"),
        ("text", "ObjectDictionary", "no searchable form"),
        ("colour", "String", "not one of text, number, time and boolean"),
    ] {
        check(amount(kind, of(type_name)), line.clone(), &["Amount", part]).await;
    }
    let memory = json!({"typeName": "Int32", "storageDriverTypeName": "MemoryStorageDriver"});
    check(amount("number", memory), line.clone(), &["memory driver"]).await;
    check(vec![variable("ApiKey", "text", of("String"))], line.clone(), &["credential"]).await;
    let long = "x".repeat(129);
    check(vec![variable(&long, "text", of("String"))], line.clone(), &["129 bytes", "128"]).await;
    let many = (0..17).map(|n| variable(&format!("V{n}"), "text", of("String"))).collect();
    check(many, line.clone(), &["17 variables are searchable", "16"]).await;
    let inner = json!({"type": "Elsa.Sequence", "id": "inner", "activities": [line],
        "variables": amount("number", of("Int32"))});
    check(Vec::new(), inner, &["only variables of the workflow itself"]).await;
    let sixteen: Vec<_> =
        (0..16).map(|n| variable(&format!("V{n}"), "text", of("String"))).collect();
    let good = json!({"definitionId": "d", "variables": sixteen, "root": line});
    world.post(DEFINITIONS, &good).await.expect(201);
    let back = world.get(&format!("{DEFINITIONS}/d")).await.expect(200);
    assert_eq!(back["variables"][3]["searchable"], "text", "{back:#}");
}

#[tokio::test]
async fn a_sealed_value_is_not_found() {
    let world = World::new().await;
    let sealed = format!("{{sealed:{}}}", "A".repeat(60));
    let definition = json!({"definitionId": "s", "variables": [
            {"id": "k", "name": "Value", "typeName": "String", "value": sealed, "searchable": "text"}],
        "root": {"type": "Elsa.Event", "id": "wait", "eventName": "go"}});
    world.post(DEFINITIONS, &definition).await.expect(201);
    let id = world.begin("s").await;
    world.until(&id, "Suspended").await;
    let found = world.get(&format!("{LIST}?variable=Value:prefix:%7B")).await.expect(200);
    assert_eq!(found["totalCount"], 0, "{found:#}");
    let shown = world.get(&format!("{LIST}/{id}/variables")).await.expect(200);
    assert_eq!(shown["items"][0]["isIndexed"], false);
}

/// Elsa's Studio saves after each change, and knows no member `searchable`.
#[tokio::test]
async fn a_save_of_studio_keeps_what_is_searchable() {
    let world = World::new().await;
    let path = "/elsa/api/workflow-definitions";
    let definition = json!({"definitionId": "kept", "name": "Kept", "variables": [
            {"id": "a", "name": "Amount", "typeName": "Decimal", "searchable": "number"},
            {"id": "c", "name": "Customer", "typeName": "String", "searchable": "text"},
            {"id": "n", "name": "Note", "typeName": "String"}],
        "root": {"type": "Elsa.WriteLine", "id": "line", "text": "hello"}});
    let saved = world.post(path, &definition).await.expect(201);
    let mut model = saved["workflowDefinition"].clone();
    for variable in model["variables"].as_array_mut().unwrap() {
        variable.as_object_mut().unwrap().remove("searchable");
    }
    model["variables"][0]["name"] = json!("Total");
    let save = async |model: &Value| {
        let sent = json!({"model": model, "publish": false});
        let saved = world.post(path, &sent).await.expect(200);
        let variables = saved["workflowDefinition"]["variables"].as_array().unwrap().clone();
        variables.into_iter().map(|one| one["searchable"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(save(&model).await, [json!("number"), json!("text"), Value::Null]);
    let published = json!({"model": model, "publish": true});
    let published = world.post(path, &published).await.expect(200);
    assert_eq!(published["workflowDefinition"]["variables"][0]["searchable"], "number");
    model["variables"][0]["searchable"] = Value::Null;
    assert_eq!(save(&model).await, [Value::Null, json!("text"), Value::Null]);
    model["variables"][0].as_object_mut().unwrap().remove("searchable");
    assert_eq!(save(&model).await[0], Value::Null, "it does not come back");
    // What is sent bare, as by the command line, is taken as it is.
    let bare = world.post(&format!("{path}?publish=false"), &model).await.expect(200);
    assert_eq!(bare["workflowDefinition"]["variables"][1].get("searchable"), None);
}
