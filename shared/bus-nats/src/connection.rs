//! One connection: opened, supervised, and named in the server's list of connections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use bus::Error;
use model::Backoff;
use protocol::subject;
use sync_wrapper::SyncFuture;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::login::{self, Login, Target};
use crate::options::{ANSWER_MAX, MINIMUM_VERSION};
use crate::refusals::Refusals;

/// A half-open connection is noticed after two of these.
const PING_INTERVAL: Duration = Duration::from_secs(3);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const CONNECT_AGAIN: Duration = Duration::from_millis(200);
const RECONNECT_FIRST: Duration = Duration::from_millis(10);
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// Time between two looks for the reason why no connection is made, and the longest of them.
const EXPLAIN_INTERVAL: Duration = Duration::from_secs(10);
const EXPLAIN_MAX: Duration = Duration::from_secs(2);
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// The alerts with which a server refuses the certificate of a client.
const REFUSALS: [&str; 6] = [
    "UnknownCA",
    "BadCertificate",
    "UnsupportedCertificate",
    "CertificateRevoked",
    "CertificateUnknown",
    "AccessDenied",
];
const EXPIRED: &str = "CertificateExpired";
/// Commands that wait in the client for the connection.
const SENDER_CAPACITY: usize = 8_192;

/// A connection that reconnects by itself.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) client: Client,
    /// Prefix of the subjects on which answers arrive.
    pub(crate) inbox: String,
    /// The user, for errors.
    pub(crate) user: String,
    /// The operations that the server has refused.
    pub(crate) refusals: Refusals,
    /// Grows with every connect and reconnect.
    epoch: Arc<watch::Sender<u64>>,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

/// Why no connection was made after the one with this epoch was lost.
struct Trouble {
    epoch: u64,
    reason: String,
}

impl Link {
    pub(crate) async fn connect(
        options: &Options,
        purpose: &str,
        closed: &CancellationToken,
    ) -> Result<Self, Error> {
        let target = Target::read(options)?;
        let inbox = inbox(options, &target.login);
        let heard = Heard::of(options, purpose, closed);
        let give_up = Instant::now() + options.connect_max;
        let client = loop {
            let settings = settings(options, &target.login, &inbox, heard.clone());
            match settings.connect(&target.servers[..]).await {
                Ok(client) => break client,
                Err(error) if is_denial(error.kind()) => return Err(denied(&target)),
                Err(error) if Instant::now() >= give_up => {
                    return Err(Error::Unavailable(unreached(
                        &target.places(),
                        &error.to_string(),
                    )));
                }
                Err(error) => tracing::debug!(%error, "no connection yet"),
            }
            tokio::time::sleep(CONNECT_AGAIN).await;
        };
        let Heard { refusals, epoch, trouble, .. } = heard;
        let link = Self { client, inbox, user: target.login.to_string(), refusals, epoch, trouble };
        check_version(&link.server_version())?;
        Ok(link)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// The error while no connection is made, once its reason is known.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_connected() {
            return Ok(());
        }
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match &*trouble {
            Some(Trouble { epoch, reason }) if *epoch == *self.epoch.borrow() => {
                Err(Error::Unavailable(format!("NATS is not reached: {reason}")))
            }
            _ => Ok(()),
        }
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
            tracing::debug!("a connection was closed before it was drained");
        }
    }
}

/// Why no server at these places takes a connection, and what to do.
fn unreached(places: &str, error: &str) -> String {
    // The answer to a TLS handshake is text.
    if error.contains("InvalidContentType") {
        return format!(
            "the nats-server at {places} has no TLS, which a tls:// URL, nats-ca and nats-tls-cert \
             ask for: leave them out, or give the server TLS"
        );
    }
    if error.contains("maximum control line exceeded") {
        return format!(
            "the nats-server at {places} takes no login as long as the JWT of this process: raise \
             max_control_line in its configuration (max_control_line: 16KB)"
        );
    }
    if error.contains("CertificateRequired") {
        return format!(
            "the nats-server at {places} asks for a client certificate: give nats-tls-cert and \
             nats-tls-key"
        );
    }
    let alert = error.split_once("received fatal alert: ").map(|(_, alert)| alert);
    if alert.is_some_and(|alert| alert.starts_with(EXPIRED)) {
        return format!(
            "the nats-server at {places} refuses the client certificate of this process, which has \
             expired: give nats-tls-cert and nats-tls-key new ones"
        );
    }
    if let Some(alert) = alert.filter(|alert| REFUSALS.iter().any(|one| alert.starts_with(one))) {
        return format!(
            "the nats-server at {places} refuses the client certificate of this process ({alert}): \
             give nats-tls-cert and nats-tls-key one of an authority that the server trusts"
        );
    }
    if error.contains("certificate") {
        return format!(
            "the nats-server at {places} and this process do not accept each other's certificates \
             ({error}): check nats-ca, nats-tls-cert and the certificate of the server"
        );
    }
    format!("no nats-server answers at {places} ({error}): is it running?")
}

