//! The mailboxes of the instances that this process works on. An instance with a mailbox has an
//! actor, the only reader of the mailbox.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::InstanceId;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::job::Job;
use crate::stop::Stop;

/// The commands that wait for one instance.
pub(crate) type Mailbox = mpsc::Receiver<Box<Job>>;

/// The mailboxes, by instance.
#[derive(Default)]
pub(crate) struct Mailboxes(Mutex<BTreeMap<InstanceId, mpsc::Sender<Box<Job>>>>);

impl Mailboxes {
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Puts a command into the mailbox of its instance. If the instance had none, returns a new
    /// mailbox that contains the command: the caller starts an actor that reads it. A command that
    /// finds a full mailbox is sent back.
    pub(crate) fn post(&self, id: &InstanceId, job: Box<Job>, capacity: usize) -> Option<Mailbox> {
        let mut mailboxes = self.lock();
        let job = match mailboxes.get(id) {
            Some(mailbox) => match mailbox.try_send(job) {
                Ok(()) => return None,
                Err(TrySendError::Full(job)) => {
                    drop(mailboxes);
                    let reason = format!("too many commands of instance {id} wait here");
                    job.stop(&Stop::soon(reason));
                    return None;
                }
                // The task of the actor has ended by a panic.
                Err(TrySendError::Closed(job)) => job,
            },
            None => job,
        };
        let (sender, mailbox) = mpsc::channel(capacity.max(1));
        // A new mailbox has room for one command.
        drop(sender.try_send(job));
        mailboxes.insert(id.clone(), sender);
        Some(mailbox)
    }

    /// The next command of an instance. If there is none, the mailbox is removed, and the next
    /// command creates a new one.
    pub(crate) fn next(&self, id: &InstanceId, mailbox: &mut Mailbox) -> Option<Box<Job>> {
        let mut mailboxes = self.lock();
        let job = mailbox.try_recv().ok();
        if job.is_none() {
            mailboxes.remove(id);
        }
        job
    }

    /// Removes the mailbox of an actor that has died.
    pub(crate) fn forget_closed(&self, id: &InstanceId) {
        let mut mailboxes = self.lock();
        if mailboxes.get(id).is_some_and(mpsc::Sender::is_closed) {
            mailboxes.remove(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<InstanceId, mpsc::Sender<Box<Job>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
