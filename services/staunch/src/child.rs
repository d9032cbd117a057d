//! An executor as a child process of the same binary: the demo can kill it, and it never outlives
//! its parent.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nats_server::{Guard, signal};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::oneshot;

use crate::Failure;

/// The longest an executor may take to start.
const START_MAX: Duration = Duration::from_secs(30);
/// The longest it may take to stop in order.
const STOP_MAX: Duration = Duration::from_secs(10);

/// The settings of a child.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) nats_url: String,
    pub(crate) database_url: String,
    pub(crate) base_url: String,
    /// Its name among the nodes.
    pub(crate) node: String,
    pub(crate) log: PathBuf,
    /// The other settings.
    pub(crate) handed: Handed,
}

/// Settings of the parent that a child gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handed {
    /// More flags of its command line, which every process of the machine can read.
    pub(crate) flags: Vec<String>,
    /// Variables of its environment, which only its user can read.
    pub(crate) variables: Vec<(String, OsString)>,
    /// Variables of this process that the child does not get.
    pub(crate) left_out: Vec<String>,
}

/// A running executor.
#[derive(Debug)]
pub(crate) struct Executor {
    child: Child,
    guard: Option<Guard>,
    pid: u32,
}

impl Executor {
    /// Starts an executor and waits until it takes commands.
    ///
    /// # Errors
    /// When it ends, or is not ready in time: the text names its log.
    pub(crate) async fn start(wanted: &Wanted) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::failed(format!("an executor cannot be started: {error}"))
        };
        let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
        let Handed { flags, variables, left_out } = &wanted.handed;
        command.args(["server", "--role", "executor"]).args(flags);
        command.args(["--nats-url", &wanted.nats_url, "--database-url", &wanted.database_url]);
        command.args(["--base-url", &wanted.base_url, "--node", &wanted.node]);
        for (variable, value) in variables {
            command.env(variable, value);
        }
        for variable in left_out {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A separate process group: Ctrl-C reaches only the parent, which stops the child.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.kill_on_drop(true).spawn().map_err(cannot)?;
        let pid = child.id().unwrap_or_default();
        let guard = Some(Guard::watch(pid, "KILL", None)?);
        let (ready, is_ready) = oneshot::channel();
        if let Some(lines) = child.stderr.take() {
            drop(tasks::spawn("executor log", keep(lines, wanted.log.clone(), ready)));
        }
        let executor = Self { child, guard, pid };
        match tokio::time::timeout(START_MAX, is_ready).await {
            Ok(Ok(())) => Ok(executor),
            _ => Err(Failure::failed(format!(
                "the executor (pid {pid}) does not get ready; see {}",
                wanted.log.display()
            ))),
        }
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Kills it with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        let killed = self.child.kill().await;
        killed.map_err(|error| Failure::failed(format!("executor {}: {error}", self.pid)))
    }

    /// Asks it to finish its work in progress and end; kills it if that takes too long.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(self.pid, "TERM")?;
        }
        match tokio::time::timeout(STOP_MAX, self.child.wait()).await {
            Ok(_) => Ok(()),
            Err(_) => self.kill().await,
        }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        if let Err(error) = self.child.start_kill() {
            tracing::debug!(%error, "an executor was gone already");
        }
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

/// Writes the output of an executor to a file, and reports the line that says it is ready.
async fn keep(lines: ChildStderr, log: PathBuf, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    let mut file = File::options().create(true).append(true).open(&log).ok();
    let mut lines = BufReader::new(lines).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(file) = &mut file
            && let Err(error) = writeln!(file, "{line}")
        {
            tracing::debug!(%error, "the log of an executor cannot be written");
        }
        // In a log of JSON it is the message of a line.
        if (line == READY || line.starts_with('{') && line.contains(READY))
            && let Some(ready) = ready.take()
            && ready.send(()).is_err()
        {
            tracing::debug!("nobody waits for the executor any more");
        }
    }
}

/// The line that an executor prints when it takes commands.
const READY: &str = "executor is ready";

/// The log of child executors in this folder.
pub(crate) fn log_in(folder: &Path) -> PathBuf {
    folder.join("executor.log")
}
