//! The worker of `nats/server.conf`: its permissions allow its work, and nothing else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::{self, Context, consumer::pull};
use async_nats::{Client, ConnectOptions, Event, HeaderMap};
use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestNats, eventually, executable, free_port, nats_with, sqlite_url, within};
use tokio::process::{Child, Command};

use crate::api::Api;
use crate::workflow::{sequence, set_output, waiting};

const SOON: Duration = Duration::from_secs(30);
const PASSWORDS: [(&str, &str); 2] =
    [("$STAUNCH_NATS_PASSWORD", "of-staunch"), ("$WORKER_NATS_PASSWORD", "of-worker")];

/// `nats/server.conf` with its users, on a free port.
fn configuration() -> String {
    let text = include_str!("../../../nats/server.conf");
    let (settings, users) = text.split_once("# authorization {").unwrap();
    let users: Vec<_> = users.lines().map(|line| line.trim_start_matches("# ")).collect();
    // The monitoring port would collide with other servers, and the store is given on the command
    // line.
    let is_kept =
        |line: &&str| !["http:", "store_dir:"].iter().any(|name| line.trim().starts_with(name));
    let settings = settings.lines().filter(is_kept);
    let settings = settings.collect::<Vec<_>>().join("\n");
    let text = format!("{settings}\nauthorization {{\n{}", users.join("\n"));
    PASSWORDS.iter().fold(text, |text, (variable, password)| text.replace(variable, password))
}

struct World {
    server: TestNats,
    api: Api,
    staunch: Client,
    jetstream: Context,
    _node: Child,
    _directory: TempDir,
}

impl World {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("server.conf");
        std::fs::write(&path, configuration()).unwrap();
        let server = nats_with(|options| options.config = Some(path)).await;
        let listen = format!("127.0.0.1:{}", free_port());
        let url = server.url().replace("nats://", "nats://staunch:of-staunch@");
        let node = Command::new(executable("staunch").await)
            .args(["server", "--role", "all", "--provision", "true", "--auth", "none"])
            .args(["--listen", &listen, "--nats-url", &url])
            .args(["--database-url", &sqlite_url(directory.path())])
            .current_dir(directory.path())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let api = Api::new(&format!("http://{listen}"));
        eventually("the node is ready", SOON, async || api.is_ready().await).await;
        let staunch = client(&server, "staunch", "of-staunch", "_INBOX", Denied::default()).await;
        let jetstream = jetstream::new(staunch.clone());
        Self { server, api, staunch, jetstream, _node: node, _directory: directory }
    }

    /// A key of a bucket, as Staunch itself reads it.
    async fn key(&self, bucket: &str, key: &str) -> Option<Vec<u8>> {
        let stream = self.jetstream.get_stream(format!("KV_{bucket}")).await.unwrap();
        let last = stream.get_last_raw_message_by_subject(&format!("$KV.{bucket}.{key}")).await;
        last.ok().map(|message| message.payload.to_vec())
    }

    /// The number of tasks that wait or are in progress.
    async fn tasks(&self) -> u64 {
        let tasks = self.jetstream.get_stream("STAUNCH_TASKS").await.unwrap();
        tasks.cached_info().state.messages
    }

    async fn dead(&self) -> Vec<Value> {
        let stream = self.jetstream.get_stream("STAUNCH_DEAD").await.unwrap();
        let last = stream.cached_info().state.last_sequence;
        let mut dead = Vec::new();
        for sequence in 1..=last {
            let message = stream.get_raw_message(sequence).await.unwrap();
            let header = |name: &str| message.headers.get(name).map(ToString::to_string);
            dead.push(json!({ "reason": header("Staunch-Reason") }));
        }
        dead
    }
}

/// The operations that the server has refused to a client.
type Denied = Arc<Mutex<Vec<String>>>;

async fn client(
    server: &TestNats,
    user: &str,
    password: &str,
    inbox: &str,
    denied: Denied,
) -> Client {
    ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned())
        .custom_inbox_prefix(inbox)
        .event_callback(move |event| {
            if let Event::ServerError(error) = event {
                denied.lock().unwrap().push(error.to_string());
            }
            async {}
        })
        .connect(server.url())
        .await
        .unwrap()
}

