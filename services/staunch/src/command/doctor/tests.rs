//! One row for each thing that can be wrong.

use std::time::Duration;

use bus::{Holding, Member, Pause, Scope};
use model::Timestamp;
use node::{BrokerSeen, ConsumerSeen, DatabaseSeen, StreamSeen};
use protocol::Runtime;

use super::check::Grade::{self, Bad, Ok as Fine, Warn};
use super::facts::{Cluster, Facts, Host, LostSource, Server, SettingsSeen, Unanswered, Work};
use super::gather::places;
use super::judge::judge;

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn ago(seconds: u64) -> Timestamp {
    NOW.before(Duration::from_secs(seconds))
}

/// A certificate that expires after this number of days.
fn lasts(days: u64) -> chassis::Certificate {
    let expires = Ok(NOW.after(Duration::from_secs(days * 24 * 60 * 60)));
    chassis::Certificate { setting: "tls-cert", path: "/tls/cert.pem".into(), expires }
}

/// An installation in which everything is as it should be.
fn sound() -> Facts {
    let member = Member {
        node: "n1".to_owned(),
        roles: crate::roles::ALL.map(str::to_owned).into(),
        started_at: ago(60),
        address: Some("http://127.0.0.1:5001".to_owned()),
        version: Some(chassis::version().to_owned()),
    };
    let answer = Runtime { node: "n1".into(), ..Runtime::default() };
    let stream = StreamSeen {
        name: "STAUNCH_COMMANDS".to_owned(),
        is_there: true,
        replicas: 1,
        bytes: 10,
        bytes_max: 1_000,
        ..StreamSeen::default()
    };
    let consumer = ConsumerSeen {
        name: "executor".to_owned(),
        stream: "STAUNCH_COMMANDS".to_owned(),
        is_there: true,
        ..ConsumerSeen::default()
    };
    Facts {
        now: NOW,
        settings: SettingsSeen {
            nats_url: "nats://127.0.0.1:4222".to_owned(),
            database_url: "sqlite://x".to_owned(),
            is_nats_here: true,
            is_database_here: true,
            is_public_url_encrypted: false,
            is_database_verified: true,
        },
        broker: Ok(BrokerSeen {
            version: "2.15.0".to_owned(),
            has_jetstream: true,
            round_trips: vec![millis(1); 5],
            time: Some((NOW, millis(1))),
            storage: [(1, -1), (1, -1)],
            streams: vec![stream],
            consumers: vec![consumer],
            ..BrokerSeen::default()
        }),
        cluster: Ok(Cluster {
            members: vec![member],
            executors: vec![("n1".to_owned(), Ok(answer))],
            id: Some("c1".to_owned()),
            ..Cluster::default()
        }),
        payload_places: vec![("nats".to_owned(), Ok(()))],
        database: Ok(DatabaseSeen {
            kind: "PostgreSQL",
            version: "17.2".to_owned(),
            time: (NOW, millis(1)),
            time_at: tokio::time::Instant::now(),
            round_trips: vec![millis(1); 5],
            bytes: 1,
            connections: (10, 100),
            is_read_only: false,
            missing: Vec::new(),
            newer: Vec::new(),
            applied: 17,
            cluster_id: Some("c1".to_owned()),
        }),
        work: Some(Ok(Work { now: NOW, ..Work::default() })),
        has_key: true,
        servers: vec![Server {
            url: "http://127.0.0.1:5001".to_owned(),
            nodes: vec!["n1".to_owned()],
            node: Some("n1".to_owned()),
            clock_apart: Some(0),
            version: Ok(chassis::version().to_owned()),
            is_refusing: false,
            refusal: None,
            unready: None,
            is_open: true,
            is_here: true,
        }],
        lost_sources: Ok(Vec::new()),
        host: Host {
            folder: Some(("/data".into(), 50 << 30, 100 << 30)),
            descriptors: Some(65_536),
        },
        certificates: vec![lasts(90)],
    }
}

fn broker(facts: &mut Facts) -> &mut BrokerSeen {
    facts.broker.as_mut().unwrap()
}

fn stream(facts: &mut Facts) -> &mut StreamSeen {
    &mut broker(facts).streams[0]
}

fn consumer(facts: &mut Facts) -> &mut ConsumerSeen {
    &mut broker(facts).consumers[0]
}

fn cluster(facts: &mut Facts) -> &mut Cluster {
    facts.cluster.as_mut().unwrap()
}

fn database(facts: &mut Facts) -> &mut DatabaseSeen {
    facts.database.as_mut().unwrap()
}

