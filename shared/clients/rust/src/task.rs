//! A task as its handler gets it, and what a handler says of it.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Message;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::progress::ProgressChannel;
use crate::wire::{PROGRESS_BYTES_MAX, token};

const DETAIL_CHARS_MAX: usize = 4_000;

/// A task, as its handler gets it.
#[derive(Clone, Debug)]
pub struct Task<I> {
    /// The same in every attempt.
    pub id: String,
    /// The type of the task.
    pub task_type: String,
    /// The version of the type.
    pub version: u32,
    /// The value that comes with the task.
    pub input: I,
    /// 1, 2, 3 …
    pub attempt: u32,
    /// After this time the result is not used.
    pub deadline: Option<Timestamp>,
    /// The number of deliveries of this attempt, with this one.
    pub deliveries: u32,
    /// The same for every delivery of this attempt: the idempotency key of what the handler calls.
    pub key: String,
    /// The instance that waits.
    pub instance_id: String,
    /// Its definition.
    pub definition_id: String,
    /// The name of the definition, if it has one.
    pub workflow_name: Option<String>,
    /// The correlation id of the instance, if it has one.
    pub correlation_id: Option<String>,
    /// The activity that waits.
    pub activity_id: String,
    /// The trace of the instance, if it has one.
    pub traceparent: Option<String>,
    /// Cancelled when nobody wants the result any more, for threads that the handler has started: its
    /// own future is dropped then.
    pub cancelled: CancellationToken,
    /// Where [`Task::progress`] sends.
    pub progress_channel: ProgressChannel,
}

impl Task<Value> {
    /// The task with its input as this type.
    pub(crate) fn typed<I: DeserializeOwned>(self) -> Result<Task<I>, Failure> {
        let input = serde_json::from_value(self.input).map_err(|error| {
            Failure::for_good("InvalidInput", "the input is not what the worker takes")
                .detail(error)
        })?;
        Ok(Task {
            input,
            id: self.id,
            task_type: self.task_type,
            version: self.version,
            attempt: self.attempt,
            deadline: self.deadline,
            deliveries: self.deliveries,
            key: self.key,
            instance_id: self.instance_id,
            definition_id: self.definition_id,
            workflow_name: self.workflow_name,
            correlation_id: self.correlation_id,
            activity_id: self.activity_id,
            traceparent: self.traceparent,
            cancelled: self.cancelled,
            progress_channel: self.progress_channel,
        })
    }
}

impl<I> Task<I> {
    /// Says how far the work is, as JSON of at most 64 KiB, to those who listen at this moment. What the
    /// broker does not get is lost, and logged.
    ///
    /// # Errors
    /// A failure for good when the value is no JSON or is larger.
    pub async fn progress(&self, value: impl Serialize) -> Result<(), Failure> {
        let value = serde_json::to_value(value).map_err(|error| {
            Failure::for_good("ProgressUnfit", "the progress is not JSON").detail(error)
        })?;
        let bytes = value.to_string().len();
        if bytes > PROGRESS_BYTES_MAX {
            let title = format!(
                "the progress has {bytes} bytes, more than the {PROGRESS_BYTES_MAX} that it may have"
            );
            return Err(Failure::for_good("ProgressTooLarge", &title)
                .detail("say how far the work is, and return what is large as the result"));
        }
        if self.cancelled.is_cancelled() {
            return Ok(());
        }
        let kind = format!("{}.{}", token(&self.task_type), self.version);
        let subject = format!("staunch.task-progress.{kind}.{}", token(&self.id));
        let mut headers = HeaderMap::new();
        headers.insert("Staunch-Task", self.id.as_str());
        headers.insert("Staunch-Instance", self.instance_id.as_str());
        headers.insert("Staunch-Attempt", self.attempt.to_string().as_str());
        if let Some(trace) = &self.traceparent {
            headers.insert("traceparent", trace.as_str());
        }
        let body = json!({
            "taskId": self.id, "taskType": self.task_type, "taskVersion": self.version,
            "workflowInstanceId": self.instance_id, "attempt": self.attempt, "progress": value,
        });
        self.progress_channel.send(subject, headers, body.to_string().into()).await;
        Ok(())
    }
}

/// What became of a task that a handler gives to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// It is accepted there, and stays open: its result comes from there, in a request or a message of
    /// its own. The broker has the task no more, so from now on only its `timeout` looks after it.
    Accepted,
    /// It is not accepted now: the same attempt is delivered again after this time.
    Again(Duration),
}

