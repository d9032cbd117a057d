//! Keys that are used again: at another node, after a restart, with another request.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use store::Store;

use super::world::{Answer, World, json_request, send_to, writes_line};
use crate::{Auth, Config};

const KEY: [(&str, &str); 1] = [("idempotency-key", "k1")];

async fn open(directory: &Path) -> Arc<dyn Store> {
    let options = store_sql::Options { migrate: true, ..Default::default() };
    Arc::new(store_sql::connect(&testkit::sqlite_url(directory), options).await.unwrap())
}

#[tokio::test]
async fn a_key_means_one_request_at_every_node_and_after_a_restart() {
    let directory = std::env::temp_dir().join(testkit::unique("keys"));
    std::fs::create_dir_all(&directory).unwrap();
    let world = World::over(Config::default(), open(&directory).await).await;
    world.start_executor().await;
    world.publish("line", writes_line()).await;
    let other = world.another().await;
    let path = "/elsa/api/workflow-instances";
    let body = json!({"definitionId": "line", "input": {"A": 1}});
    let changed = json!({"definitionId": "line", "input": {"A": 2}});
    let first = world.post_with(path, &KEY, &body).await;
    assert_eq!(first.header("idempotency-replayed"), None);
    let again = send_to(&other, json_request("POST", path, &KEY, &body)).await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.body, first.body, "the very same answer");
    let reused = send_to(&other, json_request("POST", path, &KEY, &changed)).await;
    assert!(reused.problem(422).contains("was used with another body"));
    // The path with another query is another request, too.
    let query = format!("{path}?x=1");
    send_to(&other, json_request("POST", &query, &KEY, &body)).await.problem(422);

    // Only the database of the first process is left.
    let later = World::over(Config::default(), open(&directory).await).await;
    later.post_with(path, &KEY, &changed).await.problem(422);
    let again = later.post_with(path, &KEY, &body).await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.body, first.body);
    let list = later.get(path).await.expect(200);
    assert_eq!(list["totalCount"], 1);
    drop((world, later));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn a_key_holds_at_one_route() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let body = json!({});
    for (route, instances) in [("dispatch", 1), ("execute", 2), ("dispatch", 2), ("execute", 2)] {
        let path = format!("/elsa/api/workflow-definitions/line/{route}");
        world.post_with(&path, &KEY, &body).await.expect(200);
        let list = world.get("/elsa/api/workflow-instances").await.expect(200);
        assert_eq!(list["totalCount"], instances, "{route}");
    }
}

#[tokio::test]
async fn a_refused_request_gives_its_key_back() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let path = "/elsa/api/workflow-instances";
    let wrong = json!({"definitionId": "nope"});
    world.post_with(path, &KEY, &wrong).await.problem(404);
    let unknown = json!({"definitionId": "line", "inputs": {}});
    world.post_with(path, &KEY, &unknown).await.problem(400);
    let mended = json!({"definitionId": "line"});
    world.post_with(path, &KEY, &mended).await.expect(200);
    world.post_with(path, &KEY, &wrong).await.problem(422);
}

#[tokio::test]
async fn a_key_has_visible_characters_alone() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let path = "/elsa/api/workflow-instances";
    let body = json!({"definitionId": "line"});
    let (most, more) = ("k".repeat(255), "k".repeat(256));
    for key in ["a b", "a\tb", " ", "", "kä", more.as_str()] {
        let detail = world.post_with(path, &[("idempotency-key", key)], &body).await.problem(400);
        assert!(detail.contains("use 1 to 255 visible ASCII characters"), "{key:?}: {detail}");
    }
    for key in ["!", "~", "\"8e03978e-40d5\"", most.as_str()] {
        world.post_with(path, &[("idempotency-key", key)], &body).await.expect(200);
    }
    let list = world.get(path).await.expect(200);
    assert_eq!(list["totalCount"], 4, "a request that is refused starts nothing");
}

#[tokio::test]
async fn an_answer_with_a_secret_is_not_kept() {
    const ADMIN: &str = "ApiKey a-bootstrap-key-of-length";
    let api_key = Some("a-bootstrap-key-of-length".to_owned());
    let config = Config { auth: Auth::API_KEY, api_key, ..Config::default() };
    let world = World::with(config).await;
    let headers = [("authorization", ADMIN), KEY[0]];
    let body = json!({"name": "x", "permissions": ["read:*"]});
    let made = world.post_with("/api/api-keys", &headers, &body).await.expect(201);
    let again: Answer = world.post_with("/api/api-keys", &headers, &body).await;
    assert!(again.problem(409).contains("had a secret"));
    let keys = world.send(json_request("GET", "/api/api-keys", &headers[..1], &Value::Null)).await;
    assert_eq!(keys.expect(200)["count"], 1);
    assert!(made["key"].is_string());
}
