//! A task as a webhook event of Elsa, and what the answer to it means.

use std::time::Duration;

use model::{Backoff, Timestamp};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::{Value, json};
use staunch_client::{Failure as TaskFailure, Handover, Task};

use crate::Failure;

/// The event that announces a task.
const EVENT: &str = "Elsa.RunTask";
/// The code of the incident where a task is refused.
const REFUSED: &str = "WebhookRefused";
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// The longest duration of one request, with its answer.
const TRY_TIME_MAX: Duration = Duration::from_secs(30);
/// The pauses before a task is delivered again double, from the first to the longest.
const PAUSE_FIRST: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The longest pause that an answer can ask for.
const PAUSE_ASKED_MAX: Duration = Duration::from_secs(600);
/// The part of a refusal that becomes part of the incident.
const REFUSAL_CHARS: usize = 1_000;
const REFUSAL_BYTES: usize = 4 * REFUSAL_CHARS;

const KEY: &str = "idempotency-key";
const TASK: &str = "staunch-task";
const ATTEMPT: &str = "staunch-attempt";
const TRACE: &str = "traceparent";

/// The headers of a request that nobody else sets.
pub(super) const OWN_HEADERS: [&str; 8] =
    ["content-length", "content-type", "host", KEY, ATTEMPT, TASK, TRACE, "transfer-encoding"];

/// The place to which tasks are posted.
pub(super) struct Webhook {
    client: Client,
    url: Url,
    headers: HeaderMap,
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// The application has the task.
    Accepted,
    /// The application may accept it later.
    Again,
    /// The application never accepts it.
    Refused,
}

impl Webhook {
    /// A webhook that gets these headers with every task.
    ///
    /// # Errors
    /// When there is no HTTP client.
    pub(super) fn new(url: Url, headers: HeaderMap) -> Result<Self, Failure> {
        let client = roots::trusted_by(Client::builder())
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIME_MAX)
            .timeout(TRY_TIME_MAX)
            .user_agent(concat!("staunch/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::failed(format!("no HTTP client: {error}")))?;
        Ok(Self { client, url, headers })
    }

    /// Posts a task once. `chance` varies the pause before the next try.
    ///
    /// # Errors
    /// When the application refuses the task.
    pub(super) async fn post(
        &self,
        task: &Task<Value>,
        now: Timestamp,
        chance: u64,
    ) -> Result<Handover, TaskFailure> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let request = request.headers(headers(task)).body(event(task, now).to_string());
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => {
                let pause = pause(task.deliveries, chance, None);
                // The address may have a secret.
                let error = anyhow::Error::new(error.without_url());
                tracing::warn!(
                    task = task.id,
                    error = format!("{error:#}"),
                    again_in = ?pause,
                    "the webhook does not answer"
                );
                return Ok(Handover::Again(pause));
            }
        };
        let status = answer.status();
        match meaning(status) {
            Meaning::Accepted => Ok(Handover::Accepted),
            Meaning::Again => {
                let asked = answer.headers().get(RETRY_AFTER);
                let asked = asked.and_then(|value| value.to_str().ok());
                let pause = pause(task.deliveries, chance, asked);
                tracing::warn!(
                    task = task.id,
                    %status,
                    again_in = ?pause,
                    "the webhook does not take the task now"
                );
                Ok(Handover::Again(pause))
            }
            Meaning::Refused => Err(refusal(status, &beginning(answer).await)),
        }
    }
}

/// The body of a request. There are no tenants.
fn event(task: &Task<Value>, now: Timestamp) -> Value {
    json!({
        "eventType": EVENT,
        "payload": {
            "workflowInstanceId": task.instance_id,
            "workflowDefinitionId": task.definition_id,
            "tenantId": null,
            "workflowName": task.workflow_name,
            "correlationId": task.correlation_id,
            "taskId": task.id,
            "taskName": task.task_type,
            "taskPayload": task.input,
        },
        "timestamp": now.to_string(),
    })
}

/// The headers of a request. A value that no header can have is left out.
fn headers(task: &Task<Value>) -> HeaderMap {
    let attempt = task.attempt.to_string();
    let values = [
        (KEY, Some(task.key.as_str())),
        (TASK, Some(task.id.as_str())),
        (ATTEMPT, Some(attempt.as_str())),
        (TRACE, task.traceparent.as_deref()),
    ];
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in values {
        if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
            headers.insert(name, value);
        }
    }
    headers
}

fn meaning(status: StatusCode) -> Meaning {
    match status.as_u16() {
        200..=299 => Meaning::Accepted,
        408 | 429 | 500..=599 => Meaning::Again,
        _ => Meaning::Refused,
    }
}

/// The time until a task is delivered again: the seconds that the answer asks for, within bounds, or a
/// pause that grows with the deliveries.
fn pause(deliveries: u32, chance: u64, asked: Option<&str>) -> Duration {
    match asked.and_then(|seconds| seconds.trim().parse().ok()) {
        Some(seconds) => Duration::from_secs(seconds).clamp(PAUSE_FIRST, PAUSE_ASKED_MAX),
        None => Backoff::new(PAUSE_FIRST, PAUSE_MAX).after(deliveries, chance),
    }
}

