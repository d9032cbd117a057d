//! The mailboxes of the instances that are worked on here.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bus::Delivery;
use model::{InstanceId, Timestamp};
use protocol::{Body, Command};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::Actor;
use crate::draft::child_id;
use crate::executor::Cx;
use crate::pipeline::settle::{Stop, Verdict};

/// The instances that are worked on here, by id.
#[derive(Default)]
pub(crate) struct Actors(Mutex<BTreeMap<InstanceId, mpsc::Sender<Box<Job>>>>);

/// A command with whoever waits for its verdict.
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) stored_at: Timestamp,
    attempt: i64,
    sequence: u64,
    done: oneshot::Sender<Verdict>,
}

impl Job {
    /// Delivered for the first time, and it makes an instance whose id nobody can know before it.
    pub(super) fn is_unheard_of(&self) -> bool {
        let Body::Start(start) = &self.command.body else { return false };
        let is_own = match &start.instance_id {
            None => true,
            Some(id) => self.command.id == child_id(id) || self.command.id.as_str() == id.as_str(),
        };
        self.attempt == 1 && is_own
    }

    pub(super) fn end(self, verdict: Verdict) {
        // Nobody listens when the process is being killed.
        drop(self.done.send(verdict));
    }

    pub(super) fn stop(self, stop: &Stop) {
        if stop.is_passing() {
            tracing::debug!(%stop, command = %self.command.id, "sent back for later");
        }
        let verdict = stop.verdict(self.attempt, self.sequence);
        self.end(verdict);
    }
}

/// Queues a command behind the others of its instance, and waits for its verdict.
pub(crate) async fn apply(
    cx: &Cx,
    id: InstanceId,
    command: Command,
    delivery: &Delivery,
) -> Verdict {
    let (done, verdict) = oneshot::channel();
    let job = Box::new(Job {
        command,
        stored_at: delivery.stored_at,
        attempt: delivery.attempt,
        sequence: delivery.sequence,
        done,
    });
    cx.actors.submit(cx, id, job);
    // An actor that is gone has not applied it, or nobody knows: it comes again.
    verdict.await.unwrap_or(Verdict::Drop)
}

impl Actors {
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn submit(&self, cx: &Cx, id: InstanceId, job: Box<Job>) {
        let mut actors = self.lock();
        let job = match actors.get(&id) {
            Some(mailbox) => match mailbox.try_send(job) {
                Ok(()) => return,
                Err(TrySendError::Full(job)) => {
                    drop(actors);
                    let reason = format!("too many commands of instance {id} wait here");
                    return job.stop(&Stop::soon(reason));
                }
                // Its task has died.
                Err(TrySendError::Closed(job)) => job,
            },
            None => job,
        };
        if cx.is_gone() {
            return;
        }
        let (sender, mailbox) = mpsc::channel(cx.config.mailbox.max(1));
        // A fresh mailbox has room for one.
        drop(sender.try_send(job));
        actors.insert(id.clone(), sender);
        drop(actors);
        let actor = Actor { cx: Cx::clone(cx), id, mailbox, tenure: None };
        cx.spawn(actor.live());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<InstanceId, mpsc::Sender<Box<Job>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Actor {
    /// The next command, or the end of this actor: then there is no mailbox any more, and the next
    /// command makes a new one.
    pub(super) fn retire(&mut self) -> Option<Box<Job>> {
        let mut actors = self.cx.actors.lock();
        let job = self.mailbox.try_recv().ok();
        if job.is_none() {
            actors.remove(&self.id);
        }
        job
    }
}
