//! Pulls from the durable consumer: one request at a time on one inbox. The server answers as soon as
//! there is a message. The request is made again after a reconnect, a silence or a change of the
//! consumer's leader.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Message, StatusCode, Subscriber};
use bus::Error;
use bytes::Bytes;
use futures::StreamExt as _;
use model::{Backoff, limits};
use protocol::subject;
use serde_json::json;
use tokio::time::Instant;

use crate::api::{Api, ApiError, nanos};
use crate::connection::Link;
use crate::heal::Healer;

/// The longest single request. After it, the request is repeated in case the server has forgotten
/// it.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// Longer requests get heartbeats at this interval.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The time after the last heartbeat or message when a request is given up.
const SILENCE_MAX: Duration = Duration::from_millis(2_500);
/// The first pause after a refused request.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// A consumer that a pull has not found counts as missing for this long: a process that pulls looks
/// again within it, and one that is paused does not pull.
const MISSING_MAX: Duration = Duration::from_secs(30);

/// What the server says when it has handed out as many messages as were asked for.
pub(crate) const BATCH_COMPLETED: &str = "Batch Completed";
/// There is no consumer, or its leader is being elected.
const NOBODY: &str = "nobody answers";

pub(crate) struct Puller {
    link: Link,
    api: Api,
    healer: Healer,
    /// Inboxes without a request.
    idle: Arc<Mutex<Vec<Inbox>>>,
    /// The last pull found no consumer: what is missing, and when that was.
    missing: Mutex<Option<(String, Instant)>>,
}

struct Inbox {
    subject: String,
    messages: Subscriber,
}

/// The end of one request.
enum End {
    /// With messages, or regularly without any.
    Done,
    /// Too many other requests wait for the same messages.
    Crowded,
    /// The request failed; another may succeed.
    Broken(String),
}

impl Puller {
    pub(crate) fn new(link: Link, api: Api, healer: Healer) -> Self {
        Self { link, api, healer, idle: Arc::default(), missing: Mutex::default() }
    }

    /// Waits up to `wait` for messages, and takes at most `max`, within the bytes of one pull.
    pub(crate) async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Message>, Error> {
        let pulled = self.pull_now(max, wait).await;
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        match &pulled {
            Ok(_) => *missing = None,
            Err(Error::NotProvisioned(what)) => *missing = Some((what.clone(), Instant::now())),
            Err(_) => {}
        }
        drop(missing);
        pulled
    }

    /// The error while this process pulls and there is no consumer.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        match &*missing {
            Some((what, at)) if at.elapsed() <= MISSING_MAX => {
                Err(Error::NotProvisioned(what.clone()))
            }
            _ => Ok(()),
        }
    }

    async fn pull_now(&self, max: usize, wait: Duration) -> Result<Vec<Message>, Error> {
        let give_up = Instant::now() + wait;
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        let mut taken = Vec::new();
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let mut inbox = self.inbox().await?;
            let end = self.request(&mut inbox, max, left.min(REQUEST_MAX), &mut taken).await?;
            if matches!(end, End::Done) {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(inbox);
            }
            // Otherwise the inbox is dropped, so that the server sees that nobody waits there.
            if !taken.is_empty() {
                return Ok(taken);
            }
            let is_over = Instant::now() + FIRST_PAUSE >= give_up;
            match end {
                End::Done | End::Crowded if is_over => return Ok(taken),
                End::Done => continue,
                End::Crowded => {}
                End::Broken(why) if is_over => return Err(self.explain(why).await),
                End::Broken(why) => {
                    tracing::debug!(why, "a pull is repeated");
                    if why == NOBODY {
                        self.healer.heal_soon(subject::COMMANDS_STREAM);
                    }
                }
            }
            let wake = (Instant::now() + backoff.next()).min(give_up);
            tokio::time::sleep_until(wake).await;
        }
    }

    async fn inbox(&self) -> Result<Inbox, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(inbox) = idle {
            return Ok(inbox);
        }
        let subject = self.api.client().new_inbox();
        let messages = self.api.client().subscribe(subject.clone()).await;
        let messages = messages.map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Inbox { subject, messages })
    }

    async fn request(
        &self,
        inbox: &mut Inbox,
        max: usize,
        expires: Duration,
        taken: &mut Vec<Message>,
    ) -> Result<End, Error> {
        let mut reconnects = self.link.reconnects();
        let mut silence_max = expires + SILENCE_MAX;
        // With both settings the server answers at once if there is a message, and otherwise as
        // soon as one comes.
        let mut body =
            json!({ "batch": max, "max_bytes": limits::PULL_BYTES_MAX, "no_wait": true });
        // The server refuses a shorter wait than this.
        if expires >= FIRST_PAUSE {
            body["expires"] = nanos(expires).into();
        }
        if expires > HEARTBEAT * 2 {
            body["idle_heartbeat"] = nanos(HEARTBEAT).into();
            silence_max = SILENCE_MAX;
        }
        let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
        let call = self.api.subject(&format!("CONSUMER.MSG.NEXT.{stream}.{consumer}"));
        let payload = Bytes::from(body.to_string());
        let asked = self.api.client().publish_with_reply(call, inbox.subject.clone(), payload);
        asked.await.map_err(|error| Error::Unavailable(error.to_string()))?;
        loop {
            let next = tokio::time::timeout(silence_max, inbox.messages.next());
            let message = tokio::select! {
                biased;
                message = next => message,
                _ = reconnects.changed() => return Ok(End::Broken("reconnected".to_owned())),
            };
            let message = match message {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Error::Closed),
                Err(_) => return Ok(End::Broken("the server is silent".to_owned())),
            };
            let Some(status) = message.status.filter(|status| *status != StatusCode::OK) else {
                taken.push(message);
                if taken.len() >= max {
                    return Ok(End::Done);
                }
                continue;
            };
            let said = message.description.as_deref().unwrap_or_default();
            return Ok(match status {
                StatusCode::IDLE_HEARTBEAT => continue,
                StatusCode::TIMEOUT if said.contains("Requests Pending") => End::Crowded,
                StatusCode::TIMEOUT | StatusCode::NOT_FOUND => End::Done,
                // All that were asked for are there or on their way: where the stream has several copies, the
                // status may come before them. Or it is that of the request before.
                _ if said.contains(BATCH_COMPLETED) => continue,
                // The next message does not fit beside those that are taken.
                _ if !taken.is_empty() && said.contains("MaxBytes") => End::Done,
                StatusCode::NO_RESPONDERS => End::Broken(NOBODY.to_owned()),
                status => End::Broken(format!("{status} {said}")),
            });
        }
    }

    /// The reason why pulling fails: the consumer may not exist at all.
    async fn explain(&self, why: String) -> Error {
        let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
        let call = format!("CONSUMER.INFO.{stream}.{consumer}");
        match self.api.call(&call, &serde_json::Value::Null).await {
            Err(failure @ ApiError::Refused { .. }) => {
                failure.into_error(&format!("the consumer {consumer} of {stream}"))
            }
            _ => Error::Unavailable(format!("the consumer {consumer} of {stream}: {why}")),
        }
    }
}
