//! Calls that are made again after failures.

use engine::testing::Player;
use model::{Retry, SubStatus, What};
use serde_json::{Value, json};

use super::{oversights, player, problems};

/// A call with this custom property, whose result writes a line.
fn document(property: &str, value: Value) -> Value {
    let line = |text: &str| json!({"type": "WriteLine", "text": text});
    json!({"type": "SendHttpRequest", "id": "call", "url": "http://example.test/x",
        "customProperties": {property: value},
        "expectedStatusCodes": [{"statusCode": 200, "activity": line("good")}],
        "unmatchedStatusCode": line("bad"), "failedToConnect": line("unreachable")})
}

fn call_key(player: &Player<'_>) -> String {
    player.state().calls.values().next().map(|call| call.key.clone()).unwrap_or_default()
}

fn retries<'p>(player: &'p Player<'_>) -> Vec<&'p str> {
    let written = player.journal.iter().filter(|entry| entry.what == What::Retrying);
    written.filter_map(|entry| entry.message.as_deref()).collect()
}

#[test]
fn a_failed_call_is_made_again_with_its_key_until_it_succeeds() {
    let mut player = player(document("retry", json!({"attempts": 3, "delay": "1m"})));
    player.start(json!({}));
    let key = call_key(&player);
    for (attempt, result) in
        [(1, json!({"statusCode": 503})), (2, json!({"error": "connect", "message": "gone"}))]
    {
        assert!(player.resume("Call", result), "attempt {attempt}");
        assert_eq!(player.status(), SubStatus::Suspended);
        assert!(player.state().calls.is_empty());
        assert!(player.fire_timer(), "the pause after attempt {attempt}");
        assert_eq!((player.status(), call_key(&player)), (SubStatus::Executing, key.clone()));
    }
    assert!(player.resume("Call", json!({"statusCode": 200})));
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["good"]));
    assert_eq!(
        retries(&player),
        [
            "attempt 1 of 3 failed: the answer has the status code 503; the next follows in 00:01:00",
            "attempt 2 of 3 failed: gone; the next follows in 00:02:00",
        ]
    );
}

#[test]
fn the_activity_gets_the_result_of_the_last_attempt() {
    let check = |result: Value, retried: usize, line: &str| {
        let mut player = player(document("retry", json!({"attempts": 2, "delay": "1m"})));
        player.start(json!({}));
        while player.resume("Call", result.clone()) && player.fire_timer() {}
        assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec![line]));
        assert_eq!(retries(&player).len(), retried, "{result}");
    };
    check(json!({"statusCode": 500}), 1, "bad");
    check(json!({"statusCode": 404}), 0, "bad");
    check(json!({"error": "connect", "message": "gone"}), 1, "unreachable");
    check(json!({"error": "refused", "message": "not allowed"}), 0, "unreachable");
}

#[test]
fn the_other_side_may_ask_for_a_longer_pause() {
    let mut player = player(document("retry", json!({})));
    player.start(json!({}));
    let busy = json!({"statusCode": 429, "headers": {"retry-after": "30"}});
    player.resume("Call", busy);
    let pause = player.state().bookmarks.values().next().unwrap();
    assert_eq!(pause.due_at, Some(engine::testing::env(30_000).now));
}

#[test]
fn while_a_client_waits_short_pauses_do_not_suspend() {
    let check = |delay: &str, held: bool| {
        let retry = json!({"delay": delay, "on": [503]});
        let mut player = player(json!({"type": "Sequence", "activities": [
            {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"},
            document("retry", retry),
            {"type": "WriteHttpResponse", "content": "answered"}
        ]}));
        player.start_at(Some("h"), json!({}));
        player.resume("Call", json!({"statusCode": 503}));
        let call = player.state().calls.values().next();
        let not_before = call.and_then(|call| call.tries.as_ref()?.not_before);
        assert_eq!(not_before.is_some(), held, "{delay}");
    };
    check("1s", true);
    check("1m", false);
}

#[test]
fn a_call_is_not_held_for_a_client_for_ever() {
    let mut player = player(document(
        "retry",
        json!({"attempts": 9, "backoff": "constant",
        "delay": "4s"}),
    ));
    player.start(json!({}));
    let mut held = Vec::new();
    for millis in [0, 4_000, 8_000] {
        player.at(engine::testing::env(millis).now.as_millis());
        assert!(player.resume("Call", json!({"statusCode": 503})));
        held.push(!player.state().calls.is_empty());
    }
    assert_eq!(held, [true, true, false]);
}

#[test]
fn a_pause_ends_with_its_activity() {
    let mut player = player(json!({"type": "Fork", "joinMode": "WaitAny", "branches": [
        document("retry", json!({})), {"type": "Event", "eventName": "Stop"}
    ]}));
    player.start(json!({}));
    player.resume("Call", json!({"statusCode": 503}));
    player.resume("Elsa.Event", json!({}));
    assert_eq!(player.status(), SubStatus::Finished);
}

#[test]
fn strategies_of_elsa_are_found_by_name_or_by_expression() {
    let named = json!({"mode": "Identifier", "strategyId": "http"});
    let script = "({maxRetryAttempts: 2, delay: '00:00:05', backoffType: 'Constant'})";
    let expression = json!({"type": "JavaScript", "value": script});
    let computed = json!({"mode": "Expression", "expression": expression});
    let check = |strategy: &Value, attempts: u32| {
        let mut player = player(document("resilienceStrategy", strategy.clone()));
        let retry = Retry { attempts: 7, ..Retry::default() };
        player.configure(|installation| drop(installation.retries.insert("http".into(), retry)));
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        assert_eq!(call.tries.as_ref().map(|tries| tries.retry.attempts), Some(attempts));
    };
    check(&named, 7);
    check(&computed, 3);
    let mut player = player(document("resilienceStrategy", named));
    player.start(json!({}));
    assert!(player.lines()[0].starts_with("there is no resilience strategy http here"));
    player.resume("Call", json!({"statusCode": 503}));
    assert_eq!(player.lines()[1..], ["bad"]);
}

#[test]
fn mistakes_are_named_when_a_definition_is_published() {
    let check = |property: &str, value: Value, said: &str| {
        let found = problems(document(property, value));
        assert!(found.len() == 1 && found[0].contains(said), "{found:?}");
    };
    check("retry", json!({"attempts": "many"}), "attempts: \"many\" is not a whole number");
    check("resilienceStrategy", json!({"mode": "Magic"}), "the mode \"Magic\" is not");
    check("resilienceStrategy", json!(5), "5 is not an object");
    let line = json!({"type": "WriteLine", "customProperties": {"retry": {}}});
    assert!(oversights(line)[0].contains("Elsa.WriteLine makes no calls"));
}
