//! A worker as a user of NATS that may do what its type of tasks needs, and nothing else.

use async_nats::jetstream;
use serde_json::json;
use staunch_client::token;
use testkit::{eventually, executable, nats_with};

use crate::language::Program;
use crate::process::{Place, Process};
use crate::world::{PATIENCE, TASKS};

const PREFIX: &str = "own";
const KIND: &str = "own echo.ü";
const PASSWORD: &str = "secret";

/// The other handlers of the program may do nothing, which does not keep this one from its work. There
/// is no node: the task and the result are messages.
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

    let login =
        async_nats::ConnectOptions::with_user_and_password("admin".to_owned(), PASSWORD.to_owned());
    let admin = login.custom_inbox_prefix("_INBOX.admin").connect(server.url()).await.unwrap();
    let js = jetstream::new(admin);
    let place = Place { user, ..Place::new(folder.path()) };
    let mut worker = Process::start(program, &server.url(), PREFIX, &place);
    let task = json!({
        "taskId": "t1", "taskType": KIND, "taskVersion": 1, "input": 7, "attempt": 1, "activityId": "a",
        "workflowInstanceId": "i", "workflowDefinitionId": "d",
    });
    let subject = format!("staunch.task.{}.1", token(KIND));
    js.publish(subject, task.to_string().into()).await.unwrap().await.unwrap();
    let held =
        async |stream: &str| js.get_stream(stream).await.unwrap().cached_info().state.messages;
    let stored = async || held("STAUNCH_COMMANDS").await == 1;
    eventually("the result is stored", PATIENCE, stored).await;
    eventually("the task is acknowledged", PATIENCE, async || held(TASKS).await == 0).await;
    worker.signal("TERM");
    assert!(worker.ended().await.success(), "it ends in order");
}
