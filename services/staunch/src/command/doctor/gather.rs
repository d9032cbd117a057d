//! Asks everything at once. Nothing here judges, and nothing is changed that was there.

use std::path::PathBuf;
use std::time::Duration;

use bus::{Bucket, Bus as _, Member, Pauses, Queue as _, Stream, Wire as _, members};
use chassis::{Clock as _, Settings, SystemClock};
use futures::future::{join, join_all, join3};
use model::Timestamp;
use model::limits::TIMER_SHARDS;
use node::{BrokerSeen, DatabaseSeen, NatsBus};
use protocol::{Message, decode_body, subject};
use serde_json::Value;
use store::{CommandFilter, Store};
use tokio::time::Instant;

use super::facts::{
    Cluster, Facts, Host, LostSource, PlaceSeen, Server, SettingsSeen, Unanswered, Work,
};
use crate::client::Client;
use crate::command::{health, listener};
use crate::failure::Kind;
use crate::{Failure, database};
use api_client::Reading;

/// The number at which counting ends.
pub(super) const COUNTED_MAX: u64 = 1_000;
/// What waits for longer should have been mended by a sweep.
const SWEPT_AFTER: Duration = Duration::from_secs(30);
/// A timer that is due for longer is overdue.
const OVERDUE_AFTER: Duration = Duration::from_secs(10);
/// How long one server may take for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long an executor may take to answer.
const EXECUTOR_MAX: Duration = Duration::from_secs(2);
/// How long one part may take as a whole.
const PART_MAX: Duration = Duration::from_secs(60);
/// What is said of a server that does not answer.
const HINT: &str = "is it running?";
/// Why some definitions may not use what others may.
const NOT_ALLOWED: &str = "nats-subjects or nats-buckets let others use it, and not these";
const CLOCK_APART: &str = "staunch_clock_apart_seconds";
/// Servers that are asked, if there are more.
const SERVERS_MAX: usize = 16;

/// All answers.
pub(super) async fn facts(server: Option<String>, settings: &Settings) -> Facts {
    let (on_broker, (database, work)) =
        Box::pin(join(on_broker(settings), on_database(settings))).await;
    let (broker, cluster, payload_places) = on_broker;
    // In compose files an empty variable means that there is no value.
    let places = match server.filter(|server| !server.is_empty()) {
        Some(url) => vec![(url, Vec::new())],
        None => places(cluster.as_ref().map(|it| it.members.as_slice()).unwrap_or_default()),
    };
    let key = settings.api_key.as_ref().map(|key| key.expose().to_owned());
    let asked = places.into_iter().map(|(url, nodes)| {
        let key = key.as_deref();
        async move { Server { nodes, ..ask_server(url, key).await } }
    });
    let servers = join_all(asked).await;
    let lost_sources = lost_sources(&servers, key.as_deref()).await;
    let host = Host { folder: folder(settings), descriptors: descriptors() };
    // The clocks are compared at one moment, whatever was asked in between.
    let now = SystemClock.now();
    let broker = broker.map(|seen| {
        let read = seen.time.zip(seen.time_at);
        BrokerSeen { time: read.map(|(time, at)| brought(time, at)), ..seen }
    });
    let database =
        database.map(|seen| DatabaseSeen { time: brought(seen.time, seen.time_at), ..seen });
    let certificates = chassis::certificates(settings);
    let settings = seen(settings);
    Facts {
        now,
        settings,
        broker,
        cluster,
        payload_places,
        database,
        work,
        has_key: key.is_some(),
        servers,
        lost_sources,
        host,
        certificates,
    }
}

/// A reading of a clock that arrived at this instant, as the clock is now.
fn brought((time, half): (Timestamp, Duration), at: Instant) -> (Timestamp, Duration) {
    (time.after(at.elapsed()), half)
}

async fn within<T>(what: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = || Err(format!("no answer within {} s", PART_MAX.as_secs()));
    tokio::time::timeout(PART_MAX, what).await.unwrap_or_else(|_| late())
}

async fn on_broker(
    settings: &Settings,
) -> (Result<BrokerSeen, String>, Result<Cluster, String>, Vec<PlaceSeen>) {
    let bus = match node::connect(settings).await {
        Ok(bus) => bus,
        Err(error) => return (Err(error.to_string()), Err(error.to_string()), Vec::new()),
    };
    let roles: Vec<_> =
        crate::roles::ALL.into_iter().filter(|role| settings.serves(role)).collect();
    let inspected = within(async { bus.inspect(&roles).await.map_err(|error| error.to_string()) });
    let listed = within(async { cluster(&bus).await.map_err(|error| error.to_string()) });
    let found = join3(inspected, listed, payload_places(settings, &bus)).await;
    bus.close().await;
    found
}

