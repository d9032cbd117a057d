//! The cluster of one test, and clients that look at it from outside.

use std::process::Command;
use std::sync::Arc;

use cluster::{Cluster, Database, Node, NodePlan, Plan};
use store::Store;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::api::Api;

/// Tests run one after the other.
static TURN: Semaphore = Semaphore::const_new(1);

/// A cluster on PostgreSQL, and direct access to its database.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) store: Arc<dyn Store>,
    _turn: SemaphorePermit<'static>,
}

impl World {
    /// Brokers and nodes; `None` if PostgreSQL is not installed.
    pub(crate) async fn start(brokers: usize, nodes: Vec<NodePlan>) -> Option<Self> {
        let turn = TURN.acquire().await.unwrap();
        if postgres_server::find().is_none() {
            testkit::skip("pg", "chaos", "PostgreSQL is not installed");
            return None;
        }
        Some(Self::on(turn, Database::Postgres { durable: true }, brokers, nodes).await)
    }

    /// One broker, an SQLite file, and nodes.
    pub(crate) async fn start_on_sqlite(nodes: Vec<NodePlan>) -> Self {
        let turn = TURN.acquire().await.unwrap();
        Self::on(turn, Database::Sqlite, 1, nodes).await
    }

    /// One broker, an existing database, and nodes.
    pub(crate) async fn start_on(database_url: String, nodes: Vec<NodePlan>) -> Self {
        let turn = TURN.acquire().await.unwrap();
        Self::on(turn, Database::Url(database_url), 1, nodes).await
    }

    /// One broker and an SQLite file, but for what this changes; `None` if that needs PostgreSQL, and
    /// it is not installed.
    pub(crate) async fn planned(change: impl FnOnce(&mut Plan)) -> Option<Self> {
        let turn = TURN.acquire().await.unwrap();
        let mut plan = Plan::new(&testkit::executable("examples/mortal").await);
        change(&mut plan);
        let needs_postgres = matches!(plan.database, Database::Postgres { .. });
        if needs_postgres && postgres_server::find().is_none() {
            testkit::skip("pg", "chaos", "PostgreSQL is not installed");
            return None;
        }
        Some(Self::of(turn, plan).await)
    }

    async fn on(
        turn: SemaphorePermit<'static>,
        database: Database,
        brokers: usize,
        nodes: Vec<NodePlan>,
    ) -> Self {
        let binary = testkit::executable("examples/mortal").await;
        let plan = Plan { brokers, database, nodes, ..Plan::new(&binary) };
        Self::of(turn, plan).await
    }

    async fn of(turn: SemaphorePermit<'static>, plan: Plan) -> Self {
        let cluster = Cluster::start(plan).await.unwrap();
        let options = store_sql::Options { max_connections: 2, ..Default::default() };
        let store = store_sql::connect(cluster.database_url(), options).await.unwrap();
        Self { cluster, store: Arc::new(store), _turn: turn }
    }

    /// A client of a node.
    pub(crate) fn api(&self, index: usize) -> Api {
        Api::new(&self.cluster.nodes()[index].url())
    }

    /// JetStream, through a client of its own.
    pub(crate) async fn jetstream(&self) -> async_nats::jetstream::Context {
        async_nats::jetstream::new(self.client().await)
    }

    /// A plain NATS client.
    pub(crate) async fn client(&self) -> async_nats::Client {
        let urls = self.cluster.nats_url();
        let servers: Vec<async_nats::ServerAddr> =
            urls.split(',').map(|url| url.parse().unwrap()).collect();
        async_nats::connect(&servers[..]).await.unwrap()
    }
}

/// Runs a statement on an SQLite file as `psql` does: a line for each row.
const SQLITE: &str = "
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
for row in file.execute(sys.argv[2]):
    print(*row, sep='|')
";

/// The rows of a statement, one line each.
pub(crate) fn sql(database_url: &str, statement: &str) -> String {
    let mut client = match database_url.strip_prefix("sqlite://") {
        Some(file) => {
            let mut python = Command::new("python3");
            python.args(["-c", SQLITE, file.split('?').next().unwrap_or(file)]);
            python
        }
        None => {
            let mut psql = Command::new("psql");
            psql.args([database_url, "-q", "-A", "-t", "-c"]);
            psql
        }
    };
    let ran = client.arg(statement).output().unwrap();
    assert!(ran.status.success(), "{statement}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

/// A node with every role, whose workflows may call this machine, and write below the cluster's
/// folder.
pub(crate) fn all_roles(name: &str) -> NodePlan {
    let arguments = ["--allow-private-addresses", "--files-folder", ".", "--log", "warn"];
    let arguments = arguments.map(str::to_owned).to_vec();
    NodePlan { arguments, ..NodePlan::new(name, "all") }
}

/// The same, with a process that aborts at this point.
pub(crate) fn dies_at(name: &str, point: &str, nth: usize) -> NodePlan {
    let environment = vec![("STAUNCH_FAILPOINT".to_owned(), format!("{point}:{nth}"))];
    NodePlan { environment, ..all_roles(name) }
}

/// The end of a node's log, for the message of a failed test.
pub(crate) fn last_words(node: &Node) -> String {
    let said = node.said();
    let lines: Vec<&str> = said.lines().collect();
    format!("--- {}\n{}", node.name(), lines[lines.len().saturating_sub(30)..].join("\n"))
}
