//! A running worker, and the journal that its handlers write.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use testkit::within;
use tokio::process::Child;

use crate::language::Program;

const END_MAX: Duration = Duration::from_secs(20);

/// A worker process; killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts the program as a worker whose types of tasks begin with this prefix.
    pub(crate) fn start(program: &Program, url: &str, prefix: &str, place: &Place) -> Self {
        let log = place.folder.join(format!("{prefix}.log"));
        let open = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut command = program.command();
        command.env("NATS_URL", url).env("WORKER_PREFIX", prefix);
        command.env("WORKER_JOURNAL", place.journal(prefix)).env("WORKER_DRAIN", &place.drain);
        command.env("WORKER_USER", &place.user);
        command.stdin(Stdio::null()).stdout(open.try_clone().unwrap()).stderr(open);
        let child = command.kill_on_drop(true).spawn().unwrap();
        Self { child, log }
    }

    pub(crate) fn kill(&mut self) {
        self.child.start_kill().unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        testkit::signal(self.child.id().unwrap(), name).unwrap();
    }

    /// What it has written so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let log = self.log.clone();
        let what = format!("the worker has ended; its log is {}", log.display());
        within(&what, END_MAX, self.child.wait()).await.unwrap()
    }
}

/// Where workers write, and how long they may drain.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) drain: String,
    /// The user of NATS, where there are users.
    pub(crate) user: String,
}

impl Place {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), drain: "20".to_owned(), user: String::new() }
    }

    pub(crate) fn draining(&self, seconds: u32) -> Self {
        Self { folder: self.folder.clone(), drain: seconds.to_string(), user: String::new() }
    }

    fn journal(&self, prefix: &str) -> PathBuf {
        self.folder.join(format!("{prefix}.journal"))
    }

    /// The lines of the journal: what happened, to which task, in which attempt, in which process.
    pub(crate) fn lines(&self, prefix: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.journal(prefix)).unwrap_or_default();
        text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }

    /// How often this happened to this task; to any, without one.
    pub(crate) fn count(&self, prefix: &str, what: &str, task: Option<&str>) -> usize {
        let lines = self.lines(prefix).into_iter();
        lines.filter(|line| line[0] == what && task.is_none_or(|task| line[1] == task)).count()
    }

    /// The most tasks that were begun and not ended at one time.
    pub(crate) fn most_at_once(&self, prefix: &str) -> usize {
        let (mut now, mut most) = (0_usize, 0);
        for line in self.lines(prefix) {
            now = if line[0] == "begin" { now + 1 } else { now.saturating_sub(1) };
            most = most.max(now);
        }
        most
    }
}
