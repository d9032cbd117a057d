//! The mailboxes of the instances that this process works on. An instance with a mailbox has an
//! actor, the only reader of the mailbox.
//!
//! A mailbox holds a few commands. Those that find it full are put aside in the database, so that
//! the commands of one busy instance do not take the place of all others in the stream's window.
//! The actor looks there before it ends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::InstanceId;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::job::Job;

/// The commands that wait for one instance.
pub(crate) type Mailbox = mpsc::Receiver<Box<Job>>;

/// The mailboxes, by instance.
#[derive(Default)]
pub(crate) struct Mailboxes(Mutex<BTreeMap<InstanceId, Entry>>);

struct Entry {
    sender: mpsc::Sender<Box<Job>>,
    /// Further commands are put aside in the database.
    has_more: bool,
}

/// What became of a command.
pub(crate) enum Posted {
    /// It is in the mailbox of its instance.
    Queued,
    /// It is in this new mailbox: the caller starts an actor that reads it.
    First(Mailbox),
    /// The mailbox is full.
    Full(Box<Job>),
}

/// What an actor does next.
pub(crate) enum Waiting {
    /// This command.
    Job(Box<Job>),
    /// Commands that are put aside in the database.
    Aside,
    /// Nothing. The mailbox is removed, and the next command creates a new one.
    Nothing,
}

impl Mailboxes {
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Puts a command into the mailbox of its instance.
    pub(crate) fn post(&self, id: &InstanceId, job: Box<Job>, capacity: usize) -> Posted {
        let mut mailboxes = self.lock();
        let job = match mailboxes.get(id) {
            Some(entry) => match entry.sender.try_send(job) {
                Ok(()) => return Posted::Queued,
                Err(TrySendError::Full(job)) => return Posted::Full(job),
                // The task of the actor has ended by a panic.
                Err(TrySendError::Closed(job)) => job,
            },
            None => job,
        };
        let (sender, mailbox) = mpsc::channel(capacity.max(1));
        // A new mailbox has room for one command.
        drop(sender.try_send(job));
        mailboxes.insert(id.clone(), Entry { sender, has_more: false });
        Posted::First(mailbox)
    }

    /// Notes that commands of an instance are put aside; false if it has no actor that would look.
    pub(crate) fn note_aside(&self, id: &InstanceId) -> bool {
        match self.lock().get_mut(id) {
            Some(entry) if !entry.sender.is_closed() => {
                entry.has_more = true;
                true
            }
            _ => false,
        }
    }

    /// Whether commands of an instance are put aside.
    pub(crate) fn has_aside(&self, id: &InstanceId) -> bool {
        self.lock().get(id).is_some_and(|entry| entry.has_more)
    }

    /// The same, and forgets it: the caller looks.
    pub(crate) fn take_aside(&self, id: &InstanceId) -> bool {
        self.lock().get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.has_more))
    }

    /// The next work of an instance between two tenures.
    pub(crate) fn next(&self, id: &InstanceId, mailbox: &mut Mailbox) -> Waiting {
        let mut mailboxes = self.lock();
        if let Ok(job) = mailbox.try_recv() {
            return Waiting::Job(job);
        }
        if mailboxes.get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.has_more)) {
            return Waiting::Aside;
        }
        mailboxes.remove(id);
        Waiting::Nothing
    }

    /// Removes the mailbox of an actor that has died.
    pub(crate) fn forget_closed(&self, id: &InstanceId) {
        let mut mailboxes = self.lock();
        if mailboxes.get(id).is_some_and(|entry| entry.sender.is_closed()) {
            mailboxes.remove(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<InstanceId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
