//! Brokers, a database and nodes, started in order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use postgres_server::{Options, Server as Postgres};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::Instant;

use crate::node::Surroundings;
use crate::{Brokers, Database, Node, NodePlan, Plan};

/// The longest one administrative command may take.
const COMMAND_MAX: Duration = Duration::from_secs(60);
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// The database's name on a separate server.
const DATABASE: &str = "staunch";

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    // They are dropped in this order: nodes before the parts that they depend on.
    nodes: Vec<Node>,
    brokers: Brokers,
    postgres: Option<Postgres>,
    around: Surroundings,
    _folder: Option<TempDir>,
}

impl Cluster {
    /// Starts everything, prepares broker and database, and waits until all nodes work.
    ///
    /// # Errors
    /// When a part does not start: the text has the end of its log.
    pub async fn start(plan: Plan) -> anyhow::Result<Self> {
        let Plan { binary, brokers, database, nodes, folder, preload, broker_config, told } = plan;
        let (place, folder) = match folder {
            Some(folder) => (std::path::absolute(folder)?, None),
            None => {
                let folder = tempfile::Builder::new().prefix("staunch-cluster-").tempdir()?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        std::fs::create_dir_all(&place)
            .with_context(|| format!("cannot create {}", place.display()))?;
        let remove = folder.as_ref().map(TempDir::path);
        let config = broker_config.as_deref();
        let brokers = Brokers::start(brokers, &place, remove, config, told).await?;
        let (database_url, postgres) = open(database, &place, preload.as_deref()).await?;
        // With PostgreSQL the server writes to the disk; with SQLite the nodes do.
        let preload = preload.filter(|_| database_url.starts_with("sqlite"));
        let around = Surroundings {
            binary: std::path::absolute(binary)?,
            nats_url: brokers.url(),
            database_url,
            folder: place,
            preload,
        };
        let mut cluster = Self { nodes: Vec::new(), brokers, postgres, around, _folder: folder };
        cluster.provision().await?;
        cluster.command(&["migrate", "--database-url", cluster.database_url()]).await?;
        for plan in nodes {
            cluster.begin(plan)?;
        }
        for node in &mut cluster.nodes {
            node.wait_ready().await?;
        }
        Ok(cluster)
    }

    /// The address for NATS clients.
    #[must_use]
    pub fn nats_url(&self) -> String {
        self.brokers.url()
    }

    /// The database.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.around.database_url
    }

    /// The folder of logs and data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.around.folder
    }

    /// The nats-servers.
    #[must_use]
    pub fn brokers(&self) -> &Brokers {
        &self.brokers
    }

    /// The nats-servers: to kill, restart, suspend and resume them.
    pub fn brokers_mut(&mut self) -> &mut Brokers {
        &mut self.brokers
    }

    /// The PostgreSQL that this cluster has started, if there is one.
    pub fn postgres(&mut self) -> Option<&mut Postgres> {
        self.postgres.as_mut()
    }

    /// The nodes, in the order in which they were added.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node: to kill, restart, suspend and resume it.
    pub fn node_mut(&mut self, index: usize) -> &mut Node {
        &mut self.nodes[index]
    }

    /// The addresses of the nodes that have an HTTP API.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().filter(|node| node.plan().has_api()).map(Node::url).collect()
    }

    /// Adds a node and waits until it works.
    ///
    /// # Errors
    /// When it does not begin to work within 60 s.
    pub async fn add(&mut self, plan: NodePlan) -> anyhow::Result<&mut Node> {
        let node = self.begin(plan)?;
        node.wait_ready().await?;
        Ok(node)
    }

    /// Adds a node without waiting.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn begin(&mut self, plan: NodePlan) -> anyhow::Result<&mut Node> {
        let node = self.apart(plan)?;
        self.nodes.push(node);
        self.nodes.last_mut().context("a node was added")
    }

    /// Starts a node that belongs to the caller, without waiting.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn apart(&self, plan: NodePlan) -> anyhow::Result<Node> {
        Node::begin(plan, self.around.clone())
    }

    /// Creates the streams and buckets, with a copy on every broker.
    ///
    /// # Errors
    /// When that still fails after the time that a cluster of brokers takes to elect leaders.
    pub async fn provision(&self) -> anyhow::Result<()> {
        let replicas = self.brokers.count().to_string();
        let give_up = Instant::now() + self.brokers.election_max();
        let url = self.nats_url();
        let arguments = ["provision", "--replicas", &replicas, "--nats-url", &url];
        while let Err(error) = self.command(&arguments).await {
            if Instant::now() >= give_up {
                return Err(error);
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
        Ok(())
    }

    /// Runs the CLI, which has to succeed; returns its output.
    ///
    /// # Errors
    /// When it cannot be run, takes too long, or fails: the text has its output.
    pub async fn command(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.cli(arguments).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        ensure!(status.success(), "staunch {arguments:?}: {status}\n{}", said.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the CLI to its end, with or without success.
    ///
    /// # Errors
    /// When it cannot be run, or takes too long.
    pub async fn cli(&self, arguments: &[&str]) -> anyhow::Result<std::process::Output> {
        let mut command = Command::new(&self.around.binary);
        command.args(arguments).current_dir(&self.around.folder).kill_on_drop(true);
        let output = tokio::time::timeout(COMMAND_MAX, command.output()).await;
        let output = output.with_context(|| format!("staunch {arguments:?} takes too long"))?;
        output.with_context(|| format!("cannot run {}", self.around.binary.display()))
    }

    /// Ends everything in order: nodes, brokers, database. Nodes that were killed or stopped
    /// before are left out.
    ///
    /// # Errors
    /// When something does not end in order; the rest is killed.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            if node.is_running() {
                node.resume()?;
                let exit = node.stop().await?;
                ensure!(exit.status.success(), "{} ended with {}", node.name(), exit.status);
            }
        }
        self.brokers.stop().await?;
        if let Some(postgres) = &mut self.postgres
            && postgres.pid().is_some()
        {
            postgres.resume()?;
            postgres.stop().await?;
        }
        Ok(())
    }
}

async fn open(
    database: Database,
    place: &Path,
    preload: Option<&Path>,
) -> anyhow::Result<(String, Option<Postgres>)> {
    match database {
        Database::Url(url) => Ok((url, None)),
        Database::Sqlite => {
            Ok((format!("sqlite://{}?mode=rwc", place.join("staunch.db").display()), None))
        }
        Database::Postgres { durable } => {
            let programs = postgres_server::find()
                .context("PostgreSQL is not installed: install it, or name a running one by URL")?;
            let mut options = Options::new(programs, durable);
            options.preload = preload.map(PathBuf::from);
            let postgres = Postgres::start(options).await?;
            postgres.create(DATABASE).await?;
            Ok((postgres.url(DATABASE), Some(postgres)))
        }
    }
}
