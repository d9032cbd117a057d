use std::time::Duration;

use axum::Router;
use chassis::http::Peer;
use model::Timestamp;
use store::Sessions as _;

use super::super::world::send_to;
use super::*;

fn guess(name: &str, password: &str, address: &str) -> Request<Body> {
    let body = json!({"username": name, "password": password});
    let mut request = json_request("POST", "/elsa/api/identity/login", &[], &body);
    request.extensions_mut().insert(Peer(address.parse().unwrap()));
    request
}

/// A server that stops its clock between the guesses: hashing takes real time.
async fn frozen(config: Config) -> (World, Router) {
    let world = world_with(config).await;
    let other = world.another().await;
    tokio::time::pause();
    (world, other)
}

#[tokio::test]
async fn guesses_of_an_account_are_slowed_at_every_node() {
    let (world, other) = frozen(config()).await;
    for number in 0..5 {
        let (name, password) = ("admin", format!("wrong password {number}"));
        let request = guess(name, &password, "10.0.0.1:1");
        let answer = if number % 2 == 0 {
            world.send(request).await
        } else {
            send_to(&other, request).await
        };
        assert_eq!(answer.expect(200)["isAuthenticated"], false);
    }
    for (router, address) in [(None, "10.0.0.1:1"), (Some(&other), "10.9.9.9:1")] {
        let request = guess("admin", PASSWORD, address);
        let answer = match router {
            Some(router) => send_to(router, request).await,
            None => world.send(request).await,
        };
        assert_eq!(answer.header("retry-after"), Some("1"), "the right password waits, too");
        assert!(answer.problem(429).contains("of this account"));
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    let answer = world.send(guess("admin", "wrong again", "10.0.0.1:1")).await;
    assert_eq!(answer.expect(200)["isAuthenticated"], false);
    let answer = world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await;
    assert_eq!(answer.header("retry-after"), Some("2"), "the pause doubles");
    answer.problem(429);
    tokio::time::advance(Duration::from_secs(2)).await;
    let answer = world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await;
    assert_eq!(answer.expect(200)["isAuthenticated"], true);
    for _ in 0..5 {
        let answer = world.send(guess("admin", "wrong password", "10.0.0.1:1")).await;
        assert_eq!(answer.expect(200)["isAuthenticated"], false, "a success forgives the account");
    }
    world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await.problem(429);
}

#[tokio::test]
async fn guesses_from_an_address_are_slowed_over_all_accounts() {
    let mut config = config();
    config.identity.address_limit.free = 4;
    let (world, _) = frozen(config).await;
    for _ in 0..3 {
        world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await.expect(200);
    }
    for number in 0..4 {
        let name = format!("nobody{number}");
        let answer = world.send(guess(&name, PASSWORD, "[::ffff:10.0.0.1]:7")).await;
        assert_eq!(answer.expect(200)["isAuthenticated"], false, "successes do not count");
    }
    let answer = world.send(guess("admin", PASSWORD, "10.0.0.1:2")).await;
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(answer.problem(429).contains("from this address"));
    let answer = world.send(guess("admin", PASSWORD, "10.0.0.2:1")).await;
    assert_eq!(answer.expect(200)["isAuthenticated"], true);
}

#[tokio::test]
async fn a_right_login_leaves_the_pause_of_its_address_as_it_was() {
    let mut config = config();
    config.identity.address_limit.free = 4;
    let (world, other) = frozen(config).await;
    for number in 0..4 {
        let name = format!("nobody{number}");
        world.send(guess(&name, PASSWORD, "10.0.0.1:1")).await.expect(200);
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    for _ in 0..3 {
        let answer = world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await;
        assert_eq!(answer.expect(200)["isAuthenticated"], true, "the pause is over");
        let answer = send_to(&other, guess("admin", PASSWORD, "10.0.0.1:2")).await;
        assert_eq!(answer.expect(200)["isAuthenticated"], true, "at the other node as well");
    }
    world.send(guess("nobody", PASSWORD, "10.0.0.1:1")).await.expect(200);
    let answer = world.send(guess("admin", PASSWORD, "10.0.0.1:1")).await;
    assert_eq!(answer.header("retry-after"), Some("2"), "failures are counted as before");
    answer.problem(429);
}

#[tokio::test]
async fn many_guesses_at_once_gain_nothing() {
    let (world, _) = frozen(config()).await;
    let guesses = (0..20).map(|number| {
        let password = format!("wrong password {number}");
        let request = guess("admin", &password, "10.0.0.1:1");
        world.send(request)
    });
    let answers = futures::future::join_all(guesses).await;
    let tried = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 429).count();
    assert_eq!((tried, refused), (5, 15));
}

#[tokio::test]
async fn expired_counts_and_sessions_are_removed() {
    let (world, _) = frozen(config()).await;
    world.send(guess("nobody", PASSWORD, "10.0.0.1:1")).await.expect(200);
    let session = login(&world, "admin", PASSWORD).await;
    tokio::time::advance(Duration::from_secs(3 * 3_600)).await;
    world.send(guess("nobody", PASSWORD, "10.0.0.2:1")).await.expect(200);
    let id = members(&session.access)["sid"].as_str().unwrap().to_owned();
    tokio::time::resume();
    // As seen before it expired, it is gone only once it is removed.
    testkit::eventually("the session is removed", super::super::world::BOUND, async || {
        world.store.session(&id, Timestamp::from_millis(0)).await.unwrap().is_none()
    })
    .await;
}
