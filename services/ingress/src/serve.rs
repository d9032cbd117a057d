//! Starts ingress on its port, and ends it when the process stops.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use chassis::http::{BadFiles, Tls};
use chassis::{Life, http};
use hyper_util::service::TowerToHyperService;

use crate::below::Below;
use crate::config::Invalid;
use crate::{App, Config, Context, identity, over_nats, plans, router};

/// The reason why ingress does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] Invalid),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}{}", question(.reason))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        reason: std::io::Error,
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
    let listening = |reason| Error::Listen { address: config.listen, reason };
    let listener = http::listen(config.listen).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    let config = Config { listen: address, ..config };
    let requests = over_nats::register(&cx).await?;
    let app = App::start(cx, config).await?;
    plans::begin(&app);
    identity::first::at_start(&app).await;
    app.bootstrap.at_start(&*app.cx.store, app.config.bootstrap_key().as_deref()).await;
    tracing::info!(%address, auth = ?app.config.auth, tls = tls.is_some(), "ingress listens");
    if let Some(advice) = app.config.path_advice() {
        tracing::warn!("{advice}");
    }
    app.drain_with(life);
    // The router gets its state once here: otherwise it would be built anew for each connection.
    let router: Router = router::router(Arc::clone(&app)).with_state(());
    life.spawn(
        "ingress over NATS",
        over_nats::answer(Arc::clone(&app), router.clone(), requests, life.stop()),
    );
    let ending = http::Ending::with(life);
    life.spawn("ingress connections", async move {
        let connections_max = http::connections_max(app.config.connections_max);
        let base = app.config.base_path.as_deref();
        let service = Below::new(TowerToHyperService::new(router), base);
        http::serve(listener, tls, service, connections_max, ending).await;
        app.close().await;
    });
    Ok(address)
}

fn question(reason: &std::io::Error) -> &'static str {
    match reason.kind() {
        std::io::ErrorKind::AddrInUse => "; is another server running there?",
        _ => "",
    }
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn only_an_address_in_use_asks_for_another_server_and_the_reason_comes_once() {
        let address = SocketAddr::from(([127, 0, 0, 1], 5001));
        let text = |reason: io::Error| {
            let error = anyhow::Error::from(Error::Listen { address, reason });
            format!("{error:#}")
        };
        let used = text(io::Error::new(io::ErrorKind::AddrInUse, "in use"));
        let expected = "cannot listen on 127.0.0.1:5001: in use; is another server running there?";
        assert_eq!(used, expected);
        let other = text(io::Error::new(io::ErrorKind::AddrNotAvailable, "no such address"));
        assert_eq!(other, "cannot listen on 127.0.0.1:5001: no such address");
    }
}
