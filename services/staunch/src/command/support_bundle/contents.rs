//! The files of the bundle, before secrets are taken out.

use std::collections::BTreeSet;

use api_client::Reading;
use bus::{Member, Queue as _, Stream};
use chassis::{Origin, Settings};
use futures::future::join_all;
use node::{BrokerSeen, DatabaseSeen};
use protocol::Letter;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::doctor::{self, Facts};

/// Dead letters that the bundle has, the newest.
const LETTERS_MAX: usize = 200;
/// The newest numbers among which they are looked for.
const LISTED_MAX: u64 = 10_000;
/// Bytes of one node's metrics.
const METRICS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Further addresses that are asked for metrics.
const OTHERS_MAX: usize = 64;
/// Why the metrics of a node without HTTP are not there.
const NO_ADDRESS: &str = "it has no HTTP API, and does not announce where its metrics are: name its \
                          --admin-listen address with --nodes";

/// Why the log of a node is not there.
const NO_ADMIN: &str = "a node gives its log at its --admin-listen address alone, which no --nodes has \
                        named: name it there, or add the log of this node";

/// A file: its name and its text.
pub(super) type Entry = (String, String);

/// Everything. What does not answer has a text that says why.
pub(super) async fn gather(
    server: Option<String>,
    others: Vec<String>,
    settings: &Settings,
) -> Vec<Entry> {
    let (facts, checks) = doctor::examine(server, settings).await;
    let mut entries = vec![
        written("about.json", &about()),
        written("settings-of-this-command.json", &shown(settings)),
        written("doctor.json", &doctor::document(&checks)),
        written("nats.json", &answered(&facts.broker, broker)),
        written("nodes.json", &nodes(&facts)),
        written("database.json", &answered(&facts.database, database)),
        written("dead-letters.json", &letters(settings).await),
    ];
    let key = settings.api_key.as_ref().map(|key| key.expose().to_owned());
    let others: Vec<String> = others.into_iter().take(OTHERS_MAX).collect();
    let urls = facts.servers.iter().map(|server| server.url.clone()).chain(others.clone());
    let metrics = join_all(urls.map(|url| metrics(url, key.clone()))).await;
    let logs = join_all(others.into_iter().map(|url| log(url, key.clone()))).await;
    let members = facts.cluster.as_ref().map(|cluster| cluster.members.as_slice());
    let members = members.unwrap_or_default();
    entries.push(written("metrics-missing.json", &missing(members, &metrics)));
    entries.push(written("logs-missing.json", &without_log(members, &metrics, &logs)));
    let of_logs = logs.iter().enumerate();
    entries.extend(of_logs.map(|(number, log)| (format!("log-{number}.txt"), log.shown())));
    let numbered = once(metrics).into_iter().enumerate();
    let metrics = numbered.map(|(number, asked)| (format!("metrics-{number}.txt"), asked.shown()));
    entries.extend(metrics);
    entries
}

/// The metrics at one address, or why there are none.
struct Metrics {
    url: String,
    text: Result<String, String>,
}

impl Metrics {
    fn shown(&self) -> String {
        let text = match &self.text {
            Ok(text) => text.clone(),
            Err(reason) => format!("no answer: {reason}\n"),
        };
        let text: String = text.chars().take(METRICS_BYTES_MAX).collect();
        format!("# {}\n{text}", self.url)
    }

    /// The node that answered.
    fn node(&self) -> Option<String> {
        Reading::parse(self.text.as_ref().ok()?).node()
    }
}

/// The last log lines of the process at one address, or why there are none.
struct Log {
    url: String,
    text: Result<String, String>,
}

impl Log {
    fn shown(&self) -> String {
        match &self.text {
            Ok(text) => format!("# {}\n{text}", self.url),
            Err(reason) => format!("# {}\nno answer: {reason}\n", self.url),
        }
    }
}

