//! A worker: takes tasks, works, publishes results, and acknowledges what is stored.

#![expect(
    clippy::disallowed_methods,
    reason = "each task is waited for, and its panic is looked at"
)]

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::stream::ConsumerErrorKind;
use async_nats::jetstream::{self, AckKind, ErrorCode, Message};
use async_nats::service::{Service, ServiceExt as _};
use async_nats::{HeaderMap, Request, StatusCode, Subscriber};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::input::whole;
use crate::report::Report;
use crate::task::{header, read};
use crate::wire::{STREAM, token};
use crate::{Client, Error, Failure, Handover, ProgressChannel, Task};

/// How long one pull waits for a task. A worker that stops waits for the end of its last one.
const PULL: Duration = Duration::from_secs(2);
/// How often the limits of the consumer are read again: an operator may change them.
const LIMITS: Duration = Duration::from_secs(30);
const ACK_WAIT_MIN: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_secs(1);
const STORED_MAX: Duration = Duration::from_secs(5);
const ANSWER_MAX: Duration = Duration::from_secs(5);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(5);
const REASON_CHARS: usize = 200;

type Work = Box<dyn Fn(Task<Value>) -> BoxFuture<'static, Result<Ended, Failure>> + Send + Sync>;

/// What a handler has for a task that has not failed.
enum Ended {
    Result(Value),
    HandedOver(Handover),
}

/// Handlers of tasks, over a connection to NATS.
#[derive(Debug)]
pub struct Worker {
    nats: async_nats::Client,
    drain: Duration,
    ack_wait: Duration,
    stop: CancellationToken,
    handlers: Vec<Arc<Handler>>,
}

struct Handler {
    nats: async_nats::Client,
    stop: CancellationToken,
    task_type: String,
    version: u32,
    /// As in subjects: the type and the version.
    name: String,
    concurrency: usize,
    places: Arc<Semaphore>,
    work: Work,
    ack_wait: Duration,
    ack_wait_ms: AtomicU64,
    /// The tasks in hand, by id, each with what ends it before its handler does.
    ends: Mutex<BTreeMap<String, CancellationToken>>,
    /// The time of the tasks in hand is over.
    is_late: CancellationToken,
}

impl Worker {
    /// A worker without handlers. When it stops, the tasks in hand have this time to end.
    #[must_use]
    pub fn new(nats: async_nats::Client, drain: Duration) -> Self {
        let (stop, handlers) = (CancellationToken::new(), Vec::new());
        Self { nats, drain, ack_wait: Duration::from_secs(30), stop, handlers }
    }

    /// The time limit of the consumers, for handlers that are offered from now on. It counts only for a
    /// user who may not ask for it.
    pub fn ack_wait(&mut self, ack_wait: Duration) {
        self.ack_wait = ack_wait;
    }

