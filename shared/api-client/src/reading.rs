//! The nodes' metrics: reads Prometheus' text format and compares two readings.

use std::collections::BTreeMap;

/// The metric that names the node.
const BUILD_INFO: &str = "staunch_build_info";

/// One reading of the metrics of several nodes, by name and labels.
#[derive(Clone, Debug, Default)]
pub struct Reading(BTreeMap<Series, f64>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    name: String,
    labels: BTreeMap<String, String>,
}

/// A histogram: for each bound, in increasing order, the number of values up to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram(Vec<(f64, f64)>);

impl Reading {
    /// Reads the metrics of a node; skips lines that it cannot parse.
    pub fn parse(text: &str) -> Self {
        Self(text.lines().filter(|line| !line.starts_with('#')).filter_map(series).collect())
    }

    /// The growth of a counter since an earlier reading, summed over all its labels. The counters
    /// of a node that was restarted in between begin at zero.
    pub fn added(&self, earlier: &Self, name: &str) -> f64 {
        self.since(earlier, name).map(|(_, value)| value).sum()
    }

    /// The growth of a counter since an earlier reading, of the series with this label.
    pub fn added_where(&self, earlier: &Self, name: &str, label: (&str, &str)) -> f64 {
        let has_label = |labels: &BTreeMap<String, String>| {
            labels.get(label.0).map(String::as_str) == Some(label.1)
        };
        let since = self.since(earlier, name).filter(|(labels, _)| has_label(labels));
        since.map(|(_, value)| value).sum()
    }

    /// The value of a gauge, summed over all its labels; none if the node has no such gauge.
    pub fn gauge(&self, name: &str) -> Option<f64> {
        let named = self.0.iter().filter(|(series, _)| series.name == name);
        named.map(|(_, value)| *value).reduce(|sum, value| sum + value)
    }

    /// The value of a gauge, summed over its series with this label; none if the node has no such
    /// series.
    pub fn gauge_where(&self, name: &str, (label, value): (&str, &str)) -> Option<f64> {
        let named = self.0.iter().filter(|(series, _)| {
            series.name == name && series.labels.get(label).map(String::as_str) == Some(value)
        });
        named.map(|(_, value)| *value).reduce(|sum, value| sum + value)
    }

    /// The node whose metrics these are.
    pub fn node(&self) -> Option<String> {
        let (info, _) = self.0.iter().find(|(series, _)| series.name == BUILD_INFO)?;
        info.labels.get("node").filter(|node| !node.is_empty()).cloned()
    }

    /// The values that a histogram got since an earlier reading, summed over all its labels.
    pub fn histogram(&self, earlier: &Self, name: &str) -> Histogram {
        Histogram::default().plus(self.since(earlier, &format!("{name}_bucket")))
    }

    fn since<'a>(
        &'a self,
        earlier: &'a Self,
        name: &str,
    ) -> impl Iterator<Item = (&'a BTreeMap<String, String>, f64)> {
        let named = self.0.iter().filter(move |(series, _)| series.name == name);
        let named: Vec<_> = named.collect();
        named.into_iter().map(|(series, now)| {
            let before = earlier.0.get(series).copied().filter(|before| before <= now);
            (&series.labels, now - before.unwrap_or_default())
        })
    }
}

