//! A real broker and a real node, and what a test asks and changes there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::{self, Context};
use cluster::{Cluster, Node, NodePlan, Plan};
use futures::StreamExt as _;
use serde_json::{Value, json};
use staunch_client::{Client, Instance, Start, token};
use testkit::{eventually, executable};

pub(crate) const TASKS: &str = "STAUNCH_TASKS";
/// How long a process may take to start, and to do what it is asked.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Hands a task out, and has the result as its output. Three attempts.
const TASK: &str = "definitionId: task
name: Hands out
inputs: {TaskName: String, Version: Int32, Payload: Object}
outputs: {Result: Object}
root:
  - type: RunTask
    taskName: {input: TaskName}
    taskVersion: {input: Version}
    payload: {input: Payload}
    result: Result
    customProperties:
      retry: {attempts: 3, delay: 100ms}
";
/// The input of a task that no message carries.
const LONG: &str = "{js: \"({text: 'y'.repeat(getInput('Payload').characters), n: 1})\"}";
/// Looks into the result of the task.
const MEASURES: &str = "  - {type: SetOutput, outputName: Length, outputValue: {js: \"getOutputFrom('work').length\"}}\n";
const WAITS: &str = "definitionId: PREFIX-waits
outputs: {By: Object}
root:
  - type: Event
    eventName: go.on
    result: By
";

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) nats: async_nats::Client,
    pub(crate) js: Context,
    pub(crate) client: Client,
    node: Node,
    /// The results that workers have sent, by the id of the task.
    results: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

impl World {
    pub(crate) async fn new(prefix: &str) -> Self {
        let plan = Plan::new(&executable("staunch").await);
        let cluster = Cluster::start(plan).await.unwrap();
        let mut node = cluster.apart(NodePlan::new("node", "all")).unwrap();
        node.wait_ready().await.unwrap();
        let folder = cluster.folder().join("definitions");
        std::fs::create_dir(&folder).unwrap();
        let timed = TASK.replace("definitionId: task", "definitionId: timed");
        let timed = timed.replace("    result: Result\n", "    result: Result\n    timeout: 2s\n");
        let long = TASK.replace("definitionId: task", "definitionId: long");
        let long = long.replace("{input: Payload}", LONG);
        let measured = TASK.replace("definitionId: task", "definitionId: measured");
        let measured = measured.replace("{Result: Object}", "{Result: Object, Length: Int32}");
        let measured = measured.replace("type: RunTask\n", "type: RunTask\n    id: work\n");
        let measured = measured + MEASURES;
        let waits = WAITS.replace("PREFIX", prefix);
        for (name, text) in [
            ("task", TASK),
            ("timed", &timed),
            ("long", &long),
            ("measured", &measured),
            ("waits", &waits),
        ] {
            std::fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
        }
        let (from, to) = (folder.display().to_string(), node.url());
        cluster.command(&["apply", "-f", &from, "--server", &to]).await.unwrap();
        let nats = async_nats::connect(cluster.nats_url()).await.unwrap();
        let (js, client) = (jetstream::new(nats.clone()), Client::new(nats.clone(), PATIENCE));
        let results = listen(&nats).await;
        Self { cluster, nats, js, client, node, results }
    }

    pub(crate) async fn stop(mut self) {
        self.node.stop().await.unwrap();
        self.cluster.stop().await.unwrap();
    }

    pub(crate) fn folder(&self) -> &Path {
        self.cluster.folder()
    }

    /// Those who work, as the command line shows them.
    pub(crate) async fn workers(&self) -> Vec<Value> {
        let url = self.node.url();
        let said = self.cluster.command(&["worker", "ls", "--server", &url, "-o", "json"]).await;
        let said: Value = serde_json::from_str(&said.unwrap()).unwrap();
        said["workers"].as_array().unwrap().clone()
    }

    /// Starts an instance that hands out a task of this type; returns the ids of both.
    pub(crate) async fn hand_out(&self, kind: &str, payload: Value) -> (String, String) {
        self.hand_out_as("task", kind, 1, payload).await
    }

    pub(crate) async fn hand_out_as(
        &self,
        definition: &str,
        kind: &str,
        version: u32,
        payload: Value,
    ) -> (String, String) {
        let input = json!({ "TaskName": kind, "Version": version, "Payload": payload });
        let started = self.client.start(definition, input, Start::default()).await.unwrap();
        let instance = started.workflow_instance_id.unwrap();
        let waiting = self.client.query(&instance).await.unwrap();
        let task = waiting.bookmarks.iter().find_map(|it| it["payload"]["TaskId"].as_str());
        (task.unwrap_or_default().to_owned(), instance)
    }

    /// Waits until an instance is over.
    pub(crate) async fn over(&self, instance: &str, status: &str) -> Instance {
        let mut found = Instance::default();
        eventually(&format!("{instance} is {status}"), PATIENCE, async || {
            found = self.client.query(instance).await.unwrap();
            let is_over = ["Finished", "Faulted"].contains(&found.sub_status.as_str());
            assert!(!is_over || found.sub_status == status, "{:?}", found.incidents);
            found.sub_status == status
        })
        .await;
        found
    }

