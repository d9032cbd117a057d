use serde_json::{Value, json};

use super::world::{World, json_request, waits_for, writes_line};

const API: &str = "/elsa/api/workflow-definitions";

/// A root activity as answers have it.
fn placed(mut root: Value) -> Value {
    root["nodeId"] = json!(format!("Workflow1:{}", root["id"].as_str().unwrap()));
    root["version"] = json!(1);
    root["name"] = Value::Null;
    (root["customProperties"], root["metadata"]) = (json!({}), json!({}));
    root
}

fn definition(root: Value) -> Value {
    json!({"definitionId": "order", "name": "Order", "root": root})
}

#[tokio::test]
async fn a_bare_definition_is_published_everywhere_before_the_answer() {
    let world = World::new().await;
    let answer = world.post(API, &definition(writes_line())).await;
    assert_eq!(answer.header("location"), Some("/elsa/api/workflow-definitions/order"));
    let body = answer.expect(201);
    assert_eq!((&body["everywhere"], &body["missing"]), (&json!(true), &json!([])));
    assert_eq!(body["workflowDefinition"]["isPublished"], true);
    assert_eq!(body["alreadyPublished"], false);
    assert_eq!(body["validationErrors"], json!([]));
    assert!(body["revision"].as_u64().unwrap() > 0);
    world.post(&format!("{API}/order/dispatch"), &json!({})).await.expect(200);
}

#[tokio::test]
async fn a_wrapped_definition_is_a_draft_unless_publish_is_set() {
    let world = World::new().await;
    let model = definition(writes_line());
    let draft = world.post(API, &json!({"model": model, "publish": false})).await.expect(201);
    assert_eq!(draft["workflowDefinition"]["isPublished"], false);
    assert!(draft.get("everywhere").is_none());
    let detail = world.post(&format!("{API}/order/execute"), &json!({})).await.problem(404);
    assert!(detail.contains("is not published: publish it first"), "{detail}");
    let body = world.post(API, &json!({"model": model, "publish": true})).await.expect(200);
    assert_eq!(body["workflowDefinition"]["version"], 1);
    let kept = world.post(&format!("{API}?publish=false"), &definition(waits_for("e"))).await;
    assert_eq!(kept.expect(200)["workflowDefinition"]["isPublished"], false);
}

#[tokio::test]
async fn published_versions_are_immutable_and_drafts_are_overwritten() {
    let world = World::new().await;
    let v1 = world.publish("order", writes_line()).await;
    let import = format!("{API}/import");
    let draft = world.post(&import, &definition(waits_for("a"))).await.expect(200);
    assert_eq!(draft["version"], 2);
    assert_ne!(draft["id"], v1["workflowDefinition"]["id"]);
    let again = world.put(&format!("{API}/order/import"), &definition(waits_for("b"))).await;
    let again = again.expect(200);
    assert_eq!(again["id"], draft["id"]);
    let published = world.get(&format!("{API}/order?versionOptions=Published")).await.expect(200);
    assert_eq!((&published["version"], &published["root"]), (&json!(1), &placed(writes_line())));
    let v2 = world.post(&format!("{API}/order/publish"), &json!({})).await.expect(200);
    assert_eq!(
        (&v2["workflowDefinition"]["version"], &v2["everywhere"]),
        (&json!(2), &json!(true))
    );
    let again = world.post(&format!("{API}/order/publish"), &json!({})).await.expect(200);
    assert_eq!((&again["alreadyPublished"], &again["everywhere"]), (&json!(true), &json!(true)));
    let versions = world.get(&format!("{API}/order/versions")).await.expect(200);
    let shown: Vec<_> = versions.as_array().unwrap().iter().map(|v| &v["version"]).collect();
    assert_eq!(shown, [2, 1]);
}

