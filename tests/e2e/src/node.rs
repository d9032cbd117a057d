//! One process under test, with its log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use testkit::{Guard, eventually, signal};
use tokio::process::{Child, Command};

const EXIT_MAX: Duration = Duration::from_secs(40);

/// A process that ends with the story, however that ends.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// Where its HTTP API listens, where it has one.
    pub(crate) url: String,
    child: Child,
    guard: Option<Guard>,
    log: PathBuf,
}

impl Node {
    pub(crate) fn spawn(name: &str, url: &str, mut command: Command, log: &Path) -> Self {
        let log = log.join(format!("{name}.log"));
        let file = File::create(&log).unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let guard = Guard::watch(child.id().unwrap(), "KILL", None).unwrap();
        Self { name: name.to_owned(), url: url.to_owned(), child, guard: Some(guard), log }
    }

    /// Everything it has said.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until its log has this text.
    pub(crate) async fn says(&mut self, text: &str, bound: Duration) {
        let what = format!("{} says {text:?}", self.name);
        eventually(&what, bound, async || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{} has ended ({status}):\n{}", self.name, self.said());
            }
            self.said().contains(text)
        })
        .await;
    }

    /// Ends it at once: SIGKILL.
    pub(crate) async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
    }

    /// Asks it to end: SIGTERM. Gives how it ended.
    pub(crate) async fn stop(mut self) -> ExitStatus {
        signal(self.child.id().unwrap(), "TERM").unwrap();
        match tokio::time::timeout(EXIT_MAX, self.child.wait()).await {
            Ok(status) => status.unwrap(),
            Err(_) => panic!("{} does not end:\n{}", self.name, self.said()),
        }
    }

    /// Stops its clock, as a paused machine does.
    pub(crate) fn pause(&self) {
        signal(self.child.id().unwrap(), "STOP").unwrap();
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        signal(self.child.id().unwrap(), "CONT").unwrap();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            // The child is killed by its own handle; the guard must not outlive it.
            drop(self.child.start_kill());
            guard.dismiss();
        }
        if std::thread::panicking() {
            let said = self.said();
            let lines: Vec<&str> = said.lines().collect();
            let from = lines.len().saturating_sub(60);
            eprintln!("--- {} ---\n{}", self.name, lines[from..].join("\n"));
        }
    }
}
