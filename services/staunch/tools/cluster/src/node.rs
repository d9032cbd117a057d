//! One node: a process with its log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use nats_server::{Guard, free_port, signal, suspend};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::NodePlan;

/// How long a node may take to start.
const READY_MAX: Duration = Duration::from_secs(60);
/// How long a node may take to stop in order; its own limit is 30 s.
const STOP_MAX: Duration = Duration::from_secs(40);
const ANSWER_MAX: Duration = Duration::from_secs(5);
const HEALTHY: &str = "HTTP/1.1 200";
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Bytes of a log that an error shows.
const LINES_SHOWN: usize = 40;

/// The settings of all nodes of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) binary: PathBuf,
    pub(crate) nats_url: String,
    pub(crate) database_url: String,
    pub(crate) folder: PathBuf,
    pub(crate) preload: Option<PathBuf>,
}

/// The end of a node after a stop signal.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Its exit status.
    pub status: ExitStatus,
    /// The time from the signal to the end.
    pub took: Duration,
}

/// A node, running or not. It ends when this value is dropped or this process ends.
#[derive(Debug)]
pub struct Node {
    plan: NodePlan,
    around: Surroundings,
    listen: String,
    /// The address of its health without TLS, where its API has TLS.
    admin: Option<String>,
    running: Option<Running>,
    /// The position in its log where the current run begins.
    log_start: u64,
}

#[derive(Debug)]
struct Running {
    child: Child,
    guard: Guard,
}

impl Node {
    pub(crate) fn begin(plan: NodePlan, around: Surroundings) -> anyhow::Result<Self> {
        let host = plan.host.as_deref().unwrap_or("127.0.0.1");
        let listen = format!("{host}:{}", free_port()?);
        let admin = match plan.tls {
            Some(_) => Some(format!("127.0.0.1:{}", free_port()?)),
            None => None,
        };
        let mut node = Self { plan, around, listen, admin, running: None, log_start: 0 };
        node.launch()?;
        Ok(node)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// The plan by which it was started.
    #[must_use]
    pub fn plan(&self) -> &NodePlan {
        &self.plan
    }

    /// The plan for its next start.
    pub fn plan_mut(&mut self) -> &mut NodePlan {
        &mut self.plan
    }

    /// The address of its HTTP API, the same over restarts; unused if it has no `ingress`.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.plan.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.listen)
    }

    /// Where it answers about its health, without TLS.
    #[must_use]
    pub fn health_url(&self) -> String {
        format!("http://{}", self.admin.as_ref().unwrap_or(&self.listen))
    }

    /// Its process id, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// True when it was started and has not ended.
    pub fn is_running(&mut self) -> bool {
        let running = self.running.as_mut();
        running.is_some_and(|running| matches!(running.child.try_wait(), Ok(None)))
    }