/// The live nodes whose log the bundle does not have, each with the reason. The metrics at an address
/// name the node there.
fn without_log(members: &[Member], metrics: &[Metrics], logs: &[Log]) -> Value {
    let each = members.iter().filter_map(|member| {
        let asked = metrics.iter().filter(|one| one.node().as_ref() == Some(&member.node));
        let urls: BTreeSet<&str> = asked.map(|asked| asked.url.as_str()).collect();
        let of_node = logs.iter().filter(|log| urls.contains(log.url.as_str()));
        let of_node: Vec<&Log> = of_node.collect();
        if of_node.iter().any(|log| log.text.is_ok()) {
            return None;
        }
        let why = match of_node.first().map(|log| (&log.url, &log.text)) {
            Some((url, Err(reason))) => format!("no log from {url}: {reason}"),
            _ => NO_ADMIN.to_owned(),
        };
        Some(json!({"node": member.node, "roles": member.roles, "why": why}))
    });
    Value::Array(each.collect())
}

/// The live nodes whose metrics the bundle does not have, each with the reason. The metrics themselves
/// name their node: behind an address that several nodes share, another one may have answered.
fn missing(members: &[Member], metrics: &[Metrics]) -> Value {
    let answered: BTreeSet<String> = metrics.iter().filter_map(Metrics::node).collect();
    let absent = members.iter().filter(|member| !answered.contains(&member.node));
    let each = absent.map(|member| {
        let asked = member.address.as_ref();
        let asked = asked.and_then(|url| metrics.iter().find(|asked| asked.url == *url));
        let why = match (&member.address, asked.map(|asked| &asked.text)) {
            (None, _) => NO_ADDRESS.to_owned(),
            (Some(url), None) => {
                format!("its address {url} was not asked: name it with --nodes")
            }
            (Some(url), Some(Err(reason))) => format!("no answer from {url}: {reason}"),
            (Some(url), Some(Ok(_))) => {
                format!("another node answered at {url}: name an address of its own with --nodes")
            }
        };
        json!({"node": member.node, "roles": member.roles, "why": why})
    });
    Value::Array(each.collect())
}

/// Those of each node once: its HTTP address and one that `--nodes` names may be of one process.
fn once(mut metrics: Vec<Metrics>) -> Vec<Metrics> {
    let mut nodes = BTreeSet::new();
    metrics.retain(|asked| asked.node().is_none_or(|node| nodes.insert(node)));
    metrics
}

fn written(name: &str, value: &Value) -> Entry {
    (name.to_owned(), format!("{value:#}\n"))
}

fn answered<T>(answer: &Result<T, String>, show: impl FnOnce(&T) -> Value) -> Value {
    match answer {
        Ok(seen) => show(seen),
        Err(reason) => json!({ "noAnswer": reason }),
    }
}

fn about() -> Value {
    json!({
        "version": chassis::version(),
        "commit": chassis::commit(),
        "system": std::env::consts::OS,
        "machine": std::env::consts::ARCH,
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
    })
}

/// The settings of this command, as `staunch config` masks them; values of scripts and of secrets not at
/// all. Nodes announce theirs to nobody.
fn shown(settings: &Settings) -> Value {
    let each = settings.all().iter().map(|one| {
        let is_default = one.origin == Origin::Default;
        json!({"name": one.name, "value": one.value, "isDefault": is_default})
    });
    Value::Array(each.collect())
}

