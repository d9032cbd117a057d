//! Tokens of an issuer: what they may do, and beside which other credentials.

mod attacks;
mod issuer;
mod keys;
mod logs;
mod provider;

use std::time::Duration;

use serde_json::{Value, json};
use store::{Identity as _, Keys as _, Page, Role};

use super::world::{Answer, BOUND, World, json_request};
use crate::{Auth, Config, OidcConfig};
use issuer::{Issuer, Key};

const KEY: &str = "a-bootstrap-key-of-length";
const PATH: &str = "/elsa/api/workflow-definitions";

/// A server that accepts the tokens of this issuer.
fn config(issuer: &Issuer) -> Config {
    let roles = [("admins", vec!["*"]), ("staff", vec!["role:editor", "read:user"])];
    let owned = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
    let oidc = OidcConfig {
        issuer: issuer.url().to_owned(),
        audiences: vec!["staunch".to_owned()],
        roles: roles.into_iter().map(|(name, all)| (name.to_owned(), owned(all))).collect(),
        allows_http: true,
        ..OidcConfig::default()
    };
    Config { auth: Auth::ALL, api_key: Some(KEY.to_owned()), oidc: Some(oidc), ..Config::default() }
}

/// A server, and its issuer with this key.
async fn world(key: &Key) -> (World, Issuer) {
    let issuer = Issuer::start(&[key]).await;
    (World::without_executor(config(&issuer)).await, issuer)
}

/// The claims of a good token that may read definitions.
fn claims(world: &World) -> Value {
    let now = world.app.now().as_millis() / 1_000;
    let issuer = world.app.oidc.as_ref().unwrap().config().issuer.clone();
    json!({"iss": issuer, "aud": "staunch", "sub": "42", "exp": now + 3_600, "iat": now,
        "permissions": ["read:workflow-definitions"]})
}

/// The same with this claim.
fn with(world: &World, name: &str, value: Value) -> Value {
    let mut claims = claims(world);
    claims[name] = value;
    claims
}

async fn send(world: &World, method: &str, path: &str, token: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {token}");
    world.send(json_request(method, path, &[("authorization", &authorization)], body)).await
}

async fn get(world: &World, token: &str) -> Answer {
    send(world, "GET", PATH, token, &json!({})).await
}

/// The token is refused, and the answer says why, to people and to clients.
async fn refused(world: &World, what: &str, token: &str, expected: &str) {
    let answer = get(world, token).await;
    assert_eq!(answer.status, 401, "{what}: {:#}", answer.body);
    let named: Vec<_> = answer.headers.get_all("www-authenticate").iter().collect();
    let [key, challenge] = named[..] else { panic!("{what}: {named:?}") };
    assert_eq!(key, "ApiKey");
    let challenge = challenge.to_str().unwrap().to_owned();
    assert!(challenge.starts_with("Bearer error=\"invalid_token\", error_description=\""));
    let detail = answer.problem(401);
    assert!(detail.contains(expected), "{what}: {detail}");
    assert!(challenge.contains(&detail), "{what}: {challenge}");
    assert!(token.is_empty() || !detail.contains(token), "{what}: a token is not repeated");
}

/// The clocks of the server are further by this time.
async fn later(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn claims_decide_what_a_caller_may_do() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);
    let none = key.sign("ES256", &with(&world, "permissions", json!([])));
    assert!(get(&world, &none).await.problem(403).contains("the caller oidc:42 does not"));
    let users = "/elsa/api/identity/users";
    let staff = key.sign("ES256", &with(&world, "roles", json!(["staff", "unknown"])));
    send(&world, "GET", users, &staff, &json!({})).await.expect(200);
    let roles = "/elsa/api/identity/roles";
    send(&world, "GET", roles, &staff, &json!({})).await.problem(403);
    // A role of the database counts from the next request on.
    let editor = Role {
        id: "editor".to_owned(),
        name: "Editor".to_owned(),
        permissions: vec!["read:role".to_owned()],
        created_at: world.app.now(),
    };
    world.store.create_role(&editor).await.unwrap();
    send(&world, "GET", roles, &staff, &json!({})).await.expect(200);
    send(&world, "GET", "/elsa/api/audit", &staff, &json!({})).await.problem(403);
    let admin = key.sign("ES256", &with(&world, "roles", json!("admins")));
    send(&world, "GET", "/elsa/api/audit", &admin, &json!({})).await.expect(200);
    let unmapped = key.sign("ES256", &with(&world, "roles", json!(["editor", "*", "role:editor"])));
    send(&world, "GET", roles, &unmapped, &json!({})).await.problem(403);
}

