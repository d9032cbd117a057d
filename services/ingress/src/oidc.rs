//! Access tokens of an OpenID Connect issuer: who may call is decided elsewhere, what a caller may
//! do is decided by its claims and by the settings.
//!
//! A token is read and its claims are checked first; only a token that would be good is looked up
//! by its key. So a token of another issuer, for another audience, or of yesterday makes nobody
//! fetch anything. Tokens are not logged, and nothing of them is kept.

mod algorithm;
mod config;
mod fetch;
mod keys;
mod rights;
mod source;
mod token;

pub use algorithm::Algorithm;
pub use config::OidcConfig;

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use tokio_util::sync::CancellationToken;

use crate::Problem;
use crate::metrics::Metrics;
use rights::Rights;
use source::{Refusal, Source};
use token::Flaw;

/// One issuer.
pub(crate) struct Oidc {
    config: OidcConfig,
    source: Source,
    metrics: Metrics,
    /// The OpenAPI document that names the issuer.
    pub(crate) description: OnceLock<Bytes>,
}

/// The caller that a token names.
#[derive(Debug)]
pub(crate) struct Principal {
    /// For the audit log.
    pub(crate) name: String,
    /// Permissions by name.
    pub(crate) permissions: Vec<String>,
    /// The ids of roles of the database, whose permissions it has, too.
    pub(crate) roles: Vec<String>,
}

impl Oidc {
    pub(crate) fn new(config: OidcConfig, metrics: Metrics) -> Self {
        let source = Source::new(&config, metrics.clone());
        Self { config, source, metrics, description: OnceLock::new() }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> &OidcConfig {
        &self.config
    }

    /// Whether the token claims to be from this issuer.
    pub(crate) fn is_claimed_by(&self, token: &str) -> bool {
        token::claimed_issuer(token).is_some_and(|issuer| issuer == self.config.issuer)
    }

    /// The refusal of a token that is neither from this issuer nor from `own`; none if it does not say
    /// whose it is.
    pub(crate) fn refusal_of_others(&self, token: &str, own: &str) -> Option<Problem> {
        let claimed = token::claimed_issuer(token)?;
        let issuer = self.config.issuer.as_str();
        if [own, issuer].contains(&claimed.as_str()) {
            return None;
        }
        self.metrics.token_refused(Flaw::Issuer.label());
        let text = format!("the token is from another issuer: use one of {issuer} or {own}");
        Some(Problem::invalid_token(&text.replace('"', "'")))
    }

    /// The caller that a token names: 401 if the token is no good, 503 if its issuer cannot be
    /// asked for its key.
    pub(crate) async fn principal(
        &self,
        token: &str,
        now_seconds: i64,
    ) -> Result<Principal, Problem> {
        self.check(token, now_seconds).await.map_err(|reason| self.refusal(reason))
    }

    async fn check(&self, token: &str, now_seconds: i64) -> Result<Principal, Refusal> {
        let config = &self.config;
        let sealed = token::open(token, &config.algorithms).map_err(Refusal::Flaw)?;
        sealed.check(config, now_seconds).map_err(Refusal::Flaw)?;
        let id = sealed.key_id.as_deref();
        let key = self.source.key(config, id, sealed.algorithm).await?;
        if !sealed.is_signed_by(&key) {
            return Err(Refusal::Flaw(Flaw::Signature));
        }
        let subject = sealed.subject().map_err(Refusal::Flaw)?;
        let name = rights::name(subject, &sealed.claims, config);
        let Rights { permissions, roles } =
            rights::of(&sealed.claims, config).map_err(Refusal::Flaw)?;
        Ok(Principal { name, permissions, roles })
    }

    fn refusal(&self, reason: Refusal) -> Problem {
        match reason {
            Refusal::Flaw(flaw) => {
                self.metrics.token_refused(flaw.label());
                tracing::debug!(flaw = flaw.label(), "a token is refused");
                Problem::invalid_token(&flaw.to_string())
            }
            Refusal::Away(time) => {
                self.metrics.token_refused("issuer_away");
                let seconds = time.as_secs().max(1);
                Problem::unavailable(
                    "the issuer of the token does not answer, and its key is not known here: try \
                     again in a moment",
                )
                .header(RETRY_AFTER, HeaderValue::from(seconds))
            }
        }
    }
}

/// Keeps the keys of the issuer fresh until `stop` is cancelled.
pub(crate) async fn following(oidc: Arc<Oidc>, stop: CancellationToken) {
    tasks::supervised("ingress oidc", stop.clone(), || {
        let (oidc, stop) = (Arc::clone(&oidc), stop.clone());
        async move {
            stop.run_until_cancelled(oidc.source.follow(&oidc.config)).await;
        }
    })
    .await;
}
