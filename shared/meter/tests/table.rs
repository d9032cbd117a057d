//! The declarations, the table made of them, and what a process shows.

#![expect(clippy::disallowed_methods, reason = "a switch for the author")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use meter::{Kind, Unit, Values, declarations};

#[test]
fn the_table_is_what_the_code_declares() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(meter::TABLE);
    let made = meter::markdown();
    if std::env::var("UPDATE_EXPECT").is_ok() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "{} is old: run this test with UPDATE_EXPECT=1", meter::TABLE);
}

#[test]
fn every_series_with_known_labels_is_there_from_the_start() {
    let text = meter::text();
    for metric in declarations().into_iter().flat_map(|(_, metrics)| metrics) {
        if metric.labels.iter().any(|label| matches!(label.values, Values::Open(_))) {
            continue;
        }
        let series: usize = metric
            .labels
            .iter()
            .map(|label| match label.values {
                Values::Closed(values) => values.len(),
                Values::Open(_) => 0,
            })
            .product();
        let one = match metric.kind {
            Kind::Histogram => format!("{}_count", metric.name),
            Kind::Counter | Kind::Gauge => metric.name.to_owned(),
        };
        let is_one = |line: &&str| {
            line.strip_prefix(one.as_str()).is_some_and(|rest| rest.starts_with(['{', ' ']))
        };
        let found = text.lines().filter(is_one).count();
        assert_eq!(found, series, "{}", metric.name);
    }
}

#[test]
fn names_are_as_prometheus_wants_them() {
    let mut names = BTreeSet::new();
    for metric in declarations().into_iter().flat_map(|(_, metrics)| metrics) {
        let name = metric.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(name.starts_with("staunch_"), "{name}");
        assert_eq!(name.ends_with("_total"), metric.kind == Kind::Counter, "{name}");
        let is_time = matches!(metric.unit, Unit::Seconds | Unit::LongSeconds | Unit::Time);
        assert_eq!(name.ends_with("_seconds"), is_time, "{name}");
        assert_eq!(name.ends_with("_bytes"), metric.unit == Unit::Bytes, "{name}");
        for text in [metric.meaning, metric.normal, metric.otherwise] {
            assert!(
                !text.is_empty() && !text.ends_with('.') && !text.contains('|'),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn what_is_counted_is_shown() {
    meter::LEASE_FAILURES.inc(&["held"]);
    meter::LEASE_WAIT.record(&["true"], Duration::from_millis(30));
    meter::TASK_PANICS.raise(&["one"], 3);
    meter::TASK_PANICS.raise(&["one"], 2);
    meter::COMMANDS_IN_HAND.add(&[], 2);
    meter::COMMANDS_IN_HAND.add(&[], -1);
    meter::at_scrape(|| {
        meter::NODES_LIVE.set(&[], 5);
        true
    });
    let text = meter::text();
    for line in [
        "staunch_lease_failures_total{why=\"held\"} 1",
        "staunch_lease_wait_seconds_bucket{contended=\"true\",le=\"0.05\"} 1",
        "staunch_lease_wait_seconds_bucket{contended=\"true\",le=\"0.025\"} 0",
        "staunch_task_panics_total{task=\"one\"} 3",
        "staunch_commands_in_hand 1",
        "staunch_nodes_live 5",
        "# TYPE staunch_lease_wait_seconds histogram",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
    }
}
