//! One frame: what happened between two looks. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::sample::{NodeSample, Sample};
use crate::output;
use api_client::{Histogram, Reading};

const INSTANCES: &str = "staunch_instances_total";
const BURSTS: &str = "staunch_burst_duration_seconds";
const COMMITS: &str = "staunch_commit_duration_seconds";
const CONFLICTS: &str = "staunch_commit_conflicts_total";
const REQUESTS: &str = "staunch_http_request_duration_seconds";
const LEASES: &str = "staunch_lease_wait_seconds";
const LEASE_FAILURES: &str = "staunch_lease_failures_total";
const FIRED: &str = "staunch_timers_fired_total";
const LATENESS: &str = "staunch_timer_lateness_seconds";
const NEAR: &str = "staunch_timers_near";
/// 1 on the node that counts for the whole cluster; the others have no figures of the queue.
const OBSERVER: &str = "staunch_cluster_observer";
const QUEUE: &str = "staunch_cluster_consumer";
const REDELIVERED: &str = "staunch_redeliveries_total";
/// Definitions that are shown.
const SLOW_MAX: usize = 5;

/// What happened between two looks.
#[derive(Debug)]
pub(super) struct Frame {
    seconds: f64,
    nodes: Vec<Row>,
    pauses: usize,
    /// Instances that finished, faulted and were cancelled, a second.
    ends: [f64; 3],
    bursts: Times,
    commits: Times,
    conflicts: f64,
    requests: Times,
    leases: Times,
    lease_failures: f64,
    fired: f64,
    lateness: Times,
    near: Option<f64>,
    /// Commands that no executor has got yet; none if no node that answers counts them.
    backlog: Option<f64>,
    /// Commands that executors have got and not answered, also those that are frozen or gone.
    in_hand: Option<f64>,
    redelivered: f64,
    dead_letters: Option<u64>,
    running: Option<u64>,
    slow: Vec<(String, usize, Duration)>,
    failure: Option<String>,
}

/// How often something happened, and how long it took.
#[derive(Debug)]
struct Times {
    /// A second.
    rate: f64,
    /// Bounds above the quantiles, in seconds; none if nothing happened.
    p50: Option<f64>,
    p99: Option<f64>,
}

/// One node.
#[derive(Debug)]
struct Row {
    node: String,
    roles: String,
    version: Option<String>,
    state: String,
    commands: Option<u64>,
    instances: Option<u64>,
    bursts: Option<Times>,
    /// Why there are no figures of it.
    trouble: Option<String>,
}

/// A node's metrics then and now. One that was restarted counts from zero.
type Pair<'a> = (&'a Reading, Reading);

