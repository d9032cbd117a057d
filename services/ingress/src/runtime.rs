//! The runtime of the cluster: which executors take commands, how much they work on, and pauses.
//!
//! A pause is an entry of a bucket ([`bus::Pauses`]); executors follow it and say how much work they
//! have left when they are asked. Commands wait in the stream meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::{Bucket, Drain, Kv, Member, Pause, Pauses, Revision, Scope};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use model::{Timestamp, limits};
use protocol::{Message, Runtime, Taking, decode_body, subject};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{App, Problem};

/// The role of the nodes that take commands.
const EXECUTOR: &str = "executor";
/// How long an executor may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// The number of executors that are asked at the same time.
const ASKED_AT_ONCE: usize = 32;
/// The pause between two questions to executors that still work.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Nodes that may have pauses of their own.
const PAUSES_MAX: usize = 1_000;

/// The pauses of the cluster, with their revisions.
pub(crate) type Known = BTreeMap<Scope, (Pause, Revision)>;

/// One executor.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) member: Member,
    /// None when it does not answer.
    pub(crate) runtime: Option<Runtime>,
    /// When its own last pause ended; none while it is paused, and where it never was.
    resumed_at: Option<Timestamp>,
}

/// The pauses, and the executors among the live nodes: one of them, or all.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) scope: Scope,
    pub(crate) pauses: Known,
    pub(crate) nodes: Vec<Seen>,
    /// When the last pause of the cluster ended; none while it is paused, and where it never was.
    resumed_at: Option<Timestamp>,
    /// The revision of the last change of a pause, of the cluster or of any node.
    generation: Revision,
}

/// The reason why a pause is not changed.
pub(crate) enum Refused {
    /// Someone waits for the end of the work in progress.
    Draining(Pause),
    Bus(bus::Error),
}

impl From<bus::Error> for Refused {
    fn from(error: bus::Error) -> Self {
        Self::Bus(error)
    }
}

/// The problem of a bus that does not answer.
pub(crate) fn unavailable(error: &bus::Error) -> Problem {
    tracing::warn!(%error, "the runtime cannot be asked");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}

/// Asks the executors.
pub(crate) async fn status(app: &App, scope: &Scope) -> Result<Status, Problem> {
    let kv = app.cx.bus.kv(Bucket::Runtime);
    // Read before the pauses: after a change between the two reads, the next answer has another one.
    let generation = kv.revision().await.map_err(|error| unavailable(&error))?;
    let pauses = Pauses::all(&*kv).await.map_err(|error| unavailable(&error))?;
    let resumed_at = ended(&*kv, &pauses, &Scope::Cluster).await?;
    let (kv, known) = (&*kv, &pauses);
    let asked = executors(app, scope).into_iter().map(|member| async move {
        let own = Scope::Node(member.node.clone());
        let ended = ended(kv, known, &own);
        let (runtime, resumed_at) = tokio::join!(ask(app, &member.node), ended);
        Ok::<_, Problem>(Seen { runtime, resumed_at: resumed_at?, member })
    });
    let nodes = stream::iter(asked).buffered(ASKED_AT_ONCE).try_collect().await?;
    Ok(Status { scope: scope.clone(), pauses, nodes, resumed_at, generation })
}

/// Whether the scope has a pause of its own.
pub(crate) async fn is_paused(app: &App, scope: &Scope) -> Result<bool, Problem> {
    let pauses = Pauses::all(&*app.cx.bus.kv(Bucket::Runtime)).await;
    Ok(pauses.map_err(|error| unavailable(&error))?.contains_key(scope))
}

/// When the last pause of the scope ended; none while it is paused, and where it never was.
async fn ended(kv: &dyn Kv, pauses: &Known, scope: &Scope) -> Result<Option<Timestamp>, Problem> {
    if pauses.contains_key(scope) {
        return Ok(None);
    }
    Pauses::ended_at(kv, scope).await.map_err(|error| unavailable(&error))
}

/// The live executors: all of them, or the one that the scope names.
pub(crate) fn executors(app: &App, scope: &Scope) -> Vec<Member> {
    let mut members = app.cx.presence.live();
    members.retain(|member| {
        let is_wanted = match scope {
            Scope::Cluster => true,
            Scope::Node(node) => member.node == *node,
        };
        is_wanted && member.roles.iter().any(|role| role == EXECUTOR)
    });
    members
}

/// What these holders of leases know of nodes that wait for them: by the node that holds it, and the instance.
pub(crate) async fn wanted(
    app: &App,
    holders: &BTreeSet<&str>,
) -> BTreeMap<(String, String), Vec<String>> {
    let mut members = executors(app, &Scope::Cluster);
    members.retain(|member| holders.contains(member.node.as_str()));
    let asked = members.into_iter().map(|member| async move { ask(app, &member.node).await });
    let answers: Vec<_> = stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await;
    let known = answers.into_iter().flatten().flat_map(|Runtime { node, wanted, .. }| {
        wanted.into_iter().map(move |(instance, nodes)| ((node.clone(), instance), nodes))
    });
    known.collect()
}

