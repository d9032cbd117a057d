//! The processes of the demo: a broker, a database, three roles in this process, an executor as a
//! child process; and the lines that it prints.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bus::Bus;
use chassis::{Life, Origin, Setting, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{self, Executor, Wanted};
use crate::client::Client;
use crate::command::apply::apply;
use crate::local::{self, Local};
use crate::roles::Roles;
use crate::{Failure, say};

const EXAMPLE: &str = include_str!("../../../examples/order-approval.json");
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The processes of the demo.
pub(super) struct Stage {
    pub(super) client: Client,
    pub(super) bus: Arc<dyn Bus>,
    began: Instant,
    local: Local,
    roles: Roles,
    executor: Option<Executor>,
    /// The settings of the command line, the environment and the file, for the executors.
    flags: Vec<String>,
    life: Life,
    // The last field: it is dropped after everything that uses it.
    _folder: TempDir,
}

impl Stage {
    /// Starts everything, and prints a line for each part.
    pub(super) async fn start(mut settings: Settings, life: Life) -> Result<Self, Failure> {
        let began = Instant::now();
        refuse_what_it_brings(&settings)?;
        let flags = flags_of_executor(&settings);
        let folder = tempfile::Builder::new()
            .prefix("staunch-demo-")
            .tempdir()
            .map_err(|error| Failure::failed(format!("no temporary folder: {error}")))?;
        let local = Local::start(folder.path(), None, &|text| line(began, text)).await?;
        line(began, &format!("nats-server {} listens on {}", local.version(), local.nats_url()));
        settings.nats_url = local.nats_url();
        settings.database_url = local.database_url();
        line(began, &format!("SQLite keeps the state in {}", folder.path().display()));
        settings.role = ["ingress", "timer", "cache-notifier"].map(str::to_owned).to_vec();
        let roles = Roles::start(&settings, &life).await?;
        let url = settings.public_url();
        line(began, &format!("ingress, timer and cache-notifier run in this process: {url}"));
        let mut stage = Self {
            client: Client::to(&url, None)?,
            bus: roles.bus(),
            began,
            local,
            roles,
            executor: None,
            flags,
            life,
            _folder: folder,
        };
        let pid = stage.start_executor().await?;
        stage.line(&format!("executor runs as a child process: pid {pid}"));
        Ok(stage)
    }

    /// Imports and publishes the example.
    pub(super) async fn apply_example(&self) -> Result<(), Failure> {
        let document: Value = serde_json::from_str(EXAMPLE)
            .map_err(|error| Failure::failed(format!("the example is not JSON: {error}")))?;
        let applied = apply(&self.client, &document).await?;
        if !applied.everywhere {
            let missing = applied.missing.join(", ");
            return Err(Failure::failed(format!("the example is not known to {missing}")));
        }
        self.line(&format!(
            "workflow {} version {} (Elsa 3 JSON) is published; every node knows it",
            applied.definition_id, applied.version
        ));
        Ok(())
    }

    /// Starts an executor; returns its process id.
    pub(super) async fn start_executor(&mut self) -> Result<u32, Failure> {
        let wanted = Wanted {
            nats_url: self.local.nats_url(),
            database_url: self.local.database_url(),
            base_url: self.client.server().to_owned(),
            log: child::log_in(self.local.folder()),
            flags: self.flags.clone(),
        };
        let executor = Executor::start(&wanted).await?;
        let pid = executor.pid();
        self.executor = Some(executor);
        Ok(pid)
    }

    /// Kills the executor; returns the process id that it had.
    pub(super) async fn kill_executor(&mut self) -> Result<u32, Failure> {
        let Some(executor) = self.executor.take() else {
            return Err(Failure::failed("there is no executor to kill"));
        };
        let pid = executor.pid();
        executor.kill().await?;
        Ok(pid)
    }

    /// Prints a line with the time since the beginning.
    pub(super) fn line(&self, text: &str) {
        line(self.began, text);
    }

    /// Calls `look` until it finds something, for at most `bound`.
    pub(super) async fn until<T>(
        &self,
        what: &str,
        bound: Duration,
        mut look: impl AsyncFnMut() -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        loop {
            if let Some(found) = look().await? {
                return Ok(found);
            }
            if began.elapsed() > bound {
                return Err(Failure::failed(format!("not within {} s: {what}", bound.as_secs())));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The result as JSON: all steps succeeded.
    pub(super) fn document(&self) -> Value {
        json!({
            "passed": true, "seconds": self.began.elapsed().as_secs_f64(),
            "url": self.client.server(), "natsUrl": self.local.nats_url()
        })
    }

    /// Prints commands to try next.
    pub(super) fn next_steps(&self) {
        local::next_steps(self.client.server(), &self.local.nats_url(), Some("order-approval"));
    }

    /// Stops everything in order.
    pub(super) async fn stop(self) -> Result<(), Failure> {
        let Self { roles, executor, mut local, life, .. } = self;
        life.begin_stop();
        if let Some(executor) = executor {
            executor.stop().await?;
        }
        roles.ended().await;
        local.stop().await
    }
}

/// The demo sets these itself.
const BROUGHT: [&str; 3] = ["role", "nats-url", "database-url"];

fn refuse_what_it_brings(settings: &Settings) -> Result<(), Failure> {
    let given = |one: &&Setting| one.origin == Origin::Flag && BROUGHT.contains(&one.name);
    match settings.all().iter().find(given) {
        Some(Setting { name, .. }) => Err(Failure::usage(format!(
            "the demo brings its own broker, database and roles: leave out --{name}, or use \
             `staunch dev`"
        ))),
        None => Ok(()),
    }
}

/// The given settings that the demo does not set itself, for the executor's command line.
fn flags_of_executor(settings: &Settings) -> Vec<String> {
    // The executor serves no HTTP, and has its own name.
    let others = ["listen", "admin-listen", "base-url", "node", "auth", "api-key", "log"];
    let is_for_it = |one: &&Setting| {
        let is_other = BROUGHT.contains(&one.name) || others.contains(&one.name);
        one.origin != Origin::Default && !is_other
    };
    let given = settings.all().iter().filter(is_for_it);
    let mut flags: Vec<_> = given.map(|one| format!("--{}={}", one.name, one.value)).collect();
    if settings.is_default("allow-private-addresses") {
        flags.push(format!("--allow-private-addresses={}", settings.allow_private_addresses));
    }
    flags
}

fn line(began: Instant, text: &str) {
    say::progress(&format!("{:>7.1} s  {text}", began.elapsed().as_secs_f64()));
}
