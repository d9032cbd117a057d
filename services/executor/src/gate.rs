//! The gate before the pulls, which is shut while this node is paused: commands stay in the stream,
//! and the work in progress goes on to its end. Answers how much of it is left.

use std::sync::atomic::{AtomicBool, Ordering};

use bus::{Bucket, Incoming, Pauses, Subscription};
use futures::StreamExt as _;
use protocol::{ContentType, Headers, Message, Runtime, Taking, encode_body, header, subject};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::executor::Executor;

/// The beginning of the subjects on which our own processes wait for answers.
const INBOX: &str = "_INBOX";

/// The gate of one executor.
pub(crate) struct Gate {
    node: String,
    pauses: Pauses,
    /// No pull is in progress: the next one waits for the end of the pause.
    is_shut: AtomicBool,
    /// The commands in progress.
    pub(crate) in_hand: TaskTracker,
}

impl Gate {
    /// Reads the pauses: one that was set before this node started holds for it.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub(crate) async fn start(executor: &Executor) -> Result<Self, bus::Error> {
        let cx = executor.cx();
        let pauses = Pauses::start(cx.bus.kv(Bucket::Runtime)).await?;
        let (is_shut, in_hand) = (AtomicBool::new(false), TaskTracker::new());
        Ok(Self { node: cx.node.clone(), pauses, is_shut, in_hand })
    }

    /// Waits for the end of the pause, or for a stop.
    pub(crate) async fn pass(&self, stop: &CancellationToken) {
        if !self.pauses.is_paused(&self.node) {
            self.is_shut.store(false, Ordering::SeqCst);
            return;
        }
        tracing::info!(node = self.node, "paused: no commands are taken");
        self.is_shut.store(true, Ordering::SeqCst);
        stop.run_until_cancelled(self.pauses.over(&self.node)).await;
        self.is_shut.store(false, Ordering::SeqCst);
        if !stop.is_cancelled() {
            tracing::info!(node = self.node, "the pause is over: commands are taken again");
        }
    }

    fn runtime(&self, executor: &Executor) -> Runtime {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let state = match (self.pauses.is_paused(&self.node), self.is_shut.load(Ordering::SeqCst)) {
            (false, _) => Taking::Running,
            (true, false) => Taking::Pausing,
            (true, true) => Taking::Paused,
        };
        Runtime {
            node: self.node.clone(),
            state,
            commands: count(self.in_hand.len()),
            instances: count(executor.instances_in_hand()),
            wanted: executor.leases_wanted(),
        }
    }

    /// Answers questions about the work of this executor until `stop`.
    pub(crate) async fn answer(
        &self,
        executor: &Executor,
        mut questions: Subscription,
        stop: CancellationToken,
    ) {
        while let Some(Some(question)) = stop.run_until_cancelled(questions.next()).await {
            let Incoming { reply: Some(reply), .. } = question else { continue };
            // An executor may publish more than the sender of a question.
            if subject::check_reply(&reply).is_err() && !reply.starts_with(INBOX) {
                continue;
            }
            let Ok(payload) = encode_body(ContentType::Json, &self.runtime(executor)) else {
                continue;
            };
            let json = (header::CONTENT_TYPE.to_owned(), "application/json".to_owned());
            let answer = Message { subject: reply, headers: Headers::from([json]), payload };
            if let Err(error) = executor.cx().bus.send(answer).await {
                tracing::debug!(%error, "a question about the work was not answered");
            }
        }
    }
}
