//! The table of all metrics, for readers.

use std::fmt::Write as _;

use crate::declared::{Declared, Label, Values};
use crate::scrape::declarations;

/// The file of the table, from the root of the repository.
pub const TABLE: &str = "docs/metrics.md";

const HEAD: &str = "\
# Metrics

Every node serves them in Prometheus' format: at `GET /metrics` of the HTTP API (role ingress), and at
`/metrics` of `admin-listen`, with every role. Each series whose labels have fixed values exists from
the start, with 0. Times are in seconds. Figures of the whole cluster (`staunch_cluster_*`) are counted
by one node at a time, the first of the live nodes by name, and are 0 on the others: take `max`, not
`sum`. Dashboards are in `compose/grafana/dashboards`, alerts in `compose/helm/staunch/files/alerts.yaml`, what
to do about an alert in [alerts.md](alerts.md).

This file is made from the declarations in `shared/meter/src/all`, by which the program registers its
metrics: `UPDATE_EXPECT=1` for the tests of `meter` writes it anew.
";

/// The table as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    for (subject, metrics) in declarations() {
        text.push_str(&format!(
            "\n## {subject}\n\n| metric | kind, unit | labels | meaning | normal | otherwise |\n\
             |---|---|---|---|---|---|\n"
        ));
        metrics.into_iter().for_each(|metric| row(&mut text, metric));
    }
    text
}

fn row(text: &mut String, metric: &Declared) {
    let Declared { name, kind, unit, labels, meaning, normal, otherwise } = metric;
    let (kind, unit) = (kind.as_str(), unit.as_str());
    let labels: Vec<_> = labels.iter().map(label).collect();
    let labels = if labels.is_empty() { "–".to_owned() } else { labels.join("; ") };
    // Writing to a text cannot fail.
    let _written: std::fmt::Result = writeln!(
        text,
        "| `{name}` | {kind}, {unit} | {labels} | {meaning} | {normal} | {otherwise} |"
    );
}

fn label(label: &Label) -> String {
    match label.values {
        Values::Closed(values) => format!("`{}`: {}", label.name, values.join(", ")),
        Values::Open(what) => format!("`{}`: {what}", label.name),
    }
}
