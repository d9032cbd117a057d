//! The answers to browsers: a page at `/`, and headers that restrict scripts.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::world::World;
use crate::Config;

#[tokio::test]
async fn a_browser_at_the_root_is_told_where_to_go() {
    let world = World::without_executor(Config::default()).await;
    let request = Request::get("/").header("accept", "text/html,*/*;q=0.8");
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, Some("/studio/")));
    let answer = world.get("/").await.expect(200);
    assert_eq!(answer["name"], "Staunch");
}

#[tokio::test]
async fn studio_is_one_page_with_its_files() {
    let below = Config { base_path: Some("/flows".to_owned()), ..Config::default() };
    let world = World::without_executor(below).await;
    for path in ["/studio/", "/studio/instances/abc", "/studio/definitions/a.b/edit"] {
        let answer = world.get(path).await;
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        let policy = answer.header("content-security-policy").unwrap().to_owned();
        assert!(policy.contains("script-src 'self'; style-src 'self'"), "{policy}");
        let page = answer.expect(200).as_str().unwrap().to_owned();
        assert!(page.contains("<base href=\"/flows/studio/\" />"), "{page}");
        assert!(!page.contains("http"), "no other origin: {page}");
    }
    let script = world.get("/studio/assets/index.js").await;
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    let tag = script.header("etag").unwrap().to_owned();
    let again = Request::get("/studio/assets/index.js").header("if-none-match", tag);
    assert_eq!(world.send(again.body(Body::empty()).unwrap()).await.status.as_u16(), 304);
    let packed = Request::get("/studio/assets/index.js").header("accept-encoding", "br, gzip;q=1");
    let packed = world.send(packed.body(Body::empty()).unwrap()).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(world.get("/studio/assets/nothing.js").await.status.as_u16(), 404);
    assert_eq!(world.get("/studio").await.header("location"), Some("/studio/"));
}

#[tokio::test]
async fn every_answer_of_ours_says_what_a_browser_may_do_with_it() {
    let world = World::new().await;
    for path in ["/", "/health/live", "/nowhere", "/elsa/api/workflow-instances", "/docs/"] {
        let answer = world.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
    let docs = world.get("/docs/swagger-initializer.js").await.expect(200);
    let docs = docs.as_str().unwrap().to_owned();
    assert!(docs.contains("\"validatorUrl\": \"none\""), "{docs}");
}

#[tokio::test]
async fn a_workflow_sets_its_own_headers() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "activities": [
        {"type": "Elsa.HttpEndpoint", "path": "/page", "supportedMethods": ["GET"],
            "canStartWorkflow": true},
        {"type": "Elsa.WriteHttpResponse", "content": "<p>", "contentType": "text/html",
            "responseHeaders": {"Referrer-Policy": "origin", "X-Frame-Options": "SAMEORIGIN"}}]});
    world.publish("page", root).await;
    let answer = world.get("/workflows/page").await;
    assert_eq!(answer.header("referrer-policy"), Some("origin"), "{answer:?}");
    assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"));
    assert_eq!(answer.header("content-security-policy"), None);
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}
