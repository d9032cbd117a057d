//! The demo as a newcomer runs it: it works, and leaves no process behind.

use std::process::ExitStatus;
use std::time::Duration;

use testkit::{Guard, eventually, free_port, signal, within};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

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
        let listen = format!("127.0.0.1:{}", free_port());
        let mut child = command(&["demo", "--exit", "--listen", &listen]).spawn().unwrap();
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
    let first = pid(&demo.tells("executor runs as a child process").await);
    demo.tells("was killed (SIGKILL)").await;
    let second = pid(&demo.tells("another executor has taken over").await);
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
    let executor = pid(&demo.tells("executor runs as a child process").await);
    demo.tells("is published").await;
    demo.child.start_kill().unwrap();
    demo.ended().await;
    gone("the executor is gone", executor).await;
}
