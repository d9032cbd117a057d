use std::time::Duration;

use chassis::http::Peer;

use super::*;
use crate::identity::key_file::Key;
use crate::identity::token::{Claims, Use, sign};

/// The claims of a token, and the key that signs here.
async fn parts(world: &World, token: &str) -> (Claims, Key) {
    let claims = serde_json::from_value(members(token)).unwrap();
    (
        claims,
        world.app.identity.keys.signer(&world.app.cx, &world.app.config.identity).await.unwrap(),
    )
}

fn raw(header: &Value, payload: &Value, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{signature}", part(header), part(payload))
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let world = world().await;
    let found = login(&world, "admin", PASSWORD).await;
    let (claims, key) = parts(&world, &found.access).await;
    assert!(found.is_in(&world).await);
    let now = world.app.now().as_millis() / 1_000;
    let signed = |claims: Claims| sign(&claims, &key).unwrap();
    let other = Key { secret: vec![0; 32], ..key.clone() };
    let unknown = Key { id: "unknown".to_owned(), ..key.clone() };
    let payload = members(&found.access);
    let signature = found.access.rsplit_once('.').unwrap().1;
    let header = |alg: &str| json!({"alg": alg, "kid": key.id, "typ": "JWT"});
    let mut escalated = payload.clone();
    escalated["sub"] = json!("someone else");
    for (what, token, expected) in [
        ("no signature", raw(&header("none"), &payload, ""), "HS256"),
        ("none, signed", raw(&header("none"), &payload, signature), "HS256"),
        ("key confusion", raw(&header("RS256"), &payload, signature), "HS256"),
        ("another payload", raw(&header("HS256"), &escalated, signature), "signature"),
        ("another secret", sign(&claims, &other).unwrap(), "signature"),
        ("an unknown key", sign(&claims, &unknown).unwrap(), "key that is not known"),
        ("expired", signed(Claims { exp: now, ..claims.clone() }), "has expired"),
        ("not valid yet", signed(Claims { nbf: now + 60, ..claims.clone() }), "not valid yet"),
        ("another issuer", signed(Claims { iss: "evil".into(), ..claims.clone() }), "issuer"),
        ("another audience", signed(Claims { aud: "evil".into(), ..claims.clone() }), "audience"),
        ("another session", signed(Claims { sid: "none".into(), ..claims.clone() }), "is over"),
        ("another user", signed(Claims { sub: "else".into(), ..claims.clone() }), "is over"),
        ("a refresh token", found.refresh.clone(), "send the access token"),
        ("no token", "abc".to_owned(), "not a JSON Web Token"),
        ("dots", "..".to_owned(), "not a JSON Web Token"),
    ] {
        let answer =
            world.send(bearer("GET", "/elsa/api/workflow-definitions", &token, &json!({}))).await;
        assert_eq!(answer.header("www-authenticate"), Some("ApiKey"), "{what}");
        let detail = answer.problem(401);
        assert!(detail.contains(expected), "{what}: {detail}");
        assert!(!detail.contains(&token), "{what}: a token is not repeated");
    }
    let access = Login { refresh: found.access.clone(), ..found.clone() };
    let detail = access.renew(&world).await.problem(401);
    assert!(detail.contains("send the refresh token"), "{detail}");
    let (claims, _) = parts(&world, &found.refresh).await;
    for claims in [
        Claims { exp: now, ..claims.clone() },
        Claims { aud: "evil".to_owned(), ..claims.clone() },
        Claims { sid: "none".to_owned(), ..claims.clone() },
        Claims { token_use: Use::Access, ..claims },
    ] {
        Login { refresh: signed(claims), ..found.clone() }.renew(&world).await.problem(401);
    }
    let nobody = world.post("/elsa/api/identity/refresh-token", &json!({})).await;
    assert!(nobody.problem(401).contains("Authorization: Bearer"));
    assert!(found.is_in(&world).await, "no attack has ended the session");
}

#[tokio::test]
async fn a_used_refresh_token_ends_its_session() {
    let mut config = config();
    config.identity.reuse_time = Duration::ZERO;
    let world = world_with(config).await;
    let first = login(&world, "admin", PASSWORD).await;
    let other = login(&world, "admin", PASSWORD).await;
    let second = Login::of(first.renew(&world).await);
    assert!(first.is_in(&world).await && second.is_in(&world).await);
    let third = Login::of(second.renew(&world).await);
    assert!(first.renew(&world).await.problem(401).contains("used before"));
    for ended in [&first, &second, &third] {
        assert!(!ended.is_in(&world).await);
        ended.renew(&world).await.problem(401);
    }
    assert!(other.is_in(&world).await, "another session goes on");
    testkit::eventually("the reuse is audited", super::super::world::BOUND, async || {
        audited(&world, "session.reuse").await
    })
    .await;
}

