//! A real PostgreSQL for tests, where its programs are installed: one server per test process on a
//! free port, a database of its own for each test. Without durability, except where asked.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use nats_server::{Guard, signal};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::{free_port, skip, unique};

static SHARED: OnceCell<Option<Arc<Server>>> = OnceCell::const_new();

const START_MAX: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A database of its own.
#[derive(Clone, Debug)]
pub struct TestPostgres {
    server: Arc<Server>,
    database: String,
}

/// A server on a free port of 127.0.0.1.
#[derive(Debug)]
struct Server {
    programs: Programs,
    port: u16,
    directory: TempDir,
    is_durable: bool,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    pid: u32,
    guard: Guard,
}

/// Where PostgreSQL is installed, and whom it has to run as.
#[derive(Clone, Debug)]
struct Programs {
    bin: PathBuf,
    is_root: bool,
}

/// A fresh database on the server that the tests of this process share. `None`, and a line that
/// says so, where PostgreSQL is not installed.
///
/// # Panics
/// When it is installed and does not start, or when `STAUNCH_TEST_REQUIRE` names `pg`.
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub async fn postgres() -> Option<TestPostgres> {
    let shared = SHARED.get_or_init(|| async {
        let programs = Programs::find()?;
        Some(Server::start(programs, false).await.expect("PostgreSQL starts"))
    });
    let Some(server) = shared.await else { return skipped() };
    Some(TestPostgres::on(Arc::clone(server)).await)
}

/// A fresh database on a server of its own, which the test may kill and restart; durable
/// (`fsync = on`) where asked.
///
/// # Panics
/// As [`postgres`].
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub async fn own_postgres(is_durable: bool) -> Option<TestPostgres> {
    let Some(programs) = Programs::find() else { return skipped() };
    let server = Server::start(programs, is_durable).await.expect("PostgreSQL starts");
    Some(TestPostgres::on(server).await)
}

fn skipped() -> Option<TestPostgres> {
    skip("pg", "postgres", "no initdb found; apt install postgresql");
    None
}

impl TestPostgres {
    #[expect(clippy::expect_used, reason = "a test without its database cannot go on")]
    async fn on(server: Arc<Server>) -> Self {
        let database = unique("test").replace('-', "_");
        server.create(&database).await.expect("a database can be made");
        Self { server, database }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.server.port, self.database)
    }

    /// Ends the whole server at once, as a crash does. Only on a server of its own.
    ///
    /// # Panics
    /// When it does not run.
    #[expect(clippy::expect_used, reason = "the test cannot go on")]
    pub fn kill(&self) {
        self.server.end("KILL").expect("PostgreSQL can be killed");
    }

    /// Starts it again after [`TestPostgres::kill`], on the same port and data.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn restart(&self) {
        let give_up = Instant::now() + START_MAX;
        while let Err(error) = self.server.launch().await {
            // Its old backends notice the death of their parent one after the other.
            let is_passing = format!("{error:#}").contains("pre-existing shared memory");
            assert!(is_passing && Instant::now() < give_up, "no restart: {error:#}");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

impl Programs {
    #[expect(clippy::disallowed_methods, reason = "programs are found by the PATH")]
    fn find() -> Option<Self> {
        let path = std::env::var("PATH").unwrap_or_default();
        let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let mut versions: Vec<_> =
            installed.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
        versions.sort();
        versions.reverse();
        let has_all = |bin: &PathBuf| {
            ["initdb", "postgres", "createdb", "pg_isready"].iter().all(|it| bin.join(it).is_file())
        };
        let bin = std::env::split_paths(&path).chain(versions).find(has_all)?;
        let id = Command::new("id").arg("-u").output().ok()?;
        Some(Self { bin, is_root: id.stdout.trim_ascii() == b"0" })
    }

    /// PostgreSQL refuses to run as root: then it runs as the user `postgres`.
    fn command(&self, program: &str) -> Command {
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
}

impl Server {
    async fn start(programs: Programs, is_durable: bool) -> anyhow::Result<Arc<Self>> {
        let directory = tempfile::Builder::new().prefix("staunch-pg-").tempdir()?;
        if programs.is_root {
            run(Command::new("chown").arg("postgres").arg(directory.path())).await?;
        }
        let data = directory.path().join("data");
        let mut initdb = programs.command("initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale"]);
        initdb.arg("--no-sync").arg("--pgdata").arg(&data);
        run(&mut initdb).await?;
        let running = Mutex::new(None);
        let server = Self { programs, port: free_port(), directory, is_durable, running };
        server.launch().await?;
        Ok(Arc::new(server))
    }

    async fn launch(&self) -> anyhow::Result<()> {
        let data = self.directory.path().join("data");
        let log = std::fs::File::create(self.directory.path().join("log"))?;
        let mut postgres = self.programs.command("postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(self.directory.path());
        postgres.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        postgres.args(["-c", "max_connections=300", "-c", "timezone=UTC"]);
        if !self.is_durable {
            let fast = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
            postgres.args(fast.iter().flat_map(|setting| ["-c", *setting]));
        }
        let mut child = postgres.stdout(Stdio::null()).stderr(log).spawn()?;
        let pid = child.id();
        // On being killed, QUIT ends all backends at once.
        let guard = Guard::watch(pid, "QUIT", Some(self.directory.path()))?;
        let give_up = Instant::now() + START_MAX;
        loop {
            let mut ready = self.programs.command("pg_isready");
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if run(&mut ready).await.is_ok() {
                break;
            }
            let log = || std::fs::read_to_string(self.directory.path().join("log"));
            if let Some(status) = child.try_wait()? {
                bail!("PostgreSQL has ended ({status}):\n{}", log()?);
            }
            ensure!(Instant::now() < give_up, "PostgreSQL does not start:\n{}", log()?);
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        // Waited for, so that it does not stay behind as a zombie.
        std::thread::spawn(move || child.wait());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = Some(Running { pid, guard });
        Ok(())
    }

    async fn create(&self, database: &str) -> anyhow::Result<()> {
        let mut create = self.programs.command("createdb");
        create.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", database]);
        run(&mut create).await
    }

    fn end(&self, how: &str) -> anyhow::Result<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Running { pid, guard } = running.context("PostgreSQL does not run")?;
        let ended = signal(pid, how);
        guard.dismiss();
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Not running: it was killed by the test.
        drop(self.end("QUIT"));
    }
}

async fn run(command: &mut Command) -> anyhow::Result<()> {
    let mut command =
        tokio::process::Command::from(std::mem::replace(command, Command::new("true")));
    let program = format!("{:?}", command.as_std());
    let output = command.kill_on_drop(true).output().await.with_context(|| program.clone())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", said.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exists(url: &str) -> bool {
        let sql = ["-q", "-t", "-c", "select 1"];
        Command::new("psql").arg(url).args(sql).output().is_ok_and(|ran| ran.status.success())
    }

    #[tokio::test]
    async fn each_test_has_a_database_of_its_own() {
        let (Some(one), Some(other)) = (postgres().await, postgres().await) else { return };
        assert_ne!(one.url(), other.url());
        assert!(exists(&one.url()));
        assert!(exists(&other.url()));
    }

    #[tokio::test]
    async fn a_killed_server_comes_back_with_its_data() {
        let Some(postgres) = own_postgres(true).await else { return };
        postgres.kill();
        assert!(!exists(&postgres.url()));
        postgres.restart().await;
        assert!(exists(&postgres.url()));
    }
}
