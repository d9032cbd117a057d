//! A worker as a user of NATS that may do what its type of tasks needs, and nothing else.

use std::path::Path;

use async_nats::{ConnectOptions, HeaderMap, jetstream};
use futures::StreamExt as _;
use serde_json::{Value, json};
use staunch_client::token;
use testkit::{TestNats, eventually, executable, nats_with, within};
use tokio::io::AsyncReadExt as _;

use crate::language::Program;
use crate::process::{Place, Process};
use crate::world::{PATIENCE, TASKS};

const PREFIX: &str = "own";
const KIND: &str = "own echo.ü";
const PASSWORD: &str = "secret";

/// The payload `7`.
const SEVEN: &str = "sha256-7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451";

/// The bytes of one part of a payload.
const PART: usize = 256 * 1024;
/// The letters of a value that no message carries, and the payload with it.
const LONG: usize = 600_000;
const LONG_HASH: &str = "sha256-35491562129828d6a516757a36c11a28746b8c2c31d931a7f5a82b7ad5419498";

/// A server with the users of an installation, and the user of the workers.
async fn installed(folder: &Path, options: &[&str]) -> (TestNats, String) {
    let staunch = |arguments: Vec<String>| async move {
        let mut command = tokio::process::Command::new(executable("staunch").await);
        let ran = command.args(&arguments).output().await.unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let permissions = words(&[&["nats-permissions", "--worker", KIND][..], options].concat());
    let accounts = staunch(permissions).await;
    let user = accounts.split("user: ").filter_map(|rest| rest.split(',').next());
    let user = user.filter(|user| user.starts_with("worker-")).last().unwrap().to_owned();
    let variables = accounts.split('$').filter_map(|rest| rest.split(',').next());
    let passwords = variables.filter(|name| name.ends_with("_PASSWORD"));
    let passwords: Vec<_> = passwords.map(|name| (name.to_owned(), PASSWORD.to_owned())).collect();
    std::fs::write(folder.join("accounts.conf"), &accounts).unwrap();
    let config = folder.join("server.conf");
    std::fs::write(&config, "max_payload: 1MB\ninclude ./accounts.conf\n").unwrap();
    let server = nats_with(|options| {
        options.config = Some(config);
        options.environment = passwords;
    })
    .await;
    let url = server.url().replace("nats://", &format!("nats://admin:{PASSWORD}@"));
    staunch(words(&["provision", "--worker", KIND, "--nats-url", url.as_str()])).await;
    (server, user)
}

/// The reason why a large result is not stored is in the log of the worker, though NATS does not answer a
/// message that it refuses.
pub(crate) async fn a_refused_object_is_said(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    let (server, user) = installed(folder.path(), &[]).await;
    let login = ConnectOptions::with_user_and_password("admin".to_owned(), PASSWORD.to_owned());
    let login = login.custom_inbox_prefix("_INBOX.admin");
    let js = jetstream::new(login.connect(server.url()).await.unwrap());
    let place = Place { user, ..Place::new(folder.path()) };
    let mut worker = Process::start(program, &server.url(), PREFIX, &place);
    let task = json!({
        "taskId": "t1", "taskType": KIND, "taskVersion": 1, "attempt": 1, "activityId": "a",
        "input": "y".repeat(LONG), "workflowInstanceId": "i", "workflowDefinitionId": "d",
    });
    let subject = format!("staunch.task.{}.1", token(KIND));
    js.publish(subject, task.to_string().into()).await.unwrap().await.unwrap();
    let log = folder.path().join(format!("{PREFIX}.log"));
    eventually("the refusal is in the log", PATIENCE, async || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let refused =
            "is not stored yet: Permissions Violation for Publish to \"$O.staunch_payloads.C.";
        log.lines().any(|line| line.contains(refused))
    })
    .await;
    worker.kill();
}