fn work(facts: &mut Facts) -> &mut Work {
    facts.work.as_mut().unwrap().as_mut().unwrap()
}

fn pause() -> Pause {
    Pause { since: ago(9), by: "key ops".into(), reason: Some("night".into()), drain: None }
}

fn without(facts: &mut Facts, role: &str) {
    cluster(facts).members[0].roles.retain(|own| own != role);
}

/// A grade, a part of what is found, a part of the advice, and the change of the facts behind it.
type Row = (Grade, &'static str, &'static str, fn(&mut Facts));

const BROKER: &[Row] = &[
    (Bad, "4222: no answer", "start nats-server", |f| f.broker = Err("no answer".to_owned())),
    (Bad, "JetStream does not answer", "-js", |f| {
        broker(f).round_trips.clear();
        broker(f).has_jetstream = false;
    }),
    (Bad, "JetStream does not answer", "electing a leader", |f| broker(f).round_trips.clear()),
    (Warn, "JetStream answers in 20.0 ms", "at most 5 ms", |f| {
        broker(f).round_trips = vec![millis(20)];
    }),
    (Bad, "JetStream answers in 300.0 ms", "closer", |f| {
        broker(f).round_trips = vec![millis(300)];
    }),
    (Bad, "STAUNCH_COMMANDS is missing", "staunch provision", |f| stream(f).is_there = false),
    (Bad, "OBJ_staunch_payloads is missing", "staunch provision", |f| {
        let name = "OBJ_staunch_payloads".to_owned();
        broker(f).streams.push(StreamSeen { name, ..StreamSeen::default() });
    }),
    (Warn, "OBJ_staunch_payload_parts is missing", "staunch provision", |f| {
        let name = "OBJ_staunch_payload_parts".to_owned();
        broker(f).streams.push(StreamSeen { name, ..StreamSeen::default() });
    }),
    (Bad, "STAUNCH_COMMANDS: timeout", "nats stream info", |f| {
        stream(f).unanswered = Some("timeout".to_owned());
    }),
    (Bad, "has storage = memory", "loses messages", |f| {
        stream(f).faults = vec!["STAUNCH_COMMANDS has storage = memory".to_owned()];
    }),
    (Warn, "has other limits: max_bytes is 1", "on purpose", |f| {
        stream(f).differences = vec!["max_bytes is 1".to_owned()];
    }),
    (Warn, "replicas of STAUNCH_COMMANDS are behind: s3", "one more loss", |f| {
        stream(f).behind = vec!["s3".to_owned()];
    }),
    (Warn, "one copy in a cluster", "--replicas 3", |f| broker(f).cluster = Some("c".to_owned())),
    (Warn, "is 75 % full", "max_bytes", |f| stream(f).bytes = 750),
    (Bad, "is 95 % full", "max_bytes", |f| stream(f).bytes = 950),
    (Bad, "JetStream's files is 90 % full", "account", |f| broker(f).storage[0] = (90, 100)),
    (Bad, "the consumer executor of STAUNCH_COMMANDS is missing", "staunch provision", |f| {
        consumer(f).is_there = false;
    }),
    (Bad, "executor has ack_policy", "staunch provision", |f| {
        consumer(f).faults = vec!["executor has ack_policy = none".to_owned()];
    }),
    (Warn, "has other limits: ack_wait", "on purpose", |f| {
        consumer(f).differences = vec!["ack_wait is 1".to_owned()];
    }),
    (Warn, "60 commands in hand were delivered before", "crash", |f| {
        consumer(f).redelivered = 60;
    }),
    (Bad, "user app may not publish on a", "staunch nats-permissions", |f| {
        broker(f).refused = Some("user app may not publish on a".to_owned());
    }),
    (Warn, "NATS wants no login", "nats/server.conf", |f| f.settings.is_nats_here = false),
    (Warn, "2000 commands are in the queue", "more executors", |f| consumer(f).pending = 2_000),
    (Bad, "the API refuses more", "more executors", |f| consumer(f).pending = 60_000),
    (Bad, "cannot be written to nats, or not be read: no store", "correct payload-store", |f| {
        f.payload_places[0].1 = Err("no store".to_owned());
    }),
];

