//! The hub with Microsoft's own client for JavaScript.

use std::process::Stdio;
use std::time::Duration;

use chassis::Life;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::world::{BOUND, World, json_request, waits_for};
use crate::{Auth, Config, serve};

const PACKAGE: &str = "@microsoft/signalr";
const VERSION: &str = "10.0.11";
const KEY: &str = "a-bootstrap-key-of-length";

struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(url: &str, id: &str, token: &str, mode: &str) -> Option<Self> {
        let folder = testkit::npm(PACKAGE, VERSION)?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/signalr.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(folder).args([url, id, token, mode]).kill_on_drop(true);
        let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Some(Self { child, lines })
    }

    /// The next line, which has this name.
    async fn said(&mut self, name: &str) -> Value {
        let line = testkit::within(name, BOUND, self.lines.next_line()).await.unwrap();
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert_eq!(line["name"], name, "{line}");
        line["value"].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn microsofts_client_observes_an_instance_with_and_without_a_negotiation() {
    let config = Config {
        auth: Auth::API_KEY,
        api_key: Some(KEY.to_owned()),
        listen: "127.0.0.1:0".parse().unwrap(),
        ..Config::default()
    };
    let world = World::with(config.clone()).await;
    let life = Life::new(Duration::from_secs(30));
    let address = serve::start(world.context(), config, &life).await.unwrap();
    let url = format!("http://{address}/elsa/hubs/workflow-instance");
    let key = format!("ApiKey {KEY}");
    let send = async |path: &str, body: &Value| {
        let request = json_request("POST", path, &[("authorization", &key)], body);
        let answer = world.send(request).await;
        assert!(answer.status.is_success(), "{:#}", answer.body);
        answer.body
    };
    let definition = json!({"definitionId": "waits", "root": waits_for("go")});
    send("/elsa/api/workflow-definitions", &definition).await;
    for mode in ["negotiate", "skip"] {
        let start = send("/elsa/api/workflow-instances", &json!({"definitionId": "waits"})).await;
        let id = start["workflowInstanceId"].as_str().unwrap();
        let Some(mut client) = Client::start(&url, id, KEY, mode) else { return };
        assert!(client.said("refused").await.as_str().unwrap().contains("no method"));
        client.said("observing").await;
        let event = json!({"workflowInstanceId": id, "workflowExecutionMode": "Synchronous"});
        send("/elsa/api/events/go/trigger", &event).await;
        assert_eq!(client.said("WorkflowExecutionLogUpdatedAsync").await, json!({}));
        let stats = client.said("ActivityExecutionLogUpdatedAsync").await["stats"].clone();
        assert!(!stats.as_array().unwrap().is_empty(), "{stats}");
        let updated = client.said("WorkflowInstanceUpdatedAsync").await;
        assert_eq!(updated, json!({"workflowInstanceId": id}));
        client.child.stdin.take().unwrap().write_all(b"stop\n").await.unwrap();
        assert_eq!(client.said("closed").await, Value::Null);
    }
    let mut stranger = Client::start(&url, "any", "stk_wrong", "negotiate").unwrap();
    assert!(stranger.said("failed").await.as_str().unwrap().contains("401"));
    life.begin_stop();
    assert!(life.finished().await);
}
