//! What operators see: who changed what, which nodes are missing, what is said below a path.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use chassis::Life;
use chassis::http::Encrypted;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::world::{BOUND, World, waits_for, writes_line};
use crate::{Config, serve};

const API: &str = "/elsa/api";

/// Every entry of the audit log as `what target`, oldest first.
async fn entries(world: &World) -> Vec<String> {
    let audit = world.get(&format!("{API}/audit?pageSize=1000")).await.expect(200);
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let items = audit["items"].as_array().unwrap().iter().rev();
    items.map(|entry| format!("{} {}", text(entry, "what"), text(entry, "target"))).collect()
}

async fn has(world: &World, expected: &[String]) {
    testkit::eventually("the audit log is written", BOUND, async || {
        let entries = entries(world).await;
        expected.iter().all(|one| entries.contains(one))
    })
    .await;
}

#[tokio::test]
async fn resumes_cancels_events_and_bulk_actions_are_in_the_audit_log() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        let id = world.begin("waits").await;
        world.until(&id, "Suspended").await;
        ids.push(id);
    }
    let [resumed, cancelled, raised, many, deleted, filtered] = ids.as_slice() else {
        unreachable!()
    };
    let path = format!("{API}/workflow-instances/{resumed}/resume");
    world.post(&path, &json!({})).await.expect(200);
    let path = format!("{API}/cancel/workflow-instances/{cancelled}");
    world.post(&path, &json!({"reason": "enough"})).await.expect(200);
    let body = json!({"workflowInstanceId": raised, "workflowExecutionMode": "Synchronous"});
    world.post(&format!("{API}/events/go/trigger"), &body).await.expect(200);
    let path = format!("{API}/bulk-actions/cancel/workflow-instances");
    world.post(&path, &json!({"ids": [many]})).await.expect(200);
    let path = format!("{API}/bulk-actions/delete/workflow-instances");
    world.post(&path, &json!({"ids": [many, deleted, "nothing"]})).await.expect(200);
    let path = format!("{API}/bulk-actions/delete/workflow-instances/by-filter");
    world.post(&path, &json!({"workflowInstanceIds": [filtered]})).await.expect(200);
    let path = format!("{API}/bulk-actions/retract/workflow-definitions/by-definition-ids");
    world.post(&path, &json!({"definitionIds": ["waits"]})).await.expect(200);
    let path = format!("{API}/bulk-actions/publish/workflow-definitions/by-definition-ids");
    world.post(&path, &json!({"definitionIds": ["waits"]})).await.expect(200);
    world.post(&format!("{API}/tasks/unknown/complete"), &json!({})).await.expect(202);
    let expected = [
        format!("instance.resume {resumed}"),
        format!("instance.cancel {cancelled}"),
        "event.raise go".to_owned(),
        format!("instance.cancel {many}"),
        format!("instance.delete {many}"),
        format!("instance.delete {deleted}"),
        format!("instance.delete {filtered}"),
        "definition.retract waits".to_owned(),
        "definition.publish waits".to_owned(),
        "task.complete unknown".to_owned(),
    ];
    has(&world, &expected).await;
    let entries = entries(&world).await;
    assert!(!entries.iter().any(|entry| entry.ends_with(" nothing")), "{entries:?}");
}

#[tokio::test]
async fn starts_are_in_the_audit_log_where_that_is_wanted() {
    for audits_starts in [true, false] {
        let world = World::with(Config { audits_starts, ..Config::default() }).await;
        world.publish("line", writes_line()).await;
        let begin = json!({"definitionId": "line", "instanceId": "one"});
        world.post(&format!("{API}/workflow-instances"), &begin).await.expect(200);
        let execute = format!("{API}/workflow-definitions/line/execute");
        world.post(&execute, &json!({"instanceId": "two"})).await.expect(200);
        // Written together with the starts, and after them.
        world.post(&format!("{API}/tasks/unknown/complete"), &json!({})).await.expect(202);
        has(&world, &["task.complete unknown".to_owned()]).await;
        let all = entries(&world).await;
        for id in ["one", "two"] {
            assert_eq!(all.contains(&format!("instance.start {id}")), audits_starts, "{all:?}");
        }
    }
}

#[tokio::test]
async fn entries_that_wait_are_written_when_the_server_ends() {
    let world = World::new().await;
    let caller = crate::auth::caller::Caller::of_start();
    for number in 0..1_200 {
        world.app.audit_later(&caller, "event.raise", &format!("e{number}"), Value::Null).await;
    }
    world.app.close().await;
    let filter = store::AuditFilter::default();
    let written = store::Keys::audits(&world.store, &filter, store::Page::first()).await.unwrap();
    assert_eq!(written.total, 1_200);
}

