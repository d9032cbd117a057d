//! Child processes that end with this process, even if it is killed: a small shell waits on a pipe
//! whose other end this process holds, and ends the child when the pipe breaks. Also signals, by
//! the `kill` command.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context as _, ensure};

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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn wait_gone(child: &mut Child) {
        let give_up = Instant::now() + Duration::from_secs(10);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < give_up, "the child lives on");
            std::thread::yield_now();
        }
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
    fn a_dismissed_guard_kills_nobody() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        Guard::watch(child.id(), "KILL", None).unwrap().dismiss();
        assert!(child.try_wait().unwrap().is_none());
        signal(child.id(), "KILL").unwrap();
        wait_gone(&mut child);
    }
}