const DATABASE: &[Row] = &[
    (Bad, "sqlite://x: gone", "--database-url", |f| {
        f.database = Err("gone".to_owned());
        f.work = None;
    }),
    (Warn, "the database answers in 20.0 ms", "at most 5 ms", |f| {
        database(f).round_trips = vec![millis(20)];
    }),
    (Warn, "PostgreSQL 12.4 gets no more corrections", "upgrade", |f| {
        database(f).version = "12.4".to_owned();
    }),
    (Bad, "takes no writes", "promote", |f| database(f).is_read_only = true),
    (Bad, "the schema lacks m0017_secrets", "staunch migrate", |f| {
        database(f).missing = vec!["m0017_secrets".to_owned()];
        f.work = None;
    }),
    (Warn, "newer than this program: m0999_x", "newer version", |f| {
        database(f).newer = vec!["m0999_x".to_owned()];
    }),
    (Bad, "too new for this program: m0999_x_contract", "does not start", |f| {
        database(f).newer = vec!["m0998_y".to_owned(), "m0999_x_contract".to_owned()];
    }),
    (Bad, "set database-pooler for nodes", "set --database-pooler", |f| {
        let reason = "db:6432 does not keep the settings: set database-pooler for nodes";
        f.database = Err(reason.to_owned());
        f.work = None;
    }),
    (Bad, "no access to the database: permission denied", "give its user the right", |f| {
        f.database = Err("no access to the database: permission denied for table x".to_owned());
        f.work = None;
    }),
    (Warn, "85 of 100 connections", "PgBouncer", |f| database(f).connections = (85, 100)),
    (Warn, "verifies no certificate", "sslmode=verify-full", |f| {
        f.settings.is_database_here = false;
        f.settings.is_database_verified = false;
    }),
    (Fine, "3 accepted commands are not applied yet, the oldest for 5 s", "", |f| {
        work(f).unapplied = (Some(ago(5)), 3);
    }),
    (Warn, "the oldest for 20 s", "staunch top", |f| work(f).unapplied = (Some(ago(20)), 3)),
    (Bad, "1000 or more accepted commands", "the role timer", |f| {
        work(f).unapplied = (Some(ago(90)), 1_000);
        without(f, "timer");
    }),
    (Bad, "2 accepted starts have not run", "staunch why ID", |f| work(f).unstarted = 2),
    (Bad, "4 committed messages are not published", "staunch worker ls", |f| {
        work(f).unpublished = 4
    }),
    (Bad, "5 timers are overdue, the oldest by 45 s", "staunch", |f| {
        work(f).overdue = (Some(ago(45)), 5);
    }),
    (Bad, "cannot be read: x", "database", |f| f.work = Some(Err("x".to_owned()))),
];

