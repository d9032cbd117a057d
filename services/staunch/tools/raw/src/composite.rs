//! The composite: pull, lock, commit, unlock, publish the next, ack. These are an executor's steps
//! around a burst, without an engine or a program, and only with the rows that a bare burst needs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures::StreamExt as _;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::database::{Burst, Database};
use crate::group::Group;
use crate::nats::{Broker, number};
use crate::pace::{Bound, Stopwatch};

/// The variants of the composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// With the lock and group commit.
    Grouped,
    /// With the lock, and one transaction for each burst.
    Single,
    /// With group commit and no lock.
    Unlocked,
    /// Messages alone: what a worker does with a task.
    Messages,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Grouped, Self::Single, Self::Unlocked, Self::Messages];

    fn name(self) -> &'static str {
        match self {
            Self::Grouped => "composite",
            Self::Single => "composite-single",
            Self::Unlocked => "composite-unlocked",
            Self::Messages => "pull-publish-ack",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Grouped => "pull, lock, commit in groups, unlock, publish, ack",
            Self::Single => "pull, lock, commit alone, unlock, publish, ack",
            Self::Unlocked => "pull, commit in groups, publish, ack; no lock",
            Self::Messages => "pull, publish, ack; without the database",
        }
    }
}

#[derive(Clone)]
struct Hand {
    kind: Kind,
    broker: Broker,
    /// None where messages alone are measured.
    rows: Option<(Database, Group)>,
}

impl Hand {
    async fn take(&self, message: async_nats::jetstream::Message) -> anyhow::Result<()> {
        let key = number();
        let lock = match self.kind {
            Kind::Unlocked | Kind::Messages => None,
            Kind::Grouped | Kind::Single => Some(self.broker.create(key).await?),
        };
        match (self.kind, &self.rows) {
            (Kind::Messages, _) | (_, None) => {}
            (Kind::Single, Some((database, _))) => database.commit(&[Burst::new()]).await?,
            (Kind::Grouped | Kind::Unlocked, Some((_, group))) => {
                group.commit(Burst::new()).await?;
            }
        }
        if let Some(revision) = lock {
            self.broker.remove(key, revision).await?;
        }
        self.broker.send().await?;
        message.ack().await.map_err(anyhow::Error::from_boxed)
    }
}

/// Keeps this number of messages in flight, from the pull to the ack. Without a database it is those of
/// messages alone.
pub(crate) async fn measure(
    broker: &Broker,
    database: Option<&Database>,
    kind: Kind,
    in_flight: usize,
    length: Duration,
) -> anyhow::Result<Bound> {
    let queue = broker.queue().await?;
    broker.bucket().await?;
    // Each message publishes the next, so the number of messages in flight stays the same.
    for _ in 0..in_flight {
        broker.send().await?;
    }
    let mut messages = broker.consumer(&queue).await?;
    let rows = database.map(|database| (database.clone(), Group::start(database)));
    let hand = Hand { kind, broker: broker.clone(), rows };
    let places = Arc::new(Semaphore::new(in_flight));
    let clock = Stopwatch::start(length)?;
    let mut hands: JoinSet<anyhow::Result<()>> = JoinSet::new();
    while !clock.is_over() {
        let place = Arc::clone(&places).acquire_owned().await?;
        let message = messages.next().await.context("the queue has ended")??;
        let (hand, clock, began) = (hand.clone(), clock.clone(), Instant::now());
        hands.spawn(async move {
            hand.take(message).await?;
            clock.note(began);
            drop(place);
            Ok(())
        });
        while let Some(ended) = hands.try_join_next() {
            ended??;
        }
    }
    let what = match database {
        Some(database) => format!("{}: {}", database.name(), kind.what()),
        None => kind.what().to_owned(),
    };
    let bound = clock.bound(kind.name(), &what, in_flight);
    while let Some(ended) = hands.join_next().await {
        ended??;
    }
    broker.clean().await;
    Ok(bound)
}
