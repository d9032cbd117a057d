//! The metrics of the cache notifier.

use std::time::Duration;

/// The metrics of this service.
#[derive(Clone)]
pub(crate) struct Metrics;

impl Metrics {
    pub(crate) fn announced(&self, everywhere: bool, after: Duration) {
        meter::CACHE_ANNOUNCED.inc(&[]);
        if everywhere {
            meter::CACHE_SPREAD.record(&[], after);
        } else {
            meter::CACHE_INCOMPLETE.inc(&[]);
        }
    }

    pub(crate) fn mended(&self) {
        meter::CACHE_MENDED.inc(&[]);
    }
}
