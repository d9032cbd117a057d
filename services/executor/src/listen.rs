//! Listens to the messages that workflows wait for or start with, and makes an event of each.
//!
//! Every executor listens to every source of which a published definition or an open bookmark is there.
//! Of messages as they come, one executor of the group gets each, at most once. From a stream all
//! executors read one durable place. The id of the command derives from the source, the stream, and the
//! number of the message with the time when it was stored; the message is settled once the command is
//! stored. So a message that comes again, after a crash, to another executor or from a backup, is the same
//! command.

mod in_order;
mod take;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use bus::{From, OutsideError, Place};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use model::{Backoff, CommandId, DefinitionId, MessageSource, Stimulus, Timestamp, VersionId};
use protocol::subject;
use store::Awaited;
use tasks::Trouble;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use crate::cx::Cx;
use crate::executor::Executor;

/// The name of the task.
const TASK: &str = "executor: listen";
/// The name of the group of all executors.
const GROUP: &str = "staunch-executor";
/// How often it looks which sources there are. It looks at once when this node has committed a wait for
/// messages, or a definition was published: the others take part a little later.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The pause between two looks.
const LOOK_GAP: Duration = Duration::from_millis(500);
/// What one query lists of that for which bookmarks wait.
const PART: u64 = 1_000;
/// Sources that are followed; the rest is left out, and said.
const SOURCES_MAX: usize = 10_000;
/// Messages of one source that are made commands of at the same time.
const AT_ONCE: usize = 64;
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const PAUSE_LONGEST: Duration = Duration::from_secs(10);
/// The clocks of a node and of NATS may differ by so much. A message that is stored so shortly before a
/// publication or a wait counts as stored after it: none is lost.
const CLOCKS_APART: Duration = Duration::from_millis(500);

/// Listens until `stop`. After a panic it listens again.
pub(crate) async fn listen(executor: &Executor, stop: CancellationToken) {
    let cx = executor.cx();
    tasks::supervised(TASK, stop.clone(), || run(cx, &stop)).await;
}

