//! A worker as a user of NATS that may do what its type of tasks needs, and nothing else.

use async_nats::{ConnectOptions, HeaderMap, jetstream};
use futures::StreamExt as _;
use serde_json::{Value, json};
use staunch_client::token;
use testkit::{eventually, executable, nats_with, within};

use crate::language::Program;
use crate::process::{Place, Process};
use crate::world::{PATIENCE, TASKS};

const PREFIX: &str = "own";
const KIND: &str = "own echo.ü";
const PASSWORD: &str = "secret";

/// The payload `7`.
const SEVEN: &str = "sha256-7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451";

/// The other handlers of the program may do nothing, which does not keep this one from its work. There
/// is no node: the task and the result are messages, and so is the answer with a large value.
pub(crate) async fn a_worker_needs_its_own_permissions_alone(program: &Program) {
    let folder = tempfile::tempdir().unwrap();
    let staunch = |arguments: Vec<String>| async move {
        let mut command = tokio::process::Command::new(executable("staunch").await);
        let ran = command.args(&arguments).output().await.unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let accounts =
        staunch([words("nats-permissions --worker"), vec![KIND.to_owned()]].concat()).await;
    let user = accounts.split("user: ").filter_map(|rest| rest.split(',').next());
    let user = user.filter(|user| user.starts_with("worker-")).last().unwrap().to_owned();
    let variables = accounts.split('$').filter_map(|rest| rest.split(',').next());
    let passwords = variables.filter(|name| name.ends_with("_PASSWORD"));
    let passwords: Vec<_> = passwords.map(|name| (name.to_owned(), PASSWORD.to_owned())).collect();
    std::fs::write(folder.path().join("accounts.conf"), &accounts).unwrap();
    let config = folder.path().join("server.conf");
    std::fs::write(&config, "max_payload: 1MB\ninclude ./accounts.conf\n").unwrap();
    let server = nats_with(|options| {
        options.config = Some(config);
        options.environment = passwords;
    })
    .await;
    let url = server.url().replace("nats://", &format!("nats://admin:{PASSWORD}@"));
    let kind = vec![KIND.to_owned()];
    let provision = [words("provision --worker"), kind, words(&format!("--nats-url {url}"))];
    staunch(provision.concat()).await;

    let user_of = async |name: &str, prefix: &str| {
        let login = ConnectOptions::with_user_and_password(name.to_owned(), PASSWORD.to_owned());
        login.custom_inbox_prefix(format!("{prefix}.{name}")).connect(server.url()).await.unwrap()
    };
    let js = jetstream::new(user_of("admin", "_INBOX").await);
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
    js.publish(subject, task.to_string().into()).await.unwrap().await.unwrap();
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
    eventually("the task is acknowledged", PATIENCE, async || held(TASKS).await == 0).await;
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
}