#[tokio::test]
async fn a_lost_outcome_is_found_long_before_the_caller_gives_up() {
    let config = Config { answer_time_max: Duration::from_secs(30), ..Config::default() };
    let world = World::with(config).await;
    world.publish("quick", writes_line()).await;
    world.broken.deafen();
    let began = Instant::now();
    let path = format!("{API}/workflow-definitions/quick/execute");
    let body = world.post(&path, &json!({})).await.expect(200);
    assert_eq!(body["workflowState"]["subStatus"], "Finished", "{body:#}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn without_an_answer_only_a_notifier_that_is_gone_meanwhile_is_missing() {
    let world = World::new().await;
    let notifier = world.join("frozen", "cache-notifier").await;
    let _other = world.join("other", "cache-notifier").await;
    let is_known = async || world.app.cx.presence.live().len() == 3;
    testkit::eventually("the nodes know each other", BOUND, is_known).await;
    // The notifiers' answers are lost, as if they were frozen.
    world.broken.deafen();
    world.broken.lose_notice();
    let model = json!({"definitionId": "d", "root": writes_line()});
    let path = format!("{API}/workflow-definitions");
    let publication = json!({"model": model, "publish": true});
    let goes = async {
        let is_asked = async || world.broken.has_lost_notice();
        testkit::eventually("a notifier is asked", BOUND, is_asked).await;
        notifier.leave().await;
    };
    let (answer, ()) = tokio::join!(world.post(&path, &publication), goes);
    let body = answer.body;
    assert_eq!(body["everywhere"], false, "{body:#}");
    assert_eq!(body["missing"], json!(["frozen"]), "{body:#}");
    let why = body["unconfirmed"].as_str().unwrap_or_default();
    assert!(why.starts_with("no cache-notifier has answered within 12 s"), "{body:#}");
    assert!(why.contains("/health/live"), "{body:#}");
}

#[tokio::test]
async fn a_notifier_that_hangs_is_not_the_only_one_that_is_asked() {
    let world = World::new().await;
    world.broken.lose_notice();
    let model = json!({"definitionId": "d", "root": writes_line()});
    let path = format!("{API}/workflow-definitions");
    let body = world.post(&path, &json!({"model": model, "publish": true})).await.body;
    assert_eq!((&body["everywhere"], &body["missing"]), (&json!(true), &json!([])), "{body:#}");
    assert!(body.get("unconfirmed").is_none(), "{body:#}");
}

#[tokio::test]
async fn links_and_workflows_are_refused_without_https_where_it_is_required() {
    let world = World::with(Config { requires_https: true, ..Config::default() }).await;
    let paths = ["/workflows/hello", "/workflows", "/bookmarks/resume?t=x", "/events/trigger?t=x"];
    let below = ["/elsa/api/bookmarks/resume?t=x", "/api/events/trigger?t=x"];
    for path in paths.into_iter().chain(below) {
        let refused = world.get(path).await;
        assert_eq!(refused.status, 403, "{path}");
        assert_eq!(refused.body["type"], "urn:staunch:problem:https-required", "{path}");
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        request.extensions_mut().insert(Encrypted);
        assert_ne!(world.send(request).await.status, 403, "{path}");
    }
    world.get(&format!("{API}/workflow-definitions")).await.expect(200);
    world.get("/health/live").await.expect(200);
}

async fn ask(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn everything_is_there_below_the_path_of_a_proxy_too() {
    let world = World::without_executor(Config::default()).await;
    let life = Life::new(Duration::from_secs(30));
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        base_path: Some("/staunch".to_owned()),
        ..Config::default()
    };
    let address = serve::start(world.context(), config, &life).await.unwrap();
    for path in ["/health/live", "/staunch/health/live", "/staunch/elsa/api/workflow-definitions"] {
        let answer = ask(address, path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    // A proxy passes the path on, or strips it.
    for prefix in ["/staunch", ""] {
        for path in ["/docs", "/docs/book", "/studio"] {
            let redirected = ask(address, &format!("{prefix}{path}")).await.to_lowercase();
            let expected = format!("\r\nlocation: /staunch{path}/\r\n");
            assert!(redirected.contains(&expected), "{prefix}{path}: {redirected}");
        }
    }
    let page = ask(address, "/staunch/docs/swagger-initializer.js").await;
    assert!(page.contains("../openapi.json"), "{page}");
    let document = ask(address, "/staunch/openapi.json").await;
    assert!(document.contains("\"url\": \"/staunch\""), "the requests of the page go there, too");
    assert!(ask(address, "/staunch/docs/book/deploy").await.contains("href=\"book.css\""));
    assert!(document.contains("\"/staunch/docs/book/\""), "{document}");
    assert!(ask(address, "/staunchly/health/live").await.starts_with("HTTP/1.1 404"));
    life.begin_stop();
    assert!(life.finished().await);
}

#[tokio::test]
async fn a_server_that_leaves_is_not_ready_and_still_answers() {
    let world = World::without_executor(Config::default()).await;
    let life = Life::new(Duration::from_secs(30));
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = Config { listen, ..Config::default() };
    let address = serve::start(world.context(), config, &life).await.unwrap();
    assert!(ask(address, "/health/ready").await.starts_with("HTTP/1.1 200"));
    life.begin_leaving();
    testkit::eventually("readiness says so", BOUND, async || {
        ask(address, "/health/ready").await.starts_with("HTTP/1.1 503")
    })
    .await;
    let answer = ask(address, "/elsa/api/workflow-definitions").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    life.begin_stop();
    assert!(life.finished().await);
}

/// A proxy without health checks learns of the end by a refused connection: what it has sent before
/// is answered.
#[tokio::test]
async fn the_last_requests_of_a_server_that_has_left_are_answered() {
    let world = World::without_executor(Config::default()).await;
    let life = Life::new(Duration::from_secs(30));
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = Config { listen, ..Config::default() };
    let address = serve::start(world.context(), config, &life).await.unwrap();
    life.begin_leaving();
    // The time of a `drain-delay`, which is to be longer than the last requests take.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let mut last = TcpStream::connect(address).await.unwrap();
    life.begin_stop();
    testkit::eventually("no further connection is taken", BOUND, async || {
        TcpStream::connect(address).await.is_err()
    })
    .await;
    let request = "GET /elsa/api/workflow-definitions HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    last.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    last.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(life.finished().await);
}