async fn run(cx: &Cx, stop: &CancellationToken) {
    let mut listeners: BTreeMap<String, CancellationToken> = BTreeMap::new();
    let mut following = FuturesUnordered::new();
    let mut refused = BTreeSet::new();
    let mut published = cx.catalog.pointers().changed();
    while !stop.is_cancelled() {
        let wanted = beside(&mut following, sources(cx, &mut refused)).await;
        let is_read = wanted.is_ok();
        match wanted {
            Ok(wanted) => {
                listeners.retain(|hash, listening| {
                    let is_wanted = wanted.contains_key(hash);
                    if !is_wanted {
                        listening.cancel();
                    }
                    is_wanted
                });
                for (hash, wanted) in wanted {
                    if !listeners.contains_key(&hash) {
                        let listening = stop.child_token();
                        listeners.insert(hash.clone(), listening.clone());
                        following.push(follow(cx, hash, wanted, listening));
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "sources of messages cannot be read now"),
        }
        let pause = async {
            tokio::time::sleep(LOOK_GAP).await;
            if is_read {
                news(cx, &mut published).await;
            }
        };
        let pause = stop.run_until_cancelled(pause);
        beside(&mut following, pause).await;
    }
    // The listeners end with `stop`, once they have settled what they have taken.
    while following.next().await.is_some() {}
}

/// Waits until there may be another source.
async fn news(cx: &Cx, published: &mut Receiver<(DefinitionId, bus::Pointer)>) {
    let changed = async {
        if let Err(RecvError::Closed) = published.recv().await {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = tokio::time::sleep(LOOK_EVERY) => {}
        () = cx.waits_for_messages.notified() => {}
        () = changed => {}
    }
    // One look is enough for all that was published until now.
    while !matches!(published.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
}

/// Waits for this while the listeners go on.
async fn beside<T>(
    following: &mut FuturesUnordered<impl Future<Output = ()>>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(()) = following.next() => {}
        }
    }
}

/// A source, and who listens to it.
struct Wanted {
    source: MessageSource,
    /// The published versions that start with its messages.
    versions: Vec<VersionId>,
    /// When the oldest of the bookmarks was made that wait for its messages.
    awaited_since: Option<Timestamp>,
}

impl Wanted {
    /// Where it begins, when nobody has listened before: what comes while executors make the place, or
    /// while none is there, is not lost.
    async fn from(&self, cx: &Cx) -> Result<From, store::Error> {
        match self.source.from.as_deref() {
            None | Some("new") => {}
            Some("all") => return Ok(From::All),
            Some(time) => return Ok(Timestamp::parse(time).map_or(From::New, From::Time)),
        }
        let mut since = self.awaited_since;
        for version in &self.versions {
            let published = cx.store.version(version).await?.and_then(|it| it.published_at);
            since = since.into_iter().chain(published).min();
        }
        Ok(since.map_or(From::New, |since| From::Time(since.before(CLOCKS_APART))))
    }
}

/// The sources that definitions and bookmarks name, by their hash. Those that the configuration does not
/// allow are left out, and said once.
async fn sources(
    cx: &Cx,
    refused: &mut BTreeSet<(DefinitionId, String)>,
) -> Result<BTreeMap<String, Wanted>, store::Error> {
    let triggers = cx.store.triggers_named(Stimulus::MESSAGE).await?;
    let mut awaited: Vec<Awaited> = Vec::new();
    while awaited.len() < SOURCES_MAX {
        let part = cx.store.awaited(Stimulus::MESSAGE, awaited.last(), PART).await?;
        if part.is_empty() {
            break;
        }
        awaited.extend(part);
    }
    let triggers = triggers
        .into_iter()
        .map(|it| (it.definition_id, it.hash, it.payload, Some(it.version_id), None));
    let awaited =
        awaited.into_iter().map(|it| (it.definition_id, it.hash, it.payload, None, Some(it.since)));
    let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
    for (definition, hash, payload, version, since) in triggers.chain(awaited) {
        let Some(source) = MessageSource::of(&payload) else { continue };
        if let Err(reason) = cx.config.connectors.nats.allow_source(&definition, &source) {
            if refused.insert((definition.clone(), source.subject)) {
                tracing::warn!(%definition, reason, "messages are not listened to");
            }
            continue;
        }
        if wanted.len() >= SOURCES_MAX && !wanted.contains_key(&hash) {
            if refused.insert((definition, source.subject)) {
                tracing::error!("workflows name more than {SOURCES_MAX} sources of messages");
            }
            continue;
        }
        let new = || Wanted { source, versions: Vec::new(), awaited_since: None };
        let listened = wanted.entry(hash).or_insert_with(new);
        listened.versions.extend(version);
        listened.awaited_since = listened.awaited_since.into_iter().chain(since).min();
    }
    Ok(wanted)
}

/// Follows one source until `stop`; begins again after errors.
async fn follow(cx: &Cx, hash: String, wanted: Wanted, stop: CancellationToken) {
    let source = &wanted.source;
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
    let mut trouble = Trouble::default();
    tracing::info!(subject = source.subject, stream = source.stream, "workflows listen");
    while !stop.is_cancelled() {
        let begun = || {
            if trouble.ends() {
                let (subject, stream) = (&source.subject, &source.stream);
                tracing::info!(subject, stream, "messages are listened to again");
            }
        };
        let followed = match &source.stream {
            Some(stream) => read(cx, &hash, &wanted, stream, begun, &stop).await,
            None => hear(cx, &hash, source, begun, &stop).await,
        };
        match followed {
            Ok(()) => backoff.reset(),
            Err(error) if trouble.is_news(&error) => {
                let (subject, stream) = (&source.subject, &source.stream);
                tracing::warn!(%error, subject, stream, "messages cannot be listened to now");
            }
            Err(_) => {}
        }
        stop.run_until_cancelled(tokio::time::sleep(backoff.next())).await.unwrap_or_default();
    }
    tracing::info!(subject = source.subject, stream = source.stream, "no workflow listens");
}

/// Takes messages as they come. Calls `begun` once it listens.
async fn hear(
    cx: &Cx,
    hash: &str,
    source: &MessageSource,
    begun: impl FnOnce(),
    stop: &CancellationToken,
) -> Result<(), OutsideError> {
    let messages = cx.bus.outside().listen(&source.subject, GROUP).await?;
    begun();
    let taking = messages.take_until(stop.cancelled()).for_each_concurrent(AT_ONCE, |message| {
        let id = CommandId::new(cx.chance.new_id());
        async move {
            if let Err(unsent) = take::hear(cx, hash, source, &message, id).await {
                let reason = unsent.reason();
                tracing::warn!(subject = message.subject, reason, "a message is lost");
            }
        }
    });
    taking.await;
    Ok(())
}

/// Takes messages from a stream, each until its command is stored. Calls `begun` once it reads.
async fn read(
    cx: &Cx,
    hash: &str,
    wanted: &Wanted,
    stream: &str,
    begun: impl FnOnce(),
    stop: &CancellationToken,
) -> Result<(), OutsideError> {
    let source = &wanted.source;
    let name = subject::listener_consumer(hash);
    // Only the beginning of a place that is new is asked for: with thousands of sources, the start of an
    // executor would be as many reads of versions.
    let from = match cx.bus.outside().place_figures(stream, &name).await? {
        Some(_) => None,
        None => {
            let from = wanted.from(cx).await;
            Some(from.map_err(|error| OutsideError::Unavailable(error.to_string()))?)
        }
    };
    let (stream, subject) = (stream.to_owned(), source.subject.clone());
    let place = Place { name, stream, subject, from, one_by_one: source.in_order };
    let messages = cx.bus.outside().follow(&place).await?;
    begun();
    let taking = messages
        .take_until(stop.cancelled())
        .map(async |taken| {
            take::take(cx, hash, source, taken?, stop).await;
            Ok(())
        })
        .buffer_unordered(if source.in_order { 1 } else { AT_ONCE });
    let mut taking = pin!(taking);
    while let Some(taken) = taking.next().await {
        taken?;
    }
    Ok(())
}
