//! The alerts: one description, from which the rules, the runbooks and the tests of the rules are
//! made.

mod servers;
mod work;

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::json;

use crate::{file, prometheus};

/// The rules, for Prometheus.
pub(crate) const RULES: &str = "compose/helm/staunch/files/alerts.yaml";
/// What to do about each alert.
const RUNBOOKS: &str = "docs/alerts.md";
/// Where the nodes show their book. What deploys Staunch puts the address of its nodes here.
const BOOK: &str = "http://localhost:5001/docs/book";

/// One alert.
pub(crate) struct Alert {
    pub(crate) name: &'static str,
    /// `critical`: work stands still or is about to; `warning`: it will, or somebody waits.
    pub(crate) severity: &'static str,
    pub(crate) expr: &'static str,
    /// How long the expression has to hold.
    pub(crate) hold: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) means: &'static str,
    pub(crate) look: &'static [&'static str],
    pub(crate) act: &'static str,
    pub(crate) test: Test,
}

/// Series, a sample a minute, that make an alert fire at a time.
pub(crate) struct Test {
    pub(crate) series: &'static [(&'static str, &'static str)],
    pub(crate) at: &'static str,
    /// The labels of the alert, beside its severity.
    pub(crate) labels: &'static [(&'static str, &'static str)],
}

/// Every alert.
fn all() -> impl Iterator<Item = &'static Alert> {
    servers::ALERTS.iter().chain(work::ALERTS)
}

const HEAD: &str = "\
# Made from tests/watch/src/alerts: UPDATE_EXPECT=1 for the tests of `watch` writes it anew.
# The jobs that scrape Staunch have `staunch` in their name. docs/alerts.md says what to do.
groups:
  - name: staunch
    rules:
";

/// The file of rules; `hold` decides how long each expression has to hold.
pub(crate) fn rules(hold: impl Fn(&Alert) -> String) -> String {
    let mut text = HEAD.to_owned();
    for alert in all() {
        text.push_str(&format!(
            "      - alert: {}\n        expr: {}\n        for: {}\n        labels:\n          \
             severity: {}\n        annotations:\n          summary: {}\n          \
             runbook_url: {}\n",
            alert.name,
            json!(alert.expr),
            hold(alert),
            alert.severity,
            json!(alert.summary),
            json!(runbook(alert)),
        ));
    }
    text
}

/// The place in the book of what to do about an alert.
fn runbook(alert: &Alert) -> String {
    let page = RUNBOOKS.trim_start_matches("docs/").trim_end_matches(".md");
    format!("{BOOK}/{page}#{}", book::slug(alert.name))
}

fn runbooks() -> String {
    let mut text = "\
# Alerts

The rules are in `compose/helm/staunch/files/alerts.yaml`, for Prometheus 2.40 and later; the jobs that scrape
Staunch need `staunch` in their name. Each alert has a link to its part of this page, as a node shows it;
[where nodes are](watching.md#dashboards-and-alerts) is a value of what deploys them. *Critical*: work stands still, or is about to. *Warning*: it will,
or somebody waits. Begin with `staunch doctor`: it names what is wrong with NATS, the database and the
nodes. What each metric means is in [metrics.md](metrics.md).

Each alert is made to fire in a test: by `promtool`, and by the fault itself, with nodes, a broker, a database
and a Prometheus. For nodes of different versions, the test shows metrics of a build that is no real one.

This file is made from `tests/watch/src/alerts`.
"
    .to_owned();
    for Alert { name, severity, expr, hold, summary, means, look, act, .. } in all() {
        let look: String = look.iter().map(|line| format!("- {line}\n")).collect();
        text.push_str(&format!(
            "\n## {name}\n\n*{severity}*: {summary}. Fires when this holds for {hold}:\n\n```promql\n\
             {expr}\n```\n\n**It means:** {means}\n\n**Look at:**\n\n{look}\n**Do:** {act}\n"
        ));
    }
    text
}

/// The tests of the rules, as `promtool test rules` reads them (JSON is YAML).
fn tests(rules: &str) -> String {
    let one = |alert: &Alert| {
        let series: Vec<_> = alert
            .test
            .series
            .iter()
            .map(|(series, values)| json!({"series": series, "values": values}))
            .collect();
        let mut labels = serde_json::Map::new();
        labels.insert("severity".to_owned(), json!(alert.severity));
        for (name, value) in alert.test.labels {
            labels.insert((*name).to_owned(), json!(value));
        }
        json!({
            "name": alert.name,
            "interval": "1m",
            "input_series": series,
            "alert_rule_test": [{
                "eval_time": alert.test.at,
                "alertname": alert.name,
                "exp_alerts": [{
                    "exp_labels": labels,
                    "exp_annotations": {"summary": alert.summary, "runbook_url": runbook(alert)},
                }],
            }, {
                "eval_time": "0m",
                "alertname": alert.name,
                "exp_alerts": [],
            }],
        })
    };
    let tests: Vec<_> = all().map(one).collect();
    json!({"rule_files": [rules], "evaluation_interval": "1m", "tests": tests}).to_string()
}

#[test]
fn the_files_are_made_from_the_description() {
    file::is_as_made(RULES, &rules(|alert| alert.hold.to_owned()));
    file::is_as_made(RUNBOOKS, &runbooks());
}

#[test]
fn alerts_ask_for_metrics_that_exist_and_runbooks_name_alerts_that_exist() {
    let names: BTreeSet<_> = all().map(|alert| alert.name).collect();
    assert_eq!(names.len(), all().count(), "a name is there twice");
    for alert in all() {
        let asked = prometheus::metrics_in(alert.expr);
        assert!(!asked.is_empty() || alert.expr.contains("up{"), "{}", alert.name);
        assert!(matches!(alert.severity, "critical" | "warning"), "{}", alert.name);
        assert!(!alert.look.is_empty(), "{}", alert.name);
        assert!(!alert.summary.ends_with('.'), "{}", alert.name);
    }
    let table = meter::markdown();
    for word in table.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.starts_with("Staunch") && word != "Staunch" {
            assert!(names.contains(word), "the table of metrics names the alert {word}");
        }
    }
}

#[test]
fn every_runbook_is_a_part_of_a_page_that_nodes_show() {
    let text = runbooks();
    let parts: BTreeSet<_> =
        text.lines().filter_map(|line| line.strip_prefix("## ")).map(book::slug).collect();
    for alert in all() {
        let runbook = runbook(alert);
        let (page, part) = runbook.strip_prefix(BOOK).unwrap().split_once('#').unwrap();
        assert!(book::book().page(page.trim_start_matches('/')).is_some(), "no page {page}");
        assert!(parts.contains(part), "{runbook} leads nowhere");
    }
}

#[test]
fn every_alert_fires_on_the_series_that_mean_it() {
    let Some(promtool) = testkit::promtool() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (given, tested) = (folder.path().join("alerts.yaml"), folder.path().join("tests.yaml"));
    std::fs::copy(file::path(RULES), &given).unwrap();
    std::fs::write(&tested, tests("alerts.yaml")).unwrap();
    let run = |arguments: &[&str]| {
        let ran = Command::new(&promtool).args(arguments).current_dir(folder.path()).output();
        let ran = ran.unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said));
    };
    run(&["check", "rules", "alerts.yaml"]);
    run(&["test", "rules", "tests.yaml"]);
}
