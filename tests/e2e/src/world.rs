//! A broker, a database and the processes of one story.

use std::time::Duration;

use tempfile::TempDir;
use testkit::{TestNats, TestPostgres, eventually, free_port, sqlite_url};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::api::Api;
use crate::binary::binary;
use crate::node::Node;

/// Stories measure time, so they take turns.
static TURN: Semaphore = Semaphore::const_new(1);
const START_MAX: Duration = Duration::from_secs(40);

/// Which database a story runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

/// Everything around the nodes of a story.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) nats: TestNats,
    pub(crate) database_url: String,
    folder: TempDir,
    _postgres: Option<TestPostgres>,
    _turn: SemaphorePermit<'static>,
}

impl World {
    /// A provisioned broker and a migrated database; `None` where there is no such database.
    pub(crate) async fn new(database: Database) -> Option<Self> {
        let turn = TURN.acquire().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (database_url, postgres) = match database {
            Database::Sqlite => (sqlite_url(folder.path()), None),
            Database::Postgres => {
                let postgres = testkit::postgres().await?;
                (postgres.url(), Some(postgres))
            }
        };
        let nats = testkit::nats().await;
        let world = Self { nats, database_url, folder, _postgres: postgres, _turn: turn };
        world.provision().await;
        world.done(&["migrate", "--database-url", &world.database_url]).await;
        Some(world)
    }

    /// Makes the streams and buckets.
    pub(crate) async fn provision(&self) {
        self.done(&["provision", "--nats-url", &self.nats.url()]).await;
    }

    /// Runs the CLI to its end, which has to be a good one; gives what it printed.
    pub(crate) async fn done(&self, arguments: &[&str]) -> String {
        let output = self.cli(arguments).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "staunch {arguments:?}: {}\n{said}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the CLI to its end.
    pub(crate) async fn cli(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = Command::new(binary("staunch").await);
        command.args(arguments).current_dir(self.folder.path()).kill_on_drop(true);
        tokio::time::timeout(START_MAX, command.output()).await.unwrap().unwrap()
    }

    /// Starts a node with these roles, and waits until it is ready.
    pub(crate) async fn node(&self, name: &str, roles: &str) -> Node {
        let mut node = self.begin(name, roles).await;
        for role in roles.split(',') {
            let role = if role == "all" { "executor" } else { role };
            node.says(&format!("{role} is ready"), START_MAX).await;
        }
        if roles.contains("ingress") || roles == "all" {
            self.ready(&node.url).await;
        }
        node
    }

    /// Starts a node with these roles, and waits for nothing.
    pub(crate) async fn begin(&self, name: &str, roles: &str) -> Node {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = Command::new(binary("staunch").await);
        command.args(["server", "--role", roles, "--listen", &listen]);
        command.args(["--nats-url", &self.nats.url(), "--database-url", &self.database_url]);
        command.args(["--auth", "none"]).current_dir(self.folder.path());
        Node::spawn(name, &format!("http://{listen}"), command, self.folder.path())
    }

    /// Starts a service by its own binary, and waits until the Services API shows it.
    pub(crate) async fn service(&self, name: &str) -> Node {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = Command::new(binary(name).await);
        command.env("STAUNCH_NATS_URL", self.nats.url());
        command.env("STAUNCH_DATABASE_URL", &self.database_url);
        command.env("STAUNCH_LISTEN", &listen).env("STAUNCH_AUTH", "none");
        command.current_dir(self.folder.path());
        let node = Node::spawn(name, &format!("http://{listen}"), command, self.folder.path());
        let client = self.client().await;
        let subject = format!("$SRV.PING.staunch-{name}");
        eventually(&format!("{name} answers a ping"), START_MAX, async || {
            client.request(subject.clone(), Vec::new().into()).await.is_ok()
        })
        .await;
        if name == "ingress" {
            self.ready(&node.url).await;
        }
        node
    }

    async fn ready(&self, url: &str) {
        let api = Api::new(url);
        eventually(&format!("{url} is ready"), START_MAX, async || {
            let answer = api.try_raw(reqwest::Method::GET, "/health/ready", None).await;
            answer.is_ok_and(|answer| answer.status == 200)
        })
        .await;
    }

    /// A plain NATS client, as anyone may have.
    pub(crate) async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.nats.url()).await.unwrap()
    }
}
