//! One look at all nodes: their metrics, and what the API says about them.

use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Failure;
use crate::client::{Client, ClientArgs};
use crate::output::text;
use api_client::Reading;

/// How long one node may take for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The time between two questions for what changes slowly.
const SLOW_EVERY: Duration = Duration::from_secs(5);
/// Instances that ended last, from which the slowest definitions are found.
const ENDED_MAX: u64 = 200;
/// Why a node without HTTP has no figures.
const NO_ADDRESS: &str = "it has no HTTP API: name its --admin-listen address with --nodes";
/// Nodes whose metrics are read.
const NODES_MAX: usize = 64;

/// One look.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) nodes: Vec<NodeSample>,
    pub(super) pauses: usize,
    pub(super) slow: Slow,
    /// Why the API does not answer now.
    pub(super) failure: Option<String>,
}

/// One node, or an address that was named on the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSample {
    pub(super) node: String,
    pub(super) roles: Vec<String>,
    /// None if it does not say it.
    pub(super) version: Option<String>,
    /// None if it has no address, or does not answer.
    pub(super) reading: Option<Reading>,
    /// Why there is no reading.
    pub(super) trouble: Option<String>,
    /// Of executors: `Running`, `Pausing`, `Paused`, or nothing.
    pub(super) state: String,
    pub(super) commands: Option<u64>,
    pub(super) instances: Option<u64>,
}

/// What is asked seldom.
#[derive(Clone, Debug, Default)]
pub(super) struct Slow {
    pub(super) dead_letters: Option<u64>,
    /// Unfinished instances.
    pub(super) running: Option<u64>,
    /// Definition, and the time from acceptance to end, of the instances that ended last.
    pub(super) ended: Vec<(String, Duration)>,
}

impl Sample {
    /// What was known, because nothing new is.
    pub(super) fn silent(&self, failure: &Failure) -> Self {
        Self { at: Instant::now(), failure: Some(failure.message.clone()), ..self.clone() }
    }
}

/// Looks again and again.
pub(super) struct Sampler {
    client: Client,
    args: ClientArgs,
    others: Vec<(String, Client)>,
    slow: Option<(Instant, Slow)>,
}

impl Sampler {
    /// Looks at the nodes that this server knows, and at these addresses.
    ///
    /// # Errors
    /// When one of them is not an address.
    pub(super) fn new(
        client: Client,
        args: &ClientArgs,
        others: Vec<String>,
    ) -> Result<Self, Failure> {
        let others = others.into_iter().map(|url| Ok((url.clone(), args.of(&url)?)));
        let others = others.collect::<Result<_, Failure>>()?;
        Ok(Self { client, args: args.clone(), others, slow: None })
    }

    /// One look.
    ///
    /// # Errors
    /// When the API does not answer, or refuses.
    pub(super) async fn sample(&mut self) -> Result<Sample, Failure> {
        let (nodes, status) =
            join(self.client.get("/nodes"), self.client.get("/admin/workflow-runtime/status"))
                .await;
        let (nodes, status) = (list(&nodes?, "items"), status?);
        let executors = list(&status, "nodes");
        let mut asked = Vec::new();
        for node in nodes.iter().take(NODES_MAX) {
            let client = match text(node, "address") {
                url if url.is_empty() => None,
                url => self.args.of(&url).ok(),
            };
            asked.push((of_node(node, &executors), client));
        }
        for (url, client) in &self.others {
            asked.push((
                NodeSample { node: url.clone(), ..NodeSample::default() },
                Some(client.clone()),
            ));
        }
        let members = asked.len() - self.others.len();
        let readings = asked.into_iter().map(|(node, client)| async move {
            match client {
                Some(client) => match read(&client).await {
                    Ok(reading) => NodeSample { reading: Some(reading), ..node },
                    Err(trouble) => NodeSample { trouble: Some(trouble), ..node },
                },
                None => NodeSample { trouble: Some(NO_ADDRESS.to_owned()), ..node },
            }
        });
        let mut nodes = join_all(readings).await;
        let others = nodes.split_off(members);
        let nodes = joined(nodes, others);
        let slow = self.slow().await;
        let pauses = list(&status, "pauses").len();
        Ok(Sample { at: Instant::now(), nodes, pauses, slow, failure: None })
    }