/// The other handlers of the program may do nothing, which does not keep this one from its work. There
/// is no node: the task and the result are messages, and so is the answer with a large value.
pub(crate) async fn a_worker_needs_its_own_permissions_alone(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    let (server, user) = installed(folder.path(), &["--with-objects"]).await;
    let user_of = async |name: &str, prefix: &str| {
        let login = ConnectOptions::with_user_and_password(name.to_owned(), PASSWORD.to_owned());
        login.custom_inbox_prefix(format!("{prefix}.{name}")).connect(server.url()).await.unwrap()
    };
    let admin = user_of("admin", "_INBOX").await;
    let mut progress = admin.subscribe("staunch.task-progress.>").await.unwrap();
    let js = jetstream::new(admin);
    let executor = user_of("executor", "_INBOX_staunch").await;
    let mut requests = executor.subscribe("staunch.api.payload.*").await.unwrap();
    executor.flush().await.unwrap();
    let place = Place { user, ..Place::new(folder.path()) };
    let mut worker = Process::start(program, &server.url(), PREFIX, &place);
    let task = json!({
        "taskId": "t1", "taskType": KIND, "taskVersion": 1, "attempt": 1, "activityId": "a",
        "input": {"$payload": SEVEN, "bytes": 1},
        "workflowInstanceId": "i", "workflowDefinitionId": "d",
    });
    let subject = format!("staunch.task.{}.1", token(KIND));
    js.publish(subject.clone(), task.to_string().into()).await.unwrap().await.unwrap();
    let request = within("a request for the value", PATIENCE, requests.next()).await.unwrap();
    assert_eq!(request.subject.as_str(), format!("staunch.api.payload.{SEVEN}"));
    let mut headers = HeaderMap::new();
    headers.insert("Staunch-Payload-Bytes", "1");
    headers.insert("Staunch-Payload-Parts", "1");
    executor.publish_with_headers(request.reply.unwrap(), headers, "7".into()).await.unwrap();
    executor.flush().await.unwrap();
    let held =
        async |stream: &str| js.get_stream(stream).await.unwrap().cached_info().state.messages;
    let stored = async || held("STAUNCH_COMMANDS").await == 1;
    eventually("the result is stored", PATIENCE, stored).await;
    let commands = js.get_stream("STAUNCH_COMMANDS").await.unwrap();
    let result = commands.get_raw_message(1).await.unwrap();
    let result: Value = serde_json::from_slice(&result.payload).unwrap();
    assert_eq!(result["output"]["input"], 7, "{result}");
    let said = within("the progress of the task", PATIENCE, progress.next()).await.unwrap();
    let said: Value = serde_json::from_slice(&said.payload).unwrap();
    assert_eq!((&said["taskId"], &said["progress"]), (&json!("t1"), &json!({"step": "echo"})));
    eventually("the task is acknowledged", PATIENCE, async || held(TASKS).await == 0).await;

    // A large value comes in parts, and goes as an object.
    let mut second = task.clone();
    second["taskId"] = json!("t2");
    second["input"] = json!({"$payload": LONG_HASH, "bytes": LONG + 2});
    js.publish(subject, second.to_string().into()).await.unwrap().await.unwrap();
    let long = format!("\"{}\"", "y".repeat(LONG)).into_bytes();
    for (number, part) in long.chunks(PART).enumerate() {
        let request = within("a request for a part", PATIENCE, requests.next()).await.unwrap();
        let asked: Value = serde_json::from_slice(&request.payload).unwrap();
        assert_eq!(asked["part"], number);
        let mut headers = HeaderMap::new();
        headers.insert("Staunch-Payload-Bytes", long.len().to_string().as_str());
        headers.insert("Staunch-Payload-Parts", "3");
        let part = part.to_vec().into();
        executor.publish_with_headers(request.reply.unwrap(), headers, part).await.unwrap();
        executor.flush().await.unwrap();
    }
    let stored = async || held("STAUNCH_COMMANDS").await == 2;
    eventually("the large result is stored", PATIENCE, stored).await;
    let result = commands.get_raw_message(2).await.unwrap();
    let named = result.headers.get("Staunch-Payload").unwrap().as_str().to_owned();
    let objects = js.get_object_store("staunch_payloads").await.unwrap();
    let mut object = objects.get(named.trim_start_matches("$payload=")).await.unwrap();
    let mut json = Vec::new();
    object.read_to_end(&mut json).await.unwrap();
    let output: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(output["input"].as_str().map(str::len), Some(LONG), "{named}");
    eventually("the second is acknowledged", PATIENCE, async || held(TASKS).await == 0).await;
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
}
