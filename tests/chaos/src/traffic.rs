//! Starts voyages over HTTP and NATS without pause; records which were accepted and when they
//! ended. A window limits the number of unfinished voyages.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use futures::StreamExt as _;
use futures::future::join_all;
use model::{DefinitionId, SubStatus};
use serde_json::json;
use store::{InstanceFilter, Page, Store};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep};

use crate::api::Api;
use crate::workflow::{Names, WAITS};

/// How long one request is repeated before it counts as refused by all nodes.
const REPEAT_MAX: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a sender waits for room in the window before it checks whether the traffic has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The interval between queries for the finished voyages. The query counts more and more rows, on
/// the cores that are measured.
const COUNT_EVERY: Duration = Duration::from_secs(5);
/// Out of this number of messages, one cannot be read.
const GARBAGE_EVERY: usize = 10;
/// The number of unfinished voyages at the same time.
const WINDOW: usize = 48;

/// The accepted work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accepted {
    /// Voyages.
    pub(crate) voyages: BTreeSet<String>,
    /// Messages that cannot be read.
    pub(crate) garbage: usize,
    /// The number of finished voyages, and when it was read.
    pub(crate) finished: Vec<(Instant, usize)>,
}

/// Voyages per second, measured more than once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) mean: f64,
    /// The standard error of the mean.
    error: f64,
}

impl Pace {
    /// The standard error divided by the mean.
    pub(crate) fn doubt(self) -> f64 {
        self.error / self.mean
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ± {:.1}", self.mean, self.error)
    }
}

/// The running senders.
pub(crate) struct Traffic {
    shared: Arc<Shared>,
    senders: Vec<JoinHandle<()>>,
    watcher: JoinHandle<()>,
}

/// The targets of the traffic.
pub(crate) struct Route {
    pub(crate) names: Names,
    /// Nodes that take requests.
    pub(crate) doors: Vec<Api>,
    pub(crate) jetstream: Context,
    pub(crate) store: Arc<dyn Store>,
}

struct Shared {
    route: Route,
    next: AtomicUsize,
    window: Semaphore,
    is_over: AtomicBool,
    accepted: Mutex<Accepted>,
}

impl Traffic {
    /// Starts this number of senders; they send until they are ended.
    pub(crate) fn begin(route: Route, senders: usize) -> Self {
        let shared = Arc::new(Shared {
            route,
            next: AtomicUsize::new(0),
            window: Semaphore::new(WINDOW),
            is_over: AtomicBool::new(false),
            accepted: Mutex::default(),
        });
        let send = |_| tokio::spawn(Shared::send(Arc::clone(&shared)));
        let senders = (0..senders).map(send).collect();
        let watcher = tokio::spawn(Shared::watch(Arc::clone(&shared)));
        Self { senders, watcher, shared }
    }

    /// The voyages that were accepted until now.
    pub(crate) fn accepted(&self) -> BTreeSet<String> {
        self.shared.accepted.lock().unwrap().voyages.clone()
    }

    /// Voyages finished until now.
    pub(crate) fn finished(&self) -> usize {
        self.shared.accepted.lock().unwrap().finished.last().map_or(0, |(_, count)| *count)
    }

    /// Voyages per second over the last `seconds`.
    pub(crate) fn rate(&self, seconds: u64) -> f64 {
        let finished = self.shared.accepted.lock().unwrap().finished.clone();
        let Some((end, last)) = finished.last().copied() else { return 0.0 };
        let from = end - Duration::from_secs(seconds);
        let first = finished.iter().rev().find(|(at, _)| *at <= from).copied();
        let (begin, first) = first.unwrap_or(finished[0]);
        (last - first) as f64 / (end - begin).as_secs_f64()
    }

    /// Voyages per second over this number of time slices from now.
    pub(crate) async fn over(&self, slices: u32, slice: Duration) -> Pace {
        let mut rates = Vec::new();
        for _ in 0..slices {
            sleep(slice).await;
            rates.push(self.rate(slice.as_secs()));
        }
        let count = f64::from(slices);
        let mean = rates.iter().sum::<f64>() / count;
        let spread = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Pace { mean, error: (spread / count).sqrt() }
    }

    /// Ends the senders; returns the accepted work.
    pub(crate) async fn end(self) -> Accepted {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for sender in self.senders {
            sender.await.unwrap();
        }
        self.watcher.await.unwrap();
        self.shared.accepted.lock().unwrap().clone()
    }
}

impl Accepted {
    /// The longest time in which no voyage finished.
    pub(crate) fn longest_pause(&self) -> Duration {
        let mut longest = Duration::ZERO;
        let Some(mut last) = self.finished.first().copied() else { return longest };
        for (at, count) in &self.finished {
            if *count > last.1 {
                longest = longest.max(*at - last.0);
                last = (*at, *count);
            }
        }
        longest
    }
}

