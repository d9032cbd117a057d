//! Starts, resumes, signals, asks and follows instances, over NATS alone.

use std::time::Duration;

use async_nats::jetstream::{self, context::PublishErrorKind};
use async_nats::{HeaderMap, RequestError, RequestErrorKind};
use futures::StreamExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::wire::{dotted, token};

/// How long a watch hears nothing before it asks; at first it asks at once.
const PATIENCE: Duration = Duration::from_secs(5);
const AT_ONCE: Duration = Duration::from_millis(50);

/// A client over a connection to NATS.
#[derive(Clone, Debug)]
pub struct Client {
    nats: async_nats::Client,
    timeout: Duration,
}

/// What became of a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    /// The instance.
    pub workflow_instance_id: Option<String>,
    /// Its status.
    pub sub_status: Option<String>,
    /// Why the command changed nothing; `waiting` is kept, and applied later.
    pub refusal: Option<String>,
    /// The reason in words.
    pub message: Option<String>,
    /// The output so far.
    pub output: Map<String, Value>,
    /// The messages of the incidents so far.
    pub incidents: Vec<String>,
    /// The open bookmarks.
    pub bookmarks: Vec<String>,
}

/// An event of an instance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// `started`, `suspended`, `finished`, `faulted` or `cancelled`; from the subject.
    #[serde(skip)]
    pub event: String,
    /// The instance.
    pub workflow_instance_id: String,
    /// Its definition.
    pub definition_id: String,
    /// Its status.
    pub sub_status: String,
    /// Grows with every burst.
    pub version: i64,
    /// The output of an instance that is over.
    pub output: Option<Map<String, Value>>,
    /// The messages of the incidents.
    pub incidents: Vec<String>,
}

/// An instance as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Instance {
    /// Its id.
    pub id: String,
    /// Its definition.
    pub definition_id: String,
    /// Its status.
    pub sub_status: String,
    /// Grows with every burst.
    pub version: i64,
    /// The output so far.
    pub output: Map<String, Value>,
    /// The messages of the incidents.
    pub incidents: Vec<String>,
    /// The open bookmarks, each with `id`, `name`, `activityId` and `payload`.
    pub bookmarks: Vec<Value>,
    /// Its state in full.
    pub workflow_state: Value,
}

/// What a start may say beyond its input.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The id of the new instance. A start that says it happens once: a repeated one is
    /// [`Error::Refused`] as `alreadyDone`.
    pub instance_id: Option<String>,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// The outcome comes when the instance waits or is over, not when its first burst is committed.
    pub settled: bool,
}

/// What an event may say beyond its payload.
#[derive(Clone, Debug, Default)]
pub struct Signal {
    /// Only for this instance.
    pub instance_id: Option<String>,
    /// Only for instances with this correlation id.
    pub correlation_id: Option<String>,
    /// An event with the same id is raised once, however often it is sent.
    pub id: Option<String>,
}

impl Client {
    /// A client whose calls may take this long.
    #[must_use]
    pub fn new(nats: async_nats::Client, timeout: Duration) -> Self {
        Self { nats, timeout }
    }

    /// Starts an instance.
    ///
    /// # Errors
    /// When there is no such definition, when it may not start, or when nobody answers.
    pub async fn start(
        &self,
        definition: &str,
        input: Value,
        how: Start,
    ) -> Result<Outcome, Error> {
        let mut body = json!({ "input": input });
        set(&mut body, "instanceId", how.instance_id);
        set(&mut body, "correlationId", how.correlation_id);
        self.command(format!("start.{}", token(definition)), &body, how.settled).await
    }

    /// Resumes an instance at a bookmark, which may be left out where there is one alone.
    ///
    /// # Errors
    /// When nothing waits there, or nobody answers.
    pub async fn resume(
        &self,
        instance: &str,
        bookmark: Option<&str>,
        input: Value,
    ) -> Result<Outcome, Error> {
        let mut body = json!({ "input": input });
        set(&mut body, "bookmarkId", bookmark.map(str::to_owned));
        self.command(format!("resume.{}", token(instance)), &body, false).await
    }