#[tokio::test]
async fn publishing_the_same_again_makes_no_new_version() {
    let world = World::new().await;
    world.publish("order", writes_line()).await;
    let again = world.put(&format!("{API}/order"), &definition(writes_line())).await;
    // The name differs from the first version: that is a change.
    assert_eq!(again.expect(200)["workflowDefinition"]["version"], 2);
    let body = world.put(&format!("{API}/order"), &definition(writes_line())).await.expect(200);
    assert_eq!(body["workflowDefinition"]["version"], 2);
    assert_eq!(body["alreadyPublished"], true);
}

/// Six publishers replace one draft at the same moment. Every version keeps the content for which
/// its publisher got an answer.
#[tokio::test]
async fn simultaneous_publications_of_one_draft_are_different_versions() {
    let world = World::new().await;
    for round in 0..5 {
        let id = format!("order-{round}");
        let path = format!("{API}/{id}");
        let draft = json!({"definitionId": id, "root": writes_line()});
        world.post(&format!("{API}/import"), &draft).await.expect(200);
        let line = |number: usize| json!({"type": "Elsa.WriteLine", "id": "line", "text": format!("{number}")});
        // The last two publish the same content.
        let contents: Vec<_> = [0, 1, 2, 3, 4, 4].map(line).to_vec();
        let bodies: Vec<_> =
            contents.iter().map(|root| json!({"definitionId": id, "root": root})).collect();
        let puts = bodies.iter().map(|body| world.put(&path, body));
        let answers = futures::future::join_all(puts).await;
        let mut versions = Vec::new();
        for (answer, root) in answers.into_iter().zip(&contents) {
            let version_id = {
                let body = answer.expect(200);
                let version = &body["workflowDefinition"];
                assert_eq!(version["root"], placed(root.clone()));
                versions.push(version["version"].as_u64().unwrap());
                version["id"].as_str().unwrap().to_owned()
            };
            let stored = world.get(&format!("{API}/by-id/{version_id}")).await.expect(200);
            assert_eq!(
                stored["root"],
                placed(root.clone()),
                "{version_id} has other content than was published"
            );
        }
        assert!(versions[4] == versions[5] || versions.contains(&6), "{versions:?}");
        versions.sort_unstable();
        versions.dedup();
        let latest = *versions.last().unwrap();
        assert_eq!(
            versions,
            (1..=latest).collect::<Vec<_>>(),
            "no number is used twice or left out"
        );
        let published = world.get(&format!("{path}?versionOptions=Published")).await.expect(200);
        assert_eq!(published["version"], latest, "the last one is published");
    }
}

#[tokio::test]
async fn a_change_from_a_stale_base_names_the_version_that_won() {
    let world = World::new().await;
    world.publish("order", writes_line()).await;
    let path = format!("{API}/order");
    let tag = world.get(&path).await.header("etag").unwrap().to_owned();
    let put = |root: Value, tag: &str| {
        let body = json!({"definitionId": "order", "root": root});
        world.send(json_request("PUT", &path, &[("if-match", tag)], &body))
    };
    let won = put(waits_for("a"), &tag).await;
    let new_tag = won.header("etag").unwrap().to_owned();
    let won = won.expect(200)["workflowDefinition"].clone();
    assert_eq!(won["version"], 2);
    let lost = put(waits_for("b"), &tag).await;
    assert_eq!(lost.header("etag"), Some(new_tag.as_str()));
    let body = lost.body.clone();
    let detail = lost.problem(412);
    assert!(detail.contains("version 2"), "{detail}");
    assert_eq!(
        (&body["version"], &body["versionId"], &body["etag"]),
        (&json!(2), &won["id"], &json!(new_tag))
    );
    // A repeat of a publication is no change.
    assert_eq!(put(waits_for("a"), &tag).await.expect(200)["alreadyPublished"], true);
    let stale = [("if-match", tag.as_str())];
    for (method, below) in
        [("POST", "/publish"), ("POST", "/revert/1"), ("POST", "/retract"), ("DELETE", "")]
    {
        let path = format!("{path}{below}");
        world.send(json_request(method, &path, &stale, &json!({}))).await.problem(412);
    }
    assert_eq!(put(waits_for("b"), &new_tag).await.expect(200)["workflowDefinition"]["version"], 3);

    put(writes_line(), "unquoted").await.problem(400);
    let create = [("if-none-match", "*")];
    let body = json!({"definitionId": "order", "root": writes_line()});
    world.send(json_request("PUT", &path, &create, &body)).await.problem(412);
    let new = format!("{API}/invoice");
    world.send(json_request("PUT", &new, &[("if-match", "*")], &body)).await.problem(412);
    world.send(json_request("PUT", &new, &create, &body)).await.expect(201);
}

