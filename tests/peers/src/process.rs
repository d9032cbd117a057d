//! A process of a peer. It ends when its value is dropped or this program ends; its memory can be
//! measured.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use nats_server::{Guard, signal};
use tokio::process::{Child, Command};
use tokio::time::Instant;

const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub(crate) struct Process {
    child: Child,
    pid: u32,
    guard: Option<Guard>,
}

impl Process {
    pub(crate) fn start(command: &mut Command, name: &str) -> anyhow::Result<Self> {
        let child = command.kill_on_drop(true).spawn().with_context(|| format!("run {name}"))?;
        let pid = child.id().context("it has ended at once")?;
        let guard = Some(Guard::watch(pid, "KILL", None)?);
        Ok(Self { child, pid, guard })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it in order, or by force after 10 s.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            signal(self.pid, "TERM")?;
            if tokio::time::timeout(STOP_MAX, self.child.wait()).await.is_err() {
                self.child.kill().await?;
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            // The guard kills it unless it has ended, so the guard is dismissed only then.
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                guard.dismiss();
            }
        }
    }
}

/// The memory of a process and its children in MiB; shared memory counts once (PSS).
pub(crate) fn memory(pid: u32) -> f64 {
    let own = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("Pss:"));
    let own = own.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    let children = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = children.filter_map(|task| read(&task.path().join("children")));
    let children: Vec<_> = children.collect();
    let pids = children.iter().flat_map(|text| text.split_whitespace());
    own.unwrap_or_default() / 1024.0
        + pids.filter_map(|pid| pid.parse().ok()).map(memory).sum::<f64>()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Waits for a condition, at most a minute.
pub(crate) async fn eventually(
    what: &str,
    mut is_so: impl AsyncFnMut() -> bool,
) -> anyhow::Result<()> {
    let give_up = Instant::now() + START_MAX;
    while !is_so().await {
        ensure!(Instant::now() < give_up, "not within {} s: {what}", START_MAX.as_secs());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Runs a program to its end.
pub(crate) async fn run(command: &mut Command) -> anyhow::Result<String> {
    let program = format!("{:?}", command.as_std());
    let ran = command.kill_on_drop(true).output().await.with_context(|| program.clone())?;
    let said = String::from_utf8_lossy(&ran.stderr);
    ensure!(ran.status.success(), "{program}: {}", said.trim());
    Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}
