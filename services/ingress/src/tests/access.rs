use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Method, Request};
use model::Timestamp;
use serde_json::json;
use store::{ApiKey, Keys as _};

use super::world::{World, json_request, writes_line};
use crate::auth::permission::{self, MOUNTS, Need};
use crate::{Auth, Config};

const KEY: &str = "a-bootstrap-key-of-length";

async fn keyed() -> World {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    World::with(config).await
}

fn with_key(method: &str, path: &str, key: &str, body: &serde_json::Value) -> Request<Body> {
    json_request(method, path, &[("authorization", &format!("ApiKey {key}"))], body)
}

#[tokio::test]
async fn who_may_do_what_is_decided_by_the_key() {
    let world = keyed().await;
    let make = |permissions: serde_json::Value| {
        let body = json!({"name": "test", "permissions": permissions});
        with_key("POST", "/api/api-keys", KEY, &body)
    };
    let reader =
        world.send(make(json!(["read:*"]))).await.expect(201)["key"].as_str().unwrap().to_owned();
    let starter = world.send(make(json!(["exec:workflow-definitions"]))).await.expect(201)["key"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(reader.starts_with("stk_"));
    let definition = json!({"definitionId": "line", "root": writes_line()});
    world.send(with_key("POST", "/api/workflow-definitions", KEY, &definition)).await.expect(201);
    let (start, list) = (json!({"definitionId": "line"}), json!({"page": 0}));
    for (method, path, body, expected) in [
        // path, (nobody, reader, starter, admin)
        ("GET", "/api/workflow-definitions", &list, [401, 200, 403, 200]),
        ("POST", "/elsa/api/workflow-definitions", &definition, [401, 403, 403, 200]),
        ("POST", "/api/workflow-instances", &list, [401, 200, 403, 200]),
        ("POST", "/api/workflow-instances", &start, [401, 403, 200, 200]),
        ("POST", "/api/events/x/trigger", &list, [401, 403, 403, 200]),
        ("GET", "/api/api-keys", &list, [401, 200, 403, 200]),
        ("GET", "/api/package/version", &list, [200, 200, 200, 200]),
        ("GET", "/health/live", &list, [200, 200, 200, 200]),
        ("GET", "/openapi.json", &list, [200, 200, 200, 200]),
        ("GET", "/asyncapi.json", &list, [200, 200, 200, 200]),
        ("GET", "/nowhere", &list, [404, 404, 404, 404]),
    ] {
        let keys = [None, Some(reader.as_str()), Some(starter.as_str()), Some(KEY)];
        for (key, expected) in keys.into_iter().zip(expected) {
            let request = match key {
                Some(key) => with_key(method, path, key, body),
                None => json_request(method, path, &[], body),
            };
            let answer = world.send(request).await;
            assert_eq!(
                answer.status.as_u16(),
                expected,
                "{method} {path} {key:?} {:#}",
                answer.body
            );
            if expected == 401 {
                assert_eq!(answer.header("www-authenticate"), Some("ApiKey"));
            }
            if expected >= 400 {
                answer.problem(expected);
            }
        }
    }
}

#[tokio::test]
async fn a_configured_key_that_the_database_has_gets_no_other_permissions() {
    for (expires_at, statuses) in
        [(None, [200, 403]), (Some(Timestamp::from_millis(1)), [401, 401])]
    {
        let world = keyed().await;
        let key = ApiKey {
            id: "few".to_owned(),
            name: "cron".to_owned(),
            hash: store::key_hash(KEY),
            permissions: vec!["read:*".to_owned()],
            created_at: Timestamp::from_millis(0),
            expires_at,
            user_id: None,
        };
        world.store.save_key(key).await.unwrap();
        let definition = json!({"definitionId": "line", "root": writes_line()});
        for (method, expected) in ["GET", "POST"].into_iter().zip(statuses) {
            let request = with_key(method, "/api/workflow-definitions", KEY, &definition);
            let answer = world.send(request).await;
            assert_eq!(answer.status, expected, "{method} {:#}", answer.body);
        }
    }
}

#[tokio::test]
async fn metrics_off_loopback_need_a_key_and_health_needs_none() {
    let config = Config {
        listen: "0.0.0.0:5001".parse().unwrap(),
        auth: Auth::API_KEY,
        api_key: Some(KEY.to_owned()),
        ..Config::default()
    };
    let world = World::with(config).await;
    let nothing = json!({});
    world.get("/metrics").await.problem(401);
    world.send(with_key("GET", "/metrics", "another", &nothing)).await.problem(401);
    world.send(with_key("GET", "/metrics", KEY, &nothing)).await.expect(200);
    world.get("/health/live").await.expect(200);
    world.get("/health/ready").await.expect(200);
}

#[tokio::test]
async fn keys_that_are_not_good_are_refused() {
    let world = keyed().await;
    let list = json!({});
    let get = |key: &str| with_key("GET", "/api/workflow-instances", key, &list);
    assert!(world.send(get("wrong")).await.problem(401).contains("not known, or has expired"));
    let bearer =
        json_request("GET", "/api/workflow-instances", &[("authorization", "Bearer x")], &list);
    assert!(world.send(bearer).await.problem(401).contains("another scheme"));
    let body = json!({"name": "short", "permissions": ["read:*"], "lifetimeSeconds": 0});
    let made = world.send(with_key("POST", "/api/api-keys", KEY, &body)).await.expect(201);
    assert_eq!(world.send(get(made["key"].as_str().unwrap())).await.status, 401);
    let body = json!({"name": "x", "permissions": ["read:*"]});
    let made = world.send(with_key("POST", "/api/api-keys", KEY, &body)).await;
    assert_eq!(made.header("cache-control"), Some("no-store"), "the key is shown once");
    let made = made.expect(201);
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    world.send(get(key)).await.expect(200);
    let removed = with_key("DELETE", &format!("/api/api-keys/{id}"), KEY, &list);
    assert_eq!(world.send(removed).await.status, 204);
    assert_eq!(world.send(get(key)).await.status, 401);
    let audit =
        world.send(with_key("GET", "/api/audit?outcome=done", KEY, &list)).await.expect(200);
    assert_eq!(audit["items"][0]["what"], "key.delete");
    assert!(!audit.to_string().contains(key), "keys are not written down");
}

#[tokio::test]
async fn nobody_gives_permissions_they_do_not_have() {
    let world = keyed().await;
    let body =
        json!({"name": "maker", "permissions": ["write:api-keys", "read:workflow-instances"]});
    let made = world.send(with_key("POST", "/api/api-keys", KEY, &body)).await.expect(201);
    let maker = made["key"].as_str().unwrap();
    let make = |permission: &str| {
        let body = json!({"name": "made", "permissions": [permission]});
        with_key("POST", "/api/api-keys", maker, &body)
    };
    world.send(make("read:workflow-instances")).await.expect(201);
    world.send(make("*")).await.problem(403);
    world.send(make("read:*")).await.problem(403);
    let detail = world.send(make("reed:workflow-instances")).await.problem(400);
    assert!(detail.contains("there is no such permission"), "{detail}");
}

#[tokio::test]
async fn without_authentication_web_pages_are_kept_out() {
    let world = World::new().await;
    let send = async |headers: &[(&str, &str)]| {
        let request = json_request("GET", "/api/workflow-instances", headers, &json!({}));
        world.send(request).await
    };
    send(&[]).await.expect(200);
    assert!(send(&[("host", "evil.example")]).await.problem(403).contains("Host header"));
    assert!(send(&[("origin", "https://evil.example")]).await.problem(403).contains("web page"));
    assert!(send(&[("sec-fetch-site", "cross-site")]).await.problem(403).contains("web page"));
    send(&[("origin", "http://127.0.0.1:5001")]).await.expect(200);
    let answer = send(&[]).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn configured_origins_may_use_the_api() {
    let origin = "https://studio.example";
    let config = Config { cors_origins: origin.parse().unwrap(), ..Config::default() };
    let world = World::with(config).await;
    let request = json_request("GET", "/api/workflow-instances", &[("origin", origin)], &json!({}));
    let answer = world.send(request).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    answer.expect(200);
    let preflight = Request::options("/api/workflow-instances")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,idempotency-key")
        .body(Body::empty())
        .unwrap();
    assert!(world.send(preflight).await.status.is_success());
}

/// A Studio in a browser sends a token, and reads headers of answers.
#[tokio::test]
async fn only_configured_origins_may_use_the_api() {
    let (origin, foreign) = ("https://studio.example", "https://evil.example");
    let config = Config {
        auth: Auth::API_KEY,
        api_key: Some(KEY.to_owned()),
        cors_origins: origin.parse().unwrap(),
        ..Config::default()
    };
    let world = World::without_executor(config).await;
    let key = format!("ApiKey {KEY}");
    let path = "/elsa/api/workflow-definitions";
    let get = async |origin: &str| {
        let headers = [("origin", origin), ("authorization", &key)];
        world.send(json_request("GET", path, &headers, &json!({}))).await
    };
    let preflight = async |path: &str, origin: &str| {
        let request = Request::options(path)
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,x-signalr-user-agent");
        world.send(request.body(Body::empty()).unwrap()).await
    };
    let answer = get(origin).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    let exposed = answer.header("access-control-expose-headers").unwrap();
    let exposed: Vec<_> = exposed.split(',').map(str::trim).collect();
    for name in
        ["content-disposition", "x-elsa-workflow-instance-id", "x-elsa-workflow-cannot-start"]
    {
        assert!(exposed.contains(&name), "{name} in {exposed:?}");
    }
    assert_eq!(get(foreign).await.header("access-control-allow-origin"), None);
    for path in [path, "/elsa/hubs/workflow-instance/negotiate"] {
        let allowed = preflight(path, origin).await;
        assert!(allowed.status.is_success(), "{path}");
        assert_eq!(allowed.header("access-control-allow-origin"), Some(origin), "{path}");
        let headers = allowed.header("access-control-allow-headers").unwrap();
        let headers: Vec<_> = headers.split(',').map(str::trim).collect();
        for name in ["authorization", "x-signalr-user-agent"] {
            assert!(headers.contains(&name), "{name} in {headers:?}");
        }
        let refused = preflight(path, foreign).await;
        assert_eq!(refused.header("access-control-allow-origin"), None, "{path}");
    }
    // Where no key is asked for, the page of a foreign origin is refused altogether.
    let config = Config { cors_origins: origin.parse().unwrap(), ..Config::default() };
    let world = World::without_executor(config).await;
    let request = json_request("GET", path, &[("origin", foreign)], &json!({}));
    assert!(world.send(request).await.problem(403).contains("web page"));
}

#[tokio::test]
async fn every_route_asks_for_its_permission_and_takes_no_other() {
    let world = World::without_executor(Config {
        auth: Auth::API_KEY,
        api_key: Some(KEY.to_owned()),
        ..Config::default()
    })
    .await;
    let mut keys: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    let mut checked = 0;
    for (method, template) in permission::listed() {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let needed = match permission::of(&method, &template) {
            Need::Permission(one) => vec![one],
            Need::OneOf(some) => some.to_vec(),
            Need::Key(_) => Vec::new(),
            // The answer to anybody is tested where the route is.
            Need::Public | Need::Inside => continue,
            Need::Unlisted => panic!("{method} {template} is in the table and not found there"),
        };
        if !needed.is_empty() && !keys.contains_key(&needed) {
            let mut others = permission::permissions();
            others.retain(|one| !needed.contains(one));
            let body = json!({"name": "all others", "permissions": others});
            let made = world.send(with_key("POST", "/api/api-keys", KEY, &body)).await.expect(201);
            keys.insert(needed.clone(), made["key"].as_str().unwrap().to_owned());
        }
        let below = template.strip_prefix(MOUNTS[0]);
        let paths = match below {
            Some(rest) => MOUNTS.iter().map(|mount| format!("{mount}{rest}")).collect(),
            None => vec![template.clone()],
        };
        let methods =
            if method == Method::GET { vec!["GET", "HEAD"] } else { vec![method.as_str()] };
        for path in paths {
            let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
            let path = parts.collect::<Vec<_>>().join("/");
            for method in &methods {
                let nobody = json_request(method, &path, &[], &json!({}));
                assert_eq!(world.send(nobody).await.status, 401, "{method} {path} of nobody");
                let Some(key) = keys.get(&needed) else { continue };
                let others = with_key(method, &path, key, &json!({}));
                let status = world.send(others).await.status;
                assert_eq!(status, 403, "{method} {path} with every permission but {needed:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "{checked} requests were refused");
}
