//! Runs one nats-server with JetStream as a child on loopback.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::guard::{Guard, signal, suspend};

/// The longest time until a server accepts connections. It first reads its store, which may be
/// large.
const START_MAX: Duration = Duration::from_secs(30);
/// The longest time that a server may take to stop in order.
const STOP_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Streams reserve room when they are created, far more than a trial uses. Without this figure the
/// server would grant three quarters of the free disk, and refuse them on a disk that is nearly
/// full.
const DEFAULT_CONFIG: &str = "jetstream { max_file_store: 1TB }\n";

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The nats-server, as [`crate::find()`] finds it.
    pub binary: PathBuf,
    /// The folder of JetStream's files; created if it does not exist.
    pub store_dir: PathBuf,
    /// The port on 127.0.0.1; a free one if none is given.
    pub port: Option<u16>,
    /// A configuration file; the settings given here take precedence over it.
    pub config: Option<PathBuf>,
    /// The log; `nats-server.log` beside the store if none is given.
    pub log: Option<PathBuf>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Variables that the configuration names, on top of this process's.
    pub environment: Vec<(String, String)>,
    /// A folder that is deleted after the server has ended, when this process is killed.
    pub remove_if_killed: Option<PathBuf>,
}

impl Options {
    /// A server on a free port with this store.
    #[must_use]
    pub fn new(binary: &Path, store_dir: &Path) -> Self {
        Self {
            binary: binary.to_owned(),
            store_dir: store_dir.to_owned(),
            port: None,
            config: None,
            log: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            remove_if_killed: None,
        }
    }
}

/// A running server: it ends when this value is dropped, and when this process ends.
#[derive(Debug)]
pub struct Server {
    options: Options,
    log: PathBuf,
    port: u16,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    guard: Guard,
}

