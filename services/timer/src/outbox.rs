//! The outbox: messages that their node did not publish. Those for which the stream has no room stay,
//! and keep none of the others back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bus::Pools;
use chassis::Point;
use futures::StreamExt as _;
use model::Timestamp;
use protocol::{Message, header};
use store::{OutboxPlace, OutboxRow};
use tokio::time::Instant;

use crate::{Context, Error};

/// Messages published at the same time, and read at once: each may have half a megabyte.
const PUBLISHING_MAX: usize = 32;
/// How long one sweep publishes what is in the outbox: its other steps wait meanwhile.
const PUBLISHING_FOR: Duration = Duration::from_secs(10);
/// Rows that are remembered because there was no room for them. With more of them, all are read again.
const HELD_MAX: usize = 100_000;

/// What one replica knows of the outbox.
#[derive(Default)]
pub(crate) struct Outbox {
    /// The rows for which there was no room, by id: they are not read again before there may be.
    held: BTreeMap<String, Held>,
    /// Where the next sweep goes on, if the last one had no time for all rows.
    after: Option<OutboxPlace>,
}

/// A row for which there was no room.
struct Held {
    subject: String,
    /// The id of its task; empty where it is of none.
    task: String,
}

impl Held {
    fn of(message: &Message) -> Self {
        let task = message.header(header::TASK).unwrap_or_default().to_owned();
        Self { subject: message.subject.clone(), task }
    }
}

impl Outbox {
    /// Publishes the rows that were left behind, oldest first, for as long as there is room. Once a
    /// subject has none, its other rows are skipped in this sweep. Returns the number of those that were
    /// published.
    ///
    /// # Errors
    /// A failure that passes; the rows stay.
    pub(crate) async fn publish(
        &mut self,
        cx: &Context,
        pools: &Pools,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let (before, limit) = (now.before(cx.config.outbox_after), cx.config.sweep_rows);
        let give_up = Instant::now() + PUBLISHING_FOR;
        if self.held.len() > HELD_MAX {
            self.held.clear();
        }
        let (mut count, mut ending) = (0, Ok(()));
        let mut full = BTreeSet::new();
        loop {
            // After a failure the next sweep begins with the oldest row again.
            let after = self.after.take();
            let places = cx.store.unpublished_places(before, after.as_ref(), limit).await?;
            let (published, ended) = self.publish_part(cx, pools, &places, &mut full).await?;
            count += published;
            match ended {
                Err(Error::Bus(bus::Error::Full(_))) | Ok(()) => ending = ending.and(ended),
                Err(error) => return Err(error),
            }
            let is_last = u64::try_from(places.len()).is_ok_and(|read| read < limit);
            if is_last {
                break;
            }
            self.after = places.into_iter().next_back();
            if Instant::now() >= give_up {
                break;
            }
        }
        ending.map(|()| count)
    }

    /// Publishes rows; returns their number, and the failure that passes, if there was one. Adds the
    /// subjects without room to `full`.
    async fn publish_part(
        &mut self,
        cx: &Context,
        pools: &Pools,
        places: &[OutboxPlace],
        full: &mut BTreeSet<String>,
    ) -> Result<(u64, Result<(), Error>), Error> {
        let (mut count, mut ending) = (0, Ok(()));
        let mut places = places.iter().peekable();
        while places.peek().is_some() {
            let has_room = |place: &&OutboxPlace| {
                self.held.get(&place.id).is_none_or(|held| !full.contains(&held.subject))
            };
            let next = places.by_ref().filter(has_room).take(PUBLISHING_MAX);
            let ids: Vec<_> = next.map(|place| place.id.clone()).collect();
            if ids.is_empty() {
                break;
            }
            let mut passed = Vec::with_capacity(ids.len());
            let mut messages = Vec::with_capacity(ids.len());
            let mut on_the_way = BTreeMap::new();
            for OutboxRow { id, message, .. } in cx.store.outbox_rows(&ids).await? {
                let held = Held::of(&message);
                if !full.contains(&held.subject) {
                    match pools.admit(&message).await {
                        Ok(one) => passed.push(one),
                        Err(error) => {
                            tracing::debug!(%error, "tasks stay in the outbox");
                            full.insert(held.subject.clone());
                        }
                    }
                }
                if full.contains(&held.subject) {
                    self.held.insert(id, held);
                } else {
                    on_the_way.insert(id.clone(), held);
                    messages.push((id, message));
                }
            }
            let (ids, ended) = publish(cx, pools, messages).await;
            drop(passed);
            for id in &ids {
                on_the_way.remove(id);
                self.held.remove(id);
            }
            if matches!(ended, Err(Error::Bus(bus::Error::Full(_)))) {
                // The stream itself refuses them.
                full.extend(on_the_way.values().map(|held| held.subject.clone()));
                self.held.append(&mut on_the_way);
            }
            // Any other failure counts more: it is not about one subject.
            ending = match (ending, ended) {
                (Ok(()) | Err(Error::Bus(bus::Error::Full(_))), Err(error)) => Err(error),
                (ending, _) => ending,
            };
            count += u64::try_from(ids.len()).unwrap_or(u64::MAX);
            if !ids.is_empty() {
                cx.trail.at(Point::Resent).await;
                cx.store.published(ids).await?;
            }
        }
        Ok((count, ending))
    }

    /// The tasks that are held back, of rows from before this time; `None` where the outbox has rows
    /// that may be published at any moment.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub(crate) async fn held_before(
        &self,
        cx: &Context,
        before: Timestamp,
    ) -> Result<Option<BTreeSet<String>>, Error> {
        let limit = u64::try_from(HELD_MAX).unwrap_or(u64::MAX);
        let places = cx.store.unpublished_places(before, None, limit).await?;
        if places.len() >= HELD_MAX {
            return Ok(None);
        }
        let task = |place: &OutboxPlace| Some(self.held.get(&place.id)?.task.clone());
        Ok(places.iter().map(task).collect())
    }
}

/// Publishes messages; returns the keys of those that the stream has stored, and the temporary
/// failure, if there was one.
pub(crate) async fn publish<K: std::fmt::Display>(
    cx: &Context,
    pools: &Pools,
    messages: Vec<(K, Message)>,
) -> (Vec<K>, Result<(), Error>) {
    let mut publishing = futures::stream::iter(messages)
        .map(|(key, message)| async {
            let published = match pools.prepare(&message).await {
                Ok(()) => cx.bus.publish(message).await,
                Err(error) => Err(error),
            };
            (key, published)
        })
        .buffered(PUBLISHING_MAX);
    let mut published = Vec::new();
    let mut ending = Ok(());
    while let Some((key, receipt)) = publishing.next().await {
        match receipt {
            Ok(_) => published.push(key),
            Err(error) if error.is_passing() => ending = Err(Error::Bus(error)),
            Err(error) => {
                tracing::error!(%error, %key, "the stream refuses this message for ever")
            }
        }
    }
    (published, ending)
}
