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
    created: u64,
}

struct One {
    subject: String,
    /// Tells this stream from an earlier one of its name.
    created: String,
    last: u64,
    stored: BTreeMap<u64, (Timestamp, Message)>,
    ids: BTreeSet<String>,
    places: BTreeMap<String, Kept>,
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
    pub(super) created: String,
}

impl Streams {
    /// Makes a stream of the messages that fit this pattern, in the place of one of its name.
    pub(super) fn make(&mut self, name: &str, subject: &str) {
        self.created += 1;
        let one = One {
            subject: subject.to_owned(),
            created: self.created.to_string(),
            last: 0,
            stored: BTreeMap::new(),
            ids: BTreeSet::new(),
            places: BTreeMap::new(),
        };
        self.streams.insert(name.to_owned(), one);
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
            one.stored.insert(one.last, (at, message.clone()));
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
                let first = stored.iter().find(|(_, (at, _))| *at >= time);
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
                rest.filter(|(_, (_, message))| matches(&kept.subject, &message.subject)).count();
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
        let One { created, stored, places, .. } = self.streams.get_mut(&place.stream)?;
        let kept = places.get_mut(&place.name)?;
        let give = |sequence: u64, message: &Message| {
            Some(Ok(Given { message: message.clone(), sequence, created: created.clone() }))
        };
        let late = kept.unsettled.iter_mut().find(|(_, again_at)| **again_at <= now);
        if let Some((sequence, again_at)) = late
            && let Some((_, message)) = stored.get(sequence)
        {
            *again_at = now + SETTLE_MAX;
            kept.again.insert(*sequence);
            kept.delivered_at = Some(at);
            return give(*sequence, message);
        }
        let max = if place.one_by_one { 1 } else { UNSETTLED_MAX };
        if kept.unsettled.len() < max {
            let mut rest = stored.range(kept.delivered + 1..);
            if let Some((sequence, (_, message))) =
                rest.find(|(_, (_, message))| matches(&place.subject, &message.subject))
            {
                kept.delivered = *sequence;
                kept.delivered_at = Some(at);
                kept.unsettled.insert(*sequence, now + SETTLE_MAX);
                return give(*sequence, message);
            }
        }
        Some(Err(kept.unsettled.values().min().copied()))
    }

    /// A message is done.
    pub(super) fn settle(&mut self, place: &Place, sequence: u64) {
        if let Some(one) = self.streams.get_mut(&place.stream)
            && let Some(kept) = one.places.get_mut(&place.name)
        {
            kept.unsettled.remove(&sequence);
            kept.again.remove(&sequence);
        }
    }
}
