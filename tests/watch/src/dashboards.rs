//! The dashboards: one description, from which Grafana's JSON is made.

mod list;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{file, prometheus};
use list::DASHBOARDS;

const FOLDER: &str = "compose/grafana/dashboards";
/// Panels in one row of the grid, and the height of each, in Grafana's units of 24 columns.
const ACROSS: usize = 3;
const WIDTH: usize = 24 / ACROSS;
const HEIGHT: usize = 8;

/// One page.
pub(crate) struct Dashboard {
    /// The name of its file, and its id.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [Row],
}

/// Panels under a headline.
pub(crate) struct Row {
    pub(crate) title: &'static str,
    pub(crate) panels: &'static [Panel],
}

/// One panel.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    /// Grafana's name of the unit: `short`, `s`, `ops`, `bytes`, `percentunit`.
    pub(crate) unit: &'static str,
    pub(crate) queries: &'static [Query],
}

/// One query of a panel.
#[derive(Clone, Copy)]
pub(crate) enum Query {
    /// The growth a second of a counter, summed by labels.
    Rate(&'static str, &'static [&'static str]),
    /// 50 %, 95 % and 99 % of a histogram, over all nodes.
    Times(&'static str),
    /// The observations a second of a histogram, summed by labels.
    Count(&'static str, &'static [&'static str]),
    /// A gauge that one node counts for all, or that shows the worst of them; by labels.
    Max(&'static str, &'static [&'static str]),
    /// A gauge summed over the nodes, by labels.
    Sum(&'static str, &'static [&'static str]),
    /// Any other query, with its legend.
    Other(&'static str, &'static str),
}

impl Query {
    /// The queries as PromQL, each with its legend.
    pub(crate) fn texts(self) -> Vec<(String, String)> {
        let by = |labels: &[&str]| match labels {
            [] => String::new(),
            labels => format!(" by ({})", labels.join(", ")),
        };
        let legend = |name: &str, labels: &[&str]| match labels {
            [] => name.trim_start_matches("staunch_").to_owned(),
            labels => {
                let each = labels.iter().map(|label| format!("{{{{{label}}}}}"));
                each.collect::<Vec<_>>().join(" ")
            }
        };
        let all = r#"{instance=~"$instance"}"#;
        match self {
            Self::Rate(name, labels) => vec![(
                format!("sum{} (rate({name}{all}[$__rate_interval]))", by(labels)),
                legend(name, labels),
            )],
            Self::Count(name, labels) => vec![(
                format!("sum{} (rate({name}_count{all}[$__rate_interval]))", by(labels)),
                legend(name, labels),
            )],
            Self::Times(name) => [("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99")]
                .map(|(share, legend)| {
                    let query = format!(
                        "histogram_quantile({share}, sum by (le) \
                         (rate({name}_bucket{all}[$__rate_interval])))"
                    );
                    (query, legend.to_owned())
                })
                .to_vec(),
            Self::Max(name, labels) => {
                vec![(format!("max{} ({name}{all})", by(labels)), legend(name, labels))]
            }
            Self::Sum(name, labels) => {
                vec![(format!("sum{} ({name}{all})", by(labels)), legend(name, labels))]
            }
            Self::Other(query, legend) => vec![(query.to_owned(), legend.to_owned())],
        }
    }
}

/// Every query of every panel, with the place where it is.
pub(crate) fn queries() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for dashboard in DASHBOARDS {
        for row in dashboard.rows {
            for panel in row.panels {
                let place = format!("{}: {}: {}", dashboard.title, row.title, panel.title);
                let texts = panel.queries.iter().flat_map(|query| query.texts());
                all.extend(texts.map(|(text, _)| (place.clone(), text)));
            }
        }
    }
    all
}

fn document(dashboard: &Dashboard) -> Value {
    let (mut panels, mut top) = (Vec::new(), 0);
    for row in dashboard.rows {
        let id = panels.len() + 1;
        let place = json!({"x": 0, "y": top, "w": 24, "h": 1});
        panels.push(json!({"id": id, "type": "row", "title": row.title, "gridPos": place,
            "collapsed": false, "panels": []}));
        top += 1;
        for (number, panel) in row.panels.iter().enumerate() {
            let (x, y) = (number % ACROSS * WIDTH, top + number / ACROSS * HEIGHT);
            let place = json!({"x": x, "y": y, "w": WIDTH, "h": HEIGHT});
            panels.push(shown(panel, panels.len() + 1, &place));
        }
        top += row.panels.len().div_ceil(ACROSS) * HEIGHT;
    }
    let source = json!({"name": "datasource", "label": "Prometheus", "type": "datasource",
        "query": "prometheus", "current": {}, "hide": 0});
    let node = json!({"name": "instance", "label": "Node", "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": {"query": "label_values(staunch_build_info, instance)", "refId": "nodes"},
        "definition": "label_values(staunch_build_info, instance)",
        "includeAll": true, "allValue": ".*", "multi": true, "refresh": 2, "sort": 1,
        "current": {"text": "All", "value": "$__all"}});
    json!({
        "uid": format!("staunch-{}", dashboard.name),
        "title": dashboard.title,
        "tags": ["staunch"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [source, node]},
        "annotations": {"list": []},
        "links": [{"type": "dashboards", "title": "Staunch", "tags": ["staunch"], "asDropdown": true}],
        "panels": panels,
    })
}

fn shown(panel: &Panel, id: usize, place: &Value) -> Value {
    let texts = panel.queries.iter().flat_map(|query| query.texts());
    let source = json!({"type": "prometheus", "uid": "${datasource}"});
    let target = |(number, (query, legend)): (usize, (String, String))| {
        let letter = char::from(b'A' + u8::try_from(number).unwrap());
        json!({"refId": letter.to_string(), "expr": query, "legendFormat": legend,
            "datasource": source})
    };
    let targets: Vec<_> = texts.enumerate().map(target).collect();
    json!({
        "id": id,
        "type": "timeseries",
        "title": panel.title,
        "description": about(panel),
        "datasource": source,
        "gridPos": place,
        "targets": targets,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0,
                "custom": {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 10,
                    "showPoints": "auto", "spanNulls": true}},
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": true},
            "tooltip": {"mode": "multi", "sort": "desc"}},
    })
}

/// What the metrics of a panel mean, and what is normal.
fn about(panel: &Panel) -> String {
    let mut seen = BTreeSet::new();
    let mut text = Vec::new();
    for (query, _) in panel.queries.iter().flat_map(|query| query.texts()) {
        for name in prometheus::metrics_in(&query) {
            if !seen.insert(name) {
                continue;
            }
            let all = meter::declarations().into_iter().flat_map(|(_, metrics)| metrics);
            let found = all.into_iter().find(|metric| metric.name == name).unwrap();
            text.push(format!(
                "{}. Normal: {}. Otherwise: {}.",
                found.meaning, found.normal, found.otherwise
            ));
        }
    }
    text.join("\n\n")
}

#[test]
fn the_files_are_made_from_the_description() {
    for dashboard in DASHBOARDS {
        let name = format!("{FOLDER}/{}.json", dashboard.name);
        let made = serde_json::to_string_pretty(&document(dashboard)).unwrap();
        file::is_as_made(&name, &format!("{made}\n"));
    }
    let files = std::fs::read_dir(file::path(FOLDER)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".json")).count();
    assert_eq!(pages, DASHBOARDS.len(), "{FOLDER} has another page");
}

#[test]
fn every_metric_is_on_a_panel_and_every_panel_asks_for_metrics() {
    let mut asked = BTreeSet::new();
    for (place, query) in queries() {
        let found = prometheus::metrics_in(&query);
        assert!(!found.is_empty(), "{place}: {query}");
        asked.extend(found);
    }
    for metric in meter::declarations().into_iter().flat_map(|(_, metrics)| metrics) {
        assert!(asked.contains(metric.name), "{} is on no panel", metric.name);
    }
}
