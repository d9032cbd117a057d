//! What a running node shows is what the table says, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cluster::{Cluster, Plan};
use meter::{Declared, Values};
use testkit::{eventually, executable};

use crate::api::Api;
use crate::load;

/// The series of a scrape: names without the endings of histograms, each with its labels.
fn series(text: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let read = |line: &str| {
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let labels = labels.trim_end_matches('}').split("\",");
        let pair = |label: &str| {
            let (name, value) = label.split_once("=\"")?;
            Some((name.to_owned(), value.trim_end_matches('"').to_owned()))
        };
        (name.to_owned(), labels.filter_map(pair).collect())
    };
    lines.map(read).collect()
}

fn declared() -> BTreeMap<&'static str, &'static Declared> {
    let all = meter::declarations().into_iter().flat_map(|(_, metrics)| metrics);
    all.map(|metric| (metric.name, metric)).collect()
}

/// The names and kinds of a scrape.
fn kinds(text: &str) -> BTreeMap<String, String> {
    let kind = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        Some((name.to_owned(), kind.to_owned()))
    };
    text.lines().filter_map(kind).collect()
}

/// Every series has the labels of its declaration, and no values but declared ones.
fn check_labels(text: &str) {
    let declared = declared();
    for (name, mut labels) in series(text) {
        let endings = ["_bucket", "_sum", "_count"];
        let ending = endings.iter().find_map(|ending| name.strip_suffix(ending));
        let metric = declared.get(name.as_str()).or_else(|| declared.get(ending?));
        let metric = metric.unwrap_or_else(|| panic!("{name} is not in the table"));
        labels.remove("le");
        let names: BTreeSet<_> = labels.keys().map(String::as_str).collect();
        let expected: BTreeSet<_> = metric.labels.iter().map(|label| label.name).collect();
        assert_eq!(names, expected, "the labels of {name}");
        for label in metric.labels {
            if let Values::Closed(values) = label.values {
                let value = labels[label.name].as_str();
                assert!(
                    values.contains(&value),
                    "{name} has the value {value:?} of {}",
                    label.name
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_shows_what_the_table_says_and_nothing_else() {
    let mut cluster = Cluster::start(Plan::new(&executable("staunch").await)).await.unwrap();
    let admin = format!("127.0.0.1:{}", testkit::free_port());
    let mut timer = load::node("timer", "timer");
    timer.arguments.extend(["--admin-listen".to_owned(), admin.clone()]);
    cluster.add(load::node("all", "all")).await.unwrap();
    cluster.add(timer).await.unwrap();
    let api = Api::new(&cluster.nodes()[0].url());

    // Before any work: everything that has no open labels is there.
    let expected: BTreeMap<_, _> = declared()
        .into_values()
        .map(|metric| (metric.name.to_owned(), metric.kind.as_str().to_owned()))
        .collect();
    let is_open = |name: &str| {
        let labels = declared()[name].labels;
        labels.iter().any(|label| matches!(label.values, Values::Open(_)))
    };
    for text in [api.metrics().await, Api::new(&format!("http://{admin}")).metrics().await] {
        check_labels(&text);
        let shown = kinds(&text);
        for name in expected.keys().filter(|name| !is_open(name)) {
            assert!(shown.contains_key(name), "{name} is not there from the start");
        }
    }

    // After some work: all of it, and nothing else.
    load::publish(&api, &cluster.nodes()[0].url()).await;
    load::round(&api, 0).await;
    let text = api.metrics().await;
    check_labels(&text);
    assert_eq!(kinds(&text), expected);

    // One of the two counts for the cluster; both see two nodes.
    let other = Api::new(&format!("http://{admin}"));
    let sum = async |line: &str| {
        let of = |text: &str| text.lines().filter(|found| *found == line).count();
        of(&api.metrics().await) + of(&other.metrics().await)
    };
    eventually("one node counts", Duration::from_secs(40), async || {
        sum("staunch_cluster_observer 1").await == 1
    })
    .await;
    assert_eq!(sum("staunch_nodes_live 2").await, 2);
    assert_eq!(sum("staunch_nodes{role=\"timer\"} 2").await, 2);
    for _ in 0..3 {
        api.start("waiting").await;
    }
    eventually("the instances that wait are counted", Duration::from_secs(60), async || {
        sum("staunch_cluster_instances{status=\"Suspended\"} 3").await == 1
    })
    .await;
    cluster.stop().await.unwrap();
}