#[tokio::test]
async fn the_removal_of_a_version_is_in_the_audit_log() {
    let world = World::new().await;
    let first = world.publish("order", writes_line()).await;
    let second = json!({"definitionId": "order", "root": waits_for("a")});
    world.put(&format!("{API}/order"), &second).await.expect(200);
    let third = json!({"definitionId": "order", "root": waits_for("b")});
    world.put(&format!("{API}/order"), &third).await.expect(200);
    assert_eq!(world.delete(&format!("{API}/order/version/2")).await.status, 204);
    let id = first["workflowDefinition"]["id"].as_str().unwrap();
    assert_eq!(world.delete(&format!("/api/workflow-definition-versions/{id}")).await.status, 204);
    let audit = world.get("/api/audit").await.expect(200);
    assert_eq!(
        (&audit["items"][0]["what"], &audit["items"][0]["target"]),
        (&json!("version.delete"), &json!(id))
    );
    assert_eq!(audit["items"][1]["what"], "version.delete");
}

/// Of six changes that start from the same version, one wins; the others get its version.
#[tokio::test]
async fn one_of_many_changes_from_the_same_base_is_made() {
    let world = World::new().await;
    world.publish("order", writes_line()).await;
    let path = format!("{API}/order");
    let tag = world.get(&path).await.header("etag").unwrap().to_owned();
    let puts = (0..6).map(|number| {
        let body = json!({"definitionId": "order", "root": waits_for(&format!("e{number}"))});
        world.send(json_request("PUT", &path, &[("if-match", &tag)], &body))
    });
    let answers = futures::future::join_all(puts).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412]);
    assert!(answers.iter().all(|answer| answer.status == 200 || answer.body["version"] == 2));
}

#[tokio::test]
async fn the_content_of_a_retracted_version_is_published_under_its_id_again() {
    let world = World::new().await;
    let first = world.publish("order", writes_line()).await["workflowDefinition"].clone();
    world.post(&format!("{API}/order/retract"), &json!({})).await.expect(200);
    let again = world.publish("order", writes_line()).await;
    assert_eq!(again["alreadyPublished"], false);
    let again = &again["workflowDefinition"];
    assert_eq!((&again["id"], &again["version"]), (&first["id"], &json!(1)));
    assert_eq!(again["publishedAt"], first["publishedAt"]);
}

/// A list says when a draft was saved last, which is not when its version began.
#[tokio::test]
async fn each_change_of_a_draft_has_its_time() {
    let world = World::new().await;
    let save = async |root: Value| {
        let draft = json!({"model": definition(root), "publish": false});
        world.post(API, &draft).await.body["workflowDefinition"].clone()
    };
    let first = save(writes_line()).await;
    let before = world.app.now();
    while world.app.now() == before {
        tokio::task::yield_now().await;
    }
    let second = save(waits_for("x")).await;
    assert_eq!((&second["version"], &second["createdAt"]), (&json!(1), &first["createdAt"]));
    assert!(second["savedAt"].as_str() > first["savedAt"].as_str(), "{first} {second}");
    let again = save(waits_for("x")).await;
    assert_eq!(again["savedAt"], second["savedAt"], "nothing was changed");
    let list = world.get(API).await.expect(200);
    assert_eq!(list["items"][0]["savedAt"], second["savedAt"]);
    assert_eq!(list["items"][0]["createdAt"], first["createdAt"]);
}