    /// Offers a handler for a type of tasks, for this many at the same time. Its future is dropped when
    /// nobody wants the result any more.
    pub fn task<I, O, F, R>(&mut self, task_type: &str, version: u32, concurrency: usize, work: F)
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize,
        F: Fn(Task<I>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
    {
        let work: Work = Box::new(move |task: Task<Value>| match task.typed() {
            Ok(task) => {
                let working = work(task);
                Box::pin(async move {
                    let output = serde_json::to_value(working.await?);
                    output.map(Ended::Result).map_err(|error| {
                        Failure::for_good("ResultUnfit", "the result is not JSON").detail(error)
                    })
                })
            }
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        });
        self.offer(task_type, version, concurrency, work);
    }

    /// Offers a handler that gives tasks to something else, which sends their results later.
    /// Otherwise as [`Worker::task`].
    pub fn hand_over<I, F, R>(&mut self, task_type: &str, version: u32, concurrency: usize, work: F)
    where
        I: DeserializeOwned + Send + 'static,
        F: Fn(Task<I>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Handover, Failure>> + Send + 'static,
    {
        let work: Work = Box::new(move |task: Task<Value>| match task.typed() {
            Ok(task) => {
                let working = work(task);
                Box::pin(async move { working.await.map(Ended::HandedOver) })
            }
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        });
        self.offer(task_type, version, concurrency, work);
    }

    fn offer(&mut self, task_type: &str, version: u32, concurrency: usize, work: Work) {
        self.handlers.push(Arc::new(Handler {
            nats: self.nats.clone(),
            stop: self.stop.clone(),
            task_type: task_type.to_owned(),
            version,
            name: format!("{}.{version}", token(task_type)),
            concurrency,
            places: Arc::new(Semaphore::new(concurrency)),
            work,
            ack_wait: self.ack_wait,
            ack_wait_ms: AtomicU64::default(),
            ends: Mutex::default(),
            is_late: CancellationToken::new(),
        }));
    }

    /// Cancelling it stops the worker: it takes no more tasks, and ends when those in hand are done, or
    /// their time is over.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Works until [`Worker::stop`], or SIGTERM or SIGINT.
    ///
    /// # Errors
    /// When NATS refuses a subscription.
    pub async fn run(self) -> Result<(), Error> {
        let stop = self.stop.clone();
        let mut serving = JoinSet::new();
        let announced = self.announce().await;
        for handler in self.handlers {
            let subject = format!("staunch.task-cancel.{}.*", handler.name);
            let notices = self.nats.subscribe(subject).await.map_err(Error::nats)?;
            serving.spawn(handler.serve(notices, self.drain));
        }
        let signals = tokio::spawn(async move {
            interrupted().await;
            stop.cancel();
        });
        while let Some(ended) = serving.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a handler is not served any more");
            }
        }
        signals.abort();
        if let Some(service) = announced {
            service.stop().await.map_err(Error::nats)?;
        }
        self.nats.flush().await.map_err(Error::nats)
    }

    /// Says who works at what to those who ask: the worker is a service of NATS without endpoints.
    async fn announce(&self) -> Option<Service> {
        let takes = |handler: &Arc<Handler>| {
            json!({"type": handler.task_type, "version": handler.version,
                "concurrency": handler.concurrency})
        };
        let tasks: Vec<_> = self.handlers.iter().map(takes).collect();
        let mut metadata =
            HashMap::from([("staunch-tasks".to_owned(), Value::from(tasks).to_string())]);
        if let Ok(host) = std::fs::read_to_string("/etc/hostname") {
            metadata.insert("host".to_owned(), host.trim().to_owned());
        }
        let service = self.nats.service_builder().metadata(metadata);
        match service.start("staunch-worker", env!("CARGO_PKG_VERSION")).await {
            Ok(service) => Some(service),
            Err(error) => {
                tracing::warn!(%error, "nobody is told who works here");
                None
            }
        }
    }
}

impl Handler {
    async fn serve(self: Arc<Self>, mut notices: Subscriber, drain: Duration) {
        let hearing = Arc::clone(&self);
        let hearing = tokio::spawn(async move {
            while let Some(notice) = notices.next().await {
                let id = notice.subject.rsplit('.').next().unwrap_or_default();
                if let Some(end) = hearing.ends().get(id) {
                    end.cancel();
                }
            }
        });
        let mut jobs = JoinSet::new();
        let pulling = async {
            self.pull(&mut jobs).await;
            while jobs.join_next().await.is_some() {}
        };
        let limit = async {
            self.stop.cancelled().await;
            sleep(drain).await;
            self.is_late.cancel();
            sleep(PAUSE).await;
        };
        tokio::select! { () = pulling => {}, () = limit => {} }
        hearing.abort();
    }

    async fn pull(self: &Arc<Self>, jobs: &mut JoinSet<()>) {
        let durable = format!("task-{}-{}", token(&self.task_type), self.version);
        let (mut read, mut complaint) = (None, String::new());
        while let Some(Ok(place)) =
            self.stop.run_until_cancelled(Arc::clone(&self.places).acquire_owned()).await
        {
            while jobs.try_join_next().is_some() {}
            match self.next(&durable, &mut read).await {
                Ok(Some(message)) if self.stop.is_cancelled() => {
                    self.answer(&message, AckKind::Nak(None)).await;
                }
                Ok(Some(message)) => {
                    jobs.spawn(Arc::clone(self).handle(message, place));
                }
                Ok(None) => {}
                Err(error) => {
                    let error = error.to_string();
                    if error != complaint {
                        tracing::warn!(%error, durable, "no tasks for now, tries again");
                        complaint = error;
                    }
                    read = None;
                    self.stop.run_until_cancelled(sleep(PAUSE)).await;
                }
            }
        }
    }

