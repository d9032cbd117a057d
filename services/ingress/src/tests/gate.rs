//! What a request meets before its handler: proxies, limits of its rate, and encryption.

use axum::body::Body;
use axum::http::Request;
use chassis::http::{Encrypted, Peer};
use chassis::{Auth, Rate};
use serde_json::{Value, json};

use super::world::{Answer, World, json_request, waits_for, writes_line};
use crate::Config;

const API: &str = "/elsa/api";
const KEY: &str = "0123456789-abcdefghij-KLMNOPQRST";

fn rate(count: u32, seconds: u64) -> Option<Rate> {
    Some(Rate { count: count.try_into().unwrap(), time: std::time::Duration::from_secs(seconds) })
}

/// A request over a connection from this address.
fn from(peer: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = json_request("GET", path, headers, &Value::Null);
    request.extensions_mut().insert(Peer(format!("{peer}:4711").parse().unwrap()));
    request
}

fn behind_a_proxy() -> Config {
    Config { trusted_proxies: "127.0.0.0/8,10.0.0.0/8".parse().unwrap(), ..Config::default() }
}

/// How many requests with these headers are let in, one after the other.
async fn let_in(world: &World, peer: &str, headers: &[(&str, &str)]) -> usize {
    let mut count = 0;
    while world.send(from(peer, "/", headers)).await.status == 200 {
        count += 1;
    }
    count
}

#[tokio::test]
async fn a_link_names_the_site_that_a_trusted_proxy_names() {
    let world = World::with(behind_a_proxy()).await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("{API}/workflow-instances/{id}/bookmarks");
    let bookmarks = world.get(&path).await.expect(200);
    let path = format!("{path}/{}/url", bookmarks["items"][0]["id"].as_str().unwrap());
    let site = [("x-forwarded-proto", "https"), ("x-forwarded-host", "flow.example")];
    for (peer, headers, expected) in [
        ("127.0.0.1", site.as_slice(), "https://flow.example/bookmarks"),
        ("127.0.0.1", &[], "http://127.0.0.1:5001/bookmarks"),
        ("[::1]", &site, "http://127.0.0.1:5001/bookmarks"),
    ] {
        let mut request = json_request("POST", &path, headers, &json!({}));
        request.extensions_mut().insert(Peer(format!("{peer}:1").parse().unwrap()));
        let made = world.send(request).await.expect(200);
        assert!(made["url"].as_str().unwrap().starts_with(expected), "{peer}: {made}");
    }
}

#[tokio::test]
async fn without_authentication_a_proxy_lets_nobody_in_from_elsewhere() {
    let world = World::without_executor(behind_a_proxy()).await;
    let seen = async |headers: &[(&str, &str)]| {
        world.send(from("127.0.0.1", &format!("{API}/workflow-definitions"), headers)).await
    };
    seen(&[("x-forwarded-for", "127.0.0.1")]).await.expect(200);
    let refusal = seen(&[("x-forwarded-for", "192.0.2.7")]).await.problem(403);
    assert!(refusal.contains("through a proxy"), "{refusal}");
    let refusal = seen(&[("x-forwarded-for", "nonsense")]).await.problem(400);
    assert!(refusal.contains("nonsense"), "{refusal}");
}

#[tokio::test]
async fn metrics_are_for_this_machine_alone_behind_a_proxy_too() {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..behind_a_proxy() };
    let world = World::without_executor(config).await;
    let metrics = async |client: &str| {
        world.send(from("127.0.0.1", "/metrics", &[("x-forwarded-for", client)])).await
    };
    metrics("127.0.0.1").await.expect(200);
    metrics("192.0.2.7").await.problem(401);
}

#[tokio::test]
async fn an_address_has_a_limit_of_its_own() {
    let config = Config { limit_address: rate(3, 3_600), ..behind_a_proxy() };
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..config };
    let world = World::without_executor(config).await;
    assert_eq!(let_in(&world, "192.0.2.7", &[]).await, 3);
    assert_eq!(let_in(&world, "192.0.2.7", &[("x-forwarded-for", "192.0.2.99")]).await, 0);
    assert_eq!(let_in(&world, "192.0.2.8", &[]).await, 3);
    assert_eq!(let_in(&world, "10.0.0.1", &[("x-forwarded-for", "192.0.2.8")]).await, 0);
    assert_eq!(let_in(&world, "10.0.0.1", &[("x-forwarded-for", "192.0.2.9")]).await, 3);
    assert_eq!(let_in(&world, "[2001:db8::1]", &[]).await, 3);
    assert_eq!(let_in(&world, "[2001:db8::2]", &[]).await, 0, "of the same network");
    for path in ["/health/live", "/health/ready"] {
        world.send(from("192.0.2.7", path, &[])).await.expect(200);
    }
    let wrong = [("authorization", "ApiKey wrong")];
    let path = format!("{API}/workflow-definitions");
    for expected in [401, 401, 401, 429] {
        world.send(from("192.0.2.10", &path, &wrong)).await.problem(expected);
    }
}

