use std::collections::BTreeSet;
use std::path::Path;

use axum::body::Body;
use axum::http::Request;
use chassis::Auth;
use serde_json::{Value, json};

use super::world::{BOUND, World};
use crate::auth::permission;
use crate::description::openapi_text;

fn described() -> BTreeSet<(String, String)> {
    let document: Value = serde_json::from_str(openapi_text(Auth::BOTH)).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone()))
    });
    operations.collect()
}

#[test]
fn every_described_route_has_a_permission_and_every_permission_a_route() {
    assert_eq!(described(), permission::listed());
}

#[tokio::test]
async fn every_described_route_is_mounted_under_both_prefixes() {
    let answer_time_max = std::time::Duration::from_millis(20);
    let config = crate::Config { answer_time_max, ..crate::Config::default() };
    let world = World::without_executor(config).await;
    for (method, path) in described() {
        let concrete = path.replace(['{', '}'], "");
        let other = concrete.strip_prefix("/elsa/api").map(|rest| format!("/api{rest}"));
        for path in [Some(concrete), other].into_iter().flatten() {
            let request = Request::builder().method(method.as_str()).uri(&path);
            let answer = world.send(request.body(Body::empty()).unwrap()).await;
            assert_ne!(answer.status, 405, "{method} {path}");
            let detail = answer.body["detail"].as_str().unwrap_or_default();
            assert!(!detail.contains("there is nothing at"), "{method} {path}");
        }
    }
}

#[test]
fn every_operation_names_its_problems_and_what_it_needs() {
    for auth in [Auth::BOTH, Auth::NONE] {
        let document: Value = serde_json::from_str(openapi_text(auth)).unwrap();
        assert_eq!(document.get("security").is_some(), auth == Auth::BOTH);
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let responses = operation["responses"].as_object().unwrap();
                for (status, response) in responses {
                    assert!(status.parse::<u16>().is_ok(), "{status} of {method} {path}");
                    if status.starts_with(['4', '5']) {
                        let shared = response["$ref"].as_str().map(|name| &name[1..]);
                        let response =
                            shared.map_or(response, |pointer| document.pointer(pointer).unwrap());
                        let content = response["content"].as_object();
                        let kinds = content.into_iter().flat_map(|all| all.keys());
                        // A browser that follows a link gets a page.
                        let kinds: Vec<_> = kinds.filter(|kind| *kind != "text/html").collect();
                        assert_eq!(
                            kinds,
                            ["application/problem+json"],
                            "{status} of {method} {path}"
                        );
                    }
                }
                let is_public = operation["security"] == json!([]);
                let has_permission = operation["x-permissions"] != json!([]);
                assert!(!(is_public && has_permission), "{method} {path}");
            }
        }
        let list = &document["paths"]["/elsa/api/workflow-instances/{id}"]["get"];
        assert_eq!(list["x-permissions"], json!(["read:workflow-instances"]));
    }
}

#[tokio::test]
async fn a_server_knows_its_name_and_the_live_nodes() {
    let world = World::new().await;
    let body = world.get("/elsa/api/nodes").await.expect(200);
    assert_eq!(body["node"], "node");
    assert_eq!(body["items"][0]["node"], "node");
    assert!(body["items"][0]["roles"].is_array(), "{body}");
    assert_eq!(body["items"][0]["version"], chassis::version());
    // A node whose version does not say it is listed without.
    let _older = world.join("older", "timer").await;
    let live = || world.app.cx.presence.live().len();
    testkit::eventually("the node lives", BOUND, async || live() == 2).await;
    let items = world.get("/elsa/api/nodes").await.expect(200)["items"].clone();
    assert_eq!((&items[1]["node"], items[1].get("version")), (&json!("older"), None), "{items}");
}

#[test]
fn operations_have_names_of_their_own() {
    let document: Value = serde_json::from_str(openapi_text(Auth::BOTH)).unwrap();
    let mut seen = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            assert!(seen.insert(id.clone()), "{id} of {method} {path} is there twice");
        }
    }
}

#[test]
fn the_description_in_the_schema_folder_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/api/openapi.json");
    #[expect(clippy::disallowed_methods, reason = "the switch that writes generated files")]
    let updates = std::env::var("UPDATE_EXPECT").is_ok();
    if updates {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, openapi_text(Auth::BOTH)).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == openapi_text(Auth::BOTH),
        "schema/api/openapi.json is stale: run `just schema`"
    );
}

#[tokio::test]
async fn the_browser_of_the_api_needs_no_internet() {
    let world = World::without_executor(crate::Config::default()).await;
    let page = world.get("/docs/").await.expect(200);
    let page = page.as_str().unwrap();
    assert!(page.contains("swagger-ui"), "{page}");
    assert!(!page.contains("https://"), "{page}");
    world.get("/docs/swagger-ui-bundle.js").await.expect(200);
    let document = world.get("/openapi.json").await.expect(200);
    assert_eq!(document["info"]["title"], "Staunch");
    let messages = world.get("/asyncapi.json").await.expect(200);
    assert_eq!(messages["asyncapi"], "3.0.0");
    world.get("/metrics").await.expect(200);
    assert_eq!(
        world.get("/elsa/api/package/version").await.expect(200)["packageVersion"],
        chassis::version()
    );
    let activities = world.get("/elsa/api/descriptors/activities").await.expect(200);
    assert!(activities["count"].as_u64().unwrap() > 20);
    for path in [
        "variables",
        "storage-drivers",
        "incident-strategies",
        "workflow-activation-strategies",
        "expression-descriptors",
    ] {
        let body = world.get(&format!("/elsa/api/descriptors/{path}")).await.expect(200);
        assert!(!body["items"].as_array().unwrap().is_empty(), "{path}");
    }
    let converters = "/elsa/api/descriptors/output-converters?sourceType=String";
    assert!(world.get(converters).await.problem(400).contains("destinationType"));
    let both = format!("{converters}&destinationType=Int32");
    assert_eq!(world.get(&both).await.expect(200), json!({"items": [], "count": 0}));
}
