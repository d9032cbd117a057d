//! Secrets over the API, and what the audit log says about them.

use serde_json::{Value, json};
use store::{Secrets as _, Sessions as _};

use super::world::{BOUND, World, json_request};
use crate::{Auth, Config, IdentityConfig};

const API: &str = "/elsa/api/secrets";
const KEY: &str = "a-bootstrap-key-of-length";
const VALUE: &str = "hunter2-is-never-answered";

async fn world() -> World {
    let master = vault::Master::parse(&"5a".repeat(32)).unwrap();
    let auth = Auth::API_KEY;
    let config =
        Config { auth, api_key: Some(KEY.to_owned()), master: Some(master), ..Config::default() };
    World::without_executor(config).await
}

async fn send(world: &World, method: &str, path: &str, body: &Value, status: u16) -> Value {
    let headers = [("authorization", format!("ApiKey {KEY}"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let answer = world.send(json_request(method, path, &headers, body)).await;
    assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    let text = answer.body.to_string();
    assert!(!text.contains("hunter2"), "{method} {path}: {text}");
    answer.body
}

#[tokio::test]
async fn a_secret_is_made_changed_and_removed_and_its_value_is_never_answered() {
    let world = world().await;
    let none = json!({});
    let body = json!({"name": "Pay.Token", "displayName": "Token", "description": "for payments",
        "typeName": "Text", "storeName": "Encrypted", "scope": "Shop", "tags": ["pay"],
        "value": VALUE, "expiresAt": null, "metadata": {}});
    let made = send(&world, "POST", API, &body, 200).await;
    assert_eq!(made["name"], "pay.token");
    assert_eq!((&made["status"], &made["currentVersion"]), (&json!("Active"), &json!(1)));
    let members: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = vec![
        "id",
        "name",
        "displayName",
        "description",
        "typeName",
        "storeName",
        "scope",
        "tags",
        "status",
        "currentVersion",
        "version",
        "createdAt",
        "updatedAt",
        "expiresAt",
    ];
    let mut sorted = members.clone();
    sorted.sort_unstable();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    send(&world, "POST", API, &body, 409).await;
    send(&world, "POST", API, &json!({"name": "x", "value": VALUE}), 400).await;
    send(&world, "POST", API, &json!({"name": "other"}), 400).await;

    let one = format!("{API}/PAY.token");
    assert_eq!(send(&world, "GET", &one, &none, 200).await["scope"], "Shop");
    let body = json!({"value": "hunter2-new"});
    let rotated = send(&world, "POST", &format!("{one}/rotate"), &body, 200).await;
    assert_eq!(rotated["currentVersion"], 2);
    let changed = send(&world, "PUT", &one, &json!({"description": "other"}), 200).await;
    assert_eq!((&changed["description"], &changed["scope"]), (&json!("other"), &json!("Shop")));
    let changed = send(&world, "POST", &one, &json!({"displayName": "The token"}), 200).await;
    assert_eq!(
        (&changed["displayName"], &changed["description"]),
        (&json!("The token"), &json!("other"))
    );
    let tested = send(&world, "POST", &format!("{one}/test"), &none, 200).await;
    assert_eq!(tested, json!({"succeeded": true, "error": null}));
    for (query, count) in [("", 1), ("?search=PAY", 1), ("?search=no", 0), ("?scope=Shop", 1)] {
        let listed = send(&world, "GET", &format!("{API}{query}"), &none, 200).await;
        assert_eq!(listed["totalCount"], count, "{query}");
    }
    let body = json!({"search": "token"});
    let picked = send(&world, "POST", &format!("{API}/picker"), &body, 200).await;
    assert_eq!(picked["items"].as_array().unwrap().len(), 1);
    let revoked = send(&world, "POST", &format!("{one}/revoke"), &none, 200).await;
    assert_eq!((&revoked["status"], &revoked["version"]), (&json!("Revoked"), &json!(2)));
    assert_eq!(revoked["currentVersion"], Value::Null);
    let tested = send(&world, "POST", &format!("{one}/test"), &none, 200).await;
    assert_eq!(tested, json!({"succeeded": false, "error": "the secret is revoked"}));
    let picked = send(&world, "POST", &format!("{API}/picker"), &none, 200).await;
    assert_eq!(picked["items"], json!([]));
    let stores = send(&world, "GET", &format!("{API}/descriptors"), &none, 200).await;
    assert_eq!(stores["stores"][0]["name"], "Encrypted");
    let rows = format!("{:?}", world.store.secrets().await.unwrap());
    assert!(!rows.contains("hunter2"), "{rows}");
    send(&world, "DELETE", &one, &none, 204).await;
    send(&world, "GET", &one, &none, 404).await;
    send(&world, "GET", &format!("{API}/.sealing"), &none, 404).await;
    send(&world, "DELETE", &format!("{API}/.sealing"), &none, 404).await;

    let audit = "/elsa/api/audit?pageSize=50&target=pay.token";
    let audit = send(&world, "GET", audit, &none, 200).await;
    let what = audit["items"].as_array().unwrap().iter().map(|entry| entry["what"].clone());
    let expected = ["delete", "test", "revoke", "test", "update", "update", "rotate", "create"];
    assert_eq!(what.collect::<Vec<_>>(), expected.map(|what| json!(format!("secret.{what}"))));
    let sent = || {
        let events = world.bus.stored(bus::Stream::Events);
        let mut events = events.iter().map(|(_, event)| event);
        events.any(|event| event.subject == "staunch.event.audit.secret=2Erotate")
    };
    testkit::eventually("the entry is sent", BOUND, async || sent()).await;
}

#[tokio::test]
async fn a_value_of_another_kind_is_not_answered_either() {
    let world = world().await;
    send(&world, "POST", API, &json!({"name": "a.b", "value": VALUE}), 200).await;
    let rotate = format!("{API}/a.b/rotate");
    for (path, body) in [
        (API, json!({"name": "c.d", "value": 12_345_678_901_u64})),
        (rotate.as_str(), json!({"value": 12_345_678_901_u64})),
        ("/elsa/api/identity/login", json!({"username": "a", "password": 12_345_678_901_u64})),
        ("/elsa/api/identity/users", json!({"name": "a", "password": 12_345_678_901_u64})),
    ] {
        let refused = send(&world, "POST", path, &body, 400).await.to_string();
        assert!(refused.contains("a number, and has to be a text"), "{path}: {refused}");
        assert!(!refused.contains("12345"), "{path}: {refused}");
    }
}

#[tokio::test]
async fn a_refused_request_is_in_the_audit_log() {
    let world = world().await;
    let body = json!({"name": "reader", "permissions": ["read:secrets"]});
    let made = send(&world, "POST", "/elsa/api/api-keys", &body, 201).await;
    let reader = format!("ApiKey {}", made["key"].as_str().unwrap());
    let body = json!({"name": "pay.token", "value": VALUE});
    let headers = [("authorization", reader.as_str())];
    world.send(json_request("POST", API, &headers, &body)).await.problem(403);
    world.send(json_request("POST", API, &[], &body)).await.problem(401);
    let refused = "/elsa/api/audit?outcome=refused&what=request.refuse";
    let refused = send(&world, "GET", refused, &json!({}), 200).await;
    let seen: Vec<_> = refused["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["who"].clone(), one["target"].clone(), one["details"]["status"].clone()))
        .collect();
    let target = json!("POST /elsa/api/secrets");
    assert_eq!(
        seen,
        [
            (json!("anonymous"), target.clone(), json!(401)),
            (made["id"].clone(), target, json!(403))
        ]
    );
    send(&world, "GET", "/elsa/api/audit?outcome=maybe", &json!({}), 400).await;
    let unknown = "/elsa/api/audit?what=nonsense";
    let unknown = send(&world, "GET", unknown, &json!({}), 400).await;
    let detail = unknown["detail"].as_str().unwrap();
    let expected = r#"query parameter what is "nonsense": use one of activity-type.delete, "#;
    assert!(detail.starts_with(expected) && detail.contains("request.refuse"), "{detail}");
}

#[tokio::test]
async fn the_keys_that_sign_tokens_are_encrypted_by_the_same_key() {
    let master = vault::Master::parse(&"5a".repeat(32)).unwrap();
    let first = Some(("admin".to_owned(), chassis::Secret::new("correct horse battery")));
    let config = Config {
        auth: Auth::BOTH,
        api_key: Some(KEY.to_owned()),
        master: Some(master),
        identity: IdentityConfig { first, ..IdentityConfig::default() },
        ..Config::default()
    };
    let world = World::without_executor(config).await;
    assert!(crate::identity::first::make(&world.app).await.unwrap());
    let body = json!({"username": "admin", "password": "correct horse battery"});
    let token = send_token(&world, &body).await;
    let keys = world.store.signing_keys().await.unwrap();
    assert_eq!(keys.len(), 1);
    assert!(vault::is_encrypted_key(&keys[0].secret));
    // A node that starts later reads it from the database.
    let other = world.another().await;
    let headers = [("authorization", token.as_str())];
    let request = json_request("GET", API, &headers, &json!({}));
    super::world::send_to(&other, request).await.expect(200);
}

async fn send_token(world: &World, body: &Value) -> String {
    let answer = world.post("/elsa/api/identity/login", body).await.expect(200);
    format!("Bearer {}", answer["accessToken"].as_str().unwrap())
}

#[tokio::test]
async fn without_a_master_key_no_secret_is_made() {
    let world = World::without_executor(Config::default()).await;
    let body = json!({"name": "pay.token", "value": VALUE});
    let refused = world.send(json_request("POST", API, &[], &body)).await.problem(409);
    assert!(refused.contains("secrets-key-file"), "{refused}");
    world.get(API).await.expect(200);
}

#[tokio::test]
async fn a_step_is_tried_out_with_its_secret_and_the_answer_does_not_show_it() {
    let world = world().await;
    let none = json!({});
    let path = "/elsa/api/tests/activities";
    let script = |text: &str| json!({"expression": {"type": "JavaScript", "value": text}});
    let root = json!({"id": "s", "type": "Elsa.Sequence", "activities": [
        {"id": "length", "type": "Elsa.RunJavaScript",
            "script": "const t = await getSecret('pay.token'); return t.length"},
        {"id": "text", "type": "Elsa.RunJavaScript",
            "script": "return 'Bearer ' + await getSecret('pay.token')"},
        {"id": "line", "type": "Elsa.WriteLine",
            "text": {"expression": {"type": "Secret", "value": "pay.token"}}},
        {"id": "call", "type": "Elsa.SendHttpRequest", "url": "https://shop.example/?q=1",
            "authorization": {"expression": {"type": "Secret", "value": "pay.token"}}},
        {"id": "throws", "type": "Elsa.RunJavaScript",
            "script": "throw new Error(await getSecret('pay.token'))"},
        {"id": "name", "type": "Elsa.SetName", "value": script("await getSecret('pay.token')")}]});
    let model = json!({"model": {"definitionId": "pays", "root": root}, "publish": false});
    send(&world, "POST", "/elsa/api/workflow-definitions", &model, 201).await;
    let run = async |activity: &str| {
        let sent = json!({"workflowDefinitionHandle": {"definitionId": "pays"},
            "activityHandle": {"activityId": activity}});
        send(&world, "POST", path, &sent, 200).await
    };
    let missing = run("length").await;
    assert!(missing.to_string().contains("there is no secret"), "{missing:#}");
    let body = json!({"name": "pay.token", "value": VALUE});
    send(&world, "POST", API, &body, 200).await;
    // A new secret is there at once.
    let found = run("length").await;
    assert_eq!(found["status"], "Completed", "{found:#}");
    let text = run("text").await;
    assert!(text["status"] == "Completed" && !text.to_string().contains(VALUE), "{text:#}");
    for (activity, status) in
        [("line", "Completed"), ("call", "Running"), ("throws", "Faulted"), ("name", "Faulted")]
    {
        let ran = run(activity).await;
        assert_eq!(ran["status"], status, "{activity}: {ran:#}");
        assert!(!ran.to_string().contains(VALUE), "{activity}: {ran:#}");
    }
    let audit = send(&world, "GET", "/elsa/api/audit", &none, 200).await;
    assert_eq!(audit["items"][0]["what"], "activity.test");
}
