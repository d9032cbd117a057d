//! Listens to the messages that workflows wait for or start with, and makes an event of each.
//!
//! Every executor listens to every source of which a published definition or an open bookmark is there.
//! Of messages as they come, one executor of the group gets each, at most once. From a stream all
//! executors read one durable place. The id of the command derives from the source, the stream, the
//! time when it was created, and the number of the message; the message is settled once the command is
//! stored. So a message that comes again, after a crash or to another executor, is the same command.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use bus::{Error, From, OutsideError, Place, Taken};
use engine::outside::wildcards;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use model::{Backoff, CommandId, DefinitionId, MessageSource, Stimulus, Timestamp};
use protocol::{Body, Command, EventRaised, Message, header, subject};
use serde_json::json;
use store::BookmarkFilter;
use tokio_util::sync::CancellationToken;

use crate::cx::Cx;
use crate::executor::Executor;

/// The name of the task.
const TASK: &str = "executor: listen";
/// The name of the group of all executors.
const GROUP: &str = "staunch-executor";
/// How often it looks which sources there are.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Open bookmarks that are looked at.
const BOOKMARKS_MAX: u64 = 10_000;
/// Messages of one source that are made commands of at the same time.
const AT_ONCE: usize = 64;
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const PAUSE_LONGEST: Duration = Duration::from_secs(10);
/// Characters of the hash of a source in the name of its consumer.
const NAME_CHARS: usize = 32;

/// The end of a message that no command can be made of.
enum Unsent {
    /// Its content or its size: another try ends the same.
    Unfit(String),
    /// The queue does not take it now.
    Later(Error),
}

/// Listens until `stop`, unless the configuration allows no subject. After a panic it listens again.
pub(crate) async fn listen(executor: &Executor, stop: CancellationToken) {
    let cx = executor.cx();
    tasks::supervised(TASK, stop.clone(), || run(cx, &stop)).await;
}

