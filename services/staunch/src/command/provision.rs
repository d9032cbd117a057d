//! `staunch provision`: creates the streams, the consumer and the buckets, and says whose they are.

use chassis::Settings;
use clap::Args;
use node::{Placement, Repaired};
use protocol::subject;
use serde_json::{Value, json};

use crate::output::{self, Format};
use crate::{Failure, input, say};

/// The largest number of copies that JetStream keeps.
const REPLICAS_MAX: u64 = 5;

#[derive(Args, Debug)]
pub(crate) struct ProvisionArgs {
    /// Copies of each stream and bucket: 1 for one server, 3 for a cluster; without it, those that are
    /// there keep theirs, and new ones get as many as the stream of commands, or one
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "check",
        value_parser = clap::value_parser!(u64).range(1..=REPLICAS_MAX)
    )]
    pub(crate) replicas: Option<u64>,
    /// Keeps them on servers of this cluster of a supercluster; without it, they stay where they are
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) cluster: Option<String>,
    /// Keeps them on servers with this tag; may be repeated, and all count
    #[arg(long, value_name = "TAG", conflicts_with = "check")]
    pub(crate) tag: Vec<String>,
    /// Changes nothing; fails if something is missing or differs, and names it
    #[arg(long)]
    pub(crate) check: bool,
    /// First makes buckets in memory anew that get no leader, as after a restart of two of three
    /// nats-servers of which the third does not come back; refuses while a stream in files has none either
    #[arg(long, conflicts_with = "check")]
    pub(crate) repair: bool,
    /// A type of tasks (`taskName`, or `taskName@2` for version 2): also creates the consumer from
    /// which its workers pull, which else is made with its first task; may be repeated
    #[arg(long, value_name = "TASK", conflicts_with = "check", value_parser = input::task_kind)]
    pub(crate) worker: Vec<String>,
    /// Makes this NATS belong to the database of `database-url`, instead of another one that is gone
    /// for good
    #[arg(long, conflicts_with = "check")]
    pub(crate) claim: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

impl ProvisionArgs {
    fn placement(&self) -> Placement {
        let replicas = self.replicas.and_then(|replicas| usize::try_from(replicas).ok());
        Placement { replicas, cluster: self.cluster.clone(), tags: self.tag.clone() }
    }
}

/// Creates streams, consumers and buckets that are missing, and updates those that differ; with
/// `check`, only compares. With `repair`, first makes buckets in memory anew that have no leader. With
/// `claim`, makes the broker belong to the database.
///
/// # Errors
/// When the broker does not answer, or a stream or bucket cannot be created or differs.
pub(crate) async fn run(
    args: &ProvisionArgs,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let bus = node::connect(settings).await?;
    let repaired = if args.repair { bus.repair().await.map_err(refused)? } else { Vec::new() };
    if args.repair {
        for line in repair_lines(&repaired) {
            say::message(&line);
        }
    }
    if !args.check {
        bus.provision(args.placement()).await.map_err(refused)?;
    }
    let mut consumers = Vec::new();
    for worker in &args.worker {
        let (task_type, version) = subject::task_kind(worker).map_err(Failure::usage)?;
        consumers.push(bus.provision_worker(task_type, version).await?);
    }
    bus.verify().await?;
    if args.claim {
        let (id, before) = node::claim(settings, &bus).await?;
        let before = before.filter(|before| *before != id);
        let of = before.map(|before| format!(" instead of {before}")).unwrap_or_default();
        say::message(&format!("this NATS belongs to the cluster {id} from now on{of}"));
    }
    let status = bus.status().await?;
    bus.close().await;
    if format == Format::Json {
        let streams = status.streams.iter().map(|stream| {
            json!({"name": stream.name, "cluster": stream.cluster, "replicas": stream.replicas,
                "messages": stream.messages})
        });
        let streams: Vec<Value> = streams.collect();
        let repaired: Vec<_> = repaired.iter().map(|one| one.stream.as_str()).collect();
        return output::json(&json!({"version": status.version, "streams": streams,
            "workers": consumers, "repaired": repaired}));
    }
    let rows = status.streams.iter().map(|stream| {
        let (replicas, messages) = (stream.replicas.to_string(), stream.messages.to_string());
        let cluster = stream.cluster.clone().unwrap_or_default();
        vec![stream.name.clone(), cluster, replicas, messages]
    });
    let rows: Vec<_> = rows.collect();
    output::table(&["STREAM", "CLUSTER", "REPLICAS", "MESSAGES"], &rows)?;
    for consumer in consumers {
        say::message(&format!("workers pull from the consumer {consumer} of STAUNCH_TASKS"));
    }
    say::message(&format!("nats-server {} has everything that Staunch needs", status.version));
    let clusters = status.streams.iter().map(|stream| stream.cluster.as_deref());
    if let Some(moving) = args.cluster.as_deref().and_then(|to| moving(to, clusters)) {
        say::message(&moving);
    }
    Ok(())
}

/// What the repair has done.
fn repair_lines(repaired: &[Repaired]) -> Vec<String> {
    if repaired.is_empty() {
        return vec!["each bucket in memory has a leader: there was nothing to repair".to_owned()];
    }
    let lines = repaired.iter().map(|Repaired { stream, has_one_copy }| {
        let copies = match has_one_copy {
            true => {
                ", with one copy, since too few nats-servers are known for more: run `staunch provision \
                 --replicas 3` when they are there"
            }
            false => "",
        };
        format!("{stream} had no leader and was made anew{copies}; the nodes fill it by themselves")
    });
    lines.collect()
}

/// What has not arrived in its new cluster yet: NATS copies it there, and goes on meanwhile.
fn moving<'a>(to: &str, clusters: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let count = clusters.filter(|cluster| *cluster != Some(to)).count() as u64;
    let (one, many) = ("stream or bucket moves", "streams and buckets move");
    let what = output::counted(count, one, many);
    (count > 0).then(|| {
        format!(
            "{what} to the cluster {to} now: see with `staunch provision --check` where they are"
        )
    })
}

/// A refusal, without the advice to run this command.
fn refused(error: bus::Error) -> Failure {
    match error {
        bus::Error::NotProvisioned(reason) => Failure::failed(reason),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Repaired, moving, repair_lines};

    #[test]
    fn a_repair_says_what_it_made_anew_and_what_is_left_to_do() {
        let one = |has_one_copy| Repaired { stream: "KV_staunch_leases".to_owned(), has_one_copy };
        assert!(repair_lines(&[])[0].contains("nothing to repair"));
        let said = repair_lines(&[one(false), one(true)]);
        assert!(
            said[0].starts_with("KV_staunch_leases had no leader and was made anew;"),
            "{said:?}"
        );
        assert!(!said[0].contains("--replicas") && said[1].contains("--replicas 3"), "{said:?}");
    }

    #[test]
    fn what_is_on_its_way_to_another_cluster_is_said() {
        let of = |clusters: &[Option<&'static str>]| moving("east", clusters.iter().copied());
        let said = of(&[Some("west"), Some("east"), Some("west"), None]).unwrap();
        assert!(said.starts_with("3 streams and buckets move to the cluster east now"), "{said}");
        assert!(of(&[Some("west")]).unwrap().starts_with("1 stream or bucket moves to"));
        assert_eq!(of(&[Some("east"), Some("east")]), None);
    }
}