/// Tries the places where payloads rest, one after the other.
async fn payload_places(settings: &Settings, bus: &NatsBus) -> Vec<PlaceSeen> {
    let places = match payloads::Places::open(&settings.payload_store) {
        Ok(places) => places,
        Err(error) => {
            return vec![(settings.shown("payload-store").to_owned(), Err(error.to_string()))];
        }
    };
    let shelves = places.over(&bus.outside());
    let probed = tokio::time::timeout(PART_MAX, shelves.probe(&node::nonces()())).await;
    probed.unwrap_or_else(|_| {
        let late = format!("no answer within {} s", PART_MAX.as_secs());
        vec![(settings.shown("payload-store").to_owned(), Err(late))]
    })
}

async fn cluster(bus: &NatsBus) -> Result<Cluster, bus::Error> {
    let members = members(&*bus.kv(Bucket::Nodes)).await?;
    let is_executor = |member: &&Member| member.roles.iter().any(|role| role == "executor");
    let asked = members.iter().filter(is_executor).map(|member| async move {
        let question = Message { subject: subject::runtime(&member.node), ..Message::default() };
        let answer = match bus.request(question, EXECUTOR_MAX).await {
            Ok(answer) => decode_body(answer.content_type(), &answer.payload).ok(),
            Err(bus::Error::Denied(reason)) => {
                return (member.node.clone(), Err(Unanswered::Refused(reason)));
            }
            Err(_) => None,
        };
        (member.node.clone(), answer.ok_or(Unanswered::Silent))
    });
    let executors = join_all(asked).await;
    let pauses = Pauses::all(&*bus.kv(Bucket::Runtime)).await?;
    Ok(Cluster {
        executors,
        leases: bus::look_at_all(&*bus.kv(Bucket::Leases)).await?,
        pauses: pauses.into_iter().map(|(scope, (pause, _))| (scope, pause)).collect(),
        dead_letters: bus.span(Stream::Dead).await?.messages,
        id: bus::home_of(&*bus.kv(Bucket::Runtime)).await?,
        members,
    })
}

async fn on_database(
    settings: &Settings,
) -> (Result<DatabaseSeen, String>, Option<Result<Work, String>>) {
    if let Err(missing) = database::must_exist(settings) {
        return (Err(missing.message), None);
    }
    let inspected = node::inspect_database(settings);
    let inspected = within(async { inspected.await.map_err(|error| error.to_string()) }).await;
    // Without its schema the database has no work, and the store refuses to open it.
    if !inspected.as_ref().is_ok_and(|database| database.missing.is_empty()) {
        return (inspected, None);
    }
    let waits = within(async {
        let store = node::open_store(settings).await.map_err(|error| error.to_string())?;
        let waits = work(&*store).await.map_err(|error| error.to_string());
        store.close().await;
        waits
    });
    (inspected, Some(waits.await))
}

async fn work(store: &dyn Store) -> Result<Work, store::Error> {
    let now = store.clock().await?;
    let old = now.before(SWEPT_AFTER);
    let unapplied = CommandFilter { instance_id: None, waiting: Some(false) };
    let unapplied = store.accepted(&unapplied, COUNTED_MAX).await?;
    let shards: Vec<i32> = (0..TIMER_SHARDS).collect();
    let late = now.before(OVERDUE_AFTER);
    let timers = store.due_timers(&shards, late, COUNTED_MAX).await?;
    let schedules = store.due_schedules(&shards, late, COUNTED_MAX).await?;
    let due = timers.iter().map(|timer| timer.due_at);
    let due = due.chain(schedules.iter().filter_map(|schedule| schedule.next_at));
    Ok(Work {
        now,
        unapplied: (unapplied.first().map(|one| one.accepted_at), unapplied.len() as u64),
        unstarted: store.unstarted(old, COUNTED_MAX).await?.len() as u64,
        overdue: (due.min(), (timers.len() + schedules.len()) as u64),
        unpublished: store.unpublished_places(old, None, COUNTED_MAX).await?.len() as u64,
    })
}

/// Each address that live nodes announce, with these nodes.
pub(super) fn places(members: &[Member]) -> Vec<(String, Vec<String>)> {
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for (url, node) in members.iter().filter_map(|one| Some((one.address.as_ref()?, &one.node))) {
        if let Some((_, nodes)) = places.iter_mut().find(|(known, _)| known == url) {
            nodes.push(node.clone());
        } else if places.len() < SERVERS_MAX {
            places.push((url.clone(), vec![node.clone()]));
        }
    }
    places
}