fn broker(seen: &BrokerSeen) -> Value {
    let streams = seen.streams.iter().map(|stream| {
        json!({"name": stream.name, "isThere": stream.is_there, "faults": stream.faults,
            "differences": stream.differences, "unanswered": stream.unanswered,
            "replicas": stream.replicas, "behind": stream.behind, "messages": stream.messages,
            "bytes": stream.bytes, "bytesMax": stream.bytes_max})
    });
    let consumers = seen.consumers.iter().map(|consumer| {
        json!({"name": consumer.name, "stream": consumer.stream, "isThere": consumer.is_there,
            "faults": consumer.faults, "differences": consumer.differences,
            "unanswered": consumer.unanswered, "pending": consumer.pending,
            "inHand": consumer.in_hand, "redelivered": consumer.redelivered,
            "pulls": consumer.pulls})
    });
    json!({"server": seen.server, "version": seen.version, "cluster": seen.cluster,
        "wantsLogin": seen.wants_login, "refused": seen.refused,
        "roundTripMs": seen.round_trips.iter().map(|it| it.as_secs_f64() * 1_000.0)
            .collect::<Vec<_>>(),
        "streams": streams.collect::<Vec<_>>(), "consumers": consumers.collect::<Vec<_>>()})
}

fn database(seen: &DatabaseSeen) -> Value {
    json!({"kind": seen.kind, "version": seen.version, "bytes": seen.bytes,
        "connections": seen.connections.0, "connectionsMax": seen.connections.1,
        "isReadOnly": seen.is_read_only, "migrationsApplied": seen.applied,
        "migrationsMissing": seen.missing, "migrationsNewer": seen.newer,
        "roundTripMs": seen.round_trips.iter().map(|it| it.as_secs_f64() * 1_000.0)
            .collect::<Vec<_>>()})
}

fn nodes(facts: &Facts) -> Value {
    let servers = facts.servers.iter().map(|server| {
        json!({"url": server.url, "version": server.version.as_ref().ok(),
            "noAnswer": server.version.as_ref().err(), "unready": server.unready})
    });
    let servers: Vec<_> = servers.collect();
    let cluster = answered(&facts.cluster, |cluster| {
        let pauses = cluster.pauses.iter().map(|(scope, pause)| {
            json!({"of": format!("{scope:?}"), "since": pause.since, "by": pause.by})
        });
        json!({"nodes": cluster.members, "leases": cluster.leases.len(),
            "pauses": pauses.collect::<Vec<_>>(), "deadLetters": cluster.dead_letters})
    });
    json!({"cluster": cluster, "servers": servers})
}

/// The newest dead letters, without their bodies and headers.
async fn letters(settings: &Settings) -> Value {
    let read = async {
        let bus = node::connect(settings).await?;
        let span = bus.span(Stream::Dead).await?;
        let mut next = span.first.max((span.last + 1).saturating_sub(LISTED_MAX));
        let mut found = Vec::new();
        while next <= span.last {
            let read = bus.read(Stream::Dead, next, LETTERS_MAX).await?;
            let Some((last, ..)) = read.last() else { break };
            next = last + 1;
            let letters =
                read.into_iter().map(|(number, at, message)| Letter { number, at, message });
            found.extend(letters.map(|letter| {
                json!({"number": letter.number, "at": letter.at, "subject": letter.origin(),
                    "commandId": letter.command_id(), "reason": letter.reason(),
                    "attempts": letter.attempts()})
            }));
            let surplus = found.len().saturating_sub(LETTERS_MAX);
            found.drain(..surplus);
        }
        bus.close().await;
        Ok::<_, bus::Error>(found)
    };
    answered(&read.await.map_err(|error| error.to_string()), |found| json!(found))
}

async fn metrics(url: String, key: Option<String>) -> Metrics {
    let read = async { Client::to(&url, key.as_deref())?.metrics().await };
    let text = match read.await {
        Ok(answer) => Ok(answer.body.as_str().unwrap_or_default().to_owned()),
        Err(failure) => Err(failure.to_string()),
    };
    Metrics { url, text }
}

async fn log(url: String, key: Option<String>) -> Log {
    let read = async { Client::to(&url, key.as_deref())?.admin("/log", None).await };
    let text = match read.await {
        Ok(answer) => Ok(log_text(&answer)),
        Err(failure) => Err(failure.to_string()),
    };
    Log { url, text }
}

