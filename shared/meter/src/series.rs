//! The series of one metric: those with declared values are made at once, so that they exist from the
//! start and are found without a lock.

use prometheus::core::{Collector, Metric, MetricVec, MetricVecBuilder};

use crate::declared::{Label, Values};

/// The series of one metric.
pub(crate) struct Series<V, T> {
    pub(crate) vec: V,
    known: Vec<(Vec<&'static str>, T)>,
}

/// A vector of series, of any kind.
pub(crate) trait Family<T>: Collector {
    fn of(&self, labels: &[&str]) -> Result<T, prometheus::Error>;
}

impl<B: MetricVecBuilder<M = T>, T: Metric> Family<T> for MetricVec<B> {
    fn of(&self, labels: &[&str]) -> Result<T, prometheus::Error> {
        self.get_metric_with_label_values(labels)
    }
}

impl<V: Family<T>, T> Series<V, T> {
    pub(crate) fn new(vec: V, labels: &'static [Label]) -> Self {
        let all = combinations(labels);
        let known = all.into_iter().filter_map(|values| {
            let one = vec.of(&values).ok()?;
            Some((values, one))
        });
        let known = known.collect();
        Self { vec, known }
    }

    /// Runs `count` on the series with these values of the labels, in the order of the declaration.
    pub(crate) fn with(&self, labels: &[&str], count: impl FnOnce(&T)) {
        if let Some((_, one)) = self.known.iter().find(|(values, _)| values.as_slice() == labels) {
            return count(one);
        }
        match self.vec.of(labels) {
            Ok(one) => count(&one),
            Err(error) => tracing::error!(%error, ?labels, "a metric has other labels"),
        }
    }
}

/// Each combination of declared values; none if a label is open.
pub(crate) fn combinations(labels: &[Label]) -> Vec<Vec<&'static str>> {
    labels.iter().fold(vec![Vec::new()], |all, label| match label.values {
        Values::Open(_) => Vec::new(),
        Values::Closed(values) => {
            let longer = |before: &Vec<&'static str>| {
                let before = before.clone();
                values.iter().map(move |value| [before.as_slice(), &[*value]].concat())
            };
            all.iter().flat_map(longer).collect()
        }
    })
}