fn refusal(status: StatusCode, said: &str) -> TaskFailure {
    let title = match status.is_redirection() {
        true => format!(
            "the webhook answers {status}, and redirects are not followed: give its new address \
             with --to"
        ),
        false => format!("the webhook answers {status}"),
    };
    let failure = TaskFailure::for_good(REFUSED, &title);
    let failure = TaskFailure { status: Some(status.as_u16()), ..failure };
    if said.is_empty() { failure } else { failure.detail(said) }
}

/// The beginning of the text of an answer, or as much of it as arrives.
async fn beginning(mut answer: Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < REFUSAL_BYTES {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) | Err(_) => break,
        }
    }
    bytes.truncate(REFUSAL_BYTES);
    text(&bytes)
}

fn text(bytes: &[u8]) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String =
        String::from_utf8_lossy(bytes).chars().take(REFUSAL_CHARS).map(plain).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task<Value> {
        Task {
            id: "t1".to_owned(),
            task_type: "Ship".to_owned(),
            version: 2,
            input: json!({"order": 7}),
            attempt: 3,
            deadline: None,
            deliveries: 1,
            key: "t1.3".to_owned(),
            instance_id: "i1".to_owned(),
            definition_id: "shipping".to_owned(),
            workflow_name: Some("Shipping".to_owned()),
            correlation_id: Some("order-7".to_owned()),
            activity_id: "runTask1".to_owned(),
            traceparent: Some("00-1-2-01".to_owned()),
            cancelled: tokio_util::sync::CancellationToken::new(),
            progress_channel: staunch_client::ProgressChannel::default(),
        }
    }

    #[test]
    fn a_task_is_the_event_that_elsa_sends() {
        let expected = json!({
            "eventType": "Elsa.RunTask",
            "payload": {
                "workflowInstanceId": "i1", "workflowDefinitionId": "shipping", "tenantId": null,
                "workflowName": "Shipping", "correlationId": "order-7", "taskId": "t1",
                "taskName": "Ship", "taskPayload": {"order": 7},
            },
            "timestamp": "1970-01-01T00:00:01.500Z",
        });
        assert_eq!(event(&task(), Timestamp::from_millis(1_500)), expected);
        let unnamed = Task { workflow_name: None, correlation_id: None, ..task() };
        let said = event(&unnamed, Timestamp::from_millis(0));
        for name in ["workflowName", "correlationId"] {
            assert_eq!(said["payload"].get(name), Some(&Value::Null), "{name}");
        }
    }

    #[test]
    fn every_header_of_a_task_is_our_own() {
        let found = headers(&task());
        for (name, value) in [
            ("content-type", "application/json"),
            ("idempotency-key", "t1.3"),
            ("staunch-task", "t1"),
            ("staunch-attempt", "3"),
            ("traceparent", "00-1-2-01"),
        ] {
            assert_eq!(found[name], value);
        }
        assert!(found.keys().all(|name| OWN_HEADERS.contains(&name.as_str())), "{found:?}");
        let untraced = Task { traceparent: Some("a\nb".to_owned()), ..task() };
        assert!(!headers(&untraced).contains_key("traceparent"));
    }

    #[test]
    fn an_answer_accepts_postpones_or_refuses() {
        let of = |status: u16| meaning(StatusCode::from_u16(status).unwrap());
        for (status, expected) in [
            (200, Meaning::Accepted),
            (204, Meaning::Accepted),
            (302, Meaning::Refused),
            (308, Meaning::Refused),
            (400, Meaning::Refused),
            (404, Meaning::Refused),
            (408, Meaning::Again),
            (422, Meaning::Refused),
            (429, Meaning::Again),
            (500, Meaning::Again),
            (503, Meaning::Again),
        ] {
            assert_eq!(of(status), expected, "{status}");
        }
    }

    #[test]
    fn pauses_grow_and_what_an_answer_asks_for_has_bounds() {
        let seconds = Duration::from_secs;
        for (deliveries, expected) in [(1, 1), (2, 2), (3, 4), (6, 30), (1_000, 30)] {
            assert_eq!(pause(deliveries, 0, None), seconds(expected), "{deliveries}");
        }
        for (asked, expected) in [("0", 2), (" 90", 90), ("86400", 600)] {
            assert_eq!(pause(1, 0, Some(asked)), seconds(expected), "{asked}");
        }
        let date = "Wed, 21 Oct 2026 07:28:00 GMT";
        assert_eq!(pause(1, 0, Some(date)), seconds(1), "a date counts as no wish");
    }

    #[test]
    fn a_refusal_has_the_beginning_of_the_answer() {
        let said = text(format!("bad\u{0}\norder {}", "ü".repeat(2_000)).as_bytes());
        assert!(said.starts_with("bad  order ü"), "{said}");
        assert_eq!(said.chars().count(), REFUSAL_CHARS);
        let failure = refusal(StatusCode::UNPROCESSABLE_ENTITY, &said);
        assert_eq!((failure.kind.as_deref(), failure.status), (Some("WebhookRefused"), Some(422)));
        assert!(failure.title.contains("422 Unprocessable Entity") && !failure.retryable);
        assert_eq!(failure.detail, Some(said));
        assert_eq!(refusal(StatusCode::NOT_FOUND, "").detail, None);
        let moved = refusal(StatusCode::PERMANENT_REDIRECT, "");
        assert!(moved.title.contains("--to"), "{}", moved.title);
    }
}
