//! The NATS adapter: the port of `bus` on JetStream, key-value buckets and the Services API.
//!
//! The only crate that knows async-nats. It speaks JetStream's API itself where the client would
//! lose a header, an error number or a reconnect, and keeps two connections: what renews leases
//! does not wait behind what moves commands. It never decides anything: a lost answer is
//! `Error::Unknown`, and whoever asked repeats it with the same id.

mod api;
mod connection;
mod heal;
mod hub;
mod kv;
mod options;
mod provision;
mod pull;
mod queue;
mod status;
mod topology;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_nats::jetstream::{self, Context};
use bus::{Bucket, Bus, Error, Kv};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use options::{MINIMUM_VERSION, Options, Tls};
pub use status::{Status, StreamStatus};
pub use topology::Topology;

use api::Api;
use connection::Link;
use heal::Healer;

/// NATS. Cheap to clone; the last clone closes it.
#[derive(Clone)]
pub struct NatsBus {
    inner: Arc<Inner>,
    _open: Arc<DropGuard>,
}

struct Inner {
    /// Commands, events, plain messages.
    data: Link,
    /// Leases, watches, presence.
    control: Link,
    data_api: Api,
    control_api: Api,
    data_context: Context,
    control_context: Context,
    healer: Healer,
    pull: pull::Puller,
    hubs: BTreeMap<Bucket, Arc<hub::Hub>>,
    closed: CancellationToken,
}

/// Connects, and checks that the server is new enough.
///
/// # Errors
/// [`Error::Unavailable`] when no server answers within `options.connect_max`;
/// [`Error::NotProvisioned`] when the server is too old: the text says how to get a newer one.
pub async fn connect(options: Options) -> Result<NatsBus, Error> {
    let closed = CancellationToken::new();
    let data = Link::connect(&options, "data", &closed).await?;
    let control = Link::connect(&options, "control", &closed).await?;
    let (data_api, control_api) = (Api::new(&data, &options), Api::new(&control, &options));
    let healer = Healer::new(control_api.clone(), options.keep_provisioned)?;
    let hub = |bucket| {
        let (api, link) = (control_api.clone(), control.clone());
        (bucket, hub::Hub::new(kv::name(bucket), api, link, healer.clone(), &closed))
    };
    let buckets = [Bucket::Leases, Bucket::Timers, Bucket::Definitions, Bucket::Nodes];
    let hubs = buckets.into_iter().map(hub).collect();
    let (data_context, control_context) = (context(&data, &options), context(&control, &options));
    let pull = pull::Puller::new(data.clone(), data_api.clone(), healer.clone());
    let open = Arc::new(closed.clone().drop_guard());
    let inner = Inner {
        data,
        control,
        data_api,
        control_api,
        data_context,
        control_context,
        healer,
        pull,
        hubs,
        closed,
    };
    Ok(NatsBus { inner: Arc::new(inner), _open: open })
}

fn context(link: &Link, options: &Options) -> Context {
    match &options.domain {
        Some(domain) => jetstream::with_domain(link.client.clone(), domain),
        None => jetstream::new(link.client.clone()),
    }
}

impl NatsBus {
    /// Both connections are up.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.inner.data.is_connected() && self.inner.control.is_connected()
    }

    /// Completes when the bus was closed, by [`NatsBus::close`].
    pub async fn closed(&self) {
        self.inner.closed.cancelled().await;
    }

    /// Sends what is buffered, and closes both connections: subscriptions and watches end,
    /// operations fail with [`Error::Closed`]. Best effort and bounded.
    pub async fn close(&self) {
        self.inner.closed.cancel();
        self.inner.data.drain().await;
        self.inner.control.drain().await;
    }

    /// The version of the server that the bus is connected to.
    #[must_use]
    pub fn server_version(&self) -> String {
        self.inner.data.server_version()
    }

    fn open(&self) -> Result<&Inner, Error> {
        if self.inner.closed.is_cancelled() { Err(Error::Closed) } else { Ok(&self.inner) }
    }
}

impl Bus for NatsBus {
    fn kv(&self, bucket: Bucket) -> Arc<dyn Kv> {
        Arc::new(kv::NatsKv::new(self.clone(), bucket))
    }
}

impl std::fmt::Debug for NatsBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NatsBus(connected {})", self.is_connected())
    }
}
