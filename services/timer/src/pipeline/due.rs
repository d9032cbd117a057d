//! The next timers and schedules of this node's shards, in memory. The database has all of them;
//! the next scan finds again those that are dropped here.

use std::collections::{BTreeMap, BTreeSet};

use model::{BookmarkId, Schedule, ScheduleId, Timestamp};
use store::DueTimer;

/// A timer or a schedule to fire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Due {
    /// A bookmark's timer.
    Timer(DueTimer),
    /// An occurrence of a schedule.
    Schedule(Schedule),
}

/// The identity of one firing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A bookmark and its due time.
    Timer(BookmarkId, Timestamp),
    /// A schedule and the counter of its occurrence.
    Schedule(ScheduleId, i64),
}

impl Due {
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Timer(timer) => Key::Timer(timer.bookmark_id.clone(), timer.due_at),
            Self::Schedule(schedule) => Key::Schedule(schedule.id.clone(), schedule.occurrence),
        }
    }

    pub(crate) fn shard(&self) -> i32 {
        match self {
            Self::Timer(timer) => timer.shard,
            Self::Schedule(schedule) => schedule.shard,
        }
    }
}

/// The timers and schedules of the near future: bounded, earliest first.
pub(crate) struct Window {
    timers: BTreeSet<DueTimer>,
    schedules: BTreeMap<(Timestamp, ScheduleId), Schedule>,
    max: usize,
}

impl Window {
    pub(crate) fn new(max: usize) -> Self {
        Self { timers: BTreeSet::new(), schedules: BTreeMap::new(), max }
    }

    /// Adds a timer or a schedule; true when it is new. A full window drops its latest timer.
    pub(crate) fn offer(&mut self, due: Due) -> bool {
        match due {
            Due::Timer(timer) => {
                let is_new = self.timers.insert(timer);
                if self.timers.len() > self.max {
                    self.timers.pop_last();
                }
                is_new
            }
            Due::Schedule(schedule) => {
                let Some(next_at) = schedule.next_at else { return false };
                if self.schedules.len() >= self.max {
                    return false;
                }
                self.schedules.insert((next_at, schedule.id.clone()), schedule).is_none()
            }
        }
    }

    /// The time when the first is due.
    pub(crate) fn first_at(&self) -> Option<Timestamp> {
        let timer = self.timers.first().map(|timer| timer.due_at);
        let schedule = self.schedules.first_key_value().map(|((at, _), _)| *at);
        match (timer, schedule) {
            (Some(timer), Some(schedule)) => Some(timer.min(schedule)),
            (timer, schedule) => timer.or(schedule),
        }
    }

    /// Removes and returns the first one that is due at `now`.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<Due> {
        if self.schedules.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            return self.schedules.pop_first().map(|(_, schedule)| Due::Schedule(schedule));
        }
        if self.timers.first().is_some_and(|timer| timer.due_at <= now) {
            return self.timers.pop_first().map(Due::Timer);
        }
        None
    }

    /// Drops the timers and schedules of other shards than these.
    pub(crate) fn keep(&mut self, shards: &[i32]) {
        self.timers.retain(|timer| shards.contains(&timer.shard));
        self.schedules.retain(|_, schedule| shards.contains(&schedule.shard));
    }

    pub(crate) fn timers(&self) -> usize {
        self.timers.len()
    }
}