const REST: &[Row] = &[
    (Bad, "the nodes cannot be listed: x", "NATS", |f| f.cluster = Err("x".to_owned())),
    (Bad, "no node lives", "staunch server", |f| *cluster(f) = Cluster::default()),
    (
        Bad,
        "no live node has the role timer: no timer fires, and nobody sweeps",
        "--role timer",
        |f| {
            without(f, "timer");
        },
    ),
    (Bad, "the role executor", "--role executor", |f| without(f, "executor")),
    (
        Bad,
        "the role cache-notifier: no node learns of a new version of a published workflow: starts run",
        "--role cache-notifier",
        |f| without(f, "cache-notifier"),
    ),
    (Bad, "the role ingress", "--role ingress", |f| without(f, "ingress")),
    (Bad, "the executor n1 does not answer", "log", |f| {
        cluster(f).executors[0].1 = Err(Unanswered::Silent);
    }),
    (Warn, "the executor n1 was not asked: user \"timer\" may not", "role ingress", |f| {
        let reason = "user \"timer\" may not publish on staunch.runtime.n1".to_owned();
        cluster(f).executors[0].1 = Err(Unanswered::Refused(reason));
    }),
    (Warn, "the whole cluster is paused since", "staunch runtime resume", |f| {
        cluster(f).pauses = vec![(Scope::Cluster, pause())];
    }),
    (Warn, "the node n9, which is gone, is paused", "--node n9", |f| {
        cluster(f).pauses = vec![(Scope::Node("n9".to_owned()), pause())];
    }),
    (Warn, "1 lease belongs to a node that is gone: n9", "within seconds", |f| {
        let held = Holding { owner: "n9".to_owned(), ..Holding::default() };
        cluster(f).leases = vec![("i-1".to_owned(), held)];
    }),
    (Bad, "NATS belongs to cluster c2, and the database to cluster c1", "--claim", |f| {
        cluster(f).id = Some("c2".to_owned());
    }),
    (Warn, "tls-cert /tls/cert.pem expires at", "replace the file", |f| {
        f.certificates = vec![lasts(13)];
    }),
    (Bad, "tls-cert /tls/cert.pem has expired at", "replace the file", |f| {
        f.certificates = vec![lasts(0)];
    }),
    (Bad, "/tls/cert.pem: gone", "replace the file", |f| {
        f.certificates[0].expires = Err("gone".to_owned());
    }),
    (Warn, "7 dead letters wait", "staunch dead ls", |f| cluster(f).dead_letters = 7),
    (Warn, "1 dead letter waits", "staunch dead ls", |f| cluster(f).dead_letters = 1),
    (Fine, "1 node is live: n1", "", |_| {}),
    (Bad, "1 timer is overdue, the oldest by 45 s", "staunch", |f| {
        work(f).overdue = (Some(ago(45)), 1);
    }),
    (Warn, "this machine and the database are 1999 ms apart", "NTP", |f| {
        database(f).time = (ago(2), millis(1));
    }),
    (Bad, "this machine and NATS are 59999 ms apart", "NTP", |f| {
        broker(f).time = Some((NOW.after(Duration::from_secs(60)), millis(1)));
    }),
    (Warn, "the clocks of n1 and the database are 3 s apart", "machine of n1", |f| {
        f.servers[0].clock_apart = Some(3);
    }),
    (Bad, "the clocks of n1 and the database are 3600 s apart", "tokens of an issuer", |f| {
        f.servers[0].clock_apart = Some(3_600);
    }),
    (Warn, "n1, n2 all announce http://127.0.0.1:5001", "--node-address", |f| {
        f.servers[0].nodes.push("n2".to_owned());
    }),
    (Fine, "not these live nodes: n2, n3 (leave --server and STAUNCH_SERVER out", "", |f| {
        f.servers[0].nodes.clear();
        for node in ["n2", "n3"] {
            let member = Member { node: node.to_owned(), ..cluster(f).members[0].clone() };
            cluster(f).members.push(member);
        }
    }),
    (Fine, "one address alone was asked, and 2 live nodes have one: n1, n2", "", |f| {
        (f.servers[0].nodes, f.servers[0].node) = (Vec::new(), None);
        let member = Member { node: "n2".to_owned(), ..cluster(f).members[0].clone() };
        cluster(f).members.push(member);
    }),
    (Bad, "5001 does not answer: refused", "--server", |f| {
        f.servers[0].version = Err("refused".to_owned());
    }),
    (Bad, "5001 refuses to answer: the API key is not known", "--api-key", |f| {
        f.servers[0].version = Err("the API key is not known, or has expired".to_owned());
        f.servers[0].is_refusing = true;
    }),
    (Warn, "the stream ORDERS does not exist, and a, b listen to it", "staunch listener ls", |f| {
        let (source, definitions) = ("the stream ORDERS".to_owned(), "a, b".to_owned());
        f.lost_sources = Ok(vec![LostSource { source, definitions, refusal: None }]);
    }),
    (Warn, "the bucket config does not exist, and a listens to it", "make it", |f| {
        let (source, definitions) = ("the bucket config".to_owned(), "a".to_owned());
        f.lost_sources = Ok(vec![LostSource { source, definitions, refusal: None }]);
    }),
    (Warn, "pay listens to the subject payments.*, which the settings", "nats-subjects", |f| {
        f.lost_sources = Ok(vec![LostSource {
            source: "the subject payments.*".to_owned(),
            definitions: "pay".to_owned(),
            refusal: Some("the settings do not let it".to_owned()),
        }]);
    }),
    (Fine, "listen to was not looked at: you lack a permission", "", |f| {
        f.lost_sources = Err("you lack a permission".to_owned());
    }),
    (Warn, "refused by n1, so its metrics and clock were not read", "--api-key", |f| {
        f.servers[0].refusal = Some("the API key is not known".to_owned());
        (f.servers[0].node, f.servers[0].clock_apart) = (None, None);
    }),
    (Warn, "the API key is refused by n1, so only what needs no key", "--api-key", |f| {
        f.servers[0].refusal = Some("the API key is not known".to_owned());
    }),
    (Warn, "n1 was asked without an API key", "STAUNCH_API_KEY", |f| {
        f.has_key = false;
        f.servers[0].refusal = Some("give an API key".to_owned());
        f.servers[0].node = None;
    }),
    (
        Warn,
        "refused by n1, so its metrics, its clock and what workflows listen to",
        "--api-key",
        |f| {
            f.servers[0].refusal = Some("the API key is not known".to_owned());
            (f.servers[0].node, f.servers[0].clock_apart) = (None, None);
            f.lost_sources = Err("the API key is not known".to_owned());
        },
    ),
    (Warn, "n1 was asked without an API key, so what workflows listen to was", "--api-key", |f| {
        f.has_key = false;
        f.servers[0].refusal = Some("give an API key".to_owned());
        f.lost_sources = Err("give an API key".to_owned());
    }),
    (Bad, "5001 is not ready: nats", "log", |f| f.servers[0].unready = Some("nats".to_owned())),
    (Warn, "runs version 0.0.9", "upgrade", |f| f.servers[0].version = Ok("0.0.9".to_owned())),
    (Bad, "lets every caller in", "--auth", |f| f.servers[0].is_here = false),
    (Warn, "without TLS keys travel in clear to http://127.0.0.1:5001", "--tls-cert", |f| {
        f.servers[0].is_here = false
    }),
    (Bad, "0.1 GiB are free at /data", "full disk", |f| {
        f.host.folder = Some(("/data".into(), 100 << 20, 100 << 30));
    }),
    (Warn, "2.0 GiB are free at /data (2 %)", "full disk", |f| {
        f.host.folder = Some(("/data".into(), 2 << 30, 100 << 30));
    }),
    (Warn, "may open 1024 files", "LimitNOFILE", |f| f.host.descriptors = Some(1_024)),
];