    /// What changes slowly, at most as old as [`SLOW_EVERY`]. What is refused stays unknown.
    async fn slow(&mut self) -> Slow {
        if let Some((at, slow)) = &self.slow
            && at.elapsed() < SLOW_EVERY
        {
            return slow.clone();
        }
        let newest = json!({"pageSize": ENDED_MAX, "status": "Finished", "orderBy": "Finished",
            "orderDirection": "Descending"});
        let (letters, ended) = join(
            self.client.get("/bookmark-queue/dead-letters?pageSize=1"),
            self.client.post("/workflow-instances/query", &newest),
        )
        .await;
        let running = self.client.get("/workflow-instances?pageSize=1&status=Running").await;
        let total = |answer: &Value| answer.get("totalCount").and_then(Value::as_u64);
        let ended = ended.map(|answer| list(&answer.body, "items")).unwrap_or_default();
        let slow = Slow {
            dead_letters: letters.ok().as_ref().and_then(total),
            running: running.ok().as_ref().and_then(total),
            ended: ended.iter().filter_map(took).collect(),
        };
        self.slow = Some((Instant::now(), slow.clone()));
        slow
    }
}

async fn read(client: &Client) -> Result<Reading, String> {
    let client = client.clone().with_patience(ANSWER_MAX, "is it reached from here?");
    let answer = client.metrics().await.map_err(|failure| failure.message)?;
    let text = answer.body.as_str();
    text.map(Reading::parse).ok_or_else(|| format!("{} answers without metrics", client.server()))
}

/// The live nodes, with what further addresses say of them. The metrics themselves name their node:
/// behind an address that several nodes share, another one may have answered.
pub(super) fn joined(members: Vec<NodeSample>, others: Vec<NodeSample>) -> Vec<NodeSample> {
    let own = |node: NodeSample| match node.reading.as_ref().and_then(Reading::node) {
        Some(name) if name != node.node => {
            let trouble = format!(
                "{name} answered at its address: set --node-address on each node, or name \
                 addresses of their own with --nodes"
            );
            NodeSample { reading: None, trouble: Some(trouble), ..node }
        }
        _ => node,
    };
    let mut nodes: Vec<NodeSample> = members.into_iter().map(own).collect();
    for other in others {
        let name = other.reading.as_ref().and_then(Reading::node);
        let at = name.as_ref().and_then(|name| nodes.iter().position(|it| it.node == *name));
        match at.and_then(|at| nodes.get_mut(at)) {
            Some(known) if known.reading.is_none() => {
                (known.reading, known.trouble) = (other.reading, None);
            }
            // The figures of a process count once.
            Some(_) => {}
            None => nodes.push(NodeSample { node: name.unwrap_or(other.node), ..other }),
        }
    }
    nodes
}

fn of_node(node: &Value, executors: &[Value]) -> NodeSample {
    let name = text(node, "node");
    let executor = executors.iter().find(|executor| text(executor, "node") == name);
    let number = |member: &str| executor.and_then(|it| it.get(member)).and_then(Value::as_u64);
    let roles = list(node, "roles");
    NodeSample {
        roles: roles.iter().filter_map(|role| role.as_str().map(str::to_owned)).collect(),
        state: executor.map(|executor| text(executor, "state")).unwrap_or_default(),
        commands: number("commands"),
        instances: number("instances"),
        version: node.get("version").and_then(Value::as_str).map(str::to_owned),
        node: name,
        reading: None,
        trouble: None,
    }
}

fn took(instance: &Value) -> Option<(String, Duration)> {
    let time = |name: &str| model::Timestamp::parse(&text(instance, name)).ok();
    Some((text(instance, "definitionId"), time("finishedAt")?.since(time("createdAt")?)))
}

fn list(value: &Value, name: &str) -> Vec<Value> {
    value.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}
