//! The lifecycle events of all instances, from the stream that keeps them: those that were missed,
//! then those that come.
//!
//! The events themselves are read from the stream, which has their numbers. A subscription only
//! tells when to read: an event reaches it before a server has stored it, or not at all.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Incoming, Stream, Subscription};
use futures::{FutureExt as _, StreamExt as _, stream};
use model::{Backoff, DefinitionId, InstanceId, Timestamp, limits};
use protocol::{LifecycleEvent, Message, decode_body, subject};
use serde_json::json;
use tokio::time::Instant;

use super::sse::{Event, Events};
use crate::{App, Problem};

/// Messages that one read takes.
const BATCH: usize = 64;
/// The pauses between reads of events that were announced and are not stored yet.
const LOOKS: Backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
/// After this number of reads without an event, an announced event counts as gone.
const LOOKS_MAX: u32 = 8;

/// The names of lifecycle events.
pub(crate) const KINDS: [&str; 5] = ["started", "suspended", "finished", "faulted", "cancelled"];

/// The events that a reader wants; an empty set is all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) definition_ids: BTreeSet<DefinitionId>,
    pub(crate) instance_ids: BTreeSet<InstanceId>,
    pub(crate) correlation_ids: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<String>,
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// With what comes next.
    Now,
    /// With the oldest that is kept.
    Start,
    /// After the event of this number.
    After(u64),
}

impl Filter {
    /// The subject of all events that fit, and of others if several of a kind are wanted.
    fn subject(&self) -> String {
        fn only<T: Ord>(all: &BTreeSet<T>) -> Option<&T> {
            all.first().filter(|_| all.len() == 1)
        }
        let kind = only(&self.kinds).map(String::as_str);
        subject::lifecycles(only(&self.definition_ids), only(&self.instance_ids), kind)
    }

    /// The event in a message, if it is wanted. A message that is no event is left out.
    fn read(&self, number: u64, message: &Message) -> Option<Event> {
        let kind = message.subject.rsplit_once('.').map(|(_, kind)| kind)?;
        if !KINDS.contains(&kind) || !self.kinds.is_empty() && !self.kinds.contains(kind) {
            return None;
        }
        let event: LifecycleEvent = decode_body(message.content_type(), &message.payload)
            .inspect_err(|error| tracing::debug!(%error, number, "an event cannot be read"))
            .ok()?;
        fn fits<T: Ord>(wanted: &BTreeSet<T>, found: &T) -> bool {
            wanted.is_empty() || wanted.contains(found)
        }
        let correlation_id = event.correlation_id.clone().unwrap_or_default();
        let is_wanted = fits(&self.definition_ids, &event.definition_id)
            && fits(&self.instance_ids, &event.workflow_instance_id)
            && fits(&self.correlation_ids, &correlation_id);
        if !is_wanted {
            return None;
        }
        let mut data = json!(event);
        if let Some(data) = data.as_object_mut() {
            data.insert("type".to_owned(), json!(kind));
        }
        Some(Event { id: Some(number), name: kind.to_owned(), data })
    }
}

/// A reader of the stream.
struct Reader {
    bus: Arc<dyn Bus>,
    filter: Filter,
    subject: String,
    live: Subscription,
    /// The number from which the stream is read next.
    next: u64,
    /// The last number that is read; none if the stream is followed.
    until: Option<u64>,
    found: VecDeque<Event>,
    /// Events that were announced and not found yet, as far as is known.
    owed: usize,
    /// Reads in a row that found nothing.
    looks: u32,
    look_at: Instant,
}

fn unavailable(error: bus::Error) -> Problem {
    tracing::warn!(%error, "the lifecycle events cannot be read");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}

/// Where the events begin that were stored at this time or later; found by bisection.
pub(crate) async fn since(app: &App, at: Timestamp) -> Result<Begin, Problem> {
    let bus = &app.cx.bus;
    let all = format!("{}.>", subject::EVENTS);
    let span = bus.span(Stream::Events).await.map_err(unavailable)?;
    let (mut low, mut high) = (span.first, span.last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = bus.select(Stream::Events, &all, middle, 1).await.map_err(unavailable)?;
        match found.first() {
            Some((number, stored_at, _)) if *stored_at < at => low = number + 1,
            _ => high = middle,
        }
    }
    Ok(Begin::After(low.saturating_sub(1)))
}

