//! Logins, the tokens that they give, and the attacks on both.

mod attacks;
mod guesses;
mod own_password;
mod people;
mod streams;

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chassis::Secret;
use serde_json::{Value, json};
use store::{Identity as _, Keys as _, Page, Role};

use super::world::{Answer, World, json_request, writes_line};
use crate::identity::first;
use crate::{Auth, Config, IdentityConfig};

const KEY: &str = "a-bootstrap-key-of-length";
const PASSWORD: &str = "correct horse battery";

fn config() -> Config {
    let first = Some(("admin".to_owned(), Secret::new(PASSWORD)));
    Config {
        auth: Auth::BOTH,
        api_key: Some(KEY.to_owned()),
        identity: IdentityConfig { first, ..IdentityConfig::default() },
        ..Config::default()
    }
}

/// A server with the user `admin`.
async fn world() -> World {
    world_with(config()).await
}

async fn world_with(config: Config) -> World {
    let world = World::without_executor(config).await;
    assert!(first::make(&world.app).await.unwrap());
    world
}

fn bearer(method: &str, path: &str, token: &str, body: &Value) -> Request<Body> {
    json_request(method, path, &[("authorization", &format!("Bearer {token}"))], body)
}

/// The access and the refresh token of a login.
#[derive(Clone)]
struct Login {
    access: String,
    refresh: String,
}

impl Login {
    fn of(answer: Answer) -> Self {
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let body = answer.expect(200);
        assert_eq!(body["isAuthenticated"], true, "{body}");
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Self { access: text("accessToken"), refresh: text("refreshToken") }
    }

    async fn get(&self, world: &World, path: &str) -> Answer {
        world.send(bearer("GET", path, &self.access, &json!({}))).await
    }

    /// Whether a request with the access token is answered.
    async fn is_in(&self, world: &World) -> bool {
        let answer = self.get(world, "/elsa/api/workflow-definitions").await;
        assert!([200, 401].contains(&answer.status.as_u16()), "{:#}", answer.body);
        answer.status == 200
    }

    /// Whether its session goes on, whatever its user may do.
    async fn is_in_at(&self, world: &World) -> bool {
        let answer = self.get(world, "/elsa/api/workflow-definitions").await;
        assert!([200, 401, 403].contains(&answer.status.as_u16()), "{:#}", answer.body);
        answer.status != 401
    }

    async fn post(&self, world: &World, path: &str, body: &Value) -> Answer {
        world.send(bearer("POST", path, &self.access, body)).await
    }

    async fn renew(&self, world: &World) -> Answer {
        let path = "/elsa/api/identity/refresh-token";
        let authorization = format!("Bearer {}", self.refresh);
        let request = Request::post(path).header("authorization", authorization);
        world.send(request.body(Body::empty()).unwrap()).await
    }
}

async fn try_login(world: &World, name: &str, password: &str) -> Answer {
    let body = json!({"username": name, "password": password});
    world.post("/elsa/api/identity/login", &body).await
}

async fn login(world: &World, name: &str, password: &str) -> Login {
    Login::of(try_login(world, name, password).await)
}

