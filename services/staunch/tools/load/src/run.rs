//! One measurement: preparations, a warm-up, then the measured part.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use model::InstanceId;
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::door::{self, Door};
use crate::lane::{Lane, WallClock};
use crate::outside::Outside;
use crate::process::{Process, Usage};
use crate::wire::Wire;
use crate::{Access, Callee, Connection, Figures, Scenario, Times, Transport, workflow};

/// A measurement with more failures than this ends with an error.
const FAILURES_MAX: usize = 100;
/// The number of failures whose message is kept.
const FAILURES_TOLD: usize = 5;
const AFTER_FAILURE: Duration = Duration::from_millis(20);
/// The warm-up is a tenth of the measured part, and at most this.
const WARM_COUNT_MAX: u64 = 20_000;
const WARM_LENGTH_MAX: Duration = Duration::from_secs(3);
const PROGRESS: Duration = Duration::from_secs(1);

/// The cluster.
#[derive(Clone, Debug)]
pub struct Target {
    /// The addresses of the nodes' HTTP APIs; at least one.
    pub servers: Vec<String>,
    /// The NATS URL.
    pub nats_url: String,
    /// The credential, if the nodes need one, and the authority of their certificate.
    pub access: Access,
}

/// The order for a measurement.
#[derive(Clone, Debug)]
pub struct Order {
    /// The scenario.
    pub scenario: Scenario,
    /// NATS or HTTP.
    pub transport: Transport,
    /// The number of lanes.
    pub lanes: usize,
    /// When it ends.
    pub bounds: Bounds,
    /// Steps per second, whether or not the earlier ones have ended; as fast as possible if none is
    /// given.
    pub rate: Option<f64>,
    /// [`Scenario::Contend`]: the number of instances.
    pub few: usize,
    /// [`Scenario::Payload`]: the size of each body.
    pub bytes: usize,
    /// [`Scenario::Timer`]: the wait of each timer; 0.5 to 1.5 s if none is given.
    pub delay: Option<Duration>,
    /// The beginning of every new name; it was never used before.
    pub name: String,
    /// The processes to watch.
    pub processes: Vec<Process>,
}

/// The end of a measurement: the limit that comes first.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The number of steps.
    pub count: u64,
    /// The duration.
    pub length: Duration,
}

/// The results of a measurement.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The scenario.
    pub scenario: Scenario,
    /// NATS or HTTP.
    pub transport: Transport,
    /// The number of lanes.
    pub lanes: usize,
    /// Steps due per second, if the order sets a rate.
    pub rate: Option<f64>,
    /// Steps that succeeded.
    pub done: u64,
    /// Steps that failed.
    pub failed: u64,
    /// The messages of the first failures.
    pub failures: Vec<String>,
    /// The duration of the measured part.
    pub seconds: f64,
    /// Steps per second.
    pub throughput: f64,
    /// The durations of the steps.
    pub times: Vec<Figures>,
    /// Instances that ended twice; counted if the scenario subscribes to ends.
    pub doubles: Option<usize>,
    /// The resources that the watched processes used.
    pub usage: Vec<Usage>,
}

