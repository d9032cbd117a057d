//! Further calls of Elsa Studio's core screens, as its client sends them; docs/elsa-api.md has all of
//! them with their tests. The answers are checked member by member, by the types that the client reads.

use serde_json::{Value, json};
use store::{Base, DefinitionFilter, Definitions as _, Page};

use super::executions::must_have;
use super::world::{BOUND, World, waits_for, writes_line};

const API: &str = "/elsa/api";
const DEFINITIONS: &str = "/elsa/api/workflow-definitions";

const SUMMARY: &[(&str, &str)] = &[
    ("id", "text"),
    ("definitionId", "text"),
    ("name", "text|null"),
    ("description", "text|null"),
    ("version", "int"),
    ("toolVersion", "text|null"),
    ("isLatest", "bool"),
    ("isPublished", "bool"),
    ("isReadonly", "bool"),
    ("providerName", "null"),
    ("materializerName", "text"),
    ("isMaterializerAvailable", "bool"),
    ("createdAt", "time"),
    ("links", "list"),
];

const DEFINITION: &[(&str, &str)] = &[
    ("id", "text"),
    ("definitionId", "text"),
    ("name", "text"),
    ("description", "text"),
    ("createdAt", "time"),
    ("version", "int"),
    ("toolVersion", "text"),
    ("variables", "list"),
    ("inputs", "list"),
    ("outputs", "list"),
    ("outcomes", "list"),
    ("customProperties", "object"),
    ("isReadonly", "bool"),
    ("isSystem", "bool"),
    ("isLatest", "bool"),
    ("isPublished", "bool"),
    ("options", "object"),
    ("root", "object"),
    ("links", "list"),
];

/// The model of a workflow with everything that an editor writes.
fn whole() -> Value {
    json!({
        "links": null, "definitionId": "order", "name": "Order", "description": "Sells.",
        "toolVersion": "3.8.0.0",
        "variables": [{"id": "v1", "name": "Count", "typeName": "Int32", "isArray": false,
            "value": "3", "storageDriverTypeName":
                "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa.Workflows.Core"}],
        "inputs": [{"type": "String", "isArray": false, "name": "Customer",
            "displayName": "Customer", "description": "Who buys.", "category": "General",
            "uiHint": "singleline", "storageDriverType": null}],
        "outputs": [{"type": "Object", "isArray": false, "name": "Total", "displayName": "Total",
            "description": "The sum.", "category": "General"}],
        "outcomes": ["Done"], "customProperties": {"VariableTestValues": {"v1": "4"}},
        "isReadonly": false,
        "options": {"activationStrategyType": null, "usableAsActivity": true,
            "autoUpdateConsumingWorkflows": false, "activityCategory": "Shop",
            "incidentStrategyType": "FaultStrategy", "commitStrategyName": null},
        "root": {"id": "f1", "type": "Elsa.Flowchart", "version": 1, "name": "Flowchart1",
            "activities": [writes_line()], "connections": []},
        "id": null, "createdAt": "0001-01-01T00:00:00+00:00", "version": 1, "isLatest": true,
        "isPublished": false,
    })
}

async fn list(world: &World, query: &str) -> Value {
    world.get(&format!("{DEFINITIONS}?{query}")).await.expect(200)
}

