//! The answers to browsers: a page at `/`, and headers that restrict scripts.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::world::{Answer, World};
use crate::{Auth, Config};

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
async fn studio_is_told_how_one_signs_in() {
    for (auth, ways) in [(Auth::NONE, ""), (Auth::API_KEY, "key"), (Auth::BOTH, "user key")] {
        let api_key = auth.api_key.then(|| "a-bootstrap-key-of-length".to_owned());
        let config = Config { auth, api_key, ..Config::default() };
        let world = World::without_executor(config).await;
        let page = world.get("/studio/").await.expect(200).as_str().unwrap().to_owned();
        let told = format!("<meta name=\"staunch-authentication\" content=\"{ways}\" />");
        assert!(page.contains(&told), "{auth:?}: {page}");
    }
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
            "responseHeaders": {"Referrer-Policy": "origin", "X-Frame-Options": "SAMEORIGIN",
                "Content-Security-Policy": "img-src 'none'"}}]});
    world.publish("page", root).await;
    let answer = world.get("/workflows/page").await;
    assert_eq!(answer.header("referrer-policy"), Some("origin"), "{answer:?}");
    assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"));
    assert_eq!(policies(&answer), ["img-src 'none'", SANDBOX]);
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

const SANDBOX: &str = "sandbox allow-forms allow-scripts allow-popups allow-downloads allow-modals";

fn policies(answer: &Answer) -> Vec<&str> {
    let policies = answer.headers.get_all("content-security-policy").iter();
    policies.map(|policy| policy.to_str().unwrap()).collect()
}

/// Answers with a page that tries to get hold of the origin of Studio.
fn attacks(path: &str) -> Value {
    json!({"type": "Elsa.Sequence", "activities": [
        {"type": "Elsa.HttpEndpoint", "path": path, "supportedMethods": ["GET", "POST"],
            "canStartWorkflow": true},
        {"type": "Elsa.WriteHttpResponse", "contentType": "text/html",
            "content": "<script>steal(sessionStorage)</script>",
            "responseHeaders": {"SERVICE-worker-Allowed": "/", "Clear-Site-Data": "\"*\"",
                "Strict-Transport-Security": "max-age=0", "X-Content-Type-Options": "no",
                "Alt-Svc": "h2=\"evil.example:443\"", "NEL": "{}", "Report-To": "{}",
                "Content-Security-Policy": "sandbox allow-scripts allow-same-origin"}}]})
}

const OF_THE_ORIGIN: [&str; 6] = [
    "service-worker-allowed",
    "clear-site-data",
    "strict-transport-security",
    "alt-svc",
    "nel",
    "report-to",
];

#[tokio::test]
async fn no_page_of_a_workflow_has_the_origin_of_studio() {
    let world = World::new().await;
    let evil = attacks("evil");
    world.publish("says", evil["activities"][1].clone()).await;
    world.publish("evil", evil).await;
    let execute = "/elsa/api/workflow-definitions/says/execute";
    let key = [("idempotency-key", "once")];
    for (what, answer) in [
        ("the endpoint", world.get("/workflows/evil").await),
        ("a first answer", world.post_with("/workflows/evil", &key, &json!({})).await),
        ("a kept answer", world.post_with("/workflows/evil", &key, &json!({})).await),
        ("a run", world.post(execute, &json!({})).await),
        ("a run by GET", world.get(execute).await),
    ] {
        assert_eq!(answer.status.as_u16(), 200, "{what}: {answer:?}");
        assert!(answer.body.as_str().unwrap().contains("steal"), "{what}: {answer:?}");
        let own = "sandbox allow-scripts allow-same-origin";
        assert_eq!(policies(&answer), [own, SANDBOX], "{what}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
        for header in OF_THE_ORIGIN {
            assert_eq!(answer.header(header), None, "{what}");
        }
    }
}

#[tokio::test]
async fn no_workflow_gives_a_browser_a_service_worker() {
    let world = World::new().await;
    world.publish("evil", attacks("evil")).await;
    for path in ["/workflows/evil", "/elsa/api/workflow-definitions/evil/execute"] {
        let request = Request::get(path).header("service-worker", "script");
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert!(answer.problem(403).contains("service worker"), "{path}");
    }
}

#[tokio::test]
async fn forms_of_sandboxed_pages_reach_workflow_endpoints_and_nothing_else() {
    let world = World::new().await;
    world.publish("evil", attacks("evil")).await;
    let form =
        [("origin", "null"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    world.post_with("/workflows/evil", &form, &json!({})).await.expect(200);
    let execute = "/elsa/api/workflow-definitions/evil/execute";
    world.post_with(execute, &form, &json!({})).await.problem(403);
}

#[tokio::test]
async fn a_link_in_a_page_of_another_server_opens_a_page_and_reads_no_data() {
    let world = World::without_executor(Config::default()).await;
    let follow = async |path: &str, method: &str, dest: &str| {
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", "navigate")
            .header("sec-fetch-dest", dest);
        world.send(request.body(Body::empty()).unwrap()).await
    };
    for path in ["/docs/", "/docs/book/", "/docs/book/operations", "/studio/", "/studio/instances"]
    {
        let answer = follow(path, "GET", "document").await;
        assert_eq!(answer.status.as_u16(), 200, "{path}: {answer:?}");
        assert!(follow(path, "GET", "iframe").await.problem(403).contains("web page"), "{path}");
        assert!(follow(path, "POST", "document").await.problem(403).contains("web page"), "{path}");
    }
    for path in ["/docs", "/docs/book", "/studio"] {
        let answer = follow(path, "GET", "document").await;
        assert!(answer.status.is_redirection(), "{path}: {answer:?}");
    }
    for path in ["/openapi.json", "/metrics", "/elsa/api/workflow-instances", "/api/nodes"] {
        let refused = follow(path, "GET", "document").await.problem(403);
        assert!(refused.contains("web page"), "{path}: {refused}");
    }
}

#[tokio::test]
async fn pages_of_workflows_with_a_host_of_their_own_can_be_trusted() {
    let config = Config {
        trusts_workflow_pages: true,
        answer_time_max: Duration::from_secs(10),
        ..Config::default()
    };
    let world = World::with(config).await;
    world.publish("app", attacks("app")).await;
    let request = Request::get("/workflows/app").header("service-worker", "script");
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(policies(&answer), ["sandbox allow-scripts allow-same-origin"]);
    assert_eq!(answer.header("service-worker-allowed"), Some("/"), "{answer:?}");
}
