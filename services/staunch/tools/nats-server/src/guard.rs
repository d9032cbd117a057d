//! Child processes that end with this process, even if it is killed: a small shell waits on a pipe
//! whose other end this process holds, and ends the child when the pipe breaks. Also signals, by
//! the `kill` command.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// The longest time that a process takes to stop its clock.
const STOP_MAX: Duration = Duration::from_secs(10);

/// A line means that the child was ended in order; the end of the pipe means that this process is
/// gone. The guard ignores signals that a terminal sends to the whole group.
const SCRIPT: &str = r#"trap '' INT TERM HUP
if read -r line; then exit 0; fi
kill -"$2" "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
if [ -n "$3" ]; then
    tries=0
    while kill -0 "$1" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries+1)); done
    rm -rf "$3"
fi"#;

/// Ends a child when this process ends, in whatever way.
#[derive(Debug)]
pub struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Guards a child that this process has started. When this process is gone, the child gets
    /// `signal` (such as `KILL`); when the child is gone too, `remove` is deleted.
    ///
    /// # Errors
    /// When no shell can be started.
    pub fn watch(pid: u32, signal: &str, remove: Option<&Path>) -> anyhow::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "guard", &pid.to_string(), signal]);
        shell.arg(remove.unwrap_or_else(|| Path::new("")));
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A group of its own: who kills the group of this process does not kill the guard.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(shell, 0);
        let mut shell = shell.spawn().context("cannot start a shell to guard a child")?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }

    /// The child was ended in order: from now on its process id is left alone.
    pub fn dismiss(mut self) {
        if let Some(mut pipe) = self.pipe.take()
            && let Err(error) = pipe.write_all(b"\n")
        {
            tracing::debug!(%error, "a guard was gone already");
        }
        if let Err(error) = self.shell.wait() {
            tracing::debug!(%error, "a guard cannot be waited for");
        }
    }
}

/// Sends a signal (such as `TERM`, `KILL`, `STOP`, `CONT`) to a process that this process has
/// started.
///
/// # Errors
/// When there is no such process.
pub fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    let output = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("cannot run kill")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kill -{name} {pid}: {}", said.trim());
    Ok(())
}

/// Stops the clock of a process, as a paused machine does, and waits until all its threads stand: on
/// a busy machine they run on for a while after the signal.
///
/// # Errors
/// When there is no such process, or it runs on for 10 s.
pub fn suspend(pid: u32) -> anyhow::Result<()> {
    signal(pid, "STOP")?;
    let give_up = Instant::now() + STOP_MAX;
    while is_running(pid) {
        ensure!(Instant::now() < give_up, "process {pid} goes on after STOP");
        std::thread::yield_now();
    }
    Ok(())
}

/// Whether a thread of the process is not stopped. False where the system has no `/proc`.
fn is_running(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // `1 (name) T …`; the name may have brackets in it.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|state| !['T', 't', 'Z', 'X'].contains(&state))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_gone(child: &mut Child) {
        let give_up = Instant::now() + Duration::from_secs(10);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < give_up, "the child lives on");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_suspended_process_stands_still_at_once() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        for _ in 0..10 {
            suspend(busy.id()).unwrap();
            assert!(!is_running(busy.id()));
            signal(busy.id(), "CONT").unwrap();
        }
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(suspend(busy.id()).is_err());
    }

    #[test]
    fn a_child_dies_when_the_pipe_breaks() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let directory = tempfile::tempdir().unwrap().keep();
        let mut guard = Guard::watch(child.id(), "KILL", Some(&directory)).unwrap();
        drop(guard.pipe.take());
        wait_gone(&mut child);
        guard.shell.wait().unwrap();
        assert!(!directory.exists());
    }

    #[test]
    fn a_guard_outlives_the_group_of_its_process() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let guard = Guard::watch(child.id(), "KILL", None).unwrap();
        let (own, shell) = (std::process::id().to_string(), guard.shell.id().to_string());
        let groups = Command::new("ps").args(["-o", "pgid=", "-p", &own, "-p", &shell]).output();
        let groups = String::from_utf8(groups.unwrap().stdout).unwrap();
        let groups: Vec<&str> = groups.split_whitespace().collect();
        assert!(groups.len() == 2 && groups[0] != groups[1], "{groups:?}");
        guard.dismiss();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_dismissed_guard_kills_nobody() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        Guard::watch(child.id(), "KILL", None).unwrap().dismiss();
        assert!(child.try_wait().unwrap().is_none());
        signal(child.id(), "KILL").unwrap();
        wait_gone(&mut child);
    }
}