    /// The next task, if there is one soon. A pull of one task is a request, whose answer has the
    /// subject of the task: so it has an inbox of its own.
    async fn next(
        &self,
        durable: &str,
        read: &mut Option<Instant>,
    ) -> Result<Option<Message>, async_nats::Error> {
        let context = jetstream::new(self.nats.clone());
        if read.is_none_or(|read| read.elapsed() > LIMITS) {
            self.read_limits(&context, durable).await?;
            *read = Some(Instant::now());
        }
        let pull = json!({ "batch": 1, "expires": u64::try_from(PULL.as_nanos())? });
        let pull = Request::new().payload(pull.to_string().into()).timeout(Some(PULL * 2));
        let pull = pull.inbox(self.nats.new_inbox());
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{durable}");
        let message = self.nats.send_request(subject, pull).await?;
        match message.status {
            None | Some(StatusCode::OK) => Ok(Some(Message { message, context })),
            Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => Ok(None),
            Some(status) => {
                Err(format!("{status} {}", message.description.unwrap_or_default()).into())
            }
        }
    }

    async fn read_limits(
        &self,
        context: &jetstream::Context,
        durable: &str,
    ) -> Result<(), async_nats::Error> {
        let found = context.get_consumer_from_stream::<pull::Config, _, _>(durable, STREAM).await;
        let found: Result<PullConsumer, _> = found;
        let ack_wait = match found {
            Ok(found) => found.cached_info().config.ack_wait,
            Err(error) => match error.kind() {
                // An account that may use a consumer of another one, and not ask for it.
                ConsumerErrorKind::JetStream(api)
                    if api.error_code() == ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT =>
                {
                    self.ack_wait
                }
                _ => return Err(error.into()),
            },
        };
        let ack_wait_ms = ack_wait.max(ACK_WAIT_MIN).as_millis().try_into().unwrap_or(u64::MAX);
        self.ack_wait_ms.store(ack_wait_ms, Ordering::Relaxed);
        Ok(())
    }

    async fn handle(self: Arc<Self>, message: Message, place: OwnedSemaphorePermit) {
        let _place = place;
        let task = match read(&message, (&self.task_type, self.version)) {
            Ok(task) => task,
            Err(reason) => return self.poison(&message, &reason).await,
        };
        let (id, end) = (token(&task.id), task.cancelled.clone());
        self.ends().insert(id.clone(), end.clone());
        let left = task.deadline.map_or(Duration::MAX, |deadline| {
            deadline.duration_since(jiff::Timestamp::now()).try_into().unwrap_or_default()
        });
        let mut working = tokio::spawn(Arc::clone(&self).work(task.clone()));
        let beats = async {
            loop {
                sleep(Duration::from_millis(self.ack_wait_ms.load(Ordering::Relaxed)) / 3).await;
                self.answer(&message, AckKind::Progress).await;
            }
        };
        let late = async {
            if left == Duration::MAX { std::future::pending().await } else { sleep(left).await }
        };
        let why = tokio::select! {
            ended = &mut working => {
                match ended {
                    Ok(kind) => self.answer(&message, kind).await,
                    Err(error) => tracing::error!(%error, task = task.id, "left to the next delivery"),
                }
                None
            }
            never = beats => never,
            () = end.cancelled() => Some("cancelled"),
            () = late => Some("deadline"),
            () = self.is_late.cancelled() => Some("stopping"),
        };
        if let Some(why) = why {
            tracing::warn!(task = task.id, handler = self.name, why, "a task is given up");
            let kind = if why == "stopping" { AckKind::Nak(None) } else { AckKind::Ack };
            self.answer(&message, kind).await;
            end.cancel();
            working.abort();
            // It keeps its place until it has ended; how it ends does not matter.
            drop(working.await);
        }
        self.ends().remove(&id);
    }

