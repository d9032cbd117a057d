//! The cluster that is measured.

use std::time::Duration;

use cluster::{Cluster, Database, NodePlan, Plan};
use load::{Bounds, Order, Process, Scenario, Target, Transport};

use crate::command::run_name;
use crate::{Failure, say};

use super::{NatsSync, Place};

const EXECUTORS_MAX: usize = 16;
const SEED_MAX: u64 = 1_000_000;
const SEED_LANES: usize = 512;
const SEED_TIME_MAX: Duration = Duration::from_secs(1_800);

/// A cluster of our own, or one that runs.
pub(super) struct Arena {
    own: Option<Cluster>,
    target: Target,
    processes: Vec<Process>,
    about: Vec<String>,
    /// The beginning of every name that is made.
    run: String,
}

impl Arena {
    /// Starts a cluster, or gets to know a running one.
    ///
    /// # Errors
    /// When it makes no sense, or does not start.
    pub(super) async fn open(place: &Place) -> Result<Self, Failure> {
        let run = run_name("bench");
        if let (false, Some(nats_url)) = (place.server.is_empty(), &place.nats_url) {
            let target = Target {
                servers: place.server.clone(),
                nats_url: nats_url.clone(),
                api_key: place.api_key.clone(),
            };
            let about = vec![format!("a running cluster: {}", place.server.join(", "))];
            return Ok(Self { own: None, target, processes: vec![Process::this()], about, run });
        }
        let plan = plan(place)?;
        let about = about(place, &plan.database);
        say::talk(&format!("starting {}", about.first().map(String::as_str).unwrap_or_default()));
        let mut own = Cluster::start(plan).await?;
        let target = Target { servers: own.urls(), nats_url: own.nats_url(), api_key: None };
        let processes = processes(&mut own);
        Ok(Self { own: Some(own), target, processes, about, run })
    }

    /// Starts the parts of a cluster, and no node.
    ///
    /// # Errors
    /// When it makes no sense, or does not start.
    pub(super) async fn bare(place: &Place) -> Result<Self, Failure> {
        let plan = Plan { nodes: Vec::new(), ..plan(place)? };
        let about = about(place, &plan.database);
        let own = Cluster::start(plan).await?;
        let target = Target { servers: Vec::new(), nats_url: own.nats_url(), api_key: None };
        Ok(Self { own: Some(own), target, processes: Vec::new(), about, run: String::new() })
    }

    /// Where NATS and the database are that were started here.
    pub(super) fn parts(&self) -> Option<(String, String)> {
        self.own.as_ref().map(|own| (own.nats_url(), own.database_url().to_owned()))
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Who takes part.
    pub(super) fn processes(&self) -> Vec<Process> {
        self.processes.clone()
    }

    /// What it consists of, and what is durable when.
    pub(super) fn about(&self) -> &[String] {
        &self.about
    }

    /// The name of something that is made.
    pub(super) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.run)
    }

    /// Puts so many finished instances into the database, and as many that wait: by running them.
    ///
    /// # Errors
    /// When they cannot be run.
    pub(super) async fn seed(&mut self, count: u64) -> Result<(), Failure> {
        if count > SEED_MAX {
            return Err(Failure::usage(format!("--seed-instances {count}: at most {SEED_MAX}")));
        }
        for scenario in [Scenario::Start, Scenario::Suspend] {
            if count == 0 {
                return Ok(());
            }
            let order = Order {
                scenario,
                transport: Transport::Nats,
                lanes: SEED_LANES,
                bounds: Bounds { count, length: SEED_TIME_MAX },
                rate: None,
                few: 1,
                delay: None,
                name: self.name(&format!("seed-{}", scenario.name())),
                processes: Vec::new(),
            };
            say::talk(&format!("seeding: {count} times {}", scenario.what()));
            load::run(&self.target, &order, &say::talk).await?;
        }
        self.about.push(format!("{count} finished and {count} waiting instances in the database"));
        Ok(())
    }

    /// Ends what was started.
    ///
    /// # Errors
    /// When a node does not end in order.
    pub(super) async fn close(self) -> Result<(), Failure> {
        match self.own {
            Some(own) => Ok(own.stop().await?),
            None => Ok(()),
        }
    }
}

