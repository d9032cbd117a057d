//! The reader's machine: programs on the PATH, a user who is not root, an empty folder, a shell.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use testkit::{Guard, binary, executable, find_program};
use tokio::time::timeout;

use crate::block::PROGRAMS;
use crate::document::root;
use crate::ports::Ports;

/// The longest run of one page.
const PAGE_MAX: Duration = Duration::from_secs(120);
/// The longest end of a PostgreSQL.
const DATABASE_END_MAX: Duration = Duration::from_secs(20);
/// Between two looks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Where distributions keep the programs of PostgreSQL, with a folder for each version.
const POSTGRES: &str = "/usr/lib/postgresql";
/// The user in the place of root, for whom PostgreSQL does not start.
const USER: &str = "postgres";

/// Programs that every page finds.
pub(crate) struct Machine {
    programs: TempDir,
    is_root: bool,
}

/// What became of a page.
pub(crate) struct Ran {
    pub(crate) is_good: bool,
    /// The end of what it printed.
    pub(crate) said: String,
}

impl Machine {
    pub(crate) async fn new() -> Self {
        let programs = tempfile::Builder::new().prefix("staunch-book-").tempdir().unwrap();
        open(programs.path());
        // A user who is not root may not reach the folder of the build.
        for (name, path) in
            [("staunch", executable("staunch").await), ("nats-server", binary().await)]
        {
            place(&path, &programs.path().join(name));
        }
        for name in PROGRAMS {
            if let Some(path) = find_program(name) {
                place(&path, &programs.path().join(name));
            }
        }
        let id = Command::new("id").arg("-u").output().unwrap();
        Self { programs, is_root: id.stdout.trim_ascii() == b"0" }
    }

    /// Runs a script in an empty folder, and ends whatever it has started. With `in_repository`, the
    /// folder has what the root of the repository has.
    pub(crate) async fn run(&self, script: &str, ports: &Ports, in_repository: bool) -> Ran {
        let place = tempfile::Builder::new().prefix("staunch-page-").tempdir().unwrap();
        let (folder, script_file) = (place.path().join("empty"), place.path().join("page.sh"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&script_file, script).unwrap();
        open(place.path());
        if in_repository {
            copy(
                &root().join("services/staunch/examples"),
                &folder.join("services/staunch/examples"),
            );
        }
        if self.is_root {
            let owned = Command::new("chown").arg("-R").arg(USER).arg(&folder).status();
            assert!(owned.unwrap().success(), "there is a user {USER}");
        }
        let log = place.path().join("log");
        let file = std::fs::File::create(&log).unwrap();
        let mut command = tokio::process::Command::from(self.bash());
        command.arg(&script_file).current_dir(&folder).env_clear();
        command.env("PATH", self.path()).env("HOME", &folder).env("LANG", "C.UTF-8");
        command.env("STAUNCH_LISTEN", format!("127.0.0.1:{}", ports.of(5001)));
        command.env("STAUNCH_SERVER", format!("http://127.0.0.1:{}", ports.of(5001)));
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        let mut child = command.process_group(0).spawn().unwrap();
        let group = child.id().unwrap();
        let guard = Guard::watch(group, "TERM", None).unwrap();
        let ended = timeout(PAGE_MAX, child.wait()).await;
        // The group has what the page has started and not ended. It may be empty.
        let killed = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).output();
        drop(killed.unwrap());
        end_databases(&folder).await;
        if ended.is_err() {
            child.wait().await.unwrap();
        }
        guard.dismiss();
        let mut said = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
        if ended.is_err() {
            said.push_str(&format!("\nnot at its end after {PAGE_MAX:?}\n"));
        }
        Ran { is_good: ended.is_ok_and(|status| status.unwrap().success()), said: tail(&said) }
    }

    fn bash(&self) -> Command {
        if !self.is_root {
            return Command::new("bash");
        }
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={USER}")).arg(format!("--regid={USER}"));
        command.args(["--clear-groups", "--", "bash"]);
        command
    }

    /// Our programs, those of the newest PostgreSQL, those of the system.
    fn path(&self) -> String {
        let versions = std::fs::read_dir(POSTGRES).into_iter().flatten();
        let mut versions: Vec<PathBuf> = versions.map(|entry| entry.unwrap().path()).collect();
        versions.sort_by_key(|path| {
            path.file_name().map(|name| name.to_string_lossy().parse().unwrap_or(0))
        });
        let postgres = versions.pop().map(|path| format!("{}/bin:", path.display()));
        let programs = self.programs.path().display();
        format!("{programs}:{}/usr/local/bin:/usr/bin:/bin", postgres.unwrap_or_default())
    }
}

/// Ends each PostgreSQL of the page: `pg_ctl` starts it in a group of its own, and the next page gets its port.
async fn end_databases(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let data = entry.unwrap().path();
        let Ok(file) = std::fs::read_to_string(data.join("postmaster.pid")) else { continue };
        let id = file.lines().next().unwrap_or_default().trim();
        // One that was killed leaves its file, and its number may be that of another process now.
        let runs = || std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|at| at == data);
        if runs() {
            drop(Command::new("kill").args(["-QUIT", id]).output().unwrap());
            let ended = async {
                while runs() {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            };
            timeout(DATABASE_END_MAX, ended).await.unwrap();
        }
    }
}

fn place(program: &Path, at: &Path) {
    if std::fs::hard_link(program, at).is_err() {
        std::fs::copy(program, at).unwrap();
    }
}

/// Everybody may read what is in this folder.
fn open(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap();
    assert!(copied.success(), "{} is copied", from.display());
}

/// The last lines of a log.
fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
