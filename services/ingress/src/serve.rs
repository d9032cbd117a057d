//! Starts ingress on its port, and ends it when the process stops.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use bus::{Endpoint, Subscription};
use chassis::http::{BadFiles, Tls};
use chassis::{Life, http};
use futures::StreamExt as _;
use hyper_util::service::TowerToHyperService;
use protocol::{ContentType, Headers, Message, encode_body, header, subject};
use serde_json::json;

use crate::below::Below;
use crate::config::Invalid;
use crate::{App, Config, Context, identity, plans, router};

/// The name under which ingress registers with the NATS Services API.
const SERVICE: &str = "staunch-ingress";

/// The reason why ingress does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] Invalid),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; is another server running there?")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(#[from] BadFiles),
    /// The bus does not answer.
    #[error("cannot open the inbox for outcomes: {0}")]
    Bus(#[from] bus::Error),
    /// A master key of secrets is missing.
    #[error(transparent)]
    Secrets(#[from] vault::Error),
}

/// Starts ingress in the background, and returns its address as soon as it listens. It runs until
/// `life` stops.
///
/// # Errors
/// [`Error`] has the reason why it does not start.
pub async fn start(cx: Context, config: Config, life: &Life) -> Result<SocketAddr, Error> {
    config.check()?;
    let tls = config.tls.clone().map(Tls::read).transpose()?;
    vault::check_start(&*cx.store, config.master.as_ref()).await?;
    let listening = |source| Error::Listen { address: config.listen, source };
    let listener = http::listen(config.listen).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    let config = Config { listen: address, ..config };
    let requests = register(&cx).await?;
    let app = App::start(cx, config).await?;
    plans::begin(&app);
    identity::first::at_start(&app).await;
    tracing::info!(%address, auth = ?app.config.auth, tls = tls.is_some(), "ingress listens");
    app.drain_with(life);
    let stop = life.stop();
    life.spawn("ingress status", {
        let app = Arc::clone(&app);
        async move {
            stop.run_until_cancelled(status(&app, requests)).await;
        }
    });
    let ending = http::Ending::with(life);
    life.spawn("ingress connections", async move {
        // The router gets its state once here: otherwise it would be built anew for each
        // connection.
        let router: Router = router::router(Arc::clone(&app)).with_state(());
        let connections_max = http::connections_max(app.config.connections_max);
        let base = app.config.base_path.as_deref();
        let service = Below::new(TowerToHyperService::new(router), base);
        http::serve(listener, tls, service, connections_max, ending).await;
        app.close().await;
    });
    Ok(address)
}

/// Runs ingress until `life` stops.
///
/// # Errors
/// [`Error`] has the reason why it does not start.
pub async fn run(cx: Context, config: Config, life: Life) -> Result<(), Error> {
    start(cx, config, &life).await?;
    life.stop().cancelled().await;
    Ok(())
}

async fn register(cx: &Context) -> Result<Subscription, bus::Error> {
    let endpoint =
        Endpoint { name: "status".to_owned(), subject: format!("{}.ingress.status", subject::API) };
    let about = "HTTP gateway: REST API, workflow endpoints, resume links";
    cx.bus.serve(SERVICE, chassis::version(), about, vec![endpoint]).await
}

/// Answers `nats req staunch.api.ingress.status ''`.
async fn status(app: &App, mut requests: Subscription) {
    while let Some(request) = requests.next().await {
        let Some(reply) = request.reply else { continue };
        let body = json!({
            "address": app.config.listen.to_string(),
            "requests": app.config.requests_max - app.room.available_permits(),
            "requestsMax": app.config.requests_max,
            "waiting": app.waiters.count(),
            "streams": app.streams.count(),
            "leaving": app.is_leaving(),
            "draining": app.is_draining(),
        });
        let Ok(payload) = encode_body(ContentType::Json, &body) else { continue };
        let headers =
            Headers::from([(header::CONTENT_TYPE.to_owned(), "application/json".to_owned())]);
        if let Err(error) = app.cx.bus.send(Message { subject: reply, headers, payload }).await {
            tracing::debug!(%error, "a request for the status was not answered");
        }
    }
}