#[test]
fn one_bad_check_is_not_said_to_be_several() {
    assert_eq!(super::summary(20, 1, 1), "1 of 20 checks is bad, 1 gives a warning");
    assert_eq!(super::summary(20, 2, 0), "2 of 20 checks are bad, 0 give a warning");
}

#[test]
fn a_key_that_is_refused_everywhere_is_a_refusal() {
    let mut facts = sound();
    facts.servers.push(facts.servers[0].clone());
    assert_eq!(super::refusal(&facts), None);
    facts.servers[0].refusal = Some("not known".to_owned());
    assert_eq!(super::refusal(&facts), None, "the other takes it");
    facts.servers[1].version = Err("it does not answer".to_owned());
    assert_eq!(super::refusal(&facts), Some("not known"));
    facts.has_key = false;
    assert_eq!(super::refusal(&facts), None, "no key was given");
    facts.servers[0].is_refusing = true;
    facts.servers[0].version = Err("refused".to_owned());
    assert_eq!(super::refusal(&facts), Some("refused"));
}

#[test]
fn nothing_is_wrong_with_a_sound_installation() {
    let checks = judge(&sound());
    let wrong: Vec<_> = checks.iter().filter(|check| check.grade != Fine).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checks.len() >= 14, "{checks:#?}");
}

#[test]
fn everything_that_is_wrong_is_found_with_what_to_do() {
    for (grade, found, advice, change) in [BROKER, DATABASE, REST].concat() {
        let mut facts = sound();
        change(&mut facts);
        let checks = judge(&facts);
        let all = format!("{found:?} in {checks:#?}");
        let one = checks.iter().find(|check| check.found.contains(found));
        let one = one.unwrap_or_else(|| panic!("{all}"));
        assert_eq!(one.grade, grade, "{all}");
        assert!(one.advice.as_deref().unwrap_or_default().contains(advice), "{advice:?}: {all}");
        assert_eq!(one.advice.is_none(), grade == Fine, "{all}");
    }
}

#[test]
fn an_address_of_several_nodes_is_asked_once() {
    let member = |node: &str, address: Option<&str>| Member {
        node: node.to_owned(),
        roles: Vec::new(),
        started_at: NOW,
        address: address.map(str::to_owned),
        version: None,
    };
    let all = Some("http://flows.example");
    let members = [
        member("n1", all),
        member("n2", None),
        member("n3", all),
        member("n4", Some("http://10.0.0.4:5001")),
    ];
    let found = places(&members);
    let expected =
        [("http://flows.example", vec!["n1", "n3"]), ("http://10.0.0.4:5001", vec!["n4"])];
    let expected = expected.map(|(url, nodes)| {
        (url.to_owned(), nodes.into_iter().map(str::to_owned).collect::<Vec<_>>())
    });
    assert_eq!(found, expected);
}

#[test]
fn a_proxy_that_ends_tls_is_no_reason_for_a_warning() {
    let mut facts = sound();
    facts.servers[0].is_here = false;
    facts.servers[0].is_open = false;
    let warns = |facts: &Facts| judge(facts).iter().any(|one| one.found.contains("without TLS"));
    assert!(warns(&facts));
    facts.settings.is_public_url_encrypted = true;
    assert!(!warns(&facts));
    facts.servers[0].nodes.clear();
    assert!(warns(&facts), "this address was named by the caller");
}
