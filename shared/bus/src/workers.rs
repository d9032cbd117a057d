//! Who works: the services of NATS that take tasks, or answer activities, as they describe themselves.
//!
//! A service answers `$SRV.INFO` with a document (NATS ADR-32). One that takes tasks says so in its
//! metadata; one that answers activities has an endpoint on their subject.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use protocol::{Message, subject};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use crate::{Error, Wire};

/// The metadata with the tasks that a service takes: JSON, such as
/// `[{"type": "Ship", "version": 1, "concurrency": 8}]`.
const TASKS_METADATA: &str = "staunch-tasks";
/// The metadata with the machine on which it runs.
const HOST_METADATA: &str = "host";
/// All have answered when nobody has for this time.
const QUIET: Duration = Duration::from_millis(300);
/// The longest wait for answers.
const WAIT_MAX: Duration = Duration::from_millis(1_500);
/// The largest number of workers.
const WORKERS_MAX: usize = 1_000;
/// A longer answer is none.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// The largest number of types of one worker.
const KINDS_MAX: usize = 100;
const NAME_CHARS_MAX: usize = 200;

/// A worker that is a service of NATS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worker {
    /// The name of the service.
    pub name: String,
    /// What tells it from others of the same name.
    pub id: String,
    /// The version of the service.
    pub version: String,
    /// The machine on which it runs, if it says so.
    pub host: Option<String>,
    /// The tasks that it takes.
    pub tasks: Vec<Takes>,
    /// The types and versions of the activities that it answers.
    pub requests: Vec<(String, u32)>,
}

/// The tasks of one type and version that a worker takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Takes {
    /// The type.
    #[serde(rename = "type")]
    pub task_type: String,
    /// The version.
    pub version: u32,
    /// The number that it works on at the same time, if it says so.
    #[serde(default)]
    pub concurrency: Option<u32>,
}

/// The document of a service, as ADR-32 has it.
#[derive(Deserialize)]
struct Info {
    name: String,
    id: String,
    version: String,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    endpoints: Option<Vec<EndpointInfo>>,
}

#[derive(Deserialize)]
struct EndpointInfo {
    subject: String,
}

/// Asks all services at once. Those that do not answer within [`WAIT_MAX`], that answer after all
/// others, or that do nothing for Staunch are not in the list.
///
/// # Errors
/// When the server cannot be asked.
pub async fn workers(wire: &(impl Wire + ?Sized)) -> Result<Vec<Worker>, Error> {
    let question = Message { subject: subject::SERVICES_INFO.to_owned(), ..Message::default() };
    let answers = wire.ask_all(question).await?;
    let give_up = Instant::now() + WAIT_MAX;
    let heard = stream::unfold(answers, |mut answers| async move {
        let until = give_up.min(Instant::now() + QUIET);
        let answer = timeout_at(until, answers.next()).await.ok().flatten()?;
        Some((answer, answers))
    });
    let heard = heard.filter_map(|answer| async move { worker(&answer.message.payload) });
    let mut workers: Vec<_> = heard.take(WORKERS_MAX).collect().await;
    workers.sort();
    workers.dedup();
    Ok(workers)
}

/// The worker that an answer describes, if it describes one.
fn worker(answer: &[u8]) -> Option<Worker> {
    if answer.len() > ANSWER_BYTES_MAX {
        return None;
    }
    let info: Info = serde_json::from_slice(answer).ok()?;
    let metadata = info.metadata.unwrap_or_default();
    let said = |name: &str| metadata.get(name).and_then(Value::as_str);
    let tasks = said(TASKS_METADATA).and_then(|tasks| serde_json::from_str(tasks).ok());
    let mut tasks: Vec<Takes> = tasks.unwrap_or_default();
    tasks.truncate(KINDS_MAX);
    let endpoints = info.endpoints.unwrap_or_default();
    let requests = endpoints.iter().filter_map(|endpoint| subject::acts(&endpoint.subject));
    let requests: Vec<_> = requests.take(KINDS_MAX).collect();
    if tasks.is_empty() && requests.is_empty() {
        return None;
    }
    let shown = |text: &str| text.chars().take(NAME_CHARS_MAX).collect();
    for task in &mut tasks {
        task.task_type = shown(&task.task_type);
    }
    Some(Worker {
        name: shown(&info.name),
        id: shown(&info.id),
        version: shown(&info.version),
        host: said(HOST_METADATA).map(shown),
        tasks,
        requests,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(document: &Value) -> Option<Worker> {
        worker(document.to_string().as_bytes())
    }

    #[test]
    fn a_worker_is_a_service_that_takes_tasks_or_answers_activities() {
        let tasks = json!([{"type": "Acme.Ship", "version": 2, "concurrency": 8}]).to_string();
        let takes =
            read(&json!({"type": "io.nats.micro.v1.info_response", "name": "staunch-worker",
            "id": "A1", "version": "0.1.0", "endpoints": null,
            "metadata": {"staunch-tasks": tasks, "host": "m1"}}));
        let takes = takes.unwrap();
        assert_eq!((takes.id.as_str(), takes.host.as_deref()), ("A1", Some("m1")));
        let ship = Takes { task_type: "Acme.Ship".to_owned(), version: 2, concurrency: Some(8) };
        assert_eq!(takes.tasks, [ship]);

        let endpoint = |subject: &str| json!({"name": "e", "subject": subject});
        let answers = read(&json!({"name": "words", "id": "B2", "version": "1.0.0", "endpoints":
            [endpoint("staunch.act.upper"), endpoint("staunch.act.Acme=2ELower.3"), endpoint("x")]}));
        let both = [("upper".to_owned(), 1), ("Acme.Lower".to_owned(), 3)];
        assert_eq!(answers.unwrap().requests, both);
    }

    #[test]
    fn others_and_what_cannot_be_read_are_no_workers() {
        let service = |metadata: Value, endpoints: Value| {
            read(&json!({"name": "n", "id": "i", "version": "1.0.0", "metadata": metadata,
                "endpoints": endpoints}))
        };
        assert_eq!(service(json!({}), json!([{"subject": "staunch.api.start.*"}])), None);
        for tasks in ["", "Ship", "[]", "[{\"type\": 7}]", "{}"] {
            assert_eq!(service(json!({"staunch-tasks": tasks}), json!([])), None, "{tasks}");
        }
        assert_eq!(service(json!({"staunch-tasks": 7}), json!([])), None);
        assert_eq!(worker(b""), None);
        assert_eq!(worker(&vec![b' '; ANSWER_BYTES_MAX + 1]), None);
    }
}
