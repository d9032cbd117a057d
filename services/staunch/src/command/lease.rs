//! `staunch lease …`: shows which node holds which instance, and takes leases away. A lease saves
//! work only, so taking one away makes no result wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use bus::{Bucket, Bus as _, Holding, Member, Wire as _, members};
use clap::{Args, Subcommand};
use futures::future::join_all;
use model::Timestamp;
use node::NatsBus;
use protocol::{Message, Runtime, decode_body, subject};
use serde_json::{Value, json};

use crate::client::Unasked;
use crate::failure::Kind;
use crate::output::{self, Format};
use crate::{Failure, say};

/// How long the holder of a lease may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

#[derive(Args, Debug)]
pub(crate) struct LeaseArgs {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
    #[command(flatten)]
    pub(crate) server: Unasked,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Lists the leases, the oldest first
    Ls {
        /// Only leases of nodes that do not live
        #[arg(long)]
        stale: bool,
    },
    /// Takes leases away from their nodes; other executors go on with the instances
    Rm(Which),
}

impl Verb {
    /// The command changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self, Self::Ls { .. })
    }
}

#[derive(Args, Debug)]
#[group(required = true)]
pub(crate) struct Which {
    /// Ids of instances
    #[arg(value_name = "INSTANCE")]
    ids: Vec<String>,
    /// The leases of all nodes that do not live
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    stale: bool,
    /// All leases
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

/// A lease, as it is shown.
struct Seen {
    instance: String,
    holding: Holding,
    is_live: bool,
    until: Option<Timestamp>,
}

impl Seen {
    /// When its node asked for it, by that node's clock.
    fn since(&self) -> Option<Timestamp> {
        chassis::drawn_at(&self.holding.acquisition)
    }

    fn json(&self) -> Value {
        json!({
            "workflowInstanceId": self.instance, "node": self.holding.owner,
            "isNodeLive": self.is_live, "since": self.since(), "until": self.until,
            "wantedBy": self.holding.next,
        })
    }

    fn row(&self) -> Vec<String> {
        let time = |at: Option<Timestamp>, or: &str| at.map_or(or.to_owned(), |at| at.to_string());
        let live = if self.is_live { "yes" } else { "no" };
        vec![
            self.instance.clone(),
            self.holding.owner.clone(),
            live.to_owned(),
            time(self.since(), ""),
            time(self.until, "for ever"),
            self.holding.next.join(", "),
        ]
    }
}

/// Runs one of the `lease` commands.
///
/// # Errors
/// When the bus does not answer, or no node holds an instance that is named.
pub(crate) async fn run(verb: Verb, bus: &NatsBus, format: Format) -> Result<(), Failure> {
    match verb {
        Verb::Ls { stale } => {
            let mut found = all(bus).await?;
            found.retain(|lease| !stale || !lease.is_live);
            list(&found, format)
        }
        Verb::Rm(which) => remove(&which, bus, format).await,
    }
}

async fn all(bus: &NatsBus) -> Result<Vec<Seen>, Failure> {
    let live = members(&*bus.kv(Bucket::Nodes)).await?;
    let held = bus::look_at_all(&*bus.kv(Bucket::Leases)).await?;
    let wanted =
        wanted(bus, live.iter().filter(|node| held.iter().any(|it| it.1.owner == node.node))).await;
    let mut found = Vec::new();
    for (instance, mut holding) in held {
        if let Some(nodes) = wanted.get(&(holding.owner.clone(), instance.clone())) {
            holding.joined_by(nodes);
        }
        let is_live = live.iter().any(|member| member.node == holding.owner);
        let until = bus.expiry(Bucket::Leases, &instance).await?;
        found.push(Seen { instance, holding, is_live, until });
    }
    found.sort_by(|a, b| (a.since(), &a.instance).cmp(&(b.since(), &b.instance)));
    Ok(found)
}

/// What these nodes know of others that wait for their leases: by the node that holds it, and the instance.
async fn wanted(
    bus: &NatsBus,
    holders: impl Iterator<Item = &Member>,
) -> BTreeMap<(String, String), Vec<String>> {
    let asked = holders.map(|holder| async move {
        let question = Message { subject: subject::runtime(&holder.node), ..Message::default() };
        let answer = bus.request(question, ANSWER_MAX).await.ok()?;
        decode_body::<Runtime>(answer.content_type(), &answer.payload).ok()
    });
    let known =
        join_all(asked).await.into_iter().flatten().flat_map(|Runtime { node, wanted, .. }| {
            wanted.into_iter().map(move |(instance, nodes)| ((node.clone(), instance), nodes))
        });
    known.collect()
}

fn list(found: &[Seen], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return output::json(&found.iter().map(Seen::json).collect());
    }
    let rows: Vec<_> = found.iter().map(Seen::row).collect();
    output::table(&["INSTANCE", "NODE", "LIVE", "SINCE", "UNTIL", "WANTED BY"], &rows)
}

async fn remove(which: &Which, bus: &NatsBus, format: Format) -> Result<(), Failure> {
    let ids = match which {
        Which { ids, stale: false, all: false } => ids.clone(),
        Which { stale, .. } => {
            let found = all(bus).await?.into_iter();
            found.filter(|lease| !stale || !lease.is_live).map(|lease| lease.instance).collect()
        }
    };
    let (leases, nonces) = (bus.kv(Bucket::Leases), node::nonces());
    let mut removed = Vec::new();
    for id in ids {
        match bus::take_away(&*leases, &id, &nonces).await? {
            Some(Holding { owner, .. }) => {
                say::message(&format!("the lease on {id} is taken away from {owner}"));
                removed.push(json!({"workflowInstanceId": id, "node": owner}));
            }
            // It may have been released since it was listed.
            None if which.ids.is_empty() => {}
            None => {
                return Err(Failure::new(
                    Kind::NotFound,
                    format!("no node holds a lease on {id}; see `staunch lease ls`"),
                ));
            }
        }
    }
    match format {
        Format::Table => Ok(()),
        Format::Json => output::json(&Value::Array(removed)),
    }
}