async fn ask(app: &App, node: &str) -> Option<Runtime> {
    let question = Message { subject: subject::runtime(node), ..Message::default() };
    let answer = app.cx.bus.request(question, ANSWER_MAX).await;
    let answer = answer.inspect_err(|error| tracing::debug!(%error, node, "no answer")).ok()?;
    decode_body(answer.content_type(), &answer.payload).ok()
}

/// Pauses the scope. One that is paused stays as it is.
pub(crate) async fn pause(
    app: &App,
    scope: &Scope,
    by: &str,
    reason: Option<&str>,
) -> Result<Pause, Refused> {
    must_have_room(app, scope).await?;
    let now = app.now();
    let paused = change(app, scope, |found| match found {
        Some(pause) if pause.is_draining(now) => Err(Refused::Draining(pause)),
        Some(pause) => Ok(Some(pause)),
        None => Ok(Some(paused(now, by, reason))),
    });
    Ok(paused.await?.unwrap_or_default())
}

/// Ends the pause of the scope, and of no other.
pub(crate) async fn resume(app: &App, scope: &Scope) -> Result<(), Refused> {
    let now = app.now();
    let ended = change(app, scope, |found| match found {
        Some(pause) if pause.is_draining(now) => Err(Refused::Draining(pause)),
        _ => Ok(None),
    });
    ended.await.map(drop)
}

