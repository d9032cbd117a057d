//! A real SMTP server for tests: aiosmtpd from PyPI, in an environment of its own, made once.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nats_server::Guard;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::skip;

const PACKAGE: &str = "aiosmtpd==1.4.6";
const SCRIPT: &str = include_str!("smtp.py");
const CERTIFICATE: &str = "[req]\nprompt=no\ndistinguished_name=name\nx509_extensions=ext\n\
     [name]\nCN=localhost\n[ext]\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n";

static PYTHON: OnceCell<Option<PathBuf>> = OnceCell::const_new();

/// How a client gets to TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// By STARTTLS, which the server requires.
    Starttls,
    /// From the start.
    Implicit,
    /// Not at all.
    None,
}

/// An SMTP server on a free port of `localhost`. With TLS, it knows the user `shop` with the password
/// `s3cret/+`. It refuses receivers whose name is `nobody`.
#[derive(Debug)]
pub struct TestSmtp {
    port: u16,
    child: Child,
    _guard: Guard,
    directory: TempDir,
}

/// A separate server. `None`, and a line in the output, if there is no Python with a network.
///
/// # Panics
/// When it does not start, or when `STAUNCH_TEST_REQUIRE` names `smtp`.
#[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
pub async fn smtp(tls: SmtpTls) -> Option<TestSmtp> {
    let Some(python) = PYTHON.get_or_init(async || python()).await else {
        skip("smtp", "smtp", "no python3 with venv, or PyPI is not reached");
        return None;
    };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("messages")).expect("a folder can be made");
    std::fs::write(at("server.py"), SCRIPT).expect("a script can be written");
    std::fs::write(at("openssl.cnf"), CERTIFICATE).expect("a file can be written");
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-config"]);
    openssl.arg(at("openssl.cnf")).arg("-keyout").arg(at("key.pem"));
    let made = openssl.arg("-out").arg(at("cert.pem")).output().expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mode = match tls {
        SmtpTls::Starttls => "starttls",
        SmtpTls::Implicit => "implicit",
        SmtpTls::None => "none",
    };
    let mut server = Command::new(python);
    server.arg(at("server.py")).arg(at("messages")).arg(mode);
    server.arg(at("cert.pem")).arg(at("key.pem"));
    let log = std::fs::File::create(at("log")).expect("a log can be made");
    server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = server.spawn().expect("python runs");
    let guard = Guard::watch(child.id(), "KILL", None).expect("a guard runs");
    let said = child.stdout.take().expect("its output is read");
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).expect("it says its port");
    let log = || std::fs::read_to_string(at("log")).unwrap_or_default();
    let port = line.trim().parse().unwrap_or_else(|_| unreachable!("no port: {}", log()));
    Some(TestSmtp { port, child, _guard: guard, directory })
}

impl TestSmtp {
    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The file with its certificate, to be trusted.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }

    /// The messages so far, in order, as JSON: `from`, `to`, `user`, `encrypted`, `data`.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without its server cannot go on")]
    pub fn messages(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.directory.path().join("messages"));
        let mut paths: Vec<_> = folder
            .expect("the folder can be read")
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect();
        paths.sort();
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a message can be read");
        paths.iter().map(read).collect()
    }
}

impl Drop for TestSmtp {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The Python of an environment with the server; the environment is made if there is none.
fn python() -> Option<PathBuf> {
    let cache = std::env::temp_dir().join("staunch-test-smtp-1.4.6");
    if !has_server(&cache) {
        // Another process may make it at the same time: the first that is done wins.
        let parent = tempfile::Builder::new().prefix("staunch-venv-").tempdir().ok()?;
        let made = parent.path().join("venv");
        run(Command::new("python3").args(["-m", "venv", "--copies"]).arg(&made))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
        run(Command::new(made.join("bin/python3")).args(pip))?;
        if std::fs::rename(&made, &cache).is_err() && !has_server(&cache) {
            return None;
        }
    }
    Some(cache.join("bin/python3"))
}

fn has_server(environment: &Path) -> bool {
    let mut python = Command::new(environment.join("bin/python3"));
    python.args(["-c", "import aiosmtpd"]).output().is_ok_and(|ran| ran.status.success())
}

fn run(command: &mut Command) -> Option<()> {
    command.output().ok().filter(|ran| ran.status.success()).map(drop)
}
