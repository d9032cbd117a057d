//! The validated cluster, through the HTTP APIs of its nodes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use api_client::{Client, Failure, Kind, Reading, Response, problems, text};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Longest wait for one answer: longer than an execution waits for its end.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(40);
/// Longest wait for a node's name.
const GREETING_MAX: Duration = Duration::from_secs(10);
const HINT: &str = "is the node running, and is this the address of its HTTP API?";
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The number of requests at the same time.
pub(crate) const AT_ONCE: usize = 16;
/// Longest wait for a result that a healthy cluster delivers at once.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// One node that is asked.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) client: Client,
    /// Its name in the cluster.
    pub(crate) node: String,
    /// It is out of use for a while: no request goes to it.
    is_out: AtomicBool,
}

/// The cluster, and the definitions that validation has created on it.
#[derive(Debug)]
pub struct Site {
    pub(crate) members: Vec<Member>,
    /// The live nodes that run workflows, including those that are not asked.
    pub(crate) executors: BTreeSet<String>,
    /// The beginning of all names that this run creates.
    pub(crate) run: String,
    /// All nodes run on this machine and share its clock.
    pub(crate) is_local: bool,
    made: Mutex<BTreeSet<String>>,
}

/// The result of an execution.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) status: String,
    pub(crate) result: Value,
}

impl Site {
    /// Asks every node for its name and its cluster. `run` begins all names that are made.
    ///
    /// # Errors
    /// When a node does not answer, or belongs to another cluster; the text names all such nodes.
    pub async fn meet(nodes: Vec<Client>, run: String, is_local: bool) -> Result<Self, Failure> {
        let greetings = nodes.into_iter().map(greet).collect::<Vec<_>>();
        let met = futures::future::join_all(greetings).await;
        let (met, silent): (Vec<_>, Vec<_>) = met.into_iter().partition(Result::is_ok);
        if !silent.is_empty() {
            let silent: Vec<_> = silent.into_iter().filter_map(Result::err).collect();
            let message =
                format!("{} of {} nodes cannot be asked", silent.len(), silent.len() + met.len());
            let details = silent.iter().map(ToString::to_string).collect();
            let kinds: Vec<_> = silent.iter().map(|failure| failure.kind).collect();
            return Err(Failure::new(Kind::of_all(&kinds), message).with(details));
        }
        let met: Vec<_> = met.into_iter().filter_map(Result::ok).collect();
        check_same_cluster(&met)?;
        let executors = met.first().map(|(_, live)| executors(live)).unwrap_or_default();
        if executors.is_empty() {
            return Err(Failure::failed(
                "no live node of this cluster runs workflows: start one with the role executor",
            ));
        }
        let members = met.into_iter().map(|(member, _)| member).collect();
        Ok(Self { members, executors, run, is_local, made: Mutex::default() })
    }

    /// A cluster of one node, which nobody has asked yet.
    #[cfg(test)]
    pub(crate) fn of(client: Client) -> Self {
        let member = Member { client, node: "node".to_owned(), is_out: AtomicBool::new(false) };
        Self {
            members: vec![member],
            executors: BTreeSet::new(),
            run: "run".to_owned(),
            is_local: true,
            made: Mutex::default(),
        }
    }

