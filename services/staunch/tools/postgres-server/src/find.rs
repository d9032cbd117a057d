//! PostgreSQL's programs: their paths, and the user that they have to run as.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// The folder of the programs in distributions, with one folder per version.
const INSTALLED: &str = "/usr/lib/postgresql";
/// The programs that must be there.
const NEEDED: [&str; 4] = ["initdb", "postgres", "createdb", "pg_isready"];

/// An installed PostgreSQL.
#[derive(Clone, Debug)]
pub struct Programs {
    bin: PathBuf,
    is_root: bool,
}

/// Searches for PostgreSQL on the PATH, then among the installed versions, newest first.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "programs are found by the PATH")]
pub fn find() -> Option<Programs> {
    let path = std::env::var("PATH").unwrap_or_default();
    let installed = std::fs::read_dir(INSTALLED).into_iter().flatten();
    let mut versions: Vec<PathBuf> =
        installed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    versions.sort_by_key(|folder| std::cmp::Reverse(number(folder)));
    let versions = versions.into_iter().map(|folder| folder.join("bin"));
    let has_all = |bin: &PathBuf| NEEDED.iter().all(|program| bin.join(program).is_file());
    let bin = std::env::split_paths(&path).chain(versions).find(has_all)?;
    let id = Command::new("id").arg("-u").output().ok()?;
    Some(Programs { bin, is_root: id.stdout.trim_ascii() == b"0" })
}

/// The version in the name of a folder.
fn number(folder: &std::path::Path) -> u32 {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.parse().unwrap_or_default()
}

impl Programs {
    /// PostgreSQL refuses to run as root; then it runs as the user `postgres`.
    pub(crate) fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = if self.is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Makes the user that PostgreSQL runs as the owner of a file or folder.
    pub(crate) async fn own(&self, path: &std::path::Path) -> anyhow::Result<()> {
        if !self.is_root {
            return Ok(());
        }
        let mut chown = Command::new("chown");
        chown.arg("postgres").arg(path);
        run(chown).await
    }
}

/// Runs a program to its end; it has to succeed.
pub(crate) async fn run(command: Command) -> anyhow::Result<()> {
    let mut command = tokio::process::Command::from(command);
    let program = format!("{:?}", command.as_std());
    let output = command.kill_on_drop(true).output().await.with_context(|| program.clone())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", said.trim());
    Ok(())
}
