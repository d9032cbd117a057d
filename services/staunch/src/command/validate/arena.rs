//! The cluster that `validate --local` starts on this machine and stops again.

use async_trait::async_trait;
use cluster::{Cluster, Database, Plan};
use validation::{Arena, Ending};

use crate::{Failure, say};

/// More nodes than this would only wait for each other on one machine.
const NODES_MAX: usize = 16;

/// Nodes that `validate` may kill and restart.
#[derive(Debug)]
pub(super) struct LocalCluster {
    pub(super) cluster: Cluster,
    /// The database was started here as well, and is removed with the cluster.
    pub(super) is_throwaway: bool,
}

impl LocalCluster {
    /// Starts a cluster of this binary.
    ///
    /// # Errors
    /// When the arguments are invalid, or the cluster does not start.
    pub(super) async fn open(
        count: usize,
        brokers: Option<usize>,
        database: Option<&str>,
    ) -> Result<Self, Failure> {
        let brokers = brokers.unwrap_or(1);
        if !(2..=NODES_MAX).contains(&count) {
            return Err(Failure::usage(format!(
                "--local {count}: a cluster has 2 to {NODES_MAX} nodes"
            )));
        }
        if !matches!(brokers, 1 | 3) {
            return Err(Failure::usage(format!("--brokers {brokers}: use 1 or 3")));
        }
        let binary = std::env::current_exe()
            .map_err(|error| Failure::failed(format!("this binary cannot be found: {error}")))?;
        let database = read(database.unwrap_or("sqlite"))?;
        let is_throwaway = !matches!(database, Database::Url(_));
        say::message(&format!(
            "starting {count} nodes, {brokers} nats-server{} and {}",
            if brokers == 1 { "" } else { "s as one cluster" },
            name(&database),
        ));
        let told = |text: &str| say::message(text);
        let mut plan = Plan { brokers, database, told, ..Plan::new(&binary).with_nodes(count) };
        for node in &mut plan.nodes {
            // The default of a cluster: its load balancer learns late.
            node.environment.push(("STAUNCH_DRAIN_DELAY".to_owned(), String::new()));
        }
        let cluster = Cluster::start(plan).await?;
        Ok(Self { cluster, is_throwaway })
    }

    /// Stops every process, in order or at once.
    ///
    /// # Errors
    /// When a node does not end in order.
    pub(super) async fn close(self, at_once: bool) -> Result<(), Failure> {
        if !at_once {
            self.cluster.stop().await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Arena for LocalCluster {
    fn kill(&mut self, node: usize) -> Result<(), Failure> {
        Ok(self.cluster.node_mut(node).kill()?)
    }

    async fn stop(&mut self, node: usize) -> Result<Ending, Failure> {
        let exit = self.cluster.node_mut(node).stop().await?;
        let wrong = (!exit.status.success()).then(|| exit.status.to_string());
        Ok(Ending { took: exit.took, wrong })
    }

    async fn restart(&mut self, node: usize) -> Result<(), Failure> {
        Ok(self.cluster.node_mut(node).restart().await?)
    }
}

fn read(text: &str) -> Result<Database, Failure> {
    match text {
        "sqlite" => Ok(Database::Sqlite),
        "postgres" if postgres_server::find().is_none() => Err(Failure::failed(
            "--database postgres: PostgreSQL is not installed here: install it, or name a running \
             one, such as postgres://user@host/an_empty_database",
        )),
        "postgres" => Ok(Database::Postgres { durable: true }),
        url if url.contains("://") => Ok(Database::Url(url.to_owned())),
        other => Err(Failure::usage(format!(
            "--database {other:?}: use sqlite, postgres, or a URL such as postgres://user@host/name"
        ))),
    }
}

fn name(database: &Database) -> &str {
    match database {
        Database::Sqlite => "SQLite",
        Database::Postgres { .. } => "PostgreSQL",
        Database::Url(_) => "the given database",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[tokio::test]
    async fn what_makes_no_cluster_is_a_usage_error() {
        for (count, brokers, database) in
            [(1, None, None), (17, None, None), (3, Some(2), None), (3, None, Some("mysql"))]
        {
            let failure = LocalCluster::open(count, brokers, database).await.unwrap_err();
            assert_eq!(failure.kind, Kind::Usage, "{failure}");
        }
        assert_eq!(read("sqlite").unwrap(), Database::Sqlite);
        assert!(matches!(read("postgres://x@y/z").unwrap(), Database::Url(_)));
    }
}