impl Histogram {
    fn plus<'a>(self, more: impl Iterator<Item = (&'a BTreeMap<String, String>, f64)>) -> Self {
        let mut buckets = self.0;
        for (labels, count) in more {
            let bound = match labels.get("le").map(String::as_str) {
                Some("+Inf") => f64::INFINITY,
                Some(text) => match text.parse() {
                    Ok(bound) => bound,
                    Err(_) => continue,
                },
                None => continue,
            };
            match buckets.iter_mut().find(|(known, _)| *known == bound) {
                Some((_, sum)) => *sum += count,
                None => buckets.push((bound, count)),
            }
        }
        buckets.sort_by(|left, right| left.0.total_cmp(&right.0));
        Self(buckets)
    }

    /// The sum of two histograms.
    pub fn and(self, other: &Self) -> Self {
        let mut buckets = self.0;
        for (bound, count) in &other.0 {
            match buckets.iter_mut().find(|(known, _)| known == bound) {
                Some((_, sum)) => *sum += count,
                None => buckets.push((*bound, *count)),
            }
        }
        buckets.sort_by(|left, right| left.0.total_cmp(&right.0));
        Self(buckets)
    }

    /// The number of values.
    pub fn count(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, count)| *count)
    }

    /// The share of the values up to `bound`; exact if it is the bound of a bucket.
    pub fn within(&self, bound: f64) -> f64 {
        let below = self.0.iter().rfind(|(known, _)| *known <= bound).map_or(0.0, |(_, n)| *n);
        if self.count() > 0.0 { below / self.count() } else { 1.0 }
    }

    /// The first bound that is not below this value.
    pub fn rounded_up(&self, value: f64) -> f64 {
        let mut bounds = self.0.iter().map(|(bound, _)| *bound);
        bounds.find(|bound| *bound >= value).unwrap_or(f64::INFINITY)
    }

    /// The two bounds between which this quantile lies.
    pub fn at(&self, part: f64) -> (f64, f64) {
        let wanted = part * self.count();
        let mut lower = 0.0;
        for (bound, count) in &self.0 {
            if *count >= wanted && *count > 0.0 {
                return (lower, *bound);
            }
            lower = *bound;
        }
        (0.0, 0.0)
    }
}

/// `name{label="value",…} 1.5`
fn series(line: &str) -> Option<(Series, f64)> {
    let (key, value) = line.trim().rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let (name, labels) = match key.split_once('{') {
        Some((name, rest)) => (name, rest.trim_end_matches('}')),
        None => (key, ""),
    };
    let mut read = BTreeMap::new();
    // The values of our labels have no comma and no quote.
    for label in labels.split(',').filter(|label| !label.is_empty()) {
        let (name, value) = label.split_once('=')?;
        read.insert(name.to_owned(), value.trim_matches('"').to_owned());
    }
    Some((Series { name: name.to_owned(), labels: read }, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str =
        "# TYPE fired counter\nfired_total{kind=\"a\"} 3\nfired_total{kind=\"b\"} 9\n";
    const AFTER: &str = "fired_total{kind=\"a\"} 5\nfired_total{kind=\"b\"} 1\nother 7\nnonsense\n\
        wait_seconds_bucket{c=\"y\",le=\"0.1\"} 90\nwait_seconds_bucket{c=\"n\",le=\"0.1\"} 9\n\
        wait_seconds_bucket{c=\"y\",le=\"+Inf\"} 91\nwait_seconds_bucket{c=\"n\",le=\"+Inf\"} 9\n\
        wait_seconds_bucket{c=\"y\",le=\"0.001\"} 50\n";

    #[test]
    fn what_was_added_is_told_even_after_a_restart() {
        let (before, after) = (Reading::parse(BEFORE), Reading::parse(AFTER));
        assert_eq!(after.added(&before, "fired_total"), 2.0 + 1.0);
        assert_eq!(after.added(&before, "other"), 7.0);
        assert_eq!(after.added(&before, "unknown"), 0.0);
        assert_eq!(after.added_where(&before, "fired_total", ("kind", "a")), 2.0);
        assert_eq!((after.gauge("fired_total"), after.gauge("unknown")), (Some(6.0), None));
    }

    #[test]
    fn a_histogram_sums_its_labels_and_knows_its_bounds() {
        let waits = Reading::parse(AFTER).histogram(&Reading::default(), "wait_seconds");
        assert_eq!(waits.count(), 100.0);
        assert_eq!(waits.at(0.5), (0.0, 0.001));
        assert_eq!(waits.at(0.99), (0.001, 0.1));
        assert_eq!(waits.at(1.0), (0.1, f64::INFINITY));
        assert_eq!(waits.within(0.1), 0.99);
        assert_eq!((waits.rounded_up(0.1), waits.rounded_up(0.2)), (0.1, f64::INFINITY));
        let twice = waits.clone().and(&waits);
        assert_eq!((twice.count(), twice.within(0.1)), (200.0, 0.99));
        assert_eq!(Histogram::default().at(0.99), (0.0, 0.0));
    }
}
