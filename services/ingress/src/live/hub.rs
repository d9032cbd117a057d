//! Elsa's hub for one workflow instance, as its Studio connects to it: a WebSocket with the JSON
//! protocol of SignalR.
//!
//! A connection knows nothing of another, nor of the answer to its negotiation: it works at any
//! node. It observes one instance, and is notified after each burst; bursts that follow each other
//! closely are one notification.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message as Frame, WebSocket};
use model::{Entry, InstanceId, limits};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::Place;
use super::cluster::Begin;
use super::frame::{self, Message, Records};
use super::tail::{Opened, Over, Tail};
use crate::auth::caller::Caller;
use crate::auth::recheck::Recheck;
use crate::executions::Executions;
use crate::{App, record};

/// The permission to observe an instance.
const PERMISSION: &str = "read:workflow-instances";
/// The method that a client calls.
const OBSERVE: &str = "ObserveInstanceAsync";
/// Bursts within this time are one notification.
const TOGETHER: Duration = Duration::from_millis(100);
/// A notification is followed by a rest of so many times its work: long journals are counted less
/// often.
const REST: u32 = 9;
/// Executions that one notification is about; if there are more, it has the figures of all
/// activities.
const TOUCHED_MAX: usize = 1_000;
/// The wait for the client's part of the end of a connection.
const FAREWELL_MAX: Duration = Duration::from_secs(1);

/// The client of a connection.
pub(crate) struct Visitor {
    /// The caller, with its permissions as they were read last.
    pub(crate) caller: Caller,
    pub(crate) recheck: Recheck,
    pub(crate) place: Place,
}

/// The instance that a connection observes.
struct Observed {
    id: InstanceId,
    tail: Tail,
    /// Executions of activities of which the client has to get new figures.
    touched: BTreeSet<String>,
    /// When the client is notified; none while there is no news.
    notify_at: Option<Instant>,
    /// The client is not notified before.
    rest_until: Instant,
}

/// The end of a connection: the reason, if there is one, and whether the client may come back.
struct Ended {
    error: Option<String>,
    again: bool,
}

/// What a connection waits for.
enum Next {
    Frame(Frame),
    Lines(Result<Vec<Entry>, Over>),
    Notify,
    Beat,
}

