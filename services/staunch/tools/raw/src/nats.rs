//! JetStream alone: a work queue in files and a bucket in memory, configured as Staunch's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, HeaderMap, Request};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::time::Instant;

use crate::pace::{Bound, Lane, Stopwatch, race};

const QUEUE: &str = "STAUNCH_RAW";
const SUBJECT: &str = "staunch_raw.queue";
const BUCKET: &str = "KV_staunch_raw";
const KEYS: &str = "$KV.staunch_raw";
const BYTES_MAX: i64 = 256 << 20;
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// The number of messages of one pull.
const BATCH: usize = 256;
static BODY: [u8; 256] = [b'x'; 256];
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// One connection for messages, and one for keys.
#[derive(Clone)]
pub(crate) struct Broker {
    data: Client,
    control: Client,
    context: Context,
}

/// A number that was not used before.
pub(crate) fn number() -> u64 {
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

impl Broker {
    pub(crate) async fn connect(url: &str) -> anyhow::Result<Self> {
        let servers: Vec<async_nats::ServerAddr> =
            url.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let data = async_nats::connect(servers.clone()).await.context("NATS")?;
        let control = async_nats::connect(servers).await.context("NATS")?;
        Ok(Self { context: jetstream::new(data.clone()), data, control })
    }

    /// An empty queue.
    pub(crate) async fn queue(&self) -> anyhow::Result<Stream> {
        let config = Config {
            name: QUEUE.to_owned(),
            subjects: vec![SUBJECT.to_owned()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_bytes: BYTES_MAX,
            duplicate_window: Duration::from_secs(120),
            ..Config::default()
        };
        self.empty(QUEUE).await;
        Ok(self.context.create_stream(config).await?)
    }

    /// An empty bucket.
    pub(crate) async fn bucket(&self) -> anyhow::Result<()> {
        let config = Config {
            name: BUCKET.to_owned(),
            subjects: vec![format!("{KEYS}.>")],
            storage: StorageType::Memory,
            max_bytes: BYTES_MAX,
            max_messages_per_subject: 1,
            allow_rollup: true,
            allow_message_ttl: true,
            deny_delete: true,
            duplicate_window: Duration::from_secs(120),
            ..Config::default()
        };
        self.empty(BUCKET).await;
        self.context.create_stream(config).await?;
        Ok(())
    }

    /// Removes a stream if it exists.
    pub(crate) async fn empty(&self, name: &str) {
        drop(self.context.delete_stream(name).await);
    }

    /// Removes everything that was created.
    pub(crate) async fn clean(&self) {
        self.empty(QUEUE).await;
        self.empty(BUCKET).await;
    }

    /// The consumer of the queue.
    pub(crate) async fn consumer(&self, queue: &Stream) -> anyhow::Result<pull::Stream> {
        let config = pull::Config {
            durable_name: Some("raw".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs(30),
            max_ack_pending: 8_192,
            ..pull::Config::default()
        };
        let consumer: PullConsumer = queue.create_consumer(config).await?;
        Ok(consumer.stream().max_messages_per_batch(BATCH).messages().await?)
    }

    /// Publishes under a message id; returns when the message is stored.
    pub(crate) async fn send(&self) -> anyhow::Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", number().to_string());
        ask(&self.data, SUBJECT.to_owned(), headers, Bytes::from_static(&BODY)).await.map(drop)
    }

    /// Creates a key; returns its revision.
    pub(crate) async fn create(&self, key: u64) -> anyhow::Result<u64> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", "0");
        headers.insert("Nats-Msg-Id", number().to_string());
        headers.insert("Nats-TTL", "15s");
        ask(&self.control, format!("{KEYS}.{key}"), headers, Bytes::from_static(b"node")).await
    }

    /// Removes a key that is at this revision.
    pub(crate) async fn remove(&self, key: u64, revision: u64) -> anyhow::Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", revision.to_string());
        headers.insert("Nats-Msg-Id", number().to_string());
        headers.insert("KV-Operation", "PURGE");
        headers.insert("Nats-Rollup", "sub");
        headers.insert("Nats-TTL", "15s");
        ask(&self.control, format!("{KEYS}.{key}"), headers, Bytes::new()).await.map(drop)
    }

    /// Publish and ack.
    pub(crate) async fn publish(&self, lanes: usize, length: Duration) -> anyhow::Result<Bound> {
        self.queue().await?;
        let clock = Stopwatch::start(length)?;
        race((0..lanes).map(|_| Publish(self.clone())).collect(), &clock).await?;
        let bound =
            clock.bound("publish", "JetStream publish + ack, file, with a message id", lanes);
        self.clean().await;
        Ok(bound)
    }

    /// Pull and ack of messages that are stored already.
    pub(crate) async fn pull(&self, length: Duration) -> anyhow::Result<Bound> {
        let queue = self.queue().await?;
        let clock = Stopwatch::start(length)?;
        race((0..crate::pace::MANY).map(|_| Publish(self.clone())).collect(), &clock).await?;
        let mut messages = self.consumer(&queue).await?;
        let clock = Stopwatch::start(length)?;
        let mut before = Instant::now();
        // Until the time is over or no message is left.
        while let Ok(Some(message)) = tokio::time::timeout_at(clock.until(), messages.next()).await
        {
            let message = message?;
            message.ack().await.map_err(anyhow::Error::from_boxed)?;
            clock.note(before);
            before = Instant::now();
            if message.info().map_err(anyhow::Error::from_boxed)?.pending == 0 {
                break;
            }
        }
        self.data.flush().await?;
        let bound = clock.bound("pull", "JetStream pull + ack", BATCH);
        self.clean().await;
        Ok(bound)
    }

    /// Creates and removes a key.
    pub(crate) async fn pair(&self, lanes: usize, length: Duration) -> anyhow::Result<Bound> {
        self.bucket().await?;
        let clock = Stopwatch::start(length)?;
        race((0..lanes).map(|_| Pair(self.clone())).collect(), &clock).await?;
        let what = "KV create + delete pair, memory, by compare-and-swap";
        let bound = clock.bound("pair", what, lanes);
        self.clean().await;
        Ok(bound)
    }
}

struct Publish(Broker);

impl Lane for Publish {
    async fn step(&mut self) -> anyhow::Result<()> {
        self.0.send().await
    }
}

struct Pair(Broker);

impl Lane for Pair {
    async fn step(&mut self) -> anyhow::Result<()> {
        let key = number();
        let revision = self.0.create(key).await?;
        self.0.remove(key, revision).await
    }
}

/// Publishes; returns the sequence in the stream from the acknowledgement.
async fn ask(
    client: &Client,
    subject: String,
    headers: HeaderMap,
    body: Bytes,
) -> anyhow::Result<u64> {
    let request = Request::new().headers(headers).payload(body).timeout(Some(ANSWER_MAX));
    let answer = client.send_request(subject, request).await?;
    let text = std::str::from_utf8(&answer.payload)?;
    ensure!(!text.contains("\"error\""), "JetStream refuses: {text}");
    sequence(text).with_context(|| format!("JetStream answers {text}"))
}

/// Reads `seq` of `{"stream":"…", "seq":12}` without parsing the rest.
fn sequence(answer: &str) -> Option<u64> {
    let (_, rest) = answer.split_once("\"seq\":")?;
    let digits = rest.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_read_out_of_the_answer() {
        assert_eq!(sequence(r#"{"stream":"A", "seq":12}"#), Some(12));
        assert_eq!(sequence(r#"{"stream":"A","seq": 7,"duplicate":true}"#), Some(7));
        assert_eq!(sequence(r#"{"stream":"A"}"#), None);
    }
}