impl Shared {
    async fn send(self: Arc<Self>) {
        while !self.is_over.load(Ordering::SeqCst) {
            let Ok(room) = tokio::time::timeout(LOOK_EVERY, self.window.acquire()).await else {
                continue;
            };
            room.unwrap().forget();
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            let instance = format!("{}-{number}", self.route.names.voyage);
            if number.is_multiple_of(3) {
                self.start_by_nats(&instance, number).await;
            } else {
                self.start_by_http(&instance, number).await;
            }
            self.accepted.lock().unwrap().voyages.insert(instance.clone());
            let raise = |which| self.raise(&instance, which);
            join_all((0..WAITS).map(raise)).await;
            if number.is_multiple_of(GARBAGE_EVERY) {
                let subject = format!("staunch.cmd.start.{}", self.route.names.voyage);
                self.publish(&subject, &format!("garbage-{instance}"), "no JSON").await;
                self.accepted.lock().unwrap().garbage += 1;
            }
        }
    }

    /// Makes room in the window for each finished voyage. Events report them; the database reports
    /// those that ended while a broker was away. The database may be away for a while, too.
    async fn watch(self: Arc<Self>) {
        let subject = format!("staunch.event.{}.*.finished", self.route.names.voyage);
        let mut events = self.route.jetstream.client().subscribe(subject).await.unwrap();
        let mut told = BTreeSet::new();
        let filter = InstanceFilter {
            definition_ids: vec![DefinitionId::new(self.route.names.voyage.as_str())],
            sub_statuses: vec![SubStatus::Finished],
            ..InstanceFilter::default()
        };
        let (mut over, mut untold) = (0, 0);
        let mut next_count = interval(COUNT_EVERY);
        while !self.is_over.load(Ordering::SeqCst) {
            tokio::select! {
                event = events.next() => {
                    told.insert(event.unwrap().subject);
                }
                _ = next_count.tick() => {
                    if let Ok(listed) = self.route.store.list(&filter, Page::new(0, 1)).await {
                        untold = usize::try_from(listed.total).unwrap().saturating_sub(told.len());
                    }
                }
            }
            let now = over.max(told.len() + untold);
            self.window.add_permits(now - over);
            over = now;
            self.accepted.lock().unwrap().finished.push((Instant::now(), over));
        }
    }

    async fn start_by_nats(&self, instance: &str, number: usize) {
        let subject = format!("staunch.cmd.start.{}", self.route.names.voyage);
        let body = json!({"instanceId": instance, "input": {"Number": number}});
        self.publish(&subject, &format!("start-{instance}"), &body.to_string()).await;
    }

    /// Sends the start to one node after the other, under one key, until a node accepts it.
    async fn start_by_http(&self, instance: &str, number: usize) {
        let give_up = Instant::now() + REPEAT_MAX;
        let doors = &self.route.doors;
        for door in doors.iter().cycle().skip(number % doors.len()) {
            let last = match door.start(&self.route.names.voyage, instance, number).await {
                Ok(answer) if answer.is_ok() => return,
                Ok(answer) => format!("{answer:?}"),
                Err(error) => error.to_string(),
            };
            assert!(Instant::now() < give_up, "nobody accepts {instance}: {last}");
            sleep(PAUSE).await;
        }
    }

    /// Sends an event for this instance alone; it may come before the instance waits for it.
    async fn raise(&self, instance: &str, which: usize) {
        let subject = format!("staunch.cmd.event.{}", self.route.names.go);
        let body = json!({"instanceId": instance}).to_string();
        self.publish(&subject, &format!("go-{which}-{instance}"), &body).await;
    }

    async fn publish(&self, subject: &str, id: &str, body: &str) {
        publish(&self.route.jetstream, subject, id, body).await;
    }
}

/// Publishes under a message id until the stream acknowledges it.
pub(crate) async fn publish(jetstream: &Context, subject: &str, id: &str, body: &str) {
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Msg-Id", id);
    publish_with(jetstream, subject, headers, body).await;
}

/// Publishes until the stream acknowledges it.
pub(crate) async fn publish_with(
    jetstream: &Context,
    subject: &str,
    headers: HeaderMap,
    body: &str,
) {
    let give_up = Instant::now() + REPEAT_MAX;
    loop {
        let (to, body) = (subject.to_owned(), body.to_owned());
        let sent = jetstream.publish_with_headers(to, headers.clone(), body.into()).await;
        let last = match sent {
            Ok(receipt) => match receipt.await {
                Ok(_) => return,
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        assert!(Instant::now() < give_up, "the stream does not take {subject}: {last}");
        sleep(PAUSE).await;
    }
}