#[tokio::test]
async fn every_problem_of_a_definition_is_named() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.WritLine", "id": "one", "text": "x"},
        {"type": "Elsa.WriteLine", "id": "two", "text": {"typeName": "String",
            "expression": {"type": "JavaScript", "value": "1 +"}}}]});
    let answer = world.post(API, &definition(root)).await;
    assert!(answer.body["detail"].as_str().unwrap().contains("2 problems"), "{answer:?}");
    let errors = answer.expect(400)["validationErrors"].clone();
    assert_eq!(errors[0]["activityId"], "one", "{errors:#}");
    assert_eq!((&errors[1]["activityId"], &errors[1]["property"]), (&json!("two"), &json!("text")));
    world.get(&format!("{API}/order")).await.problem(404);
}

/// Each problem has its activity, its property and the reason; a draft is saved in any case.
#[tokio::test]
async fn what_cannot_run_as_written_is_refused_when_it_is_published() {
    let world = World::new().await;
    let chart = json!({"type": "Elsa.Flowchart", "id": "f",
        "activities": [{"type": "Elsa.WriteLine", "id": "one", "text": "x"}],
        "connections": [{"source": {"activity": "one"}, "target": {"activity": "gone"}}]});
    let body = json!({"definitionId": "odd", "root": {"type": "Elsa.Sequence", "id": "s",
        "activities": [
            chart,
            {"type": "Elsa.Sequence", "id": "t", "activities": "x"},
            {"type": "Bogus.Type", "id": "b"},
            {"type": "Elsa.Cron", "id": "c", "cronExpression": "0 0 30 2 *"}]},
        "variables": [{"id": "1", "name": "A", "typeName": "Bogus.Type"}, {"id": "1", "name": "B"}]});
    let errors = world.post(API, &body).await.expect(400)["validationErrors"].clone();
    let shown: Vec<_> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["activityId"].as_str(), error["property"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            (None, "variables[0].typeName"),
            (None, "variables[1].id"),
            (Some("f"), "connections[0]"),
            (Some("t"), "activities"),
            (Some("b"), "type"),
            (Some("c"), "cronExpression")
        ]
    );
    world.post(&format!("{API}/import"), &body).await.problem(400);
}

#[tokio::test]
async fn a_route_belongs_to_one_definition() {
    let world = World::new().await;
    let root = || json!({"type": "Elsa.HttpEndpoint", "id": "h", "path": "a/{id}", "canStartWorkflow": true});
    world.publish("first", root()).await;
    let answer = world.post(API, &json!({"definitionId": "second", "root": root()})).await;
    let errors = answer.expect(400)["validationErrors"].clone();
    assert_eq!(
        errors[0]["message"],
        "The /a/{id} path and get method are already in use by another workflow!"
    );
    assert_eq!(errors[0]["activityId"], "h");
    let renamed = json!({"type": "Elsa.HttpEndpoint", "id": "h", "path": "a/{name}", "canStartWorkflow": true});
    let answer = world.post(API, &json!({"definitionId": "second", "root": renamed.clone()})).await;
    assert_eq!(answer.expect(400)["validationErrors"][0]["activityId"], "h");
    let mut again = renamed.clone();
    again["id"] = json!("again");
    let both = json!({"type": "Elsa.Sequence", "id": "s", "activities": [renamed, again]});
    let answer = world.post(API, &json!({"definitionId": "first", "root": both})).await;
    let errors = answer.expect(400)["validationErrors"].clone();
    assert_eq!(
        errors[0]["message"],
        "activity h receives the same requests: give one of them another path or method"
    );
    assert_eq!(
        (&errors[0]["activityId"], &errors[0]["property"]),
        (&json!("again"), &json!("path"))
    );
    world.publish("first", json!({"type": "Elsa.WriteLine", "id": "w", "text": "x"})).await;
    world.publish("second", root()).await;
}

