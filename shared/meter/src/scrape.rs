//! The registry of all metrics, and their text.

use std::sync::{LazyLock, Mutex, PoisonError};

use prometheus::{Registry, TextEncoder};

use crate::all;
use crate::declared::Declared;

type Observer = Box<dyn Fn() -> bool + Send>;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let registry = Registry::new();
    for meter in all::groups().into_iter().flat_map(|(_, meters)| meters) {
        if let Err(error) = meter.register(&registry) {
            tracing::error!(%error, "a metric cannot be shown");
        }
    }
    registry
});
static OBSERVERS: Mutex<Vec<Observer>> = Mutex::new(Vec::new());

/// Runs this before each scrape, to set metrics whose values are kept elsewhere; until it answers
/// false. It must not wait.
pub fn at_scrape(observe: impl Fn() -> bool + Send + 'static) {
    OBSERVERS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(observe));
}

/// All metrics of this process in Prometheus' text format.
#[must_use]
pub fn text() -> String {
    OBSERVERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|observe| observe());
    let mut text = String::new();
    if let Err(error) = TextEncoder::new().encode_utf8(&REGISTRY.gather(), &mut text) {
        tracing::error!(%error, "the metrics could not be written");
    }
    text
}

/// Every metric, by subject.
#[must_use]
pub fn declarations() -> Vec<(&'static str, Vec<&'static Declared>)> {
    let of = |(subject, meters): (_, &'static [&'static dyn crate::instrument::Meter])| {
        (subject, meters.iter().map(|meter| meter.declared()).collect())
    };
    all::groups().into_iter().map(of).collect()
}
