//! Metrics of the cache notifier.

use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram};

/// The instruments of this service.
#[derive(Clone)]
pub(crate) struct Metrics {
    announced: Counter<u64>,
    incomplete: Counter<u64>,
    mended: Counter<u64>,
    spread: Histogram<f64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = opentelemetry::global::meter("staunch-cache-notifier");
        let counter = |name: &'static str, what: &'static str| {
            meter.u64_counter(name).with_description(what).build()
        };
        Self {
            announced: counter("staunch_cache_announced", "Changes of definitions announced"),
            incomplete: counter(
                "staunch_cache_incomplete",
                "Announcements that a live node did not confirm in time",
            ),
            mended: counter(
                "staunch_cache_mended",
                "Pointers that differed from the database and were set right",
            ),
            spread: meter
                .f64_histogram("staunch_cache_spread")
                .with_description("From the announcement until every live node had it")
                .with_unit("s")
                .with_boundaries(chassis::SECONDS.to_vec())
                .build(),
        }
    }

    pub(crate) fn announced(&self, everywhere: bool, after: Duration) {
        self.announced.add(1, &[]);
        if everywhere {
            self.spread.record(after.as_secs_f64(), &[]);
        } else {
            self.incomplete.add(1, &[]);
        }
    }

    pub(crate) fn mended(&self) {
        self.mended.add(1, &[]);
    }
}
