//! The cluster that is measured.

use std::time::Duration;

use cluster::{Cluster, Database, NodePlan, Plan};
use load::{Access, Bounds, Order, Process, Scenario, Target, Transport};

use crate::command::run_name;
use crate::{Failure, client, say};

use super::args::{ClusterArgs, NatsSync};
use super::entry::Entry;

const EXECUTORS_MAX: usize = 16;
const SEED_MAX: u64 = 1_000_000;
const SEED_LANES: usize = 512;
const SEED_TIME_MAX: Duration = Duration::from_secs(1_800);

/// A cluster that bench has started, or a running one.
pub(super) struct Arena {
    own: Option<Cluster>,
    target: Target,
    processes: Vec<Process>,
    about: Vec<String>,
    /// The beginning of the name of every definition of this run.
    run: String,
}

impl Arena {
    /// Starts a cluster, or uses a running one.
    ///
    /// # Errors
    /// When the arguments are invalid, or the cluster does not start.
    pub(super) async fn open(args: &ClusterArgs) -> Result<Self, Failure> {
        let run = run_name("bench");
        if let (false, Some(nats_url)) = (args.server.is_empty(), &args.nats_url) {
            let target = Target {
                servers: args.server.clone(),
                nats_url: nats_url.clone(),
                access: client::key(args.api_key.as_deref())?
                    .map_or_else(Access::default, |key| Access::default().with_key(&key)),
            };
            let about = vec![format!("a running cluster: {}", args.server.join(", "))];
            return Ok(Self { own: None, target, processes: vec![Process::this()], about, run });
        }
        let (entry, mut plan) = (Entry::new(args)?, plan(args)?);
        plan.nodes.iter_mut().for_each(|node| entry.prepare(node));
        let mut about = about(args, &plan.database);
        about.extend(entry.about());
        say::message(&format!(
            "starting {}",
            about.first().map(String::as_str).unwrap_or_default()
        ));
        let mut own = Cluster::start(plan).await?;
        let (servers, nats_url) = (own.urls(), own.nats_url());
        let access = match servers.first() {
            Some(url) => entry.access(url).await?,
            None => Access::default(),
        };
        let target = Target { servers, nats_url, access };
        let processes = processes(&mut own);
        Ok(Self { own: Some(own), target, processes, about, run })
    }

    /// Starts the broker and the database of a cluster, without nodes.
    ///
    /// # Errors
    /// When the arguments are invalid, or one of the two does not start.
    pub(super) async fn bare(args: &ClusterArgs) -> Result<Self, Failure> {
        let plan = Plan { nodes: Vec::new(), ..plan(args)? };
        let about = about(args, &plan.database);
        let own = Cluster::start(plan).await?;
        let (servers, access) = (Vec::new(), Access::default());
        let target = Target { servers, nats_url: own.nats_url(), access };
        Ok(Self { own: Some(own), target, processes: Vec::new(), about, run: String::new() })
    }

    /// The URLs of the broker and the database that were started here.
    pub(super) fn parts(&self) -> Option<(String, String)> {
        self.own.as_ref().map(|own| (own.nats_url(), own.database_url().to_owned()))
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// The processes that take part.
    pub(super) fn processes(&self) -> Vec<Process> {
        self.processes.clone()
    }

    /// The parts of the cluster, and when its writes are durable.
    pub(super) fn about(&self) -> &[String] {
        &self.about
    }

    /// The name of a definition of this run.
    pub(super) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.run)
    }

    /// Puts this many finished and this many waiting instances into the database, by running them.
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
                bytes: 0,
                name: self.name(&format!("seed-{}", scenario.name())),
                processes: Vec::new(),
            };
            say::message(&format!("seeding: {count} times {}", scenario.what()));
            load::run(&self.target, &order, &say::message).await?;
        }
        self.about.push(format!("{count} finished and {count} waiting instances in the database"));
        Ok(())
    }

    /// Stops the cluster that was started here.
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

fn plan(args: &ClusterArgs) -> Result<Plan, Failure> {
    let ClusterArgs { executors, brokers, .. } = *args;
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
        let arguments = ["--allow-private-addresses", "true", "--nats-subjects", "*=bench.>"];
        node.arguments = arguments.map(str::to_owned).to_vec();
        if let Some(concurrency) = args.executor_concurrency {
            node.arguments.extend(["--executor-concurrency".to_owned(), concurrency.to_string()]);
        }
        node
    };
    Ok(Plan {
        brokers,
        database: database(&args.database)?,
        nodes: (1..=executors).map(node).collect(),
        preload: args.preload.clone(),
        broker_config: (args.nats_sync == NatsSync::Always)
            .then(|| "jetstream { sync_interval: always }\n".to_owned()),
        told: say::message,
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

/// The facts that a reader needs to compare the figures.
fn about(args: &ClusterArgs, database: &Database) -> Vec<String> {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let ClusterArgs { executors, brokers, .. } = *args;
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
        match args.nats_sync {
            NatsSync::Default => {
                "JetStream: file storage; written before the answer, fsynced every 2 min"
            }
            NatsSync::Always => {
                "JetStream: file storage; each message is fsynced before the answer"
            }
        }
        .to_owned(),
        "every burst is committed in SQL before its outcome is sent".to_owned(),
    ];
    about.extend(args.preload.iter().map(|it| format!("preloaded: {}", it.display())));
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