/// The members of a token, as a browser reads them.
fn members(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// Makes a user with a role of these permissions.
async fn make_user(world: &World, name: &str, permissions: &[&str]) -> Login {
    let permissions = permissions.iter().map(|one| (*one).to_owned()).collect();
    let role = Role {
        id: format!("of-{name}"),
        name: format!("Of {name}"),
        permissions,
        created_at: world.app.now(),
    };
    world.store.create_role(&role).await.unwrap();
    let admin = login(world, "admin", PASSWORD).await;
    let body = json!({"name": name, "password": PASSWORD, "roles": [role.id]});
    admin.post(world, "/elsa/api/identity/users", &body).await.expect(200);
    login(world, name, PASSWORD).await
}

async fn id_of(world: &World, name: &str) -> String {
    world.store.user_named(name).await.unwrap().unwrap().id
}

async fn audited(world: &World, what: &str) -> bool {
    let page = world.store.audits(&store::AuditFilter::default(), Page::first()).await.unwrap();
    page.items.iter().any(|entry| entry.what == what)
}

#[tokio::test]
async fn a_login_gives_tokens_as_elsa_has_them() {
    let world = world().await;
    let body = json!({"username": " admin ", "password": format!(" {PASSWORD}\n")});
    let found = Login::of(world.post("/elsa/api/identity/login", &body).await);
    let access = members(&found.access);
    assert_eq!(access["sub"], id_of(&world, "admin").await);
    assert_eq!((&access["name"], &access["role"]), (&json!("admin"), &json!("Administrator")));
    assert_eq!(access["permissions"], "*", "one permission is a text");
    assert_eq!((&access["token_use"], &access["iss"]), (&json!("access"), &json!("staunch")));
    assert_eq!(access["aud"], "staunch");
    let times = ["exp", "nbf", "iat"].map(|name| access[name].as_i64().unwrap());
    assert_eq!((times[0] - times[2], times[1]), (3_600, times[2]));
    let refresh = members(&found.refresh);
    assert_eq!(refresh["token_use"], "refresh");
    assert_eq!(refresh["exp"].as_i64().unwrap() - times[2], 7_200);
    assert_ne!(refresh["jti"], access["jti"]);
    assert!(found.is_in(&world).await);
    let reader = make_user(&world, "zoe", &["read:user", "read:role"]).await;
    assert_eq!(members(&reader.access)["permissions"], json!(["read:role", "read:user"]));
    reader.get(&world, "/api/identity/users").await.expect(200);
    assert!(reader.get(&world, "/api/audit").await.problem(403).contains("user:zoe"));
    testkit::eventually("the login is audited", super::world::BOUND, async || {
        audited(&world, "login").await
    })
    .await;
}

#[tokio::test]
async fn wrong_credentials_are_an_answer_and_absent_ones_a_mistake() {
    let world = world().await;
    let wrong = json!({"isAuthenticated": false, "accessToken": null, "refreshToken": null});
    for (name, password) in
        [("admin", "wrong password"), ("nobody", PASSWORD), ("Admin", PASSWORD), ("admin", KEY)]
    {
        assert_eq!(try_login(&world, name, password).await.expect(200), wrong, "{name}");
    }
    for body in [
        json!({}),
        json!({"username": "admin"}),
        json!({"username": " ", "password": PASSWORD}),
        json!({"username": "admin", "password": ""}),
        json!({"username": null, "password": null}),
        json!({"username": "a".repeat(201), "password": PASSWORD}),
        json!({"username": "admin", "password": "a".repeat(1_025)}),
        json!({"username": ["admin"], "password": PASSWORD}),
    ] {
        world.post("/elsa/api/identity/login", &body).await.problem(400);
    }
    testkit::eventually("the refusal is audited", super::world::BOUND, async || {
        audited(&world, "login.refuse").await
    })
    .await;
}

#[tokio::test]
async fn schemes_are_side_by_side_and_named() {
    let world = world().await;
    let path = "/elsa/api/workflow-definitions";
    let with = |text: &str| json_request("GET", path, &[("authorization", text)], &json!({}));
    world.send(with(&format!("ApiKey {KEY}"))).await.expect(200);
    let found = login(&world, "admin", PASSWORD).await;
    world.send(with(&format!("bearer {}", found.access))).await.expect(200);
    let refused = world.get(path).await;
    let named: Vec<_> = refused.headers.get_all("www-authenticate").iter().collect();
    assert_eq!(named, ["ApiKey", "Bearer"]);
    refused.problem(401);
    let swapped = world.send(with(&format!("Bearer {KEY}"))).await;
    assert!(swapped.problem(401).contains("not a JSON Web Token"));
    world.send(with(&format!("ApiKey {}", found.access))).await.problem(401);

    let only = Auth { api_key: false, ..Auth::BOTH };
    let world = world_with(Config { auth: only, ..config() }).await;
    let refused = world.send(with(&format!("ApiKey {KEY}"))).await;
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    assert!(refused.problem(401).contains("use Authorization: Bearer <token>"));

    let keys = World::without_executor(Config { auth: Auth::API_KEY, ..config() }).await;
    assert!(try_login(&keys, "admin", PASSWORD).await.problem(404).contains("--auth identity"));
    let refused = keys.send(with("Bearer a.b.c")).await;
    assert_eq!(refused.header("www-authenticate"), Some("ApiKey"));
    assert!(refused.problem(401).contains("another scheme"));
}

#[tokio::test]
async fn a_workflow_sees_tokens_of_others_and_knows_users() {
    let config = Config { answer_time_max: Duration::from_secs(10), ..config() };
    let world = World::with(config).await;
    first::make(&world.app).await.unwrap();
    let admin = login(&world, "admin", PASSWORD).await;
    for (id, authorize, policy) in
        [("open", false, None), ("known", true, None), ("clerk", true, Some("sell:shoes"))]
    {
        let endpoint = json!({"type": "Elsa.HttpEndpoint", "id": "in", "canStartWorkflow": true,
            "path": id, "supportedMethods": ["GET"], "authorize": authorize, "policy": policy});
        let root = json!({"type": "Elsa.Sequence", "id": "seq",
            "activities": [endpoint, writes_line()]});
        let body = json!({"definitionId": id, "root": root});
        admin.post(&world, "/elsa/api/workflow-definitions", &body).await.expect(201);
    }
    let clerk = make_user(&world, "zoe", &["sell:shoes"]).await;
    let idle = make_user(&world, "eve", &["read:*"]).await;
    for (path, token, expected) in [
        ("open", "of-another-issuer", 200),
        ("open", &clerk.access, 200),
        ("known", "of-another-issuer", 401),
        ("known", &clerk.refresh, 401),
        ("known", &idle.access, 200),
        ("clerk", &idle.access, 403),
        ("clerk", &clerk.access, 200),
    ] {
        let answer =
            world.send(bearer("GET", &format!("/workflows/{path}"), token, &json!({}))).await;
        assert_eq!(answer.status.as_u16() / 100, expected / 100, "{path} {:#}", answer.body);
    }
}

#[tokio::test]
async fn keys_that_sign_are_changed_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let write = |keys: &[&str]| {
        let lines: Vec<_> = keys.iter().map(|key| key.repeat(32)).collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
    };
    write(&["1"]);
    let mut config = config();
    config.identity.key_file = Some(file.clone());
    let world = world_with(config).await;
    let old = login(&world, "admin", PASSWORD).await;
    tokio::time::pause();
    write(&["2", "1"]);
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    let new = login(&world, "admin", PASSWORD).await;
    assert_ne!(old.access.split('.').next(), new.access.split('.').next(), "another key signs");
    assert!(old.is_in(&world).await && new.is_in(&world).await);
    write(&["2"]);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    let refused = old.get(&world, "/elsa/api/workflow-definitions").await;
    assert!(refused.problem(401).contains("a key that is not known"));
    assert!(new.is_in(&world).await);
}