/// What workflows listen to in vain, by the first server that says it.
///
/// # Errors
/// Why the last server refuses, if none says it.
async fn lost_sources(servers: &[Server], key: Option<&str>) -> Result<Vec<LostSource>, String> {
    let mut refusal = None;
    for server in servers.iter().filter(|server| server.version.is_ok()) {
        let Ok(client) = Client::to(&server.url, key) else { continue };
        let client = client.with_patience(ANSWER_MAX, HINT);
        let path = format!("/cluster/listeners?pageSize={COUNTED_MAX}");
        match client.get(&path).await {
            Ok(listeners) => return Ok(lost(&listeners)),
            Err(failure) => refusal = refused(&failure).or(refusal),
        }
    }
    refusal.map_or_else(|| Ok(Vec::new()), Err)
}

/// Why a server refuses the caller, if that is the failure.
fn refused(failure: &Failure) -> Option<String> {
    (failure.kind == Kind::Forbidden).then(|| failure.message.clone())
}

/// The sources that do not exist, or that the settings refuse to definitions, in the answer of a server.
fn lost(listeners: &Value) -> Vec<LostSource> {
    let items = listeners.get("items").and_then(Value::as_array).into_iter().flatten();
    let lost = items.filter_map(|item| {
        let (definitions, refusal) = match crate::output::text(item, "state").as_str() {
            "noStream" => (listener::definitions(item), None),
            "notAllowed" => {
                (listener::definitions(item), Some(crate::output::text(item, "reason")))
            }
            // Others may use it.
            _ => (listener::not_allowed(item)?, Some(NOT_ALLOWED.to_owned())),
        };
        let (kind, name) = match crate::output::text(item, "kind").as_str() {
            "bucket" => ("bucket", "name"),
            "objectStore" => ("object store", "name"),
            "subject" => ("subject", "filter"),
            _ => ("stream", "name"),
        };
        let source = format!("the {kind} {}", crate::output::text(item, name));
        Some(LostSource { source, definitions, refusal })
    });
    lost.collect()
}

async fn ask_server(url: String, key: Option<&str>) -> Server {
    let is_here = is_here(&url);
    let silent = |failure: Failure| Server {
        url: url.clone(),
        nodes: Vec::new(),
        node: None,
        clock_apart: None,
        is_refusing: failure.kind == Kind::Forbidden,
        version: Err(failure.message),
        refusal: None,
        unready: None,
        is_open: false,
        is_here,
    };
    let client = match Client::to(&url, key) {
        Ok(client) => client.with_patience(ANSWER_MAX, HINT),
        Err(failure) => return silent(failure),
    };
    let version = match client.get("/package/version").await {
        Ok(answer) => crate::output::text(&answer, "packageVersion"),
        Err(failure) => return silent(failure),
    };
    let ready = client.open(&format!("{}/health/ready", client.server())).await;
    let unready = ready.err().map(unready);
    // Asked with the key: a request without it would be in the audit log as a refused one.
    let me = client.get("/identity/me").await;
    let metrics = client.metrics().await;
    let refusal = me.as_ref().err().and_then(refused);
    let refusal = refusal.or_else(|| metrics.as_ref().err().and_then(refused));
    let is_open = me.is_ok_and(|me| me.get("isAuthenticationOn") == Some(&Value::Bool(false)));
    let metrics = metrics.as_ref().ok();
    let metrics = metrics.and_then(|answer| answer.body.as_str()).map(Reading::parse);
    let clock = metrics.as_ref().and_then(|metrics| metrics.gauge(CLOCK_APART));
    Server {
        nodes: Vec::new(),
        node: metrics.as_ref().and_then(Reading::node),
        clock_apart: clock
            .and_then(|clock| Some(Duration::try_from_secs_f64(clock).ok()?.as_secs())),
        version: Ok(version),
        is_refusing: false,
        refusal,
        unready,
        is_open,
        is_here,
        url,
    }
}

/// Why a node is not ready: the reasons of its checks, if its answer has them.
fn unready(failure: Failure) -> String {
    let reasons = health::reasons(&failure);
    if reasons.is_empty() { failure.message } else { reasons.join("; ") }
}

/// The part of the settings that the checks look at.
fn seen(settings: &Settings) -> SettingsSeen {
    let database_url = &settings.database_url;
    let is_file = database_url.starts_with("sqlite:");
    SettingsSeen {
        nats_url: settings.shown("nats-url").to_owned(),
        database_url: settings.shown("database-url").to_owned(),
        is_nats_here: settings.nats_url.split(',').all(|url| is_here(url.trim())),
        is_database_here: is_file || is_here(database_url),
        is_public_url_encrypted: settings.public_url().starts_with("https://"),
        is_database_verified: is_file || database_url.contains("sslmode=verify-full"),
    }
}

/// Whether a URL names this machine. One without a host names a socket of it.
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = rest.split(['/', '?']).next().unwrap_or_default();
    let place = place.rsplit_once('@').map_or(place, |(_, host)| host);
    place.is_empty() || chassis::is_loopback(place)
}