/// Pauses the scope and waits until its executors have finished their work, or for this time.
pub(crate) async fn drain(
    app: &App,
    scope: &Scope,
    by: &str,
    reason: Option<&str>,
    time_max: Duration,
) -> Result<Drained, Refused> {
    must_have_room(app, scope).await?;
    let (now, began) = (app.now(), Instant::now());
    let drain = Drain { started_at: now, until: now.after(time_max), completed_at: None };
    let begun = change(app, scope, |found| match found {
        Some(pause) if pause.is_draining(now) => Err(Refused::Draining(pause)),
        found => {
            let pause = found.unwrap_or_else(|| paused(now, by, reason));
            Ok(Some(Pause { drain: Some(drain.clone()), ..pause }))
        }
    });
    begun.await?;
    let mut paused_after = None;
    let (is_drained, status) = loop {
        let status = status(app, scope).await.map_err(|problem| {
            Refused::Bus(bus::Error::Unavailable(problem.detail().to_owned()))
        })?;
        let all = |is: fn(&Runtime) -> bool| {
            status.nodes.iter().all(|node| node.runtime.as_ref().is_some_and(is))
        };
        if all(|runtime| runtime.state == Taking::Paused) {
            paused_after.get_or_insert(began.elapsed());
        }
        let is_drained = all(Runtime::is_drained);
        if is_drained || began.elapsed() + LOOK_EVERY >= time_max || app.is_draining() {
            break (is_drained, status);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    let completed_at = app.now();
    let ended = change(app, scope, |found| {
        let ours = |pause: &Pause| pause.drain.as_ref().is_some_and(|it| it.started_at == now);
        Ok(found.map(|pause| match &pause.drain {
            Some(drain) if ours(&pause) => {
                let drain = Drain { completed_at: Some(completed_at), ..drain.clone() };
                Pause { drain: Some(drain), ..pause }
            }
            _ => pause,
        }))
    });
    ended.await?;
    let paused_after = paused_after.unwrap_or_else(|| began.elapsed());
    let waited = began.elapsed().saturating_sub(paused_after);
    Ok(Drained { is_drained, started_at: now, completed_at, paused_after, waited, status })
}

/// The result of a drain.
pub(crate) struct Drained {
    pub(crate) is_drained: bool,
    pub(crate) started_at: Timestamp,
    pub(crate) completed_at: Timestamp,
    /// The time until no executor took commands.
    pub(crate) paused_after: Duration,
    /// The time after that, until their work was done.
    pub(crate) waited: Duration,
    pub(crate) status: Status,
}

fn paused(now: Timestamp, by: &str, reason: Option<&str>) -> Pause {
    Pause { since: now, by: by.to_owned(), reason: reason.map(str::to_owned), drain: None }
}

async fn change(
    app: &App,
    scope: &Scope,
    decide: impl Fn(Option<Pause>) -> Result<Option<Pause>, Refused>,
) -> Result<Option<Pause>, Refused> {
    let kv = app.cx.bus.kv(Bucket::Runtime);
    let chance = std::sync::Arc::clone(&app.cx.chance);
    let nonces: bus::Nonces = std::sync::Arc::new(move || chance.new_id());
    Pauses::change(&*kv, scope, &nonces, decide).await
}

/// Pauses of nodes that are gone stay: their number has a limit.
async fn must_have_room(app: &App, scope: &Scope) -> Result<(), Refused> {
    let Scope::Node(_) = scope else { return Ok(()) };
    let known = Pauses::all(&*app.cx.bus.kv(Bucket::Runtime)).await?;
    if known.len() < PAUSES_MAX || known.contains_key(scope) {
        return Ok(());
    }
    let detail =
        format!("{PAUSES_MAX} nodes are paused, which is the most: resume those that are gone");
    Err(Refused::Bus(bus::Error::Full(detail)))
}

impl Status {
    /// The pause that holds for the scope: its own, or that of the cluster.
    fn pause(&self) -> Option<&Pause> {
        let found = self.pauses.get(&self.scope).or_else(|| self.pauses.get(&Scope::Cluster));
        found.map(|(pause, _)| pause)
    }

    /// The executor is paused neither with the cluster nor by itself.
    fn takes(&self, seen: &Seen) -> bool {
        let own = Scope::Node(seen.member.node.clone());
        !self.pauses.contains_key(&own) && !self.pauses.contains_key(&Scope::Cluster)
    }

    /// The state in Elsa's shape.
    pub(crate) fn state(&self) -> Value {
        let pause = self.pause();
        let drain = pause.and_then(|pause| pause.drain.as_ref());
        let reason = match (pause, drain) {
            (None, _) => "None",
            (Some(_), None) => "AdministrativePause",
            (Some(_), Some(_)) => "AdministrativePause, Drain",
        };
        json!({
            "reason": reason,
            "isAcceptingNewWork": pause.is_none() && self.nodes.iter().any(|seen| self.takes(seen)),
            "pausedAt": pause.map(|pause| pause.since),
            "drainStartedAt": drain.map(|drain| drain.started_at),
            "pauseReasonText": pause.and_then(|pause| pause.reason.as_ref()),
            "pauseRequestedBy": pause.map(|pause| &pause.by),
            "generationId": self.generation.to_string(),
        })
    }

    /// The executors as Elsa's sources of work.
    pub(crate) fn sources(&self) -> Vec<Value> {
        self.nodes.iter().map(|seen| self.source(seen)).collect()
    }

    fn source(&self, seen: &Seen) -> Value {
        let own = self.pauses.get(&Scope::Node(seen.member.node.clone()));
        let pause = own.or_else(|| self.pauses.get(&Scope::Cluster)).map(|(pause, _)| pause);
        let (state, error) = match (&seen.runtime, pause) {
            (Some(runtime), _) => (format!("{:?}", runtime.state), None),
            (None, Some(_)) => ("PauseFailed".to_owned(), Some("the node does not answer")),
            (None, None) => ("Running".to_owned(), Some("the node does not answer")),
        };
        json!({
            "name": seen.member.node,
            "state": state,
            "lastError": error,
            "lastTransitionAt": self.changed_at(seen),
        })
    }

    /// When the executor was paused, or else when it began to take commands: at a resume, or at its
    /// start. One that started during a pause was paused at its start.
    fn changed_at(&self, seen: &Seen) -> Timestamp {
        let own = Scope::Node(seen.member.node.clone());
        let pauses = [&own, &Scope::Cluster].map(|scope| self.pauses.get(scope));
        let paused_at = pauses.into_iter().flatten().map(|(pause, _)| pause.since).min();
        let resumed_at = self.resumed_at.max(seen.resumed_at);
        let changed_at = paused_at.or(resumed_at).unwrap_or_default();
        changed_at.max(seen.member.started_at)
    }

    /// The number of commands that executors work on.
    pub(crate) fn commands(&self) -> u64 {
        let answered = self.nodes.iter().filter_map(|seen| seen.runtime.as_ref());
        answered.map(|runtime| runtime.commands).sum()
    }

    /// The whole answer.
    pub(crate) fn document(&self) -> Value {
        let pauses = self.pauses.iter().map(|(scope, (pause, _))| {
            let node = match scope {
                Scope::Cluster => None,
                Scope::Node(node) => Some(node),
            };
            json!({"node": node, "since": pause.since, "by": pause.by, "reason": pause.reason})
        });
        let nodes = self.nodes.iter().map(|seen| {
            json!({
                "node": seen.member.node,
                "state": seen.runtime.as_ref().map(|runtime| runtime.state),
                "commands": seen.runtime.as_ref().map(|runtime| runtime.commands),
                "instances": seen.runtime.as_ref().map(|runtime| runtime.instances),
                "version": seen.member.version,
            })
        });
        json!({
            "state": self.state(),
            "sources": self.sources(),
            "activeExecutionCycleCount": self.commands(),
            "pauses": pauses.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<_>>(),
        })
    }
}

/// The longest wait of a drain.
pub(crate) fn drain_time(app: &App, seconds: Option<u64>) -> Result<Duration, Problem> {
    let longest = app.config.answer_time_max.max(limits::DRAIN_TIME_MAX);
    match seconds.map(Duration::from_secs) {
        None => Ok(app.config.answer_time_max),
        Some(time) if (Duration::from_secs(1)..=longest).contains(&time) => Ok(time),
        Some(_) => Err(Problem::bad_request(format!(
            "seconds is not valid: use 1 to {}, and drain again if that is not enough",
            longest.as_secs()
        ))),
    }
}
