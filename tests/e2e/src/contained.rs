//! The users of `nats/accounts.conf`: each may do its work, and nothing else.

mod attacks;
mod works;

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, Event};
use bus_nats::permissions::{Accounts, User};
use tempfile::TempDir;
use testkit::{TestNats, eventually, executable, free_port, nats_with, sqlite_url, within};
use tokio::process::{Child, Command};

use crate::api::Api;

const SOON: Duration = Duration::from_secs(30);
/// The type of tasks for which `nats/accounts.conf` has a user.
const TASK: &str = "Ship";
const WORKER: &str = "worker-ship";
/// The consumer from which it pulls.
const POOL: &str = "task-Ship-1";

/// A nats-server with the file, and processes that log in as its users.
struct World {
    server: TestNats,
    accounts: Accounts,
    /// Sees everything in the account of Staunch.
    admin: Client,
    jetstream: Context,
    processes: Vec<Child>,
    directory: TempDir,
}

/// A client, and what the server has refused to it.
struct Guest {
    client: Client,
    user: User,
    refused: Arc<Mutex<Vec<String>>>,
}

impl World {
    /// The server, provisioned and migrated, without processes.
    async fn start() -> Self {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nats/accounts.conf");
        let text = std::fs::read_to_string(file).unwrap();
        Self::with(Accounts::new(&[TASK]).unwrap(), &text).await
    }

    /// The same with these accounts, as nats-server reads them.
    async fn with(accounts: Accounts, text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("accounts.conf"), text).unwrap();
        let path = directory.path().join("server.conf");
        std::fs::write(&path, "max_payload: 1MB\ninclude ./accounts.conf\n").unwrap();
        let users = accounts.all().flat_map(|account| &account.users);
        let passwords: Vec<_> =
            users.map(|user| (user.variable.clone(), password(&user.name))).collect();
        let server = nats_with(|options| {
            options.config = Some(path);
            options.environment = passwords;
        })
        .await;
        let admin = connect(&server, "admin", Arc::default()).await;
        let jetstream = jetstream::new(admin.clone());
        let world = Self { server, accounts, admin, jetstream, processes: Vec::new(), directory };
        let url = world.url("admin");
        world.command(&["provision", "--worker", TASK, "--nats-url", &url]).await;
        let database = sqlite_url(world.directory.path());
        world.command(&["migrate", "--database-url", &database]).await;
        world
    }

    /// The server's address with the login of a user.
    fn url(&self, user: &str) -> String {
        self.server.url().replace("nats://", &format!("nats://{user}:{}@", password(user)))
    }

    async fn command(&self, arguments: &[&str]) {
        let mut command = Command::new(executable("staunch").await);
        command.args(arguments).current_dir(self.directory.path()).kill_on_drop(true);
        let output = within("a command", SOON, command.output()).await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
    }

    /// A process with these roles as this user; not waited for. Its API is at the address.
    async fn begin(&self, name: &str, roles: &str, user: &str) -> (Child, String, Api) {
        let log = File::create(self.directory.path().join(format!("{name}.log"))).unwrap();
        let (listen, health) =
            (format!("127.0.0.1:{}", free_port()), format!("127.0.0.1:{}", free_port()));
        let child = Command::new(executable("staunch").await)
            .args(["server", "--role", roles, "--node", name, "--auth", "none"])
            .args(["--listen", &listen, "--admin-listen", &health])
            .args(["--nats-subjects", "*=orders.>", "--nats-buckets", "*=book|book-files"])
            .args(["--nats-url", &self.url(user)])
            .args(["--database-url", &sqlite_url(self.directory.path())])
            .current_dir(self.directory.path())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        (child, format!("http://{listen}"), Api::new(&format!("http://{health}")))
    }

    /// Starts a process and waits until it is ready; returns the URL of its API.
    async fn process(&mut self, name: &str, roles: &str, user: &str) -> String {
        let (child, url, health) = self.begin(name, roles, user).await;
        self.processes.push(child);
        let log = self.directory.path().join(format!("{name}.log"));
        let is_ready = async || said(&log).contains("is ready") && health.is_ready().await;
        eventually(&format!("{name} is ready"), SOON, is_ready).await;
        url
    }

    async fn guest(&self, name: &str) -> Guest {
        let refused = Arc::default();
        let client = connect(&self.server, name, Arc::clone(&refused)).await;
        let mut users = self.accounts.all().flat_map(|account| &account.users);
        let user = users.find(|user| user.name == name).unwrap().clone();
        Guest { client, user, refused }
    }

    /// The number of messages of a stream; none if it is gone.
    async fn messages(&self, stream: &str) -> Option<u64> {
        let stream = self.jetstream.get_stream(stream).await.ok()?;
        Some(stream.cached_info().state.messages)
    }

    /// The last value of a key, as operators read it.
    async fn key(&self, subject: &str) -> Option<Vec<u8>> {
        let bucket = subject.split('.').nth(1).unwrap();
        let stream = self.jetstream.get_stream(format!("KV_{bucket}")).await.unwrap();
        let last = stream.get_last_raw_message_by_subject(subject).await;
        last.ok().map(|message| message.payload.to_vec())
    }

    /// What nats-server has refused to the users of an account.
    fn violations(&self, account: &str) -> Vec<String> {
        let mark = format!("\"{account}/user:");
        let lines = said(self.server.log());
        let lines = lines.lines().filter(|line| line.contains(" Violation"));
        lines.filter(|line| line.contains(&mark)).map(str::to_owned).collect()
    }
}

impl Guest {
    /// The server has refused what this text describes, such as `Publish to "a.b"`.
    fn was_refused(&self, what: &str) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let what = what.to_lowercase();
        refused.iter().any(|error| error.to_lowercase().contains(&what))
    }

    fn refusals(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn password(user: &str) -> String {
    format!("the-password-of-{user}")
}

fn said(log: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned()
}

async fn connect(server: &TestNats, user: &str, refused: Arc<Mutex<Vec<String>>>) -> Client {
    ConnectOptions::with_user_and_password(user.to_owned(), password(user))
        .custom_inbox_prefix(inbox(user))
        .event_callback(move |event| {
            if let Event::ServerError(error) = event {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
            }
            async {}
        })
        .connect(server.url())
        .await
        .unwrap()
}

/// The inbox prefix of a user: those of Staunch's own processes are apart.
fn inbox(user: &str) -> String {
    let is_process = ["ingress", "executor", "timer", "cache-notifier", "node"].contains(&user);
    if is_process { format!("_INBOX_staunch.{user}") } else { format!("_INBOX.{user}") }
}