#[tokio::test]
async fn the_audit_log_names_the_subject() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    let mut config = config(&issuer);
    config.oidc.as_mut().unwrap().name_claim = Some("email".to_owned());
    let world = World::without_executor(config).await;
    let mut claims = with(&world, "permissions", json!(["*"]));
    claims["email"] = json!("ann@example.com");
    let token = key.sign("ES256", &claims);
    let body = json!({"name": "Clerk", "permissions": ["read:user"]});
    send(&world, "POST", "/elsa/api/identity/roles", &token, &body).await.expect(200);
    testkit::eventually("the change is audited", BOUND, async || {
        let page = world.store.audits(&store::AuditFilter::default(), Page::first()).await.unwrap();
        page.items.iter().any(|entry| entry.who == "oidc:42 (ann@example.com)")
    })
    .await;
}

#[tokio::test]
async fn every_allowed_algorithm_is_verified() {
    let (rsa, es256) = (Key::rsa("rsa"), Key::es256("es256"));
    let (es384, ed) = (Key::es384("es384"), Key::ed25519("ed"));
    let issuer = Issuer::start(&[&rsa, &es256, &es384, &ed]).await;
    let world = World::without_executor(config(&issuer)).await;
    for (algorithm, key) in [
        ("RS256", &rsa),
        ("RS384", &rsa),
        ("RS512", &rsa),
        ("PS256", &rsa),
        ("PS384", &rsa),
        ("PS512", &rsa),
        ("ES256", &es256),
        ("ES384", &es384),
        ("EdDSA", &ed),
    ] {
        let token = key.sign(algorithm, &claims(&world));
        let answer = get(&world, &token).await;
        assert_eq!(answer.status, 200, "{algorithm}: {:#}", answer.body);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let flipped = if signature.starts_with('A') { "B" } else { "A" };
        let forged = format!("{signed}.{flipped}{}", &signature[1..]);
        refused(&world, algorithm, &forged, "signature of the token is wrong").await;
    }
    let mut narrow = config(&issuer);
    narrow.oidc.as_mut().unwrap().algorithms = vec![crate::Algorithm::Es256];
    let narrow = World::without_executor(narrow).await;
    get(&narrow, &es256.sign("ES256", &claims(&narrow))).await.expect(200);
    let other = rsa.sign("RS256", &claims(&narrow));
    refused(&narrow, "not in the list", &other, "not allowed here").await;
}