/// The events that fit, from `begin` on: those that come, too, or only those that are there now.
pub(crate) async fn follow(
    app: &App,
    filter: Filter,
    begin: Begin,
    only_past: bool,
) -> Result<Events, Problem> {
    let bus = Arc::clone(&app.cx.bus);
    let subject = filter.subject();
    // What is stored after the look is announced.
    let live = bus.subscribe(&subject).await.map_err(unavailable)?;
    let span = bus.span(Stream::Events).await.map_err(unavailable)?;
    let (next, gap) = match begin {
        Begin::Now => (span.last + 1, None),
        Begin::Start => (span.first, None),
        Begin::After(number) if number > span.last => {
            (span.first, Some(Event::beyond(number, span.last)))
        }
        Begin::After(number) if number + 1 < span.first => {
            let to = Some(span.first - 1);
            (span.first, Some(Event::gap("events this old are not kept", number + 1, to)))
        }
        Begin::After(number) => (number + 1, None),
    };
    let reader = Reader {
        until: only_past.then_some(span.last),
        bus,
        filter,
        subject,
        live,
        next,
        found: gap.into_iter().collect(),
        owed: 0,
        looks: 0,
        look_at: Instant::now(),
    };
    let events = stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        match reader.next().await {
            Ok(event) => Some((Ok(event), Some(reader))),
            Err(last) => Some((Err(last), None)),
        }
    });
    Ok(events.boxed())
}

impl Reader {
    async fn next(&mut self) -> Result<Event, Event> {
        loop {
            if let Some(event) = self.found.pop_front() {
                return Ok(event);
            }
            if Instant::now() >= self.look_at {
                self.look().await?;
                continue;
            }
            tokio::select! {
                biased;
                announced = self.live.next() => {
                    self.announced(announced)?;
                    self.look_at = Instant::now();
                }
                () = tokio::time::sleep_until(self.look_at) => {}
            }
        }
    }

    fn announced(&mut self, announced: Option<Incoming>) -> Result<(), Event> {
        if announced.is_none() {
            return Err(Event::end("this server is stopping"));
        }
        self.owed += 1;
        self.looks = 0;
        Ok(())
    }

    /// Reads the stream once, and sets the time of the next read.
    async fn look(&mut self) -> Result<(), Event> {
        while let Some(announced) = self.live.next().now_or_never() {
            self.announced(announced)?;
        }
        let is_over = |next: u64| self.until.is_some_and(|until| next > until);
        if is_over(self.next) {
            return Err(Event::complete());
        }
        let read = self.bus.select(Stream::Events, &self.subject, self.next, BATCH).await;
        let count = match read {
            Ok(read) if read.is_empty() && self.until.is_some() => return Err(Event::complete()),
            Ok(read) => {
                for (number, _, message) in read.iter().take_while(|(number, ..)| !is_over(*number))
                {
                    self.next = number + 1;
                    self.found.extend(self.filter.read(*number, message));
                }
                if read.last().is_some_and(|(number, ..)| is_over(*number)) {
                    self.next = self.until.map_or(self.next, |until| until + 1);
                }
                read.len()
            }
            Err(bus::Error::Closed) => return Err(Event::end("this server is stopping")),
            Err(error) => {
                tracing::debug!(%error, "the lifecycle events cannot be read, trying again");
                0
            }
        };
        self.owed = self.owed.saturating_sub(count);
        self.looks = if count == 0 { self.looks + 1 } else { 0 };
        if self.looks > LOOKS_MAX {
            self.owed = 0;
        }
        let pause = match (count, self.owed) {
            (0, 0) => limits::LIVE_HEARTBEAT,
            (0, _) => LOOKS.after(self.looks, 0),
            _ => Duration::ZERO,
        };
        self.look_at = Instant::now() + pause;
        Ok(())
    }
}