#[tokio::test]
async fn a_file_of_keys_that_cannot_be_used_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let one = "1".repeat(32);
    std::fs::write(&file, &one).unwrap();
    let mut config = config();
    config.identity.key_file = Some(file.clone());
    let world = world_with(config.clone()).await;
    let old = login(&world, "admin", PASSWORD).await;
    for bad in [Some(format!("{}\nshort", "2".repeat(32))), Some(String::new()), None] {
        match &bad {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        assert!(config.check().is_err(), "no node starts with it");
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(11)).await;
        tokio::time::resume();
        assert!(old.is_in(&world).await, "{bad:?}");
        assert!(login(&world, "admin", PASSWORD).await.is_in(&world).await, "{bad:?}");
    }
    std::fs::write(&file, "3".repeat(32)).unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    let refused = old.get(&world, "/elsa/api/workflow-definitions").await;
    assert!(refused.problem(401).contains("a key that is not known"), "a good file is read again");
}

#[tokio::test]
async fn everyone_learns_who_they_are_and_what_they_may_do() {
    const ME: &str = "/elsa/api/identity/me";
    let open = World::without_executor(Config::default()).await;
    let local = open.get(ME).await.expect(200);
    assert_eq!((&local["who"], &local["kind"]), (&json!("local"), &json!("none")));
    assert_eq!((&local["isAuthenticationOn"], &local["granted"]), (&json!(false), &json!(["*"])));
    let all = local["permissions"].as_array().unwrap();
    assert_eq!(all.len(), crate::permissions().len());
    let world = world().await;
    world.get(ME).await.problem(401);
    let admin = login(&world, "admin", PASSWORD).await.get(&world, ME).await.expect(200);
    assert_eq!((&admin["who"], &admin["kind"]), (&json!("user:admin"), &json!("user")));
    assert_eq!((&admin["isAuthenticationOn"], &admin["permissions"]), (&json!(true), &json!(all)));
    let reader = make_user(&world, "zoe", &["read:user", "tasks:*"]).await;
    let answer = reader.get(&world, ME).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let reader = answer.expect(200);
    assert_eq!(reader["permissions"], json!(["read:user", "tasks:complete", "tasks:poll"]));
    let twice = make_user(&world, "amy", &["read:user", "read:role", "read:user"]).await;
    let twice = twice.get(&world, ME).await.expect(200);
    assert_eq!(twice["granted"], json!(["read:user", "read:role"]));
}