#[tokio::test]
async fn schemes_are_side_by_side_and_the_issuer_decides_who_checks() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let with_key =
        json_request("GET", PATH, &[("authorization", &format!("ApiKey {KEY}"))], &json!({}));
    world.send(with_key).await.expect(200);
    get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);

    let password = "correct horse battery";
    let role = Role {
        id: "reader".to_owned(),
        name: "Reader".to_owned(),
        permissions: vec!["read:workflow-definitions".to_owned()],
        created_at: world.app.now(),
    };
    world.store.create_role(&role).await.unwrap();
    let user = json!({"name": "zoe", "password": password, "roles": ["reader"]});
    let admin = key.sign("ES256", &with(&world, "permissions", json!(["*"])));
    send(&world, "POST", "/elsa/api/identity/users", &admin, &user).await.expect(200);
    let login = json!({"username": "zoe", "password": password});
    let tokens = world.post("/elsa/api/identity/login", &login).await.expect(200);
    let own = tokens["accessToken"].as_str().unwrap();
    get(&world, own).await.expect(200);

    // A token of the one is not checked by the other.
    let mut foreign = claims(&world);
    foreign["iss"] = json!("staunch");
    refused(&world, "as ours", &key.sign("ES256", &foreign), "HS256").await;
    let logout = key.sign("ES256", &claims(&world));
    send(&world, "POST", "/elsa/api/identity/logout", &logout, &json!({})).await.problem(401);
    get(&world, own).await.expect(200);

    let only = Config { auth: Auth { oidc: true, ..Auth::NONE }, ..config(&issuer) };
    let only = World::without_executor(only).await;
    get(&only, &key.sign("ES256", &claims(&only))).await.expect(200);
    let answer = get(&only, own).await;
    let challenge = answer.header("www-authenticate").unwrap().to_owned();
    assert!(challenge.starts_with("Bearer error=\"invalid_token\""), "{challenge}");
    assert!(answer.problem(401).contains("not allowed here"));
    only.post("/elsa/api/identity/login", &login).await.problem(404);
}

#[tokio::test]
async fn the_hub_takes_a_token_from_its_query() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let token = key.sign("ES256", &claims(&world));
    let hub = "/elsa/hubs/workflow-instance/negotiate?negotiateVersion=1";
    let answer = world.post(&format!("{hub}&access_token={token}"), &json!({})).await;
    assert!(answer.expect(200)["connectionToken"].is_string());
    world.post(hub, &json!({})).await.problem(401);
    let late = with(&world, "exp", json!(1));
    let late = key.sign("ES256", &late);
    let refused = world.post(&format!("{hub}&access_token={late}"), &json!({})).await;
    assert!(refused.problem(401).contains("has expired"));
    // Nowhere else.
    world.get(&format!("{PATH}?access_token={token}")).await.problem(401);
}

#[tokio::test]
async fn the_description_names_the_issuer() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let document = world.get("/openapi.json").await.expect(200);
    let scheme = &document["components"]["securitySchemes"]["oidc"];
    assert_eq!(scheme["type"], "openIdConnect");
    let url = format!("{}/.well-known/openid-configuration", issuer.url());
    assert_eq!(scheme["openIdConnectUrl"], url);
    let needed = document["security"].as_array().unwrap();
    assert!(needed.contains(&json!({"oidc": []})) && needed.contains(&json!({"bearer": []})));
    let other = World::without_executor(Config { auth: Auth::BOTH, ..config(&issuer) }).await;
    let document = other.get("/openapi.json").await.expect(200);
    assert!(document["components"]["securitySchemes"].get("oidc").is_none());
    assert!(other.app.oidc.is_none(), "the scheme is off");
    let token = key.sign("ES256", &claims(&world));
    get(&other, &token).await.problem(401);
}

#[tokio::test]
async fn a_workflow_sees_other_tokens_and_callers_of_the_issuer() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::with(config(&issuer)).await;
    let admin = key.sign("ES256", &with(&world, "permissions", json!(["*"])));
    for (id, authorize) in [("open", false), ("known", true)] {
        let endpoint = json!({"type": "Elsa.HttpEndpoint", "id": "in", "canStartWorkflow": true,
            "path": id, "supportedMethods": ["GET"], "authorize": authorize});
        let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [endpoint]});
        let body = json!({"definitionId": id, "root": root});
        send(&world, "POST", PATH, &admin, &body).await.expect(201);
    }
    let good = key.sign("ES256", &claims(&world));
    let late = key.sign("ES256", &with(&world, "exp", json!(1)));
    for (path, token, expected) in [
        ("open", "of-another-issuer", 200),
        ("open", &late, 200),
        ("known", &good, 200),
        ("known", &late, 401),
        ("known", "of-another-issuer", 401),
    ] {
        let answer = send(&world, "GET", &format!("/workflows/{path}"), token, &json!({})).await;
        assert_eq!(answer.status.as_u16() / 100, expected / 100, "{path} {:#}", answer.body);
    }
}
