//! Creates streams and buckets again that the server has lost.
//!
//! A single server loses the buckets that it keeps in memory when it restarts. Staunch can do
//! without their contents, so they are created again whenever their loss is noticed. The other
//! streams and buckets are created again only if the options ask for it: otherwise an operator has
//! to look.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::Error;
use protocol::subject;
use serde_json::Value;
use tasks::Trouble;
use tokio::sync::Mutex;

use crate::api::{Api, STREAM_NOT_FOUND};
use crate::ensure::ensure_consumer;
use crate::placement::Placement;
use crate::topology::Topology;

/// Failures by the names of the streams.
type Troubles = BTreeMap<String, Trouble>;

/// Shared by all code that may notice a loss.
#[derive(Clone)]
pub(crate) struct Healer {
    api: Api,
    topology: Arc<Topology>,
    /// All lost streams are created again, not only the buckets in memory.
    keeps_all: bool,
    /// Held while one task creates a stream: the streams that could not be created.
    at_work: Arc<Mutex<Troubles>>,
}

impl Healer {
    pub(crate) fn new(api: Api, keeps_all: bool) -> Result<Self, Error> {
        let topology = Arc::new(Topology::embedded()?);
        Ok(Self { api, topology, keeps_all, at_work: Arc::default() })
    }

    /// Creates a stream again in the background, if it is gone. An election looks the same from
    /// outside, and then the server answers late. The caller repeats its own request.
    pub(crate) fn heal_soon(&self, stream: &str) {
        // Another task is creating one already.
        let Ok(mut at_work) = Arc::clone(&self.at_work).try_lock_owned() else { return };
        let (healer, stream) = (self.clone(), stream.to_owned());
        let work = async move {
            healer.check(&stream, &mut at_work).await;
            drop(at_work);
        };
        drop(tasks::spawn("bus: make a stream again", work));
    }

    /// Creates a stream again, if it is gone; false if it is gone and must not be created.
    pub(crate) async fn heal(&self, stream: &str) -> bool {
        let mut at_work = self.at_work.lock().await;
        self.check(stream, &mut at_work).await
    }

    async fn check(&self, stream: &str, troubles: &mut Troubles) -> bool {
        match self.api.call(&format!("STREAM.INFO.{stream}"), &Value::Null).await {
            Ok(_) => self.heal_consumer(stream).await,
            Err(failure) if failure.code() == Some(STREAM_NOT_FOUND) => {
                self.make(stream, troubles).await && self.heal_consumer(stream).await
            }
            Err(_) => false,
        }
    }

    async fn make(&self, stream: &str, troubles: &mut Troubles) -> bool {
        let bucket = self.topology.bucket.iter().find(|spec| spec.stream() == stream);
        let is_volatile = bucket.is_some_and(|spec| spec.is_volatile());
        if !is_volatile && !self.keeps_all {
            return false;
        }
        let placement = self.placement_of_commands().await;
        let named = self.topology.stream.iter().find(|spec| spec.name == stream);
        let config = bucket
            .map(|spec| spec.config(&placement))
            .or_else(|| named.map(|spec| spec.config(&placement)));
        let Some(config) = config else { return false };
        let made = self.api.call(&format!("STREAM.CREATE.{stream}"), &config).await;
        let trouble = troubles.entry(stream.to_owned()).or_default();
        if made.is_ok() {
            trouble.ends();
        }
        match &made {
            // The server keeps this bucket in memory, so losing it with a restart is expected.
            Ok(_) if is_volatile => tracing::info!(stream, "a bucket in memory was created again"),
            Ok(_) => tracing::warn!(stream, "the server had lost a stream; it was created again"),
            Err(failure) if trouble.is_news(format_args!("{failure:?}")) => {
                tracing::warn!(stream, ?failure, "a lost stream cannot be created again");
            }
            Err(_) => {}
        }
        made.is_ok()
    }

    async fn heal_consumer(&self, stream: &str) -> bool {
        let Some(spec) = self.topology.consumer.iter().find(|spec| spec.stream == stream) else {
            return true;
        };
        let call = format!("CONSUMER.INFO.{}.{}", spec.stream, spec.name);
        if self.api.call(&call, &Value::Null).await.is_ok() {
            return true;
        }
        self.keeps_all && ensure_consumer(&self.api, spec).await.is_ok()
    }

    async fn placement_of_commands(&self) -> Placement {
        let call = format!("STREAM.INFO.{}", subject::COMMANDS_STREAM);
        let info = self.api.call(&call, &Value::Null).await.unwrap_or_default();
        Placement::read(&info["config"])
    }
}
