//! The instruments: counters, gauges, histograms. Each is a `static` beside its declaration.

use std::sync::OnceLock;
use std::time::Duration;

use prometheus::{HistogramOpts, Opts, Registry};

use crate::declared::{Declared, Kind};
use crate::series::Series;

/// What the table and the scrape need of an instrument.
pub(crate) trait Meter: Sync {
    fn declared(&self) -> &Declared;
    fn register(&self, registry: &Registry) -> Result<(), prometheus::Error>;
}

macro_rules! instrument {
    ($(#[$about:meta])* $name:ident, $kind:ident, $vec:ty, $one:ty, |$declared:ident| $options:expr) => {
        $(#[$about])*
        pub struct $name {
            declared: Declared,
            series: OnceLock<Option<Series<$vec, $one>>>,
        }

        impl $name {
            pub(crate) const fn new(declared: Declared) -> Self {
                Self { declared, series: OnceLock::new() }
            }

            /// Its series; none if its declaration is not valid, which a test rules out.
            fn series(&self) -> Option<&Series<$vec, $one>> {
                let make = || {
                    let $declared = &self.declared;
                    let names: Vec<_> = $declared.labels.iter().map(|label| label.name).collect();
                    let vec = <$vec>::new($options, &names);
                    let vec = vec.inspect_err(|error| tracing::error!(%error, "no such metric"));
                    vec.ok().map(|vec| Series::new(vec, $declared.labels))
                };
                self.series.get_or_init(make).as_ref()
            }
        }

        impl Meter for $name {
            fn declared(&self) -> &Declared {
                &self.declared
            }

            fn register(&self, registry: &Registry) -> Result<(), prometheus::Error> {
                match self.series() {
                    Some(series) => registry.register(Box::new(series.vec.clone())),
                    None => Err(prometheus::Error::Msg(self.declared.name.to_owned())),
                }
            }
        }
    };
}

instrument!(
    /// A number that only grows.
    Counter, Counter, prometheus::IntCounterVec, prometheus::IntCounter,
    |declared| Opts::new(declared.name, declared.meaning)
);
instrument!(
    /// A number that goes up and down.
    Gauge, Gauge, prometheus::GaugeVec, prometheus::Gauge,
    |declared| Opts::new(declared.name, declared.meaning)
);
instrument!(
    /// The distribution of values.
    Histogram, Histogram, prometheus::HistogramVec, prometheus::Histogram,
    |declared| HistogramOpts::new(declared.name, declared.meaning)
        .buckets(declared.unit.buckets().to_vec())
);

impl Counter {
    pub(crate) const KIND: Kind = Kind::Counter;

    /// Counts one.
    pub fn inc(&self, labels: &[&str]) {
        self.add(labels, 1);
    }

    /// Counts some.
    pub fn add(&self, labels: &[&str], number: u64) {
        if let Some(series) = self.series() {
            series.with(labels, |one| one.inc_by(number));
        }
    }

    /// Takes over a number that is counted elsewhere; it never falls.
    pub fn raise(&self, labels: &[&str], total: u64) {
        if let Some(series) = self.series() {
            series.with(labels, |one| one.inc_by(total.saturating_sub(one.get())));
        }
    }
}

impl Gauge {
    pub(crate) const KIND: Kind = Kind::Gauge;

    /// Sets the value.
    #[expect(clippy::cast_precision_loss, reason = "metrics are floating-point numbers")]
    pub fn set(&self, labels: &[&str], value: u64) {
        if let Some(series) = self.series() {
            series.with(labels, |one| one.set(value as f64));
        }
    }

    /// Adds to the value; less than nothing takes away.
    pub fn add(&self, labels: &[&str], change: i32) {
        if let Some(series) = self.series() {
            series.with(labels, |one| one.add(f64::from(change)));
        }
    }
}

impl Histogram {
    pub(crate) const KIND: Kind = Kind::Histogram;

    /// Records a time.
    pub fn record(&self, labels: &[&str], took: Duration) {
        self.record_value(labels, took.as_secs_f64());
    }

    /// Records a value.
    pub fn record_value(&self, labels: &[&str], value: f64) {
        if let Some(series) = self.series() {
            series.with(labels, |one| one.observe(value));
        }
    }
}
