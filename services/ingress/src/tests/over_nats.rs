//! The HTTP API for clients that have only NATS.

use std::time::Duration;

use bus::Wire as _;
use chassis::{Auth, Life};
use protocol::Message;
use serde_json::{Value, json};

use super::world::{BOUND, World, waits_for};
use crate::{Config, serve};

const KEY: &str = "a-bootstrap-key-of-length";

/// An ingress that answers over NATS.
struct Server {
    world: World,
    life: Life,
}

impl Server {
    async fn start(config: Config) -> Self {
        let world = World::with(config.clone()).await;
        let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..config };
        let life = Life::new(Duration::from_secs(30));
        serve::start(world.context(), config, &life).await.unwrap();
        Self { world, life }
    }

    async fn ask(&self, rest: &str, headers: &[(&str, &str)], body: &Value) -> (Message, Value) {
        let mut message =
            Message { subject: format!("staunch.api.http.{rest}"), ..Message::default() };
        for (name, value) in headers {
            message.headers.insert((*name).to_owned(), (*value).to_owned());
        }
        if !body.is_null() {
            message.payload = serde_json::to_vec(body).unwrap();
        }
        let answer = self.world.bus.request(message, BOUND).await.unwrap();
        let body = serde_json::from_slice(&answer.payload).unwrap_or_default();
        (answer, body)
    }

    /// The body of an answer, once its status is the expected one.
    async fn get(&self, rest: &str, status: u16, body: &Value) -> Value {
        let (answer, got) = self.ask(rest, &[], body).await;
        assert_eq!(answer.header("Staunch-Status"), Some(&*status.to_string()), "{rest}: {got:#}");
        got
    }

    async fn close(self) {
        self.life.begin_stop();
        assert!(self.life.finished().await);
    }
}

#[tokio::test]
async fn every_operation_on_an_instance_can_be_asked_for_over_nats() {
    let server = Server::start(Config::default()).await;
    let root = json!({"type": "Elsa.Flowchart", "id": "flow", "activities": [
        {"type": "Elsa.WriteLine", "id": "say", "text": "hello"},
        {"type": "Elsa.Event", "id": "wait", "eventName": "go"}],
        "connections": [{"source": "say", "target": "wait"}]});
    let definition = json!({"definitionId": "w.x", "name": "w", "root": root});
    server.get("post.workflow-definitions", 201, &definition).await;
    let begin = json!({"instanceId": "order-7"});
    let begun = server.get("post.workflow-definitions.w=2Ex.dispatch", 200, &begin).await;
    let id = begun["workflowInstanceId"].as_str().unwrap().to_owned();
    assert_eq!(id, "order-7");
    server.world.until(&id, "Suspended").await;
    let at = "workflow-instances.order-7";
    // A dry run, a pause, an alteration, a restart, an export and an import.
    let moved = json!({"alterations": [{"type": "Migrate", "targetVersion": 7}], "dryRun": true});
    let run = json!({"workflowInstanceIds": [id], "alterations": [{"type": "Pause"}]});
    let dry = server.get(&format!("post.{at}.alter"), 200, &moved).await;
    assert_eq!(dry["fits"], false, "{dry:#}");
    server.get("post.alterations.run", 200, &run).await;
    let shown = server.get(&format!("get.{at}"), 200, &Value::Null).await;
    assert_eq!(shown["workflowState"]["isPaused"], true, "{shown:#}");
    let run = json!({"workflowInstanceIds": [id], "alterations": [{"type": "Unpause"}]});
    server.get("post.alterations.run", 200, &run).await;
    let again =
        server.get(&format!("post.{at}.restart"), 200, &json!({"activityId": "wait"})).await;
    assert_ne!(again["workflowInstanceId"], "order-7");
    let file = server.get(&format!("get.{at}.export"), 200, &Value::Null).await;
    assert_eq!(file["staunchInstance"], 1);
    let import = "post.bulk-actions.import.workflow-instances";
    let problem = server.get(import, 409, &file).await;
    assert!(problem["detail"].as_str().unwrap().contains("already"), "{problem:#}");
    // A plan over all that wait, in the background.
    let filter = json!({"definitionIds": ["w.x"]});
    let dry = server.get("post.alterations.dry-run", 200, &filter).await;
    assert_eq!(dry["totalCount"], 2, "{dry:#}");
    let plan = json!({"id": "p", "alterations": [{"type": "Cancel"}], "filter": filter});
    server.get("post.alterations.submit", 200, &plan).await;
    testkit::eventually("the plan is carried out", BOUND, async || {
        server.get("get.alterations.p", 200, &Value::Null).await["plan"]["status"] == "Completed"
    })
    .await;
    server.world.until(&id, "Cancelled").await;
    let (answer, page) = server
        .ask("get.workflow-instances", &[("Staunch-Query", "pageSize=1&page=0")], &Value::Null)
        .await;
    assert_eq!((page["items"].as_array().unwrap().len(), &page["totalCount"]), (1, &json!(2)));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    server.close().await;
}