/// Carries out the order and measures. Calls `say` with its progress.
///
/// # Errors
/// When the cluster cannot be reached, or too many steps fail.
pub async fn run(target: &Target, order: &Order, say: &dyn Fn(&str)) -> anyhow::Result<Report> {
    ensure!(order.lanes > 0 && order.few > 0, "nobody does it: at least 1");
    // Over HTTP ingress chooses the bookmark: of two requests that get the same one, one is
    // refused.
    let is_refused = order.scenario == Scenario::Contend && order.transport == Transport::Http;
    ensure!(!is_refused, "contend is measured over NATS, where every resume has its turn");
    let callee = Callee::start().await?;
    let hears = order.scenario.hears_ends();
    let wire = if hears || order.transport == Transport::Nats {
        Some(Arc::new(Wire::connect(&target.nats_url, hears.then_some(&*order.name)).await?))
    } else {
        None
    };
    let mut api = connect(target, 0)?;
    let outside = Outside::start(order.scenario, &order.name, &target.nats_url).await?;
    let outside = outside.map(Arc::new);
    for definition in workflow::definitions(order.scenario, &order.name, callee.url()) {
        door::save(&mut api, &definition).await?;
        door::publish(&mut api, id_of(&definition)).await?;
    }
    let measured = measure(target, order, wire.as_ref(), outside.as_ref(), say).await;
    // Retracts the definitions, so that no trigger starts them later; the instances stay.
    let mut made = workflow::definitions(order.scenario, &order.name, "");
    if order.scenario == Scenario::Publish {
        let news = |index| workflow::news(&format!("{}-{index}", order.name), 0);
        made.extend((0..order.lanes).map(news));
    }
    for id in made.iter().map(id_of) {
        let path = format!("/elsa/api/workflow-definitions/{id}");
        if let Err(error) = api.send("DELETE", &path, "").await {
            tracing::warn!(%error, "a definition was left behind");
        }
    }
    if let Some(wire) = wire {
        wire.close().await;
    }
    if let Some(outside) = outside {
        outside.clean(&order.name).await;
    }
    measured
}

fn id_of(definition: &Value) -> &str {
    definition["definitionId"].as_str().unwrap_or_default()
}