#[tokio::test]
async fn a_refusal_says_which_limit_and_when_to_try_again() {
    let config = Config {
        limit_address: rate(10, 60),
        limit_credential: rate(2, 60),
        auth: Auth::API_KEY,
        api_key: Some(KEY.to_owned()),
        ..Config::default()
    };
    let world = World::without_executor(config).await;
    let authorization = format!("ApiKey {KEY}");
    let path = format!("{API}/workflow-definitions");
    let ask =
        async |peer| world.send(from(peer, &path, &[("authorization", &authorization)])).await;
    let shown = |answer: &Answer, name: &str| -> Vec<String> {
        let lines = answer.headers.get_all(name).iter();
        lines.map(|line| line.to_str().unwrap().to_owned()).collect()
    };
    let first = ask("192.0.2.1").await;
    assert_eq!(
        shown(&first, "ratelimit-policy"),
        [r#""credential";q=2;w=60"#, r#""address";q=10;w=60"#]
    );
    assert_eq!(shown(&first, "ratelimit"), [r#""credential";r=1;t=30"#, r#""address";r=9;t=6"#]);
    first.expect(200);
    ask("192.0.2.2").await.expect(200);
    // Neither another address nor an answer that is refused gives a credential more.
    let refusal = ask("192.0.2.3").await;
    assert_eq!(refusal.header("retry-after"), Some("30"));
    assert_eq!(shown(&refusal, "ratelimit")[0], r#""credential";r=0;t=30"#);
    assert_eq!(refusal.body["type"], "urn:staunch:problem:rate-limited");
    assert_eq!(refusal.body["limit"], "credential");
    let detail = refusal.problem(429);
    assert!(detail.contains("2 requests in 60s") && detail.contains("in 30 s"), "{detail}");
    world.send(from("192.0.2.4", "/", &[])).await.expect(200);
}

/// The requests that this process counted as refused.
fn refused() -> u64 {
    let text = meter::text();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("staunch_http_requests_refused_total "));
    value.unwrap().parse().unwrap()
}

#[tokio::test]
async fn starts_of_a_definition_have_a_limit() {
    let config = Config { limit_definition: rate(2, 3_600), ..Config::default() };
    let world = World::with(config).await;
    world.publish("a", writes_line()).await;
    world.publish("b", writes_line()).await;
    let root = json!({"type": "Elsa.HttpEndpoint", "path": "/a", "supportedMethods": ["GET"],
        "canStartWorkflow": true});
    world.publish("c", root).await;
    world.begin("a").await;
    world.begin("a").await;
    let start = json!({"definitionId": "a"});
    let before = refused();
    let refusal = world.post(&format!("{API}/workflow-instances"), &start).await;
    assert!(refused() > before, "it is counted");
    assert_eq!(refusal.body["limit"], "definition");
    assert!(refusal.problem(429).contains("\"a\""));
    world.begin("b").await;
    world.get("/workflows/a").await.expect(200);
    world.get("/workflows/a").await.expect(200);
    world.get("/workflows/a").await.problem(429);
}

#[tokio::test]
async fn browsers_keep_to_https_once_they_have_used_it() {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..behind_a_proxy() };
    let world = World::without_executor(config).await;
    let policy = async |is_encrypted: bool, peer: &str, headers: &[(&str, &str)]| {
        let mut request = from(peer, "/", headers);
        if is_encrypted {
            request.extensions_mut().insert(Encrypted);
        }
        let answer = world.send(request).await;
        answer.header("strict-transport-security").map(str::to_owned)
    };
    let host = ("host", "flow.example");
    let yes = Some("max-age=31536000".to_owned());
    assert_eq!(policy(true, "192.0.2.7", &[host]).await, yes);
    assert_eq!(policy(false, "192.0.2.7", &[host]).await, None);
    assert_eq!(policy(true, "127.0.0.1", &[("host", "localhost:5001")]).await, None);
    let encrypted = ("x-forwarded-proto", "https");
    assert_eq!(policy(false, "10.0.0.1", &[host, encrypted]).await, yes);
    assert_eq!(policy(false, "192.0.2.7", &[host, encrypted]).await, None);
    // A proxy that calls this server by its own name: the browser knows the name that the proxy has.
    let (own, named) = (("host", "127.0.0.1:5001"), ("x-forwarded-host", "shop.example"));
    assert_eq!(policy(false, "10.0.0.1", &[own, encrypted, named]).await, yes);
    assert_eq!(policy(false, "10.0.0.1", &[own, encrypted]).await, None);
    let local = ("x-forwarded-host", "localhost:8443");
    assert_eq!(policy(false, "10.0.0.1", &[host, encrypted, local]).await, None);
    let forwarded = ("forwarded", "for=192.0.2.7;proto=https;host=shop.example");
    assert_eq!(policy(false, "10.0.0.1", &[own, forwarded]).await, yes);
}

#[tokio::test]
async fn starts_together_are_counted_together() {
    let config = Config { limit_definition: rate(5, 3_600), ..Config::default() };
    let world = World::without_executor(config).await;
    world.publish("line", writes_line()).await;
    let send = async |count: u32| {
        let path = format!("{API}/workflow-definitions/line/bulk-dispatch");
        world.post(&path, &json!({"count": count})).await
    };
    let started = async || {
        let all = world.get(&format!("{API}/workflow-instances")).await.expect(200);
        all["totalCount"].as_u64().unwrap()
    };
    let detail = send(6).await.problem(400);
    assert!(detail.contains("count is 6") && detail.contains("5 requests in 3600s"), "{detail}");
    assert!(detail.contains("send at most 5 at once"), "{detail}");
    assert_eq!(started().await, 0, "a refusal starts nothing, and costs nothing");
    send(3).await.expect(200);
    let refused = send(3).await;
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    refused.problem(429);
    assert_eq!(started().await, 3);
    send(2).await.expect(200);
    send(0).await.expect(200);
    assert_eq!(started().await, 5);
}