#[tokio::test]
async fn what_is_no_request_of_the_api_is_refused_over_nats() {
    let server = Server::start(Config::default()).await;
    server.world.publish("w", waits_for("go")).await;
    for (rest, headers, body, status, part) in [
        ("brew.workflow-instances", [].as_slice(), json!(null), 400, "no method \"BREW\""),
        ("get.workflow-instances.a=4", &[], json!(null), 400, "\"a=4\" is no part of a path"),
        ("get.nothing", &[], json!(null), 404, "nothing"),
        ("delete.workflow-instances", &[], json!(null), 405, "DELETE"),
        ("get.workflow-instances.unknown", &[], json!(null), 404, "unknown"),
        ("get.events", &[], json!(null), 400, "subscribe to staunch.event"),
        ("get.workflow-instances", &[("Host", "example.org")], json!(null), 400, "no meaning"),
        ("get.workflow-instances", &[("X-Forwarded-For", "::1")], json!(null), 400, "no meaning"),
        ("get.workflow-instances", &[("Staunch-Query", "a b")], json!(null), 400, "no path"),
        ("post.workflow-instances", &[], json!({"definitionId": "none"}), 404, "none"),
    ] {
        let (answer, problem) = server.ask(rest, headers, &body).await;
        assert_eq!(problem["status"], status, "{rest}: {problem:#}");
        assert!(problem["detail"].as_str().unwrap().contains(part), "{rest}: {problem:#}");
        for name in ["Staunch-Status", "Nats-Service-Error-Code"] {
            assert_eq!(answer.header(name), Some(&*status.to_string()), "{rest}");
        }
    }
    let several = [("X-Several", "1\n2")];
    let (answer, list) = server.ask("get.workflow-instances", &several, &Value::Null).await;
    assert_eq!(answer.header("Staunch-Status"), Some("200"), "a header twice: {list:#}");
    let key = [("Idempotency-Key", "once")];
    let begin = json!({"definitionId": "w"});
    let (_, one) = server.ask("post.workflow-instances", &key, &begin).await;
    let (_, two) = server.ask("post.workflow-instances", &key, &begin).await;
    assert_eq!(one["workflowInstanceId"], two["workflowInstanceId"], "{one:#}");
    server.close().await;
}

#[tokio::test]
async fn credentials_are_checked_over_nats() {
    let config = Config { auth: Auth::API_KEY, api_key: Some(KEY.to_owned()), ..Config::default() };
    let server = Server::start(config).await;
    server.get("get.workflow-instances", 401, &Value::Null).await;
    let given = format!("ApiKey {KEY}");
    let with = [("Authorization", given.as_str())];
    let (answer, list) = server.ask("get.workflow-instances", &with, &Value::Null).await;
    assert_eq!(answer.header("Staunch-Status"), Some("200"), "{list:#}");
    let wrong = [("Authorization", "ApiKey another-key-of-some-length")];
    let (answer, _) = server.ask("get.workflow-instances", &wrong, &Value::Null).await;
    assert_eq!(answer.header("Nats-Service-Error-Code"), Some("401"));
    server.close().await;
}