    /// Cancels an instance.
    ///
    /// # Errors
    /// When it is over, or nobody answers.
    pub async fn cancel(&self, instance: &str, reason: Option<&str>) -> Result<Outcome, Error> {
        let mut body = json!({});
        set(&mut body, "reason", reason.map(str::to_owned));
        self.command(format!("cancel.{}", token(instance)), &body, false).await
    }

    /// Publishes an event. When this returns, JetStream has stored it.
    ///
    /// # Errors
    /// When it is not stored.
    pub async fn signal(&self, event: &str, payload: Value, how: Signal) -> Result<(), Error> {
        let mut body = json!({ "payload": payload });
        set(&mut body, "instanceId", how.instance_id);
        set(&mut body, "correlationId", how.correlation_id);
        let subject = format!("staunch.cmd.event.{}", dotted(event));
        let headers = self.headers(how.id);
        let mut context = jetstream::new(self.nats.clone());
        context.set_timeout(self.timeout);
        let sent = context.publish_with_headers(subject, headers, body.to_string().into()).await;
        sent.map_err(Error::nats)?.await.map_err(|error| match error.kind() {
            PublishErrorKind::StreamNotFound => Error::nats("no stream takes commands"),
            _ => Error::nats(error),
        })?;
        Ok(())
    }

    /// An instance as it is.
    ///
    /// # Errors
    /// When there is none, or nobody answers.
    pub async fn query(&self, instance: &str) -> Result<Instance, Error> {
        self.ask(format!("staunch.api.get.{}", token(instance)), HeaderMap::new(), "").await
    }

    /// The bytes of a payload, such as one that an object `{"$payload": …}` names in an output, if it has
    /// at most `bytes_max`.
    ///
    /// # Errors
    /// When there is none, when it is larger, when the bytes are not those of its name, or when nobody
    /// answers.
    pub async fn payload(&self, hash: &str, bytes_max: u64) -> Result<Vec<u8>, Error> {
        let subject = format!("staunch.api.payload.{}", token(hash));
        let (mut whole, mut number) = (Vec::new(), 0);
        loop {
            let body = json!({ "part": number }).to_string();
            let part = self.request(subject.clone(), HeaderMap::new(), &body).await?;
            let header =
                |name: &str| part.headers.as_ref()?.get(name)?.as_str().parse::<u64>().ok();
            let about = header("Staunch-Payload-Bytes").zip(header("Staunch-Payload-Parts"));
            let (size, parts) = about.ok_or_else(|| Error::nats("the answer is no payload"))?;
            if size > bytes_max {
                let detail =
                    format!("the payload {hash} has {size} bytes, more than the {bytes_max} here");
                return Err(Error::Request { status: 413, title: "Too large".to_owned(), detail });
            }
            whole.extend_from_slice(&part.payload);
            number += 1;
            if number >= parts || part.payload.is_empty() || whole.len() as u64 > size {
                break;
            }
        }
        let digits = Sha256::digest(&whole);
        let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
        if format!("sha256-{digits}") == hash {
            return Ok(whole);
        }
        let detail = format!("the bytes that were read are not those of {hash}");
        Err(Error::Request { status: 500, title: "Damaged".to_owned(), detail })
    }

    /// Follows an instance until it is over.
    ///
    /// # Errors
    /// When NATS refuses the subscription.
    pub async fn watch(&self, instance: &str) -> Result<Watch, Error> {
        let subject = format!("staunch.event.*.{}.*", token(instance));
        let events = self.nats.subscribe(subject).await.map_err(Error::nats)?;
        let (client, instance) = (self.clone(), instance.to_owned());
        Ok(Watch { client, instance, events, patience: AT_ONCE, is_over: false })
    }

