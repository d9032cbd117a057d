//! The streams of others in the twin: messages that stay, and durable places in them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::Timestamp;
use protocol::Message;
use tokio::time::Instant;

use super::wire::matches;
use crate::{From, Place, PlaceFigures};

/// How long a message may stay unsettled; as the adapter says to the server.
const SETTLE_MAX: Duration = Duration::from_secs(30);
/// Messages of one place that may be unsettled at the same time.
const UNSETTLED_MAX: usize = 1_000;
/// Messages of one stream: a full one drops the oldest.
const MESSAGES_MAX: usize = 100_000;

/// Streams by name.
#[derive(Default)]
pub(super) struct Streams {
    streams: BTreeMap<String, One>,
    /// When the newest message was stored, in nanoseconds: no two messages have the same.
    nanos: i128,
    /// Messages that were settled after their stream had another of their number.
    late_settled: u64,
}

struct One {
    subject: String,
    last: u64,
    stored: BTreeMap<u64, Item>,
    ids: BTreeSet<String>,
    places: BTreeMap<String, Kept>,
}

/// A message that is stored.
struct Item {
    at: Timestamp,
    nanos: i128,
    message: Message,
}

/// A durable place.
struct Kept {
    subject: String,
    created_at: Timestamp,
    delivered: u64,
    delivered_at: Option<Timestamp>,
    unsettled: BTreeMap<u64, Instant>,
    /// Those of the unsettled ones that were given out again.
    again: BTreeSet<u64>,
}

/// A message that is given out.
pub(super) struct Given {
    pub(super) message: Message,
    pub(super) sequence: u64,
    pub(super) stored_nanos: i128,
}

impl Streams {
    /// Makes a stream of the messages that fit this pattern, in the place of one of its name.
    pub(super) fn make(&mut self, name: &str, subject: &str) {
        let one = One {
            subject: subject.to_owned(),
            last: 0,
            stored: BTreeMap::new(),
            ids: BTreeSet::new(),
            places: BTreeMap::new(),
        };
        self.streams.insert(name.to_owned(), one);
    }

    /// Removes a stream with its places. Returns when those messages were stored that a place has not
    /// settled, or that nobody has read.
    pub(super) fn remove(&mut self, name: &str) -> Vec<i128> {
        let Some(One { stored, places, .. }) = self.streams.remove(name) else { return Vec::new() };
        let is_open = |sequence: u64| {
            let is_of =
                |kept: &Kept| sequence > kept.delivered || kept.unsettled.contains_key(&sequence);
            places.is_empty() || places.values().any(is_of)
        };
        let lost = stored.iter().filter(|(sequence, _)| is_open(**sequence));
        lost.map(|(_, item)| item.nanos).collect()
    }

    pub(super) fn late_settled(&self) -> u64 {
        self.late_settled
    }

    /// Gives a stream back from a backup without its places.
    pub(super) fn restore(&mut self, name: &str) {
        if let Some(one) = self.streams.get_mut(name) {
            one.places.clear();
        }
    }

    /// When a message was stored, in nanoseconds, if it is there.
    pub(super) fn stored_nanos(&self, name: &str, sequence: u64) -> Option<i128> {
        Some(self.streams.get(name)?.stored.get(&sequence)?.nanos)
    }

    /// Stores a message; returns the stream and its number, none if no stream takes it. One whose id the
    /// stream had is not stored again.
    pub(super) fn store(&mut self, message: &Message, at: Timestamp) -> Option<(String, u64)> {
        let found =
            self.streams.iter_mut().find(|(_, one)| matches(&one.subject, &message.subject));
        let (name, one) = found?;
        let is_new = message.id().is_none_or(|id| one.ids.insert(id.to_owned()));
        if is_new {
            one.last += 1;
            self.nanos = (self.nanos + 1).max(i128::from(at.as_millis()) * 1_000_000);
            let item = Item { at, nanos: self.nanos, message: message.clone() };
            one.stored.insert(one.last, item);
            if one.stored.len() > MESSAGES_MAX {
                one.stored.pop_first();
            }
        }
        Some((name.clone(), one.last))
    }