    /// Its log file, with all its runs.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.around.folder.join(format!("{}.log", self.plan.name))
    }

    /// Its log since its last start.
    #[must_use]
    pub fn said(&self) -> String {
        let all = std::fs::read(self.log()).unwrap_or_default();
        let start = usize::try_from(self.log_start).unwrap_or(usize::MAX).min(all.len());
        String::from_utf8_lossy(&all[start..]).into_owned()
    }

    /// Ends it at once: SIGKILL, as a crash or a power cut does.
    ///
    /// # Errors
    /// When it was not started, or the signal cannot be sent.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let running = self.running.take();
        let Running { mut child, guard } =
            running.with_context(|| format!("{} is not running", self.plan.name))?;
        let killed = child.kill().context("cannot kill a node");
        let waited = child.wait().context("cannot wait for a node");
        guard.dismiss();
        killed.and(waited).map(drop)
    }

    /// Asks it to finish its work in progress and end: SIGTERM. Kills it after 40 s.
    ///
    /// # Errors
    /// When it was not started, or does not end by itself.
    pub async fn stop(&mut self) -> anyhow::Result<Exit> {
        let name = self.plan.name.clone();
        let running = self.running.as_mut().with_context(|| format!("{name} is not running"))?;
        let began = Instant::now();
        if running.child.try_wait()?.is_none() {
            signal(running.child.id(), "TERM")?;
        }
        loop {
            if let Some(status) = running.child.try_wait()? {
                if let Some(running) = self.running.take() {
                    running.guard.dismiss();
                }
                return Ok(Exit { status, took: began.elapsed() });
            }
            if began.elapsed() >= STOP_MAX {
                self.kill()?;
                bail!("{name} did not end within {STOP_MAX:?}:\n{}", self.last_words());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Stops its clock, as a paused machine does.
    ///
    /// # Errors
    /// When it does not run.
    pub fn suspend(&self) -> anyhow::Result<()> {
        suspend(self.pid().context("the node is not running")?)
    }

    /// Lets it go on after [`Node::suspend`].
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        signal(self.pid().context("the node is not running")?, "CONT")
    }

    /// Starts it again, killed before where it still runs, at the same address, and waits until it
    /// works.
    ///
    /// # Errors
    /// When it does not begin to work within 60 s.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.relaunch()?;
        self.wait_ready().await
    }

    /// Starts it again and waits for nothing.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn relaunch(&mut self) -> anyhow::Result<()> {
        if self.running.is_some() {
            self.kill()?;
        }
        self.launch()
    }

    /// True when all its roles work and its API, if it has one, reports ready.
    pub async fn is_ready(&self) -> bool {
        let said = self.said();
        let roles = self.plan.roles.split(',');
        let mut awaited = roles.map(|role| if role == "all" { "executor" } else { role });
        let is_announced =
            self.plan.is_service || awaited.all(|role| said.contains(&format!("{role} is ready")));
        is_announced && (!self.plan.has_api() || self.is_healthy().await)
    }

    /// True when its API reports ready.
    pub async fn is_healthy(&self) -> bool {
        let address = self.admin.as_ref().unwrap_or(&self.listen);
        let asked = tokio::time::timeout(ANSWER_MAX, ask(address)).await;
        asked.is_ok_and(|answer| answer.is_ok_and(|text| text.starts_with(HEALTHY)))
    }

    /// Waits until it works.
    ///
    /// # Errors
    /// When it has ended, or does not work within 60 s: the text has the end of its log.
    pub async fn wait_ready(&mut self) -> anyhow::Result<()> {
        let give_up = Instant::now() + READY_MAX;
        while !self.is_ready().await {
            let name = self.plan.name.clone();
            if let Some(status) = self.ended()? {
                bail!("{name} has ended ({status}):\n{}", self.last_words());
            }
            let is_late = Instant::now() >= give_up;
            ensure!(!is_late, "{name} is not ready after {READY_MAX:?}:\n{}", self.last_words());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let running = self.running.as_mut().context("the node is not running")?;
        Ok(running.child.try_wait()?)
    }

    fn last_words(&self) -> String {
        let said = self.said();
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n")
    }

    fn launch(&mut self) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.log())?;
        self.log_start = log.metadata()?.len();
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A process group of its own: Ctrl-C reaches this process only, which then stops the node.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let program = command.get_program().to_owned();
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot run {}", Path::new(&program).display()))?;
        match Guard::watch(child.id(), "KILL", None) {
            Ok(guard) => self.running = Some(Running { child, guard }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let Self { plan, around, listen, .. } = self;
        let binary = plan.binary.as_ref().unwrap_or(&around.binary);
        let mut command = match plan.under.split_first() {
            None => Command::new(binary),
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(binary);
                command
            }
        };
        if !plan.is_service {
            command.args(["server", "--role", &plan.roles]);
        }
        command.args(["--listen", listen, "--node", &plan.name, "--auth", &plan.auth]);
        if let (Some((cert, key)), Some(admin)) = (&plan.tls, &self.admin) {
            command.arg("--tls-cert").arg(cert).arg("--tls-key").arg(key);
            command.args(["--admin-listen", admin]);
        }
        command.args(["--nats-url", plan.nats_url.as_ref().unwrap_or(&around.nats_url)]);
        command
            .args(["--database-url", plan.database_url.as_ref().unwrap_or(&around.database_url)]);
        command.args(&plan.arguments).current_dir(&around.folder);
        if let Some(library) = &around.preload {
            command.env("LD_PRELOAD", library);
        }
        // No load balancer is in front, unless the plan says so.
        command.env("STAUNCH_DRAIN_DELAY", "0s");
        command.envs(plan.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The whole response of a node to a readiness request.
async fn ask(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let question =
        format!("GET /health/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(question.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.running.is_some()
            && let Err(error) = self.kill()
        {
            tracing::warn!(%error, "a node could not be ended");
        }
        if std::thread::panicking() {
            tracing::error!(node = self.plan.name, log = self.last_words(), "a story failed");
        }
    }
}
