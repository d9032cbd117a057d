//! An ingress that listens, with a cache-notifier, over the memory twins.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bus::{Bucket, Bus, Member, MemoryBus, Presence};
use catalog::Catalog;
use chassis::{Clock as _, Life, SystemChance, TokioClock};
use engine::Engine;
use ingress::{Config, Context};
use store::Store;
use store::memory::MemoryStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// The time by which every connection has an answer or an end.
const END: Duration = Duration::from_secs(20);
/// A node is made anew after so many inputs: what they store stays in memory.
const INPUTS_MAX: usize = 5_000;
/// The time in which a whole request has an answer.
const MOMENT: Duration = Duration::from_millis(30);
/// More than the head of an answer has.
const ANSWER_BYTES: usize = 16_384;
const CLOSING: Duration = Duration::from_secs(5);

/// One node.
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    life: Life,
    fed: usize,
}

/// The nodes of one target. Everything runs on the thread of its target.
pub(crate) struct Place {
    runtime: Runtime,
    node: RefCell<Option<Node>>,
    config: fn() -> Config,
}

impl Place {
    /// No node yet.
    pub(crate) fn new(config: fn() -> Config) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, node: RefCell::new(None), config })
    }

    /// Runs with a node, within a bound.
    pub(crate) fn with<T>(&self, work: impl AsyncFnOnce(&Node, bool) -> Result<T>) -> Result<T> {
        self.runtime.block_on(async {
            let (mut node, is_new) = match self.node.take() {
                Some(node) if node.fed < INPUTS_MAX => (node, false),
                old => {
                    if let Some(old) = old {
                        old.life.begin_stop();
                        old.life.finished().await;
                    }
                    (Node::start((self.config)()).await?, true)
                }
            };
            node.fed += 1;
            let end = tokio::time::timeout(END, work(&node, is_new)).await;
            self.node.replace(Some(node));
            end.context("no answer and no end")?
        })
    }
}

impl Node {
    async fn start(config: Config) -> Result<Self> {
        let clock = TokioClock::starting_at(chassis::SystemClock.now());
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(move || clock.now())));
        let bus: Arc<dyn Bus> = Arc::new(MemoryBus::new(Arc::new(move || clock.now())));
        let me = Member {
            node: "node".to_owned(),
            roles: vec!["ingress".to_owned()],
            started_at: clock.now(),
            address: None,
            version: None,
        };
        let nonces = testkit::nonces;
        let presence =
            Presence::join(bus.kv(Bucket::Nodes), me, Duration::from_secs(30), nonces()).await?;
        let engine = Arc::new(Engine::new(activities::all(), expressions::all()));
        let catalog = Catalog::start(
            Arc::clone(&store),
            Arc::clone(&bus),
            Arc::clone(&engine),
            nonces(),
            "node",
        )
        .await?;
        let life = Life::new(CLOSING);
        let notifier = cache_notifier::Context::start(
            "node",
            Arc::clone(&store),
            Arc::clone(&bus),
            presence.clone(),
            nonces(),
            cache_notifier::Config::default(),
        );
        let running = cache_notifier::run(notifier.await?, life.clone());
        life.spawn_fallible("cache-notifier", running);
        let context = Context {
            store,
            bus,
            engine,
            catalog,
            presence,
            clock: Arc::new(clock),
            chance: Arc::new(SystemChance),
            trail: chassis::Trail::default(),
        };
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = Config { listen, answer_time_max: Duration::from_millis(50), ..config };
        let address = ingress::start(context, config, &life).await?;
        Ok(Self { address, life, fed: 0 })
    }

    /// Sends a whole request that closes its connection, and gives its answer.
    pub(crate) async fn ask(&self, request: &[u8]) -> Result<Vec<u8>> {
        let mut connection = TcpStream::connect(self.address).await?;
        connection.write_all(request).await?;
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).await?;
        Ok(answer)
    }

    /// Sends these bytes over a connection, and gives what comes back until its end. Bytes that are
    /// no whole request have an end when no answer comes for a moment.
    pub(crate) async fn exchange(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut connection = TcpStream::connect(self.address).await?;
        // The node may answer and close before it has read everything.
        let is_sent = connection.write_all(bytes).await.is_ok();
        let mut answer = vec![0; ANSWER_BYTES];
        let begun = tokio::time::timeout(MOMENT, connection.read(&mut answer)).await;
        let count = begun.ok().and_then(Result::ok).unwrap_or_default();
        answer.truncate(count);
        if is_sent && count == 0 {
            drop(connection.shutdown().await);
        }
        if is_sent && count > 0 && status(&answer).is_some() && !says_more(&answer) {
            return Ok(answer);
        }
        drop(connection.read_to_end(&mut answer).await);
        Ok(answer)
    }
}

/// The connection ends by itself behind this answer.
fn says_more(answer: &[u8]) -> bool {
    String::from_utf8_lossy(answer).to_ascii_lowercase().contains("\r\nconnection: close")
}

/// The status of the first answer.
pub(crate) fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.strip_prefix(b"HTTP/1.1 ").or(answer.strip_prefix(b"HTTP/1.0 "))?;
    str::from_utf8(line.get(..3)?).ok()?.parse().ok()
}
