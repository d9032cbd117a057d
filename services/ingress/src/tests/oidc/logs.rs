//! What the log says about tokens and their issuer.

use testkit::Log;
use tracing::Level;

use super::issuer::Manner;
use super::*;

#[tokio::test]
async fn no_token_is_logged_and_an_outage_once() {
    let (log, _logging) = Log::begin(Level::TRACE);

    let key = Key::es256("one");
    let (world, issuer) = world(&key).await;
    let good = key.sign("ES256", &claims(&world));
    let late = key.sign("ES256", &with(&world, "exp", json!(1)));
    let unknown = Key::es256("secret-looking-id").sign("ES256", &claims(&world));
    get(&world, &good).await.expect(200);
    assert_eq!(log.count("the issuer's keys are known"), 1);
    issuer.behave(Manner::Status(500));
    for _ in 0..5 {
        later(Duration::from_secs(31)).await;
        get(&world, &late).await.problem(401);
        get(&world, &unknown).await.problem(503);
        get(&world, &good).await.expect(200);
    }
    assert_eq!(log.count("the issuer's keys cannot be fetched"), 1);
    issuer.behave(Manner::Good);
    later(Duration::from_secs(31)).await;
    get(&world, &unknown).await.problem(401);
    assert_eq!(log.count("the issuer's keys are known"), 2);
    let negotiate = format!("/elsa/hubs/workflow-instance/negotiate?access_token={good}");
    world.post(&negotiate, &json!({})).await.expect(200);
    let text = log.text();
    assert!(text.contains("a token is refused"), "{text}");
    for token in [&good, &late, &unknown] {
        for part in token.split('.') {
            assert!(!text.contains(part), "a part of a token is in the log");
        }
    }
    assert!(!text.contains("secret-looking-id"));
}