impl Server {
    /// Starts a server and waits until it accepts connections and JetStream is up.
    ///
    /// # Errors
    /// When it does not start within 30 s: the text has the end of its log.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&options.store_dir)
            .with_context(|| format!("cannot create {}", options.store_dir.display()))?;
        let log = options.log.clone().unwrap_or_else(|| {
            options.store_dir.parent().unwrap_or(&options.store_dir).join("nats-server.log")
        });
        let mut server = Self { port: options.port.unwrap_or(0), options, log, running: None };
        server.launch().await?;
        Ok(server)
    }

    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The port; it stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// Its log file.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The folder of JetStream's files.
    #[must_use]
    pub fn store_dir(&self) -> &Path {
        &self.options.store_dir
    }

    /// The server was started, and has not ended.
    pub fn is_running(&mut self) -> bool {
        let running = self.running.as_mut();
        running.is_some_and(|running| matches!(running.child.try_wait(), Ok(None)))
    }

    /// Ends it at once, as a crash of the process does.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let Some(Running { mut child, guard }) = self.running.take() else { return Ok(()) };
        let killed = child.kill();
        let waited = child.wait();
        guard.dismiss();
        killed.context("cannot kill nats-server")?;
        waited.context("cannot wait for nats-server")?;
        Ok(())
    }

    /// Ends it in order; kills it if that takes longer than 10 s.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        let Some(pid) = self.pid() else { return Ok(()) };
        if self.is_running() {
            signal(pid, "TERM")?;
        }
        let give_up = Instant::now() + STOP_MAX;
        while self.is_running() && Instant::now() < give_up {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        self.kill()
    }

    /// Starts it again after [`Server::kill`] or [`Server::stop`], on the same port and store.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.kill()?;
        self.launch().await
    }

    /// Stops its clock, as a paused machine does.
    ///
    /// # Errors
    /// When it does not run.
    pub fn suspend(&self) -> anyhow::Result<()> {
        suspend(self.pid().context("nats-server does not run")?)
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        signal(self.pid().context("nats-server does not run")?, "CONT")
    }

    async fn launch(&mut self) -> anyhow::Result<()> {
        let Options { binary, store_dir, config, arguments, environment, .. } = &self.options;
        // The server chooses a free port itself and writes it to a file, so no other process can
        // take the port in between.
        let ports = tempfile::tempdir().context("cannot make a directory for the port")?;
        let default_config = tempfile::NamedTempFile::new().context("cannot make a file")?;
        std::fs::write(&default_config, DEFAULT_CONFIG).context("cannot write the settings")?;
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut command = Command::new(binary);
        command.args(["--jetstream", "--addr", "127.0.0.1", "--port", &port, "--store_dir"]);
        command.arg(store_dir).arg("--ports_file_dir").arg(ports.path()).args(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command.arg("--config").arg(config.as_deref().unwrap_or(default_config.path()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // A separate process group: Ctrl-C reaches only this process, which stops the server last.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().with_context(|| format!("cannot run {}", binary.display()))?;
        let guard = Guard::watch(child.id(), "KILL", self.options.remove_if_killed.as_deref());
        let guard = match guard {
            Ok(guard) => guard,
            Err(error) => {
                let mut child = child;
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        self.running = Some(Running { child, guard });
        match tokio::time::timeout(START_MAX, self.wait_ready(ports.path())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                self.kill()?;
                Err(error)
            }
            Err(_) => {
                self.kill()?;
                bail!("nats-server is not ready after {START_MAX:?}:\n{}", self.log_end())
            }
        }
    }

    async fn wait_ready(&mut self, ports: &Path) -> anyhow::Result<()> {
        loop {
            // Whoever else listens on a port that was asked for does not write this file.
            if let Some(port) = read_port(ports) {
                self.port = port;
                if is_ready(port).await {
                    return Ok(());
                }
            }
            if !self.is_running() {
                bail!("nats-server has ended:\n{}", self.log_end());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn log_end(&self) -> String {
        const END: i64 = 2_000;
        let read = || -> std::io::Result<String> {
            let mut file = File::open(&self.log)?;
            let length = i64::try_from(file.metadata()?.len()).unwrap_or(END);
            file.seek(SeekFrom::End(-length.min(END)))?;
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        read().unwrap_or_else(|error| format!("(no log: {error})"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            tracing::warn!(%error, "a nats-server could not be ended");
        }
    }
}

/// The file has `{"nats": ["nats://127.0.0.1:4222"], …}`.
fn read_port(ports: &Path) -> Option<u16> {
    let file = std::fs::read_dir(ports).ok()?.filter_map(Result::ok).next()?;
    let text = std::fs::read_to_string(file.path()).ok()?;
    let ports: serde_json::Value = serde_json::from_str(&text).ok()?;
    ports["nats"][0].as_str()?.rsplit_once(':')?.1.parse().ok()
}

/// The server first sends `INFO {…}`, which says whether JetStream is up.
async fn is_ready(port: u16) -> bool {
    let greeting = async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = TcpStream::connect(address).await.ok()?;
        let mut text = Vec::new();
        while !text.ends_with(b"\r\n") {
            if stream.read_buf(&mut text).await.ok()? == 0 {
                return None;
            }
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let greeting = tokio::time::timeout(Duration::from_secs(2), greeting).await;
    matches!(greeting, Ok(Some(text)) if text.contains("\"jetstream\":true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Find, find};

    /// A stop signal takes effect a moment after it is sent.
    async fn silent(port: u16) {
        for _ in 0..100 {
            if !is_ready(port).await {
                return;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        panic!("port {port} goes on answering");
    }

    #[tokio::test]
    async fn a_server_survives_its_kill_on_the_same_port_and_dies_with_its_handle() {
        let directory = tempfile::tempdir().unwrap();
        let binary = find(&Find::from_environment(), &|text| println!("{text}")).await.unwrap();
        let options = Options::new(&binary.path, &directory.path().join("store"));
        let mut server = Server::start(options).await.unwrap();
        let (port, pid) = (server.port(), server.pid().unwrap());
        assert!(server.is_running());
        server.kill().unwrap();
        assert!(!is_ready(port).await);
        server.restart().await.unwrap();
        assert_eq!(server.port(), port);
        assert_ne!(server.pid(), Some(pid));
        server.suspend().unwrap();
        silent(port).await;
        server.resume().unwrap();
        assert!(is_ready(port).await);
        server.stop().await.unwrap();
        assert!(!server.is_running());
        server.restart().await.unwrap();
        drop(server);
        assert!(!is_ready(port).await);
    }

    #[tokio::test]
    async fn another_server_on_the_port_is_not_taken_for_ours() {
        let binary = find(&Find::from_environment(), &|text| println!("{text}")).await.unwrap();
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = Server::start(Options::new(&binary.path, here.path())).await.unwrap();
        let mut second = Options::new(&binary.path, there.path());
        second.port = Some(first.port());
        let error = Server::start(second).await.err().unwrap().to_string();
        assert!(error.contains("nats-server has ended"), "{error}");
    }

    #[tokio::test]
    async fn a_server_that_cannot_start_shows_its_log() {
        let directory = tempfile::tempdir().unwrap();
        let binary = find(&Find::from_environment(), &|text| println!("{text}")).await.unwrap();
        let mut options = Options::new(&binary.path, &directory.path().join("store"));
        options.config = Some(directory.path().join("missing.conf"));
        let error = Server::start(options).await.unwrap_err();
        assert!(format!("{error:#}").contains("missing.conf"), "{error:#}");
    }
}