/// The versions in a list, such as `a2 b1`.
fn shown(list: &Value) -> String {
    let items = list["items"].as_array().unwrap();
    let one =
        |item: &Value| format!("{}{}", item["definitionId"].as_str().unwrap(), item["version"]);
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

async fn draft(world: &World, id: &str, root: Value) {
    let model = json!({"definitionId": id, "name": id, "root": root});
    let sent = json!({"model": model, "publish": false});
    let saved = world.post(DEFINITIONS, &sent).await;
    assert!(saved.status.is_success(), "{:#}", saved.body);
}

#[tokio::test]
async fn lists_are_filtered_as_studios_screens_do() {
    let world = World::new().await;
    world.publish("a", writes_line()).await;
    draft(&world, "a", waits_for("e")).await;
    draft(&world, "b", writes_line()).await;
    world.publish("c", writes_line()).await;
    let either = list(&world, "versionOptions=LatestOrPublished").await;
    assert_eq!((shown(&either).as_str(), &either["totalCount"]), ("a2 a1 b1 c1", &json!(4)));
    for item in either["items"].as_array().unwrap() {
        must_have(item, SUMMARY);
    }
    let of_a = "versionOptions=AllVersions&DefinitionIds=a&OrderBy=Version";
    assert_eq!(shown(&list(&world, of_a).await), "a2 a1");
    let published = "versionOptions=Published&DefinitionIds=a&DefinitionIds=b";
    assert_eq!(shown(&list(&world, published).await), "a1");
    assert_eq!(shown(&list(&world, "versionOptions=&DefinitionIds=b").await), "b1");
}

/// Studio's filter of instances by definition asks for no page.
#[tokio::test]
async fn a_list_without_a_page_has_every_definition() {
    let world = World::without_executor(crate::Config::default()).await;
    for number in 0..130 {
        draft(&world, &format!("w{number:03}"), writes_line()).await;
    }
    let all = list(&world, "versionOptions=LatestOrPublished").await;
    assert_eq!(all["items"].as_array().unwrap().len(), 130);
    assert_eq!(all["totalCount"], 130);
    let paged = list(&world, "versionOptions=Latest&IsSystem=False&Page=1&PageSize=50").await;
    assert_eq!((&paged["items"][0]["name"], &paged["totalCount"]), (&json!("w050"), &json!(130)));
    let second = list(&world, "versionOptions=Latest&Page=1").await;
    assert_eq!(second["items"].as_array().unwrap().len(), 30, "a page without a size has 100");
}

/// A list by `isSystem` knows every system definition, also behind the first page of them.
#[tokio::test]
async fn instances_of_many_system_definitions_are_left_out() {
    let world = World::new().await;
    let system = json!({"definitionId": "first", "isSystem": true, "root": waits_for("on")});
    world.post(DEFINITIONS, &system).await.expect(201);
    world.publish("plain", waits_for("go")).await;
    let (own, plain) = (world.begin("first").await, world.begin("plain").await);
    let found = world.store.definitions(&DefinitionFilter::default(), Page::first()).await.unwrap();
    let first = found.items.into_iter().find(|one| one.is_system).unwrap();
    let later = first.created_at.map(|at| at.after(std::time::Duration::from_secs(1)));
    for number in 0..1_001 {
        let mut other = first.clone();
        other.definition_id = format!("s{number}").as_str().into();
        other.id = format!("s{number}-1").as_str().into();
        other.is_published = false;
        other.created_at = later;
        world.store.save(&other, &Base::Any).await.unwrap();
    }
    for (is_system, expected) in [(false, &plain), (true, &own)] {
        let path = format!("{API}/workflow-instances?IsSystem={is_system}");
        let found = world.get(&path).await.expect(200);
        assert_eq!(found["totalCount"], 1, "{is_system}: {found:#}");
        assert_eq!(found["items"][0]["id"], json!(expected));
    }
}

#[tokio::test]
async fn a_definition_in_full_has_what_the_editor_reads() {
    let world = World::new().await;
    let sent = json!({"model": whole(), "publish": true});
    let saved = world.post(DEFINITIONS, &sent).await.expect(201);
    assert_eq!(saved["validationErrors"], json!([]));
    let saved = saved["workflowDefinition"].clone();
    let id = saved["id"].as_str().unwrap();
    let latest = format!("{DEFINITIONS}/by-definition-id/order?versionOptions=Latest");
    let latest = world.get(&latest).await.expect(200);
    let by_id = world.get(&format!("{DEFINITIONS}/by-id/{id}")).await.expect(200);
    for full in [saved.clone(), latest, by_id] {
        must_have(&full, DEFINITION);
        must_have(
            &full["variables"][0],
            &[
                ("id", "text"),
                ("name", "text"),
                ("typeName", "text"),
                ("isArray", "bool"),
                ("value", "text"),
                ("storageDriverTypeName", "text"),
            ],
        );
        must_have(
            &full["inputs"][0],
            &[
                ("type", "text"),
                ("isArray", "bool"),
                ("name", "text"),
                ("displayName", "text"),
                ("description", "text"),
                ("category", "text"),
                ("uiHint", "text"),
                ("storageDriverType", "null"),
            ],
        );
        must_have(
            &full["outputs"][0],
            &[
                ("type", "text"),
                ("isArray", "bool"),
                ("name", "text"),
                ("displayName", "text"),
                ("description", "text"),
                ("category", "text"),
            ],
        );
        must_have(
            &full["options"],
            &[
                ("activationStrategyType", "null"),
                ("usableAsActivity", "bool"),
                ("autoUpdateConsumingWorkflows", "bool"),
                ("activityCategory", "text"),
                ("incidentStrategyType", "text"),
            ],
        );
        assert_eq!(full["outcomes"], json!(["Done"]));
        assert_eq!(full["customProperties"]["VariableTestValues"]["v1"], "4");
        for node in [&full["root"], &full["root"]["activities"][0]] {
            let members =
                [("id", "text"), ("nodeId", "text"), ("type", "text"), ("version", "int")];
            must_have(node, &members);
            let own = |name: &str| node.get(name).unwrap_or_else(|| panic!("{name} of {node:#}"));
            assert!(own("name").is_null() || own("name").is_string(), "{node:#}");
            assert!(own("customProperties").is_object() && own("metadata").is_object(), "{node:#}");
        }
        let links = full["links"].as_array().unwrap();
        for link in links {
            must_have(link, &[("href", "text"), ("rel", "text"), ("method", "text")]);
        }
        assert!(links.iter().any(|link| link["rel"] == "publish"), "it can be edited");
    }
}

#[tokio::test]
async fn bulk_answers_and_reverts_have_what_studio_reads() {
    let world = World::new().await;
    draft(&world, "a", writes_line()).await;
    let sent = json!({"definitionIds": ["a", "nope"]});
    let bulk =
        |verb: &str| format!("{API}/bulk-actions/{verb}/workflow-definitions/by-definition-ids");
    let published = world.post(&bulk("publish"), &sent).await.expect(200);
    let lists =
        ["published", "alreadyPublished", "notFound", "skipped", "updatedConsumers", "failed"];
    for name in lists {
        must_have(&published, &[(name, "list")]);
        let texts = published[name].as_array().unwrap();
        assert!(texts.iter().all(Value::is_string), "{name} in {published:#}");
    }
    must_have(&published, &[("warnings", "object")]);
    assert_eq!(
        (&published["published"], &published["notFound"]),
        (&json!(["a"]), &json!(["nope"]))
    );
    let retracted = world.post(&bulk("retract"), &sent).await.expect(200);
    for name in ["retracted", "alreadyRetracted", "notPublished", "notFound", "skipped"] {
        must_have(&retracted, &[(name, "list")]);
    }
    assert_eq!(retracted["retracted"], json!(["a"]));
    world.publish("a", waits_for("e")).await;

    let reverted = world.post(&format!("{DEFINITIONS}/a/revert/1"), &json!({})).await;
    let location = reverted.header("location").unwrap().to_owned();
    let reverted = reverted.expect(201);
    must_have(&reverted, SUMMARY);
    assert_eq!((&reverted["version"], &reverted["isPublished"]), (&json!(3), &json!(false)));
    assert_eq!(world.get(&location).await.expect(200)["id"], reverted["id"]);

    let path = format!("{DEFINITIONS}/a/versions");
    let versions = world.get(&path).await;
    assert_eq!(versions.header("link"), None);
    let versions = versions.expect(200);
    let numbers: Vec<_> =
        versions.as_array().unwrap().iter().map(|one| one["version"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    must_have(&versions[0], SUMMARY);
    let first = world.get(&format!("{path}?pageSize=2")).await;
    let link = first.header("link").unwrap().to_owned();
    let next =
        link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap();
    assert_eq!(world.get(next).await.expect(200)[0]["version"], 1);
    assert_eq!(first.expect(200).as_array().unwrap().len(), 2);
    world.get(&format!("{DEFINITIONS}/nope/versions")).await.problem(404);
}

#[tokio::test]
async fn every_list_of_descriptors_has_what_studio_reads() {
    let world = World::without_executor(crate::Config::default()).await;
    let strategy: &[(&str, &str)] =
        &[("displayName", "text"), ("description", "text"), ("typeName", "text")];
    for (path, unique, members) in [
        (
            "descriptors/expression-descriptors",
            "type",
            &[
                ("type", "text"),
                ("displayName", "text"),
                ("isSerializable", "bool"),
                ("isBrowsable", "bool"),
                ("properties", "object"),
            ][..],
        ),
        (
            "descriptors/variables",
            "typeName",
            &[
                ("typeName", "text"),
                ("displayName", "text"),
                ("category", "text"),
                ("description", "text"),
            ],
        ),
        (
            "descriptors/storage-drivers",
            "typeName",
            &[
                ("typeName", "text"),
                ("displayName", "text"),
                ("priority", "int|number"),
                ("deprecated", "bool"),
            ],
        ),
        ("descriptors/incident-strategies", "typeName", strategy),
        ("descriptors/workflow-activation-strategies", "typeName", strategy),
        ("descriptors/log-persistence-strategies", "typeName", strategy),
        (
            "features/installed",
            "fullName",
            &[
                ("name", "text"),
                ("namespace", "text"),
                ("fullName", "text"),
                ("displayName", "text"),
                ("description", "text"),
            ],
        ),
    ] {
        let found = world.get(&format!("{API}/{path}")).await.expect(200);
        let items = found["items"].as_array().unwrap();
        assert_eq!(found["count"], items.len(), "{path}");
        let mut seen = std::collections::BTreeSet::new();
        for item in items {
            must_have(item, members);
            assert!(seen.insert(item[unique].to_string()), "{path} has {} twice", item[unique]);
            for (name, value) in item["properties"].as_object().into_iter().flatten() {
                assert!(value.is_string(), "the property {name} in {item:#}");
            }
        }
        assert!(!items.is_empty(), "{path}");
    }
    let installed = world.get(&format!("{API}/features/installed")).await.expect(200);
    for item in installed["items"].as_array().unwrap() {
        let name = item["fullName"].as_str().unwrap();
        assert_eq!(
            name,
            format!("{}.{}", item["namespace"].as_str().unwrap(), item["name"].as_str().unwrap())
        );
        let one = world.get(&format!("{API}/features/installed/{name}")).await.expect(200);
        assert_eq!(&one, item);
    }
    let converters = format!("{API}/descriptors/output-converters");
    let converters = format!("{converters}?sourceType=String&destinationType=Int32");
    let none = world.get(&converters).await.expect(200);
    assert_eq!(none, json!({"items": [], "count": 0}));
    let version = world.get(&format!("{API}/package/version")).await.expect(200);
    let version = version["packageVersion"].as_str().unwrap();
    assert!(version.split('.').count() >= 2, "Studio cuts {version} at its dots");
}

/// An input without a description is a riddle in the designer.
#[tokio::test]
async fn everything_that_a_designer_shows_is_described() {
    let world = World::without_executor(crate::Config::default()).await;
    let list = world.get(&format!("{API}/descriptors/activities")).await.expect(200);
    let is_described = |one: &Value| one["description"].as_str().is_some_and(|it| it.len() > 3);
    let variables = world.get(&format!("{API}/descriptors/variables")).await.expect(200);
    for one in variables["items"].as_array().unwrap() {
        assert!(is_described(one), "{one}");
    }
    for activity in list["items"].as_array().unwrap() {
        let name = &activity["typeName"];
        assert!(is_described(activity), "{name}");
        for part in ["inputs", "outputs"] {
            for one in activity[part].as_array().unwrap() {
                assert!(is_described(one), "{} of {name}", one["name"]);
            }
        }
        assert_eq!(activity["runAsynchronously"], false, "{name}");
    }
}

#[tokio::test]
async fn instances_in_a_list_have_what_studio_reads() {
    let world = World::new().await;
    world.publish("w", waits_for("a")).await;
    let id = world.begin("w").await;
    let asked = |sub_statuses: Value| {
        json!({"page": 0, "pageSize": 25, "searchTerm": "", "definitionId": null,
            "definitionIds": [], "correlationId": null, "version": null, "hasIncidents": null,
            "isSystem": false, "status": null, "statuses": [], "subStatus": null,
            "subStatuses": sub_statuses, "orderBy": null, "orderDirection": "Ascending",
            "timestampFilters": []})
    };
    let path = format!("{API}/workflow-instances");
    let found = world.post(&path, &asked(json!([]))).await.expect(200);
    must_have(&found, &[("items", "list"), ("totalCount", "int")]);
    must_have(
        &found["items"][0],
        &[
            ("id", "text"),
            ("definitionId", "text"),
            ("definitionVersionId", "text"),
            ("version", "int"),
            ("status", "text"),
            ("subStatus", "text"),
            ("correlationId", "text|null"),
            ("name", "text|null"),
            ("incidentCount", "int"),
            ("createdAt", "time"),
            ("updatedAt", "time"),
            ("finishedAt", "time|null"),
        ],
    );
    // The client has a word for a sub-status that no instance has here.
    let count =
        async |subs: Value| world.post(&path, &asked(subs)).await.expect(200)["totalCount"].clone();
    assert_eq!(count(json!(["Interrupted"])).await, 0);
    assert_eq!(count(json!(["interrupted", "Suspended"])).await, 1);
    let by_query = world.get(&format!("{path}?subStatus=Interrupted")).await.expect(200);
    assert_eq!(by_query["totalCount"], 0);
    world.post(&path, &asked(json!(["Asleep"]))).await.problem(400);

    let state = world.get(&format!("{path}/{id}/execution-state")).await.expect(200);
    must_have(&state, &[("status", "text"), ("subStatus", "text"), ("updatedAt", "time")]);
    // The version of an instance is found by its id, whichever it is.
    let version = found["items"][0]["definitionVersionId"].as_str().unwrap();
    draft(&world, "w", waits_for("b")).await;
    assert_eq!(shown(&list(&world, &format!("Ids={version}")).await), "w1");
    let cancel = json!({"ids": null, "definitionVersionId": version, "definitionId": null,
        "versionOptions": null});
    let path = format!("{API}/bulk-actions/cancel/workflow-instances");
    let cancelled = world.post(&path, &cancel).await.expect(200);
    must_have(&cancelled, &[("cancelled", "int")]);
    world.until(&id, "Cancelled").await;
}

#[tokio::test]
async fn the_audit_log_has_who_changed_drafts_and_who_took_data_out() {
    let world = World::new().await;
    draft(&world, "saved", writes_line()).await;
    let file = json!({"definitionId": "imported", "root": waits_for("e")});
    world.post(&format!("{DEFINITIONS}/import"), &file).await.expect(200);
    world.publish("w", waits_for("a")).await;
    world.publish("w", waits_for("b")).await;
    world.post(&format!("{DEFINITIONS}/w/revert/1"), &json!({})).await.expect(201);
    let ids = json!({"definitionIds": ["w", "nope"]});
    let refresh = format!("{API}/actions/workflow-definitions/refresh");
    world.post(&refresh, &ids).await.expect(200);
    let (one, two) = (world.begin("w").await, world.begin("w").await);
    world.get(&format!("{API}/workflow-instances/{one}/export")).await.expect(200);
    let several = json!({"ids": [one, two]});
    let export = format!("{API}/bulk-actions/export/workflow-instances");
    assert_eq!(world.post(&export, &several).await.status, 200);
    let count = async |what: &str, target: &str| {
        let path = format!("{API}/audit?what={what}&target={target}");
        world.get(&path).await.expect(200)["totalCount"].as_u64().unwrap()
    };
    for (what, target, expected) in [
        ("definition.save", "saved", 1),
        ("definition.import", "imported", 1),
        ("definition.revert", "w", 1),
        ("definition.refresh", "w", 1),
        ("definition.refresh", "nope", 0),
        ("instance.export", one.as_str(), 2),
        ("instance.export", two.as_str(), 1),
    ] {
        let what_of = format!("{what} of {target}");
        testkit::eventually(&what_of, BOUND, async || count(what, target).await == expected).await;
    }
}
