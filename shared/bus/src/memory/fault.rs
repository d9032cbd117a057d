//! Injected faults: what a simulation can do to each operation of the twin.

use std::time::Duration;

use crate::{Bucket, Error, Stream};

/// An operation that a node is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the arguments of the operation")]
pub enum Operation<'a> {
    /// [`crate::Queue::publish`].
    Publish { subject: &'a str, id: Option<&'a str> },
    /// [`crate::Queue::pull`].
    Pull,
    /// [`crate::Queue::read`], [`crate::Queue::fill`], [`crate::Queue::remove`] and
    /// [`crate::Queue::backlog`].
    Read { stream: Stream },
    /// [`crate::Settle::ack`], the end of a task, and what settles a [`crate::Taken`].
    Ack { sequence: u64 },
    /// [`crate::Settle::retry`].
    Retry { sequence: u64 },
    /// [`crate::Settle::progress`].
    Progress { sequence: u64 },
    /// [`crate::Kv::put_if`].
    PutIf { bucket: Bucket, key: &'a str },
    /// [`crate::Kv::purge_if`].
    PurgeIf { bucket: Bucket, key: &'a str },
    /// [`crate::Kv::get`] and [`crate::Kv::removed_at`].
    Get { bucket: Bucket, key: &'a str },
    /// [`crate::Kv::entries`] and [`crate::Kv::revision`].
    Entries { bucket: Bucket },
    /// [`crate::Kv::watch`].
    Watch { bucket: Bucket },
    /// [`crate::Wire::send`].
    Send { subject: &'a str },
    /// [`crate::Wire::request`].
    Request { subject: &'a str },
    /// [`crate::Wire::subscribe`] and [`crate::Wire::subscribe_if_allowed`].
    Subscribe { subject: &'a str },
}

/// The fault of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// The operation works.
    #[default]
    None,
    /// The operation is not done, and the caller gets [`Error::Unavailable`].
    Unavailable,
    /// The operation is not done, and the caller gets [`Error::Unknown`]. A plain message or an
    /// answer to a delivery is lost without an error; pulled commands reach no caller.
    Lost,
    /// The operation is done, but the caller gets [`Error::Unknown`].
    AnswerLost,
    /// A message is sent twice; any other operation works.
    Twice,
    /// The operation is done after this time, and the caller gets [`Error::Unknown`] at once.
    /// Pulled commands are handed out, and an answer to a delivery arrives, after this time.
    Late(Duration),
    /// Pulled commands come in another order; any other operation works.
    Reordered,
    /// A key is read with its value before the last change; any other operation works.
    Stale,
    /// A compare-and-swap is refused without a revision, as when another write is in progress.
    Refused,
    /// The operation is not done, and the caller gets [`Error::Denied`].
    Denied,
}

/// Decides which operations fail.
pub trait Faults: Send + Sync {
    /// The fault of this operation of this node.
    fn on(&self, node: &str, operation: &Operation<'_>) -> Fault;

    /// The delay before the operation reaches the server; asked before [`Faults::on`].
    fn delay(&self, node: &str, operation: &Operation<'_>) -> Duration {
        let _unused = (node, operation);
        Duration::ZERO
    }

    /// The delay between a change and the moment when this node's watch shows it, after the change
    /// before it.
    fn lag(&self, node: &str, bucket: Bucket) -> Duration {
        let _unused = (node, bucket);
        Duration::ZERO
    }
}

/// No faults.
pub(super) struct NoFaults;

impl Faults for NoFaults {
    fn on(&self, _node: &str, _operation: &Operation<'_>) -> Fault {
        Fault::None
    }
}

/// The rest of a fault, for an operation that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interference {
    pub(super) twice: bool,
    pub(super) lost: bool,
    pub(super) refused: bool,
    pub(super) reordered: bool,
    pub(super) stale: bool,
    pub(super) late: Option<Duration>,
    answer_lost: bool,
}

impl Interference {
    /// The answer, unless the fault loses it.
    pub(super) fn answer<T>(self, answer: T) -> Result<T, Error> {
        if self.answer_lost {
            return Err(Error::Unknown("injected fault: the answer was lost".to_owned()));
        }
        Ok(answer)
    }
}

impl dyn Faults {
    pub(super) async fn judge(
        &self,
        node: &str,
        operation: &Operation<'_>,
    ) -> Result<Interference, Error> {
        let delay = self.delay(node, operation);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let verdict = Interference::default();
        match self.on(node, operation) {
            Fault::None => Ok(verdict),
            Fault::Twice => Ok(Interference { twice: true, ..verdict }),
            Fault::Refused => Ok(Interference { refused: true, ..verdict }),
            Fault::Reordered => Ok(Interference { reordered: true, ..verdict }),
            Fault::Stale => Ok(Interference { stale: true, ..verdict }),
            Fault::Late(late) if can_be_late(operation) => {
                Ok(Interference { late: Some(late), ..verdict })
            }
            Fault::Late(_) => Ok(verdict),
            Fault::AnswerLost => Ok(Interference { answer_lost: true, ..verdict }),
            Fault::Lost if is_one_way(operation) => Ok(Interference { lost: true, ..verdict }),
            Fault::Lost => Err(Error::Unknown("injected fault: the call was lost".to_owned())),
            Fault::Unavailable => Err(Error::Unavailable("injected fault".to_owned())),
            Fault::Denied => Err(Error::Denied("injected fault".to_owned())),
        }
    }
}

/// Operations whose sender gets no answer.
fn is_one_way(operation: &Operation<'_>) -> bool {
    matches!(
        operation,
        Operation::Send { .. }
            | Operation::Request { .. }
            | Operation::Pull
            | Operation::Ack { .. }
            | Operation::Retry { .. }
            | Operation::Progress { .. }
    )
}

/// Operations that can be done after their caller has stopped waiting.
fn can_be_late(operation: &Operation<'_>) -> bool {
    matches!(
        operation,
        Operation::Publish { .. }
            | Operation::PutIf { .. }
            | Operation::PurgeIf { .. }
            | Operation::Pull
            | Operation::Ack { .. }
            | Operation::Retry { .. }
            | Operation::Progress { .. }
    )
}