/// A failure of a task. Every error becomes one that is tried again.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The code of the incident.
    pub kind: Option<String>,
    /// What has failed.
    pub title: String,
    /// What is wrong in this case.
    pub detail: Option<String>,
    /// A status of HTTP.
    pub status: Option<u16>,
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// The least number of seconds before the next attempt.
    pub retry_after: Option<u64>,
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { title: error.to_string(), retryable: true, ..Self::default() }
    }
}

impl Failure {
    /// A failure that is not tried again.
    #[must_use]
    pub fn for_good(kind: &str, title: &str) -> Self {
        Self { kind: Some(kind.to_owned()), title: title.to_owned(), ..Self::default() }
    }

    /// With details.
    #[must_use]
    pub fn detail(self, detail: impl ToString) -> Self {
        Self { detail: Some(detail.to_string()), ..self }
    }

    pub(crate) fn body(&self, attempt: u32) -> Vec<u8> {
        let short = |text: &String| text.chars().take(DETAIL_CHARS_MAX).collect::<String>();
        let mut error = json!({ "title": short(&self.title) });
        let mut body = json!({
            "status": "failed", "attempt": attempt, "retryable": self.retryable,
        });
        let members = [
            ("type", self.kind.as_ref().map(|kind| json!(kind))),
            ("detail", self.detail.as_ref().map(|detail| json!(short(detail)))),
            ("status", self.status.map(|status| json!(status))),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                error[name] = value;
            }
        }
        body["error"] = error;
        if let Some(seconds) = self.retry_after {
            body["retryAfter"] = json!(seconds);
        }
        body.to_string().into_bytes()
    }
}

/// A task on the wire.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    task_id: String,
    task_type: String,
    task_version: u32,
    input: Value,
    workflow_instance_id: String,
    workflow_definition_id: String,
    workflow_name: Option<String>,
    correlation_id: Option<String>,
    activity_id: String,
    attempt: u32,
    deadline: Option<String>,
}

/// Reads a task of this type.
pub(crate) fn read(message: &Message, kind: (&str, u32)) -> Result<Task<Value>, String> {
    let wire: Wire = serde_json::from_slice(&message.payload).map_err(|error| error.to_string())?;
    if (wire.task_type.as_str(), wire.task_version) != kind {
        return Err(format!(
            "the task is one of {}, version {}",
            wire.task_type, wire.task_version
        ));
    }
    let deadline = wire.deadline.map(|text| text.parse()).transpose();
    let deadline = deadline.map_err(|error: jiff::Error| format!("deadline: {error}"))?;
    let key = header(message, "Nats-Msg-Id");
    let deliveries = message.info().ok().and_then(|info| u32::try_from(info.delivered).ok());
    Ok(Task {
        key: key.unwrap_or_else(|| format!("{}.{}", wire.task_id, wire.attempt)),
        id: wire.task_id,
        task_type: wire.task_type,
        version: wire.task_version,
        input: wire.input,
        attempt: wire.attempt,
        deadline,
        deliveries: deliveries.unwrap_or(1),
        instance_id: wire.workflow_instance_id,
        definition_id: wire.workflow_definition_id,
        workflow_name: wire.workflow_name,
        correlation_id: wire.correlation_id,
        activity_id: wire.activity_id,
        traceparent: header(message, "traceparent"),
        cancelled: CancellationToken::new(),
        progress_channel: ProgressChannel::default(),
    })
}

pub(crate) fn header(message: &Message, name: &str) -> Option<String> {
    message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn progress_that_is_too_large_or_no_json_is_refused() {
        let task = Task {
            id: "t".to_owned(),
            task_type: "Ship".to_owned(),
            version: 1,
            input: Value::Null,
            attempt: 1,
            deadline: None,
            deliveries: 1,
            key: "t.1".to_owned(),
            instance_id: "i".to_owned(),
            definition_id: "d".to_owned(),
            workflow_name: None,
            correlation_id: None,
            activity_id: "a".to_owned(),
            traceparent: None,
            cancelled: CancellationToken::new(),
            progress_channel: ProgressChannel::default(),
        };
        // The quotation marks count, too.
        assert!(task.progress("x".repeat(PROGRESS_BYTES_MAX - 2)).await.is_ok());
        let refused = task.progress("x".repeat(PROGRESS_BYTES_MAX - 1)).await.unwrap_err();
        assert_eq!(refused.kind.as_deref(), Some("ProgressTooLarge"));
        assert!(refused.title.contains("65537 bytes, more than the 65536"), "{}", refused.title);
        let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        let refused = task.progress(keys).await.unwrap_err();
        assert_eq!(refused.kind.as_deref(), Some("ProgressUnfit"));
    }
}
