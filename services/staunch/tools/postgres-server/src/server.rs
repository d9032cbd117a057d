//! Runs one PostgreSQL as a child on loopback.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use nats_server::{Guard, free_port, signal, suspend};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::Programs;
use crate::find::run;

const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Enough for several nodes, each with its pool.
const CONNECTIONS_MAX: &str = "max_connections=300";
/// Settings of a fast server that need not survive a crash of its machine.
const CARELESS: [&str; 3] = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/// The files of its certificate and key.
const TLS_CERT: &str = "tls.pem";
const TLS_KEY: &str = "tls.key";

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its programs, as [`crate::find()`] finds them.
    pub programs: Programs,
    /// Every commit reaches the disk.
    pub durable: bool,
    /// A library that is loaded before all others (`LD_PRELOAD`), to slow down fsync for example.
    pub preload: Option<PathBuf>,
    /// A certificate and its private key, in PEM, for connections with TLS.
    pub tls: Option<(String, String)>,
    /// Further arguments, such as `-c`, `shared_buffers=1GB`.
    pub arguments: Vec<String>,
}

impl Options {
    /// A server that is durable, or one that is fast but not durable.
    #[must_use]
    pub fn new(programs: Programs, durable: bool) -> Self {
        Self { programs, durable, preload: None, tls: None, arguments: Vec::new() }
    }
}

/// What a copy of a running server is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// A backup: a server of its own, with what was committed when the copy was complete.
    Backup,
    /// A standby: it follows the server until it is promoted.
    Standby,
}

/// A running server with an empty database: it ends when this value is dropped, and when this
/// process ends.
#[derive(Debug)]
pub struct Server {
    options: Options,
    port: u16,
    running: Option<Running>,
    // Removed after the server has ended.
    directory: TempDir,
}

#[derive(Debug)]
struct Running {
    child: Child,
    guard: Guard,
}

