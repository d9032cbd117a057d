//! The metrics of ingress.

use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram};
use opentelemetry::{KeyValue, global};

/// The instruments of ingress.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    duration: Histogram<f64>,
    refused: Counter<u64>,
    unpublished: Counter<u64>,
    panicked: Counter<u64>,
    tokens_refused: Counter<u64>,
    keys_fetched: Counter<u64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("staunch-ingress");
        Self {
            duration: meter
                .f64_histogram("staunch_http_request_duration")
                .with_unit("s")
                .with_description("Time from a request to its answer, by route and status")
                .with_boundaries(chassis::SECONDS.to_vec())
                .build(),
            refused: meter
                .u64_counter("staunch_http_requests_refused")
                .with_description("Requests refused because there was too much to do")
                .build(),
            unpublished: meter
                .u64_counter("staunch_http_accepted_unpublished")
                .with_description("Commands accepted that only the sweep could publish")
                .build(),
            panicked: meter
                .u64_counter("staunch_http_requests_panicked")
                .with_description("Requests whose handler panicked; a fault of this server")
                .build(),
            tokens_refused: meter
                .u64_counter("staunch_oidc_tokens_refused")
                .with_description("Tokens of an issuer that were refused, by reason")
                .build(),
            keys_fetched: meter
                .u64_counter("staunch_oidc_keys_fetched")
                .with_description("Fetches of the issuer's keys, by success")
                .build(),
        }
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        // A client could invent any number of methods, and each would become a label.
        let known = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
        let method = known.into_iter().find(|known| *known == method).unwrap_or("OTHER");
        let labels = [
            KeyValue::new("method", method),
            KeyValue::new("route", route.to_owned()),
            KeyValue::new("status", i64::from(status)),
        ];
        self.duration.record(took.as_secs_f64(), &labels);
    }

    /// Counts a request that was refused.
    pub(crate) fn refused(&self) {
        self.refused.add(1, &[]);
    }

    /// Counts a request whose handler panicked.
    pub(crate) fn panicked(&self) {
        self.panicked.add(1, &[]);
    }

    /// Counts a token of an issuer that was refused.
    pub(crate) fn token_refused(&self, reason: &'static str) {
        self.tokens_refused.add(1, &[KeyValue::new("reason", reason)]);
    }

    /// Counts a fetch of the issuer's keys.
    pub(crate) fn keys_fetched(&self, is_ok: bool) {
        self.keys_fetched.add(1, &[KeyValue::new("ok", is_ok)]);
    }

    /// Counts an accepted command that could not be published.
    pub(crate) fn unpublished(&self) {
        self.unpublished.add(1, &[]);
    }
}
