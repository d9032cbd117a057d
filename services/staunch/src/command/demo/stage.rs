//! The processes of the demo: a broker, a database, three roles in this process, an executor as a
//! child process; and the lines that it prints.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bus::Bus;
use chassis::{Life, Origin, Setting, Settings};
use ingress::{Demo, DemoExecutor};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{self, Executor, Handed, Wanted};
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
    /// The number of executors that were started.
    executors: u32,
    /// The given settings, for the executors.
    handed: Handed,
    life: Life,
    // The last field: it is dropped after everything that uses it.
    _folder: TempDir,
}

impl Stage {
    /// Starts everything, and prints a line for each part. `given` has the flags of the command line.
    pub(super) async fn start(
        given: &chassis::Args,
        mut settings: Settings,
        life: Life,
        demo: Demo,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        refuse_what_it_brings(&settings)?;
        say::progress(&format!("Studio: {}/", settings.public_url()));
        let handed = handed(given, &settings);
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
        let roles = Roles::start(&settings, &life, Some(demo)).await?;
        let url = settings.public_url();
        line(began, &format!("ingress, timer and cache-notifier run in this process: {url}"));
        let mut stage = Self {
            client: Client::to(&url, None)?,
            bus: roles.bus(),
            began,
            local,
            roles,
            executor: None,
            executors: 0,
            handed,
            life,
            _folder: folder,
        };
        let DemoExecutor { node, pid } = stage.start_executor().await?;
        stage.line(&format!("{node} runs as a child process: pid {pid}"));
        Ok(stage)
    }

    /// Imports and publishes the example.
    pub(super) async fn apply_example(&self) -> Result<(), Failure> {
        let document: Value = serde_json::from_str(EXAMPLE)
            .map_err(|error| Failure::failed(format!("the example is not JSON: {error}")))?;
        let applied = apply(&self.client, &document).await?;
        if let Some(late) = applied.late() {
            return Err(Failure::failed(format!("the example is published, but {late}")));
        }
        self.line(&format!(
            "workflow {} version {} (Elsa 3 JSON) is published; every node knows it",
            applied.definition_id, applied.version
        ));
        Ok(())
    }

    /// Starts an executor.
    pub(super) async fn start_executor(&mut self) -> Result<DemoExecutor, Failure> {
        self.executors += 1;
        let wanted = Wanted {
            nats_url: self.local.nats_url(),
            database_url: self.local.database_url(),
            base_url: self.client.server().to_owned(),
            node: format!("executor-{}", self.executors),
            log: child::log_in(self.local.folder()),
            handed: self.handed.clone(),
        };
        let executor = self.executor.insert(Executor::start(&wanted).await?);
        Ok(DemoExecutor { node: wanted.node, pid: executor.pid() })
    }

    /// The executor that works.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn executor(&self) -> Result<DemoExecutor, Failure> {
        let executor = self.executor.as_ref();
        let pid = executor.map(Executor::pid).ok_or_else(|| Failure::failed("no executor runs"))?;
        Ok(DemoExecutor { node: format!("executor-{}", self.executors), pid })
    }

    /// Kills the executor; returns which it was.
    pub(super) async fn kill_executor(&mut self) -> Result<DemoExecutor, Failure> {
        let killed = self.executor()?;
        if let Some(executor) = self.executor.take() {
            executor.kill().await?;
        }
        Ok(killed)
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

/// Settings of the demo's own process: an executor serves no HTTP, and has its own name.
const OWN: [&str; 7] = ["listen", "admin-listen", "base-url", "node", "auth", "api-key", "log"];

/// The given settings that the demo does not set itself, for its executors. An executor inherits the
/// environment, and reads the same file; what flags say it gets as variables, with which passwords
/// stay out of its command line.
fn handed(given: &chassis::Args, settings: &Settings) -> Handed {
    let mut handed = Handed::default();
    // A variable or the file may have the address of the demo's own process.
    handed.flags.push("--admin-listen=".to_owned());
    if settings.is_default("allow-private-addresses") {
        let allowed = settings.allow_private_addresses;
        handed.flags.push(format!("--allow-private-addresses={allowed}"));
    }
    if let Some(file) = &given.config {
        handed.variables.push((chassis::variable_of("config"), file.clone().into()));
    }
    let is_for_it = |name: &str| !BROUGHT.contains(&name) && !OWN.contains(&name);
    for (name, text) in given.given().into_iter().filter(|(name, _)| is_for_it(name)) {
        let variable = chassis::variable_of(name);
        let is_setting = |name: &str| settings.all().iter().any(|one| one.name == name);
        if !is_setting(&format!("{name}-file")) {
            // Two sources of one value would be refused.
            handed.left_out.push(format!("{variable}_FILE"));
        }
        match text {
            // An empty variable counts as absent.
            "" => handed.flags.push(format!("--{name}=")),
            text => handed.variables.push((variable, text.into())),
        }
    }
    handed
}

fn line(began: Instant, text: &str) {
    say::progress(&format!("{:>7.1} s  {text}", began.elapsed().as_secs_f64()));
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn settings_of(given: &chassis::Args, variables: &[(&str, &str)]) -> Settings {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Settings::resolve(given, &|name| find(name).map(|(_, text)| (*text).to_owned())).unwrap()
    }

    #[test]
    fn an_executor_gets_passwords_as_they_are_and_out_of_sight() {
        let mail = "smtp://shop:hunter2@mail.example:587";
        let shop = "shop=postgres://shop:hunter3@db.example/shop";
        let given = chassis::Args {
            listen: Some("127.0.0.1:7001".to_owned()),
            smtp_url: Some(mail.to_owned()),
            sql_connections: Some(shop.to_owned()),
            archive_to: Some(String::new()),
            ..chassis::Args::default()
        };
        let handed = handed(&given, &settings_of(&given, &[]));
        let variable = |name: &str, text: &str| (name.to_owned(), OsString::from(text));
        let expected =
            [variable("STAUNCH_SQL_CONNECTIONS", shop), variable("STAUNCH_SMTP_URL", mail)];
        assert_eq!(handed.variables, expected);
        assert_eq!(
            handed.left_out,
            ["STAUNCH_SQL_CONNECTIONS_FILE", "STAUNCH_SMTP_URL_FILE", "STAUNCH_ARCHIVE_TO_FILE"]
        );
        let flags = ["--admin-listen=", "--allow-private-addresses=false", "--archive-to="];
        assert_eq!(handed.flags, flags);
    }

    #[test]
    fn an_executor_inherits_what_is_no_flag() {
        let given = chassis::Args { config: Some("demo.toml".into()), ..chassis::Args::default() };
        let variables = [
            ("STAUNCH_SMTP_URL", "smtp://shop:hunter2@mail.example"),
            ("STAUNCH_ALLOW_PRIVATE_ADDRESSES", "true"),
        ];
        let settings = settings_of(&chassis::Args::default(), &variables);
        let handed = handed(&given, &settings);
        assert_eq!(handed.variables, [("STAUNCH_CONFIG".to_owned(), OsString::from("demo.toml"))]);
        assert_eq!((handed.flags, handed.left_out), (vec!["--admin-listen=".to_owned()], vec![]));
    }
}
