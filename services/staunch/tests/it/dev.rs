//! `staunch dev` as a person runs it: it starts, accepts a workflow, ends, and starts again.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Guard, free_port, signal, within};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::task::JoinHandle;

use crate::{command, json as document, run_in, stderr};

/// The longest that it takes to start or to end, on any machine.
pub(crate) const SOON: Duration = Duration::from_secs(90);
/// Text of a workflow that tries to control a terminal.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\nforged  line";

/// `staunch dev`, running.
pub(crate) struct Dev {
    child: Child,
    /// What it writes to standard error. It is read all the time: a process whose log nobody reads
    /// stands still as soon as the pipe is full.
    said: JoinHandle<String>,
    guard: Option<Guard>,
    pub(crate) url: String,
}

impl Dev {
    /// Starts it, and reads its address.
    pub(crate) async fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[]).await
    }

    /// The same with further arguments.
    pub(crate) async fn start_with(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_within(folder, arguments, &[]).await
    }

    /// The same with further arguments and variables.
    #[expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
    pub(crate) async fn start_within(
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let listen = format!("127.0.0.1:{}", free_port());
        let dev = ["dev", "--data", "data", "--listen", &listen, "-o", "json"];
        let mut command = command(&[&dev, arguments].concat());
        command.envs(variables.iter().copied());
        let mut child = command.current_dir(folder).spawn().unwrap();
        let guard = Some(Guard::watch(child.id().unwrap(), "KILL", None).unwrap());
        let said = tokio::spawn(text(child.stderr.take().unwrap()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = within("dev is ready", SOON, async {
            let mut text = String::new();
            while let Some(line) = lines.next_line().await.unwrap() {
                text.push_str(&line);
                if let Ok(ready) = serde_json::from_str::<Value>(&text) {
                    return Some(ready);
                }
            }
            None
        });
        let ready = ready.await.unwrap();
        assert_eq!(ready["roles"].as_array().unwrap().len(), 4, "{ready}");
        let url = ready["url"].as_str().unwrap().to_owned();
        Self { child, said, guard, url }
    }

    /// Asks it to end; returns its standard error.
    pub(crate) async fn end(mut self) -> String {
        signal(self.child.id().unwrap(), "INT").unwrap();
        let text = within("the end of dev", SOON, self.said).await.unwrap();
        let status = within("the end of dev", SOON, self.child.wait()).await.unwrap();
        self.guard.take().unwrap().dismiss();
        assert!(status.success(), "{status}: {text}");
        text
    }
}

async fn text(mut from: ChildStderr) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn writes(text: &str) -> Value {
    json!({
        "definitionId": "hostile", "name": "hostile",
        "root": {
            "type": "Elsa.WriteLine", "id": "line", "version": 1,
            "text": {"typeName": "String", "expression": {"type": "Literal", "value": text}}
        }
    })
}

#[tokio::test]
async fn a_node_is_asked_for_its_health() {
    let here = tempfile::tempdir().unwrap();
    let admin = format!("127.0.0.1:{}", free_port());
    let dev = Dev::start_with(here.path(), &["--admin-listen", &admin]).await;
    for address in [dev.url.clone(), format!("http://{admin}")] {
        let ready = format!("{address}/health/ready");
        let output = run_in(here.path(), &["health", &ready, "-o", "json"]).await;
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(document(&output)["status"], "Healthy");
        let elsewhere = run_in(here.path(), &["health", &format!("{address}/elsewhere")]).await;
        assert_eq!(elsewhere.status.code(), Some(3), "{}", stderr(&elsewhere));
    }
    dev.end().await;
}

#[tokio::test]
async fn a_normal_restart_warns_of_nothing() {
    let here = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let said = Dev::start(here.path()).await.end().await;
        assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
    }
}

#[tokio::test]
async fn what_a_workflow_writes_does_not_reach_the_terminal_as_it_is() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("hostile.json"), writes(HOSTILE).to_string()).unwrap();
    let dev = Dev::start(here.path()).await;
    let server = ["--server", dev.url.as_str()];
    let run = async |arguments: &[&str]| {
        let output = run_in(here.path(), &[arguments, &server].concat()).await;
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        output
    };
    run(&["apply", "-f", "hostile.json"]).await;
    let shown = run(&["run", "hostile", "--wait"]).await;
    let said = stderr(&shown);
    assert!(said.contains("\\u{1b}]0;owned\\u{7}"), "{said}");
    assert!(!said.lines().any(|line| line.starts_with("forged")), "{said}");
    let id = document(&run(&["run", "hostile", "--wait", "-o", "json"]).await)["id"].clone();
    let id = id.as_str().unwrap();
    let outputs = [
        shown,
        run(&["instance", "get", id]).await,
        run(&["instance", "get", id, "-o", "json"]).await,
        run(&["instance", "watch", id]).await,
        run(&["instance", "watch", id, "-o", "json"]).await,
        run(&["instance", "ls"]).await,
    ];
    for output in &outputs {
        let all = [output.stdout.as_slice(), &output.stderr].concat();
        let text = String::from_utf8(all).unwrap();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    let again = run_in(here.path(), &["dev", "--data", "data"]).await;
    assert_eq!(again.status.code(), Some(4), "{}", stderr(&again));
    dev.end().await;
}

/// The user comes before the used in the order of the files. A second run changes nothing, although
/// the file names a version of another installation. A mistake in one keeps both as they are.
#[tokio::test]
async fn files_that_use_each_other_are_applied_together() {
    let here = tempfile::tempdir().unwrap();
    let mut user = json!({"definitionId": "user", "root": {"type": "Used", "id": "u",
        "workflowDefinitionId": "used", "workflowDefinitionVersionId": "elsewhere"}});
    let mut used =
        json!({"definitionId": "used", "root": {"type": "WriteLine", "id": "w", "text": "hi"}});
    let write = |name: &str, document: &Value| {
        std::fs::write(here.path().join(name), document.to_string()).unwrap();
    };
    write("a.json", &user);
    write("b.json", &used);
    write("c.json", &json!({"root": null}));
    let dev = Dev::start(here.path()).await;
    let apply = ["apply", "-f", ".", "-o", "json", "--server", dev.url.as_str()];
    for state in ["published", "unchanged"] {
        let output = run_in(here.path(), &apply).await;
        let said = stderr(&output);
        assert!(said.contains("c.json") && said.contains("1 file is not applied"), "{said}");
        let expected: Vec<_> = [("used", 1), ("user", 1)]
            .map(|(id, version)| {
                json!({"definitionId": id, "version": version, "state": state,
                    "everywhere": true, "missing": [], "consumingWorkflowCount": 0, "warnings": []})
            })
            .into();
        let mut applied = document(&output).as_array().unwrap().clone();
        applied.sort_by_key(|one| one["definitionId"].to_string());
        assert_eq!(applied, expected);
    }
    let line = |text: Value| json!({"type": "WriteLine", "id": "w", "text": text});
    user["root"] = json!({"type": "Sequence", "activities": [user["root"], line(json!("more"))]});
    used["root"] = line(json!({"js": "1 +"}));
    write("a.json", &user);
    write("b.json", &used);
    let output = run_in(here.path(), &apply).await;
    let said = stderr(&output);
    assert!(said.contains("b.json:1:"), "{said}");
    assert!(said.contains("3 files are not applied"), "{said}");
    assert_eq!(document(&output), json!([]));
    dev.end().await;
}