    /// Hands out a task, and waits for its result.
    pub(crate) async fn result(&self, kind: &str, payload: Value) -> Value {
        let (_, instance) = self.hand_out(kind, payload).await;
        self.over(&instance, "Finished").await.output["Result"].clone()
    }

    /// Waits until an instance that measures its result is over: the JSON that rests in the payload of
    /// the result, whose object has been named by the worker.
    pub(crate) async fn large_result(&self, task: &str, instance: &str, length: usize) -> Vec<u8> {
        let output = self.over(instance, "Finished").await.output;
        assert_eq!(output["Length"], length, "a workflow looks into it");
        let [sent] = &self.sent(task, 1).await[..] else { panic!("one result") };
        let object = sent["object"].as_str().unwrap();
        assert_eq!(sent.get("output"), None);
        let rests = &output["Result"];
        let hash = rests["$payload"].as_str().unwrap();
        assert_eq!(object, format!("$payload=tasks/{task}/1/{hash}"), "it is named by its bytes");
        let json = self.client.payload(hash, 8 << 20).await.unwrap();
        assert_eq!(rests["bytes"], json.len());
        json
    }

    /// Hands out a task, and waits for its incident.
    pub(crate) async fn incident(&self, kind: &str, payload: Value) -> String {
        let (_, instance) = self.hand_out(kind, payload).await;
        self.over(&instance, "Faulted").await.incidents.join("; ")
    }

    /// Makes the consumer of a type, as an operator who has changed its time limit left it.
    pub(crate) async fn limit(&self, kind: &str, ack_wait: Duration) {
        self.limit_deliveries(kind, ack_wait, -1).await;
    }

    /// The same, who also hands each task out only so often.
    pub(crate) async fn limit_deliveries(&self, kind: &str, ack_wait: Duration, max_deliver: i64) {
        let config = pull::Config {
            durable_name: Some(format!("task-{}-1", token(kind))),
            filter_subject: format!("staunch.task.{}.1", token(kind)),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_ack_pending: 1_000,
            max_deliver,
            ..pull::Config::default()
        };
        self.js.create_consumer_on_stream(config, TASKS).await.unwrap();
    }

    async fn consumer(&self, kind: &str) -> PullConsumer {
        let name = format!("task-{}-1", token(kind));
        self.js.get_consumer_from_stream(name, TASKS).await.unwrap()
    }

    /// The tasks of a type that nobody has acknowledged.
    pub(crate) async fn left(&self, kind: &str) -> u64 {
        let info = self.consumer(kind).await.cached_info().clone();
        info.num_pending + u64::try_from(info.num_ack_pending).unwrap()
    }

    /// Takes a task out of the stream, as no worker would.
    pub(crate) async fn take(&self, kind: &str) -> async_nats::Message {
        let consumer = self.consumer(kind).await;
        let fetch = consumer.fetch().max_messages(1).expires(PATIENCE);
        let mut batch = fetch.messages().await.unwrap();
        let message = batch.next().await.unwrap().unwrap();
        message.ack().await.unwrap();
        message.message
    }

    pub(crate) async fn nothing_left(&self, kind: &str) {
        let what = format!("no task of {kind} is left");
        eventually(&what, PATIENCE, async || self.left(kind).await == 0).await;
    }

    /// The results that were sent for a task, once there are so many. A result is heard a moment after
    /// its worker has noted the end of the work.
    pub(crate) async fn sent(&self, task: &str, count: usize) -> Vec<Value> {
        let what = format!("{count} results of {task} were sent");
        eventually(&what, PATIENCE, async || self.results(task).len() >= count).await;
        self.results(task)
    }

    /// The results that were sent for a task so far.
    pub(crate) fn results(&self, task: &str) -> Vec<Value> {
        self.results.lock().unwrap().get(task).cloned().unwrap_or_default()
    }
}

/// Hears every result, as it is sent.
#[expect(clippy::disallowed_methods, reason = "it ends with its test")]
async fn listen(nats: &async_nats::Client) -> Arc<Mutex<BTreeMap<String, Vec<Value>>>> {
    let mut sent = nats.subscribe("staunch.cmd.task.*.*.*").await.unwrap();
    nats.flush().await.unwrap();
    let results: Arc<Mutex<BTreeMap<_, Vec<_>>>> = Arc::default();
    let kept = Arc::clone(&results);
    tokio::spawn(async move {
        while let Some(message) = sent.next().await {
            let task = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
            let mut result: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
            let id = message.headers.as_ref().and_then(|it| it.get("Nats-Msg-Id"));
            result["id"] = json!(id.map(|id| id.as_str().to_owned()));
            let object = message.headers.as_ref().and_then(|it| it.get("Staunch-Payload"));
            result["object"] = json!(object.map(|object| object.as_str().to_owned()));
            kept.lock().unwrap().entry(task).or_default().push(result);
        }
    });
    results
}
