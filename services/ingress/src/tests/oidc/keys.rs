//! The keys of an issuer: their rotation, their faults, and the outages of the issuer.

use futures::FutureExt as _;
use futures::future::join_all;

use super::issuer::Manner;
use super::*;

/// As `refetch_pause` has it, and a moment.
const PAUSE: Duration = Duration::from_secs(31);

async fn status(world: &World, token: &str) -> u16 {
    get(world, token).await.status.as_u16()
}

/// The issuer cannot be asked: 503, and when to ask again.
async fn away(world: &World, what: &str, token: &str) {
    let answer = get(world, token).await;
    assert_eq!(answer.status, 503, "{what}: {:#}", answer.body);
    let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=30).contains(&after), "{what}: {after}");
    assert_eq!(answer.header("www-authenticate"), None, "{what}");
    assert!(answer.problem(503).contains("the issuer of the token does not answer"), "{what}");
}

#[tokio::test]
async fn an_unknown_key_is_asked_for_once_in_thirty_seconds() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let good = key.sign("ES256", &claims(&world));
    get(&world, &good).await.expect(200);
    assert_eq!(issuer.fetches(), 1);
    let unknown = Key::es256("two");
    let flood = async |expected: usize| {
        let tokens: Vec<_> = (0..20).map(|_| unknown.sign("ES256", &claims(&world))).collect();
        let answers = join_all(tokens.iter().map(|token| status(&world, token))).await;
        assert_eq!(answers, [401; 20]);
        assert_eq!(issuer.fetches(), expected);
    };
    flood(1).await;
    later(PAUSE).await;
    flood(2).await;
    flood(2).await;
    // What is no good otherwise causes no fetch.
    later(PAUSE).await;
    for (name, value) in [("aud", json!("other")), ("exp", json!(1)), ("iss", json!("other"))] {
        let token = unknown.sign("ES256", &with(&world, name, value));
        assert_eq!(status(&world, &token).await, 401);
    }
    assert_eq!(issuer.fetches(), 2);
    // A client that gives up takes nobody's answer away.
    issuer.publish(&[&key, &unknown]);
    let token = unknown.sign("ES256", &claims(&world));
    assert!(get(&world, &token).now_or_never().is_none());
    get(&world, &token).await.expect(200);
    assert_eq!(issuer.fetches(), 3);
    get(&world, &good).await.expect(200);
}

#[tokio::test]
async fn a_rotated_key_is_taken_over() {
    let (old, new) = (Key::es256("old"), Key::rsa("new"));
    let (world, issuer) = world(&old).await;
    let (by_old, by_new) = (old.sign("ES256", &claims(&world)), new.sign("RS256", &claims(&world)));
    get(&world, &by_old).await.expect(200);
    issuer.publish(&[&new]);
    refused(&world, "within 30 s", &by_new, "unknown key").await;
    later(PAUSE).await;
    get(&world, &by_new).await.expect(200);
    refused(&world, "withdrawn", &by_old, "unknown key").await;
    // Without any request, too: a key that is withdrawn is refused some minutes later.
    issuer.publish(&[&old]);
    let before = issuer.fetches();
    later(Duration::from_secs(301)).await;
    testkit::eventually("the keys are fetched", BOUND, async || issuer.fetches() > before).await;
    testkit::eventually("the old key is back", BOUND, async || {
        status(&world, &by_old).await == 200
    })
    .await;
    refused(&world, "withdrawn again", &by_new, "unknown key").await;
}

#[tokio::test]
async fn an_outage_of_the_issuer_is_not_noticed_until_its_keys_are_old() {
    let key = Key::es256("one");
    let (world, mut issuer) = world(&key).await;
    get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);
    issuer.stop().await;
    let unknown = Key::es256("two");
    for hour in 0..23 {
        get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);
        if hour > 0 {
            away(&world, "an unknown key", &unknown.sign("ES256", &claims(&world))).await;
        }
        let forged = Key::es256("one").sign("ES256", &claims(&world));
        refused(&world, "forged meanwhile", &forged, "signature").await;
        later(Duration::from_secs(3_600)).await;
    }
    later(Duration::from_secs(3_601)).await;
    away(&world, "its keys are too old", &key.sign("ES256", &claims(&world))).await;
    issuer.start_again().await;
    testkit::eventually("the issuer is back", BOUND, async || {
        status(&world, &key.sign("ES256", &claims(&world))).await == 200
    })
    .await;
}

#[tokio::test]
async fn a_server_starts_without_its_issuer() {
    let key = Key::es256("one");
    let mut issuer = Issuer::start(&[&key]).await;
    issuer.stop().await;
    let world = World::without_executor(config(&issuer)).await;
    let token = key.sign("ES256", &claims(&world));
    away(&world, "no keys", &token).await;
    let expired = key.sign("ES256", &with(&world, "exp", json!(1)));
    refused(&world, "no good anyway", &expired, "has expired").await;
    world.get("/health/live").await.expect(200);
    issuer.start_again().await;
    testkit::eventually("the issuer is there", BOUND, async || status(&world, &token).await == 200)
        .await;
}

