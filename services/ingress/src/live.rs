//! Live updates: server-sent events and a hub, from what the bus and the journal have anyway.
//!
//! Nothing of a stream is kept between two connections: [`cluster`] goes on from a sequence of the
//! stream of lifecycle events, [`tail`] from a line of the journal, at any node. Everything is
//! bounded: the number of streams, of the node and of one caller; what waits for a slow reader.

pub(crate) mod cluster;
pub(crate) mod frame;
pub(crate) mod hub;
pub(crate) mod sse;
pub(crate) mod tail;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;

use crate::Problem;
use crate::auth::caller::Caller;

/// The open streams of this node.
#[derive(Clone, Debug)]
pub(crate) struct Streams(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    per_caller_max: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    by_caller: BTreeMap<String, usize>,
}

/// The place of one open stream; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    streams: Streams,
    who: String,
}

impl Streams {
    /// At most `max` streams, and `per_caller_max` of one caller.
    pub(crate) fn new(max: usize, per_caller_max: usize) -> Self {
        Self(Arc::new(Inner { max, per_caller_max, open: Mutex::default() }))
    }

    /// A place for one more stream of this caller.
    pub(crate) fn place(&self, caller: &Caller) -> Result<Place, Problem> {
        let Inner { max, per_caller_max, .. } = *self.0;
        let mut open = self.open();
        if open.count >= max {
            return Err(Problem::overloaded(format!(
                "{max} live streams are open at this server, which is the most: try again in a \
                 moment, or at another"
            )));
        }
        let of_caller = open.by_caller.entry(caller.who.clone()).or_default();
        if *of_caller >= per_caller_max {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-streams",
                format!(
                    "{} has {per_caller_max} live streams open here, which is the most of one \
                     caller: close some, or follow several definitions with one",
                    caller.who
                ),
            ));
        }
        *of_caller += 1;
        open.count += 1;
        Ok(Place { streams: self.clone(), who: caller.who.clone() })
    }

    /// The number of open streams.
    pub(crate) fn count(&self) -> usize {
        self.open().count
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.count = open.count.saturating_sub(1);
        if let Some(of_caller) = open.by_caller.get_mut(&self.who) {
            *of_caller = of_caller.saturating_sub(1);
            if *of_caller == 0 {
                open.by_caller.remove(&self.who);
            }
        }
    }
}