fn plan(place: &Place) -> Result<Plan, Failure> {
    let Place { executors, brokers, .. } = *place;
    if !(1..=EXECUTORS_MAX).contains(&executors) {
        return Err(Failure::usage(format!("--executors {executors}: use 1 to {EXECUTORS_MAX}")));
    }
    if !matches!(brokers, 1 | 3) {
        return Err(Failure::usage(format!("--brokers {brokers}: use 1 or 3")));
    }
    let binary = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("this binary cannot be found: {error}")))?;
    let node = |number: usize| {
        let roles = if number == 1 { "all" } else { "executor,timer" };
        let mut node = NodePlan::new(&format!("node-{number}"), roles);
        let arguments = ["--allow-private-addresses", "true"];
        node.arguments = arguments.map(str::to_owned).to_vec();
        if let Some(concurrency) = place.executor_concurrency {
            node.arguments.extend(["--executor-concurrency".to_owned(), concurrency.to_string()]);
        }
        node
    };
    Ok(Plan {
        brokers,
        database: database(&place.database)?,
        nodes: (1..=executors).map(node).collect(),
        preload: place.preload.clone(),
        broker_config: (place.nats_sync == NatsSync::Always)
            .then(|| "jetstream { sync_interval: always }\n".to_owned()),
        told: say::talk,
        ..Plan::new(&binary)
    })
}

pub(super) fn database(text: &str) -> Result<Database, Failure> {
    match text {
        "sqlite" => Ok(Database::Sqlite),
        "postgres" => Ok(Database::Postgres { durable: true }),
        url if url.contains("://") => Ok(Database::Url(url.to_owned())),
        other => Err(Failure::usage(format!(
            "--database {other:?}: use sqlite, postgres, or a URL such as postgres://user@host/name"
        ))),
    }
}

/// What a reader has to know to compare the figures.
fn about(place: &Place, database: &Database) -> Vec<String> {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let Place { executors, brokers, .. } = *place;
    let (name, durability) = match database {
        Database::Sqlite => ("SQLite", "SQLite: WAL, synchronous=FULL: each commit is fsynced"),
        Database::Postgres { .. } => {
            ("PostgreSQL", "PostgreSQL: fsync=on, synchronous_commit=on: each commit is fsynced")
        }
        Database::Url(_) => ("the given database", "the given database: as it is set up"),
    };
    let mut about = vec![
        format!(
            "{executors} node{} (one with all roles), {brokers} nats-server{}, {name}",
            plural(executors),
            plural(brokers)
        ),
        durability.to_owned(),
        match place.nats_sync {
            NatsSync::Default => {
                "JetStream: file storage; written before the answer, fsynced every 2 min"
            }
            NatsSync::Always => {
                "JetStream: file storage; each message is fsynced before the answer"
            }
        }
        .to_owned(),
        "every burst is committed in SQL before its outcome is told".to_owned(),
    ];
    about.extend(place.preload.iter().map(|it| format!("preloaded: {}", it.display())));
    about
}

fn processes(cluster: &mut Cluster) -> Vec<Process> {
    let process = |name: &str, pid: Option<u32>, has_children| {
        pid.map(|pid| Process { name: name.to_owned(), pid, has_children })
    };
    let nodes = cluster.nodes().iter();
    let mut all: Vec<_> =
        nodes.filter_map(|node| process(node.name(), node.pid(), false)).collect();
    for server in cluster.brokers_mut().servers() {
        all.extend(process("nats-server", server.pid(), false));
    }
    all.extend(cluster.postgres().and_then(|it| process("PostgreSQL", it.pid(), true)));
    all.push(Process::this());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn a_database_is_one_of_three() {
        assert_eq!(database("sqlite").unwrap(), Database::Sqlite);
        assert_eq!(database("postgres").unwrap(), Database::Postgres { durable: true });
        assert!(matches!(database("postgres://u@h/d").unwrap(), Database::Url(_)));
        assert_eq!(database("mysql").unwrap_err().kind, Kind::Usage);
    }
}
