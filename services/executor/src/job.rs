//! A delivered command on its way through an actor: first a job, and once its burst is committed
//! a tail, until its sender has the outcome and its delivery the verdict.

use bus::Delivery;
use model::Timestamp;
use protocol::{Body, Command, ReplyWhen};
use tokio::sync::oneshot;

use crate::accept::child_id;
use crate::stop::{Stop, Verdict};

/// A delivered command, and the channel on which its delivery waits for the verdict.
pub(crate) struct Job {
    pub(crate) command: Command,
    pub(crate) stored_at: Timestamp,
    attempt: i64,
    sequence: u64,
    verdict: oneshot::Sender<Verdict>,
}

impl Job {
    /// A job, and the channel on which its verdict arrives.
    pub(crate) fn new(
        command: Command,
        delivery: &Delivery,
    ) -> (Box<Self>, oneshot::Receiver<Verdict>) {
        let (verdict, receiver) = oneshot::channel();
        let job = Self {
            command,
            stored_at: delivery.stored_at,
            attempt: delivery.attempt,
            sequence: delivery.sequence,
            verdict,
        };
        (Box::new(job), receiver)
    }

    /// The command is delivered for the first time, and it starts an instance whose id nobody else
    /// can know yet.
    pub(crate) fn starts_unknown_instance(&self) -> bool {
        let Body::Start(start) = &self.command.body else { return false };
        let is_own = match &start.instance_id {
            None => true,
            Some(id) => self.command.id == child_id(id) || self.command.id.as_str() == id.as_str(),
        };
        self.attempt == 1 && is_own
    }

    pub(crate) fn end(self, verdict: Verdict) {
        // Sending fails only while the process is being killed; then the verdict is not needed.
        drop(self.verdict.send(verdict));
    }

    /// Ends a command that needs nothing more here, or that could not be taken for this reason.
    pub(crate) fn end_unless(self, stop: Option<&Stop>) {
        match stop {
            Some(stop) => self.stop(stop),
            None => self.end(Verdict::Ack),
        }
    }

    pub(crate) fn stop(self, stop: &Stop) {
        if stop.is_passing() {
            let trace = self.command.traceparent.as_deref().and_then(chassis::trace_id);
            tracing::debug!(%stop, command = %self.command.id, trace, "sent back for later");
        }
        let verdict = stop.verdict(self.attempt, self.sequence);
        self.end(verdict);
    }
}

/// A command whose burst is committed. It is not acknowledged yet: its sender may still wait for
/// the outcome, and its calls may still run.
pub(crate) struct Tail {
    job: Box<Job>,
    is_answered: bool,
}

impl Tail {
    pub(crate) fn new(job: Box<Job>) -> Self {
        Self { job, is_answered: false }
    }

    pub(crate) fn command(&self) -> &Command {
        &self.job.command
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// The subject for the outcome, if the outcome is due now. It is due only once.
    pub(crate) fn answer(&mut self, rests: bool, has_answer: bool) -> Option<String> {
        let is_due = match self.job.command.reply_when {
            ReplyWhen::Committed => true,
            ReplyWhen::Settled => rests || has_answer,
        };
        if self.is_answered || !is_due {
            return None;
        }
        self.is_answered = true;
        self.job.command.reply_to.clone()
    }

    pub(crate) fn end(self, verdict: Verdict) {
        self.job.end(verdict);
    }
}
