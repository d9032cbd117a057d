//! The cluster of one story, and its clients.

use std::time::Duration;

use cluster::{Cluster, Node, NodePlan, Plan};
use testkit::{eventually, executable};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Stories measure time, so they run one after the other.
static TURN: Semaphore = Semaphore::const_new(1);
const START_MAX: Duration = Duration::from_secs(40);

/// The database of a story.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

/// A cluster; each story adds its nodes, named after their roles.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    _turn: SemaphorePermit<'static>,
}

impl World {
    /// A provisioned broker and a migrated database; `None` if there is no such database.
    pub(crate) async fn new(database: Database) -> Option<Self> {
        let turn = TURN.acquire().await.unwrap();
        let mut plan = Plan::new(&executable("staunch").await);
        if matches!(database, Database::Postgres) {
            plan.database = cluster::Database::Url(testkit::postgres().await?.url());
        }
        let cluster = Cluster::start(plan).await.unwrap();
        Some(Self { cluster, _turn: turn })
    }

    /// On SQLite, with a broker of this configuration.
    pub(crate) async fn on_broker(config: &str) -> Self {
        let turn = TURN.acquire().await.unwrap();
        let mut plan = Plan::new(&executable("staunch").await);
        plan.broker_config = Some(config.to_owned());
        let cluster = Cluster::start(plan).await.unwrap();
        Self { cluster, _turn: turn }
    }

    /// Starts a node with these roles, and waits until it is ready.
    pub(crate) async fn node(&self, name: &str, roles: &str) -> Node {
        self.start(NodePlan::new(name, roles)).await
    }

    /// Starts a service by its own binary, and waits until the Services API shows it.
    pub(crate) async fn service(&self, name: &str, arguments: &[&str]) -> Node {
        let mut plan = NodePlan::service(name, &executable(name).await);
        plan.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let node = self.start(plan).await;
        let client = self.client().await;
        let subject = format!("$SRV.PING.staunch-{name}");
        eventually(&format!("{name} answers a ping"), START_MAX, async || {
            client.request(subject.clone(), Vec::new().into()).await.is_ok()
        })
        .await;
        node
    }

    /// Starts a node by its plan, and waits until it is ready.
    pub(crate) async fn start(&self, plan: NodePlan) -> Node {
        let mut node = self.cluster.apart(plan).unwrap();
        node.wait_ready().await.unwrap();
        node
    }

    /// A plain NATS client.
    pub(crate) async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.cluster.nats_url()).await.unwrap()
    }
}
