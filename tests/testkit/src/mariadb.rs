//! A database on a real MariaDB for tests, if its programs are installed: one server per test
//! process, without durability.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nats_server::Guard;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{eventually, free_port, skip, unique};

const START_MAX: Duration = Duration::from_secs(60);
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];

static SHARED: OnceCell<Option<Server>> = OnceCell::const_new();

struct Server {
    port: u16,
    child: Child,
    // Ends the server when this process is gone, in whatever way.
    _guard: Guard,
    // Removed after the server has ended.
    _directory: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The address of an empty database on the server that the tests of this process share, with a user
/// and a password. `None`, and a line in the output, if MariaDB is not installed.
///
/// # Panics
/// When it is installed and does not start, or when `STAUNCH_TEST_REQUIRE` names `mariadb`.
pub async fn mariadb() -> Option<String> {
    let Some(server) = SHARED.get_or_init(start).await else {
        skip("mariadb", "mariadb", "no mariadbd found; apt install mariadb-server");
        return None;
    };
    let database = unique("test").replace('-', "_");
    let create = format!("create database {database}");
    let port = format!("--port={}", server.port);
    let mut client = Command::new("mariadb");
    client.args(["--host=127.0.0.1", &port, "--user=tester", "--password=secret", "-e", &create]);
    run(client);
    Some(format!("mysql://tester:secret@127.0.0.1:{}/{database}", server.port))
}

#[expect(clippy::expect_used, reason = "a test without its database cannot go on")]
async fn start() -> Option<Server> {
    let (server, install) = (find("mariadbd")?, find("mariadb-install-db")?);
    let directory = tempfile::Builder::new().prefix("staunch-mariadb-").tempdir();
    let directory = directory.expect("a temporary directory can be made");
    let data = format!("--datadir={}", directory.path().join("data").display());
    let mut installing = Command::new(install);
    installing.args(["--no-defaults", &data, "--skip-test-db"]);
    installing.arg("--auth-root-authentication-method=normal").args(as_root());
    run(installing);
    let script = directory.path().join("init.sql");
    // The server reads one statement a line.
    let grants =
        "create user tester@'%' identified by 'secret';\ngrant all on *.* to tester@'%';\n";
    std::fs::write(&script, grants).expect("a script can be written");
    let port = free_port();
    let mut running = Command::new(server);
    running.args(["--no-defaults", &data, "--bind-address=127.0.0.1", &format!("--port={port}")]);
    running.arg(format!("--socket={}", directory.path().join("socket").display()));
    running.arg(format!("--init-file={}", script.display()));
    running.args(["--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0"]).args(as_root());
    let log = std::fs::File::create(directory.path().join("log")).expect("a log can be made");
    running.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let child = running.spawn().expect("mariadbd runs");
    let guard = Guard::watch(child.id(), "KILL", Some(directory.path())).expect("a guard runs");
    eventually("MariaDB answers", START_MAX, async || answers(port)).await;
    Some(Server { port, child, _guard: guard, _directory: directory })
}

fn answers(port: u16) -> bool {
    let mut client = Command::new("mariadb");
    client.args(["--host=127.0.0.1", &format!("--port={port}"), "--user=tester"]);
    client.args(["--password=secret", "-e", "select 1"]);
    client.output().is_ok_and(|ran| ran.status.success())
}

/// The server refuses to run as root if it is not asked to.
fn as_root() -> Option<&'static str> {
    let id = Command::new("id").arg("-u").output().ok()?;
    (id.stdout.trim_ascii() == b"0").then_some("--user=root")
}

fn find(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

#[expect(clippy::expect_used, reason = "a test without its database cannot go on")]
fn run(mut command: Command) {
    let ran = command.output().expect("MariaDB's programs run");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