    /// Makes a place, if it is not there and says where it begins. Returns whether it is there; none if
    /// there is no such stream.
    pub(super) fn touch(&mut self, place: &Place, at: Timestamp) -> Option<bool> {
        let One { last, places, stored, .. } = self.streams.get_mut(&place.stream)?;
        if places.contains_key(&place.name) {
            return Some(true);
        }
        let delivered = match place.from {
            None => return Some(false),
            Some(From::New) => *last,
            Some(From::All) => 0,
            Some(From::Time(time)) => {
                let first = stored.iter().find(|(_, item)| item.at >= time);
                first.map_or(*last, |(sequence, _)| sequence - 1)
            }
        };
        let kept = Kept {
            subject: place.subject.clone(),
            created_at: at,
            delivered,
            delivered_at: None,
            unsettled: BTreeMap::new(),
            again: BTreeSet::new(),
        };
        places.insert(place.name.clone(), kept);
        Some(true)
    }

    /// A place as it is now, if it is there; none if there is no such stream.
    pub(super) fn figures(&self, stream: &str, name: &str) -> Option<Option<PlaceFigures>> {
        let One { stored, places, .. } = self.streams.get(stream)?;
        Some(places.get(name).map(|kept| {
            let rest = stored.range(kept.delivered + 1..);
            let pending =
                rest.filter(|(_, item)| matches(&kept.subject, &item.message.subject)).count();
            PlaceFigures {
                subject: kept.subject.clone(),
                pending: pending as u64,
                in_hand: kept.unsettled.len() as u64,
                redelivered: kept.again.len() as u64,
                delivered: kept.delivered,
                delivered_at: kept.delivered_at,
                created_at: Some(kept.created_at),
            }
        }))
    }

    /// The next message of a place; if there is none now, the time when one may come again. None if the
    /// stream or the place is gone.
    pub(super) fn next(
        &mut self,
        place: &Place,
        now: Instant,
        at: Timestamp,
    ) -> Option<Result<Given, Option<Instant>>> {
        let One { stored, places, .. } = self.streams.get_mut(&place.stream)?;
        let kept = places.get_mut(&place.name)?;
        let give = |sequence: u64, Item { nanos, message, .. }: &Item| {
            Some(Ok(Given { message: message.clone(), sequence, stored_nanos: *nanos }))
        };
        let late = kept.unsettled.iter_mut().find(|(_, again_at)| **again_at <= now);
        if let Some((sequence, again_at)) = late
            && let Some(item) = stored.get(sequence)
        {
            *again_at = now + SETTLE_MAX;
            kept.again.insert(*sequence);
            kept.delivered_at = Some(at);
            return give(*sequence, item);
        }
        let max = if place.one_by_one { 1 } else { UNSETTLED_MAX };
        if kept.unsettled.len() < max {
            let mut rest = stored.range(kept.delivered + 1..);
            if let Some((sequence, item)) =
                rest.find(|(_, item)| matches(&place.subject, &item.message.subject))
            {
                kept.delivered = *sequence;
                kept.delivered_at = Some(at);
                kept.unsettled.insert(*sequence, now + SETTLE_MAX);
                return give(*sequence, item);
            }
        }
        Some(Err(kept.unsettled.values().min().copied()))
    }

    /// A message is done. The one of this number in a stream that was made anew is another.
    pub(super) fn settle(&mut self, place: &Place, sequence: u64, stored_nanos: i128) {
        let Some(one) = self.streams.get_mut(&place.stream) else { return };
        if one.stored.get(&sequence).is_some_and(|item| item.nanos != stored_nanos) {
            self.late_settled += 1;
        } else if let Some(kept) = one.places.get_mut(&place.name) {
            kept.unsettled.remove(&sequence);
            kept.again.remove(&sequence);
        }
    }
}
