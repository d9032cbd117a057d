//! The consumers of the twin: what is delivered, and not answered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use model::Timestamp;
use model::limits::PULL_BYTES_MAX;
use protocol::Message;
use tokio::time::Instant;

/// The number of deliveries that may be unanswered at the same time.
const ACK_PENDING_MAX: usize = 8_192;

/// The messages of a stream, by sequence, each with the time when it was stored.
pub(super) type Stored = BTreeMap<u64, (Timestamp, Message)>;

/// Acknowledgements that came late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateAcks {
    /// Those of messages that had been delivered again by then. They settle them all the same.
    pub again: u64,
    /// Those of messages of a stream that had been made anew by then. They settle nothing.
    pub of_earlier_stream: u64,
}

/// The one consumer of commands, or one of tasks. It is gone with its stream.
#[derive(Default)]
pub(super) struct Consumer {
    /// Tells it from those of its name on earlier streams.
    pub(super) number: u64,
    /// The last sequence that was delivered for the first time.
    pub(super) delivered: u64,
    /// A message that was delivered so often is delivered no more, and stays in the stream.
    pub(super) deliveries_max: Option<i64>,
    pub(super) pending: BTreeMap<u64, Pending>,
}

pub(super) struct Pending {
    pub(super) attempt: i64,
    again_at: Instant,
}

/// One delivery, as its answers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The number of the consumer.
    pub(super) consumer: u64,
    pub(super) sequence: u64,
    pub(super) attempt: i64,
}

/// One delivery.
pub(super) struct Pulled {
    pub(super) address: Address,
    pub(super) stored_at: Timestamp,
    pub(super) message: Message,
}

impl Consumer {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Takes what can be delivered now of the messages with this subject, and returns when the next
    /// one will be, if that is known.
    pub(super) fn pull(
        &mut self,
        stored: &Stored,
        subject: Option<&str>,
        ack_wait: Duration,
        max: usize,
        now: Instant,
    ) -> (Vec<Pulled>, Option<Instant>) {
        let mut pulled = Vec::new();
        if let Some(max) = self.deliveries_max {
            self.pending.retain(|_, pending| pending.again_at > now || pending.attempt < max);
        }
        let mut room = PULL_BYTES_MAX;
        let mut fits = |message: &Message| {
            room.checked_sub(message.payload.len()).inspect(|left| room = *left).is_some()
        };
        let due = self.pending.iter_mut().filter(|(_, pending)| pending.again_at <= now);
        for (sequence, pending) in due {
            if pulled.len() >= max {
                return (pulled, Some(now));
            }
            if let Some((stored_at, message)) = stored.get(sequence) {
                if !fits(message) {
                    return (pulled, Some(now));
                }
                pending.attempt += 1;
                pending.again_at = now + ack_wait;
                let (consumer, attempt) = (self.number, pending.attempt);
                pulled.push(Pulled {
                    address: Address { consumer, sequence: *sequence, attempt },
                    stored_at: *stored_at,
                    message: message.clone(),
                });
            }
        }
        let news = stored.range(self.delivered + 1..);
        let is_own = |message: &Message| subject.is_none_or(|subject| message.subject == subject);
        for (sequence, (stored_at, message)) in news.filter(|(_, (_, message))| is_own(message)) {
            let is_full = pulled.len() >= max || self.pending.len() >= ACK_PENDING_MAX;
            if is_full || !fits(message) {
                break;
            }
            self.delivered = *sequence;
            self.pending.insert(*sequence, Pending { attempt: 1, again_at: now + ack_wait });
            pulled.push(Pulled {
                address: Address { consumer: self.number, sequence: *sequence, attempt: 1 },
                stored_at: *stored_at,
                message: message.clone(),
            });
        }
        let next = self.pending.values().map(|pending| pending.again_at).min();
        (pulled, next)
    }

    pub(super) fn redeliver(&mut self, now: Instant) {
        for pending in self.pending.values_mut() {
            pending.again_at = now;
        }
    }

    pub(super) fn again_at(&mut self, sequence: u64, at: Instant) {
        if let Some(pending) = self.pending.get_mut(&sequence) {
            pending.again_at = at;
        }
    }
}

impl LateAcks {
    /// Whether an acknowledgement is of this consumer; counts it, if it is late.
    pub(super) fn is_of(&mut self, consumer: Option<&Consumer>, address: Address) -> bool {
        let Some(consumer) = consumer.filter(|it| it.number == address.consumer) else {
            self.of_earlier_stream += 1;
            return false;
        };
        let delivered = consumer.pending.get(&address.sequence);
        self.again += u64::from(delivered.is_some_and(|it| it.attempt > address.attempt));
        true
    }
}