    /// The beginning of all names that this run makes.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The nodes that answered, with their addresses.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|member| (member.node.as_str(), member.client.server()))
    }

    /// The live nodes that run workflows, including those that were not asked.
    pub fn executors(&self) -> impl Iterator<Item = &str> {
        self.executors.iter().map(String::as_str)
    }

    /// The names of the nodes that answered.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.members.iter().map(|member| member.node.as_str()).collect()
    }

    /// A name for a new definition.
    pub(crate) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.run)
    }

    /// The definitions that were created.
    pub(crate) fn made(&self) -> Vec<String> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Takes a node out of use, or back into it.
    pub(crate) fn set_out(&self, member: usize, is_out: bool) {
        self.members[member].is_out.store(is_out, Ordering::Relaxed);
    }

    /// Whether a node is out of use.
    pub(crate) fn is_out(&self, member: usize) -> bool {
        self.members[member].is_out.load(Ordering::Relaxed)
    }

    /// The client of the `number`th node in use; counts on from the first after the last.
    pub(crate) fn any(&self, number: usize) -> &Client {
        let inside: Vec<_> =
            self.members.iter().filter(|m| !m.is_out.load(Ordering::Relaxed)).collect();
        let inside = if inside.is_empty() { self.members.iter().collect() } else { inside };
        &inside[number % inside.len()].client
    }

    /// Imports and publishes a definition at a node; returns the nodes that do not know it yet.
    pub(crate) async fn publish(
        &self,
        client: &Client,
        document: &Value,
    ) -> Result<Vec<String>, Failure> {
        let id = text(document, "definitionId");
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        let answer = client.post("/workflow-definitions/import?publish=true", document).await?;
        let problems = problems(&answer.body);
        if !problems.is_empty() {
            return Err(Failure::failed("the definition has problems").with(problems));
        }
        let missing = answer.body["missing"].as_array().into_iter().flatten();
        let missing: Vec<_> = missing.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(match missing.is_empty() && answer.body["everywhere"] == false {
            true => vec!["a node, nobody knows which".to_owned()],
            false => missing,
        })
    }

    /// Starts an instance at a node; returns its id as soon as the start is accepted.
    pub(crate) async fn dispatch(
        &self,
        client: &Client,
        definition: &str,
        number: usize,
    ) -> Result<String, Failure> {
        let id = format!("{definition}-{number}");
        let path = format!("/workflow-definitions/{definition}/dispatch");
        client.post_once(&path, &json!({"instanceId": id}), &id).await?;
        Ok(id)
    }

    /// Runs an instance to its end, at a node.
    pub(crate) async fn execute(
        &self,
        client: &Client,
        definition: &str,
        id: &str,
    ) -> Result<Ended, Failure> {
        let path = format!("/workflow-definitions/{definition}/execute");
        let answer = client.post_once(&path, &json!({"instanceId": id}), id).await?;
        let state = &answer.body["workflowState"];
        if state.is_object() {
            return Ok(ended(state));
        }
        // The start is accepted, and the instance has not ended within the caller's wait.
        self.reaches(client, id, is_final).await.map(|instance| ended(&instance["workflowState"]))
    }

    /// Waits until an instance meets a condition; returns it.
    pub(crate) async fn reaches(
        &self,
        client: &Client,
        id: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<Value, Failure> {
        let give_up = Instant::now() + SOON;
        loop {
            let instance = client.get(&format!("/workflow-instances/{id}")).await?;
            let status = text(&instance, "subStatus");
            if fits(&status) {
                return Ok(instance);
            }
            if Instant::now() >= give_up {
                let text = format!("{id} is still {status} after {} s", SOON.as_secs());
                return Err(Failure::failed(text));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// The number of instances of a definition; of this sub-status, if one is given.
    pub(crate) async fn count(
        &self,
        definition: &str,
        status: Option<&str>,
    ) -> Result<u64, Failure> {
        let mut body = json!({"definitionId": definition, "page": 0, "pageSize": 1});
        if let Some(status) = status {
            body["subStatus"] = json!(status);
        }
        let answer = self.any(0).post("/workflow-instances", &body).await?;
        Ok(answer.body["totalCount"].as_u64().unwrap_or_default())
    }

    /// Waits until this many instances of a definition are finished; returns their number.
    pub(crate) async fn finished(
        &self,
        definition: &str,
        wanted: usize,
        bound: Duration,
    ) -> Result<usize, Failure> {
        let give_up = Instant::now() + bound;
        loop {
            let count = self.count(definition, Some("Finished")).await?;
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if count >= wanted || Instant::now() >= give_up {
                return Ok(count);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// The journals of these instances, in their order.
    pub(crate) async fn journals(&self, ids: &[String]) -> Result<Vec<Vec<Value>>, Failure> {
        let asks = ids.iter().enumerate().map(|(number, id)| {
            let ask = async move {
                let path = format!("/workflow-instances/{id}/journal?skip=0&take=100");
                let mut body = self.any(number).get(&path).await?;
                Ok(match body["items"].take() {
                    Value::Array(items) => items,
                    _ => Vec::new(),
                })
            };
            ask.boxed()
        });
        let asks: Vec<_> = asks.collect();
        let journals: Vec<Result<_, Failure>> =
            stream::iter(asks).buffered(AT_ONCE).collect().await;
        journals.into_iter().collect()
    }

    /// The metrics of each named node, except nodes out of use.
    pub(crate) async fn readings(&self) -> Result<Vec<Reading>, Failure> {
        let mut readings = Vec::new();
        for member in &self.members {
            if member.is_out.load(Ordering::Relaxed) {
                readings.push(Reading::default());
                continue;
            }
            let Response { body, .. } = member.client.metrics().await?;
            readings.push(Reading::parse(body.as_str().unwrap_or_default()));
        }
        Ok(readings)
    }
}

pub(crate) fn is_final(status: &str) -> bool {
    matches!(status, "Finished" | "Faulted" | "Cancelled")
}

fn ended(state: &Value) -> Ended {
    Ended { status: text(state, "subStatus"), result: state["output"]["Result"].clone() }
}

async fn greet(client: Client) -> Result<(Member, Vec<Value>), Failure> {
    let asked = client.clone().with_patience(GREETING_MAX, HINT);
    let body = asked.get("/nodes").await.map_err(|failure| match failure.kind {
        Kind::NotFound => Failure::failed(format!(
            "{}: this server does not know its cluster: it is no Staunch, or an older one",
            client.server()
        )),
        Kind::Unavailable => failure,
        kind => Failure::new(kind, format!("{}: {failure}", client.server())),
    })?;
    let node = text(&body, "node");
    let live = body["items"].as_array().cloned().unwrap_or_default();
    let client = client.with_patience(ANSWER_TIME_MAX, HINT);
    Ok((Member { client, node, is_out: AtomicBool::new(false) }, live))
}

fn check_same_cluster(met: &[(Member, Vec<Value>)]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for (member, live) in met {
        if !seen.insert(&member.node) {
            let node = &member.node;
            return Err(Failure::usage(format!("{node} was named twice: name each node once")));
        }
        for (other, _) in met {
            if !live.iter().any(|item| text(item, "node") == other.node) {
                return Err(Failure::failed(format!(
                    "{} ({}) does not see {} ({}): do they share one NATS, and do both run?",
                    member.node,
                    member.client.server(),
                    other.node,
                    other.client.server(),
                )));
            }
        }
    }
    Ok(())
}

fn executors(live: &[Value]) -> BTreeSet<String> {
    let runs = |item: &&Value| {
        item["roles"].as_array().is_some_and(|roles| roles.iter().any(|role| role == "executor"))
    };
    live.iter().filter(runs).map(|item| text(item, "node")).collect()
}
