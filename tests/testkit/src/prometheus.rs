//! A real Prometheus for tests, if it is installed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nats_server::Guard;
use tempfile::TempDir;

use crate::{free_port, skip};

const FOLDERS: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/opt/prometheus"];

/// A Prometheus; it ends when this value is dropped.
#[derive(Debug)]
pub struct TestPrometheus {
    port: u16,
    child: Child,
    // Ends the server when this process is gone, in whatever way.
    _guard: Guard,
    directory: TempDir,
}

impl TestPrometheus {
    /// The address of its HTTP API.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it has written to its log.
    #[must_use]
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for TestPrometheus {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The program `promtool`. `None`, and a line in the output, if it is not installed.
///
/// # Panics
/// When `STAUNCH_TEST_REQUIRE` names `prometheus`.
#[must_use]
pub fn promtool() -> Option<PathBuf> {
    find("promtool")
}

/// Starts a Prometheus with this configuration, and these files beside it. `None`, and a line in the
/// output, if it is not installed. It may not answer yet.
///
/// # Panics
/// When it does not start, or when `STAUNCH_TEST_REQUIRE` names `prometheus`.
#[must_use]
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub fn prometheus(config: &str, files: &[(&str, &str)]) -> Option<TestPrometheus> {
    let program = find("prometheus")?;
    let directory = tempfile::Builder::new().prefix("staunch-prometheus-").tempdir();
    let directory = directory.expect("a temporary directory can be made");
    for (name, text) in files.iter().copied().chain([("prometheus.yaml", config)]) {
        std::fs::write(directory.path().join(name), text).expect("a file can be written");
    }
    let log = std::fs::File::create(directory.path().join("log")).expect("a log can be made");
    let port = free_port();
    let mut command = Command::new(program);
    command.args(["--config.file=prometheus.yaml", "--storage.tsdb.path=data"]);
    command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir(directory.path());
    let child = command.spawn().expect("prometheus runs");
    let guard = Guard::watch(child.id(), "KILL", Some(directory.path())).expect("a guard runs");
    Some(TestPrometheus { port, child, _guard: guard, directory })
}

fn find(program: &str) -> Option<PathBuf> {
    let mut places = FOLDERS.iter().map(|folder| Path::new(folder).join(program));
    let found = places.find(|path| path.is_file());
    if found.is_none() {
        skip("prometheus", "prometheus", "it is not installed; apt install prometheus");
    }
    found
}