/// The lines of an answer, after the number of older ones that are forgotten.
fn log_text(answer: &Value) -> String {
    let forgotten = answer.get("forgotten").and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!("# {forgotten} older lines are forgotten\n");
    let lines = answer.get("lines").and_then(Value::as_array);
    for line in lines.into_iter().flatten().filter_map(Value::as_str) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn a_node_with_two_addresses_is_there_once() {
        let metrics =
            |url: &str, text: Result<String, String>| Metrics { url: url.to_owned(), text };
        let of = |node: &str| Ok(format!("staunch_build_info{{node=\"{node}\"}} 1\n"));
        let silent = || Err("nothing listens there".to_owned());
        let answers = vec![
            metrics("http://api", of("one")),
            metrics("http://x", silent()),
            metrics("http://admin", of("one")),
            metrics("http://y", silent()),
            metrics("http://other", of("two")),
        ];
        let once = once(answers);
        let kept: Vec<_> = once.iter().map(|asked| asked.url.as_str()).collect();
        assert_eq!(kept, ["http://api", "http://x", "http://y", "http://other"]);
    }

    fn member(node: &str, address: Option<&str>) -> Member {
        Member {
            node: node.to_owned(),
            roles: vec!["timer".to_owned()],
            started_at: Timestamp::from_millis(0),
            address: address.map(str::to_owned),
            version: None,
        }
    }

    #[test]
    fn nodes_without_a_log_are_named_with_the_reason() {
        let of = |url: &str, node: &str| Metrics {
            url: url.to_owned(),
            text: Ok(format!("staunch_build_info{{node=\"{node}\"}} 1\n")),
        };
        let log = |url: &str, text: Result<Value, &str>| Log {
            url: url.to_owned(),
            text: text.map(|answer| log_text(&answer)).map_err(str::to_owned),
        };
        let members = ["asked", "old", "unnamed"].map(|node| member(node, Some("http://api")));
        let metrics = [of("http://api", "unnamed"), of("http://a", "asked"), of("http://o", "old")];
        let logs = [
            log("http://a", Ok(json!({"lines": ["one", "two"], "forgotten": 7}))),
            log("http://o", Err("there is nothing at /log")),
        ];
        let shown = logs[0].shown();
        assert_eq!(shown, "# http://a\n# 7 older lines are forgotten\none\ntwo\n");
        let missing = without_log(&members, &metrics, &logs);
        let missing = missing.as_array().unwrap();
        let found: Vec<_> = missing.iter().map(|one| (&one["node"], &one["why"])).collect();
        let why = "no log from http://o: there is nothing at /log";
        assert_eq!(found, [(&json!("old"), &json!(why)), (&json!("unnamed"), &json!(NO_ADMIN))]);
    }

    #[test]
    fn nodes_without_metrics_are_named_with_the_reason() {
        let of = |node: &str| format!("staunch_build_info{{node=\"{node}\"}} 1\n");
        let metrics =
            |url: &str, text: Result<String, String>| Metrics { url: url.to_owned(), text };
        let members = [
            member("asked", Some("http://a")),
            member("bare", None),
            member("named", None),
            member("shared", Some("http://a")),
            member("silent", Some("http://s")),
            member("surplus", Some("http://x")),
        ];
        let answers = [
            metrics("http://a", Ok(of("asked"))),
            metrics("http://s", Err("nothing listens there".to_owned())),
            metrics("http://admin", Ok(of("named"))),
        ];
        let missing = missing(&members, &answers);
        let found: Vec<_> =
            missing.as_array().unwrap().iter().map(|one| (&one["node"], &one["why"])).collect();
        let whys = [
            ("bare", NO_ADDRESS),
            (
                "shared",
                "another node answered at http://a: name an address of its own with --nodes",
            ),
            ("silent", "no answer from http://s: nothing listens there"),
            ("surplus", "its address http://x was not asked: name it with --nodes"),
        ];
        for (found, (node, why)) in found.iter().zip(whys) {
            assert_eq!((found.0, found.1), (&json!(node), &json!(why)));
        }
        assert_eq!(found.len(), whys.len());
    }
}
