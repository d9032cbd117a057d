//! What a cluster is to be.

use std::path::{Path, PathBuf};

/// A cluster to start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `staunch` executable.
    pub binary: PathBuf,
    /// How many nats-servers: 1, or 3 as one JetStream cluster with three copies of everything.
    pub brokers: usize,
    /// Where the truth is.
    pub database: Database,
    /// The nodes to begin with.
    pub nodes: Vec<NodePlan>,
    /// Where logs and data go; a temporary folder, removed at the end, when none is given.
    pub folder: Option<PathBuf>,
    /// A library that whatever writes the database loads before all others (`LD_PRELOAD`).
    pub preload: Option<PathBuf>,
    /// What the nats-servers read as their configuration file, beside what they are told anyway.
    pub broker_config: Option<String>,
    /// Told what takes a while, such as fetching a nats-server.
    pub told: fn(&str),
}

/// Where the truth is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file that all nodes open.
    Sqlite,
    /// A server of its own, which has to be installed.
    Postgres {
        /// Every commit reaches the disk.
        durable: bool,
    },
    /// A database that is there already.
    Url(String),
}

/// A node to start.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its name, in the cluster and on its log.
    pub name: String,
    /// Its roles, such as `all` or `ingress,executor`; of `staunch server`.
    pub roles: String,
    /// Variables on top of this process's.
    pub environment: Vec<(String, String)>,
    /// Arguments after all others.
    pub arguments: Vec<String>,
    /// Where it finds NATS, when not at the cluster's brokers: at a proxy, for example.
    pub nats_url: Option<String>,
    /// Where it finds the database, when not at the cluster's.
    pub database_url: Option<String>,
    /// Another executable, such as an older version.
    pub binary: Option<PathBuf>,
    /// The executable is a service by itself, which knows no `server --role`.
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
            nats_url: None,
            database_url: None,
            binary: None,
            is_service: false,
        }
    }

    /// A service that has its own executable and is called like its role.
    #[must_use]
    pub fn service(role: &str, binary: &Path) -> Self {
        Self { binary: Some(binary.to_owned()), is_service: true, ..Self::new(role, role) }
    }

    /// It has the role `ingress`, and so an HTTP API.
    #[must_use]
    pub fn has_api(&self) -> bool {
        self.roles.split(',').any(|role| matches!(role, "all" | "ingress"))
    }
}
