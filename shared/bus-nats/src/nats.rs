//! The bus as a whole: its connections, and what is shared over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_nats::Client;
use async_nats::jetstream::{self, Context};
use bus::{Bucket, Error};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::api::Api;
use crate::connection::Link;
use crate::heal::Healer;
use crate::incarnation::Creations;
use crate::publishes::Publishes;
use crate::{Options, hub, pull};

/// NATS. Cheap to clone; the last clone closes it.
#[derive(Clone)]
pub struct NatsBus {
    pub(crate) inner: Arc<Inner>,
    _open: Arc<DropGuard>,
}

pub(crate) struct Inner {
    /// Commands, events, plain messages.
    pub(crate) data: Link,
    /// Leases, watches, presence.
    pub(crate) control: Link,
    pub(crate) data_api: Api,
    pub(crate) control_api: Api,
    pub(crate) data_context: Context,
    pub(crate) control_context: Context,
    pub(crate) healer: Healer,
    pub(crate) publishes: Publishes,
    pub(crate) pull: pull::Puller,
    pub(crate) creations: Arc<Creations>,
    pub(crate) hubs: BTreeMap<Bucket, Arc<hub::Hub>>,
    pub(crate) closed: CancellationToken,
}

/// Connects, and checks that the server is new enough.
///
/// # Errors
/// [`Error::Unavailable`] when no server answers within `options.connect_max`; [`Error::Denied`]
/// when one answers and refuses the login, or when the login cannot be read;
/// [`Error::NotProvisioned`] when the server is too old: the text says how to get a newer one.
pub async fn connect(options: Options) -> Result<NatsBus, Error> {
    let closed = CancellationToken::new();
    let data = Link::connect(&options, "data", &closed).await?;
    let control = Link::connect(&options, "control", &closed).await?;
    let (data_api, control_api) = (Api::new(&data, &options), Api::new(&control, &options));
    let healer = Healer::new(control_api.clone(), options.keep_provisioned)?;
    let hub = |bucket: Bucket| {
        let (api, link) = (control_api.clone(), control.clone());
        (bucket, hub::Hub::new(bucket.name(), api, link, healer.clone(), &closed))
    };
    let hubs = Bucket::ALL.into_iter().map(hub).collect();
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
        publishes: Publishes::default(),
        pull,
        creations: Arc::default(),
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

    /// The connection that carries commands, for a task worker of this process.
    #[must_use]
    pub fn client(&self) -> Client {
        self.inner.data.client.clone()
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

    pub(crate) fn open(&self) -> Result<&Inner, Error> {
        if self.inner.closed.is_cancelled() { Err(Error::Closed) } else { Ok(&self.inner) }
    }
}

impl std::fmt::Debug for NatsBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NatsBus(connected {})", self.is_connected())
    }
}
