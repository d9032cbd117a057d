//! What is left of a command after its burst: its sender may still have to be told, its calls may
//! still run, and it is not acknowledged.

use protocol::{Command, ReplyWhen};

use super::queue::Job;
use crate::pipeline::settle::Verdict;

/// A command that is committed and not done with.
pub(super) struct Tail {
    job: Box<Job>,
    is_told: bool,
}

impl Tail {
    pub(super) fn new(job: Box<Job>) -> Self {
        Self { job, is_told: false }
    }

    pub(super) fn command(&self) -> &Command {
        &self.job.command
    }

    pub(super) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Where the outcome goes if it is due now. It is due once.
    pub(super) fn tell(&mut self, rests: bool, has_answer: bool) -> Option<String> {
        let is_due = match self.job.command.reply_when {
            ReplyWhen::Committed => true,
            ReplyWhen::Settled => rests || has_answer,
        };
        if self.is_told || !is_due {
            return None;
        }
        self.is_told = true;
        self.job.command.reply_to.clone()
    }

    pub(super) fn end(self, verdict: Verdict) {
        self.job.end(verdict);
    }
}