async fn measure(
    target: &Target,
    order: &Order,
    wire: Option<&Arc<Wire>>,
    outside: Option<&Arc<Outside>>,
    say: &dyn Fn(&str),
) -> anyhow::Result<Report> {
    let door = |index| {
        Ok::<_, anyhow::Error>(match (order.transport, wire) {
            (Transport::Nats, Some(wire)) => Door::Nats(Arc::clone(wire)),
            _ => Door::Http(connect(target, index)?),
        })
    };
    let few = if order.scenario == Scenario::Contend {
        begin_few(order, &mut door(0)?).await?
    } else {
        Vec::new()
    };
    let (few, clock) = (Arc::from(few), WallClock::new());
    let mut lanes = Vec::with_capacity(order.lanes);
    for index in 0..order.lanes {
        lanes.push(Lane {
            index,
            scenario: order.scenario,
            name: order.name.as_str().into(),
            door: door(index)?,
            api: connect(target, index)?,
            wire: wire.cloned(),
            outside: outside.cloned(),
            body: if order.scenario == Scenario::Payload {
                vec![b'x'; order.bytes]
            } else {
                Vec::new()
            },
            few: Arc::clone(&few),
            delay: order.delay,
            clock,
        });
    }
    let Bounds { count, length } = order.bounds;
    let warm = Bounds {
        count: (count / 10).clamp(1, WARM_COUNT_MAX),
        length: (length / 5).min(WARM_LENGTH_MAX),
    };
    let (lanes, ended) = phase(order, lanes, 0, warm, "warming up", say).await?;
    let numbers = ended.counts.done + ended.counts.failed;
    let before: Vec<_> = order.processes.iter().map(Process::cpu).collect();
    let (_, ended) = phase(order, lanes, numbers, order.bounds, "measuring", say).await?;
    let usage = order.processes.iter().zip(before);
    let usage = usage.map(|(process, before)| process.usage(before)).collect();
    let Ended { counts, failures, times, seconds } = ended;
    Ok(Report {
        scenario: order.scenario,
        transport: order.scenario.over(order.transport),
        lanes: order.lanes,
        rate: order.rate,
        done: counts.done,
        failed: counts.failed,
        failures,
        seconds,
        throughput: rate(counts.done, seconds),
        times: times.figures(),
        doubles: wire.filter(|_| order.scenario == Scenario::Timer).map(|wire| wire.doubles()),
        usage,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of what was done fit")]
fn rate(done: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { done as f64 / seconds } else { 0.0 }
}

async fn begin_few(order: &Order, door: &mut Door) -> anyhow::Result<Vec<InstanceId>> {
    let mut few = Vec::new();
    for number in 0..order.few {
        few.push(door.begin(&format!("{}-few-{number}", order.name), &order.name).await?);
    }
    Ok(few)
}

fn connect(target: &Target, index: usize) -> anyhow::Result<Connection> {
    ensure!(!target.servers.is_empty(), "no node has an HTTP API");
    Connection::to(&target.servers[index % target.servers.len()], &target.access)
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    done: u64,
    failed: u64,
}

#[derive(Debug)]
struct Ended {
    counts: Counts,
    failures: Vec<String>,
    times: Times,
    seconds: f64,
}

/// The state that the lanes of one phase share.
struct Shared {
    next: AtomicU64,
    done: AtomicU64,
    is_over: AtomicBool,
    first: u64,
    count: u64,
    began: Instant,
    until: Instant,
    rate: Option<f64>,
    times: Times,
}

async fn phase(
    order: &Order,
    lanes: Vec<Lane>,
    first: u64,
    bounds: Bounds,
    what: &str,
    say: &dyn Fn(&str),
) -> anyhow::Result<(Vec<Lane>, Ended)> {
    let began = Instant::now();
    let shared = Arc::new(Shared {
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        first,
        count: bounds.count,
        began,
        until: began + bounds.length,
        rate: order.rate,
        times: Times::default(),
    });
    let mut running: JoinSet<(Lane, Vec<String>)> = JoinSet::new();
    for lane in lanes {
        running.spawn(work(lane, Arc::clone(&shared)));
    }
    let mut tick = tokio::time::interval_at(began + PROGRESS, PROGRESS);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut lanes, mut failed, mut failures, mut before) = (Vec::new(), 0, Vec::new(), 0);
    loop {
        tokio::select! {
            ended = running.join_next() => match ended {
                None => break,
                Some(ended) => {
                    let (lane, complaints) = ended.context("a lane ended")?;
                    lanes.push(lane);
                    failed += complaints.len();
                    failures.extend(complaints);
                    failures.truncate(FAILURES_TOLD);
                }
            },
            _ = tick.tick() => {
                let done = shared.done.load(Ordering::Relaxed);
                let seconds = began.elapsed().as_secs();
                say(&format!("{what}: {seconds} s, {done} done, {}/s", done - before));
                before = done;
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let done = shared.done.load(Ordering::Relaxed);
    if done == 0 || failed >= FAILURES_MAX {
        bail!("{failed} of {} have failed: {}", done + failed as u64, failures.join("; "));
    }
    let counts = Counts { done, failed: failed as u64 };
    Ok((lanes, Ended { counts, failures, times: shared.times.clone(), seconds }))
}

/// Runs one lane to the end of the phase. Returns the reason of each failure.
async fn work(mut lane: Lane, shared: Arc<Shared>) -> (Lane, Vec<String>) {
    let mut failures = Vec::new();
    while !shared.is_over.load(Ordering::Relaxed) {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let due = match shared.rate {
            None => Instant::now(),
            Some(rate) => shared.began + after(number, rate),
        };
        if number >= shared.count || due >= shared.until {
            break;
        }
        // Even a sleep of zero takes a tick of the timer, which is a millisecond.
        if shared.rate.is_some() {
            tokio::time::sleep_until(due).await;
        }
        match lane.step(shared.first + number, due, &shared.times).await {
            Ok(()) => {
                shared.done.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                failures.push(format!("{error:#}"));
                if failures.len() >= FAILURES_MAX {
                    shared.is_over.store(true, Ordering::Relaxed);
                }
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }
    (lane, failures)
}

#[expect(clippy::cast_precision_loss, reason = "counts of what is due fit")]
fn after(number: u64, rate: f64) -> Duration {
    Duration::try_from_secs_f64(number as f64 / rate).unwrap_or(Duration::MAX)
}

/// The number of instances that the order creates, for figures per instance.
impl Report {
    /// The number of instances that ran.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.done * self.scenario.instances().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_evenly_spread() {
        assert_eq!(after(0, 250.0), Duration::ZERO);
        assert_eq!(after(1_000, 250.0), Duration::from_secs(4));
        assert!((rate(300, 1.5) - 200.0).abs() < 1e-9);
        assert!(rate(300, 0.0).abs() < 1e-9);
    }
}