fn run_task(definition_id: &str) -> Value {
    let name = json!({"typeName": "String", "expression": {"type": "Literal", "value": "Ship"}});
    let task = json!({"id": "task", "type": "Elsa.RunTask", "version": 1, "taskName": name});
    sequence(definition_id, &[task, set_output("one", "Result", "1")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_of_the_sample_configuration_works_and_is_contained() {
    let world = World::start().await;
    for document in [run_task("tasks"), waiting("waiting")] {
        world.api.publish(&document).await;
    }
    let denied = Denied::default();
    let worker =
        client(&world.server, "worker", "of-worker", "_INBOX.worker", Arc::clone(&denied)).await;
    it_works(&world, &worker).await;
    assert_eq!(*denied.lock().unwrap(), Vec::<String>::new());
    it_reads_no_answer_of_others(&world, &worker, &denied).await;
    it_publishes_nothing_else(&world, &worker, &denied).await;
    it_sends_no_answers_to_what_matters(&world, &worker).await;
    what_it_makes_the_server_write_stops_nothing(&world, &worker).await;
}

/// Takes a task, acknowledges it, and completes it.
async fn it_works(world: &World, worker: &Client) {
    let config = pull::Config { durable_name: Some("worker".to_owned()), ..Default::default() };
    let tasks = world.jetstream.get_stream("STAUNCH_TASKS").await.unwrap();
    tasks.create_consumer(config).await.unwrap();
    let id = world.api.start("tasks", json!({})).await;
    eventually("the task is there", SOON, async || world.tasks().await == 1).await;
    let next = "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.worker";
    // A pulled message keeps its subject, so it needs a separate subscription.
    let inbox = worker.new_inbox();
    let mut pulled = worker.subscribe(inbox.clone()).await.unwrap();
    worker.publish_with_reply(next, inbox, "".into()).await.unwrap();
    let task = within("a task", SOON, pulled.next()).await.unwrap();
    let body: Value = serde_json::from_slice(&task.payload).unwrap();
    worker.publish(task.reply.unwrap(), "+ACK".into()).await.unwrap();
    let result = format!("staunch.cmd.task.{}", body["taskId"].as_str().unwrap());
    let kept = within("kept", SOON, worker.request(result, "{}".into())).await.unwrap();
    assert!(String::from_utf8_lossy(&kept.payload).contains("STAUNCH_COMMANDS"), "{kept:?}");
    world.api.reaches(&id, "Finished", SOON).await;
    eventually("the task is acknowledged", SOON, async || world.tasks().await == 0).await;
}

async fn it_reads_no_answer_of_others(world: &World, worker: &Client, denied: &Denied) {
    let subjects = [
        "_INBOX.>",
        "_INBOX.*.*",
        "_INBOX_staunch.>",
        "staunch.>",
        "staunch.reply.>",
        "staunch.api.>",
        "$KV.>",
        "$JS.>",
        ">",
    ];
    let mut heard = futures::stream::SelectAll::new();
    for subject in subjects {
        heard.push(worker.subscribe(subject).await.unwrap());
    }
    eventually("each subscription is refused", SOON, async || {
        let denied = denied.lock().unwrap();
        let is_denied = |subject: &&str| {
            let text = format!("\"{subject}\"").to_lowercase();
            denied.iter().any(|error| error.to_lowercase().contains(&text))
        };
        subjects.iter().all(is_denied)
    })
    .await;
    // Traffic of all kinds: commands, answers and writes.
    let id = world.api.start("waiting", json!({"Number": 7})).await;
    let view = world.staunch.request(format!("staunch.api.get.{id}"), "".into());
    assert!(!within("a view", SOON, view).await.unwrap().payload.is_empty());
    world.staunch.publish("staunch.cmd.event.go", "{}".into()).await.unwrap();
    world.api.reaches(&id, "Finished", SOON).await;
    worker.flush().await.unwrap();
    let overheard = tokio::time::timeout(Duration::from_millis(200), heard.next()).await;
    assert!(!matches!(overheard, Ok(Some(_))), "{overheard:?}");
}

async fn it_publishes_nothing_else(world: &World, worker: &Client, denied: &Denied) {
    let subjects = [
        "staunch.cmd.start.waiting",
        "staunch.cmd.event.go",
        "staunch.event.d.i.finished",
        "staunch.api.start.waiting",
        "staunch.cache.changed",
        "$KV.staunch_leases.direct",
        "$KV.staunch_definitions.direct",
        "$KV.staunch_nodes.direct",
        "$JS.API.STREAM.PURGE.STAUNCH_COMMANDS",
        "$JS.API.CONSUMER.MSG.NEXT.STAUNCH_COMMANDS.executor",
        "$JS.ACK.STAUNCH_COMMANDS.executor.1.1.1.1.0",
        "_INBOX_staunch.x",
    ];
    for subject in subjects {
        worker.publish(subject, "{}".into()).await.unwrap();
    }
    worker.flush().await.unwrap();
    eventually("each publication is refused", SOON, async || {
        let denied = denied.lock().unwrap();
        let is_denied = |subject: &&str| {
            let text = format!("publish to \"{subject}\"").to_lowercase();
            denied.iter().any(|error| error.to_lowercase().contains(&text))
        };
        subjects.iter().all(is_denied)
    })
    .await;
    for bucket in ["staunch_leases", "staunch_definitions", "staunch_nodes"] {
        assert_eq!(world.key(bucket, "direct").await, None, "{bucket}");
    }
}

/// A header of a command cannot make an executor publish to leases, pointers, presence, events or
/// the inboxes of Staunch itself.
async fn it_sends_no_answers_to_what_matters(world: &World, worker: &Client) {
    let targets = [
        "$KV.staunch_leases.forged",
        "$KV.staunch_definitions.forged",
        "$KV.staunch_nodes.forged",
        "staunch.event.forged.forged.finished",
        "staunch.cmd.start.waiting",
        "_INBOX_staunch.forged",
    ];
    let mut forged = world.staunch.subscribe("staunch.event.forged.>").await.unwrap();
    let mut inbox = world.staunch.subscribe("_INBOX_staunch.forged").await.unwrap();
    world.staunch.flush().await.unwrap();
    let before = world.dead().await.len();
    for (number, target) in targets.into_iter().enumerate() {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", format!("forged-{number}"));
        headers.insert("Staunch-Reply-To", target);
        let subject = format!("staunch.cmd.task.forged-{number}");
        worker.publish_with_headers(subject, headers, "{}".into()).await.unwrap();
    }
    eventually("each is refused", SOON, async || {
        world.dead().await.len() >= before + targets.len()
    })
    .await;
    for dead in &world.dead().await[before..] {
        let reason = dead["reason"].as_str().unwrap();
        assert!(reason.contains("answers cannot be sent to"), "{reason}");
    }
    for bucket in ["staunch_leases", "staunch_definitions", "staunch_nodes"] {
        assert_eq!(world.key(bucket, "forged").await, None, "{bucket}");
    }
    let quiet = Duration::from_millis(200);
    assert!(tokio::time::timeout(quiet, forged.next()).await.is_err());
    assert!(tokio::time::timeout(quiet, inbox.next()).await.is_err());
}

/// The server itself sends its answers wherever a client asks, so garbage may still get into
/// buckets. Nothing depends on it.
async fn what_it_makes_the_server_write_stops_nothing(world: &World, worker: &Client) {
    let id = world.api.start("waiting", json!({})).await;
    world.api.reaches(&id, "Suspended", SOON).await;
    for (number, target) in [
        format!("$KV.staunch_leases.{id}"),
        "$KV.staunch_definitions.waiting".to_owned(),
        "$KV.staunch_nodes.node".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let subject = format!("staunch.cmd.task.late-{number}");
        worker.publish_with_reply(subject, target, "{}".into()).await.unwrap();
    }
    worker.flush().await.unwrap();
    world.staunch.publish("staunch.cmd.event.go", "{}".into()).await.unwrap();
    world.api.reaches(&id, "Finished", SOON).await;
    let id = world.api.start("waiting", json!({})).await;
    world.staunch.publish("staunch.cmd.event.go", "{}".into()).await.unwrap();
    world.api.reaches(&id, "Finished", SOON).await;
    let document = waiting("waiting");
    world.api.publish(&document).await;
}
