//! What a scenario needs on NATS beside the cluster: a worker, or a stream.

use std::time::Duration;

use anyhow::Context as _;
use async_nats::jetstream::{self, stream};
use protocol::subject;
use serde_json::{Value, json};
use staunch_client::{Task, Worker};
use tokio::task::JoinSet;

use crate::Scenario;

/// The number of tasks that the worker does at the same time.
const TASKS: usize = 256;
/// The size limit of the stream in bytes.
const BYTES_MAX: i64 = 1 << 30;

/// A connection of its own, and what uses it. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Outside {
    jetstream: jetstream::Context,
    _working: JoinSet<()>,
}

/// The subject of one message, or of all with `*`.
pub(crate) fn message_subject(name: &str, message: &str) -> String {
    format!("bench.{name}.{message}")
}

impl Outside {
    /// What this scenario needs; None if it needs nothing.
    ///
    /// # Errors
    /// When the broker cannot be reached, or refuses the stream.
    pub(crate) async fn start(
        scenario: Scenario,
        name: &str,
        url: &str,
    ) -> anyhow::Result<Option<Self>> {
        if !matches!(scenario, Scenario::Task | Scenario::Listen) {
            return Ok(None);
        }
        let servers: Vec<async_nats::ServerAddr> =
            url.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let nats = async_nats::connect(servers).await.context("NATS")?;
        let jetstream = jetstream::new(nats.clone());
        let mut working = JoinSet::new();
        if scenario == Scenario::Task {
            let mut worker = Worker::new(nats, Duration::ZERO);
            worker.task(name, 1, TASKS, |_: Task<Value>| async { Ok(json!({})) });
            working.spawn(async {
                if let Err(error) = worker.run().await {
                    tracing::error!(%error, "the worker has stopped");
                }
            });
        } else {
            let config = stream::Config {
                name: name.to_owned(),
                subjects: vec![message_subject(name, "*")],
                max_bytes: BYTES_MAX,
                ..stream::Config::default()
            };
            jetstream.create_stream(config).await?;
        }
        Ok(Some(Self { jetstream, _working: working }))
    }

    /// Publishes a message that starts an instance; returns when the stream has stored it.
    pub(crate) async fn publish(&self, name: &str, id: &str) -> anyhow::Result<()> {
        let message = json!(id).to_string();
        self.jetstream.publish(message_subject(name, id), message.into()).await?.await?;
        Ok(())
    }

    /// Removes the stream, or the consumer of the tasks.
    pub(crate) async fn clean(&self, name: &str) {
        drop(self.jetstream.delete_stream(name).await);
        if let Ok(tasks) = self.jetstream.get_stream(subject::TASKS_STREAM).await {
            drop(tasks.delete_consumer(&subject::task_consumer(name, 1)).await);
        }
    }
}
