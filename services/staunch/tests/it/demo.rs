//! The demo as a newcomer runs it: it works, and leaves no process behind.

use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Guard, eventually, free_port, signal, within};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::retention::plain;
use crate::{TURN, command};

const STORY_MAX: Duration = Duration::from_secs(180);
const SOON: Duration = Duration::from_secs(60);

struct Demo {
    child: Child,
    guard: Option<Guard>,
    lines: Lines<BufReader<ChildStdout>>,
    told: String,
}

impl Demo {
    fn begin() -> Self {
        Self::begin_with(&["--exit"], &format!("127.0.0.1:{}", free_port()))
    }

    fn begin_with(arguments: &[&str], listen: &str) -> Self {
        let mut command = command(&["demo", "--listen", listen]);
        let mut child = command.args(arguments).spawn().unwrap();
        let guard = Some(Guard::watch(child.id().unwrap(), "KILL", None).unwrap());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, guard, lines, told: String::new() }
    }

    /// Reads until a line contains this text; returns the line.
    async fn tells(&mut self, text: &str) -> String {
        let line = within(text, STORY_MAX, async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                self.told.push_str(&line);
                self.told.push('\n');
                if line.contains(text) {
                    return Some(line);
                }
            }
            None
        });
        if let Some(line) = line.await {
            return line;
        }
        let complaint = self.complaint().await;
        panic!("not told: {text:?}\n{}{complaint}", self.told);
    }

    async fn complaint(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).await.unwrap();
        text
    }

    async fn ended(mut self) -> ExitStatus {
        let status = within("the end", SOON, self.child.wait()).await.unwrap();
        self.guard.take().unwrap().dismiss();
        status
    }
}

/// The number at the end of a line.
fn pid(line: &str) -> u32 {
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

async fn gone(what: &str, pid: u32) {
    eventually(what, SOON, async || signal(pid, "0").is_err()).await;
}

#[tokio::test]
async fn the_demo_tells_its_story_and_ends_well() {
    let _turn = TURN.acquire().await.unwrap();
    let mut demo = Demo::begin();
    let first = pid(&demo.tells("runs as a child process").await);
    assert!(demo.told.starts_with("Studio: http://127.0.0.1:"), "{}", demo.told);
    demo.tells("was killed (SIGKILL)").await;
    let second = pid(&demo.tells("has taken over").await);
    demo.tells("has exactly one finished instance").await;
    demo.tells("approved by a person").await;
    demo.tells("approved at once").await;
    let status = demo.ended().await;
    assert!(status.success(), "{status}");
    for executor in [first, second] {
        gone("the executor is gone", executor).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_demo_that_is_killed() {
    let _turn = TURN.acquire().await.unwrap();
    let mut demo = Demo::begin();
    let executor = pid(&demo.tells("runs as a child process").await);
    demo.tells("is published").await;
    demo.child.start_kill().unwrap();
    demo.ended().await;
    gone("the executor is gone", executor).await;
}

/// Asks the API of the demo: a GET, or a POST of this body; the status and the answer.
async fn ask(server: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let url = format!("{server}/elsa/api{path}");
    let request = match body {
        Some(body) => plain().post(url).json(body),
        None => plain().get(url),
    };
    let answer = within("an answer", SOON, request.send()).await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// The value of a variable of a running process, if it has it.
#[cfg(target_os = "linux")]
fn variable_of(pid: u32, name: &str) -> Option<String> {
    let all = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let mut texts = all.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    texts.find_map(|text| Some(text.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

#[tokio::test]
async fn an_executor_is_killed_over_http_and_another_one_ends_its_instances() {
    let _turn = TURN.acquire().await.unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let server = format!("http://{listen}");
    let mail = "smtp://shop:hunter2hunter2@127.0.0.1:2525";
    let mut demo = Demo::begin_with(&["--smtp-url", mail], &listen);
    demo.tells("runs as a child process").await;
    let (status, refused) = ask(&server, "/demo/executors/kill", Some(&json!({}))).await;
    assert_eq!(status, 409, "{refused}");
    demo.tells("Try next").await;
    eventually("the demo takes wishes", SOON, async || {
        ask(&server, "/demo", None).await.1["state"] == "Running"
    })
    .await;
    let (_, shown) = ask(&server, "/demo", None).await;
    let first = shown["executor"]["processId"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    let first = first.unwrap();
    #[cfg(target_os = "linux")]
    {
        assert_eq!(variable_of(first, "STAUNCH_SMTP_URL").as_deref(), Some(mail));
        let line = std::fs::read(format!("/proc/{first}/cmdline")).unwrap();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        assert!(!line.contains("hunter2") && !line.contains("***"), "{line}");
    }

    let start =
        json!({"definitionId": "order-approval", "input": {"OrderId": "77", "Amount": 2500}});
    let (status, started) = ask(&server, "/workflow-instances/start", Some(&start)).await;
    assert!((200..300).contains(&status), "{started}");
    let instance = started["workflowInstanceId"].as_str().unwrap().to_owned();
    let (status, killed) = ask(&server, "/demo/executors/kill", Some(&json!({}))).await;
    assert_eq!(status, 200, "{killed}");
    let kill = &killed["lastKill"];
    assert_eq!(kill["killed"]["processId"], json!(first), "{killed}");
    gone("the executor is gone", first).await;

    let second = pid(&demo.tells("has taken over").await);
    assert_ne!(second, first);
    let path = format!("/workflow-instances/{instance}");
    eventually("the instance waits for the approval", SOON, async || {
        let (_, seen) = ask(&server, &path, None).await;
        let open = seen.pointer("/workflowState/bookmarks").and_then(Value::as_array);
        open.is_some_and(|open| open.iter().any(|bookmark| bookmark["name"] == "Elsa.Event"))
    })
    .await;
    let event = json!({"workflowInstanceId": instance, "input": {"By": "a test"}});
    let (status, said) = ask(&server, "/events/OrderApproved/trigger", Some(&event)).await;
    assert!((200..300).contains(&status), "{said}");
    eventually("the instance ends", SOON, async || {
        ask(&server, &path, None).await.1["subStatus"] == "Finished"
    })
    .await;
    let (_, shown) = ask(&server, "/demo", None).await;
    let kill = &shown["lastKill"];
    assert_eq!(shown["executor"]["processId"], json!(second), "{shown}");
    assert_eq!(kill["instancesKept"], kill["instancesBefore"], "{shown}");
    assert!(kill["instancesMovedOn"].as_u64() >= Some(1), "{shown}");
    assert!(kill["finishedSince"].as_u64() >= Some(1), "{shown}");

    signal(demo.child.id().unwrap(), "INT").unwrap();
    let status = demo.ended().await;
    assert!(status.success(), "{status}");
    gone("the executor is gone", second).await;
}