    /// Runs the handler, publishes its result if it has one, and says how the message is answered.
    async fn work(self: Arc<Self>, task: Task<Value>) -> AckKind {
        let (id, attempt, trace) = (task.id.clone(), task.attempt, task.traceparent.clone());
        let client = Client::new(self.nats.clone(), ANSWER_MAX);
        let handling = std::panic::AssertUnwindSafe(async {
            let input = whole(&client, task.input).await?;
            let progress_channel = ProgressChannel::over(&self.nats);
            (self.work)(Task { input, progress_channel, ..task }).await
        });
        let ended = futures::FutureExt::catch_unwind(handling).await.unwrap_or_else(|_| {
            let title = "the handler panics".to_owned();
            Err(Failure { title, retryable: true, ..Failure::default() })
        });
        let reported = match ended {
            Ok(Ended::HandedOver(Handover::Accepted)) => return AckKind::Ack,
            Ok(Ended::HandedOver(Handover::Again(pause))) => return AckKind::Nak(Some(pause)),
            Ok(Ended::Result(output)) => {
                Report::result(&self.nats, (id.as_str(), attempt), &output).await
            }
            Err(failure) => Err(failure),
        };
        let report = reported.unwrap_or_else(|failure| {
            tracing::warn!(task = id, handler = self.name, ?failure, "a task fails");
            Report::failure(&failure, attempt)
        });
        self.send(&id, attempt, trace.as_deref(), &report).await;
        AckKind::Ack
    }

    /// Publishes a result until JetStream says that it is stored.
    async fn send(&self, id: &str, attempt: u32, trace: Option<&str>, report: &Report) {
        let subject = format!("staunch.cmd.task.{}.{}", self.name, token(id));
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", format!("{id}.{attempt}.result").as_str());
        headers.insert("Staunch-Attempt", attempt.to_string().as_str());
        if let Some(trace) = trace {
            headers.insert("traceparent", trace);
        }
        report.name_object(&mut headers);
        let context = jetstream::new(self.nats.clone());
        let mut pause = RETRY_FIRST;
        loop {
            let storing = async {
                let (subject, headers) = (subject.clone(), headers.clone());
                context.publish_with_headers(subject, headers, report.body.clone()).await?.await
            };
            let error = match timeout(STORED_MAX, storing).await {
                Ok(Ok(_)) => return,
                Ok(Err(error)) => error.to_string(),
                Err(late) => late.to_string(),
            };
            tracing::warn!(error, task = id, "a result is not stored yet");
            sleep(pause).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
    }

    /// Ends what is no task, so that it does not come again. If it names one, that has failed.
    async fn poison(&self, message: &Message, reason: &str) {
        tracing::error!(handler = self.name, reason, "a message is no task, and is removed");
        let attempt = header(message, "Staunch-Attempt").and_then(|text| text.parse().ok());
        if let Some((id, attempt)) = header(message, "Staunch-Task").zip(attempt) {
            let failure = Failure::for_good("UnreadableTask", "the worker cannot read the task");
            let report = Report::failure(&failure.detail(reason), attempt);
            self.send(&id, attempt, None, &report).await;
        }
        let reason: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason: String = reason.chars().take(REASON_CHARS).collect();
        if let Some(reply) = message.reply.clone() {
            let sent = self.nats.publish(reply, format!("+TERM {reason}").into()).await;
            self.check(sent);
        }
    }

    async fn answer(&self, message: &Message, kind: AckKind) {
        self.check(message.ack_with(kind).await);
    }

    /// What the broker does not get is delivered again.
    fn check(&self, sent: Result<(), impl fmt::Display>) {
        if let Err(error) = sent {
            tracing::warn!(%error, handler = self.name, "the broker did not get an answer");
        }
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, CancellationToken>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
