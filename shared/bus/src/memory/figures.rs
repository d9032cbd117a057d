//! What the twin holds.

use protocol::subject;

use super::State;
use crate::{Bucket, ConsumerFigures, Figures, Stream, StreamFigures};

const STREAMS: [(Stream, &str); 4] = [
    (Stream::Commands, subject::COMMANDS_STREAM),
    (Stream::Events, subject::EVENTS_STREAM),
    (Stream::Tasks, subject::TASKS_STREAM),
    (Stream::Dead, subject::DEAD_STREAM),
];

impl State {
    pub(super) fn figures(&mut self) -> Figures {
        let one = |name: String, messages, bytes| StreamFigures {
            name,
            messages,
            bytes,
            replicas: 1,
            ..StreamFigures::default()
        };
        let streams = STREAMS.map(|(stream, name)| {
            one(name.to_owned(), self.log.span(stream).messages, self.log.bytes(stream))
        });
        let buckets = Bucket::ALL.map(|bucket| {
            let (keys, bytes) = self.buckets.entry(bucket).or_default().held();
            one(format!("KV_{}", bucket.name()), keys, bytes)
        });
        let (in_hand, redelivered) = self.log.in_hand();
        let consumer = ConsumerFigures {
            name: subject::EXECUTOR_CONSUMER.to_owned(),
            stream: subject::COMMANDS_STREAM.to_owned(),
            pending: self.log.backlog().saturating_sub(in_hand),
            in_hand,
            redelivered,
            ..ConsumerFigures::default()
        };
        Figures {
            server: "memory".to_owned(),
            streams: streams.into_iter().chain(buckets).collect(),
            consumers: vec![consumer],
            ..Figures::default()
        }
    }
}