impl Server {
    /// Creates a data directory, starts a server on it, and waits until it answers.
    ///
    /// # Errors
    /// When it does not start within 60 s: the text has its log.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("staunch-pg-").tempdir()?;
        options.programs.own(directory.path()).await?;
        let mut initdb = options.programs.command("initdb");
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale"]);
        initdb.arg("--no-sync").arg("--pgdata").arg(directory.path().join("data"));
        run(initdb).await?;
        if let Some((cert, key)) = &options.tls {
            for (name, text) in [(TLS_CERT, cert), (TLS_KEY, key)] {
                let path = directory.path().join(name);
                std::fs::write(&path, text)?;
                // PostgreSQL refuses a key that others can read.
                #[cfg(unix)]
                std::fs::set_permissions(
                    &path,
                    std::os::unix::fs::PermissionsExt::from_mode(0o600),
                )?;
                options.programs.own(&path).await?;
            }
        }
        let mut server = Self { options, port: free_port()?, running: None, directory };
        server.launch().await?;
        Ok(server)
    }

    /// Copies a running server with `pg_basebackup`, while clients work on it, and starts the copy on
    /// a port of its own.
    ///
    /// # Errors
    /// When the copy cannot be made, or does not start.
    pub async fn copy_of(of: &Self, copy: Copy) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("staunch-pg-").tempdir()?;
        let options = of.options.clone();
        options.programs.own(directory.path()).await?;
        let mut backup = options.programs.command("pg_basebackup");
        backup.args(["-h", "127.0.0.1", "-p", &of.port.to_string(), "-U", "postgres"]);
        backup.args(["--wal-method=stream", "--checkpoint=fast", "--no-sync"]);
        backup.arg("--pgdata").arg(directory.path().join("data"));
        if copy == Copy::Standby {
            backup.arg("--write-recovery-conf");
        }
        run(backup).await?;
        let mut server = Self { options, port: free_port()?, running: None, directory };
        server.launch().await?;
        Ok(server)
    }

    /// Runs a statement as the administrator.
    ///
    /// # Errors
    /// When the server does not run, or refuses the statement.
    pub async fn run(&self, statement: &str) -> anyhow::Result<()> {
        let mut psql = self.options.programs.command("psql");
        psql.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", "-q"]);
        psql.args(["-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", statement]);
        run(psql).await
    }

    /// The address for clients of this database.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Creates an empty database.
    ///
    /// # Errors
    /// When the server does not run, or has a database of that name.
    pub async fn create(&self, database: &str) -> anyhow::Result<()> {
        let mut create = self.options.programs.command("createdb");
        create.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", database]);
        run(create).await
    }

    /// The process id of its first process, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// The port; it stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// The folder of all its files.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Ends it at once, as a crash does: nothing more is written.
    ///
    /// # Errors
    /// When it does not run, or the system refuses.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let Running { mut child, guard } = self.running.take().context("PostgreSQL is not up")?;
        // Its other processes are killed first: they would notice its death only after a while.
        let orphans = children(child.id());
        let killed = child.kill().context("cannot kill PostgreSQL");
        for orphan in orphans {
            if let Err(error) = signal(orphan, "KILL") {
                tracing::debug!(%error, "a backend was gone already");
            }
        }
        let waited = child.wait().context("cannot wait for PostgreSQL");
        guard.dismiss();
        killed.and(waited).map(drop)
    }

    /// Ends it in order: clients are disconnected, and all data is written.
    ///
    /// # Errors
    /// When it does not run, or does not end within 20 s.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        let running = self.running.as_mut().context("PostgreSQL is not up")?;
        signal(running.child.id(), "INT")?;
        let give_up = Instant::now() + STOP_MAX;
        while running.child.try_wait()?.is_none() {
            ensure!(Instant::now() < give_up, "PostgreSQL does not stop within {STOP_MAX:?}");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if let Some(running) = self.running.take() {
            running.guard.dismiss();
        }
        Ok(())
    }

    /// Starts it again after [`Server::kill`] or [`Server::stop`], on the same port and data.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        if self.running.is_some() {
            self.kill()?;
        }
        let give_up = Instant::now() + START_MAX;
        while let Err(error) = self.launch().await {
            // The old server's processes notice the death of their parent one after the other.
            let is_passing = format!("{error:#}").contains("pre-existing shared memory");
            if !is_passing || Instant::now() >= give_up {
                return Err(error);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Stops the clock of all its processes, as a paused machine does.
    ///
    /// # Errors
    /// When it does not run.
    pub fn suspend(&self) -> anyhow::Result<()> {
        let pid = self.pid().context("PostgreSQL is not up")?;
        // The first process stops first, so that it creates no others meanwhile.
        suspend(pid)?;
        for backend in children(pid) {
            if let Err(error) = suspend(backend) {
                tracing::debug!(%error, "a backend was gone already");
            }
        }
        Ok(())
    }

    /// Lets them continue.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        let pid = self.pid().context("PostgreSQL is not up")?;
        signal_all(&children(pid), "CONT");
        signal(pid, "CONT")
    }

    async fn launch(&mut self) -> anyhow::Result<()> {
        let mut child = self.command()?.spawn().context("cannot run PostgreSQL")?;
        // When this process is killed, QUIT ends all backends at once.
        let guard = match Guard::watch(child.id(), "QUIT", Some(self.directory.path())) {
            Ok(guard) => guard,
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        self.running = Some(Running { child, guard });
        let ready = self.wait_ready().await;
        if ready.is_err()
            && let Err(error) = self.kill()
        {
            tracing::debug!(%error, "PostgreSQL was gone already");
        }
        ready
    }

    fn command(&self) -> anyhow::Result<Command> {
        let Options { programs, durable, preload, tls, arguments } = &self.options;
        let folder = self.directory.path();
        let mut postgres = programs.command("postgres");
        postgres.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        postgres.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        postgres.args(["-c", CONNECTIONS_MAX, "-c", "timezone=UTC"]);
        if !durable {
            postgres.args(CARELESS.iter().flat_map(|setting| ["-c", *setting]));
        }
        if tls.is_some() {
            let file =
                |setting: &str, name: &str| format!("{setting}={}", folder.join(name).display());
            let (cert, key) = (file("ssl_cert_file", TLS_CERT), file("ssl_key_file", TLS_KEY));
            postgres.args(["-c", "ssl=on", "-c", &cert, "-c", &key]);
        }
        postgres.args(arguments);
        if let Some(library) = preload {
            postgres.env("LD_PRELOAD", library);
        }
        // A separate process group: Ctrl-C reaches only this process, which stops the server last.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut postgres, 0);
        postgres.stdout(Stdio::null()).stderr(File::create(self.log())?);
        Ok(postgres)
    }

    async fn wait_ready(&mut self) -> anyhow::Result<()> {
        let give_up = Instant::now() + START_MAX;
        let log = self.log();
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        loop {
            let mut ready = self.options.programs.command("pg_isready");
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if run(ready).await.is_ok() {
                return Ok(());
            }
            let running = self.running.as_mut().context("PostgreSQL is not up")?;
            if let Some(status) = running.child.try_wait()? {
                bail!("PostgreSQL has ended ({status}):\n{}", said());
            }
            ensure!(Instant::now() < give_up, "PostgreSQL does not start:\n{}", said());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(Running { mut child, guard }) = self.running.take() else { return };
        // A suspended process reacts to no other signal.
        let pid = child.id();
        let paused = children(pid);
        let ended = signal(pid, "QUIT").and_then(|()| signal(pid, "CONT"));
        signal_all(&paused, "CONT");
        match ended.and_then(|()| Ok(child.wait()?)) {
            Ok(_) => guard.dismiss(),
            Err(error) => tracing::warn!(%error, "a PostgreSQL could not be ended"),
        }
    }
}

/// The processes that a process has started.
fn children(pid: u32) -> Vec<u32> {
    let found = Command::new("pgrep").args(["-P", &pid.to_string()]).stdin(Stdio::null()).output();
    let text = found.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(|line| line.trim().parse().ok()).collect()
}

fn signal_all(pids: &[u32], name: &str) {
    for pid in pids {
        if let Err(error) = signal(*pid, name) {
            tracing::debug!(%error, "a backend was gone already");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(url: &str) -> bool {
        let sql = ["-q", "-t", "-c", "select 1"];
        let run = Command::new("timeout").arg("2").arg("psql").arg(url).args(sql).output();
        run.is_ok_and(|ran| ran.status.success())
    }

    #[tokio::test]
    async fn a_server_survives_a_kill_a_stop_and_a_pause_and_dies_with_its_handle() {
        let Some(programs) = crate::find() else {
            println!("SKIPPED: PostgreSQL is not installed");
            return;
        };
        let mut server = Server::start(Options::new(programs, true)).await.unwrap();
        server.create("kept").await.unwrap();
        let (url, folder) = (server.url("kept"), server.directory().to_owned());
        assert!(answers(&url));
        server.kill().unwrap();
        assert!(!answers(&url));
        server.restart().await.unwrap();
        assert!(answers(&url));
        server.stop().await.unwrap();
        assert!(!answers(&url));
        server.restart().await.unwrap();
        assert!(answers(&url));
        server.suspend().unwrap();
        assert!(!answers(&url));
        server.resume().unwrap();
        assert!(answers(&url));
        server.suspend().unwrap();
        drop(server);
        assert!(!answers(&url));
        assert!(!folder.exists());
    }
}