/// The server has answered and refuses this login.
fn is_denial(kind: ConnectErrorKind) -> bool {
    matches!(kind, ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication)
}

fn denied(target: &Target) -> Error {
    let which = if target.servers.len() > 1 { "a nats-server of " } else { "the nats-server " };
    let expires = target.login.expires();
    let until = expires.map(|time| format!(", whose JWT expires at {time}"));
    Error::Denied(format!(
        "{which}{} refuses {}{}: check the login in nats-url, nats-creds or nats-nkey, and the \
         users in the server's configuration",
        target.places(),
        target.login,
        until.unwrap_or_default()
    ))
}

/// The prefix of the subjects on which answers for this login arrive.
fn inbox(options: &Options, login: &Login) -> String {
    match login.user() {
        Some(user) => format!("{}.{}", options.inbox_prefix, subject::token(user)),
        None => options.inbox_prefix.clone(),
    }
}

/// Takes the events of one connection.
#[derive(Clone)]
struct Heard {
    purpose: String,
    epoch: Arc<watch::Sender<u64>>,
    refusals: Refusals,
    closed: CancellationToken,
    options: Arc<Options>,
    /// When the reason of a failed connection is looked for again; at once if none.
    explain_at: Arc<Mutex<Option<Instant>>>,
    /// The reason that was found.
    trouble: Arc<Mutex<Option<Trouble>>>,
    /// The reason that was logged.
    told: Arc<Mutex<tasks::Trouble>>,
    /// The failures of the client since the last connection, of which each comes again with every try.
    failures: Arc<Mutex<BTreeMap<String, tasks::Trouble>>>,
}

fn settings(options: &Options, login: &Login, inbox: &str, heard: Heard) -> ConnectOptions {
    let settings = login::settings(options, login)
        .name(format!("{} {}", options.name, heard.purpose))
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(ANSWER_MAX))
        .client_capacity(SENDER_CAPACITY)
        .custom_inbox_prefix(inbox)
        .reconnect_delay_callback(|attempts| {
            let backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MAX);
            let tries = u32::try_from(attempts).unwrap_or(u32::MAX);
            backoff.after(tries, u64::from(std::process::id()))
        })
        .event_callback(move |event| {
            heard.note(&event);
            let heard = heard.clone();
            // The client asks for a future that is `Sync`, and its own are not.
            SyncFuture::new(async move {
                if let Event::ClientError(ClientError::Other(_)) = event {
                    heard.explain().await;
                }
            })
        });
    secured(settings, options)
}