/// Serves one connection to its end.
pub(crate) async fn serve(app: Arc<App>, visitor: Visitor, mut socket: WebSocket) {
    let Visitor { caller, recheck, place } = visitor;
    let mut connection = Connection {
        records: Records::default(),
        heard_at: Instant::now(),
        observed: None,
        caller,
        recheck,
        app: Arc::clone(&app),
    };
    let draining = app.draining();
    let ended = tokio::select! {
        biased;
        () = draining.cancelled() => Ended { error: None, again: true },
        () = tokio::time::sleep(limits::LIVE_TIME_MAX) => Ended { error: None, again: true },
        ended = connection.run(&mut socket) => match ended {
            Err(ended) => ended,
            Ok(never) => match never {},
        },
    };
    let Ended { error, again } = ended;
    tracing::debug!(error, "a connection of the hub ends");
    let farewell = async {
        let close = frame::close(error.as_deref(), again);
        if socket.send(Frame::text(close)).await.is_ok() {
            drop(socket.send(Frame::Close(None)).await);
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    // The client may have gone.
    drop(timeout(FAREWELL_MAX, farewell).await);
    drop(place);
}

struct Connection {
    app: Arc<App>,
    caller: Caller,
    recheck: Recheck,
    records: Records,
    heard_at: Instant,
    observed: Option<Observed>,
}

impl Connection {
    async fn run(&mut self, socket: &mut WebSocket) -> Result<std::convert::Infallible, Ended> {
        let early = timeout(limits::HUB_HANDSHAKE_TIME_MAX, self.handshake(socket)).await;
        let early =
            early.map_err(|_late| Ended::because("the handshake did not come in time"))??;
        for record in early {
            self.hear(socket, &record).await?;
        }
        let mut beats = interval(self.app.config.heartbeat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let idle = self.heard_at + limits::HUB_IDLE_TIME_MAX;
            let notify_at = self.observed.as_ref().and_then(|observed| observed.notify_at);
            let next = tokio::select! {
                biased;
                // First, so that a client that sends without a pause is checked, too.
                _ = beats.tick() => Next::Beat,
                frame = socket.recv() => Next::Frame(received(frame)?),
                () = tokio::time::sleep_until(idle) => {
                    return Err(Ended::because("nothing was heard of the client for too long"));
                }
                () = at(notify_at) => Next::Notify,
                lines = lines(self.observed.as_mut()) => Next::Lines(lines),
            };
            match next {
                Next::Frame(frame) => {
                    self.heard_at = Instant::now();
                    for record in self.records(&frame)? {
                        self.hear(socket, &record).await?;
                    }
                }
                Next::Lines(Ok(entries)) => self.note(&entries),
                Next::Lines(Err(Over::Deleted)) => self.observed = None,
                Next::Lines(Err(Over::Stopping)) => return Err(Ended { error: None, again: true }),
                Next::Notify => self.notify(socket).await?,
                Next::Beat => {
                    self.check_again().await?;
                    send(socket, frame::ping()).await?;
                }
            }
        }
    }

    /// Ends the connection of a client whose credentials do not count any more. It may come back with
    /// others.
    async fn check_again(&mut self) -> Result<(), Ended> {
        let ended = |reason: &str| Ended { error: Some(reason.to_owned()), again: true };
        let checked = self.recheck.caller(&self.app).await;
        if let Some(caller) = checked.map_err(|problem| ended(problem.detail()))? {
            self.caller = caller;
        }
        match self.observed.is_some() && !self.caller.may(PERMISSION) {
            true => Err(ended(&format!("this needs the permission {PERMISSION}"))),
            false => Ok(()),
        }
    }

    /// Reads the handshake and answers it; returns the records that came with it.
    async fn handshake(&mut self, socket: &mut WebSocket) -> Result<Vec<Vec<u8>>, Ended> {
        loop {
            let frame = received(socket.recv().await)?;
            let mut records = self.records(&frame)?.into_iter();
            let Some(first) = records.next() else { continue };
            self.heard_at = Instant::now();
            if let Err(reason) = frame::handshake(&first) {
                send(socket, frame::refusal(&reason)).await?;
                return Err(Ended { error: None, again: false });
            }
            send(socket, frame::welcome()).await?;
            return Ok(records.collect());
        }
    }

    fn records(&mut self, frame: &Frame) -> Result<Vec<Vec<u8>>, Ended> {
        let bytes: &[u8] = match frame {
            Frame::Text(text) => text.as_bytes(),
            Frame::Binary(bytes) => bytes,
            // The WebSocket itself answers its own pings.
            Frame::Ping(_) | Frame::Pong(_) => &[],
            Frame::Close(_) => return Err(Ended { error: None, again: true }),
        };
        self.records.push(bytes).map_err(|reason| Ended::because(&reason))
    }

    /// Carries out a message of the client.
    async fn hear(&mut self, socket: &mut WebSocket, record: &[u8]) -> Result<(), Ended> {
        match frame::read(record).map_err(|reason| Ended::because(&reason))? {
            Message::Ping | Message::Other => Ok(()),
            Message::Close => Err(Ended { error: None, again: true }),
            Message::Stream { id, target } => {
                let error = format!("there is no method {target:.100} that sends a stream");
                send(socket, frame::completion(&id, Some(&error))).await
            }
            Message::Invocation { id, target, arguments } => {
                let done = match target.as_str() {
                    OBSERVE => self.observe(&arguments).await,
                    _ => Err(format!("there is no method {target:.100}: use {OBSERVE}")),
                };
                let error = done.err();
                match id {
                    Some(id) => send(socket, frame::completion(&id, error.as_deref())).await,
                    None => Ok(()),
                }
            }
        }
    }

    /// Begins to observe the instance that the client names.
    async fn observe(&mut self, arguments: &[Value]) -> Result<(), String> {
        if !self.caller.may(PERMISSION) {
            return Err(format!("this needs the permission {PERMISSION}"));
        }
        let [Value::String(id)] = arguments else {
            return Err(format!("{OBSERVE} has one argument: the id of a workflow instance"));
        };
        let observed = async {
            let id = record::id(id)?;
            record::must_exist(&self.app, &id).await?;
            let Opened { tail, .. } = Tail::open(&self.app, &id, Begin::Now).await?;
            let (touched, rest_until) = (BTreeSet::new(), Instant::now());
            Ok(Observed { id, tail, touched, notify_at: None, rest_until })
        };
        let observed: Result<Observed, crate::Problem> = observed.await;
        self.observed = Some(observed.map_err(|problem| problem.detail().to_owned())?);
        Ok(())
    }

    /// Notes new lines, which are announced soon.
    fn note(&mut self, entries: &[Entry]) {
        let Some(observed) = &mut self.observed else { return };
        let executions = entries.iter().filter_map(|entry| entry.activity_instance_id.clone());
        let room = TOUCHED_MAX.saturating_sub(observed.touched.len());
        observed.touched.extend(executions.take(room));
        let soon = (Instant::now() + TOGETHER).max(observed.rest_until);
        observed.notify_at.get_or_insert(soon);
    }

    /// Notifies the client of everything that is new.
    async fn notify(&mut self, socket: &mut WebSocket) -> Result<(), Ended> {
        let Some(observed) = &mut self.observed else { return Ok(()) };
        observed.notify_at = None;
        let touched = std::mem::take(&mut observed.touched);
        let id = observed.id.clone();
        send(socket, frame::invocation("WorkflowExecutionLogUpdatedAsync", &json!({}))).await?;
        let began = Instant::now();
        let figures = figures(&self.app, &id, &touched).await;
        observed.rest_until = Instant::now() + began.elapsed() * REST;
        if let Some(stats) = figures {
            let stats = json!({ "stats": stats });
            send(socket, frame::invocation("ActivityExecutionLogUpdatedAsync", &stats)).await?;
        }
        let argument = json!({ "workflowInstanceId": id });
        send(socket, frame::invocation("WorkflowInstanceUpdatedAsync", &argument)).await
    }
}

/// The figures of the activities of these executions; none if there are none, or if they cannot be
/// read now.
async fn figures(app: &App, id: &InstanceId, touched: &BTreeSet<String>) -> Option<Value> {
    if touched.is_empty() {
        return None;
    }
    let seen = record::find(app, id).await.ok()??;
    let executions = Executions::of(app, &seen).await.ok()?;
    let records = touched.iter().filter_map(|execution| executions.get(execution));
    let nodes: BTreeSet<_> =
        records.map(|record| record.summary.activity_node_id.clone()).collect();
    if touched.len() >= TOUCHED_MAX {
        return Some(json!(executions.stats(&[])));
    }
    let nodes: Vec<_> = nodes.into_iter().collect();
    (!nodes.is_empty()).then(|| json!(executions.stats(&nodes)))
}

impl Ended {
    fn because(reason: &str) -> Self {
        Self { error: Some(reason.to_owned()), again: false }
    }
}

/// The new lines of the instance; never, while there is none.
async fn lines(observed: Option<&mut Observed>) -> Result<Vec<Entry>, Over> {
    match observed {
        Some(observed) => observed.tail.next().await,
        None => std::future::pending().await,
    }
}

/// Completes at that time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn received(frame: Option<Result<Frame, axum::Error>>) -> Result<Frame, Ended> {
    match frame {
        Some(Ok(frame)) => Ok(frame),
        Some(Err(error)) => Err(Ended::because(&format!("the connection failed: {error}"))),
        None => Err(Ended { error: None, again: true }),
    }
}

/// Sends a record; a client that does not read it in time is cut off.
async fn send(socket: &mut WebSocket, record: String) -> Result<(), Ended> {
    match timeout(limits::LIVE_SLOW_TIME_MAX, socket.send(Frame::text(record))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Ended::because(&format!("the connection failed: {error}"))),
        Err(_) => Err(Ended::because("the client reads too slowly: connect again")),
    }
}