impl Frame {
    /// What happened between two looks.
    pub(super) fn between(before: &Sample, now: &Sample) -> Self {
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(0.001);
        let earlier = |node: &str| {
            let found = before.nodes.iter().find(|known| known.node == node);
            found.and_then(|known| known.reading.clone())
        };
        // A node that was not known before has no rate yet.
        let pair = |node: &'_ NodeSample| -> Option<Reading> { earlier(&node.node) };
        let pairs: Vec<Pair<'_>> = now
            .nodes
            .iter()
            .filter_map(|node| Some((node.reading.as_ref()?, pair(node)?)))
            .collect();
        let count = |name: &str| -> f64 {
            pairs.iter().map(|(now, before)| now.added(before, name)).sum::<f64>() / seconds
        };
        let status = |status: &str| -> f64 {
            let label = ("status", status);
            let added = pairs.iter().map(|(now, before)| now.added_where(before, INSTANCES, label));
            added.sum::<f64>() / seconds
        };
        let readings = || now.nodes.iter().filter_map(|node| node.reading.as_ref());
        let gauges = |name: &'static str| readings().filter_map(move |one| one.gauge(name));
        // An executor says it only while it pulls.
        let queue = |commands: &str| {
            let mut counting = readings().filter(|one| one.gauge(OBSERVER) == Some(1.0));
            counting.find_map(|one| one.gauge_where(QUEUE, ("commands", commands)))
        };
        let rows =
            now.nodes.iter().map(|node| Row {
                node: node.node.clone(),
                roles: node.roles.join(","),
                version: node.version.clone(),
                state: node.state.clone(),
                commands: node.commands,
                instances: node.instances,
                trouble: node.trouble.clone(),
                bursts: node.reading.as_ref().zip(pair(node)).map(|(reading, before)| {
                    Times::of(&reading.histogram(&before, BURSTS), seconds)
                }),
            });
        Self {
            nodes: rows.collect(),
            pauses: now.pauses,
            ends: ["Finished", "Faulted", "Cancelled"].map(status),
            bursts: Times::over(&pairs, BURSTS, seconds),
            commits: Times::over(&pairs, COMMITS, seconds),
            conflicts: count(CONFLICTS),
            requests: Times::over(&pairs, REQUESTS, seconds),
            leases: Times::over(&pairs, LEASES, seconds),
            lease_failures: count(LEASE_FAILURES),
            fired: count(FIRED),
            lateness: Times::over(&pairs, LATENESS, seconds),
            near: gauges(NEAR).reduce(|sum, one| sum + one),
            backlog: queue("pending"),
            in_hand: queue("in hand"),
            redelivered: count(REDELIVERED),
            dead_letters: now.slow.dead_letters,
            running: now.slow.running,
            slow: slowest(&now.slow.ended),
            failure: now.failure.clone(),
            seconds,
        }
    }

    /// The frame for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(failure) = &self.failure {
            lines.push(format!("no answer: {failure}; the figures below are old"));
        }
        let pauses = match self.pauses {
            0 => String::new(),
            some => format!(", {some} pauses (staunch runtime status)"),
        };
        let [finished, faulted, cancelled] = self.ends;
        // An address of the command line that does not answer is no node.
        let nodes = self.nodes.iter().filter(|row| !row.roles.is_empty() || row.trouble.is_none());
        lines.push(format!(
            "{}{pauses}; {} unfinished; {}",
            counted(Some(nodes.count() as u64), "node", "nodes"),
            counted(self.running, "instance", "instances"),
            counted(self.dead_letters, "dead letter", "dead letters")
        ));
        lines.push(format!(
            "instances  {finished:>8.1}/s finished  {faulted:>8.1}/s faulted  {cancelled:>8.1}/s cancelled"
        ));
        lines.push(format!("bursts     {}", self.bursts.line()));
        lines.push(format!(
            "commits    {}  {:.1}/s conflicts",
            self.commits.line(),
            self.conflicts
        ));
        lines.push(format!("requests   {}", self.requests.line()));
        lines.push(format!(
            "leases     {}  {:.1}/s not taken",
            self.leases.line(),
            self.lease_failures
        ));
        lines.push(format!(
            "timers     {:>8.1}/s fired  late by p50 {} p99 {}  {} due soon",
            self.fired,
            millis(self.lateness.p50),
            millis(self.lateness.p99),
            figure(self.near)
        ));
        lines.push(format!(
            "queue      {:>8} commands wait  {} in hand  {:.1}/s delivered again",
            figure(self.backlog),
            figure(self.in_hand),
            self.redelivered
        ));
        lines.push(String::new());
        let rows: Vec<_> = self.nodes.iter().map(Row::cells).collect();
        lines.extend(output::aligned(
            &["NODE", "ROLES", "VERSION", "STATE", "COMMANDS", "INSTANCES", "BURSTS/S", "P99"],
            &rows,
        ));
        let troubles = self.nodes.iter().filter_map(|row| Some((&row.node, row.trouble.as_ref()?)));
        lines.extend(troubles.map(|(node, trouble)| format!("no figures of {node}: {trouble}")));
        if !self.slow.is_empty() {
            lines.push(String::new());
            let rows: Vec<_> = self
                .slow
                .iter()
                .map(|(definition, count, median)| {
                    // A time of zero was not measured.
                    let median = match median.is_zero() {
                        true => "-".to_owned(),
                        false => format!("{median:.1?}"),
                    };
                    vec![definition.clone(), count.to_string(), median]
                })
                .collect();
            lines.extend(output::aligned(&["SLOWEST DEFINITION", "ENDED", "MEDIAN"], &rows));
        }
        lines
    }

    /// The frame for programs. Times are in seconds.
    pub(super) fn document(&self) -> Value {
        let [finished, faulted, cancelled] = self.ends;
        let slow = self.slow.iter().map(|(definition, count, median)| {
            json!({"definitionId": definition, "ended": count, "medianSeconds": median.as_secs_f64()})
        });
        json!({
            "seconds": self.seconds,
            "failure": self.failure,
            "pauses": self.pauses,
            "unfinished": self.running,
            "deadLetters": self.dead_letters,
            "perSecond": {"finished": finished, "faulted": faulted, "cancelled": cancelled,
                "conflicts": self.conflicts, "leasesNotTaken": self.lease_failures,
                "timersFired": self.fired, "redelivered": self.redelivered},
            "bursts": self.bursts.document(),
            "commits": self.commits.document(),
            "requests": self.requests.document(),
            "leases": self.leases.document(),
            "timerLateness": self.lateness.document(),
            "timersNear": self.near,
            "backlog": self.backlog,
            "inHand": self.in_hand,
            "nodes": self.nodes.iter().map(Row::document).collect::<Vec<_>>(),
            "slowestDefinitions": slow.collect::<Vec<_>>(),
        })
    }
}