#[tokio::test]
async fn what_is_retracted_or_deleted_starts_nothing() {
    let world = World::new().await;
    world.publish("order", waits_for("e")).await;
    let id = world.begin("order").await;
    let detail = world.delete(&format!("{API}/order")).await.problem(409);
    let expected = "1 instance of it is not finished and needs it: cancel it first";
    assert_eq!(detail, expected);
    let body = world.post(&format!("{API}/order/retract"), &json!({})).await.expect(200);
    assert_eq!((&body["isPublished"], &body["everywhere"]), (&json!(false), &json!(true)));
    world.post(&format!("{API}/order/retract"), &json!({})).await.problem(400);
    world.post(&format!("{API}/order/dispatch"), &json!({})).await.problem(404);
    // A published version never changes: the next draft is a new version.
    let draft = world.post(&format!("{API}/import"), &definition(writes_line())).await.expect(200);
    assert_eq!(draft["version"], 2);
    world.post(&format!("/elsa/api/cancel/workflow-instances/{id}"), &json!({})).await.expect(200);
    assert_eq!(world.delete(&format!("{API}/order")).await.expect(204), "");
    world.delete(&format!("{API}/order")).await.problem(404);
}

#[tokio::test]
async fn definitions_are_listed_and_found() {
    let world = World::new().await;
    let v1 = world.publish("a", writes_line()).await;
    world.publish("b", writes_line()).await;
    let list = world.get(&format!("{API}?orderBy=Name&pageSize=1&page=1")).await.expect(200);
    assert_eq!((&list["totalCount"], &list["items"][0]["definitionId"]), (&json!(2), &json!("b")));
    let id = v1["workflowDefinition"]["id"].as_str().unwrap();
    assert_eq!(world.get(&format!("{API}/by-id/{id}")).await.expect(200)["definitionId"], "a");
    assert_eq!(world.get(&format!("{API}/by-definition-id/a")).await.expect(200)["id"], id);
    assert_eq!(world.get(&format!("{API}/query/count")).await.expect(200)["count"], 2);
    let many = world.get(&format!("{API}/many-by-id?ids={id},nope")).await.expect(200);
    assert_eq!(many["items"].as_array().unwrap().len(), 1);
    let unique = world.get(&format!("{API}/validation/is-name-unique?name=a")).await.expect(200);
    assert_eq!(unique["isUnique"], false);
    let own = format!("{API}/validation/is-name-unique?name=a&definitionId=a");
    assert_eq!(world.get(&own).await.expect(200)["isUnique"], true);
    assert_eq!(
        world.get(&format!("{API}/a?versionOptions=7")).await.problem(404),
        "workflow definition \"a\" has no version 7: the latest is version 1, which is published"
    );
    assert_eq!(world.get("/api/workflow-definitions").await.expect(200)["totalCount"], 2);
}

#[tokio::test]
async fn a_version_that_is_missing_is_named_in_plain_words() {
    let world = World::new().await;
    let told = async |path: &str, version: &str| {
        world.get(&format!("{API}/{path}?versionOptions={version}")).await.problem(404)
    };
    world.publish("a", writes_line()).await;
    let no_draft = "workflow definition \"a\" has no draft: its latest version, 1, is published; ask \
                    for versionOptions Latest or Published, or save a change first";
    for path in ["a", "by-definition-id/a", "a/export"] {
        assert_eq!(told(path, "Draft").await, no_draft);
    }
    let draft = |id: &str| json!({"model": {"definitionId": id, "root": waits_for("go")}});
    world.post(API, &draft("a")).await.expect(200);
    world.get(&format!("{API}/a?versionOptions=Draft")).await.expect(200);
    assert_eq!(
        told("a", "LatestAndPublished").await,
        "the latest version of workflow definition \"a\", 2, is not published: ask for \
         versionOptions Latest or Published"
    );
    world.post(API, &draft("b")).await.expect(201);
    assert_eq!(
        told("b", "Published").await,
        "workflow definition \"b\" has no published version: its latest version is 1; publish it \
         first, or ask for versionOptions Latest"
    );
    let detail = told("b", "LatestAndPublished").await;
    assert!(
        detail.ends_with("\"b\", 1, is not published: ask for versionOptions Latest"),
        "{detail}"
    );
}

