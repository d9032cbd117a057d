//! The metrics of ingress: what it counts, as labels.

use std::time::Duration;

/// The metrics of ingress.
#[derive(Clone, Debug)]
pub(crate) struct Metrics;

impl Metrics {
    /// Counts a request that was answered.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        // A client could invent any number of methods, and each would become a label.
        let known = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
        let method = known.into_iter().find(|known| *known == method).unwrap_or("OTHER");
        meter::HTTP_REQUEST_DURATION.record(&[method, route, &status.to_string()], took);
    }

    /// Counts a request that was refused.
    pub(crate) fn refused(&self) {
        meter::HTTP_REQUESTS_REFUSED.inc(&[]);
    }

    /// Counts a request whose handler panicked.
    pub(crate) fn panicked(&self) {
        meter::HTTP_REQUESTS_PANICKED.inc(&[]);
    }

    /// Counts a token of an issuer that was refused.
    pub(crate) fn token_refused(&self, reason: &'static str) {
        meter::OIDC_TOKENS_REFUSED.inc(&[reason]);
    }

    /// Counts a fetch of the issuer's keys.
    pub(crate) fn keys_fetched(&self, is_ok: bool) {
        meter::OIDC_KEYS_FETCHED.inc(&[if is_ok { "true" } else { "false" }]);
    }

    /// Counts an accepted command that could not be published.
    pub(crate) fn unpublished(&self) {
        meter::HTTP_ACCEPTED_UNPUBLISHED.inc(&[]);
    }
}