impl Times {
    fn of(histogram: &Histogram, seconds: f64) -> Self {
        let quantile = |part| (histogram.count() > 0.0).then(|| histogram.at(part).1);
        let (p50, p99) = (quantile(0.5), quantile(0.99));
        Self { rate: histogram.count() / seconds, p50, p99 }
    }

    fn over(pairs: &[Pair<'_>], name: &str, seconds: f64) -> Self {
        let each = pairs.iter().map(|(now, before)| now.histogram(before, name));
        let all = each.fold(Histogram::default(), |all, one| all.and(&one));
        Self::of(&all, seconds)
    }

    fn line(&self) -> String {
        format!("{:>8.1}/s  p50 {} p99 {}", self.rate, millis(self.p50), millis(self.p99))
    }

    fn document(&self) -> Value {
        // The last bucket has no bound.
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        json!({"perSecond": self.rate, "p50SecondsMax": finite(self.p50),
            "p99SecondsMax": finite(self.p99)})
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let rate = |times: &Times| format!("{:.1}", times.rate);
        let p99 = |times: &Times| millis(times.p99).trim().to_owned();
        vec![
            self.node.clone(),
            self.roles.clone(),
            self.version.clone().unwrap_or_else(|| "-".to_owned()),
            self.state.clone(),
            whole(self.commands),
            whole(self.instances),
            self.bursts.as_ref().map(rate).unwrap_or_else(|| "-".to_owned()),
            self.bursts.as_ref().map(p99).unwrap_or_else(|| "-".to_owned()),
        ]
    }

    fn document(&self) -> Value {
        json!({"node": self.node, "roles": self.roles, "version": self.version,
            "state": self.state, "commands": self.commands, "instances": self.instances, "trouble": self.trouble,
            "bursts": self.bursts.as_ref().map(Times::document)})
    }
}

/// The definitions whose instances took longest, by their medians.
fn slowest(ended: &[(String, Duration)]) -> Vec<(String, usize, Duration)> {
    let mut by_definition: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for (definition, took) in ended {
        by_definition.entry(definition).or_default().push(*took);
    }
    let medians = by_definition.into_iter().filter_map(|(definition, mut times)| {
        times.sort_unstable();
        let median = times.get(times.len() / 2)?;
        Some((definition.to_owned(), times.len(), *median))
    });
    let mut medians: Vec<_> = medians.collect();
    medians.sort_by_key(|(_, _, median)| std::cmp::Reverse(*median));
    medians.truncate(SLOW_MAX);
    medians
}

/// At most this long.
fn millis(seconds: Option<f64>) -> String {
    match seconds {
        None => format!("{:>9}", "-"),
        Some(seconds) if seconds.is_infinite() => format!("{:>9}", "> 30 s"),
        Some(seconds) => format!("{:>6} ms", seconds * 1_000.0),
    }
}

fn whole(count: Option<u64>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

fn counted(count: Option<u64>, one: &str, many: &str) -> String {
    count.map_or_else(|| format!("- {many}"), |count| output::counted(count, one, many))
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::super::sample::{Slow, joined};
    use super::*;

    const BEFORE: &str = "staunch_instances_total{status=\"Finished\"} 10\n\
        staunch_burst_duration_seconds_bucket{le=\"0.01\"} 100\n\
        staunch_burst_duration_seconds_bucket{le=\"+Inf\"} 100\n\
        staunch_cluster_observer 1\nstaunch_cluster_consumer{commands=\"pending\"} 3\n";
    const NOW: &str = "staunch_instances_total{status=\"Finished\"} 30\n\
        staunch_instances_total{status=\"Faulted\"} 4\n\
        staunch_burst_duration_seconds_bucket{le=\"0.01\"} 140\n\
        staunch_burst_duration_seconds_bucket{le=\"+Inf\"} 140\n\
        staunch_timers_fired_total{kind=\"bookmark\"} 6\n\
        staunch_cluster_observer 1\n\
        staunch_cluster_consumer{commands=\"pending\"} 7\n\
        staunch_cluster_consumer{commands=\"in hand\"} 4\n\
        staunch_cluster_consumer{commands=\"redelivered\"} 2\n";

    fn sample(at: Instant, texts: &[(&str, &str)], slow: Slow) -> Sample {
        let nodes = texts.iter().map(|(node, text)| NodeSample {
            node: (*node).to_owned(),
            roles: vec!["executor".to_owned()],
            version: (*node == "n1").then(|| "0.1.0".to_owned()),
            reading: Some(Reading::parse(text)),
            state: "Running".to_owned(),
            commands: Some(2),
            instances: Some(1),
            trouble: None,
        });
        Sample { at, nodes: nodes.collect(), pauses: 0, slow, failure: None }
    }

    fn slow() -> Slow {
        let ended = [("a", 1), ("b", 9), ("b", 2), ("b", 8), ("a", 3)];
        let ended = ended.map(|(name, seconds)| (name.to_owned(), Duration::from_secs(seconds)));
        Slow { dead_letters: Some(5), running: Some(12), ended: ended.into() }
    }

    #[test]
    fn a_frame_has_the_rates_between_two_looks() {
        let then = Instant::now();
        let before = sample(then, &[("n1", BEFORE)], slow());
        let later = then + Duration::from_secs(2);
        // A node that joined in between has a line, and no rate yet.
        let now = sample(later, &[("n1", NOW), ("n2", NOW)], slow());
        let frame = Frame::between(&before, &now).document();
        assert_eq!(frame["perSecond"]["finished"], 10.0, "{frame:#}");
        assert_eq!(frame["perSecond"]["faulted"], 2.0);
        assert_eq!(frame["perSecond"]["timersFired"], 3.0);
        assert_eq!(
            frame["bursts"],
            json!({"perSecond": 20.0, "p50SecondsMax": 0.01,
            "p99SecondsMax": 0.01})
        );
        assert_eq!(frame["backlog"], 7.0);
        assert_eq!(frame["nodes"][1]["bursts"], Value::Null);
        assert_eq!(
            [0_usize, 1].map(|at| frame["nodes"][at]["version"].as_str()),
            [Some("0.1.0"), None]
        );
        let slowest = &frame["slowestDefinitions"];
        assert_eq!(slowest[0], json!({"definitionId": "b", "ended": 3, "medianSeconds": 8.0}));
        assert_eq!(slowest[1]["medianSeconds"], 3.0);
        let lines = Frame::between(&before, &now).lines().join("\n");
        for part in
            ["2 nodes", "10.0/s finished", "5 dead letters", "0.1.0", "n2", "SLOWEST", "8.0s"]
        {
            assert!(lines.contains(part), "{part}: {lines}");
        }
    }

    #[test]
    fn the_queue_is_that_of_the_node_that_counts_and_unknown_without_one() {
        // Nobody pulls: the executor has not looked at the queue since it was paused.
        let executor = "staunch_queue_backlog 0\nstaunch_commands_in_hand 0\n\
            staunch_cluster_observer 0\nstaunch_cluster_consumer{commands=\"pending\"} 0\n\
            staunch_cluster_consumer{commands=\"in hand\"} 0\n";
        let queue = |texts: &[(&str, &str)]| {
            let now = sample(Instant::now(), texts, slow());
            let lines = Frame::between(&now, &now).lines();
            let line = lines.into_iter().find(|line| line.starts_with("queue")).unwrap();
            line.split_whitespace().skip(1).take(5).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(queue(&[("n1", executor), ("n2", NOW)]), "7 commands wait 4 in");
        assert_eq!(queue(&[("n1", executor)]), "- commands wait - in");
    }

    #[test]
    fn a_definition_without_a_measured_time_shows_none() {
        let ended = vec![("hello".to_owned(), Duration::ZERO); 2];
        let now = sample(Instant::now(), &[("n1", NOW)], Slow { ended, ..slow() });
        let lines = Frame::between(&now, &now).lines();
        let last = lines.last().unwrap();
        assert!(last.starts_with("hello") && last.ends_with('-'), "{last:?}");
    }

    #[test]
    fn a_server_that_does_not_answer_leaves_the_old_figures() {
        let before = sample(Instant::now(), &[("n1", BEFORE)], slow());
        let silent = before.silent(&crate::Failure::unavailable("gone"));
        let lines = Frame::between(&before, &silent).lines();
        assert!(lines[0].starts_with("no answer: gone"), "{lines:?}");
        assert!(lines[1].contains("12 instances unfinished"), "{lines:?}");
    }

    #[test]
    fn a_node_without_figures_says_why_and_further_addresses_fill_its_row() {
        let at = |name: &str, text: Option<&str>| NodeSample {
            node: name.to_owned(),
            roles: vec!["executor".to_owned()],
            trouble: text.is_none().then(|| "it has no HTTP API".to_owned()),
            reading: text.map(Reading::parse),
            ..NodeSample::default()
        };
        let of = |node: &str, near: u64| {
            format!("staunch_build_info{{node=\"{node}\"}} 1\nstaunch_timers_near {near}\n")
        };
        let (n1, n2, n9) = (of("n1", 1), of("n2", 2), of("n9", 9));
        // n3 shares its address with n1, which has answered.
        let members = vec![at("n1", Some(&n1)), at("n2", None), at("n3", Some(&n1))];
        let gone = NodeSample { roles: Vec::new(), ..at("http://gone", None) };
        let others = vec![
            at("http://a", Some(&n1)),
            at("http://b", Some(&n2)),
            at("http://c", Some(&n9)),
            gone,
        ];
        let nodes = joined(members, others);
        let near = |node: &NodeSample| node.reading.as_ref().and_then(|it| it.gauge(NEAR));
        let found: Vec<_> = nodes.iter().map(|it| (it.node.as_str(), near(it))).collect();
        let expected = [
            ("n1", Some(1.0)),
            ("n2", Some(2.0)),
            ("n3", None),
            ("n9", Some(9.0)),
            ("http://gone", None),
        ];
        assert_eq!(found, expected);
        let now = Sample { nodes, ..sample(Instant::now(), &[], slow()) };
        let lines = Frame::between(&now, &now).lines().join("\n");
        assert!(lines.contains("no figures of n3: n1 answered at its address"), "{lines}");
        assert!(!lines.contains("no figures of n2"), "{lines}");
        // The address that does not answer is no node.
        assert!(lines.starts_with("4 nodes;") && lines.contains("no figures of http://gone"));
    }
}
