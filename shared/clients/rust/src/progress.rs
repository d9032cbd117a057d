//! How the progress of a task gets to whoever listens.

use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use tokio::time::timeout;

/// How long the connection may take to accept a message: while the broker is away, progress is lost
/// and the work goes on.
const ACCEPTED_MAX: Duration = Duration::from_secs(1);

/// Where [`crate::Task::progress`] sends. The default is nowhere, for handlers in a test.
#[derive(Clone, Debug, Default)]
pub struct ProgressChannel {
    nats: Option<async_nats::Client>,
}

impl ProgressChannel {
    pub(crate) fn over(nats: &async_nats::Client) -> Self {
        Self { nats: Some(nats.clone()) }
    }

    /// Publishes a message, which is lost if that fails.
    pub(crate) async fn send(&self, subject: String, headers: HeaderMap, body: Bytes) {
        let Some(nats) = &self.nats else { return };
        let sending = nats.publish_with_headers(subject.clone(), headers, body);
        let error = match timeout(ACCEPTED_MAX, sending).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        tracing::warn!(error, subject, "the progress of a task is lost");
    }
}
