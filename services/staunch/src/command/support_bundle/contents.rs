//! The files of the bundle, before secrets are taken out.

use bus::{Queue as _, Stream};
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

/// A file: its name and its text.
pub(super) type Entry = (String, String);

/// Everything. What does not answer has a text that says why.
pub(super) async fn gather(server: Option<String>, settings: &Settings) -> Vec<Entry> {
    let (facts, checks) = doctor::examine(server, settings).await;
    let mut entries = vec![
        written("about.json", &about()),
        written("settings.json", &shown(settings)),
        written("doctor.json", &doctor::document(&checks)),
        written("nats.json", &answered(&facts.broker, broker)),
        written("nodes.json", &nodes(&facts)),
        written("database.json", &answered(&facts.database, database)),
        written("dead-letters.json", &letters(settings).await),
    ];
    let key = settings.api_key.as_ref().map(|key| key.expose().to_owned());
    let urls = facts.servers.iter().map(|server| server.url.clone());
    let metrics = join_all(urls.map(|url| metrics(url, key.clone()))).await;
    let numbered = metrics.into_iter().enumerate();
    entries.extend(numbered.map(|(number, text)| (format!("metrics-{number}.txt"), text)));
    entries
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

/// The settings, as `staunch config` masks them; values of scripts and of secrets not at all.
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

async fn metrics(url: String, key: Option<String>) -> String {
    let read = async { Client::to(&url, key.as_deref())?.metrics().await };
    let text = match read.await {
        Ok(answer) => answer.body.as_str().unwrap_or_default().to_owned(),
        Err(failure) => format!("no answer: {failure}\n"),
    };
    let shown: String = text.chars().take(METRICS_BYTES_MAX).collect();
    format!("# {url}\n{shown}")
}