    async fn command(&self, rest: String, body: &Value, settled: bool) -> Result<Outcome, Error> {
        let mut headers = self.headers(None);
        if settled {
            headers.insert("Staunch-Reply-When", "settled");
        }
        let subject = format!("staunch.api.{rest}");
        let outcome: Outcome = self.ask(subject, headers, &body.to_string()).await?;
        // A command that waits is kept, and applied later.
        match outcome.refusal.as_deref() {
            None | Some("waiting") => Ok(outcome),
            Some(_) => Err(Error::Refused(Box::new(outcome))),
        }
    }

    fn headers(&self, id: Option<String>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.unwrap_or_else(|| self.nats.new_inbox()).as_str());
        headers
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        subject: String,
        headers: HeaderMap,
        body: &str,
    ) -> Result<T, Error> {
        let answer = self.request(subject, headers, body).await?;
        Ok(serde_json::from_slice(&answer.payload)?)
    }

    /// The answer, unless it is a problem.
    async fn request(
        &self,
        subject: String,
        headers: HeaderMap,
        body: &str,
    ) -> Result<async_nats::Message, Error> {
        let request = async_nats::Request::new().headers(headers).payload(body.to_owned().into());
        let request = request.timeout(Some(self.timeout));
        let answer = self.nats.send_request(subject, request).await.map_err(Error::nats)?;
        let headers = answer.headers.as_ref();
        let is_problem = headers.is_some_and(|it| it.get("Nats-Service-Error-Code").is_some());
        if is_problem {
            let said: Value = serde_json::from_slice(&answer.payload)?;
            let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
            let status = said["status"].as_u64().and_then(|status| status.try_into().ok());
            let (title, detail) = (text("title"), text("detail"));
            return Err(Error::Request { status: status.unwrap_or(500), title, detail });
        }
        Ok(answer)
    }
}

/// The events of an instance.
///
/// They are heard live, and may be lost; the end is not: the instance is asked for every few seconds,
/// and again when nobody answers, or with 408, 429 or 5xx. An instance that does not exist yet is
/// waited for. A watch of one that never ends has to be dropped.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    instance: String,
    events: async_nats::Subscriber,
    patience: Duration,
    is_over: bool,
}

impl Watch {
    /// The next event; none after the last.
    ///
    /// # Errors
    /// When an event cannot be read, the instance may not be asked for, or the connection is closed.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        while !self.is_over {
            let heard = tokio::time::timeout(self.patience, self.events.next()).await;
            self.patience = PATIENCE;
            let event = match heard {
                Ok(Some(message)) => {
                    let event = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
                    Some(Event { event, ..serde_json::from_slice(&message.payload)? })
                }
                Ok(None) => return Err(Error::nats("the connection is closed")),
                Err(_) => self.end().await?,
            };
            if let Some(event) = event {
                self.is_over = over(&event.sub_status) == Some(event.event.as_str());
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    async fn end(&self) -> Result<Option<Event>, Error> {
        let found = match self.client.query(&self.instance).await {
            Err(error) if may_be_answered(&error) => return Ok(None),
            found => found?,
        };
        Ok(over(&found.sub_status).map(|event| Event {
            event: event.to_owned(),
            workflow_instance_id: found.id,
            definition_id: found.definition_id,
            version: found.version,
            output: Some(found.output),
            incidents: found.incidents,
            sub_status: found.sub_status.clone(),
        }))
    }
}

/// Whether the same query may be answered later.
fn may_be_answered(error: &Error) -> bool {
    match error {
        Error::Request { status, .. } => matches!(status, 404 | 408 | 429 | 500..),
        Error::Nats(error) => error.downcast_ref::<RequestError>().is_some_and(|error| {
            matches!(error.kind(), RequestErrorKind::NoResponders | RequestErrorKind::TimedOut)
        }),
        Error::Refused(_) | Error::Unreadable(_) => false,
    }
}

/// The event with which an instance comes to the end that this status is.
fn over(status: &str) -> Option<&'static str> {
    match status {
        "Finished" => Some("finished"),
        "Faulted" => Some("faulted"),
        "Cancelled" => Some("cancelled"),
        _ => None,
    }
}

fn set(body: &mut Value, name: &str, value: Option<String>) {
    if let Some(value) = value {
        body[name] = json!(value);
    }
}