#[tokio::test]
async fn a_logout_and_a_stolen_token_leave_their_address_in_the_audit_log() {
    let mut config = config();
    config.identity.reuse_time = Duration::ZERO;
    let world = world_with(config).await;
    let from = |path: &str, token: &str, address: &str| {
        let path = format!("/elsa/api/identity/{path}");
        let mut request = bearer("POST", &path, token, &json!({}));
        request.extensions_mut().insert(Peer(format!("{address}:4711").parse().unwrap()));
        request
    };
    let stolen = login(&world, "admin", PASSWORD).await;
    stolen.renew(&world).await.expect(200);
    world.send(from("refresh-token", &stolen.refresh, "192.0.2.7")).await.problem(401);
    let ended = login(&world, "admin", PASSWORD).await;
    assert_eq!(world.send(from("logout", &ended.access, "192.0.2.8")).await.status, 204);
    for (what, address) in [("session.reuse", "192.0.2.7"), ("logout", "192.0.2.8")] {
        testkit::eventually("the entry has its address", super::super::world::BOUND, async || {
            let filter = store::AuditFilter::default();
            let page = world.store.audits(&filter, Page::first()).await.unwrap();
            let mut entries = page.items.iter().filter(|entry| entry.what == what);
            entries.any(|entry| entry.address.as_deref() == Some(address))
        })
        .await;
    }
}

#[tokio::test]
async fn several_refreshes_at_once_get_the_same_session() {
    let world = world().await;
    let first = login(&world, "admin", PASSWORD).await;
    let (one, two) = tokio::join!(first.renew(&world), first.renew(&world));
    let (one, two) = (Login::of(one), Login::of(two));
    assert_eq!(members(&one.refresh)["jti"], members(&two.refresh)["jti"]);
    assert!(one.is_in(&world).await && two.is_in(&world).await);
    Login::of(two.renew(&world).await);
}

#[tokio::test]
async fn a_logout_ends_every_token_of_the_session() {
    let world = world().await;
    for by_refresh in [false, true] {
        let found = login(&world, "admin", PASSWORD).await;
        let renewed = Login::of(found.renew(&world).await);
        let token = if by_refresh { &renewed.refresh } else { &found.access };
        let request = bearer("POST", "/elsa/api/identity/logout", token, &json!({}));
        assert_eq!(world.send(request).await.status, 204);
        for ended in [&found, &renewed] {
            assert!(!ended.is_in(&world).await);
            assert!(ended.renew(&world).await.problem(401).contains("log in again"));
        }
        let again = bearer("POST", "/elsa/api/identity/logout", token, &json!({}));
        world.send(again).await.problem(401);
    }
}

#[tokio::test]
async fn changes_of_a_user_take_effect_at_once() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let zoe = make_user(&world, "zoe", &["read:user"]).await;
    let id = id_of(&world, "zoe").await;
    let users = "/elsa/api/identity/users";
    let change = async |body: Value| {
        world.send(bearer("PUT", &format!("{users}/{id}"), &admin.access, &body)).await.expect(200)
    };
    zoe.get(&world, users).await.expect(200);
    let role = |permissions: Value| {
        let body = json!({"permissions": permissions});
        bearer("PUT", "/elsa/api/identity/roles/of-zoe", &admin.access, &body)
    };
    world.send(role(json!(["read:role"]))).await.expect(200);
    zoe.get(&world, users).await.problem(403);
    world.send(role(json!(["read:*"]))).await.expect(200);
    zoe.get(&world, users).await.expect(200);

    change(json!({"isDisabled": true})).await;
    zoe.get(&world, users).await.problem(401);
    zoe.renew(&world).await.problem(401);
    assert_eq!(try_login(&world, "zoe", PASSWORD).await.expect(200)["isAuthenticated"], false);
    change(json!({"isDisabled": false})).await;
    zoe.get(&world, users).await.problem(401);

    let zoe = login(&world, "zoe", PASSWORD).await;
    change(json!({"password": "another password"})).await;
    zoe.get(&world, users).await.problem(401);
    zoe.renew(&world).await.problem(401);
    let zoe = login(&world, "zoe", "another password").await;
    change(json!({"roles": []})).await;
    assert!(zoe.get(&world, users).await.problem(403).contains("user:zoe"));

    let gone = bearer("DELETE", &format!("{users}/{id}"), &admin.access, &json!({}));
    assert_eq!(world.send(gone).await.status, 204);
    zoe.get(&world, users).await.problem(401);
    zoe.renew(&world).await.problem(401);
    assert!(admin.is_in(&world).await);
}

#[tokio::test]
async fn a_token_ends_with_its_time_and_a_session_without_a_refresh() {
    let world = world().await;
    let found = login(&world, "admin", PASSWORD).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3_601)).await;
    tokio::time::resume();
    let answer = found.get(&world, "/elsa/api/workflow-definitions").await;
    assert!(answer.problem(401).contains("has expired"));
    let found = Login::of(found.renew(&world).await);
    assert!(found.is_in(&world).await);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(7_201)).await;
    tokio::time::resume();
    assert!(found.renew(&world).await.problem(401).contains("has expired"));
}
