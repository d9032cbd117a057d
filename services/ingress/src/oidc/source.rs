//! The keys of the issuer as this node knows them. One task fetches them: from time to time, and
//! when a request needs a key that is not there. Requests never fetch: many of them at once, or
//! clients that give up, cause no more than one fetch.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use model::Backoff;
use reqwest::Client;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::algorithm::{Algorithm, PublicKey};
use super::config::OidcConfig;
use super::fetch;
use super::keys::{Keys, Lookup};
use super::token::Flaw;
use crate::metrics::Metrics;

/// The first pause after a failed fetch, while there are no keys.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// A request waits for as much longer than a fetch may take.
const GRACE: Duration = Duration::from_secs(1);

/// The reason why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The token is no good.
    Flaw(Flaw),
    /// Its key is not known, and the issuer does not answer; it is asked again after this time.
    Away(Duration),
}

#[derive(Clone, Debug, Default)]
struct Known {
    keys: Arc<Keys>,
    /// The time of the last fetch that succeeded.
    fetched_at: Option<Instant>,
    /// The time of the last fetch.
    tried_at: Option<Instant>,
    /// The time of the next one.
    next_at: Option<Instant>,
}

impl Known {
    fn has_failed(&self) -> bool {
        self.tried_at != self.fetched_at
    }

    fn is_valid(&self, time: Duration) -> bool {
        self.fetched_at.is_some_and(|at| at.elapsed() < time)
    }
}

/// The keys of one issuer.
pub(crate) struct Source {
    client: Result<Client, String>,
    known: watch::Sender<Known>,
    /// A request needs a key that is not there.
    wanted: Notify,
    metrics: Metrics,
}

impl Source {
    pub(crate) fn new(config: &OidcConfig, metrics: Metrics) -> Self {
        let client = fetch::client(config.ca.as_deref());
        Self { client, known: watch::Sender::default(), wanted: Notify::new(), metrics }
    }

    /// The key of a token. Waits for a fetch if the key is unknown and none was just done.
    pub(crate) async fn key(
        &self,
        config: &OidcConfig,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<PublicKey, Refusal> {
        let mut watching = self.known.subscribe();
        let known = watching.borrow_and_update().clone();
        let found = found(&known, config, id, algorithm);
        let is_fresh = known.tried_at.is_some_and(|at| at.elapsed() < config.refetch_pause);
        if !matches!(found, Err(Refusal::Flaw(Flaw::Key) | Refusal::Away(_))) || is_fresh {
            return found;
        }
        self.wanted.notify_one();
        if timeout(config.fetch_time_max + GRACE, watching.changed()).await.is_err() {
            return Err(Refusal::Away(GRACE));
        }
        let known = watching.borrow().clone();
        self::found(&known, config, id, algorithm)
    }

    /// Fetches the keys now, from time to time, and when one is wanted. Never ends.
    pub(crate) async fn follow(&self, config: &OidcConfig) {
        let mut retries = Backoff::new(RETRY_FIRST, config.refetch_pause);
        loop {
            let fetched = match &self.client {
                Ok(client) => fetch::keys(client, config).await,
                Err(reason) => Err(reason.clone()),
            };
            let pause = match &fetched {
                Ok(_) => {
                    retries.reset();
                    config.refresh_time.min(config.keys_time / 4)
                }
                Err(_) if self.known.borrow().is_valid(config.keys_time) => config.refetch_pause,
                Err(_) => retries.next(),
            };
            self.learn(config, fetched, pause);
            let now = Instant::now();
            sleep_until(now + pause.min(config.refetch_pause)).await;
            tokio::select! {
                () = sleep_until(now + pause) => {}
                () = self.wanted.notified() => {}
            }
        }
    }

    fn learn(&self, config: &OidcConfig, fetched: Result<Keys, String>, pause: Duration) {
        self.metrics.keys_fetched(fetched.is_ok());
        let now = Instant::now();
        let (had_failed, was_valid) = {
            let known = self.known.borrow();
            (known.has_failed(), known.is_valid(config.keys_time))
        };
        match &fetched {
            Ok(keys) if had_failed || !was_valid => {
                tracing::info!(
                    issuer = config.issuer,
                    keys = keys.count(),
                    "the issuer's keys are known"
                );
            }
            Ok(_) => {}
            Err(reason) if had_failed => {
                tracing::debug!(reason, "the issuer's keys are not to be had")
            }
            Err(reason) => tracing::warn!(
                issuer = config.issuer,
                reason,
                has_keys = was_valid,
                "the issuer's keys cannot be fetched; those that are known are used until they are \
                 too old"
            ),
        }
        self.known.send_modify(|known| {
            known.tried_at = Some(now);
            known.next_at = Some(now + pause);
            if let Ok(keys) = fetched {
                known.fetched_at = Some(now);
                known.keys = Arc::new(keys);
            }
        });
        // Who wanted a key until now has the answer.
        let _answered: Option<()> = self.wanted.notified().now_or_never();
    }
}

/// The key among those that are known.
fn found(
    known: &Known,
    config: &OidcConfig,
    id: Option<&str>,
    algorithm: Algorithm,
) -> Result<PublicKey, Refusal> {
    let away = || {
        let next = known.next_at.map(|at| at.saturating_duration_since(Instant::now()));
        Refusal::Away(next.unwrap_or(GRACE).min(config.refetch_pause))
    };
    if !known.is_valid(config.keys_time) {
        return Err(away());
    }
    match known.keys.find(id, algorithm) {
        Lookup::Found(key) => Ok(key.clone()),
        Lookup::Unfit => Err(Refusal::Flaw(Flaw::KeyUse)),
        // Its key may be one that the issuer has made since.
        Lookup::Unknown if known.has_failed() => Err(away()),
        Lookup::Unknown => Err(Refusal::Flaw(Flaw::Key)),
    }
}
