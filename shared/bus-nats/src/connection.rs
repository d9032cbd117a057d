//! One connection: made, watched, and named in the server's list of connections.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use bus::Error;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::options::MINIMUM_VERSION;

/// A half-open connection is noticed after two of these.
const PING_INTERVAL: Duration = Duration::from_secs(3);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const CONNECT_AGAIN: Duration = Duration::from_millis(200);
const RECONNECT_MAX: Duration = Duration::from_secs(1);
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// Commands that wait in the client for the connection.
const SENDER_CAPACITY: usize = 8_192;

/// A connection that reconnects by itself.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) client: Client,
    /// Grows with every time that the connection was made.
    epoch: Arc<watch::Sender<u64>>,
}

impl Link {
    pub(crate) async fn connect(
        options: &Options,
        purpose: &str,
        closed: &CancellationToken,
    ) -> Result<Self, Error> {
        let servers = servers(&options.url)?;
        let epoch = Arc::new(watch::Sender::new(0));
        let give_up = Instant::now() + options.connect_max;
        let client = loop {
            let settings = settings(options, purpose, &epoch, closed).await?;
            match settings.connect(&servers[..]).await {
                Ok(client) => break client,
                Err(error) if Instant::now() >= give_up => {
                    let servers: Vec<_> = servers.iter().map(place).collect();
                    return Err(Error::Unavailable(format!(
                        "no nats-server answers at {} ({error}): is it running?",
                        servers.join(", ")
                    )));
                }
                Err(error) => tracing::debug!(%error, "no connection yet"),
            }
            tokio::time::sleep(CONNECT_AGAIN).await;
        };
        let link = Self { client, epoch };
        check_version(&link.server_version())?;
        Ok(link)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    pub(crate) fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// Changes with every new connection.
    pub(crate) fn reconnects(&self) -> watch::Receiver<u64> {
        let mut epoch = self.epoch.subscribe();
        epoch.mark_unchanged();
        epoch
    }

    pub(crate) async fn drain(&self) {
        let drained = tokio::time::timeout(DRAIN_MAX, self.client.drain()).await;
        if !matches!(drained, Ok(Ok(()))) {
            tracing::debug!("a connection was not drained");
        }
    }
}

async fn settings(
    options: &Options,
    purpose: &str,
    epoch: &Arc<watch::Sender<u64>>,
    closed: &CancellationToken,
) -> Result<ConnectOptions, Error> {
    let (epoch, closed) = (Arc::clone(epoch), closed.clone());
    let shown = purpose.to_owned();
    let mut settings = ConnectOptions::new()
        .name(format!("{} {purpose}", options.name))
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(crate::api::ANSWER_MAX))
        .client_capacity(SENDER_CAPACITY)
        .reconnect_delay_callback(|attempts| {
            let doublings = u32::try_from(attempts.min(10)).unwrap_or(10);
            (Duration::from_millis(5) * 2_u32.pow(doublings)).min(RECONNECT_MAX)
        })
        .event_callback(move |event| {
            note(&event, &shown, &epoch, &closed);
            async {}
        });
    if let Some(path) = &options.creds {
        settings = settings.credentials_file(path).await.map_err(|error| {
            Error::Unavailable(format!("cannot read the credentials {}: {error}", path.display()))
        })?;
    }
    if let Some(token) = &options.token {
        settings = settings.token(token.clone());
    }
    if let Some((user, password)) = &options.user {
        settings = settings.user_and_password(user.clone(), password.clone());
    }
    if let Some(prefix) = &options.inbox_prefix {
        settings = settings.custom_inbox_prefix(prefix);
    }
    if options.tls.is_required {
        settings = settings.require_tls(true);
    }
    if let Some(ca) = &options.tls.ca {
        settings = settings.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = &options.tls.identity {
        settings = settings.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok(settings)
}

fn note(event: &Event, purpose: &str, epoch: &watch::Sender<u64>, closed: &CancellationToken) {
    match event {
        Event::Connected => {
            epoch.send_modify(|epoch| *epoch += 1);
            tracing::info!(purpose, "connected to NATS");
        }
        // The end that we have asked for.
        Event::Disconnected | Event::Draining | Event::Closed if closed.is_cancelled() => {}
        Event::Disconnected => tracing::warn!(purpose, "the connection to NATS is lost"),
        Event::LameDuckMode => tracing::warn!(purpose, "the NATS server is about to stop"),
        Event::SlowConsumer(subscription) => {
            tracing::warn!(purpose, subscription, "messages were dropped: too slow to take them");
        }
        other => tracing::warn!(purpose, "NATS says: {other}"),
    }
}

fn servers(url: &str) -> Result<Vec<ServerAddr>, Error> {
    let parse = |text: &str| {
        text.trim().parse::<ServerAddr>().map_err(|error| {
            Error::Unavailable(format!("{text:?} is no NATS URL such as nats://host:4222: {error}"))
        })
    };
    url.split(',').map(parse).collect()
}

/// A server without the password that its URL may have.
fn place(server: &ServerAddr) -> String {
    format!("{}:{}", server.host(), server.port())
}

fn check_version(found: &str) -> Result<(), Error> {
    let mut parts = found.split(['.', '-', '+']).map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    let version = (next(), next(), next());
    if version >= MINIMUM_VERSION {
        return Ok(());
    }
    let (major, minor, patch) = MINIMUM_VERSION;
    Err(Error::NotProvisioned(format!(
        "the nats-server is version {found}, and Staunch needs {major}.{minor}.{patch} or newer: \
         get it from https://github.com/nats-io/nats-server/releases, as the container image \
         nats:2.15, or let `staunch dev` fetch it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused_with_its_version() {
        check_version("2.11.0").unwrap();
        check_version("2.15.0-dev").unwrap();
        check_version("3.0.0").unwrap();
        let error = check_version("2.9.10").unwrap_err().to_string();
        assert!(error.contains("2.9.10") && error.contains("2.11.0"), "{error}");
    }

    #[test]
    fn a_password_is_not_shown() {
        let servers = servers("nats://u:secret@a:4222, nats://b").unwrap();
        let places: Vec<_> = servers.iter().map(place).collect();
        assert_eq!(places, ["a:4222", "b:4222"]);
        assert!(super::servers("nats://a:b:c").is_err());
    }
}
