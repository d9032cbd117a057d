//! A real PgBouncer in transaction mode for tests, if it is installed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nats_server::Guard;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::{eventually, free_port, skip};

const START_MAX: Duration = Duration::from_secs(20);
const FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/bin"];

/// A PgBouncer before a PostgreSQL. It ends when this value is dropped.
#[derive(Debug)]
pub struct TestPgBouncer {
    program: PathBuf,
    port: u16,
    running: Option<(Child, Guard)>,
    directory: TempDir,
}

/// A PgBouncer in transaction mode, with this many connections for each database of the PostgreSQL
/// at this port of 127.0.0.1. `None`, and a line in the output, if it is not installed.
///
/// # Panics
/// When it does not start, or when `STAUNCH_TEST_REQUIRE` names `pgbouncer`.
pub async fn pgbouncer(postgres: u16, connections: u32) -> Option<TestPgBouncer> {
    pgbouncer_ignoring(postgres, connections, "").await
}

/// The same, which ignores these parameters of clients instead of refusing them.
///
/// # Panics
/// As [`pgbouncer`].
#[expect(clippy::expect_used, reason = "a test without its pooler cannot go on")]
pub async fn pgbouncer_ignoring(
    postgres: u16,
    connections: u32,
    ignored: &str,
) -> Option<TestPgBouncer> {
    let mut places = FOLDERS.iter().map(|folder| Path::new(folder).join("pgbouncer"));
    let Some(program) = places.find(|path| path.is_file()) else {
        skip("pgbouncer", "pgbouncer", "it is not installed; apt install pgbouncer");
        return None;
    };
    let directory = tempfile::Builder::new().prefix("staunch-pgbouncer-").tempdir();
    let directory = directory.expect("a temporary directory can be made");
    let port = free_port();
    let config = format!(
        "[databases]\n* = host=127.0.0.1 port={postgres} user=postgres\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = {connections}\nmax_client_conn = 2000\n\
         server_idle_timeout = 5\n\
         ignore_startup_parameters = {ignored}\n"
    );
    std::fs::write(directory.path().join("pgbouncer.ini"), config).expect("a file can be written");
    // It refuses to run as root, and its user reads the file.
    #[cfg(unix)]
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a folder can be opened for others");
    let mut pooler = TestPgBouncer { program, port, running: None, directory };
    pooler.start().await;
    Some(pooler)
}

impl TestPgBouncer {
    /// The address of this database for clients.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The number of connections of clients, and of those to PostgreSQL.
    #[must_use]
    pub fn connections(&self) -> (usize, usize) {
        let count = |what: &str| {
            let mut psql = Command::new("psql");
            psql.args([&self.url("pgbouncer"), "-q", "-A", "-t", "-c", what]);
            let lines = psql.output().map(|ran| ran.stdout).unwrap_or_default();
            String::from_utf8_lossy(&lines).lines().filter(|line| !line.is_empty()).count()
        };
        // The console counts itself.
        (count("SHOW CLIENTS").saturating_sub(1), count("SHOW SERVERS"))
    }

    /// Ends it at once: all connections break.
    #[expect(clippy::expect_used, reason = "a test without its pooler cannot go on")]
    pub fn kill(&mut self) {
        let (mut child, guard) = self.running.take().expect("PgBouncer is not running");
        child.kill().expect("PgBouncer can be killed");
        child.wait().expect("PgBouncer ends");
        guard.dismiss();
    }

    /// Starts it, at the same port as before, and waits until it answers.
    #[expect(clippy::expect_used, reason = "a test without its pooler cannot go on")]
    pub async fn start(&mut self) {
        let id = Command::new("id").arg("-u").output().expect("id runs");
        let mut command = match id.stdout.trim_ascii() {
            b"0" => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]);
                command.arg(&self.program);
                command
            }
            _ => Command::new(&self.program),
        };
        let log = std::fs::File::create(self.directory.path().join("log"));
        command.arg(self.directory.path().join("pgbouncer.ini")).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(log.expect("a log can be made")).current_dir("/");
        let child = command.spawn().expect("pgbouncer runs");
        let folder = Some(self.directory.path());
        let guard = Guard::watch(child.id(), "KILL", folder).expect("a guard runs");
        self.running = Some((child, guard));
        let port = self.port;
        let answers = async || TcpStream::connect(("127.0.0.1", port)).await.is_ok();
        eventually("PgBouncer answers", START_MAX, answers).await;
    }

    /// What it has written to its log since its start.
    #[must_use]
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for TestPgBouncer {
    fn drop(&mut self) {
        if let Some((mut child, _guard)) = self.running.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
