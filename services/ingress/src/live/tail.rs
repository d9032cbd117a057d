//! The journal of one instance as it grows: the lines that are there, then those of each burst.
//!
//! The lines are read from the database, which has their values. The messages that bursts send
//! anyway tell when to read; where one is lost, the next read finds its lines.

use std::sync::Arc;

use bus::Subscription;
use futures::{FutureExt as _, StreamExt as _, stream};
use model::{Entry, InstanceId, limits};
use protocol::subject;
use store::Page;
use tokio::time::Instant;

use super::cluster::Begin;
use super::sse::{Event, Events};
use crate::history::{Programs, Telling, event_name};
use crate::{App, Problem, record};

/// Lines that one read of the database takes.
const BATCH: u64 = 200;
/// The pause before another try to read the database.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

/// A reader of a journal.
pub(crate) struct Tail {
    app: Arc<App>,
    id: InstanceId,
    live: Subscription,
    /// The number of the next line.
    next: u64,
    /// The lines of the database before it. An instance that was imported without its journal begins
    /// with a later number than 1.
    before: u64,
    /// When the database is read next.
    look_at: Instant,
}

/// A reader that has just begun.
pub(crate) struct Opened {
    pub(crate) tail: Tail,
    /// The journal has no line where the reader wanted to begin, which this event says: the tail
    /// begins with the first.
    pub(crate) gap: Option<Event>,
}

/// Why there are no more lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The instance was deleted.
    Deleted,
    /// The bus is closed: this server stops.
    Stopping,
}

impl Over {
    fn reason(self) -> &'static str {
        match self {
            Self::Deleted => "the instance was deleted",
            Self::Stopping => "this server is stopping",
        }
    }
}

impl Tail {
    /// The journal of this instance, from `begin` on.
    pub(crate) async fn open(
        app: &Arc<App>,
        id: &InstanceId,
        begin: Begin,
    ) -> Result<Opened, Problem> {
        // What is committed after the look at the database is announced.
        let live = app.cx.bus.subscribe(&subject::journals(id)).await.map_err(|error| {
            tracing::warn!(%error, "the journal of an instance cannot be followed");
            Problem::unavailable("the message bus does not answer: try again in a moment")
        })?;
        let lines = app.cx.store.journal(id, Page::new(0, 1)).await?;
        let first = lines.items.first().map_or(1, |entry| entry.sequence);
        let end = first + lines.total;
        let (next, gap) = match begin {
            Begin::Start => (first, None),
            Begin::Now => (end, None),
            Begin::After(line) if line >= end => (first, Some(Event::no_line(line, end - 1))),
            Begin::After(line) => ((line + 1).max(first), None),
        };
        let (app, id, look_at) = (Arc::clone(app), id.clone(), Instant::now());
        let tail = Self { app, id, live, next, before: next - first, look_at };
        Ok(Opened { tail, gap })
    }

    /// The next lines, in order and without gaps. A call that is dropped loses none.
    pub(crate) async fn next(&mut self) -> Result<Vec<Entry>, Over> {
        loop {
            if Instant::now() >= self.look_at {
                if let Some(entries) = self.look().await? {
                    return Ok(entries);
                }
                continue;
            }
            tokio::select! {
                biased;
                burst = self.live.next() => {
                    burst.ok_or(Over::Stopping)?;
                    self.look_at = Instant::now();
                }
                () = tokio::time::sleep_until(self.look_at) => {}
            }
        }
    }

    /// Reads the database once, and sets the time of the next read.
    async fn look(&mut self) -> Result<Option<Vec<Entry>>, Over> {
        // One read finds the lines of all bursts that were announced.
        while let Some(burst) = self.live.next().now_or_never() {
            burst.ok_or(Over::Stopping)?;
        }
        let page = Page::new(self.before, BATCH);
        let mut found = match self.app.cx.store.journal(&self.id, page).await {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%error, instance = %self.id, "a journal cannot be read, trying again");
                self.look_at = Instant::now() + PAUSE;
                return Ok(None);
            }
        };
        // An instance whose journal has become shorter is another one of the same id.
        let is_shorter = found.total < self.before;
        if is_shorter || found.total == 0 && is_gone(&self.app, &self.id).await {
            return Err(Over::Deleted);
        }
        self.before += u64::try_from(found.items.len()).unwrap_or_default();
        if self.before >= found.total {
            self.look_at = Instant::now() + limits::LIVE_HEARTBEAT;
        }
        found.items.retain(|entry| entry.sequence >= self.next);
        let Some(last) = found.items.last() else { return Ok(None) };
        self.next = last.sequence + 1;
        Ok(Some(found.items))
    }

    /// The next lines as events.
    async fn events(&mut self) -> Result<Vec<Result<Event, Event>>, Over> {
        let entries = self.next().await?;
        let seen = loop {
            match record::find(&self.app, &self.id).await {
                Ok(Some(seen)) => break seen,
                Ok(None) => return Err(Over::Deleted),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        let programs = Programs::of(&self.app, &seen).await;
        let mut telling = Telling::new(&seen, &programs);
        let event = |entry: &Entry| Event {
            id: Some(entry.sequence),
            name: event_name(entry.what),
            data: telling.line(entry),
        };
        Ok(entries.iter().map(event).map(Ok).collect())
    }
}

/// The lines of the journal of this instance as events, from `begin` on.
pub(crate) async fn follow(
    app: &Arc<App>,
    id: &InstanceId,
    begin: Begin,
) -> Result<Events, Problem> {
    let Opened { tail, gap } = Tail::open(app, id, begin).await?;
    let events = stream::unfold(Some(tail), |tail| async {
        let mut tail = tail?;
        match tail.events().await {
            Ok(events) => Some((events, Some(tail))),
            Err(over) => Some((vec![Err(Event::end(over.reason()))], None)),
        }
    });
    Ok(stream::iter(gap.map(Ok)).chain(events.flat_map(stream::iter)).boxed())
}

async fn is_gone(app: &App, id: &InstanceId) -> bool {
    matches!(record::exists(app, id).await, Ok(false))
}