#[tokio::test]
async fn a_slow_issuer_holds_nobody_up_for_long() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    issuer.behave(Manner::Silent);
    let mut config = config(&issuer);
    config.oidc.as_mut().unwrap().fetch_time_max = Duration::from_millis(300);
    let world = World::without_executor(config).await;
    let token = key.sign("ES256", &claims(&world));
    let began = std::time::Instant::now();
    join_all((0..20).map(|_| away(&world, "silent", &token))).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    issuer.behave(Manner::Good);
    testkit::eventually("the issuer answers", BOUND, async || status(&world, &token).await == 200)
        .await;
    issuer.behave(Manner::Silent);
    get(&world, &token).await.expect(200);
}

#[tokio::test]
async fn what_an_issuer_sends_is_read_with_care() {
    let key = Key::es256("one");
    let secret = json!({"kty": "oct", "kid": "one", "k": "AAAA", "alg": "HS256"});
    let evil = Key::es256("one");
    let other = Issuer::start(&[&evil]).await;
    let named = |issuer: &str, keys: &str| json!({"issuer": issuer, "jwks_uri": keys});
    for manner in [
        Manner::Keys(json!({"keys": [secret]}).to_string()),
        Manner::Keys(json!({"keys": []}).to_string()),
        Manner::Keys(json!({"keys": [key.jwk()], "x": "x".repeat(300 * 1_024)}).to_string()),
        Manner::Keys(json!({"keys": vec![key.jwk(); 101]}).to_string()),
        Manner::Keys("<html>".to_owned()),
        Manner::Keys(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        Manner::Status(500),
        Manner::Status(404),
        Manner::Redirect(format!("{}/.well-known/openid-configuration", other.url())),
        Manner::Discovery(named("https://evil.example", "https://evil.example/keys")),
        Manner::Discovery(named(other.url(), &format!("{}/keys", other.url()))),
        Manner::Discovery(named("issuer", "file:///etc/passwd")),
        Manner::Discovery(named("issuer", "http://192.0.2.1/keys")),
        Manner::Discovery(named("issuer", "keys")),
        Manner::Discovery(json!({"issuer": "issuer"})),
        Manner::Discovery(json!({"issuer": "issuer", "jwks_uri": "x".repeat(100 * 1_024)})),
    ] {
        let issuer = Issuer::start(&[&key]).await;
        let manner = match manner {
            Manner::Discovery(mut document) if document["issuer"] == "issuer" => {
                document["issuer"] = json!(issuer.url());
                Manner::Discovery(document)
            }
            manner => manner,
        };
        issuer.behave(manner.clone());
        let world = World::without_executor(config(&issuer)).await;
        let what: String = format!("{manner:?}").chars().take(100).collect();
        away(&world, &what, &key.sign("ES256", &claims(&world))).await;
        away(&world, &what, &evil.sign("ES256", &claims(&world))).await;
    }
    assert_eq!(other.fetches(), 0, "nobody is sent elsewhere");
}

#[tokio::test]
async fn a_bad_answer_leaves_the_known_keys_in_force() {
    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let token = key.sign("ES256", &claims(&world));
    get(&world, &token).await.expect(200);
    let secret = json!({"kty": "oct", "kid": "one", "k": "AAAA"});
    for manner in [
        Manner::Keys(json!({"keys": [secret]}).to_string()),
        Manner::Keys(json!({"keys": [key.jwk()], "x": "x".repeat(300 * 1_024)}).to_string()),
        Manner::Status(500),
    ] {
        issuer.behave(manner);
        later(PAUSE).await;
        away(&world, "an unknown key", &Key::es256("two").sign("ES256", &claims(&world))).await;
        get(&world, &token).await.expect(200);
    }
    // Beside a good key, a symmetric one is left out.
    let mixed = json!({"keys": [{"kty": "oct", "kid": "two", "k": "AAAA"}, key.jwk()]});
    issuer.behave(Manner::Keys(mixed.to_string()));
    later(PAUSE).await;
    let by_secret = Key::es256("two").sign("ES256", &claims(&world));
    refused(&world, "a symmetric key", &by_secret, "unknown key").await;
    get(&world, &token).await.expect(200);
}

#[tokio::test]
async fn keys_are_fetched_from_a_url_of_the_settings() {
    let key = Key::es256("one");
    let issuer = Issuer::start(&[&key]).await;
    // It has no discovery document.
    issuer.behave(Manner::Status(404));
    let mut config = config(&issuer);
    config.oidc.as_mut().unwrap().jwks_url = Some(format!("{}/keys", issuer.url()));
    let world = World::without_executor(config).await;
    get(&world, &key.sign("ES256", &claims(&world))).await.expect(200);
    let document = world.get("/openapi.json").await.expect(200);
    assert_eq!(document["components"]["securitySchemes"]["oidc"]["scheme"], "bearer");
}