async fn run(cx: &Cx, stop: &CancellationToken) {
    if cx.config.connectors.nats.subjects.is_empty() {
        return;
    }
    let mut listeners: BTreeMap<String, CancellationToken> = BTreeMap::new();
    let mut following = FuturesUnordered::new();
    let mut refused = BTreeSet::new();
    while !stop.is_cancelled() {
        match beside(&mut following, sources(cx, &mut refused)).await {
            Ok(wanted) => {
                listeners.retain(|hash, listening| {
                    let is_wanted = wanted.contains_key(hash);
                    if !is_wanted {
                        listening.cancel();
                    }
                    is_wanted
                });
                for (hash, source) in wanted {
                    if !listeners.contains_key(&hash) {
                        let listening = stop.child_token();
                        listeners.insert(hash.clone(), listening.clone());
                        following.push(follow(cx, hash, source, listening));
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "sources of messages cannot be read now"),
        }
        let pause = stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY));
        beside(&mut following, pause).await;
    }
    // The listeners end with `stop`, once they have settled what they have taken.
    while following.next().await.is_some() {}
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

/// The sources that definitions and bookmarks name, by their hash. Those that the configuration does not
/// allow are left out, and said once.
async fn sources(
    cx: &Cx,
    refused: &mut BTreeSet<(DefinitionId, String)>,
) -> Result<BTreeMap<String, MessageSource>, store::Error> {
    let triggers = cx.store.triggers_named(Stimulus::MESSAGE).await?;
    let filter =
        BookmarkFilter { name: Some(Stimulus::MESSAGE.to_owned()), ..BookmarkFilter::default() };
    let bookmarks = cx.store.find(&filter, BOOKMARKS_MAX).await?;
    let triggers =
        triggers.into_iter().map(|found| (found.definition_id, found.hash, found.payload));
    let bookmarks = bookmarks
        .into_iter()
        .map(|found| (found.definition_id, found.bookmark.hash, found.bookmark.payload));
    let mut wanted = BTreeMap::new();
    for (definition, hash, payload) in triggers.chain(bookmarks) {
        let Some(source) = MessageSource::of(&payload) else { continue };
        match cx.config.connectors.nats.allow_subject(&definition, &source.subject) {
            Ok(()) => {
                wanted.insert(hash, source);
            }
            Err(reason) => {
                if refused.insert((definition.clone(), source.subject)) {
                    tracing::warn!(%definition, reason, "messages are not listened to");
                }
            }
        }
    }
    Ok(wanted)
}

/// Follows one source until `stop`; begins again after errors.
async fn follow(cx: &Cx, hash: String, source: MessageSource, stop: CancellationToken) {
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
    tracing::info!(subject = source.subject, stream = source.stream, "workflows listen");
    while !stop.is_cancelled() {
        let followed = match &source.stream {
            Some(stream) => read(cx, &hash, &source, stream, &stop).await,
            None => hear(cx, &source, &stop).await,
        };
        if let Err(error) = followed {
            let (subject, stream) = (&source.subject, &source.stream);
            tracing::warn!(%error, subject, stream, "messages cannot be listened to now");
        } else {
            backoff.reset();
        }
        stop.run_until_cancelled(tokio::time::sleep(backoff.next())).await.unwrap_or_default();
    }
    tracing::info!(subject = source.subject, stream = source.stream, "no workflow listens");
}

/// Takes messages as they come.
async fn hear(
    cx: &Cx,
    source: &MessageSource,
    stop: &CancellationToken,
) -> Result<(), OutsideError> {
    let messages = cx.bus.outside().listen(&source.subject, GROUP).await?;
    let taking = messages.take_until(stop.cancelled()).for_each_concurrent(AT_ONCE, |message| {
        let id = CommandId::new(cx.chance.new_id());
        async move {
            if let Err(unsent) = raise(cx, source, &message, None, id).await {
                let reason = unsent.reason();
                tracing::warn!(subject = message.subject, reason, "a message is lost");
            }
        }
    });
    taking.await;
    Ok(())
}

/// Takes messages from a stream, each until its command is stored.
async fn read(
    cx: &Cx,
    hash: &str,
    source: &MessageSource,
    stream: &str,
    stop: &CancellationToken,
) -> Result<(), OutsideError> {
    let name = format!("staunch-{}", hash.get(..NAME_CHARS).unwrap_or(hash));
    let from = match source.from.as_deref() {
        None | Some("new") => From::New,
        Some("all") => From::All,
        Some(time) => Timestamp::parse(time).map_or(From::New, From::Time),
    };
    let place = Place { name, stream: stream.to_owned(), subject: source.subject.clone(), from };
    let messages = cx.bus.outside().follow(&place).await?;
    let taking = messages
        .take_until(stop.cancelled())
        .map(async |taken| {
            take(cx, hash, source, stream, taken?).await;
            Ok(())
        })
        .buffer_unordered(AT_ONCE);
    let mut taking = pin!(taking);
    while let Some(taken) = taking.next().await {
        taken?;
    }
    Ok(())
}

/// Makes a command of one message of a stream. One that cannot be stored now is not settled: it comes
/// again.
async fn take(cx: &Cx, hash: &str, source: &MessageSource, stream: &str, taken: Taken) {
    let Taken { message, sequence, created, settle } = taken;
    let number = sequence.to_string();
    let id = CommandId::new(model::derived(&["message", hash, stream, &created, &number]));
    match raise(cx, source, &message, Some(sequence), id).await {
        Ok(()) => settle.await,
        Err(Unsent::Unfit(reason)) => {
            if bury(cx, &message, &reason).await {
                settle.await;
            }
        }
        Err(Unsent::Later(error)) => {
            tracing::debug!(%error, stream, sequence, "a message waits in its stream");
        }
    }
}

/// Publishes the command that hands a message to the workflows which listen.
async fn raise(
    cx: &Cx,
    source: &MessageSource,
    message: &Message,
    sequence: Option<u64>,
    id: CommandId,
) -> Result<(), Unsent> {
    let content = connectors::message_value(message).map_err(Unsent::Unfit)?;
    let payload = json!({
        "subject": message.subject,
        "tokens": wildcards(&source.subject, &message.subject),
        "headers": message.headers,
        "sequence": sequence,
        "content": content,
    });
    let raised = EventRaised {
        event_name: message.subject.clone(),
        payload,
        listened: Some(source.clone()),
        ..EventRaised::default()
    };
    let mut command = Command::new(id, Body::Event(raised));
    command.traceparent = message.header(header::TRACEPARENT).map(str::to_owned);
    let encoded = command.encode().map_err(|garbled| Unsent::Unfit(garbled.to_string()))?;
    match cx.bus.publish(encoded).await {
        Ok(_) => Ok(()),
        Err(Error::TooLarge(reason)) => Err(Unsent::Unfit(reason)),
        Err(error) => Err(Unsent::Later(error)),
    }
}

/// Puts a message that no command can be made of among the dead letters; true if it is there.
async fn bury(cx: &Cx, message: &Message, reason: &str) -> bool {
    let mut dead = message.clone();
    dead.subject = subject::dead(&format!("staunch.message.{}", subject::dotted(&message.subject)));
    dead.headers.insert(header::REASON.to_owned(), reason.replace(['\r', '\n'], " "));
    dead.headers.insert(header::ORIGIN.to_owned(), message.subject.clone());
    tracing::warn!(subject = message.subject, reason, "a message cannot be taken");
    let cut = Message { payload: Vec::new(), ..dead.clone() };
    let mut kept = cx.bus.publish(dead).await;
    if let Err(Error::TooLarge(_)) = kept {
        kept = cx.bus.publish(cut).await;
    }
    match kept {
        Ok(_) => true,
        Err(error) => {
            tracing::warn!(%error, "a dead letter cannot be stored now");
            false
        }
    }
}

impl Unsent {
    fn reason(&self) -> String {
        match self {
            Self::Unfit(reason) => reason.clone(),
            Self::Later(error) => error.to_string(),
        }
    }
}