#[tokio::test]
async fn an_older_version_comes_back_as_a_draft() {
    let world = World::new().await;
    world.publish("a", writes_line()).await;
    world.publish("a", waits_for("e")).await;
    let body = world.post(&format!("{API}/a/revert/1"), &json!({})).await.expect(201);
    assert_eq!((&body["version"], &body["isPublished"]), (&json!(3), &json!(false)));
    let draft = world.get(&format!("{API}/a")).await.expect(200);
    assert_eq!((&draft["id"], &draft["root"]), (&body["id"], &placed(writes_line())));
    assert_eq!(world.delete(&format!("{API}/a/version/3")).await.status, 204);
    let latest = world.get(&format!("{API}/a")).await.expect(200);
    assert_eq!((&latest["version"], &latest["isPublished"]), (&json!(2), &json!(true)));
}

#[tokio::test]
async fn bulk_actions_say_what_became_of_each() {
    let world = World::new().await;
    world.publish("a", writes_line()).await;
    world.post(&format!("{API}/import"), &definition(writes_line())).await.expect(200);
    let ids = json!({"definitionIds": ["a", "order", "nope", "a", "order", "nope"]});
    let bulk = "/elsa/api/bulk-actions/publish/workflow-definitions/by-definition-ids";
    let body = world.post(bulk, &ids).await.expect(200);
    assert_eq!(body["published"], json!(["order"]));
    assert_eq!((&body["alreadyPublished"], &body["notFound"]), (&json!(["a"]), &json!(["nope"])));
    let bulk = "/elsa/api/bulk-actions/retract/workflow-definitions/by-definition-ids";
    assert_eq!(world.post(bulk, &ids).await.expect(200)["retracted"], json!(["a", "order"]));
    let bulk = "/elsa/api/bulk-actions/delete/workflow-definitions/by-definition-id";
    assert_eq!(world.post(bulk, &ids).await.expect(200)["deleted"], 2);
}

#[tokio::test]
async fn an_editor_gets_declarations_of_what_a_script_can_use() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s",
        "variables": [{"id": "v", "name": "Inner", "typeName": "Boolean"}],
        "activities": [
            {"type": "Elsa.SendHttpRequest", "id": "h", "name": "Fetch"},
            {"type": "Nobody.Knows", "id": "x"}]});
    let document = json!({"definitionId": "typed", "root": root,
        "variables": [{"id": "c", "name": "Count", "typeName": "Int32"}],
        "inputs": [{"name": "Lines", "type": "String", "isArray": true}]});
    world.post(&format!("{API}/import"), &document).await.expect(200);
    let path = "/elsa/api/scripting/javascript/type-definitions/typed";
    let answer = world.post(path, &json!({})).await;
    assert_eq!(answer.header("content-type"), Some("application/x-typescript"));
    let text = answer.body.as_str().unwrap();
    for line in [
        "declare function getCount(): number;",
        "declare function setInner(value: boolean): void;",
        "declare function getLines(): Array<string>;",
        "declare function getStatusCodeFromFetch(): number;",
        "declare function getLastResult(): any;",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
    let asked = json!({"workflowDefinitionId": "typed", "activityId": "h",
        "activityTypeName": "Elsa.SendHttpRequest", "propertyName": "Url"});
    let here = world.post(path, &asked).await.body;
    let here = here.as_str().unwrap();
    assert!(here.contains("getInner(") && here.contains("getCount("), "{here}");
    assert!(!here.contains("FromFetch(") && !here.contains("setOutcome"), "{here}");
    let asked = json!({"activityTypeName": "Elsa.BulkDispatchWorkflows", "propertyName": "CorrelationIdFunction"});
    let text = world.post(path, &asked).await.body;
    assert!(
        text.as_str().unwrap().contains("declare const args: {\n  \"item\": any;\n};"),
        "{text}"
    );
    world.post(path, &json!({"activityId": 7})).await.problem(400);
    world
        .post("/elsa/api/scripting/javascript/type-definitions/nope", &json!({}))
        .await
        .problem(404);
}
