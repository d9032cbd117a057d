//! The plan of a cluster.

use std::path::{Path, PathBuf};

/// A cluster to start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `staunch` executable.
    pub binary: PathBuf,
    /// The number of nats-servers: 1, or 3 as one JetStream cluster with three copies of all data.
    pub brokers: usize,
    /// The database.
    pub database: Database,
    /// The nodes to begin with.
    pub nodes: Vec<NodePlan>,
    /// The folder of logs and data; if none, a temporary folder, removed at the end.
    pub folder: Option<PathBuf>,
    /// A library that the process that writes the database loads before all others (`LD_PRELOAD`).
    pub preload: Option<PathBuf>,
    /// A configuration file for the nats-servers, in addition to their arguments.
    pub broker_config: Option<String>,
    /// Called before steps that take a while, such as fetching a nats-server.
    pub told: fn(&str),
}

/// The database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// An SQLite file that all nodes open.
    Sqlite,
    /// A separate PostgreSQL server; PostgreSQL has to be installed.
    Postgres {
        /// Every commit reaches the disk.
        durable: bool,
    },
    /// An existing database.
    Url(String),
}

/// A node to start.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its name in the cluster, and that of its log.
    pub name: String,
    /// Its roles, such as `all` or `ingress,executor`; of `staunch server`.
    pub roles: String,
    /// Variables on top of this process's.
    pub environment: Vec<(String, String)>,
    /// Arguments after all others.
    pub arguments: Vec<String>,
    /// How its callers authenticate, as `--auth` has it.
    pub auth: String,
    /// The files of its certificate and key, for HTTPS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Its NATS URL instead of the cluster's, such as that of a proxy.
    pub nats_url: Option<String>,
    /// Its database URL instead of the cluster's.
    pub database_url: Option<String>,
    /// Another executable, such as an older version.
    pub binary: Option<PathBuf>,
    /// The command that runs the executable, such as `ip netns exec NAME`. It has to become the
    /// executable, under its own process id.
    pub under: Vec<String>,
    /// The address at which it listens, if that is not 127.0.0.1.
    pub host: Option<String>,
    /// True when the executable is one service and has no `server --role`.
    pub is_service: bool,
}

impl Plan {
    /// A cluster with one broker, on SQLite, and no nodes yet.
    #[must_use]
    pub fn new(binary: &Path) -> Self {
        Self {
            binary: binary.to_owned(),
            brokers: 1,
            database: Database::Sqlite,
            nodes: Vec::new(),
            folder: None,
            preload: None,
            broker_config: None,
            told: |text| tracing::info!(text, "nats-server"),
        }
    }

    /// With this many nodes of every role, `node-1` and so on.
    #[must_use]
    pub fn with_nodes(mut self, count: usize) -> Self {
        self.nodes = (1..=count).map(|n| NodePlan::new(&format!("node-{n}"), "all")).collect();
        self
    }
}

impl NodePlan {
    /// A node with these roles.
    #[must_use]
    pub fn new(name: &str, roles: &str) -> Self {
        Self {
            name: name.to_owned(),
            roles: roles.to_owned(),
            environment: Vec::new(),
            arguments: Vec::new(),
            auth: "none".to_owned(),
            tls: None,
            nats_url: None,
            database_url: None,
            binary: None,
            under: Vec::new(),
            host: None,
            is_service: false,
        }
    }

    /// A service that has its own executable and is called like its role.
    #[must_use]
    pub fn service(role: &str, binary: &Path) -> Self {
        Self { binary: Some(binary.to_owned()), is_service: true, ..Self::new(role, role) }
    }

    /// True when it has the role `ingress`, and so an HTTP API.
    #[must_use]
    pub fn has_api(&self) -> bool {
        self.roles.split(',').any(|role| matches!(role, "all" | "ingress"))
    }
}