/// The folder of the SQLite file with its free bytes and all its bytes.
fn folder(settings: &Settings) -> Option<(PathBuf, u64, u64)> {
    let folder = database::file(&settings.database_url)?.parent()?.to_owned();
    let (free, all) = room(&folder)?;
    Some((folder, free, all))
}

#[cfg(unix)]
fn room(folder: &std::path::Path) -> Option<(u64, u64)> {
    let room = rustix::fs::statvfs(folder).ok()?;
    Some((room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize))
}

#[cfg(not(unix))]
fn room(_: &std::path::Path) -> Option<(u64, u64)> {
    None
}

/// The number of files that this process may open, as Linux reports it.
fn descriptors() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that gives everybody its version and its health, and refuses all else.
    async fn refusing(listener: TcpListener) {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let is_public = head.contains("/package/version") || head.contains("/health/ready");
            let (status, body) = match is_public {
                true => ("200 OK", r#"{"packageVersion": "0.1.0"}"#),
                false => ("401 Unauthorized", r#"{"detail": "the API key is not known"}"#),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_refusal_of_the_caller_is_not_taken_for_an_answer() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = async {
            let server = ask_server(url, Some("wrong")).await;
            let lost = lost_sources(std::slice::from_ref(&server), Some("wrong")).await;
            (server, lost)
        };
        let (server, lost) = tokio::select! {
            asked = asked => asked,
            () = refusing(listener) => unreachable!("it serves for ever"),
        };
        assert_eq!(server.version.as_deref(), Ok("0.1.0"));
        let refusal = server.refusal.unwrap_or_default();
        assert!(refusal.contains("the API key is not known"), "{refusal}");
        assert!(lost.unwrap_err().contains("the API key is not known"));
        assert!(server.unready.is_none() && server.clock_apart.is_none());
    }

    #[test]
    fn a_node_that_is_not_ready_says_why() {
        let failure = || Failure::new(Kind::Unavailable, "not ready: nats");
        assert_eq!(unready(failure()), "not ready: nats");
        let nats = "no message has been stored for 4 s: make room and restart nats-server";
        let checks = serde_json::json!([
            {"name": "database", "status": "Healthy"},
            {"name": "nats", "status": "Unhealthy", "reason": nats},
            {"name": "cluster", "status": "Unhealthy", "reason": "cut off"},
        ]);
        let body = Some(Box::new(serde_json::json!({ "checks": checks })));
        let expected = format!("nats: {nats}; cluster: cut off");
        assert_eq!(unready(Failure { body, ..failure() }), expected);
    }

    #[test]
    fn what_workflows_listen_to_in_vain_is_named() {
        let item = |kind: &str, name: &str, state: &str| {
            serde_json::json!({"kind": kind, "name": name, "state": state, "definitionCount": 3,
                "definitions": [{"definitionId": "a"}, {"definitionId": "b"}]})
        };
        let items = serde_json::json!({"items": [
            item("stream", "ORDERS", "noStream"),
            item("stream", "BILLS", "listening"),
            item("bucket", "config", "noStream"),
            item("objectStore", "files", "noStream"),
            {"kind": "subject", "name": null, "filter": "payments.*", "state": "notAllowed",
                "reason": "nats-subjects", "definitionCount": 1,
                "definitions": [{"definitionId": "pay", "isAllowed": false}]},
            {"kind": "subject", "name": null, "filter": "news.*", "state": "listening",
                "definitionCount": 2, "definitions": [{"definitionId": "a", "isAllowed": true},
                    {"definitionId": "b", "isAllowed": false}]},
        ]});
        let named = |source: &str, definitions: &str, refusal: Option<&str>| LostSource {
            source: source.to_owned(),
            definitions: definitions.to_owned(),
            refusal: refusal.map(str::to_owned),
        };
        let expected = [
            named("the stream ORDERS", "a, b and 1 more", None),
            named("the bucket config", "a, b and 1 more", None),
            named("the object store files", "a, b and 1 more", None),
            named("the subject payments.*", "pay", Some("nats-subjects")),
            named("the subject news.*", "b", Some(NOT_ALLOWED)),
        ];
        assert_eq!(lost(&items), expected);
    }

    #[test]
    fn what_is_on_this_machine_is_known_by_its_url() {
        for (url, expected) in [
            ("nats://127.0.0.1:4222", true),
            ("nats://user:password@localhost:4222", true),
            ("postgres://staunch@[::1]/staunch", true),
            ("postgres:///staunch?host=/run/postgresql", true),
            ("nats://nats.example:4222", false),
            ("postgres://u:p@10.0.0.5/staunch?sslmode=verify-full", false),
            ("http://127.0.0.1.evil.example:5001", false),
        ] {
            assert_eq!(is_here(url), expected, "{url}");
        }
    }
}