/// With the certificates of these options.
fn secured(mut settings: ConnectOptions, options: &Options) -> ConnectOptions {
    if options.tls.is_required {
        settings = settings.require_tls(true);
    }
    if let Some(ca) = &options.tls.ca {
        settings = settings.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = &options.tls.identity {
        settings = settings.add_client_certificate(certificate.clone(), key.clone());
    }
    settings
}

impl Heard {
    fn of(options: &Options, purpose: &str, closed: &CancellationToken) -> Self {
        Self {
            purpose: purpose.to_owned(),
            epoch: Arc::new(watch::Sender::new(0)),
            refusals: Refusals::default(),
            closed: closed.clone(),
            options: Arc::new(options.clone()),
            explain_at: Arc::default(),
            trouble: Arc::default(),
            told: Arc::default(),
            failures: Arc::default(),
        }
    }

    /// Whether a failure of the client is to be logged: it begins, or lasts for long.
    fn is_news(&self, failure: &str) -> bool {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.entry(failure.to_owned()).or_default().is_news("")
    }

    /// Logs and keeps why no connection is made, such as a certificate that has expired: the client
    /// reports only the kind of the error, so this tries once more.
    async fn explain(&self) {
        let now = Instant::now();
        let may = {
            let mut at = self.explain_at.lock().unwrap_or_else(PoisonError::into_inner);
            let may = at.is_none_or(|at| at <= now);
            if may {
                *at = Some(now + EXPLAIN_INTERVAL);
            }
            may
        };
        if !may || self.closed.is_cancelled() {
            return;
        }
        let epoch = *self.epoch.borrow();
        if let Ok(Some(reason)) = tokio::time::timeout(EXPLAIN_MAX, reason(&self.options)).await {
            if self.told.lock().unwrap_or_else(PoisonError::into_inner).is_news(&reason) {
                tracing::warn!(purpose = self.purpose, "NATS is not reached: {reason}");
            }
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            *trouble = Some(Trouble { epoch, reason });
        }
    }

    fn note(&self, event: &Event) {
        let purpose = self.purpose.as_str();
        match event {
            Event::Connected => {
                meter::NATS_CONNECTED.set(&[purpose], 1);
                if *self.epoch.borrow() > 0 {
                    meter::NATS_RECONNECTS.inc(&[purpose]);
                }
                self.refusals.connected();
                // The connection is logged whether there was trouble or not.
                self.told.lock().unwrap_or_else(PoisonError::into_inner).ends();
                self.failures.lock().unwrap_or_else(PoisonError::into_inner).clear();
                self.epoch.send_modify(|epoch| *epoch += 1);
                tracing::info!(purpose, "connected to NATS");
            }
            // The disconnect that this process has asked for.
            Event::Disconnected | Event::Draining | Event::Closed if self.closed.is_cancelled() => {
                meter::NATS_CONNECTED.set(&[purpose], 0);
            }
            Event::Disconnected => {
                meter::NATS_CONNECTED.set(&[purpose], 0);
                tracing::warn!(purpose, "the connection to NATS is lost");
            }
            Event::LameDuckMode => {
                meter::NATS_ERRORS.inc(&[purpose]);
                tracing::warn!(purpose, "the NATS server is about to stop");
            }
            Event::SlowConsumer(subscription) => {
                meter::NATS_SLOW_CONSUMERS.inc(&[purpose]);
                tracing::warn!(
                    purpose,
                    subscription,
                    "messages were dropped: the subscriber is too slow"
                );
            }
            Event::ServerError(ServerError::Other(text)) if Refusals::is_one(text) => {
                meter::NATS_ERRORS.inc(&[purpose]);
                if !self.refusals.add(text) {
                    return tracing::debug!(purpose, "NATS refuses again: {text}");
                }
                tracing::error!(
                    purpose,
                    "NATS refuses: {text}; `staunch nats-permissions` prints what each role needs, and \
                     with --subject, --stream, --bucket or --object-store what workflows use"
                );
            }
            Event::ClientError(failure) if !self.is_news(&failure.to_string()) => {
                meter::NATS_ERRORS.inc(&[purpose]);
                tracing::debug!(purpose, "NATS says again: {failure}");
            }
            other => {
                meter::NATS_ERRORS.inc(&[purpose]);
                tracing::warn!(purpose, "NATS says: {other}");
            }
        }
    }
}

/// Why a connection with these options is not made; none if it is.
async fn reason(options: &Options) -> Option<String> {
    let target = match Target::read(options) {
        Ok(target) => target,
        Err(error) => return Some(error.to_string()),
    };
    let settings = login::settings(options, &target.login).connection_timeout(EXPLAIN_MAX);
    let connected = secured(settings, options).connect(&target.servers[..]).await;
    connected.err().map(|error| match error.kind() {
        kind if is_denial(kind) => denied(&target).to_string(),
        _ => error.to_string(),
    })
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
    fn a_server_that_asks_for_a_certificate_runs() {
        let error = "IO error: received fatal alert: CertificateRequired";
        let said = unreached("nats:4222", error);
        assert!(said.contains("nats-tls-cert and nats-tls-key"), "{said}");
        assert!(!said.contains("is it running"), "{said}");
        assert!(unreached("nats:4222", "connection refused").contains("is it running"));
    }

    #[test]
    fn a_server_that_takes_no_login_of_this_length_runs() {
        let said = unreached("nats:4222", "IO error: nats: maximum control line exceeded");
        assert!(
            said.contains("raise max_control_line") && !said.contains("is it running"),
            "{said}"
        );
    }

    #[test]
    fn a_server_that_refuses_the_certificate_runs() {
        for alert in ["UnknownCA", "BadCertificate"] {
            let said = unreached("nats:4222", &format!("IO error: received fatal alert: {alert}"));
            assert!(said.contains("refuses the client certificate"), "{said}");
            assert!(said.contains(alert) && !said.contains("is it running"), "{said}");
        }
        let old = unreached("nats:4222", "IO error: received fatal alert: CertificateExpired");
        assert!(old.contains("has expired: give nats-tls-cert"), "{old}");
        let ours = unreached("nats:4222", "invalid peer certificate: UnknownIssuer");
        assert!(ours.contains("do not accept each other's"), "{ours}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_to_connect_that_fails_again_is_logged_rarely() {
        let (log, _logging) = testkit::Log::begin(tracing::Level::INFO);
        let heard = Heard::of(&Options::new("nats://a"), "data", &CancellationToken::new());
        let fail = |why: &str| heard.note(&Event::ClientError(ClientError::Other(why.to_owned())));
        let count = || log.text().matches("NATS says").count();
        // Each server of a cluster fails in its own way.
        for _ in 0..100 {
            fail("IO error");
            fail("timed out");
        }
        assert_eq!(count(), 2, "{}", log.text());
        tokio::time::advance(Duration::from_secs(600)).await;
        for _ in 0..100 {
            fail("IO error");
        }
        assert_eq!(count(), 3, "ten minutes later: {}", log.text());
        heard.note(&Event::Connected);
        fail("IO error");
        assert_eq!(count(), 4, "it begins again: {}", log.text());
    }

    #[test]
    fn an_old_server_is_refused_with_its_version() {
        check_version("2.11.0").unwrap();
        check_version("2.15.0-dev").unwrap();
        check_version("3.0.0").unwrap();
        let error = check_version("2.9.10").unwrap_err().to_string();
        assert!(error.contains("2.9.10") && error.contains("2.11.0"), "{error}");
    }
}
