//! The declaration of a metric.

/// The declaration of a metric: all that there is to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Its name, with the unit and the suffix that Prometheus wants.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// Its labels.
    pub labels: &'static [Label],
    /// What it counts or measures.
    pub meaning: &'static str,
    /// Its value while all is well.
    pub normal: &'static str,
    /// What to do when the value is another one.
    pub otherwise: &'static str,
}

/// The kind of a metric, as Prometheus knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, until the process ends.
    Counter,
    /// Goes up and down.
    Gauge,
    /// The distribution of values.
    Histogram,
}

impl Kind {
    /// As Prometheus writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// The unit of a metric, with the bounds of the buckets if it is a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things: the name says which.
    Count,
    /// 1 for yes, 0 for no.
    Truth,
    /// Seconds of work within this process and what it depends on.
    Seconds,
    /// Seconds in which a person or another system may have been waited for.
    LongSeconds,
    /// Seconds since 1970.
    Time,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// As the table has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "1",
            Self::Truth => "0 or 1",
            Self::Seconds | Self::LongSeconds => "s",
            Self::Time => "s since 1970",
            Self::Bytes => "bytes",
        }
    }

    pub(crate) fn buckets(self) -> &'static [f64] {
        match self {
            Self::LongSeconds => &LONG,
            Self::Count | Self::Bytes => &SIZES,
            Self::Seconds | Self::Truth | Self::Time => &SHORT,
        }
    }
}

const SHORT: [f64; 15] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
const LONG: [f64; 14] = [
    0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0, 1_800.0, 3_600.0, 21_600.0, 86_400.0,
    604_800.0,
];
const SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// A label, and its values.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: Values,
}

/// The values of a label.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// These, each with a series from the start.
    Closed(&'static [&'static str]),
    /// As many as there are of something that is limited; the text says of what.
    Open(&'static str),
}
